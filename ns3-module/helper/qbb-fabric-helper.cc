/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-fabric-helper.h"

#include "../model/call-rust.h"
#include "section-entries.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/qbb-helper.h"

namespace ns3
{

QbbFabricHelper::QbbFabricHelper(const std::string& kind)
{
    Set("kind", kind);
}

QbbFabric
QbbFabricHelper::Install(QbbHelper& network) const
{
    const auto entries = MakeSectionEntries(m_entries);
    const hpcc::Fabric fabric = CallRust([&] {
        return hpcc::fabric_of({entries.data(), entries.size()});
    });
    NodeContainer nodes;
    nodes.Create(fabric.tiers.size());
    QbbFabric made;
    for (uint32_t index = 0; index < nodes.GetN(); ++index)
    {
        const Ptr<Node> node = nodes.Get(index);
        const uint32_t tier = fabric.tiers[index];
        if (tier == 0)
        {
            network.InstallHosts(node);
            made.hosts.Add(node);
            continue;
        }
        network.InstallSwitches(node);
        if (made.tiers.size() < tier)
        {
            made.tiers.resize(tier);
        }
        made.tiers[tier - 1].Add(node);
    }
    for (const hpcc::LinkSpec& link : fabric.links)
    {
        made.devices.Add(network.Link(nodes.Get(link.a),
                                      nodes.Get(link.b),
                                      DataRate(link.rate_bps),
                                      NanoSeconds(link.delay_ns)));
    }
    return made;
}

} // namespace ns3
