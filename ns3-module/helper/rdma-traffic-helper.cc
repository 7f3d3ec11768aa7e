/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-traffic-helper.h"

#include "../model/call-rust.h"
#include "section-entries.h"

#include "ns3/data-rate.h"
#include "ns3/integer.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/qbb-helper.h"
#include "ns3/rdma-client.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/uinteger.h"

namespace ns3
{

RdmaTrafficHelper::RdmaTrafficHelper(const std::string& kind)
{
    m_factory.SetTypeId(RdmaClient::GetTypeId());
    Add(kind);
}

void
RdmaTrafficHelper::Add(const std::string& kind)
{
    Set("kind", kind);
}

void
RdmaTrafficHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

ApplicationContainer
RdmaTrafficHelper::Install(const QbbHelper& network) const
{
    const auto entries = MakeSectionEntries(m_entries);
    const auto flows = CallRust([&] {
        return hpcc::flows_of({entries.data(), entries.size()},
                              network.GetCore(),
                              RngSeedManager::GetRun());
    });
    ApplicationContainer applications;
    for (const hpcc::TrafficFlow& each : flows)
    {
        const hpcc::FlowStart& flow = each.flow;
        const auto client = m_factory.Create<RdmaClient>();
        client->SetPeer(network.GetHost(flow.dst)->GetObject<Node>());
        client->SetAttribute(
            "Size",
            UintegerValue(flow.size_bytes == RdmaFlow::ENDLESS ? 0 : flow.size_bytes));
        client->SetAttribute("Priority", UintegerValue(flow.priority));
        client->SetAttribute("DestinationPort", UintegerValue(flow.dport));
        client->SetAttribute("MaxRate", DataRateValue(DataRate(flow.most_bps)));
        client->SetAttribute("Nic", IntegerValue(flow.nic));
        client->SetStartTime(NanoSeconds(each.start_ns));
        if (flow.stop_ns > 0)
        {
            client->SetStopTime(NanoSeconds(flow.stop_ns));
        }
        network.GetHost(flow.src)->GetObject<Node>()->AddApplication(client);
        applications.Add(client);
    }
    return applications;
}

} // namespace ns3
