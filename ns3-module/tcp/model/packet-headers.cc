/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-headers.h"

#include "ns3/header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-header.h"
#include "ns3/udp-l4-protocol.h"

#include <utility>

namespace ns3
{

namespace
{

/// What a UDP packet says that is a probe.
class ProbeHeader : public Header
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::HpccProbeHeader").SetParent<Header>().SetGroupName("Hpcc").AddConstructor<ProbeHeader>();
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

} // namespace

PacketHeaders::PacketHeaders(Ptr<const Packet> packet)
{
    const Ptr<Packet> rest = packet->Copy();
    rest->RemoveHeader(ip);
    if (ip.GetFragmentOffset() > 0)
    {
        return;
    }
    if (ip.GetProtocol() == TcpL4Protocol::PROT_NUMBER)
    {
        rest->RemoveHeader(tcp);
        isTcp = true;
        sport = tcp.GetSourcePort();
        dport = tcp.GetDestinationPort();
        payload = rest->GetSize();
    }
    else if (ip.GetProtocol() == UdpL4Protocol::PROT_NUMBER)
    {
        UdpHeader udp;
        rest->RemoveHeader(udp);
        isUdp = true;
        sport = udp.GetSourcePort();
        dport = udp.GetDestinationPort();
        payload = rest->GetSize();
    }
}

PacketHeaders
PacketHeaders::Reversed() const
{
    PacketHeaders reversed = *this;
    reversed.ip.SetSource(ip.GetDestination());
    reversed.ip.SetDestination(ip.GetSource());
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
    // Behind the probes' DSCP may be what is none: too short a packet says nothing.
    if (payload >= probe.GetSerializedSize())
    {
        rest->PeekHeader(probe);
    }
    return probe.number;
}

Ptr<Packet>
PacketHeaders::MakeProbe(ProbeNumber number) const
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
