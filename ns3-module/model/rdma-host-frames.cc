/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// The frames of a host: what it sends, what becomes of those that arrive, and when it wakes up.
#include "call-rust.h"
#include "frame-record.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/host.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "rdma-host.h"
#include "shared-network.h"
#include "slow-receiver.h"
#include "stop-run.h"

#include "ns3/fatal-error.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaHostFrames");

namespace
{

/// The core's word for "no wake-up planned".
constexpr uint64_t NEVER = UINT64_MAX;
/// The queue of a host's device that holds its acknowledgements.
constexpr uint8_t ACK_QUEUE = 0;
/// Cache lines of the core's host that are used for each frame.
constexpr std::size_t CORE_LINES = 6;
/// Cache lines of a queue pair that are used for each frame.
constexpr std::size_t QUEUE_PAIR_LINES = 4;

} // namespace

void
RdmaHost::Send(QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    CheckRunning();
    const std::string wrong =
        TryRust([&] { m_network->check_priority("the frame has", frame->priority); });
    if (!wrong.empty())
    {
        StopRun(wrong);
        frame->Release();
        return;
    }
    SendBack(frame,
             m_core->route({frame->srcAddress, frame->dstAddress, frame->sport, frame->dport},
                           frame->dst));
}

QbbFrame*
RdmaHost::NextFrame(QbbNetDevice& out)
{
    if (m_receivesSlowly)
    {
        if (QbbFrame* pfc = m_slowReceivers[out.GetPortNumber()]->NextPfc())
        {
            return pfc;
        }
    }
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
    hpcc::Segment segment{};
    if (!Decide([&] { return m_core->poll(port, now, out.GetPaused(), segment); }))
    {
        UpdateWakeUp(port);
        return nullptr;
    }
    if (segment.armed)
    {
        ScheduleTimers(segment.queue_pair, segment.armed);
    }
    if (segment.again)
    {
        TraceResend(segment);
    }
    return MakeFrame(QbbFrame::Kind::DATA, segment, now);
}

bool
RdmaHost::AwaitsEnd(const QbbNetDevice& out, uint64_t end)
{
    const uint16_t port = out.GetPortNumber();
    if (m_receivesSlowly && m_slowReceivers[port]->HasPfc())
    {
        return true;
    }
    const bool awaits = m_core->awaits_end(port, end, out.GetPaused(), m_foresees);
    if (m_foresees && !awaits)
    {
        UpdateWakeUp(port);
    }
    return awaits;
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
    frame->earlierPackets = segment.earlier_packets;
    frame->src = segment.src;
    frame->dst = segment.dst;
    frame->srcAddress = m_network->address(segment.src);
    frame->dstAddress = m_network->address(segment.dst);
    frame->sport = segment.sport;
    frame->dport = m_wirePort ? m_wirePort : segment.dport;
    frame->queuePair = segment.receiver;
    frame->replyQueuePair = segment.queue_pair;
    frame->earlierWrites = segment.earlier_writes;
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
RdmaHost::Receive(QbbNetDevice& in, QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    if (frame->dst != m_index)
    {
        frame->Release();
        return;
    }
    // Probes stay behind the data that was sent before them.
    if (m_receivesSlowly &&
        (frame->kind == QbbFrame::Kind::DATA || frame->kind == QbbFrame::Kind::PROBE))
    {
        m_slowReceivers[in.GetPortNumber()]->RxEnqueue(frame);
        return;
    }
    Take(frame);
}

void
RdmaHost::Take(QbbFrame* frame)
{
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
RdmaHost::FetchArrival(unsigned step, const QbbNetDevice& in, const QbbFrame& frame) const
{
    if (step == 3)
    {
        FetchLines(m_core.get(), CORE_LINES);
        FetchLines(m_ports.data(), 1);
        return;
    }
    uintptr_t place = 0;
    if (frame.kind == QbbFrame::Kind::DATA)
    {
        place = m_core->place_of_receiver(frame.queuePair);
        FetchLines(reinterpret_cast<const void*>(m_core->place_of_route(frame.src)), 1);
        // While the answer leaves, AwaitsEnd() asks what else may.
        FetchLines(reinterpret_cast<const void*>(m_core->place_of_next(in.GetPortNumber())),
                   QUEUE_PAIR_LINES);
    }
    else
    {
        place = m_core->place_of_sender(frame.queuePair);
    }
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
    hpcc::Reply reply{};
    m_core->on_data(frame->receiver->GetNow(),
                    {frame->queuePair,
                     frame->payload,
                     frame->seq,
                     frame->ackRequested,
                     frame->congestionMarked},
                    reply);
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
    Seal(*frame, frame->queuePair);
    const int32_t port = PortBack(*frame);
    SwapEndpoints(*frame, m_core->ack_bytes(frame->telemetryBytes, frame->selective));
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
    QbbFrame* feedback = MakeAnswer(QbbFrame::Kind::FEEDBACK, frame, 0);
    feedback->seq = report.seq;
    feedback->telemetryBytes = report.telemetry_bytes;
    std::copy_n(frame.GetTelemetry(), report.telemetry_bytes, feedback->GetTelemetry());
    Seal(*feedback, frame.queuePair);
    feedback->size = m_core->feedback_bytes(feedback->telemetryBytes);
    frame.telemetryBytes = 0;
    SendBack(feedback, PortBack(frame));
}

void
RdmaHost::Seal(QbbFrame& answer, uint32_t receiver) const
{
    if (!m_sealsAnswers)
    {
        return;
    }
    const bool isAck = answer.IsAcknowledgement();
    const hpcc::AckFrame sealed{receiver,
                                answer.seq,
                                false,
                                isAck && answer.congestionEchoed,
                                isAck ? answer.selective : QbbFrame::NOTHING_AHEAD,
                                0};
    answer.telemetryBytes = m_core->seal_answer(MakeFrameRecord(answer).kind,
                                                sealed,
                                                {answer.GetTelemetry(), answer.GetRoom()},
                                                answer.telemetryBytes);
}

QbbFrame*
RdmaHost::MakeAnswer(QbbFrame::Kind kind, const QbbFrame& frame, uint32_t size)
{
    QbbFrame* answer = m_pool->Acquire();
    answer->kind = kind;
    answer->priority = frame.priority;
    answer->mtu = frame.mtu;
    answer->earlierPackets = frame.earlierPackets;
    answer->src = frame.src;
    answer->dst = frame.dst;
    answer->srcAddress = frame.srcAddress;
    answer->dstAddress = frame.dstAddress;
    answer->sport = frame.sport;
    answer->dport = frame.dport;
    answer->queuePair = frame.queuePair;
    answer->replyQueuePair = frame.replyQueuePair;
    answer->earlierWrites = frame.earlierWrites;
    answer->seq = 0;
    answer->flowBytes = 0;
    answer->telemetryBytes = 0;
    SwapEndpoints(*answer, size);
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
    else
    {
        // In the reserved bytes, which are part of its size.
        Seal(*cnp, frame.queuePair);
    }
    SendBack(cnp, PortBack(frame));
}

void
RdmaHost::ReceiveCnp(QbbFrame* frame)
{
    const uint32_t queuePair = frame->queuePair;
    const RdmaFlow* flow = m_cnpTrace.IsEmpty() ? nullptr : FindFlow(queuePair);
    if (flow)
    {
        m_cnpTrace(*flow);
    }
    const hpcc::AckResult result = Decide([&] {
        return m_core->on_cnp(frame->receiver->GetNow(),
                              queuePair,
                              {frame->GetTelemetry(), frame->telemetryBytes});
    });
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
    frame->seq = report.seq;
    Seal(*frame, frame->queuePair);
    const int32_t port = PortBack(*frame);
    SwapEndpoints(*frame, m_core->feedback_bytes(frame->telemetryBytes));
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
    const hpcc::FastCnpReaction reaction =
        Decide([&] { return m_fastCnp->React(*frame, *m_core, *m_rng); });
    m_fastCnp->Tell(*frame, reaction);
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
RdmaHost::SwapEndpoints(QbbFrame& frame, uint32_t size) const
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
                             frame->selective,
                             m_wirePort ? frame->sport : frame->dport};
    const hpcc::AckResult result = Decide([&] {
        return m_core->on_ack(frame->receiver->GetNow(),
                              ack,
                              {frame->GetTelemetry(), frame->telemetryBytes},
                              *m_rng);
    });
    const uint32_t queuePair = frame->queuePair;
    frame->Release();
    TakeResult(queuePair, result);
}

void
RdmaHost::ReceiveFeedback(QbbFrame* frame)
{
    const uint32_t queuePair = frame->queuePair;
    const hpcc::AckResult result = Decide([&] {
        return m_core->on_feedback(frame->receiver->GetNow(),
                                   queuePair,
                                   frame->seq,
                                   m_wirePort ? frame->sport : frame->dport,
                                   {frame->GetTelemetry(), frame->telemetryBytes},
                                   *m_rng);
    });
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
    TraceRtt(queuePair);
    TraceControl(queuePair);
    for (uint32_t n = 0; n < result.finished; ++n)
    {
        FinishFirst(queuePair);
    }
    UpdateWakeUp(result.nic);
    m_ports[result.nic]->TrySend();
}

void
RdmaHost::TraceRtt(uint32_t queuePair)
{
    if (m_rttTrace.IsEmpty())
    {
        return;
    }
    const uint64_t nanos = m_core->take_rtt(queuePair);
    const RdmaFlow* flow = nanos > 0 ? FindFlow(queuePair) : nullptr;
    if (flow)
    {
        m_rttTrace(*flow, NanoSeconds(nanos));
    }
}

void
RdmaHost::TraceResend(const hpcc::Segment& segment)
{
    const RdmaFlow* flow =
        m_resendTrace.IsEmpty() ? nullptr : FindFlow(segment.queue_pair, segment.seq);
    if (flow)
    {
        m_resendTrace(*flow, segment.seq - flow->firstSeq);
    }
}

void
RdmaHost::TraceControl(uint32_t queuePair)
{
    const RdmaFlow* flow = m_controlTrace.IsEmpty() ? nullptr : FindFlow(queuePair);
    if (flow)
    {
        m_controlTrace(*flow, GetControl(queuePair));
    }
}

void
RdmaHost::FinishFirst(uint32_t queuePair)
{
    Sending& sending = m_sending.at(queuePair);
    Message finished = std::move(sending.messages.begin()->second);
    sending.messages.erase(sending.messages.begin());
    finished.flow.isSteered = m_core->control_state(queuePair).is_steered;
    if (!m_sharesQueuePairs)
    {
        CloseQueuePair(queuePair, finished.flow);
    }
    finished.flow.completion = Simulator::Now() - finished.flow.start;
    m_finishTrace(finished.flow);
    if (!finished.done.IsNull())
    {
        finished.done(finished.flow);
    }
}

void
RdmaHost::CloseQueuePair(uint32_t queuePair, const RdmaFlow& flow)
{
    const auto place = m_sending.find(queuePair);
    const Sending closed = std::move(place->second);
    m_sending.erase(place);
    m_byFlowKey.erase(closed.flowKey);
    if (m_fastCnp)
    {
        m_fastCnp->Disconnect(m_network->address(flow.dst), closed.receiver);
    }
    for (HostAlarm* timer : closed.timers)
    {
        if (timer)
        {
            timer->CallOff();
        }
    }
    if (m_shared)
    {
        m_shared->CloseReceiver(flow.dst, closed.receiver);
    }
    else
    {
        closed.peer->CloseReceiver(closed.receiver);
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
    if (!m_core)
    {
        return;
    }
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
    const hpcc::TimeoutResult result = Decide(
        [&] { return m_core->on_timeout(Simulator::Now().GetTimeStep(), queuePair, timer); });
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
    else
    {
        // A larger window may let a packet leave when the present frame ends.
        m_ports[result.nic]->Reconsider();
    }
}

} // namespace ns3
