/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What happens as a network starts.
#include "../model/call-rust.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/ranks.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-helper.h"
#include "settings-agreement.h"

#include "ns3/abort.h"
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
 * \return whether it is a switch that sends Fast CNPs
 */
bool
SendsFastCnps(const Ptr<QbbNode>& node)
{
    const auto agent = node->GetObject<FastCnpSwitch>();
    return agent && agent->IsEnabled();
}

/**
 * \param nodes the nodes of a network, whose settings are resolved
 * \param usesFastCnp whether a switch sends Fast CNPs
 * \return bytes that a frame must have room for, for telemetry or for a notification
 */
uint32_t
FindFrameRoom(const std::vector<Ptr<QbbNode>>& nodes, bool usesFastCnp)
{
    uint32_t room = usesFastCnp ? hpcc::fast_cnp_room(nodes.front()->GetSettings()) : 0;
    for (const auto& node : nodes)
    {
        room = std::max(room, node->GetSettings().telemetry_room());
    }
    return room;
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
    const uint32_t mtu = FindLargestMtu(m_nodes);
    const bool usesFastCnp = std::any_of(m_nodes.begin(), m_nodes.end(), SendsFastCnps);
    if (usesFastCnp)
    {
        m_network->route_to_switches();
    }
    AgreeOnSettings();
    m_network->compute_routes(mtu);
    for (const auto& node : m_nodes)
    {
        if (!node->IsSwitch())
        {
            CallRust([&] { m_network->check_sampling(node->GetSettings()); });
        }
    }
    const auto pool = std::make_shared<QbbFramePool>(FindFrameRoom(m_nodes, usesFastCnp));
    Share(pool);
    // The reference simulator has used six streams for each node, and two others, before the first
    // draw.
    const RngStreams rng = GetRngStreams();
    const uint64_t stream = (m_ecnStream ? m_ecnStream : 6 * m_nodes.size() + 2) + rng.offset;
    const uint32_t pintSeed = m_pintSeed + rng.pintSeed;
    const std::shared_ptr<hpcc::Rng> shared = FromRust(hpcc::new_rng(rng.seed, stream, pintSeed));
    for (const auto& node : m_nodes)
    {
        node->SetFramePool(pool);
        node->ReadSettings();
        if (node->IsLocal())
        {
            const std::shared_ptr<hpcc::Rng> own =
                FromRust(hpcc::new_node_rng(rng.seed, stream, pintSeed, node->GetIndex()));
            node->SetRng(node->GetSettings().shares_rng() ? shared : own);
        }
        node->Start(m_network);
    }
    CheckThatFastCnpIsWhole(m_nodes);
    FreezeNodes(m_nodes);
}

void
QbbHelper::ShareAmong(std::shared_ptr<RankExchange> exchange)
{
    m_exchange = std::move(exchange);
}

void
QbbHelper::ShareAmong(std::shared_ptr<RankExchange> exchange, std::vector<uint32_t> ranks)
{
    ShareAmong(std::move(exchange));
    m_ranks = std::move(ranks);
}

void
QbbHelper::Share(const std::shared_ptr<QbbFramePool>& pool)
{
    WheelSimulatorImpl* simulator = WheelSimulatorImpl::Find();
    if (!simulator || !simulator->IsCanonical())
    {
        NS_ABORT_MSG_IF(
            m_exchange,
            "processes can share a simulation only if its SimulatorImplementationType is "
            "ns3::WheelSimulatorImpl, with the attribute CanonicalOrder");
        return;
    }
    if (m_exchange && m_ranks.empty())
    {
        CallRust([&] {
            for (const uint32_t rank : hpcc::divide(*m_network, m_exchange->GetSize()))
            {
                m_ranks.push_back(rank);
            }
        });
    }
    m_shared = std::make_shared<SharedNetwork>(*simulator, m_nodes, pool, m_exchange, m_ranks);
    // The simulator owns it, too: this helper may be gone when that runs.
    simulator->SetWindows(
        hpcc::window_ns(*m_network),
        [shared = m_shared](uint64_t next) { return shared->EndWindow(next); },
        !m_exchange);
    for (const auto& node : m_nodes)
    {
        node->SetShared(m_shared.get());
    }
}

void
QbbHelper::AgreeOnSettings() const
{
    CheckThatAttributesCount(m_nodes, *m_network);
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
    for (const auto& node : m_nodes)
    {
        if (!node->IsSwitch())
        {
            hpcc::inherit_units(node->GetSettings(), host->GetSettings(), *m_network);
        }
        CallRust([&] { hpcc::resolve(node->GetSettings(), *m_network); });
        CallRust([&] {
            if (node->IsSwitch())
            {
                m_network->set_switch_limits(node->GetIndex(), node->GetSettings());
            }
            else
            {
                m_network->set_host_model(node->GetIndex(), node->GetSettings());
            }
        });
    }
    CheckLayouts();
    CheckThatNodesAgree(m_nodes);
    CheckThatLinksAreServed(m_nodes, *m_network);
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
