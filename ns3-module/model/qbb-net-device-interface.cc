/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// QbbNetDevice as any other of ns-3's devices: what its nodes and protocol stacks ask of it and
// set.
#include "qbb-channel.h"
#include "qbb-net-device.h"
#include "qbb-node.h"

#include "ns3/abort.h"
#include "ns3/node.h"
#include "ns3/packet.h"

namespace ns3
{

void
QbbNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
QbbNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
QbbNetDevice::GetChannel() const
{
    return m_channel;
}

void
QbbNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
QbbNetDevice::GetAddress() const
{
    return m_address;
}

bool
QbbNetDevice::SetMtu(const uint16_t mtu)
{
    NS_ABORT_MSG_IF(m_owner && m_owner->IsFrozen() && mtu != m_mtu,
                    "paths are measured by the Mtu of a device: set it before QbbHelper::Start()");
    m_mtu = mtu;
    return true;
}

uint16_t
QbbNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
QbbNetDevice::IsLinkUp() const
{
    return m_linkUp;
}

void
QbbNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChanges.ConnectWithoutContext(callback);
}

bool
QbbNetDevice::IsBroadcast() const
{
    return true;
}

Address
QbbNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
QbbNetDevice::IsMulticast() const
{
    return true;
}

Address
QbbNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
QbbNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
QbbNetDevice::IsBridge() const
{
    return false;
}

bool
QbbNetDevice::IsPointToPoint() const
{
    // Behind a switch all hosts are neighbours, and the switch has no address: so ns-3's global
    // routing takes it for a network of many.
    return !m_peer || !m_peer->m_owner || !m_peer->m_owner->IsSwitch();
}

bool
QbbNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return SendFrom(packet, m_address, dest, protocolNumber);
}

bool
QbbNetDevice::SendFrom(Ptr<Packet> packet, const Address&, const Address&, uint16_t protocolNumber)
{
    // Where this link is down the node may have another.
    return GetOwner().SendPacket(*this, packet, protocolNumber);
}

void
QbbNetDevice::Deliver(Ptr<Packet> packet, uint16_t protocol, const QbbNetDevice& from)
{
    if (!m_receiveAll.IsNull())
    {
        m_receiveAll(this, packet, protocol, from.m_address, m_address, PACKET_HOST);
    }
    if (!m_receive.IsNull())
    {
        m_receive(this, packet, protocol, from.m_address);
    }
}

Ptr<Node>
QbbNetDevice::GetNode() const
{
    return m_node;
}

void
QbbNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
QbbNetDevice::NeedsArp() const
{
    return false;
}

void
QbbNetDevice::SetReceiveCallback(ReceiveCallback cb)
{
    m_receive = cb;
}

void
QbbNetDevice::SetPromiscReceiveCallback(PromiscReceiveCallback cb)
{
    m_receiveAll = cb;
}

bool
QbbNetDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
