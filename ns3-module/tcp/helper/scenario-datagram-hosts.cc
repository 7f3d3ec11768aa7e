/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-datagram-hosts.h"

#include "../../model/call-rust.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/node.h"
#include "ns3/packet-host.h"
#include "ns3/packet.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioDatagramHosts);

TypeId
ScenarioDatagramHosts::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ScenarioDatagramHosts")
                            .SetParent<ScenarioStackHosts>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<ScenarioDatagramHosts>();
    return tid;
}

ScenarioDatagramHosts::~ScenarioDatagramHosts() = default;

std::unique_ptr<ScenarioStackFlow>
ScenarioDatagramHosts::StartFlow(const hpcc::StackFlow& flow,
                                 ScenarioStackFlow::FinishCallback done)
{
    const Place place(flow.dst, flow.dport);
    Listen(place);
    const Ptr<DatagramClient> client = CreateObject<DatagramClient>();
    client->SetNode(GetNodeOf(flow.src));
    client->SetAttribute("Remote", AddressValue(GetAddress(flow.dst, flow.dport)));
    client->SetAttribute("PacketSize", UintegerValue(m_scenario->stack().payload));
    client->SetAttribute("MaxBytes", UintegerValue(flow.size_bytes));
    client->SetSettings(FromRust(GetHost(flow.src)->GetSettings().duplicate()));
    auto started =
        std::make_unique<ScenarioDatagramFlow>(flow.id, flow.size_bytes, client, std::move(done));
    m_flows[{place, GetAddress(flow.src, started->GetSourcePort())}] = started.get();
    return started;
}

void
ScenarioDatagramHosts::Listen(const Place& place)
{
    Ptr<Socket>& socket = m_sockets[place];
    if (!socket)
    {
        socket = Socket::CreateSocket(GetNodeOf(place.first), UdpSocketFactory::GetTypeId());
        socket->Bind(GetAnyAddress(place.second));
        socket->SetRecvCallback(MakeCallback(&ScenarioDatagramHosts::OnDatagrams, this, place));
    }
}

void
ScenarioDatagramHosts::OnDatagrams(Place place, Ptr<Socket> socket)
{
    Address from;
    while (const Ptr<Packet> datagram = socket->RecvFrom(from))
    {
        const auto known = m_flows.find({place, from});
        if (known == m_flows.end())
        {
            continue;
        }
        ScenarioDatagramFlow& flow = *known->second;
        if (flow.IsLast(datagram->GetSize()))
        {
            m_flows.erase(known);
        }
        flow.OnArrival(datagram->GetSize());
    }
}

} // namespace ns3
