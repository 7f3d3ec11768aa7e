/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-host-helper.h"

#include "ns3/abort.h"
#include "ns3/ipv4.h"
#include "ns3/packet-host.h"

namespace ns3
{

namespace
{

/// All hosts are neighbours of each other: switches know the ways.
const char* const NETWORK_MASK = "255.0.0.0";

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
    network.Install(nodes, m_factory);
}

Ipv4InterfaceContainer
PacketHostHelper::AssignAddresses(const NodeContainer& nodes) const
{
    Ipv4InterfaceContainer interfaces;
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        const Ptr<PacketHost> host = (*it)->GetObject<PacketHost>();
        const Ptr<Ipv4> stack = (*it)->GetObject<Ipv4>();
        NS_ABORT_MSG_UNLESS(host && stack, "node " << (*it)->GetId() << " is no PacketHost with an internet stack");
        NS_ABORT_MSG_UNLESS(host->GetNPorts() == 1, "node " << (*it)->GetId() << " needs one link");
        const uint32_t interface = stack->AddInterface(host->GetPort(0));
        stack->AddAddress(interface, Ipv4InterfaceAddress(host->GetAddress(), Ipv4Mask(NETWORK_MASK)));
        stack->SetUp(interface);
        interfaces.Add(stack, interface);
    }
    return interfaces;
}

} // namespace ns3
