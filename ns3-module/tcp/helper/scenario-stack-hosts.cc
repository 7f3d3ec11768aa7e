/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-stack-hosts.h"

#include "ns3-bridge/src/scenario.rs.h"

#include "ns3/boolean.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/node.h"
#include "ns3/packet-host.h"
#include "ns3/qbb-net-device.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioStackHosts);

namespace
{

/// Most bytes of a packet's headers: IPv6, and TCP with options.
constexpr uint32_t MOST_HEADERS = 40 + 60;

} // namespace

TypeId
ScenarioStackHosts::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ScenarioStackHosts").SetParent<ScenarioHosts>().SetGroupName("Hpcc");
    return tid;
}

ScenarioStackHosts::ScenarioStackHosts() = default;

ScenarioStackHosts::~ScenarioStackHosts() = default;

void
ScenarioStackHosts::InstallHost(const NodeContainer& node, uint32_t index)
{
    if (m_scenario->is_stack(index))
    {
        m_helper.Install(node, *m_network);
    }
    else
    {
        ScenarioHosts::InstallHost(node, index);
    }
}

void
ScenarioStackHosts::PrepareHosts()
{
    const hpcc::StackParameters parameters = m_scenario->stack();
    m_stack.SetIpv4StackInstall(!parameters.ipv6);
    m_stack.SetIpv6StackInstall(parameters.ipv6);
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        const Ptr<PacketHost> host = GetHost(index);
        if (!host || host->GetNPorts() == 0)
        {
            continue;
        }
        const Ptr<Node> node = GetNodeOf(index);
        m_stack.Install(node);
        host->SetAttribute("GlobalRtt", BooleanValue(parameters.global_rtt));
        host->GetPort(0)->SetMtu(static_cast<uint16_t>(parameters.payload + MOST_HEADERS));
        if (parameters.ipv6)
        {
            m_helper.AssignIpv6Addresses(NodeContainer(node));
        }
        else
        {
            m_helper.AssignAddresses(NodeContainer(node));
        }
    }
}

void
ScenarioStackHosts::Count(hpcc::StackCounters& counters) const
{
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        if (const Ptr<PacketHost> host = GetHost(index))
        {
            counters.probes += host->GetProbes();
            counters.feedback += host->GetFeedback();
            counters.baseline_resets += host->GetBaselineResets();
            counters.drops += host->GetDrops();
        }
    }
}

Ptr<PacketHost>
ScenarioStackHosts::GetHost(uint32_t index) const
{
    return DynamicCast<PacketHost>(m_network->GetNode(index));
}

Ptr<Node>
ScenarioStackHosts::GetNodeOf(uint32_t host) const
{
    return GetHost(host)->GetObject<Node>();
}

Address
ScenarioStackHosts::GetAddress(uint32_t host, uint16_t port) const
{
    return m_scenario->stack().ipv6
               ? Address(Inet6SocketAddress(GetHost(host)->GetIpv6Address(), port))
               : Address(InetSocketAddress(GetHost(host)->GetAddress(), port));
}

Address
ScenarioStackHosts::GetAnyAddress(uint16_t port) const
{
    return m_scenario->stack().ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), port))
                                    : Address(InetSocketAddress(Ipv4Address::GetAny(), port));
}

} // namespace ns3
