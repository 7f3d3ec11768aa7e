/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-host.h"

#include "../../model/call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "ns3-bridge/src/probed.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/engine-network.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/queue-disc.h"
#include "ns3/socket.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string>
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
/// The message about an address that is not the host's.
constexpr const char* WRONG_ADDRESS =
    " has an address to which no way leads; PacketHostHelper assigns those that stand for hosts. "
    "It is ";
/// The bit of keys of IPv6 flows: addresses of hosts are below it.
constexpr uint64_t IPV6_KEY = uint64_t{1} << 63;

/**
 * \brief Identify a flow of a host, among flows of its protocol.
 * \param isIpv6 whether it is one of IPv6
 * \param peer the other end's address
 * \param own this end's port
 * \param other the other end's port
 * \return a key
 */
uint64_t
MakeKey(bool isIpv6, uint32_t peer, uint16_t own, uint16_t other)
{
    return (isIpv6 ? IPV6_KEY : 0) | uint64_t{peer} << 32 | uint64_t{own} << 16 | other;
}

/**
 * \param address an InetSocketAddress or Inet6SocketAddress
 * \return what messages call it
 */
std::string
DescribePeer(const Address& address)
{
    std::ostringstream text;
    if (InetSocketAddress::IsMatchingType(address))
    {
        const InetSocketAddress ipv4 = InetSocketAddress::ConvertFrom(address);
        text << ipv4.GetIpv4() << ':' << ipv4.GetPort();
    }
    else
    {
        const Inet6SocketAddress ipv6 = Inet6SocketAddress::ConvertFrom(address);
        text << '[' << ipv6.GetIpv6() << "]:" << ipv6.GetPort();
    }
    return text.str();
}

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
            .AddAttribute("Share",
                          "Percent of a link that packets have while RDMA of the same node has "
                          "data for it, too: with 0 they wait for RDMA, with 100 RDMA for them. "
                          "RDMA's acknowledgements go first",
                          UintegerValue(50),
                          MakeUintegerAccessor(&PacketHost::m_share),
                          MakeUintegerChecker<uint8_t>(0, 100))
            .AddAttribute("ProbeDscp",
                          "DSCP of probes and their answers, which nothing else may have; the same "
                          "at all hosts. The "
                          "default is of the pool for local use (RFC 2474, section 6)",
                          UintegerValue(0b101011),
                          MakeUintegerAccessor(&PacketHost::m_probeDscp),
                          MakeUintegerChecker<uint8_t>(1, 63))
            .AddAttribute("QueueBytes",
                          "Most bytes that wait at a port; what exceeds them is dropped",
                          UintegerValue(1 << 20),
                          MakeUintegerAccessor(&PacketHost::m_queueBytes),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "GlobalRtt",
                "HPCC++: T is the longest round-trip time of the network, not the flow's own",
                BooleanValue(true),
                MakeBooleanAccessor(&PacketHost::m_globalRtt),
                MakeBooleanChecker())
            .AddAttribute("Datagrams",
                          "HPCC++: T is the time of a full datagram and of the answer to a probe, "
                          "not of a TCP segment and its acknowledgement; the same at all hosts",
                          BooleanValue(false),
                          MakeBooleanAccessor(&PacketHost::m_sendsDatagrams),
                          MakeBooleanChecker())
            .AddTraceSource(
                "Drop",
                "A packet was dropped: too many wait, or no way leads to its destination",
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
    m_flowControl = nullptr;
    m_datagrams.clear();
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

Ipv6Address
PacketHost::GetIpv6Address() const
{
    return Ipv6AddressOf(m_index);
}

Ipv6Address
PacketHost::Ipv6AddressOf(uint32_t index)
{
    std::array<uint8_t, 16> bytes = hpcc::ipv6_of(hpcc::host_address(index));
    return Ipv6Address(bytes.data());
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

uint64_t
PacketHost::GetFeedback() const
{
    return m_feedback;
}

uint64_t
PacketHost::GetBaselineResets() const
{
    return m_baselineResets;
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
PacketHost::PrepareSettings()
{
    const Ptr<Ipv6> ipv6 = GetObject<Ipv6>();
    const bool hasIpv6 =
        ipv6 && !m_ports.empty() && ipv6->GetInterfaceForDevice(m_ports.front()) >= 0;
    GetSettings().carry_packets(m_sendsDatagrams, hasIpv6, GetMtu());
}

void
PacketHost::Start(Ptr<EngineNetwork> network)
{
    CheckStack();
    CallRust([&] { network->Look().check_priority("packets have", m_priority); });
    QbbNode::Start(network);
    if (m_isShared)
    {
        network->Look().share_ports(m_index, m_share);
    }
    FindQueueDisc();
}

void
PacketHost::ShareWith(QbbNode& host)
{
    NS_LOG_FUNCTION(this << &host);
    m_isShared = true;
    host.SetStack(*this);
}

void
PacketHost::CheckProbes() const
{
    NS_ABORT_MSG_IF(m_isShared,
                    Describe() << " has RDMA beside its stack, and sends no probes: HPCC++ for TCP "
                                  "and datagrams needs a PacketHost alone on its node");
}

void
PacketHost::AddPort(Ptr<QbbNetDevice> device)
{
    QbbNode::AddPort(device);
    // By it ns-3's traffic control knows that a device has a queue, and hears whether it has room.
    device->AggregateObject(CreateObject<NetDeviceQueueInterface>());
}

void
PacketHost::FindQueueDisc()
{
    const auto traffic = GetObject<TrafficControlLayer>();
    if (!traffic || m_ports.empty() || !traffic->GetRootQueueDiscOnDevice(m_ports.front()))
    {
        return;
    }
    m_flowControl = m_ports.front()->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
    for (const auto& port : m_ports)
    {
        GetNetwork().Look().watch_port(m_index, port->GetPortNumber());
    }
}

uint64_t
PacketHost::GetQueued(const QbbNetDevice& port) const
{
    return GetNetwork().Look().queued(m_index, port.GetPortNumber(), m_priority);
}

bool
PacketHost::HasRoom(const QbbNetDevice& port) const
{
    const uint64_t queued = GetQueued(port);
    const uint64_t largest = port.GetMtu() + ETHERNET_OVERHEAD + GetNetwork().Look().room();
    return queued == 0 || queued + largest <= m_queueBytes;
}

void
PacketHost::WakeQueueDisc()
{
    const bool hasRoom = std::all_of(m_ports.begin(), m_ports.end(), [this](const auto& port) {
        return HasRoom(*port);
    });
    if (hasRoom)
    {
        m_flowControl->Wake();
    }
}

void
PacketHost::CheckStack() const
{
    if (m_ports.empty())
    {
        return;
    }
    if (const auto ipv4 = GetObject<Ipv4>())
    {
        const int32_t interface = ipv4->GetInterfaceForDevice(m_ports.front());
        for (uint32_t n = 0; interface >= 0 && n < ipv4->GetNAddresses(interface); ++n)
        {
            const Ipv4Address own = ipv4->GetAddress(interface, n).GetLocal();
            NS_ABORT_MSG_UNLESS(own == GetAddress(), Describe() << WRONG_ADDRESS << own);
        }
    }
    if (const auto ipv6 = GetObject<Ipv6>())
    {
        const int32_t interface = ipv6->GetInterfaceForDevice(m_ports.front());
        for (uint32_t n = 0; interface >= 0 && n < ipv6->GetNAddresses(interface); ++n)
        {
            const Ipv6Address own = ipv6->GetAddress(interface, n).GetAddress();
            NS_ABORT_MSG_UNLESS(own.IsLinkLocal() || own == GetIpv6Address(),
                                Describe() << WRONG_ADDRESS << own);
        }
    }
}

uint64_t
PacketHost::KeyOf(const PacketHeaders& headers)
{
    return MakeKey(headers.isIpv6, headers.dst, headers.sport, headers.dport);
}

uint64_t
PacketHost::KeyOfReverse(const PacketHeaders& headers)
{
    return MakeKey(headers.isIpv6, headers.src, headers.dport, headers.sport);
}

PacketHeaders
PacketHost::DatagramHeaders(const Address& peer, uint16_t port) const
{
    PacketHeaders headers;
    headers.isUdp = true;
    headers.src = GetAddress().Get();
    headers.sport = port;
    if (InetSocketAddress::IsMatchingType(peer))
    {
        const InetSocketAddress address = InetSocketAddress::ConvertFrom(peer);
        headers.dst = address.GetIpv4().Get();
        headers.dport = address.GetPort();
        return headers;
    }
    const Inet6SocketAddress address = Inet6SocketAddress::ConvertFrom(peer);
    std::array<uint8_t, 16> bytes;
    address.GetIpv6().GetBytes(bytes.data());
    headers.isIpv6 = true;
    headers.dst = hpcc::ipv4_of(bytes);
    headers.dport = address.GetPort();
    return headers;
}

int64_t
PacketHost::FindHost(const PacketHeaders& headers) const
{
    const int64_t host = hpcc::host_of(headers.dst);
    const Ptr<Ipv4> ipv4 = GetObject<Ipv4>();
    if (host >= 0 || headers.isIpv6 || !ipv4)
    {
        return host;
    }
    Ipv4Header header;
    header.SetDestination(Ipv4Address(headers.dst));
    Socket::SocketErrno error;
    const Ptr<Ipv4Route> route =
        ipv4->GetRoutingProtocol()->RouteOutput(nullptr, header, nullptr, error);
    return route ? hpcc::host_of(route->GetGateway().Get()) : -1;
}

QbbNetDevice*
PacketHost::FindPort(const PacketHeaders& headers) const
{
    const int64_t dst = FindHost(headers);
    if (dst < 0)
    {
        return nullptr;
    }
    const int32_t port =
        GetNetwork().Look().port_to(m_index,
                                    {headers.src, headers.dst, headers.sport, headers.dport},
                                    static_cast<uint32_t>(dst));
    return port < 0 ? nullptr : PeekPointer(m_ports[port]);
}

void
PacketHost::Drop(Ptr<const Packet> packet)
{
    ++m_drops;
    m_dropTrace(packet);
}

QbbFrame
PacketHost::MakeFrame(QbbFrame::Kind kind, const PacketHeaders& headers, Ptr<Packet> packet) const
{
    QbbFrame frame;
    frame.kind = kind;
    frame.priority = m_priority;
    frame.hopLimit = headers.GetHopLimit();
    frame.payload = headers.payload;
    frame.src = m_index;
    frame.dst = static_cast<uint32_t>(FindHost(headers));
    frame.sport = headers.sport;
    frame.dport = headers.dport;
    frame.packet = packet;
    SetTelemetry(frame, {});
    return frame;
}

void
PacketHost::SetTelemetry(QbbFrame& frame, std::vector<uint8_t> section)
{
    const auto bytes = static_cast<uint16_t>(section.size());
    frame.telemetryBytes = bytes;
    frame.telemetry = std::move(section);
    frame.size = std::max(frame.packet->GetSize() + bytes + ETHERNET_OVERHEAD, SHORTEST_FRAME);
}

bool
PacketHost::Enqueue(const QbbNetDevice& out, const QbbFrame& frame)
{
    EngineNetwork& network = GetNetwork();
    hpcc::Network& core = network.Enter();
    const uint16_t port = out.GetPortNumber();
    if (GetQueued(out) + frame.size > m_queueBytes)
    {
        Drop(frame.packet);
        return false;
    }
    const uint32_t place = core.send_frame(m_index,
                                           port,
                                           frame.priority,
                                           frame.ToCore(),
                                           {frame.telemetry.data(), frame.telemetry.size()});
    network.Carry(place, frame.packet);
    network.Settle();
    if (m_flowControl && !HasRoom(out))
    {
        m_flowControl->Stop();
    }
    return true;
}

bool
PacketHost::SendPacket(QbbNetDevice& first, Ptr<Packet> packet, uint16_t protocol)
{
    NS_LOG_FUNCTION(this << packet << protocol);
    if (protocol != protocol_number::IPV4 && protocol != protocol_number::IPV6)
    {
        return QbbNode::SendPacket(first, packet, protocol);
    }
    const PacketHeaders headers(packet);
    QbbNetDevice* out = FindPort(headers);
    if (!out)
    {
        Drop(packet);
        return false;
    }
    if (!Enqueue(*out, MakeFrame(QbbFrame::Kind::PACKET, headers, packet)))
    {
        return false;
    }
    if (headers.isTcp)
    {
        OnSegment(headers);
    }
    return true;
}

void
PacketHost::OnSegment(const PacketHeaders& headers)
{
    const uint64_t key = KeyOf(headers);
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
        known = m_flows.emplace(key, TakeOn(headers)).first;
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
        // A socket that is still open holds a second reference. Null stands for a flow that HPCC++
        // does not control; it is looked up anew if it sends again.
        const bool hasEnded = !it->second || it->second->GetReferenceCount() == 1;
        it = hasEnded ? m_flows.erase(it) : std::next(it);
    }
    m_mostFlows = std::max(m_mostFlows, 2 * m_flows.size());
}

Ptr<TcpHpccPlus>
PacketHost::TakeOn(const PacketHeaders& headers)
{
    if (hpcc::host_of(headers.dst) < 0)
    {
        // Who is behind another host answers no probes.
        return nullptr;
    }
    const Ptr<TcpHpccPlus> flow =
        TcpHpccPlus::Find(*GetObject<Node>(), headers.GetSource(), headers.GetDestination());
    if (!flow)
    {
        return nullptr;
    }
    CheckProbes();
    const auto sendProbe = [this, headers](uint32_t seq) { SendProbe(headers, seq); };
    const bool bound = flow->Bind(PathOf(headers),
                                  GetSettings(),
                                  headers.tcp.GetSequenceNumber().GetValue(),
                                  sendProbe);
    return bound ? flow : nullptr;
}

ProbedPath
PacketHost::GetPath(const Address& peer, uint16_t port) const
{
    CheckProbes();
    const PacketHeaders headers = DatagramHeaders(peer, port);
    NS_ABORT_MSG_IF(hpcc::host_of(headers.dst) < 0,
                    "no host has the address " << DescribePeer(peer));
    return PathOf(headers);
}

ProbedPath
PacketHost::PathOf(const PacketHeaders& headers) const
{
    const auto dst = static_cast<uint32_t>(hpcc::host_of(headers.dst));
    const hpcc::Network& core = GetNetwork().Look();
    const uint64_t baseRtt = m_globalRtt ? core.max_rtt_ns() : core.pair_rtt_ns(m_index, dst);
    const QbbNetDevice* out = FindPort(headers);
    // If there is no route, any rate will do: the flow cannot send.
    return {out ? out->GetDataRate() : m_ports.front()->GetDataRate(), NanoSeconds(baseRtt)};
}

ProbeSender
PacketHost::AddDatagrams(const Address& peer, uint16_t port, ProbeClient& client)
{
    const PacketHeaders headers = DatagramHeaders(peer, port);
    m_datagrams[KeyOf(headers)] = &client;
    return [this, headers](uint32_t seq) { SendProbe(headers, seq); };
}

void
PacketHost::RemoveDatagrams(const Address& peer, uint16_t port)
{
    m_datagrams.erase(KeyOf(DatagramHeaders(peer, port)));
}

ProbeClient*
PacketHost::FindClient(const PacketHeaders& headers) const
{
    const uint64_t key = KeyOf(headers);
    if (headers.isTcp)
    {
        const auto flow = m_flows.find(key);
        return flow == m_flows.end() ? nullptr : PeekPointer(flow->second);
    }
    const auto flow = m_datagrams.find(key);
    return flow == m_datagrams.end() ? nullptr : flow->second;
}

void
PacketHost::SendProbe(const PacketHeaders& headers, uint32_t seq)
{
    NS_LOG_FUNCTION(this << seq);
    const ProbeClient* client = FindClient(headers);
    QbbNetDevice* out = FindPort(headers);
    if (!client || !out)
    {
        return;
    }
    PacketHeaders probe = headers;
    probe.payload = 0;
    const Ptr<Packet> packet =
        probe.MakeProbe({seq, false}, m_probeDscp, QbbFrame::INITIAL_HOP_LIMIT);
    QbbFrame frame = MakeFrame(QbbFrame::Kind::PACKET_PROBE, probe, packet);
    frame.hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    std::vector<uint8_t> section(GetNetwork().Look().room());
    section.resize(client->PrepareProbe(section.data(), section.size()));
    SetTelemetry(frame, std::move(section));
    if (Enqueue(*out, frame))
    {
        ++m_probes;
    }
}

void
PacketHost::OnNotice(const hpcc::Notice& notice, QbbFrame& frame)
{
    if (notice.kind != hpcc::NoticeKind::Packet)
    {
        QbbNode::OnNotice(notice, frame);
        if (m_flowControl && m_flowControl->IsStopped())
        {
            WakeQueueDisc();
        }
        return;
    }
    const QbbNetDevice& in = *m_ports[notice.port];
    PacketHeaders headers(frame.packet);
    if (!(headers.isTcp || headers.isUdp) || headers.GetDscp() != m_probeDscp)
    {
        Deliver(in, headers, frame);
        return;
    }
    const ProbeNumber number = headers.ReadProbe(frame.packet);
    if (number.isAnswer)
    {
        ReceiveAnswer(headers, number.seq, frame);
        return;
    }
    Answer(in, headers, number.seq, frame);
}

void
PacketHost::Answer(const QbbNetDevice& in,
                   const PacketHeaders& headers,
                   uint32_t seq,
                   const QbbFrame& frame)
{
    const PacketHeaders reversed = headers.Reversed();
    QbbFrame answer = frame;
    answer.kind = QbbFrame::Kind::PACKET_RESPONSE;
    answer.packet = reversed.MakeProbe({seq, true}, m_probeDscp, QbbFrame::INITIAL_HOP_LIMIT);
    answer.priority = m_priority;
    answer.hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    answer.congestionMarked = false;
    std::swap(answer.src, answer.dst);
    std::swap(answer.sport, answer.dport);
    SetTelemetry(answer, frame.telemetry);
    Enqueue(in, answer);
}

void
PacketHost::ReceiveAnswer(const PacketHeaders& headers, uint32_t seq, const QbbFrame& frame)
{
    if (ProbeClient* client = FindClient(headers.Reversed()))
    {
        ++m_feedback;
        const uint64_t before = client->GetBaselineResets();
        client->OnResponse(seq, frame.GetTelemetry(), frame.telemetryBytes);
        // An answer may end its flow.
        if (FindClient(headers.Reversed()) == client)
        {
            m_baselineResets += client->GetBaselineResets() - before;
        }
    }
}

void
PacketHost::Deliver(const QbbNetDevice& in, PacketHeaders& headers, const QbbFrame& frame)
{
    if (headers.isTcp && headers.tcp.GetFlags() & TcpHeader::ACK)
    {
        const auto known = m_flows.find(KeyOfReverse(headers));
        if (known != m_flows.end() && known->second)
        {
            known->second->OnAcked(headers.tcp.GetAckNumber().GetValue());
        }
    }
    headers.Arrive(*frame.packet, frame.hopLimit, frame.congestionMarked);
    m_ports.front()->Deliver(frame.packet, headers.GetEtherType(), in.GetPeer());
}

} // namespace ns3
