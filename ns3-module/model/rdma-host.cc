/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-host.h"

#include "bottleneck-watch.h"
#include "call-rust.h"
#include "core-congestion-ops.h"
#include "engine-network.h"
#include "event-log.h"
#include "fast-cnp-host.h"
#include "late-trace.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "setting-attributes.h"
#include "stop-run.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/object-map.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaHost");

NS_OBJECT_ENSURE_REGISTERED(RdmaHost);

std::ostream&
operator<<(std::ostream& os, const RdmaFlow& flow)
{
    os << "flow " << flow.src << ':' << flow.sport << " > " << flow.dst << ':' << flow.dport;
    return flow.size == RdmaFlow::ENDLESS ? os : os << " of " << flow.size << " bytes";
}

namespace
{

/// Lists the controllers of a host's flows, by their queue pairs.
class ControllerAccessor : public ObjectPtrContainerAccessor
{
  private:
    bool DoGetN(const ObjectBase* object, std::size_t* n) const override
    {
        const auto host = dynamic_cast<const RdmaHost*>(object);
        *n = host ? host->GetControlled().size() : 0;
        return host;
    }

    Ptr<Object> DoGet(const ObjectBase* object,
                      std::size_t place,
                      std::size_t* index) const override
    {
        const auto host = static_cast<const RdmaHost*>(object);
        *index = host->GetControlled()[place];
        return host->GetController(static_cast<uint32_t>(*index));
    }
};

} // namespace

template <class Source>
Ptr<const TraceSourceAccessor>
RdmaHost::MakeWatchedAccessor(Source RdmaHost::*source)
{
    return MakeLateTraceAccessor<RdmaHost>([source](RdmaHost & host) -> auto& {
        host.WatchEvents();
        return host.*source;
    });
}

TypeId
RdmaHost::GetTypeId()
{
    static TypeId tid = AddSettings(
        TypeId("ns3::RdmaHost")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<RdmaHost>()
            .AddAttribute("ControllerList",
                          "The congestion controls in C++ of the flows in progress from here, by "
                          "their queue pairs",
                          TypeId::ATTR_GET,
                          ObjectMapValue(),
                          Create<ControllerAccessor>(),
                          MakeObjectMapChecker<RdmaCongestionOps>())
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
                            MakeWatchedAccessor(&RdmaHost::m_controlTrace),
                            "ns3::RdmaHost::ControlTracedCallback")
            .AddTraceSource("Resend",
                            "A packet is sent again",
                            MakeWatchedAccessor(&RdmaHost::m_resendTrace),
                            "ns3::RdmaHost::ResendTracedCallback")
            .AddTraceSource("Timeout",
                            "The retransmission timer of a flow has fired, and bytes are taken for "
                            "lost",
                            MakeWatchedAccessor(&RdmaHost::m_timeoutTrace),
                            "ns3::RdmaHost::FlowTracedCallback")
            .AddTraceSource("Rtt",
                            "A packet that was sent once is acknowledged, and no later such one "
                            "with it",
                            MakeLateTraceAccessor<RdmaHost>([](RdmaHost & host) -> auto& {
                                host.MeasureRtts();
                                return host.m_rttTrace;
                            }),
                            "ns3::RdmaHost::RttTracedCallback")
            .AddTraceSource("Cnp",
                            "The receiver of a flow has sent a congestion notification, which "
                            "arrives; those of switches are told of by FastCnpHost",
                            MakeWatchedAccessor(&RdmaHost::m_cnpTrace),
                            "ns3::RdmaHost::FlowTracedCallback")
            .AddTraceSource("Bottleneck",
                            "The link that U of a flow is of has become another",
                            MakeLateTraceAccessor<RdmaHost>([](RdmaHost & host) -> auto& {
                                return host.GetBottleneckWatch().change;
                            }),
                            "ns3::RdmaHost::BottleneckTracedCallback"),
        hpcc::attributes_of(hpcc::Holder::Host));
    return tid;
}

RdmaHost::RdmaHost()
{
    NS_LOG_FUNCTION(this);
}

RdmaHost::RdmaHost(const RdmaHost& other)
    : QbbNode(other)
{
    NS_LOG_FUNCTION(this << &other);
}

RdmaHost::~RdmaHost()
{
    NS_LOG_FUNCTION(this);
}

void
RdmaHost::DoDispose()
{
    NS_LOG_FUNCTION(this);
    EndFlows();
    QbbNode::DoDispose();
}

void
RdmaHost::EndFlows()
{
    const auto sending = std::exchange(m_sending, {});
    // Simulator::Destroy() disposes of all nodes, when nothing happens any more.
    if (!PeekNetwork() || Simulator::IsFinished())
    {
        return;
    }
    EngineNetwork& network = GetNetwork();
    network.Forget(m_index);
    for (const auto& [queuePair, messages] : sending)
    {
        network.Enter().stop_flow(m_index, queuePair);
    }
    network.Settle();
}

void
RdmaHost::MeasureRtts()
{
    m_measuresRtts = true;
    WatchEvents();
    if (PeekNetwork())
    {
        GetNetwork().Look().measure_rtts();
    }
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
RdmaHost::Start(Ptr<EngineNetwork> network)
{
    QbbNode::Start(network);
    if (m_measuresRtts)
    {
        MeasureRtts();
    }
    if (const auto agent = GetObject<FastCnpHost>())
    {
        agent->Start(*this);
    }
}

bool
RdmaHost::CanReach(const RdmaHost& peer) const
{
    CheckPeer(peer);
    const hpcc::Network& core = GetNetwork().Look();
    return core.leads(m_index, peer.m_index) && core.leads(peer.m_index, m_index);
}

uint32_t
RdmaHost::StartFlow(Ptr<RdmaHost> peer, const RdmaFlow& request, FlowCallback done)
{
    NS_LOG_FUNCTION(this << peer << request.size);
    int32_t control = -1;
    if (!CheckFlow(peer, request) || !FindControl(request, control))
    {
        return ELSEWHERE;
    }
    EngineNetwork& network = GetNetwork();
    const uint32_t id = network.AddFlow();
    const hpcc::FlowStarted started =
        network.Enter().start_flow({id,
                                    m_index,
                                    peer->m_index,
                                    request.dport,
                                    request.priority,
                                    request.size,
                                    request.nic,
                                    request.maxRate.GetBitRate(),
                                    static_cast<uint64_t>(request.stop.GetNanoSeconds()),
                                    control});
    if (!started.present)
    {
        // Tells why.
        network.Settle();
        return ELSEWHERE;
    }
    RdmaFlow flow = request;
    flow.src = m_index;
    flow.dst = peer->m_index;
    flow.sport = started.sport;
    flow.firstSeq = started.first_seq;
    BeginFlow(id, flow, started.queue_pair, done);
    network.Settle();
    return started.queue_pair;
}

void
RdmaHost::BeginFlow(uint32_t id, RdmaFlow flow, uint32_t queuePair, FlowCallback done)
{
    flow.start = Simulator::Now();
    m_sending[queuePair][flow.firstSeq] = {flow, done};
    GetNetwork().BeginFlow(id, *this, queuePair);
    NS_LOG_INFO(flow << " begins");
    m_startTrace(flow);
}

void
RdmaHost::StopFlow(uint32_t queuePair)
{
    NS_LOG_FUNCTION(this << queuePair);
    CheckKnown(queuePair);
    EngineNetwork& network = GetNetwork();
    NS_ABORT_MSG_UNLESS(network.Enter().stop_flow(m_index, queuePair),
                        "host " << m_index
                                << ": a flow that shares its queue pair with others (QueuePairs "
                                   "\"per_pair\") cannot be stopped");
    network.Settle();
}

void
RdmaHost::FinishFirst(uint32_t queuePair, const hpcc::FlowEnd& end)
{
    Messages& messages = m_sending.at(queuePair);
    Message finished = std::move(messages.begin()->second);
    messages.erase(messages.begin());
    if (messages.empty() && !GetSettings().shares_queue_pairs())
    {
        m_sending.erase(queuePair);
    }
    finished.flow.isSteered = end.is_steered;
    finished.flow.size = end.size_bytes;
    finished.flow.completion = Simulator::Now() - finished.flow.start;
    NS_LOG_INFO(finished.flow << " is over after " << finished.flow.completion.As(Time::NS));
    m_finishTrace(finished.flow);
    if (!finished.done.IsNull())
    {
        finished.done(finished.flow);
    }
}

void
RdmaHost::OnNotice(const hpcc::Notice& notice, QbbFrame& frame)
{
    if (notice.kind == hpcc::NoticeKind::Migrated)
    {
        NS_LOG_INFO(Describe() << " moves the flow of queue pair " << notice.queue_pair
                               << " to UDP port " << notice.value);
    }
    const bool isResend = notice.kind == hpcc::NoticeKind::Resend;
    if (!isResend && notice.kind != hpcc::NoticeKind::Control &&
        notice.kind != hpcc::NoticeKind::Rtt && notice.kind != hpcc::NoticeKind::Timeout &&
        notice.kind != hpcc::NoticeKind::Cnp)
    {
        QbbNode::OnNotice(notice, frame);
        return;
    }
    const RdmaFlow* flow =
        isResend ? FindFlow(notice.queue_pair, notice.value) : FindFlow(notice.queue_pair);
    if (flow)
    {
        TellOfFlow(notice, *flow);
    }
}

void
RdmaHost::TellOfFlow(const hpcc::Notice& notice, const RdmaFlow& flow)
{
    if (notice.kind == hpcc::NoticeKind::Resend)
    {
        const uint64_t offset = notice.value - flow.firstSeq;
        NS_LOG_INFO(flow << ": byte " << offset << " is sent again");
        m_resendTrace(flow, offset);
    }
    else if (notice.kind == hpcc::NoticeKind::Control)
    {
        const hpcc::ControlState& state = notice.control;
        NS_LOG_LOGIC(flow << ": rate " << DataRate(state.rate_bps) << ", window "
                          << state.window_bytes << ", in flight " << state.in_flight_bytes);
        m_controlTrace(flow,
                       {DataRate(state.rate_bps),
                        state.window_bytes,
                        state.in_flight_bytes,
                        state.utilisation,
                        state.bottleneck,
                        state.is_steered});
    }
    else if (notice.kind == hpcc::NoticeKind::Rtt)
    {
        NS_LOG_LOGIC(flow << ": round-trip time " << notice.value << " ns");
        m_rttTrace(flow, NanoSeconds(notice.value));
    }
    else if (notice.kind == hpcc::NoticeKind::Timeout)
    {
        NS_LOG_WARN(flow << ": its retransmission timer has fired");
        m_timeoutTrace(flow);
    }
    else
    {
        NS_LOG_INFO(flow << ": a congestion notification packet has come");
        m_cnpTrace(flow);
    }
}

bool
RdmaHost::IsLogged() const
{
    return LogsEvents(g_log);
}

void
RdmaHost::Send(const QbbFrame& frame)
{
    NS_LOG_FUNCTION(this << frame.size);
    EngineNetwork& network = GetNetwork();
    hpcc::Network& core = network.Enter();
    const std::string wrong =
        TryRust([&] { core.check_priority("the frame has", frame.priority); });
    const int32_t port =
        core.port_to(m_index,
                     {core.address(frame.src), core.address(frame.dst), frame.sport, frame.dport},
                     frame.dst);
    if (!wrong.empty())
    {
        StopRun(wrong);
    }
    else if (port >= 0)
    {
        constexpr uint8_t ANSWERS = 0;
        core.send_frame(m_index,
                        static_cast<uint16_t>(port),
                        ANSWERS,
                        frame.ToCore(),
                        {frame.telemetry.data(), frame.telemetry.size()});
    }
    network.Settle();
}

void
RdmaHost::CheckKnown(uint32_t queuePair) const
{
    const EngineNetwork& network = GetNetwork();
    NS_ABORT_MSG_UNLESS(queuePair == ELSEWHERE || network.Look().knows(m_index, queuePair),
                        "host " << m_index << " has had no flow with the queue pair " << queuePair);
}

void
RdmaHost::CheckPeer(const RdmaHost& peer) const
{
    const EngineNetwork& network = GetNetwork();
    NS_ABORT_MSG_IF(&peer.GetNetwork() != &network,
                    "host " << peer.m_index << " is part of another network than host " << m_index);
}

void
RdmaHost::CheckControl(const RdmaHost& peer, uint64_t size) const
{
    if (!m_isChecked)
    {
        const auto agent = GetObject<FastCnpHost>();
        GetSettings().check_control(agent && agent->IsEnabled());
        m_isChecked = true;
    }
    GetNetwork().Look().check_hops(GetSettings(), m_index, peer.m_index, size);
}

bool
RdmaHost::CheckFlow(Ptr<RdmaHost> peer, const RdmaFlow& flow) const
{
    CheckResolution();
    CheckPeer(*peer);
    NS_ABORT_MSG_IF(PeekPointer(peer) == this, "host " << m_index << " cannot send to itself");
    NS_ABORT_MSG_IF(flow.size == 0, "a flow needs at least 1 byte");
    NS_ABORT_MSG_IF(flow.nic >= 0 && static_cast<uint32_t>(flow.nic) >= GetNPorts(),
                    "host " << m_index << " has no link " << flow.nic << "; expected 0 to "
                            << GetNPorts() - 1 << ", or -1");
    NS_ABORT_MSG_IF(flow.maxRate.GetBitRate() > 0 && flow.maxRate < DataRate("1Mbps"),
                    "the rate of a flow is " << flow.maxRate << "; expected at least 1Mbps");
    // Priority 0 is never paused; files of the 2019 simulator use it.
    NS_ABORT_MSG_UNLESS(flow.priority < QbbNetDevice::PRIORITIES,
                        "flows cannot have the priority " << +flow.priority << "; expected 0 to 7");
    const std::string wrong = TryRust([&] {
        GetNetwork().Look().check_flow(flow.priority, peer->GetSettings());
        CheckControl(*peer, flow.size);
    });
    if (!wrong.empty())
    {
        StopRun(wrong);
    }
    return wrong.empty();
}

bool
RdmaHost::FindControl(const RdmaFlow& flow, int32_t& control) const
{
    if (flow.congestionControl.empty())
    {
        return true;
    }
    const std::string wrong = TryRust([&] {
        control = GetNetwork().Look().add_control(m_index, GetSettings(), flow.congestionControl);
    });
    if (!wrong.empty())
    {
        StopRun("the congestion control of a flow of host " + std::to_string(m_index) + ": " +
                wrong);
    }
    return wrong.empty();
}

uint64_t
RdmaHost::GetAckedBytes(uint32_t queuePair, uint64_t firstSeq) const
{
    CheckKnown(queuePair);
    const RdmaFlow* flow = FindFlow(queuePair, firstSeq);
    return flow && flow->firstSeq == firstSeq
               ? std::min(GetNetwork().Look().acked(m_index, queuePair, firstSeq), flow->size)
               : 0;
}

uint64_t
RdmaHost::GetSentEnd(uint32_t queuePair) const
{
    return GetNetwork().Look().sent_end(m_index, queuePair);
}

const RdmaFlow&
RdmaHost::GetFlow(uint32_t queuePair) const
{
    const RdmaFlow* newest = FindFlow(queuePair, UINT64_MAX);
    NS_ABORT_MSG_UNLESS(newest,
                        "host " << m_index << " has no flow with the queue pair " << queuePair);
    return *newest;
}

RdmaControl
RdmaHost::GetControl(uint32_t queuePair) const
{
    CheckKnown(queuePair);
    if (!m_sending.count(queuePair))
    {
        return {};
    }
    const hpcc::ControlState state = GetNetwork().Look().control(m_index, queuePair);
    return {DataRate(state.rate_bps),
            state.window_bytes,
            state.in_flight_bytes,
            state.utilisation,
            state.bottleneck,
            state.is_steered};
}

Ptr<RdmaCongestionOps>
RdmaHost::GetController(uint32_t queuePair) const
{
    const std::size_t controller = GetNetwork().Look().controller(m_index, queuePair);
    return controller ? reinterpret_cast<const hpcc::CongestionOps*>(controller)->GetOps()
                      : nullptr;
}

std::vector<uint32_t>
RdmaHost::GetControlled() const
{
    std::vector<uint32_t> queuePairs;
    for (const auto& [queuePair, messages] : m_sending)
    {
        if (!messages.empty() && GetController(queuePair))
        {
            queuePairs.push_back(queuePair);
        }
    }
    std::sort(queuePairs.begin(), queuePairs.end());
    return queuePairs;
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
    for (const auto& [queuePair, messages] : m_sending)
    {
        for (const auto& [firstSeq, message] : messages)
        {
            visit(message.flow, queuePair);
        }
    }
}

const RdmaFlow*
RdmaHost::FindFlow(uint32_t queuePair) const
{
    const auto messages = m_sending.find(queuePair);
    return messages == m_sending.end() || messages->second.empty()
               ? nullptr
               : &messages->second.begin()->second.flow;
}

const RdmaFlow*
RdmaHost::FindFlow(uint32_t queuePair, uint64_t seq) const
{
    const auto messages = m_sending.find(queuePair);
    if (messages == m_sending.end())
    {
        return nullptr;
    }
    const auto behind = messages->second.upper_bound(seq);
    return behind == messages->second.begin() ? nullptr : &std::prev(behind)->second.flow;
}

RdmaCounters
RdmaHost::GetCounters() const
{
    const hpcc::HostCounters core = GetNetwork().Look().host_counters(m_index);
    return {core.resent,
            core.timeouts,
            core.probes,
            core.feedback,
            core.rejected_by_seal,
            core.rejected_by_guard,
            core.baseline_resets,
            core.cnps,
            core.unsent_acks,
            core.unasked_cnps,
            core.marks_merged,
            core.marks_heard,
            core.unsealed_answers,
            core.moves,
            core.receive_dropped,
            core.receive_pauses,
            core.marks_untold,
            core.trims_heard};
}

Time
RdmaHost::GetStandaloneFct(const RdmaFlow& flow) const
{
    const hpcc::Network& core = GetNetwork().Look();
    return NanoSeconds(CallRust([&] {
        return core.standalone_fct_ns({flow.src, flow.dst, flow.size, true, flow.sport, flow.dport},
                                      GetSettings());
    }));
}

} // namespace ns3
