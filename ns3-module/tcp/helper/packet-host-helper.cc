/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-host-helper.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"
#include "ns3/packet-host.h"
#include "ns3/qbb-net-device.h"
#include "ns3/rdma-host.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// All hosts are neighbours of each other: switches know the ways.
const char* const NETWORK_MASK = "255.0.0.0";
/// Length of the network's prefix in IPv6, in bits.
constexpr uint8_t NETWORK_PREFIX = 96;
/// IPv6 takes no link whose packets are shorter.
constexpr uint16_t LEAST_IPV6_MTU = 1280;

/**
 * \tparam T a network layer
 * \param node a node; the program ends unless it has all that an address needs
 * \return its stack
 */
template <class T>
Ptr<T>
GetStack(Ptr<Node> node)
{
    const Ptr<PacketHost> host = node->GetObject<PacketHost>();
    const Ptr<T> stack = node->GetObject<T>();
    NS_ABORT_MSG_UNLESS(host && stack,
                        "node " << node->GetId() << " is no PacketHost with an internet stack");
    NS_ABORT_MSG_UNLESS(host->GetNPorts() > 0, "node " << node->GetId() << " needs a link");
    return stack;
}

} // namespace

PacketHostHelper::PacketHostHelper()
{
    m_factory.SetTypeId(PacketHost::GetTypeId());
}

void
PacketHostHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

void
PacketHostHelper::Install(const NodeContainer& nodes, QbbHelper& network) const
{
    NodeContainer alone;
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        if (!(*it)->GetObject<RdmaHost>() || (*it)->GetObject<PacketHost>())
        {
            alone.Add(*it);
            continue;
        }
        const Ptr<RdmaHost> other = network.GetHost(*it);
        NS_ABORT_MSG_IF(network.IsStarted(),
                        "nodes cannot be installed after Start(), which computes the routes");
        const auto host = m_factory.Create<PacketHost>();
        (*it)->AggregateObject(host);
        host->ShareWith(*other);
    }
    network.Install(alone, m_factory);
}

void
PacketHostHelper::Install(const std::string& name, QbbHelper& network) const
{
    Install(NodeReference(name).GetNode(), network);
}

Ipv4InterfaceContainer
PacketHostHelper::AssignAddresses(const NodeContainer& nodes) const
{
    Ipv4InterfaceContainer interfaces;
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        const Ptr<Ipv4> stack = GetStack<Ipv4>(*it);
        const Ptr<PacketHost> host = (*it)->GetObject<PacketHost>();
        const uint32_t interface = stack->AddInterface(host->GetPort(0));
        stack->AddAddress(interface,
                          Ipv4InterfaceAddress(host->GetAddress(), Ipv4Mask(NETWORK_MASK)));
        stack->SetUp(interface);
        interfaces.Add(stack, interface);
    }
    return interfaces;
}

Ipv6InterfaceContainer
PacketHostHelper::AssignIpv6Addresses(const NodeContainer& nodes) const
{
    Ipv6InterfaceContainer interfaces;
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        const Ptr<Ipv6> stack = GetStack<Ipv6>(*it);
        const Ptr<PacketHost> host = (*it)->GetObject<PacketHost>();
        NS_ABORT_MSG_IF(host->IsFrozen(),
                        "paths are measured by the packets that hosts send: assign IPv6 addresses "
                        "before QbbHelper::Start()");
        const Ptr<QbbNetDevice> port = host->GetPort(0);
        port->SetMtu(std::max(port->GetMtu(), LEAST_IPV6_MTU));
        // Addresses are unique by their plan, and there is no router that a host could ask for one.
        (*it)->GetObject<Icmpv6L4Protocol>()->SetAttribute("DAD", BooleanValue(false));
        const uint32_t interface = stack->AddInterface(port);
        stack->SetForwarding(interface, true);
        // The interface's link-local address comes first, as with ns-3's Ipv6AddressHelper.
        stack->SetUp(interface);
        stack->AddAddress(interface,
                          Ipv6InterfaceAddress(host->GetIpv6Address(), Ipv6Prefix(NETWORK_PREFIX)));
        interfaces.Add(stack, interface);
    }
    return interfaces;
}

} // namespace ns3
