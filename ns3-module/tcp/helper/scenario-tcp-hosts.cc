/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-tcp-hosts.h"

#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/node.h"
#include "ns3/packet-host.h"
#include "ns3/packet.h"
#include "ns3/pointer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/tcp-hpcc-plus.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioTcpHosts);

namespace
{

/// Most bytes of a segment's headers, with options.
constexpr uint32_t MOST_HEADERS = 20 + 60;
/// Seconds for which a closed connection keeps its port: long enough here, where a run lasts less than that of the RFC.
constexpr double SEGMENT_LIFETIME = 0.001;
/// TCP's clock, in which no timeout is shorter.
const Time CLOCK_GRANULARITY = MilliSeconds(1);

/**
 * \brief Take in what has arrived.
 * \param socket where
 */
void
Drain(Ptr<Socket> socket)
{
    while (const Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
    }
}

/**
 * \brief The other end has closed.
 * \param socket this end
 */
void
CloseToo(Ptr<Socket> socket)
{
    socket->Close();
}

} // namespace

TypeId
ScenarioTcpHosts::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ScenarioTcpHosts")
                            .SetParent<ScenarioHosts>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<ScenarioTcpHosts>();
    return tid;
}

ScenarioTcpHosts::ScenarioTcpHosts()
{
    m_stack.SetIpv6StackInstall(false);
}

ScenarioTcpHosts::~ScenarioTcpHosts() = default;

void
ScenarioTcpHosts::Install(Ptr<Node> node, QbbHelper& network)
{
    m_helper.Install(NodeContainer(node), network);
    m_stack.Install(node);
}

void
ScenarioTcpHosts::Prepare(const hpcc::Scenario& scenario, const QbbHelper& network)
{
    m_scenario = &scenario;
    m_network = &network;
    RngSeedManager::SetRun(scenario.seed());
    const hpcc::TcpParameters tcp = scenario.tcp();
    for (const auto& attribute : tcp.attributes)
    {
        Config::SetDefault(std::string(tcp.control) + "::" + std::string(attribute.name),
                           StringValue(std::string(attribute.value)));
    }
    for (uint32_t index = 0; index < network.GetNNodes(); ++index)
    {
        const Ptr<PacketHost> host = GetHost(index);
        if (host && host->GetNPorts() > 0)
        {
            PrepareHost(host);
        }
    }
}

void
ScenarioTcpHosts::PrepareHost(const Ptr<PacketHost>& host) const
{
    const hpcc::TcpParameters tcp = m_scenario->tcp();
    const Ptr<Node> node = host->GetObject<Node>();
    host->SetAttribute("GlobalRtt", BooleanValue(tcp.global_rtt));
    host->GetPort(0)->SetMtu(static_cast<uint16_t>(tcp.segment + MOST_HEADERS));
    node->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", StringValue(std::string(tcp.control)));
    m_helper.AssignAddresses(NodeContainer(node));
}

Ptr<TcpSocketBase>
ScenarioTcpHosts::MakeSocket(uint32_t host) const
{
    const hpcc::TcpParameters tcp = m_scenario->tcp();
    const Time timeout = NanoSeconds(tcp.timeout_ns);
    const Ptr<Node> node = GetHost(host)->GetObject<Node>();
    const auto socket = DynamicCast<TcpSocketBase>(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()));
    socket->SetAttribute("SegmentSize", UintegerValue(tcp.segment));
    socket->SetAttribute("SndBufSize", UintegerValue(tcp.buffer));
    socket->SetAttribute("RcvBufSize", UintegerValue(tcp.buffer));
    socket->SetAttribute("DelAckCount", UintegerValue(1));
    socket->SetAttribute("MinRto", TimeValue(timeout));
    socket->SetAttribute("ConnTimeout", TimeValue(timeout));
    socket->SetAttribute("ClockGranularity", TimeValue(std::min(timeout, CLOCK_GRANULARITY)));
    socket->SetAttribute("MaxSegLifetime", DoubleValue(SEGMENT_LIFETIME));
    PointerValue control;
    socket->GetAttribute("CongestionOps", control);
    if (const auto plus = control.Get<TcpHpccPlus>())
    {
        plus->SetSettings(CorePointer<hpcc::Settings>(GetHost(host)->GetSettings().duplicate().into_raw()));
    }
    return socket;
}

std::unique_ptr<ScenarioFlow>
ScenarioTcpHosts::StartFlow(const RdmaFlow& flow, FinishCallback done)
{
    Listen(flow.dst, flow.dport);
    auto started = std::make_unique<ScenarioTcpFlow>(flow, MakeSocket(flow.src), m_counters, done);
    started->Connect(InetSocketAddress(GetHost(flow.dst)->GetAddress(), flow.dport));
    return started;
}

void
ScenarioTcpHosts::Listen(uint32_t host, uint16_t port)
{
    if (!m_listening.insert({host, port}).second)
    {
        return;
    }
    const Ptr<TcpSocketBase> socket = MakeSocket(host);
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
    socket->Listen();
    socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                              MakeCallback(&ScenarioTcpHosts::OnConnection, this));
}

void
ScenarioTcpHosts::OnConnection(Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeCallback(&Drain));
    socket->SetCloseCallbacks(MakeCallback(&CloseToo), MakeCallback(&CloseToo));
}

void
ScenarioTcpHosts::Count(hpcc::RunTotals& totals) const
{
    totals.hosts.resent += m_counters.resent;
    totals.hosts.timeouts += m_counters.timeouts;
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        if (const Ptr<PacketHost> host = GetHost(index))
        {
            totals.hosts.probes += host->GetProbes();
            totals.drops += host->GetDrops();
        }
    }
}

Ptr<PacketHost>
ScenarioTcpHosts::GetHost(uint32_t index) const
{
    return DynamicCast<PacketHost>(m_network->GetNode(index));
}

} // namespace ns3
