/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-host.h"

#include "bottleneck-watch.h"
#include "call-core.h"
#include "late-trace.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/host.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "ns3-bridge/src/switch.rs.h"
#include "setting-attributes.h"
#include "shared-network.h"

#include "ns3/abort.h"
#include "ns3/fatal-error.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

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
/// Cache lines of the core's host that are used for each frame.
constexpr std::size_t CORE_LINES = 6;
/// Cache lines of a queue pair that are used for each frame.
constexpr std::size_t QUEUE_PAIR_LINES = 4;

} // namespace

TypeId
RdmaHost::GetTypeId()
{
    static TypeId tid = AddSettings(
        TypeId("ns3::RdmaHost")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<RdmaHost>()
            .AddTraceSource("FlowStart",
                            "A flow begins",
                            MakeTraceSourceAccessor(&RdmaHost::m_startTrace),
                            "ns3::RdmaHost::FlowTracedCallback")
            .AddTraceSource("FlowFinish",
                            "A flow's last acknowledgement has arrived",
                            MakeTraceSourceAccessor(&RdmaHost::m_finishTrace),
                            "ns3::RdmaHost::FlowTracedCallback")
            .AddTraceSource("Control",
                            "An acknowledgement, a notification, other feedback or a timer has "
                            "reached the congestion control of a flow",
                            MakeTraceSourceAccessor(&RdmaHost::m_controlTrace),
                            "ns3::RdmaHost::ControlTracedCallback")
            .AddTraceSource("Resend",
                            "A packet is sent again",
                            MakeLateTraceAccessor<RdmaHost>([](RdmaHost & host) -> auto& {
                                return host.GetFlowWatch().resend;
                            }),
                            "ns3::RdmaHost::ResendTracedCallback")
            .AddTraceSource("Rtt",
                            "A packet that was sent once is acknowledged, and no later one with it",
                            MakeLateTraceAccessor<RdmaHost>(
                                [](RdmaHost & host) -> auto& { return host.GetFlowWatch().rtt; }),
                            "ns3::RdmaHost::RttTracedCallback")
            .AddTraceSource("Cnp",
                            "The receiver of a flow has sent a congestion notification, which "
                            "arrives; those of switches are told of by FastCnpHost",
                            MakeLateTraceAccessor<RdmaHost>(
                                [](RdmaHost & host) -> auto& { return host.GetFlowWatch().cnp; }),
                            "ns3::RdmaHost::FlowTracedCallback")
            .AddTraceSource("Bottleneck",
                            "The link that U of a flow is of has become another",
                            MakeLateTraceAccessor<RdmaHost>([](RdmaHost & host) -> auto& {
                                return host.GetBottleneckWatch().change;
                            }),
                            "ns3::RdmaHost::BottleneckTracedCallback"),
        hpcc::host_settings());
    return tid;
}

RdmaHost::RdmaHost()
    : m_alarms([this](const HostAlarm& alarm) { OnAlarm(alarm); })
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
    m_receiverKeys.reset();
    m_fastCnp = nullptr;
    m_network.reset();
    m_sending.clear();
    m_wakeUps.clear();
    QbbNode::DoDispose();
}

FlowWatch&
RdmaHost::GetFlowWatch()
{
    if (!m_flowWatch)
    {
        m_flowWatch = std::make_unique<FlowWatch>(*this);
    }
    return *m_flowWatch;
}

BottleneckWatch&
RdmaHost::GetBottleneckWatch()
{
    if (!m_bottleneckWatch)
    {
        m_bottleneckWatch = std::make_unique<BottleneckWatch>(*this);
    }
    return *m_bottleneckWatch;
}

bool
RdmaHost::IsSwitch() const
{
    return false;
}

uint32_t
RdmaHost::GetMtu() const
{
    return GetSettings().mtu();
}

void
RdmaHost::Start(const std::shared_ptr<hpcc::Network>& network)
{
    NS_LOG_FUNCTION(this);
    m_network = network;
    if (!IsLocal())
    {
        m_receiverKeys.reset(hpcc::new_receiver_keys().into_raw());
        return;
    }
    m_wakeUps.assign(m_ports.size(), nullptr);
    m_alarms.SetContext(GetObject<Node>()->GetId());
    EnsureRng();
    ResolveSettings(*network);
    m_mtu = GetSettings().mtu();
    m_core = MakeCore();
    m_wirePort = GetSettings().wire_port();
    m_ackPriority = m_core->ack_priority();
    m_echoesTelemetry = m_core->echoes();
    m_fastCnp = GetObject<FastCnpHost>();
    if (m_fastCnp)
    {
        m_fastCnp->Start(*network, *this);
    }
}

CorePointer<hpcc::Host>
RdmaHost::MakeCore() const
{
    return CorePointer<hpcc::Host>(
        CallCore([&] { return hpcc::new_host(*m_network, m_index, GetSettings()).into_raw(); }));
}

bool
RdmaHost::CanReach(const RdmaHost& peer) const
{
    CheckRunning();
    peer.CheckRunning();
    return m_network->leads(m_index, peer.m_index) && m_network->leads(peer.m_index, m_index);
}

uint32_t
RdmaHost::StartFlow(Ptr<RdmaHost> peer, const RdmaFlow& request, FlowCallback done)
{
    NS_LOG_FUNCTION(this << peer << request.size);
    CheckFlow(peer, request);
    if (!IsLocal() && !peer->IsLocal())
    {
        peer->TakeReceiverKey();
        return ELSEWHERE;
    }
    RdmaFlow flow = request;
    flow.src = m_index;
    flow.dst = peer->m_index;
    flow.start = Simulator::Now();
    flow.sport = m_nextPort.emplace(flow.dst, FIRST_SOURCE_PORT).first->second++;

    const hpcc::FlowKey key = WireKey(flow, flow.sport);
    // What a flow from another process asks of its receiver is known here, too; its host is not
    // kept.
    const CorePointer<hpcc::Host> elsewhere = IsLocal() ? CorePointer<hpcc::Host>() : MakeCore();
    const hpcc::Host& source = IsLocal() ? *m_core : *elsewhere;
    const int32_t nic = source.route(key, flow.dst);
    NS_ABORT_MSG_IF(nic < 0, "host " << flow.dst << " cannot be reached from host " << flow.src);
    hpcc::SenderParameters sender{
        flow.src,
        flow.dst,
        flow.sport,
        flow.dport,
        flow.priority,
        0,
        flow.size,
    };
    sender.receiver = peer->OpenReceiver(source, static_cast<uint16_t>(nic), sender);
    if (!IsLocal())
    {
        return ELSEWHERE;
    }
    const int64_t queuePair = m_core->open_sender(Simulator::Now().GetNanoSeconds(),
                                                  static_cast<uint16_t>(nic),
                                                  sender,
                                                  *m_network);
    NS_ABORT_MSG_IF(queuePair < 0, "host " << flow.src << " has no room for another queue pair");

    const auto handle = static_cast<uint32_t>(queuePair);
    m_sending[handle] = {flow, peer, sender.receiver, done, {}};
    m_byFlowKey[FlowKey(flow)] = handle;
    if (m_fastCnp)
    {
        m_fastCnp->Connect(key.dst_address, sender.receiver, handle);
    }
    ScheduleTimers(handle, m_core->take_armed(handle));
    m_startTrace(flow);
    m_ports[nic]->TrySend();
    return handle;
}

void
RdmaHost::CloseReceiver(uint32_t receiver)
{
    if (IsLocal())
    {
        m_core->close_receiver(receiver);
    }
    else
    {
        m_receiverKeys->close(receiver);
    }
}

uint32_t
RdmaHost::OpenReceiver(const hpcc::Host& source, uint16_t nic, const hpcc::SenderParameters& sender)
{
    return IsLocal() ? CheckReceiver(m_core->open_receiver(source, nic, sender, *m_network))
                     : TakeReceiverKey();
}

uint32_t
RdmaHost::TakeReceiverKey()
{
    return CheckReceiver(m_receiverKeys->open());
}

uint32_t
RdmaHost::CheckReceiver(int64_t receiver) const
{
    NS_ABORT_MSG_IF(receiver < 0, "host " << m_index << " has no room for another queue pair");
    return static_cast<uint32_t>(receiver);
}

void
RdmaHost::CheckRunning() const
{
    NS_ABORT_MSG_UNLESS(
        m_network,
        "host " << m_index
                << " is not part of a running network: call QbbHelper::Start() first, and "
                << "nothing after Simulator::Destroy()");
}

void
RdmaHost::CheckFlow(Ptr<RdmaHost> peer, const RdmaFlow& flow) const
{
    NS_ABORT_MSG_UNLESS(peer, "a flow needs a destination");
    CheckRunning();
    peer->CheckRunning();
    NS_ABORT_MSG_IF(peer->m_network != m_network,
                    "host " << peer->m_index << " is part of another network than host "
                            << m_index);
    NS_ABORT_MSG_IF(flow.size == 0, "a flow needs at least 1 byte");
    // Priority 0 is never paused; files of the reference simulator use it.
    NS_ABORT_MSG_UNLESS(flow.priority < QbbNetDevice::PRIORITIES,
                        "flows cannot have the priority " << +flow.priority << "; expected 0 to 7");
}

hpcc::FlowKey
RdmaHost::WireKey(const RdmaFlow& flow, uint16_t sport) const
{
    return {m_network->address(flow.src),
            m_network->address(flow.dst),
            sport,
            m_wirePort ? m_wirePort : flow.dport};
}

uint64_t
RdmaHost::FlowKey(const RdmaFlow& flow) const
{
    return uint64_t{m_network->address(flow.dst)} << 32 | uint64_t{flow.sport} << 16 |
           flow.priority;
}

void
RdmaHost::OnLinkDown(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
    while (QbbFrame* ack = port.DequeueAny())
    {
        ack->Release();
    }
}

void
RdmaHost::OnNewRoutes()
{
    NS_LOG_FUNCTION(this);
    hpcc::update_host_routes(*m_network, m_index, *m_core);
    for (const auto& [flowKey, queuePair] : m_byFlowKey)
    {
        const RdmaFlow& flow = m_sending.at(queuePair).flow;
        const int32_t port =
            m_core->reassign(queuePair, WireKey(flow, m_core->source_port(queuePair)));
        if (port >= 0)
        {
            m_ports[port]->TrySend();
        }
    }
}

uint64_t
RdmaHost::GetAckedBytes(uint32_t queuePair) const
{
    const auto sending = m_sending.find(queuePair);
    return sending == m_sending.end()
               ? 0
               : std::min(m_core->acked_bytes(queuePair), sending->second.flow.size);
}

const RdmaFlow&
RdmaHost::GetFlow(uint32_t queuePair) const
{
    const auto sending = m_sending.find(queuePair);
    NS_ABORT_MSG_IF(sending == m_sending.end(),
                    "host " << m_index << " has no flow with the queue pair " << queuePair);
    return sending->second.flow;
}

RdmaControl
RdmaHost::GetControl(uint32_t queuePair) const
{
    if (!m_sending.count(queuePair))
    {
        return {};
    }
    const hpcc::ControlState state = m_core->control_state(queuePair);
    return {DataRate(state.rate_bps),
            state.window_bytes,
            state.in_flight_bytes,
            state.utilisation,
            state.bottleneck};
}

DataRate
RdmaHost::GetRate(uint32_t queuePair) const
{
    return GetControl(queuePair).rate;
}

uint64_t
RdmaHost::GetWindow(uint32_t queuePair) const
{
    return GetControl(queuePair).window;
}

void
RdmaHost::VisitFlows(const FlowVisitor& visit) const
{
    for (const auto& [queuePair, sending] : m_sending)
    {
        visit(sending.flow, sending.receiver);
    }
}

const RdmaFlow*
RdmaHost::FindFlow(uint32_t queuePair) const
{
    const auto sending = m_sending.find(queuePair);
    return sending == m_sending.end() ? nullptr : &sending->second.flow;
}

void
RdmaHost::Send(QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    SendBack(frame,
             m_core->route({frame->srcAddress, frame->dstAddress, frame->sport, frame->dport},
                           frame->dst));
}

RdmaCounters
RdmaHost::GetCounters() const
{
    CheckRunning();
    if (!IsLocal())
    {
        return {};
    }
    const hpcc::HostCounters core = m_core->counters();
    return {core.resent,
            core.timeouts,
            core.probes,
            core.feedback,
            core.rejected_by_seal,
            core.rejected_by_guard,
            core.rearmed_feedback,
            core.cnps,
            core.moves};
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
    const uint64_t now = out.GetNow();
    const hpcc::Segment segment = m_core->poll(port, now, out.GetPaused());
    if (!segment.present)
    {
        UpdateWakeUp(port);
        return nullptr;
    }
    if (segment.armed)
    {
        ScheduleTimers(segment.queue_pair, segment.armed);
    }
    return MakeFrame(QbbFrame::Kind::DATA, segment, now);
}

QbbFrame*
RdmaHost::MakeFrame(QbbFrame::Kind kind, const hpcc::Segment& segment, uint64_t now)
{
    QbbFrame* frame = m_pool->Acquire();
    frame->kind = kind;
    frame->priority = segment.priority;
    frame->congestionMarked = false;
    frame->hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    frame->size = segment.frame_bytes;
    frame->payload = segment.payload_bytes;
    frame->flowBytes = segment.flow_bytes;
    frame->mtu = m_mtu;
    frame->src = segment.src;
    frame->dst = segment.dst;
    frame->srcAddress = m_network->address(segment.src);
    frame->dstAddress = m_network->address(segment.dst);
    frame->sport = segment.sport;
    frame->dport = m_wirePort ? m_wirePort : segment.dport;
    frame->queuePair = segment.receiver;
    frame->replyQueuePair = segment.queue_pair;
    frame->seq = segment.seq;
    frame->ackRequested = segment.ack_requested;
    frame->telemetryBytes =
        segment.collects ? m_core->prepare_telemetry(now,
                                                     segment.priority,
                                                     {frame->GetTelemetry(), frame->GetRoom()})
                         : 0;
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
    switch (frame->kind)
    {
    case QbbFrame::Kind::DATA:
        ReceiveData(frame);
        break;
    case QbbFrame::Kind::PROBE:
        ReceiveProbe(frame);
        break;
    case QbbFrame::Kind::FEEDBACK:
        ReceiveFeedback(frame);
        break;
    case QbbFrame::Kind::FAST_CNP:
        ReceiveFastCnp(frame);
        break;
    case QbbFrame::Kind::CNP:
        ReceiveCnp(frame);
        break;
    case QbbFrame::Kind::ICMPV6:
    case QbbFrame::Kind::PACKET:
    case QbbFrame::Kind::PACKET_PROBE:
    case QbbFrame::Kind::PACKET_RESPONSE:
        frame->Release();
        break;
    case QbbFrame::Kind::ACK:
    case QbbFrame::Kind::NACK:
        ReceiveAck(frame);
        break;
    case QbbFrame::Kind::PFC:
        NS_FATAL_ERROR("a PFC frame goes no further than its device");
    }
}

void
RdmaHost::FetchArrival(unsigned step, const QbbNetDevice&, const QbbFrame& frame) const
{
    if (step == 3)
    {
        FetchLines(m_core.get(), CORE_LINES);
        return;
    }
    const bool toReceiver = frame.kind == QbbFrame::Kind::DATA;
    const uintptr_t place = toReceiver ? m_core->place_of_receiver(frame.queuePair)
                                       : m_core->place_of_sender(frame.queuePair);
    FetchLines(reinterpret_cast<const void*>(place), QUEUE_PAIR_LINES);
}

void
RdmaHost::FetchDeparture(unsigned step, const QbbNetDevice& out) const
{
    if (step == 3)
    {
        FetchLines(m_core.get(), CORE_LINES);
        return;
    }
    FetchLines(reinterpret_cast<const void*>(m_core->place_of_next(out.GetPortNumber())),
               QUEUE_PAIR_LINES);
}

void
RdmaHost::ReceiveData(QbbFrame* frame)
{
    const hpcc::Reply reply = m_core->on_data(frame->receiver->GetNow(),
                                              {frame->queuePair,
                                               frame->payload,
                                               frame->seq,
                                               frame->ackRequested,
                                               frame->congestionMarked});
    if (reply.notify)
    {
        SendCnp(*frame);
    }
    if (!m_echoesTelemetry)
    {
        ReportTelemetry(*frame, reply);
    }
    if (reply.kind == hpcc::ReplyKind::Silence)
    {
        frame->Release();
        return;
    }
    frame->kind = reply.kind == hpcc::ReplyKind::Ack ? QbbFrame::Kind::ACK : QbbFrame::Kind::NACK;
    frame->seq = reply.seq;
    frame->selective = reply.selective;
    frame->congestionEchoed = reply.congestion_echo;
    const int32_t port = PortBack(*frame);
    TurnRound(*frame, m_core->ack_bytes(frame->telemetryBytes, frame->selective));
    SendBack(frame, port);
}

void
RdmaHost::ReportTelemetry(QbbFrame& frame, const hpcc::Reply& reply)
{
    const hpcc::TelemetryReply report =
        m_core->on_telemetry(frame.receiver->GetNow(),
                             {frame.queuePair,
                              frame.receiver->GetPortNumber(),
                              frame.telemetryBytes,
                              reply.kind != hpcc::ReplyKind::Silence,
                              false,
                              reply.seq,
                              0},
                             {frame.GetTelemetry(), frame.GetRoom()});
    frame.telemetryBytes = report.telemetry_bytes;
    if (!report.alone)
    {
        return;
    }
    QbbFrame* feedback =
        MakeAnswer(QbbFrame::Kind::FEEDBACK, frame, m_core->feedback_bytes(report.telemetry_bytes));
    feedback->seq = report.seq;
    feedback->telemetryBytes = report.telemetry_bytes;
    std::copy_n(frame.GetTelemetry(), report.telemetry_bytes, feedback->GetTelemetry());
    frame.telemetryBytes = 0;
    SendBack(feedback, PortBack(frame));
}

QbbFrame*
RdmaHost::MakeAnswer(QbbFrame::Kind kind, const QbbFrame& frame, uint32_t size)
{
    QbbFrame* answer = m_pool->Acquire();
    answer->kind = kind;
    answer->priority = frame.priority;
    answer->mtu = frame.mtu;
    answer->src = frame.src;
    answer->dst = frame.dst;
    answer->srcAddress = frame.srcAddress;
    answer->dstAddress = frame.dstAddress;
    answer->sport = frame.sport;
    answer->dport = frame.dport;
    answer->queuePair = frame.queuePair;
    answer->replyQueuePair = frame.replyQueuePair;
    answer->seq = 0;
    answer->flowBytes = 0;
    answer->telemetryBytes = 0;
    TurnRound(*answer, size);
    return answer;
}

void
RdmaHost::SendCnp(const QbbFrame& frame)
{
    QbbFrame* cnp = MakeAnswer(QbbFrame::Kind::CNP, frame, m_core->notification_bytes(0));
    cnp->priority = m_core->notification_priority();
    if (m_fastCnp && m_fastCnp->IsNotifying())
    {
        m_fastCnp->Fill(frame, *cnp);
        cnp->size = m_core->notification_bytes(cnp->telemetryBytes);
    }
    SendBack(cnp, PortBack(frame));
}

void
RdmaHost::ReceiveCnp(QbbFrame* frame)
{
    const uint32_t queuePair = frame->queuePair;
    const hpcc::AckResult result = m_core->on_cnp(frame->receiver->GetNow(), queuePair);
    frame->Release();
    TakeResult(queuePair, result);
}

void
RdmaHost::ReceiveProbe(QbbFrame* frame)
{
    const hpcc::TelemetryReply report =
        m_core->on_telemetry(frame->receiver->GetNow(),
                             {frame->queuePair,
                              frame->receiver->GetPortNumber(),
                              frame->telemetryBytes,
                              false,
                              true,
                              0,
                              frame->seq},
                             {frame->GetTelemetry(), frame->GetRoom()});
    if (!report.alone)
    {
        frame->Release();
        return;
    }
    frame->kind = QbbFrame::Kind::FEEDBACK;
    frame->telemetryBytes = report.telemetry_bytes;
    const int32_t port = PortBack(*frame);
    TurnRound(*frame, m_core->feedback_bytes(frame->telemetryBytes));
    SendBack(frame, port);
}

void
RdmaHost::ReceiveFastCnp(QbbFrame* frame)
{
    if (!m_fastCnp)
    {
        frame->Release();
        return;
    }
    const hpcc::FastCnpReaction reaction = m_fastCnp->Receive(*frame, *m_core, *m_rng);
    if (reaction.unknown)
    {
        ReportUnknown(*frame);
    }
    frame->Release();
    TakeResult(reaction.queue_pair, reaction.result);
}

void
RdmaHost::ReportUnknown(const QbbFrame& frame)
{
    QbbFrame* report = MakeAnswer(QbbFrame::Kind::ICMPV6, frame, 0);
    if (!m_fastCnp->Report(frame, *report))
    {
        report->Release();
        return;
    }
    SendBack(report, PortBack(frame));
}

int32_t
RdmaHost::PortBack(const QbbFrame& frame) const
{
    // An answer leaves by the port that the data's direction of the flow hashes to, as in the
    // reference.
    const hpcc::FlowKey key{frame.dstAddress,
                            frame.srcAddress,
                            m_wirePort ? frame.sport : frame.dport,
                            m_wirePort ? m_wirePort : frame.sport};
    return m_core->route(key, frame.src);
}

void
RdmaHost::SendBack(QbbFrame* frame, int32_t port)
{
    if (port < 0)
    {
        frame->Release();
        return;
    }
    m_ports[port]->Enqueue(frame, ACK_QUEUE);
    m_ports[port]->TrySend();
}

void
RdmaHost::TurnRound(QbbFrame& frame, uint32_t size) const
{
    std::swap(frame.src, frame.dst);
    std::swap(frame.srcAddress, frame.dstAddress);
    if (!m_wirePort)
    {
        std::swap(frame.sport, frame.dport);
    }
    std::swap(frame.queuePair, frame.replyQueuePair);
    frame.priority = m_core->answer_priority(frame.priority);
    frame.congestionMarked = false;
    frame.hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    frame.payload = 0;
    frame.size = size;
}

void
RdmaHost::ReceiveAck(QbbFrame* frame)
{
    const hpcc::AckFrame ack{frame->queuePair,
                             frame->seq,
                             frame->kind == QbbFrame::Kind::NACK,
                             frame->congestionEchoed,
                             frame->selective};
    const hpcc::AckResult result = m_core->on_ack(frame->receiver->GetNow(),
                                                  ack,
                                                  {frame->GetTelemetry(), frame->telemetryBytes},
                                                  *m_rng);
    const uint32_t queuePair = frame->queuePair;
    frame->Release();
    TakeResult(queuePair, result);
}

void
RdmaHost::ReceiveFeedback(QbbFrame* frame)
{
    const uint32_t queuePair = frame->queuePair;
    const hpcc::AckResult result =
        m_core->on_feedback(frame->receiver->GetNow(),
                            queuePair,
                            frame->seq,
                            m_wirePort ? frame->sport : frame->dport,
                            {frame->GetTelemetry(), frame->telemetryBytes},
                            *m_rng);
    frame->Release();
    TakeResult(queuePair, result);
}

void
RdmaHost::TakeResult(uint32_t queuePair, const hpcc::AckResult& result)
{
    if (!result.known)
    {
        return;
    }
    if (result.armed)
    {
        ScheduleTimers(queuePair, result.armed);
    }
    TraceControl(queuePair);
    if (result.finished)
    {
        Finish(queuePair);
    }
    UpdateWakeUp(result.nic);
    m_ports[result.nic]->TrySend();
}

void
RdmaHost::TraceControl(uint32_t queuePair)
{
    if (!m_controlTrace.IsEmpty())
    {
        m_controlTrace(GetFlow(queuePair), GetControl(queuePair));
    }
}

void
RdmaHost::Finish(uint32_t queuePair)
{
    const auto sending = m_sending.find(queuePair);
    Sending finished = std::move(sending->second);
    m_sending.erase(sending);
    m_byFlowKey.erase(FlowKey(finished.flow));
    if (m_fastCnp)
    {
        m_fastCnp->Disconnect(m_network->address(finished.flow.dst), finished.receiver);
    }
    for (HostAlarm* timer : finished.timers)
    {
        if (timer)
        {
            timer->CallOff();
        }
    }
    finished.flow.completion = Simulator::Now() - finished.flow.start;
    if (m_shared)
    {
        m_shared->CloseReceiver(finished.flow.dst, finished.receiver);
    }
    else
    {
        finished.peer->CloseReceiver(finished.receiver);
    }
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
    HostAlarm*& pending = m_wakeUps[port];
    if (planned == NEVER || (pending && pending->GetNanos() == planned))
    {
        return;
    }
    if (pending)
    {
        pending->CallOff();
    }
    pending = m_alarms.Schedule(planned, port, HostAlarm::PORT);
}

void
RdmaHost::ScheduleTimers(uint32_t queuePair, uint8_t armed)
{
    auto& timers = m_sending.at(queuePair).timers;
    for (uint8_t timer = 0; timer < timers.size(); ++timer)
    {
        if (!(armed >> timer & 1))
        {
            continue;
        }
        if (timers[timer])
        {
            timers[timer]->CallOff();
        }
        timers[timer] = m_alarms.Schedule(m_core->timeout(queuePair, timer), queuePair, timer);
    }
}

void
RdmaHost::OnAlarm(const HostAlarm& alarm)
{
    if (alarm.GetTimer() == HostAlarm::PORT)
    {
        OnWakeUp(static_cast<uint16_t>(alarm.GetOwner()));
    }
    else
    {
        OnTimeout(alarm.GetOwner(), alarm.GetTimer());
    }
}

void
RdmaHost::OnWakeUp(uint16_t port)
{
    m_wakeUps[port] = nullptr;
    m_core->on_wake(port);
    m_ports[port]->TrySend();
}

void
RdmaHost::OnTimeout(uint32_t queuePair, uint8_t timer)
{
    m_sending.at(queuePair).timers[timer] = nullptr;
    const hpcc::TimeoutResult result =
        m_core->on_timeout(Simulator::Now().GetTimeStep(), queuePair, timer);
    if (!result.known)
    {
        return;
    }
    ScheduleTimers(queuePair, result.armed);
    TraceControl(queuePair);
    UpdateWakeUp(result.nic);
    if (result.probe.present)
    {
        QbbFrame* probe =
            MakeFrame(QbbFrame::Kind::PROBE, result.probe, Simulator::Now().GetTimeStep());
        m_ports[result.nic]->Enqueue(probe, probe->priority);
    }
    if (result.send || result.probe.present)
    {
        m_ports[result.nic]->TrySend();
    }
}

} // namespace ns3
