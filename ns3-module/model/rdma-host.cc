/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-host.h"

#include "core-parameters.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaHost");

NS_OBJECT_ENSURE_REGISTERED(RdmaHost);

namespace
{

/// UDP source port of the first flow to a destination.
constexpr uint16_t FIRST_SOURCE_PORT = 10000;
/// The core's word for "no wake-up planned".
constexpr uint64_t NEVER = UINT64_MAX;
/// The queue of a host's device that holds its acknowledgements.
constexpr uint8_t ACK_QUEUE = 0;

} // namespace

TypeId
RdmaHost::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaHost")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<RdmaHost>()
            .AddAttribute("CongestionControl",
                          "Congestion control of flows that start here: hpcc or none",
                          StringValue("hpcc"),
                          MakeStringAccessor(&RdmaHost::m_congestionControl),
                          MakeStringChecker())
            .AddAttribute("Eta",
                          "HPCC: target utilisation",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&RdmaHost::m_eta),
                          MakeDoubleChecker<double>(0.01, 2))
            .AddAttribute("MaxStage",
                          "HPCC: rounds of additive increase before a multiplicative step",
                          UintegerValue(5),
                          MakeUintegerAccessor(&RdmaHost::m_maxStage),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("AdditiveIncrease",
                          "HPCC: W_ai as a rate",
                          DataRateValue(DataRate("50Mbps")),
                          MakeDataRateAccessor(&RdmaHost::m_additiveIncrease),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "HPCC: the rate never falls below this",
                          DataRateValue(DataRate("100Mbps")),
                          MakeDataRateAccessor(&RdmaHost::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute("FastReact",
                          "HPCC: react to every acknowledgement, not only once per round trip",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaHost::m_fastReact),
                          MakeBooleanChecker())
            .AddAttribute("MultiRate",
                          "HPCC: keep a rate for each hop and use the lowest",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaHost::m_multiRate),
                          MakeBooleanChecker())
            .AddAttribute("SampledFeedback",
                          "HPCC: ignore empty queues except once per round trip",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaHost::m_sampledFeedback),
                          MakeBooleanChecker())
            .AddAttribute("Mtu",
                          "Most payload bytes in a packet",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&RdmaHost::m_mtu),
                          MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("GoBackZero",
                          "After a loss resume at the last multiple of Chunk, not at the missing byte",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaHost::m_goBackZero),
                          MakeBooleanChecker())
            .AddAttribute("Chunk",
                          "Granularity of GoBackZero in bytes",
                          UintegerValue(4000),
                          MakeUintegerAccessor(&RdmaHost::m_chunk),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("AckInterval",
                          "Acknowledge once this byte is expected; 1 acknowledges every packet",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RdmaHost::m_ackInterval),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("NackInterval",
                          "Least time between two negative acknowledgements for one byte",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&RdmaHost::m_nackInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Window",
                          "Bound the bytes in flight by a bandwidth-delay product",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaHost::m_window),
                          MakeBooleanChecker())
            .AddAttribute("VariableWindow",
                          "Scale the window with the rate",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaHost::m_variableWindow),
                          MakeBooleanChecker())
            .AddAttribute("GlobalRtt",
                          "Use the network's longest base round-trip time for all flows, not each pair's",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaHost::m_globalRtt),
                          MakeBooleanChecker())
            .AddAttribute("RateBound",
                          "Pace at the controller's rate; if not, only the window obeys it",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaHost::m_rateBound),
                          MakeBooleanChecker())
            .AddAttribute("AckPriority",
                          "Priority whose pause stops this host's acknowledgements",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaHost::m_ackPriority),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("TelemetryLayout",
                          "Layout of in-band telemetry: none, reference or paper; as at the switches",
                          StringValue("reference"),
                          MakeStringAccessor(&RdmaHost::m_layout),
                          MakeStringChecker())
            .AddAttribute("TelemetryMultiplier",
                          "Factor of the reference layout's units; as at the switches",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RdmaHost::m_multiplier),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("FlowStart",
                            "A flow begins",
                            MakeTraceSourceAccessor(&RdmaHost::m_startTrace),
                            "ns3::RdmaHost::FlowTracedCallback")
            .AddTraceSource("FlowFinish",
                            "A flow's last acknowledgement has arrived",
                            MakeTraceSourceAccessor(&RdmaHost::m_finishTrace),
                            "ns3::RdmaHost::FlowTracedCallback");
    return tid;
}

RdmaHost::WakeUp::WakeUp(RdmaHost& host)
    : m_host(host)
{
}

void
RdmaHost::WakeUp::Notify()
{
    m_host.OnWakeUp(this);
}

RdmaHost::RdmaHost()
{
    NS_LOG_FUNCTION(this);
}

RdmaHost::~RdmaHost()
{
    NS_LOG_FUNCTION(this);
}

void
RdmaHost::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_core.reset();
    m_network.reset();
    m_sending.clear();
    m_wakeUps.clear();
    m_idleWakeUps.clear();
    m_allWakeUps.clear();
    QbbNode::DoDispose();
}

bool
RdmaHost::IsSwitch() const
{
    return false;
}

uint32_t
RdmaHost::GetMtu() const
{
    return m_mtu;
}

void
RdmaHost::Start(const std::shared_ptr<hpcc::Network>& network)
{
    NS_LOG_FUNCTION(this);
    m_network = network;
    m_wakeUps.assign(m_ports.size(), nullptr);
    const hpcc::TransportParameters transport{
        m_mtu,
        m_goBackZero,
        m_chunk,
        m_ackInterval,
        static_cast<uint64_t>(m_nackInterval.GetNanoSeconds()),
        m_window,
        m_variableWindow,
        m_globalRtt,
        m_rateBound,
        m_ackPriority,
    };
    const hpcc::ControlParameters control{
        MakeAlgorithmKind(m_congestionControl),
        m_eta,
        m_maxStage,
        m_additiveIncrease.GetBitRate(),
        m_minRate.GetBitRate(),
        m_fastReact,
        m_multiRate,
        m_sampledFeedback,
    };
    m_core.reset(hpcc::new_host(*network,
                                m_index,
                                transport,
                                control,
                                MakeTelemetryParameters(m_layout, m_multiplier))
                     .into_raw());
}

uint32_t
RdmaHost::StartFlow(Ptr<RdmaHost> peer, const RdmaFlow& request, FlowCallback done)
{
    NS_LOG_FUNCTION(this << peer << request.size);
    RdmaFlow flow = request;
    flow.src = m_index;
    flow.dst = peer->m_index;
    flow.start = Simulator::Now();
    flow.sport = m_nextPort.emplace(flow.dst, FIRST_SOURCE_PORT).first->second++;

    const hpcc::FlowKey key{m_network->address(flow.src), m_network->address(flow.dst), flow.sport, flow.dport};
    const int32_t nic = m_core->route(key, flow.dst);
    NS_ABORT_MSG_IF(nic < 0, "host " << flow.dst << " cannot be reached from host " << flow.src);
    const int64_t receiver = peer->m_core->open_receiver();
    NS_ABORT_MSG_IF(receiver < 0, "host " << flow.dst << " has no room for another queue pair");

    const hpcc::SenderParameters sender{
        flow.src,
        flow.dst,
        flow.sport,
        flow.dport,
        flow.priority,
        static_cast<uint32_t>(receiver),
        flow.size,
        m_globalRtt ? m_network->max_rtt_ns() : m_network->pair_rtt_ns(flow.src, flow.dst),
        m_globalRtt ? m_network->max_bdp_bytes() : m_network->pair_bdp_bytes(flow.src, flow.dst),
    };
    const int64_t queuePair =
        m_core->open_sender(Simulator::Now().GetNanoSeconds(), static_cast<uint16_t>(nic), sender);
    NS_ABORT_MSG_IF(queuePair < 0, "host " << flow.src << " has no room for another queue pair");

    const auto handle = static_cast<uint32_t>(queuePair);
    m_sending[handle] = {flow, peer, sender.receiver, done};
    m_startTrace(flow);
    m_ports[nic]->TrySend();
    return handle;
}

uint64_t
RdmaHost::GetAckedBytes(uint32_t queuePair) const
{
    const auto sending = m_sending.find(queuePair);
    return sending == m_sending.end() ? 0 : std::min(m_core->acked_bytes(queuePair), sending->second.flow.size);
}

const RdmaFlow&
RdmaHost::GetFlow(uint32_t queuePair) const
{
    return m_sending.at(queuePair).flow;
}

DataRate
RdmaHost::GetRate(uint32_t queuePair) const
{
    return DataRate(m_core->rate_bps(queuePair));
}

uint64_t
RdmaHost::GetWindow(uint32_t queuePair) const
{
    return m_core->window_bytes(queuePair);
}

QbbFrame*
RdmaHost::NextFrame(QbbNetDevice& out)
{
    // Acknowledgements first, unless the priority that carries them is paused.
    if (!(out.GetPaused() >> m_ackPriority & 1))
    {
        if (QbbFrame* ack = out.Dequeue())
        {
            return ack;
        }
    }
    const uint16_t port = out.GetPortNumber();
    const hpcc::Segment segment = m_core->poll(port, Simulator::Now().GetTimeStep(), out.GetPaused());
    if (!segment.present)
    {
        UpdateWakeUp(port);
        return nullptr;
    }
    QbbFrame* frame = m_pool->Acquire();
    frame->kind = QbbFrame::Kind::DATA;
    frame->priority = segment.priority;
    frame->congestionMarked = false;
    frame->size = segment.frame_bytes;
    frame->payload = segment.payload_bytes;
    frame->src = segment.src;
    frame->dst = segment.dst;
    frame->srcAddress = m_network->address(segment.src);
    frame->dstAddress = m_network->address(segment.dst);
    frame->sport = segment.sport;
    frame->dport = segment.dport;
    frame->queuePair = segment.receiver;
    frame->replyQueuePair = segment.queue_pair;
    frame->seq = segment.seq;
    frame->telemetryBytes = m_core->prepare_telemetry({frame->telemetry.data(), frame->telemetry.size()});
    return frame;
}

void
RdmaHost::Receive(QbbNetDevice&, QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    if (frame->dst != m_index)
    {
        frame->Release();
        return;
    }
    if (frame->kind == QbbFrame::Kind::DATA)
    {
        ReceiveData(frame);
    }
    else
    {
        ReceiveAck(frame);
    }
}

void
RdmaHost::ReceiveData(QbbFrame* frame)
{
    const hpcc::Reply reply =
        m_core->on_data(Simulator::Now().GetTimeStep(), frame->queuePair, frame->seq, frame->payload);
    if (reply.kind == hpcc::ReplyKind::Silence)
    {
        frame->Release();
        return;
    }
    frame->kind = reply.kind == hpcc::ReplyKind::Ack ? QbbFrame::Kind::ACK : QbbFrame::Kind::NACK;
    frame->seq = reply.seq;
    // The acknowledgement leaves by the port that the data's direction of the flow hashes to, as in the
    // reference.
    const hpcc::FlowKey key{frame->dstAddress, frame->srcAddress, frame->dport, frame->sport};
    const int32_t port = m_core->route(key, frame->src);
    TurnRound(*frame);
    if (port < 0)
    {
        frame->Release();
        return;
    }
    m_ports[port]->Enqueue(frame, ACK_QUEUE);
    m_ports[port]->TrySend();
}

void
RdmaHost::TurnRound(QbbFrame& frame) const
{
    std::swap(frame.src, frame.dst);
    std::swap(frame.srcAddress, frame.dstAddress);
    std::swap(frame.sport, frame.dport);
    std::swap(frame.queuePair, frame.replyQueuePair);
    frame.payload = 0;
    frame.size = m_core->ack_bytes(frame.telemetryBytes);
}

void
RdmaHost::ReceiveAck(QbbFrame* frame)
{
    const hpcc::AckResult result = m_core->on_ack(Simulator::Now().GetTimeStep(),
                                                  frame->queuePair,
                                                  frame->seq,
                                                  frame->kind == QbbFrame::Kind::NACK,
                                                  frame->congestionMarked,
                                                  {frame->telemetry.data(), frame->telemetryBytes});
    const uint32_t queuePair = frame->queuePair;
    frame->Release();
    if (!result.known)
    {
        return;
    }
    if (result.finished)
    {
        Finish(queuePair);
    }
    UpdateWakeUp(result.nic);
    m_ports[result.nic]->TrySend();
}

void
RdmaHost::Finish(uint32_t queuePair)
{
    const auto sending = m_sending.find(queuePair);
    Sending finished = std::move(sending->second);
    m_sending.erase(sending);
    finished.flow.completion = Simulator::Now() - finished.flow.start;
    finished.peer->m_core->close_receiver(finished.receiver);
    m_finishTrace(finished.flow);
    if (!finished.done.IsNull())
    {
        finished.done(finished.flow);
    }
}

void
RdmaHost::UpdateWakeUp(uint16_t port)
{
    const uint64_t planned = m_core->wake_at(port);
    WakeUp*& pending = m_wakeUps[port];
    if (planned == NEVER || (pending && pending->nanos == planned))
    {
        return;
    }
    if (pending)
    {
        pending->cancelled = true;
    }
    if (m_idleWakeUps.empty())
    {
        m_allWakeUps.push_back(Create<WakeUp>(*this));
        m_idleWakeUps.push_back(PeekPointer(m_allWakeUps.back()));
    }
    pending = m_idleWakeUps.back();
    m_idleWakeUps.pop_back();
    pending->port = port;
    pending->nanos = planned;
    pending->cancelled = false;
    Simulator::Schedule(TimeStep(planned - Simulator::Now().GetTimeStep()), Ptr<EventImpl>(pending));
}

void
RdmaHost::OnWakeUp(WakeUp* wakeUp)
{
    m_idleWakeUps.push_back(wakeUp);
    if (wakeUp->cancelled)
    {
        return;
    }
    const uint16_t port = wakeUp->port;
    m_wakeUps[port] = nullptr;
    m_core->on_wake(port);
    m_ports[port]->TrySend();
}

} // namespace ns3
