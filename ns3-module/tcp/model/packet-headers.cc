/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-headers.h"

#include "ns3-bridge/src/probed.rs.h"

#include "ns3/header.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6-extension-header.h"
#include "ns3/node.h"
#include "ns3/udp-header.h"

#include <array>
#include <utility>

namespace ns3
{

namespace
{

/// The header of a probe over UDP.
class ProbeHeader : public Header
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::HpccProbeHeader")
                                .SetParent<Header>()
                                .SetGroupName("Hpcc")
                                .AddConstructor<ProbeHeader>();
        return tid;
    }

    // Inherited
    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 8;
    }

    void Serialize(Buffer::Iterator start) const override
    {
        start.WriteHtonU32(number.isAnswer);
        start.WriteHtonU32(number.seq);
    }

    uint32_t Deserialize(Buffer::Iterator start) override
    {
        number.isAnswer = start.ReadNtohU32() != 0;
        number.seq = start.ReadNtohU32();
        return GetSerializedSize();
    }

    void Print(std::ostream& os) const override
    {
        os << (number.isAnswer ? "answer " : "probe ") << number.seq;
    }

    ProbeNumber number{0, false}; //!< what it says
};

/**
 * \param address an IPv6 address
 * \return the IPv4 address of the host that has it; 0 if none has
 */
uint32_t
Ipv4Of(const Ipv6Address& address)
{
    std::array<uint8_t, 16> bytes;
    address.GetBytes(bytes.data());
    return hpcc::ipv4_of(bytes);
}

/**
 * \param ipv4 a host's IPv4 address
 * \return its IPv6 address
 */
Ipv6Address
Ipv6Of(uint32_t ipv4)
{
    std::array<uint8_t, 16> bytes = hpcc::ipv6_of(ipv4);
    return Ipv6Address(bytes.data());
}

/**
 * \param isIpv6 whether it is to be IPv6
 * \param ipv4 a host's IPv4 address
 * \param port a port
 * \return both, for sockets
 */
Address
SocketAddressOf(bool isIpv6, uint32_t ipv4, uint16_t port)
{
    return isIpv6 ? Address(Inet6SocketAddress(Ipv6Of(ipv4), port))
                  : Address(InetSocketAddress(Ipv4Address(ipv4), port));
}

} // namespace

PacketHeaders::PacketHeaders(Ptr<const Packet> packet)
{
    uint8_t first = 0;
    packet->CopyData(&first, 1);
    const Ptr<Packet> rest = packet->Copy();
    isIpv6 = first >> 4 == 6;
    if (isIpv6)
    {
        rest->RemoveHeader(m_ipv6);
        src = Ipv4Of(m_ipv6.GetSource());
        dst = Ipv4Of(m_ipv6.GetDestination());
        ReadIpv6Transport(*rest);
        return;
    }
    rest->RemoveHeader(m_ipv4);
    src = m_ipv4.GetSource().Get();
    dst = m_ipv4.GetDestination().Get();
    if (m_ipv4.GetFragmentOffset() == 0)
    {
        ReadTransport(*rest, m_ipv4.GetProtocol());
    }
}

void
PacketHeaders::ReadIpv6Transport(Packet& rest)
{
    if (m_ipv6.GetNextHeader() != protocol_number::FRAGMENT)
    {
        ReadTransport(rest, m_ipv6.GetNextHeader());
        return;
    }
    Ipv6ExtensionFragmentHeader fragment;
    rest.RemoveHeader(fragment);
    if (fragment.GetOffset() == 0)
    {
        ReadTransport(rest, fragment.GetNextHeader());
    }
}

void
PacketHeaders::ReadTransport(Packet& rest, uint8_t protocol)
{
    if (protocol == protocol_number::TCP)
    {
        rest.RemoveHeader(tcp);
        isTcp = true;
        sport = tcp.GetSourcePort();
        dport = tcp.GetDestinationPort();
        payload = rest.GetSize();
    }
    else if (protocol == protocol_number::UDP)
    {
        UdpHeader udp;
        rest.RemoveHeader(udp);
        isUdp = true;
        sport = udp.GetSourcePort();
        dport = udp.GetDestinationPort();
        payload = rest.GetSize();
    }
}

Address
PacketHeaders::GetSource() const
{
    return SocketAddressOf(isIpv6, src, sport);
}

Address
PacketHeaders::GetDestination() const
{
    return SocketAddressOf(isIpv6, dst, dport);
}

uint8_t
PacketHeaders::GetDscp() const
{
    return isIpv6 ? uint8_t{m_ipv6.GetDscp()} : uint8_t{m_ipv4.GetDscp()};
}

uint8_t
PacketHeaders::GetHopLimit() const
{
    return isIpv6 ? m_ipv6.GetHopLimit() : m_ipv4.GetTtl();
}

uint16_t
PacketHeaders::GetEtherType() const
{
    return isIpv6 ? protocol_number::IPV6 : protocol_number::IPV4;
}

void
PacketHeaders::Arrive(Packet& packet, uint8_t hopLimit, bool marked)
{
    if (isIpv6)
    {
        m_ipv6.SetHopLimit(hopLimit);
        if (marked && m_ipv6.GetEcn() != Ipv6Header::ECN_NotECT)
        {
            m_ipv6.SetEcn(Ipv6Header::ECN_CE);
        }
        Ipv6Header old;
        packet.RemoveHeader(old);
        packet.AddHeader(m_ipv6);
        return;
    }
    m_ipv4.SetTtl(hopLimit);
    if (marked && m_ipv4.GetEcn() != Ipv4Header::ECN_NotECT)
    {
        m_ipv4.SetEcn(Ipv4Header::ECN_CE);
    }
    if (Node::ChecksumEnabled())
    {
        m_ipv4.EnableChecksum();
    }
    Ipv4Header old;
    packet.RemoveHeader(old);
    packet.AddHeader(m_ipv4);
}

PacketHeaders
PacketHeaders::Reversed() const
{
    PacketHeaders reversed = *this;
    std::swap(reversed.src, reversed.dst);
    std::swap(reversed.sport, reversed.dport);
    return reversed;
}

ProbeNumber
PacketHeaders::ReadProbe(Ptr<const Packet> packet) const
{
    if (isTcp)
    {
        const bool isAnswer = tcp.GetFlags() & TcpHeader::ACK;
        return {(isAnswer ? tcp.GetAckNumber() : tcp.GetSequenceNumber()).GetValue(), isAnswer};
    }
    const Ptr<Packet> rest = packet->CreateFragment(packet->GetSize() - payload, payload);
    ProbeHeader probe;
    // A packet with the probes' DSCP need not be a probe: one that is too short has no number.
    if (payload >= probe.GetSerializedSize())
    {
        rest->PeekHeader(probe);
    }
    return probe.number;
}

Ptr<Packet>
PacketHeaders::MakeProbe(ProbeNumber number, uint8_t dscp, uint8_t hopLimit) const
{
    const Ptr<Packet> packet = MakeProbeBody(number);
    const uint8_t protocol = isTcp ? protocol_number::TCP : protocol_number::UDP;
    const auto size = static_cast<uint16_t>(packet->GetSize());
    if (isIpv6)
    {
        Ipv6Header ip;
        ip.SetSource(Ipv6Of(src));
        ip.SetDestination(Ipv6Of(dst));
        ip.SetNextHeader(protocol);
        ip.SetDscp(static_cast<Ipv6Header::DscpType>(dscp));
        ip.SetHopLimit(hopLimit);
        ip.SetPayloadLength(size);
        packet->AddHeader(ip);
        return packet;
    }
    Ipv4Header ip;
    ip.SetSource(Ipv4Address(src));
    ip.SetDestination(Ipv4Address(dst));
    ip.SetProtocol(protocol);
    ip.SetDscp(static_cast<Ipv4Header::DscpType>(dscp));
    ip.SetTtl(hopLimit);
    ip.SetPayloadSize(size);
    packet->AddHeader(ip);
    return packet;
}

Ptr<Packet>
PacketHeaders::MakeProbeBody(ProbeNumber number) const
{
    const Ptr<Packet> packet = Create<Packet>();
    if (isTcp)
    {
        TcpHeader header;
        header.SetSourcePort(sport);
        header.SetDestinationPort(dport);
        number.isAnswer ? header.SetAckNumber(SequenceNumber32(number.seq))
                        : header.SetSequenceNumber(SequenceNumber32(number.seq));
        header.SetFlags(number.isAnswer ? TcpHeader::ACK : TcpHeader::NONE);
        packet->AddHeader(header);
        return packet;
    }
    ProbeHeader probe;
    probe.number = number;
    packet->AddHeader(probe);
    UdpHeader header;
    header.SetSourcePort(sport);
    header.SetDestinationPort(dport);
    packet->AddHeader(header);
    return packet;
}

} // namespace ns3
