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

#include "ns3/abort.h"
#include "ns3/engine-network.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"

#include <algorithm>
#include <vector>

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
    Settle();
    const RngStreams rng = GetRngStreams();
    m_network->SetMtu(FindLargestMtu(m_nodes));
    FindErrorModels();
    m_network->Start(m_nodes,
                     {m_network->IsCanonical(),
                      rng.seed,
                      m_ecnStream,
                      rng.offset,
                      m_pintSeed + rng.pintSeed,
                      reinterpret_cast<std::size_t>(PeekPointer(m_network))});
    for (const auto& node : m_nodes)
    {
        node->Start(m_network);
    }
    for (const Losses& losses : m_losses)
    {
        m_network->Look().lose({losses.ports.data(), losses.ports.size()},
                               losses.seed,
                               losses.stream,
                               losses.probability);
    }
}

void
QbbHelper::FindErrorModels() const
{
    for (const auto& node : m_nodes)
    {
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            if (node->GetPort(port)->HasErrorModel())
            {
                m_network->Look().judge_port(node->GetIndex(), static_cast<uint16_t>(port));
            }
        }
    }
}

void
QbbHelper::Settle() const
{
    hpcc::Network& core = m_network->Look();
    for (const auto& node : m_nodes)
    {
        node->PrepareSettings();
        core.add_settings(node->GetSettings(), node->GetOwners().back()->GetSettings());
    }
    for (const auto& [border, outside] : m_borders)
    {
        core.add_border(border, outside);
    }
    CallRust([&] { core.settle(m_network->GetSettings()); });
    m_network->Freeze();
    for (const auto& node : m_nodes)
    {
        for (SettingsOwner* const owner : node->GetOwners())
        {
            owner->SetSettings(FromRust(core.settings_of(node->GetIndex())));
            owner->Freeze();
        }
    }
}

} // namespace ns3
