/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-host.h"

#include "../../model/call-core.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/probed.rs.h"


#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/udp-l4-protocol.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("PacketHost");

NS_OBJECT_ENSURE_REGISTERED(PacketHost);

namespace
{

/// Ethernet's header and check sequence.
constexpr uint32_t ETHERNET_OVERHEAD = 14 + 4;
/// Ethernet's shortest frame.
constexpr uint32_t SHORTEST_FRAME = 64;

} // namespace

TypeId
PacketHost::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PacketHost")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<PacketHost>()
            .AddAttribute("Priority",
                          "Priority group of all packets from here, 1 to 7",
                          UintegerValue(3),
                          MakeUintegerAccessor(&PacketHost::m_priority),
                          MakeUintegerChecker<uint8_t>(1, 7))
            .AddAttribute("ProbeDscp",
                          "DSCP of probes and their answers, which nothing else may have; the same at all hosts. The "
                          "default is of the pool for local use (RFC 2474, section 6)",
                          UintegerValue(0b101011),
                          MakeUintegerAccessor(&PacketHost::m_probeDscp),
                          MakeUintegerChecker<uint8_t>(1, 63))
            .AddAttribute("QueueBytes",
                          "Most bytes that wait at a port; what exceeds them is dropped",
                          UintegerValue(1 << 20),
                          MakeUintegerAccessor(&PacketHost::m_queueBytes),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("GlobalRtt",
                          "HPCC++: T is the longest round-trip time of the network, not the flow's own",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketHost::m_globalRtt),
                          MakeBooleanChecker())
            .AddTraceSource("Drop",
                            "A packet was dropped: too many wait, or nobody has its destination's address",
                            MakeTraceSourceAccessor(&PacketHost::m_dropTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

PacketHost::PacketHost()
{
    NS_LOG_FUNCTION(this);
}

PacketHost::~PacketHost()
{
    NS_LOG_FUNCTION(this);
}

void
PacketHost::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_flows.clear();
    m_datagrams.clear();
    m_network.reset();
    QbbNode::DoDispose();
}

Ipv4Address
PacketHost::GetAddress() const
{
    return AddressOf(m_index);
}

Ipv4Address
PacketHost::AddressOf(uint32_t index)
{
    return Ipv4Address(hpcc::host_address(index));
}

uint64_t
PacketHost::GetDrops() const
{
    return m_drops;
}

uint64_t
PacketHost::GetProbes() const
{
    return m_probes;
}

bool
PacketHost::IsSwitch() const
{
    return false;
}

uint32_t
PacketHost::GetMtu() const
{
    return m_ports.empty() ? 0 : m_ports.front()->GetMtu();
}

void
PacketHost::Start(const std::shared_ptr<hpcc::Network>& network)
{
    NS_LOG_FUNCTION(this);
    m_network = network;
    CallCore([&] { hpcc::resolve(GetSettings(), *m_network); });
}

void
PacketHost::OnLinkDown(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
    while (QbbFrame* frame = port.DequeueAny())
    {
        frame->Release();
    }
}

void
PacketHost::OnNewRoutes()
{
    // The stack chooses ports.
}

uint64_t
PacketHost::KeyOf(Ipv4Address peer, uint16_t own, uint16_t other)
{
    return uint64_t{peer.Get()} << 32 | uint64_t{own} << 16 | other;
}

QbbFrame*
PacketHost::MakeFrame(QbbFrame::Kind kind, const PacketHeaders& headers, Ptr<Packet> packet)
{
    const uint32_t address = headers.ip.GetDestination().Get();
    const int64_t dst = hpcc::host_of(address);
    if (dst < 0)
    {
        return nullptr;
    }
    QbbFrame* frame = m_pool->Acquire();
    frame->kind = kind;
    frame->priority = m_priority;
    frame->congestionMarked = false;
    frame->hopLimit = headers.ip.GetTtl();
    frame->payload = headers.payload;
    frame->src = m_index;
    frame->dst = static_cast<uint32_t>(dst);
    frame->srcAddress = headers.ip.GetSource().Get();
    frame->dstAddress = address;
    frame->sport = headers.sport;
    frame->dport = headers.dport;
    frame->SetPacket(packet);
    SetTelemetry(*frame, 0);
    return frame;
}

void
PacketHost::SetTelemetry(QbbFrame& frame, uint16_t bytes)
{
    frame.telemetryBytes = bytes;
    frame.size = std::max(frame.packet->GetSize() + bytes + ETHERNET_OVERHEAD, SHORTEST_FRAME);
}

bool
PacketHost::Enqueue(QbbNetDevice& out, QbbFrame* frame)
{
    if (out.GetQueuedBytes() + frame->size > m_queueBytes)
    {
        ++m_drops;
        m_dropTrace(frame->packet);
        frame->Release();
        return false;
    }
    out.Enqueue(frame, frame->priority);
    out.TrySend();
    return true;
}

bool
PacketHost::SendPacket(QbbNetDevice& out, Ptr<Packet> packet, uint16_t protocol)
{
    NS_LOG_FUNCTION(this << &out << packet << protocol);
    if (protocol != Ipv4L3Protocol::PROT_NUMBER)
    {
        return QbbNode::SendPacket(out, packet, protocol);
    }
    const PacketHeaders headers(packet);
    QbbFrame* frame = MakeFrame(QbbFrame::Kind::PACKET, headers, packet);
    if (!frame)
    {
        ++m_drops;
        m_dropTrace(packet);
        return false;
    }
    if (!Enqueue(out, frame))
    {
        return false;
    }
    if (headers.isTcp)
    {
        OnSegment(out, headers);
    }
    return true;
}

void
PacketHost::OnSegment(QbbNetDevice& out, const PacketHeaders& headers)
{
    const uint64_t key = KeyOf(headers.ip.GetDestination(), headers.sport, headers.dport);
    if (headers.tcp.GetFlags() & TcpHeader::SYN)
    {
        m_flows.erase(key);
        return;
    }
    if (headers.payload == 0)
    {
        return;
    }
    auto known = m_flows.find(key);
    if (known == m_flows.end())
    {
        ForgetEnded();
        known = m_flows.emplace(key, TakeOn(out, headers)).first;
    }
    if (known->second)
    {
        known->second->OnSent(headers.tcp.GetSequenceNumber().GetValue() + headers.payload);
    }
}

void
PacketHost::ForgetEnded()
{
    if (m_flows.size() < m_mostFlows)
    {
        return;
    }
    for (auto it = m_flows.begin(); it != m_flows.end();)
    {
        // A socket would hold the second reference. What HPCC++ does not control is looked up again.
        const bool hasEnded = !it->second || it->second->GetReferenceCount() == 1;
        it = hasEnded ? m_flows.erase(it) : std::next(it);
    }
    m_mostFlows = std::max(m_mostFlows, 2 * m_flows.size());
}

Ptr<TcpHpccPlus>
PacketHost::TakeOn(QbbNetDevice& out, const PacketHeaders& headers)
{
    const Ptr<TcpHpccPlus> flow =
        TcpHpccPlus::Find(*GetObject<Node>(),
                          InetSocketAddress(headers.ip.GetSource(), headers.sport),
                          InetSocketAddress(headers.ip.GetDestination(), headers.dport));
    if (!flow)
    {
        return nullptr;
    }
    const auto sendProbe = [this, port = out.GetPortNumber(), headers](uint32_t seq) {
        SendProbe(port, headers, seq);
    };
    const bool bound = flow->Bind(GetPath(headers.ip.GetDestination()),
                                  GetSettings(),
                                  headers.tcp.GetSequenceNumber().GetValue(),
                                  sendProbe);
    return bound ? flow : nullptr;
}

ProbedPath
PacketHost::GetPath(Ipv4Address peer) const
{
    const int64_t dst = hpcc::host_of(peer.Get());
    NS_ABORT_MSG_IF(dst < 0, "no host has the address " << peer);
    const uint64_t baseRtt =
        m_globalRtt ? m_network->max_rtt_ns() : m_network->pair_rtt_ns(m_index, static_cast<uint32_t>(dst));
    return {m_ports.front()->GetDataRate(), NanoSeconds(baseRtt)};
}

ProbeSender
PacketHost::AddDatagrams(const InetSocketAddress& peer, uint16_t port, ProbeClient& client)
{
    PacketHeaders headers;
    headers.isUdp = true;
    headers.ip.SetProtocol(UdpL4Protocol::PROT_NUMBER);
    headers.ip.SetSource(GetAddress());
    headers.ip.SetDestination(peer.GetIpv4());
    headers.sport = port;
    headers.dport = peer.GetPort();
    m_datagrams[KeyOf(peer.GetIpv4(), port, peer.GetPort())] = &client;
    return [this, headers](uint32_t seq) { SendProbe(0, headers, seq); };
}

void
PacketHost::RemoveDatagrams(const InetSocketAddress& peer, uint16_t port)
{
    m_datagrams.erase(KeyOf(peer.GetIpv4(), port, peer.GetPort()));
}

ProbeClient*
PacketHost::FindClient(const PacketHeaders& headers) const
{
    const uint64_t key = KeyOf(headers.ip.GetDestination(), headers.sport, headers.dport);
    if (headers.isTcp)
    {
        const auto flow = m_flows.find(key);
        return flow == m_flows.end() ? nullptr : PeekPointer(flow->second);
    }
    const auto flow = m_datagrams.find(key);
    return flow == m_datagrams.end() ? nullptr : flow->second;
}

Ptr<Packet>
PacketHost::MakeProbePacket(PacketHeaders& headers, ProbeNumber number) const
{
    const Ptr<Packet> packet = headers.MakeProbe(number);
    headers.ip.SetDscp(static_cast<Ipv4Header::DscpType>(m_probeDscp));
    headers.ip.SetEcn(Ipv4Header::ECN_NotECT);
    headers.ip.SetTtl(QbbFrame::INITIAL_HOP_LIMIT);
    headers.ip.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    packet->AddHeader(headers.ip);
    return packet;
}

void
PacketHost::SendProbe(uint16_t port, const PacketHeaders& headers, uint32_t seq)
{
    NS_LOG_FUNCTION(this << port << seq);
    const ProbeClient* client = FindClient(headers);
    if (!client)
    {
        return;
    }
    PacketHeaders probe = headers;
    probe.payload = 0;
    QbbFrame* frame = MakeFrame(QbbFrame::Kind::PACKET_PROBE, probe, MakeProbePacket(probe, {seq, false}));
    SetTelemetry(*frame, client->PrepareProbe(frame->GetTelemetry(), frame->GetRoom()));
    if (Enqueue(*m_ports[port], frame))
    {
        ++m_probes;
    }
}

void
PacketHost::Receive(QbbNetDevice& in, QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    if (frame->dst != m_index || !frame->CarriesPacket())
    {
        frame->Release();
        return;
    }
    PacketHeaders headers(frame->packet);
    if (!(headers.isTcp || headers.isUdp) || headers.ip.GetDscp() != m_probeDscp)
    {
        Deliver(in, headers, frame);
        return;
    }
    const ProbeNumber number = headers.ReadProbe(frame->packet);
    if (number.isAnswer)
    {
        ReceiveAnswer(headers, number.seq, frame);
        return;
    }
    Answer(in, headers, number.seq, frame);
}

void
PacketHost::Answer(QbbNetDevice& in, const PacketHeaders& headers, uint32_t seq, QbbFrame* frame)
{
    PacketHeaders answer = headers.Reversed();
    frame->TakePacket();
    frame->kind = QbbFrame::Kind::PACKET_RESPONSE;
    frame->SetPacket(MakeProbePacket(answer, {seq, true}));
    frame->priority = m_priority;
    frame->hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    frame->congestionMarked = false;
    std::swap(frame->src, frame->dst);
    std::swap(frame->srcAddress, frame->dstAddress);
    std::swap(frame->sport, frame->dport);
    SetTelemetry(*frame, frame->telemetryBytes);
    Enqueue(in, frame);
}

void
PacketHost::ReceiveAnswer(const PacketHeaders& headers, uint32_t seq, QbbFrame* frame)
{
    if (ProbeClient* client = FindClient(headers.Reversed()))
    {
        client->OnResponse(seq, frame->GetTelemetry(), frame->telemetryBytes);
    }
    frame->Release();
}

void
PacketHost::Deliver(QbbNetDevice& in, PacketHeaders& headers, QbbFrame* frame)
{
    if (headers.isTcp && headers.tcp.GetFlags() & TcpHeader::ACK)
    {
        const auto known = m_flows.find(KeyOf(headers.ip.GetSource(), headers.dport, headers.sport));
        if (known != m_flows.end() && known->second)
        {
            known->second->OnAcked(headers.tcp.GetAckNumber().GetValue());
        }
    }
    headers.ip.SetTtl(frame->hopLimit);
    if (frame->congestionMarked && headers.ip.GetEcn() != Ipv4Header::ECN_NotECT)
    {
        headers.ip.SetEcn(Ipv4Header::ECN_CE);
    }
    if (Node::ChecksumEnabled())
    {
        headers.ip.EnableChecksum();
    }
    const Ptr<Packet> packet = frame->TakePacket();
    frame->Release();
    Ipv4Header old;
    packet->RemoveHeader(old);
    packet->AddHeader(headers.ip);
    in.Deliver(packet, Ipv4L3Protocol::PROT_NUMBER, in.GetPeer());
}

QbbFrame*
PacketHost::NextFrame(QbbNetDevice& out)
{
    return out.Dequeue();
}

} // namespace ns3
