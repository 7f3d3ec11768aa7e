/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What happens as a network starts.
#include "../model/call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-helper.h"
#include "settings-agreement.h"

#include "ns3/abort.h"
#include "ns3/engine-network.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-node.h"
#include "ns3/rdma-host.h"
#include "ns3/wheel-simulator-impl.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \param nodes the nodes of a network
 * \return the largest payload that one of them sends
 */
uint32_t
FindLargestMtu(const std::vector<Ptr<QbbNode>>& nodes)
{
    uint32_t mtu = 0;
    for (const auto& node : nodes)
    {
        mtu = std::max(mtu, node->GetMtu());
    }
    return mtu;
}

/**
 * \param node a node
 * \return what has its settings of Fast CNP; the node itself if it has none
 */
const hpcc::Settings&
GetFastCnpSettings(const Ptr<QbbNode>& node)
{
    if (const auto agent = node->GetObject<FastCnpSwitch>())
    {
        return agent->GetSettings();
    }
    const auto agent = node->GetObject<FastCnpHost>();
    return agent ? agent->GetSettings() : node->GetSettings();
}

/**
 * \brief Find the host, or switch, whose settings of telemetry, ECN and length of frames hold for
 * all. An RDMA host, if there is one; of a network that is only partly upgraded a node that knows
 * telemetry.
 * \param node a node whose settings are prepared
 * \return what is greater for a node that rather decides
 */
std::pair<bool, bool>
GetSettingsAuthority(const Ptr<QbbNode>& node)
{
    return {DynamicCast<RdmaHost>(node) != nullptr,
            node->GetSettings().knows_telemetry(node->IsSwitch())};
}

} // namespace

void
QbbHelper::Start()
{
    QbbNode::CheckResolution();
    NS_ABORT_MSG_IF(m_isStarted, "the network has been started already");
    m_isStarted = true;
    m_hosts.CheckUsed("hosts were installed; set it before InstallHosts()");
    m_switches.CheckUsed("switches were installed; set it before InstallSwitches()");
    m_devices.CheckUsed("links were made; set it before Link()");
    CheckCapture();
    if (m_nodes.empty())
    {
        return;
    }
    AgreeOnSettings();
    hpcc::Network& core = m_network->Look();
    for (const auto& node : m_nodes)
    {
        const hpcc::Settings& fastCnp = GetFastCnpSettings(node);
        CallRust([&] {
            hpcc::check_fast_cnp(core, node->GetIndex(), fastCnp, node->GetSettings());
            core.add_settings(node->GetSettings(), fastCnp);
        });
    }
    for (const auto& [border, outside] : m_borders)
    {
        CallRust([&] { hpcc::check_border(border, m_nodes[border]->GetSettings()); });
        core.add_border(border, outside);
    }
    // The reference simulator has used six streams for each node, and two others, before the first
    // draw.
    const RngStreams rng = GetRngStreams();
    const uint64_t stream = (m_ecnStream ? m_ecnStream : 6 * m_nodes.size() + 2) + rng.offset;
    const WheelSimulatorImpl* const simulator = WheelSimulatorImpl::Find();
    const bool isCanonical = simulator && simulator->IsCanonical();
    m_network->SetMtu(FindLargestMtu(m_nodes));
    m_network->Start(m_nodes,
                     {isCanonical, rng.seed, stream, m_pintSeed + rng.pintSeed},
                     m_network);
    for (const auto& node : m_nodes)
    {
        if (!node->IsSwitch())
        {
            CallRust([&] { core.check_sampling(node->GetSettings()); });
        }
        node->Start(m_network);
    }
    for (const Losses& losses : m_losses)
    {
        core.lose({losses.ports.data(), losses.ports.size()},
                  losses.seed,
                  losses.stream,
                  losses.probability);
    }
    CheckThatFastCnpIsWhole(m_nodes);
    FreezeNodes(m_nodes);
}

void
QbbHelper::AgreeOnSettings() const
{
    const hpcc::Network& core = m_network->Look();
    CheckThatParametersCount(m_nodes);
    Ptr<QbbNode> host;
    Ptr<QbbNode> marked;
    Ptr<QbbNode> aSwitch;
    for (const auto& node : m_nodes)
    {
        node->PrepareSettings();
        Ptr<QbbNode>& first = node->IsSwitch() ? aSwitch : host;
        if (!first || GetSettingsAuthority(node) > GetSettingsAuthority(first))
        {
            first = node;
        }
        if (!marked && DynamicCast<RdmaHost>(node) && node->GetSettings().reads_marks())
        {
            marked = node;
        }
    }
    for (const auto& node : m_nodes)
    {
        if (node->IsSwitch() && host)
        {
            node->GetSettings().follow_hosts(host->GetSettings(),
                                             (marked ? marked : host)->GetSettings());
        }
        else if (!node->IsSwitch() && aSwitch)
        {
            node->GetSettings().follow_switches(aSwitch->GetSettings());
        }
    }
    CheckThatAttributesCount(m_nodes, core);
    for (const auto& node : m_nodes)
    {
        if (!node->IsSwitch())
        {
            hpcc::inherit_units(node->GetSettings(), host->GetSettings(), core);
        }
        CallRust([&] { hpcc::resolve(node->GetSettings(), core); });
    }
    CheckLayouts();
    CheckThatNodesAgree(m_nodes);
    CheckThatLinksAreServed(m_nodes, core);
}

void
QbbHelper::CheckLayouts() const
{
    Ptr<QbbNode> first;
    std::string expected;
    for (const auto& node : m_nodes)
    {
        const std::string layout(node->GetSettings().telemetry(node->IsSwitch()));
        if (!first && !layout.empty())
        {
            first = node;
            expected = layout;
        }
        NS_ABORT_MSG_UNLESS(layout.empty() || layout == expected,
                            node->Describe()
                                << " has the telemetry layout " << layout << ", and "
                                << first->Describe() << " " << expected
                                << "; expected the same, as QbbHelper::SetTelemetry() sets it");
    }
}

} // namespace ns3
