/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-tcp-hosts.h"

#include "../../model/call-rust.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/packet-host.h"
#include "ns3/packet.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-hpcc-plus.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioTcpHosts);

namespace
{

/// Seconds for which a closed connection keeps its port. The RFC's minutes are longer than a run.
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
                            .SetParent<ScenarioStackHosts>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<ScenarioTcpHosts>();
    return tid;
}

ScenarioTcpHosts::~ScenarioTcpHosts() = default;

Ptr<TcpCongestionOps>
ScenarioTcpHosts::MakeControl(uint32_t host) const
{
    const hpcc::TcpParameters tcp = m_scenario->tcp();
    ObjectFactory factory;
    factory.SetTypeId(std::string(tcp.control));
    for (const auto& attribute : tcp.attributes)
    {
        factory.Set(std::string(attribute.name), StringValue(std::string(attribute.value)));
    }
    const auto control = factory.Create<TcpCongestionOps>();
    if (const auto plus = DynamicCast<TcpHpccPlus>(control))
    {
        plus->SetSettings(FromRust(GetHost(host)->GetSettings().duplicate()));
    }
    return control;
}

Ptr<TcpSocketBase>
ScenarioTcpHosts::MakeSocket(uint32_t host) const
{
    const hpcc::TcpParameters tcp = m_scenario->tcp();
    const Time timeout = NanoSeconds(tcp.timeout_ns);
    // Created with a type, or TCP would first make the default SocketType's congestion control.
    const auto socket = DynamicCast<TcpSocketBase>(
        GetNodeOf(host)->GetObject<TcpL4Protocol>()->CreateSocket(TcpNewReno::GetTypeId()));
    socket->SetCongestionControlAlgorithm(MakeControl(host));
    socket->SetAttribute("SegmentSize", UintegerValue(m_scenario->stack().payload));
    socket->SetAttribute("SndBufSize", UintegerValue(tcp.buffer));
    socket->SetAttribute("RcvBufSize", UintegerValue(tcp.buffer));
    socket->SetAttribute("DelAckCount", UintegerValue(1));
    socket->SetAttribute("MinRto", TimeValue(timeout));
    socket->SetAttribute("ConnTimeout", TimeValue(timeout));
    socket->SetAttribute("ClockGranularity", TimeValue(std::min(timeout, CLOCK_GRANULARITY)));
    socket->SetAttribute("MaxSegLifetime", DoubleValue(SEGMENT_LIFETIME));
    return socket;
}

std::unique_ptr<ScenarioStackFlow>
ScenarioTcpHosts::StartFlow(const hpcc::StackFlow& flow, ScenarioStackFlow::FinishCallback done)
{
    Listen(flow.dst, flow.dport);
    auto started = std::make_unique<ScenarioTcpFlow>(flow.id,
                                                     flow.size_bytes,
                                                     MakeSocket(flow.src),
                                                     m_counters,
                                                     std::move(done));
    started->Connect(GetAddress(flow.dst, flow.dport));
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
    socket->Bind(GetAnyAddress(port));
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
ScenarioTcpHosts::Count(hpcc::StackCounters& counters) const
{
    ScenarioStackHosts::Count(counters);
    counters.resent += m_counters.resent;
    counters.timeouts += m_counters.timeouts;
}

} // namespace ns3
