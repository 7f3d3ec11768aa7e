/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-host.h"

#include "bottleneck-watch.h"
#include "call-rust.h"
#include "late-trace.h"
#include "ns3-bridge/src/host.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "setting-attributes.h"
#include "slow-receiver.h"
#include "stop-run.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <sstream>
#include <tuple>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaHost");

NS_OBJECT_ENSURE_REGISTERED(RdmaHost);

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
                            MakeTraceSourceAccessor(&RdmaHost::m_resendTrace),
                            "ns3::RdmaHost::ResendTracedCallback")
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
                            MakeTraceSourceAccessor(&RdmaHost::m_cnpTrace),
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

RdmaHost::RdmaHost(const RdmaHost& other)
    : QbbNode(other),
      m_alarms([this](const HostAlarm& alarm) { OnAlarm(alarm); })
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
    CheckDecided();
    for (const auto& receiver : m_slowReceivers)
    {
        receiver->Stop();
    }
    m_core.reset();
    m_receiverKeys.reset();
    m_fastCnp = nullptr;
    m_network.reset();
    m_sending.clear();
    m_byFlowKey.clear();
    m_wakeUps.clear();
    QbbNode::DoDispose();
}

void
RdmaHost::MeasureRtts()
{
    CheckDecided();
    m_measuresRtts = true;
    if (m_core)
    {
        m_core->measure_rtts();
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
RdmaHost::Start(const std::shared_ptr<hpcc::Network>& network)
{
    NS_LOG_FUNCTION(this);
    m_network = network;
    m_sharesQueuePairs = GetSettings().shares_queue_pairs();
    if (!IsLocal())
    {
        m_receiverKeys = FromRust(hpcc::new_receiver_keys());
        return;
    }
    m_wakeUps.assign(m_ports.size(), nullptr);
    // In the order of their insertion, when a wake-up is planned decides its place among the events
    // of its time.
    const WheelSimulatorImpl* const wheel = WheelSimulatorImpl::Find();
    m_foresees = wheel && wheel->IsCanonical();
    m_alarms.SetContext(GetObject<Node>()->GetId());
    EnsureRng();
    ResolveSettings(*network);
    m_mtu = GetSettings().mtu();
    m_core = MakeCore();
    if (m_measuresRtts)
    {
        m_core->measure_rtts();
    }
    m_wirePort = GetSettings().wire_port();
    m_ackPriority = m_core->ack_priority();
    m_echoesTelemetry = m_core->echoes();
    m_sealsAnswers = m_core->seals_answers();
    m_receivesSlowly = m_core->receives_slowly();
    if (m_receivesSlowly)
    {
        for (const auto& port : m_ports)
        {
            m_slowReceivers.push_back(
                std::make_unique<SlowReceiver>(*m_core, *this, *port, [this](QbbFrame* frame) {
                    Take(frame);
                }));
        }
    }
    m_fastCnp = GetObject<FastCnpHost>();
    if (m_fastCnp)
    {
        m_fastCnp->Start(*network, *this);
    }
}

CorePointer<hpcc::Host>
RdmaHost::MakeCore() const
{
    return FromRust(CallRust([&] { return hpcc::new_host(*m_network, m_index, GetSettings()); }));
}

bool
RdmaHost::CanReach(const RdmaHost& peer) const
{
    CheckPeer(peer);
    return m_network->leads(m_index, peer.m_index) && m_network->leads(peer.m_index, m_index);
}

uint32_t
RdmaHost::StartFlow(Ptr<RdmaHost> peer, const RdmaFlow& request, FlowCallback done)
{
    NS_LOG_FUNCTION(this << peer << request.size);
    if (!CheckFlow(peer, request))
    {
        return ELSEWHERE;
    }
    if (!m_sharesQueuePairs)
    {
        return OpenQueuePair(peer, request, done);
    }
    const auto place = m_shareable.find({peer->m_index, request.priority, request.dport});
    if (place == m_shareable.end())
    {
        const uint32_t queuePair = OpenQueuePair(peer, request, done);
        m_shareable[{peer->m_index, request.priority, request.dport}] = queuePair;
        return queuePair;
    }
    const bool isPosted = !IsLocal() || Post(place->second, peer->m_index, request, done);
    return isPosted ? place->second : ELSEWHERE;
}

bool
RdmaHost::Post(uint32_t queuePair, uint32_t dst, const RdmaFlow& request, FlowCallback done)
{
    // If the queue pair was idle, timers of its congestion control that came due meanwhile fire
    // now.
    const hpcc::PostResult result = Decide(
        [&] { return m_core->post(Simulator::Now().GetNanoSeconds(), queuePair, request.size); });
    if (!result.posted)
    {
        std::ostringstream reason;
        reason << "host " << m_index << " has no sequence numbers left for " << request.size
               << " bytes on one queue pair to host " << dst;
        StopRun(reason.str());
        return false;
    }
    RdmaFlow flow = request;
    flow.src = m_index;
    flow.dst = dst;
    flow.start = Simulator::Now();
    flow.sport = m_core->source_port(queuePair);
    flow.firstSeq = result.start;
    m_sending.at(queuePair).messages[flow.firstSeq] = {flow, done};
    ScheduleTimers(queuePair, result.armed);
    TellStart(flow, result.nic);
    return true;
}

uint32_t
RdmaHost::OpenQueuePair(Ptr<RdmaHost> peer, const RdmaFlow& request, FlowCallback done)
{
    if (!IsLocal() && !peer->IsLocal())
    {
        return peer->m_receiverKeys->open() < 0 ? RefuseQueuePair(peer->m_index) : ELSEWHERE;
    }
    RdmaFlow flow = request;
    flow.src = m_index;
    flow.dst = peer->m_index;
    flow.start = Simulator::Now();
    flow.firstSeq = 0;
    flow.sport = peer->m_sourcePorts[m_index].Take();

    const hpcc::FlowKey key = WireKey(flow.dst, flow.dport, flow.sport);
    // A source of another process has no core here. One is made to tell what its flow asks of the
    // receiver, and is not kept.
    const CorePointer<hpcc::Host> elsewhere = IsLocal() ? CorePointer<hpcc::Host>() : MakeCore();
    const hpcc::Host& source = IsLocal() ? *m_core : *elsewhere;
    const int32_t nic = source.first_port(*m_network, key, flow.src, flow.dst);
    if (nic < 0)
    {
        StopRun("host " + std::to_string(flow.dst) + " cannot be reached from host " +
                std::to_string(flow.src));
        return ELSEWHERE;
    }
    hpcc::SenderParameters sender{
        flow.src,
        flow.dst,
        flow.sport,
        flow.dport,
        flow.priority,
        0,
        flow.size,
    };
    const int64_t receiver = peer->OpenReceiver(source, static_cast<uint16_t>(nic), sender);
    if (receiver < 0)
    {
        return RefuseQueuePair(flow.dst);
    }
    sender.receiver = static_cast<uint32_t>(receiver);
    peer->m_arriving[sender.receiver] = {m_index, flow.sport};
    if (!IsLocal())
    {
        return ELSEWHERE;
    }
    const int64_t queuePair = Decide([&] {
        return m_core->open_sender(Simulator::Now().GetNanoSeconds(),
                                   static_cast<uint16_t>(nic),
                                   sender,
                                   *m_network);
    });
    if (queuePair < 0)
    {
        return RefuseQueuePair(flow.src);
    }
    const auto handle = static_cast<uint32_t>(queuePair);
    // Flows that share a source port have keys of their own: this adds to the bits of the priority.
    uint64_t flowKey = FlowKey(flow);
    while (!m_byFlowKey.emplace(flowKey, handle).second)
    {
        flowKey += QbbNetDevice::PRIORITIES;
    }
    m_sending[handle] = {{}, peer, sender.receiver, flow.dport, flowKey, {}};
    m_sending[handle].messages[flow.firstSeq] = {flow, done};
    if (m_fastCnp)
    {
        m_fastCnp->Connect(key.dst_address, sender.receiver, handle);
    }
    ScheduleTimers(handle, m_core->take_armed(handle));
    TellStart(flow, static_cast<uint16_t>(nic));
    return handle;
}

void
RdmaHost::TellStart(const RdmaFlow& flow, uint16_t nic)
{
    m_startTrace(flow);
    m_ports[nic]->TrySend();
}

uint32_t
RdmaHost::RefuseQueuePair(uint32_t host)
{
    StopRun("host " + std::to_string(host) + " has no room for another queue pair");
    return ELSEWHERE;
}

void
RdmaHost::CloseReceiver(uint32_t receiver)
{
    CheckDecided();
    const auto flow = m_arriving.find(receiver);
    if (flow != m_arriving.end())
    {
        const auto [source, port] = flow->second;
        m_sourcePorts[source].GiveBack(port);
        m_arriving.erase(flow);
    }
    if (IsLocal())
    {
        m_core->close_receiver(receiver);
    }
    else
    {
        m_receiverKeys->close(receiver);
    }
}

int64_t
RdmaHost::OpenReceiver(const hpcc::Host& source, uint16_t nic, const hpcc::SenderParameters& sender)
{
    return IsLocal() ? m_core->open_receiver(source, nic, sender, *m_network)
                     : m_receiverKeys->open();
}

void
RdmaHost::CheckRunning() const
{
    NS_ABORT_MSG_UNLESS(
        m_network,
        "host " << m_index
                << " is not part of a running network: call QbbHelper::Start() first, and "
                << "nothing after Simulator::Destroy() or Dispose()");
    CheckDecided();
}

void
RdmaHost::CheckDecided() const
{
    NS_ABORT_MSG_IF(m_decides,
                    "host " << m_index
                            << " cannot be called from inside a call of its congestion control: "
                            << "schedule what is to be done, by Simulator::ScheduleNow()");
}

void
RdmaHost::CheckKnown(uint32_t queuePair) const
{
    CheckDecided();
    NS_ABORT_MSG_UNLESS(queuePair == ELSEWHERE || (m_core && m_core->knows(queuePair)),
                        "host " << m_index << " has had no flow with the queue pair " << queuePair);
}

void
RdmaHost::CheckPeer(const RdmaHost& peer) const
{
    CheckRunning();
    peer.CheckRunning();
    NS_ABORT_MSG_IF(peer.m_network != m_network,
                    "host " << peer.m_index << " is part of another network than host " << m_index);
}

void
RdmaHost::CheckControl(const RdmaHost& peer, uint64_t size) const
{
    if (!m_isChecked)
    {
        GetSettings().check_control(m_fastCnp && m_fastCnp->IsEnabled());
        m_isChecked = true;
    }
    m_network->check_hops(GetSettings(), m_index, peer.m_index, size);
}

bool
RdmaHost::CheckFlow(Ptr<RdmaHost> peer, const RdmaFlow& flow) const
{
    CheckResolution();
    CheckPeer(*peer);
    NS_ABORT_MSG_IF(PeekPointer(peer) == this, "host " << m_index << " cannot send to itself");
    NS_ABORT_MSG_IF(flow.size == 0, "a flow needs at least 1 byte");
    // Priority 0 is never paused; files of the reference simulator use it.
    NS_ABORT_MSG_UNLESS(flow.priority < QbbNetDevice::PRIORITIES,
                        "flows cannot have the priority " << +flow.priority << "; expected 0 to 7");
    const std::string wrong = TryRust([&] {
        m_network->check_flow(flow.priority, peer->GetSettings());
        if (IsLocal())
        {
            CheckControl(*peer, flow.size);
        }
    });
    if (!wrong.empty())
    {
        StopRun(wrong);
    }
    return wrong.empty();
}

hpcc::FlowKey
RdmaHost::WireKey(uint32_t dst, uint16_t dport, uint16_t sport) const
{
    return {m_network->address(m_index),
            m_network->address(dst),
            sport,
            m_wirePort ? m_wirePort : dport};
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
    if (m_receivesSlowly)
    {
        m_slowReceivers[port.GetPortNumber()]->OnLinkDown();
    }
}

void
RdmaHost::OnNewRoutes()
{
    NS_LOG_FUNCTION(this);
    CheckDecided();
    hpcc::update_host_routes(*m_network, m_index, *m_core);
    // A trace sink may start flows, which take the new routes.
    std::vector<uint32_t> queuePairs;
    queuePairs.reserve(m_byFlowKey.size());
    for (const auto& [flowKey, queuePair] : m_byFlowKey)
    {
        queuePairs.push_back(queuePair);
    }
    for (const uint32_t queuePair : queuePairs)
    {
        const auto found = m_sending.find(queuePair);
        if (found == m_sending.end())
        {
            continue;
        }
        const Sending& sending = found->second;
        const hpcc::FlowKey key =
            WireKey(sending.peer->m_index, sending.dport, m_core->source_port(queuePair));
        const int32_t port = Decide([&] { return m_core->reassign(queuePair, key); });
        if (port >= 0)
        {
            ScheduleTimers(queuePair,
                           m_core->resume_timer(Simulator::Now().GetNanoSeconds(), queuePair));
            m_ports[port]->TrySend();
        }
    }
}

uint64_t
RdmaHost::GetAckedBytes(uint32_t queuePair, uint64_t firstSeq) const
{
    CheckKnown(queuePair);
    const RdmaFlow* flow = FindFlow(queuePair, firstSeq);
    return flow && flow->firstSeq == firstSeq
               ? std::min(m_core->acked_bytes(queuePair, firstSeq), flow->size)
               : 0;
}

uint64_t
RdmaHost::GetSentEnd(uint32_t queuePair) const
{
    CheckDecided();
    return m_core->sent_end(queuePair);
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
    const hpcc::ControlState state = m_core->control_state(queuePair);
    return {DataRate(state.rate_bps),
            state.window_bytes,
            state.in_flight_bytes,
            state.utilisation,
            state.bottleneck,
            state.is_steered};
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
        for (const auto& [firstSeq, message] : sending.messages)
        {
            visit(message.flow, queuePair, sending.receiver);
        }
    }
}

const RdmaFlow*
RdmaHost::FindFlow(uint32_t queuePair) const
{
    const auto sending = m_sending.find(queuePair);
    return sending == m_sending.end() || sending->second.messages.empty()
               ? nullptr
               : &sending->second.messages.begin()->second.flow;
}

const RdmaFlow*
RdmaHost::FindFlow(uint32_t queuePair, uint64_t seq) const
{
    const auto sending = m_sending.find(queuePair);
    if (sending == m_sending.end())
    {
        return nullptr;
    }
    const auto behind = sending->second.messages.upper_bound(seq);
    return behind == sending->second.messages.begin() ? nullptr : &std::prev(behind)->second.flow;
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
            core.baseline_resets,
            core.cnps,
            core.unsent_acks,
            core.unasked_cnps,
            core.marks_merged,
            core.marks_heard,
            core.unsealed_answers,
            core.moves,
            core.receive_dropped,
            core.receive_pauses};
}

Time
RdmaHost::GetStandaloneFct(const RdmaFlow& flow) const
{
    CheckRunning();
    return NanoSeconds(CallRust([&] {
        return m_network->standalone_fct_ns(
            {flow.src, flow.dst, flow.size, true, flow.sport, flow.dport},
            GetSettings());
    }));
}

} // namespace ns3
