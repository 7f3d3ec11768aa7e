/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "attack-helper.h"

#include "../model/call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-helper.h"

#include "ns3/abort.h"
#include "ns3/engine-network.h"
#include "ns3/qbb-node.h"
#include "ns3/rdma-host.h"

namespace ns3
{

namespace
{

/**
 * \param network a network
 * \return its first RDMA host; ends the program if it has none
 */
Ptr<RdmaHost>
FindHost(const QbbHelper& network)
{
    for (uint32_t node = 0; node < network.GetNNodes(); ++node)
    {
        if (const auto host = DynamicCast<RdmaHost>(network.GetNode(node)))
        {
            return host;
        }
    }
    NS_ABORT_MSG("attackers act on what RDMA hosts send and believe, and there are none");
}

} // namespace

AttackHelper::AttackHelper(const std::string& kind)
{
    Set("kind", kind);
}

void
AttackHelper::Set(const std::string& key, const std::string& value)
{
    m_settings.emplace_back(key, value);
}

std::unique_ptr<Attacker>
AttackHelper::Install(Ptr<Node> node, const QbbHelper& network) const
{
    NS_ABORT_MSG_UNLESS(network.IsStarted(), "an attack comes after QbbHelper::Start()");
    const Ptr<QbbNode> attacker = network.GetNode(node);
    std::vector<hpcc::AttackEntry> entries;
    for (const auto& [key, value] : m_settings)
    {
        entries.push_back({key, value});
    }
    const hpcc::Settings& host = FindHost(network)->GetSettings();
    EngineNetwork& engine = attacker->GetNetwork();
    const uint32_t attack = CallRust([&] {
        return engine.Enter().attack(attacker->GetIndex(), {entries.data(), entries.size()}, host);
    });
    engine.Settle();
    return std::make_unique<Attacker>(attacker, attack);
}

} // namespace ns3
