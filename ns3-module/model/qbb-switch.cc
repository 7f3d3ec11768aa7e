/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-switch.h"

#include "active-switches.h"
#include "call-rust.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "ns3-bridge/src/switch.rs.h"
#include "setting-attributes.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbSwitch");

NS_OBJECT_ENSURE_REGISTERED(QbbSwitch);

namespace
{

/**
 * \brief The core's view of a frame that looks for its way.
 * \param frame the frame
 * \return what its way depends on
 */
hpcc::Arriving
Arriving(const QbbFrame& frame)
{
    return {{frame.srcAddress, frame.dstAddress, frame.sport, frame.dport},
            frame.dst,
            frame.hopLimit,
            frame.priority,
            frame.CollectsTelemetry()};
}

} // namespace

TypeId
QbbSwitch::GetTypeId()
{
    static TypeId tid = AddSettings(
        TypeId("ns3::QbbSwitch")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<QbbSwitch>()
            .AddTraceSource("Drop",
                            "A frame was dropped: no buffer, no route, or the end of its "
                            "hop limit; what waits for a link that fails is told of "
                            "by LinkDrop of the device",
                            MakeTraceSourceAccessor(&QbbSwitch::m_dropTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback"),
        hpcc::switch_settings());
    return tid;
}

QbbSwitch::QbbSwitch()
{
    NS_LOG_FUNCTION(this);
}

QbbSwitch::QbbSwitch(const QbbSwitch& other)
    : QbbNode(other)
{
    NS_LOG_FUNCTION(this << &other);
}

QbbSwitch::~QbbSwitch()
{
    NS_LOG_FUNCTION(this);
}

void
QbbSwitch::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_core.reset();
    m_border.reset();
    m_fastCnp = nullptr;
    m_network.reset();
    QbbNode::DoDispose();
}

void
QbbSwitch::SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax)
{
    NS_LOG_FUNCTION(this << rate << kmin << kmax << pmax);
    NS_ABORT_MSG_IF(m_core, "the ECN thresholds are in use: set them before QbbHelper::Start()");
    CallRust([&] { GetSettings().set_ecn_threshold(rate.GetBitRate(), kmin, kmax, pmax); });
}

void
QbbSwitch::CheckLocal() const
{
    NS_ABORT_MSG_UNLESS(m_core,
                        "switch " << m_index
                                  << " is simulated by another process, or its network is not "
                                     "running; see QbbNode::IsLocal()");
}

uint32_t
QbbSwitch::GetQueuedBytes(uint16_t port) const
{
    CheckLocal();
    CheckPort(port);
    return m_core->queued(port);
}

bool
QbbSwitch::SampleQueues(hpcc::Results& results, std::size_t first) const
{
    return results.sample_queues(first, *m_core, static_cast<uint16_t>(m_ports.size()));
}

bool
QbbSwitch::TraceQueues(hpcc::Results& results, std::size_t first) const
{
    return results.trace_queues(Simulator::Now().GetNanoSeconds(),
                                first,
                                *m_core,
                                static_cast<uint16_t>(m_ports.size()));
}

void
QbbSwitch::Register(ActiveSwitches& list)
{
    m_lists.push_back(&list);
}

void
QbbSwitch::JoinLists()
{
    for (ActiveSwitches* list : m_lists)
    {
        list->Add(*this);
    }
    m_lists.clear();
}

uint64_t
QbbSwitch::GetDrops() const
{
    return m_drops;
}

uint64_t
QbbSwitch::GetMarks() const
{
    return m_marks;
}

uint64_t
QbbSwitch::GetLinkDrops() const
{
    return m_linkDrops;
}

uint64_t
QbbSwitch::GetSentBytes(uint16_t port) const
{
    CheckLocal();
    CheckPort(port);
    return m_core->sent(port);
}

uint64_t
QbbSwitch::GetUnroutable() const
{
    return m_unroutable;
}

uint64_t
QbbSwitch::GetExpired() const
{
    return m_expired;
}

bool
QbbSwitch::IsSwitch() const
{
    return true;
}

void
QbbSwitch::Start(const std::shared_ptr<hpcc::Network>& network)
{
    NS_LOG_FUNCTION(this);
    m_network = network;
    if (!IsLocal())
    {
        return;
    }
    EnsureRng();
    ResolveSettings(*network);
    m_core = FromRust(CallRust([&] { return hpcc::new_switch(*network, m_index, GetSettings()); }));
    m_fastCnp = GetObject<FastCnpSwitch>();
    if (m_fastCnp && !m_fastCnp->Start(*network, *this))
    {
        m_fastCnp = nullptr;
    }
    const bool notifies = m_fastCnp && m_fastCnp->IsEnabled();
    m_border = FromRust(CallRust(
        [&] { return hpcc::new_telemetry_border(*network, m_index, GetSettings(), notifies); }));
    if (!m_border->hides())
    {
        m_border.reset();
    }
    m_leakOnLinkDown = m_core->leaks_on_link_down();
    m_notesArrival = m_core->notes_arrival();
    m_balances = !m_core->keeps();
    m_pauses = GetSettings().pause_us() > 0;
    m_nextHops.Start();
    for (const auto& port : m_ports)
    {
        port->SetScheduler(m_core->has_classes() ? m_core->new_scheduler().into_raw() : nullptr);
    }
}

void
QbbSwitch::OnLinkDown(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
    while (QbbFrame* frame = port.DequeueAny())
    {
        if (frame->kind != QbbFrame::Kind::PFC && !m_leakOnLinkDown &&
            m_core->discard(port.GetPortNumber(), frame->ingress, frame->priority, frame->size))
        {
            m_rng->skip();
            SendPfc(*m_ports[frame->ingress], frame->priority, false);
        }
        ++m_linkDrops;
        frame->Release();
    }
}

void
QbbSwitch::OnLinkUp(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
    OnPause(port);
    // The far end has forgotten the pauses that are in force here.
    const uint8_t paused = m_core->paused(port.GetPortNumber());
    for (uint8_t priority = 0; priority < QbbNetDevice::PRIORITIES; ++priority)
    {
        if (paused >> priority & 1)
        {
            SendPfc(port, priority, m_pauses);
        }
    }
    port.TrySend();
}

void
QbbSwitch::OnPause(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
    m_core->hear_pause(port.GetPortNumber(), port.GetPaused());
}

void
QbbSwitch::OnNewRoutes()
{
    NS_LOG_FUNCTION(this);
    hpcc::update_switch_routes(*m_network, m_index, *m_core);
    m_nextHops.Clear();
}

// A part of its callers, for all frames that a switch sends come here.
[[gnu::always_inline]] inline void
QbbSwitch::Stamp(QbbNetDevice& out, QbbFrame& frame, uint16_t telemetryBytes, bool mark)
{
    frame.size += telemetryBytes - frame.telemetryBytes;
    frame.telemetryBytes = telemetryBytes;
    if (m_border || m_fastCnp)
    {
        DepartWithMore(out, frame, mark);
    }
    else if (mark)
    {
        Mark(frame);
    }
}

void
QbbSwitch::Mark(QbbFrame& frame)
{
    m_marks += frame.kind == QbbFrame::Kind::DATA && !frame.congestionMarked;
    frame.congestionMarked = true;
}

// A part of Receive(), where what it needs is at hand.
[[gnu::always_inline]] inline bool
QbbSwitch::CutThrough(QbbNetDevice& out, QbbFrame* frame)
{
    hpcc::DepartingFrame departing = GetDeparting(out, *frame);
    const hpcc::CutThrough passage = m_core->cut_through(out.GetPortNumber(),
                                                         out.GetNow(),
                                                         departing,
                                                         {frame->GetTelemetry(), frame->GetRoom()},
                                                         *m_rng);
    if (passage == hpcc::CutThrough::Waits)
    {
        return false;
    }
    out.BeginCutThrough(frame->priority);
    Stamp(out, *frame, departing.telemetry_bytes, passage == hpcc::CutThrough::PassesMarked);
    out.TransmitStart(frame);
    return true;
}

// A part of Receive(), inline as well.
[[gnu::always_inline]] inline QbbNetDevice*
QbbSwitch::Route(const QbbNetDevice& in, QbbFrame* frame)
{
    if (IsBalanced(*frame))
    {
        return RouteNew(in, frame);
    }
    QbbNetDevice* const out = m_nextHops.Find(*frame).device;
    // Whether a hop limit has an end is for the core to say.
    if (!out || frame->hopLimit <= 1)
    {
        return RouteNew(in, frame);
    }
    --frame->hopLimit;
    return out;
}

void
QbbSwitch::Receive(QbbNetDevice& in, QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << &in << frame->size);
    if (!m_lists.empty())
    {
        JoinLists();
    }
    if (m_fastCnp && !ReceiveWithFastCnp(in, frame))
    {
        return;
    }
    QbbNetDevice* const out = Route(in, frame);
    if (!out)
    {
        return;
    }
    frame->ingress = in.GetPortNumber();
    if (m_notesArrival)
    {
        frame->arrived = in.GetNow();
    }
    if (!out->CanCutThrough(frame->priority) || !CutThrough(*out, frame))
    {
        Queue(in, *out, frame);
    }
}

QbbNetDevice*
QbbSwitch::RouteNew(const QbbNetDevice& in, QbbFrame* frame)
{
    const hpcc::Route route = m_core->route(in.GetNow(), Arriving(*frame), *m_rng);
    if (route.verdict != hpcc::Verdict::Forward)
    {
        Drop(frame, route.verdict);
        return nullptr;
    }
    frame->hopLimit = route.hop_limit;
    QbbNetDevice* const out = PeekPointer(m_ports[route.egress]);
    if (!IsBalanced(*frame))
    {
        m_nextHops.Keep(*frame, {out, route.egress});
    }
    return out;
}

void
QbbSwitch::Queue(QbbNetDevice& in, QbbNetDevice& out, QbbFrame* frame)
{
    const hpcc::Admission admission =
        m_core->admit(frame->ingress, out.GetPortNumber(), frame->priority, frame->size);
    if (admission == hpcc::Admission::Drop)
    {
        Drop(frame, hpcc::Verdict::Overflow);
        return;
    }
    if (admission == hpcc::Admission::AdmitAndPause)
    {
        m_rng->skip();
        SendPfc(in, frame->priority, m_pauses);
    }
    out.Enqueue(frame, frame->priority);
    out.TrySend();
}

void
QbbSwitch::FetchArrival(unsigned step, const QbbNetDevice& in, const QbbFrame& frame) const
{
    if (step == 3)
    {
        m_nextHops.Fetch(frame);
    }
    else if (const NextHopCache::Port out = m_nextHops.Find(frame); out.device)
    {
        FetchAccounts(in.GetPortNumber(), out.number);
        out.device->FetchState();
    }
    else
    {
        FetchLines(reinterpret_cast<const void*>(m_core->place_of_route(frame.dst)), 1);
    }
}

void
QbbSwitch::FetchDeparture(unsigned step, const QbbNetDevice& out) const
{
    const QbbFrame* head = out.PeekHead();
    if (step == 3 && head)
    {
        FetchAccounts(head->ingress, out.GetPortNumber());
    }
}

void
QbbSwitch::FetchAccounts(uint16_t ingress, uint16_t egress) const
{
    const hpcc::FetchPlaces places = m_core->places_of_accounts(ingress, egress);
    FetchLines(reinterpret_cast<const void*>(places.ingress), 1);
    FetchLines(reinterpret_cast<const void*>(places.egress), 1);
}

void
QbbSwitch::Drop(QbbFrame* frame, hpcc::Verdict why)
{
    NS_LOG_FUNCTION(this << frame->size);
    ++CounterOf(why);
    m_dropTrace(*frame);
    frame->Release();
}

void
QbbSwitch::DropAtBorder(QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    m_dropTrace(*frame);
    frame->Release();
}

uint64_t&
QbbSwitch::CounterOf(hpcc::Verdict why)
{
    switch (why)
    {
    case hpcc::Verdict::Overflow:
        return m_drops;
    case hpcc::Verdict::NoRoute:
        return m_unroutable;
    case hpcc::Verdict::Expired:
        return m_expired;
    case hpcc::Verdict::Forward:
        break;
    }
    NS_ABORT_MSG("a frame that is forwarded is not dropped");
}

QbbFrame*
QbbSwitch::NextFrame(QbbNetDevice& out)
{
    QbbFrame* frame = out.Dequeue();
    if (!frame)
    {
        return nullptr;
    }
    if (frame->kind == QbbFrame::Kind::PFC)
    {
        m_core->send_pfc(out.GetPortNumber(), out.GetNow(), frame->size);
        return frame;
    }
    Depart(out, *frame);
    return frame;
}

hpcc::DepartingFrame
QbbSwitch::GetDeparting(const QbbNetDevice& out, const QbbFrame& frame) const
{
    return {
        out.GetQueuedBytes(),
        frame.ingress,
        frame.priority,
        frame.CollectsTelemetry(),
        frame.hopLimit,
        frame.size,
        frame.telemetryBytes,
        m_notesArrival ? frame.arrived : 0,
    };
}

void
QbbSwitch::Depart(QbbNetDevice& out, QbbFrame& frame)
{
    hpcc::DepartingFrame departing = GetDeparting(out, frame);
    const hpcc::Departure departure = m_core->depart(out.GetPortNumber(),
                                                     out.GetNow(),
                                                     departing,
                                                     {frame.GetTelemetry(), frame.GetRoom()},
                                                     *m_rng);
    Stamp(out, frame, departing.telemetry_bytes, departure.mark);
    if (departure.resume)
    {
        m_rng->skip();
        SendPfc(*m_ports[frame.ingress], frame.priority, false);
    }
}

void
QbbSwitch::DepartWithMore(QbbNetDevice& out, QbbFrame& frame, bool mark)
{
    if (m_border && frame.HasTelemetrySection())
    {
        m_border->hide(out.GetPortNumber(),
                       !frame.CollectsTelemetry(),
                       {frame.GetTelemetry(), frame.telemetryBytes});
    }
    if (m_fastCnp ? DepartWithFastCnp(out, frame, mark) : mark)
    {
        Mark(frame);
    }
}

bool
QbbSwitch::DepartWithFastCnp(QbbNetDevice& out, const QbbFrame& frame, bool marked)
{
    bool mark = marked;
    if (frame.kind == QbbFrame::Kind::DATA)
    {
        const hpcc::FastCnpVerdict verdict = m_fastCnp->OnData(out, frame, marked, *m_rng);
        mark = verdict.mark;
        if (verdict.send)
        {
            NotifySender(frame);
        }
    }
    m_fastCnp->OnSent(out, frame);
    return mark;
}

void
QbbSwitch::NotifySender(const QbbFrame& data)
{
    QbbFrame* frame = NewFrame();
    m_fastCnp->Fill(data, m_index, m_network->address(m_index), *frame);
    Send(frame);
}

void
QbbSwitch::Send(QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    CheckLocal();
    JoinLists();
    // Frames of priority 0 are not accounted for, and never refused.
    // The hop limit of a frame that begins here counts from the next switch.
    const uint64_t now = Simulator::Now().GetTimeStep();
    const hpcc::Route route = m_core->route(now, Arriving(*frame), *m_rng);
    QbbNetDevice* out =
        route.verdict == hpcc::Verdict::Forward ? PeekPointer(m_ports[route.egress]) : nullptr;
    if (!out)
    {
        Drop(frame, hpcc::Verdict::NoRoute);
        return;
    }
    if (m_fastCnp && !m_fastCnp->Passes(*out, *frame, false))
    {
        DropAtBorder(frame);
        return;
    }
    out->Enqueue(frame, frame->priority);
    out->TrySend();
}

bool
QbbSwitch::ReceiveWithFastCnp(QbbNetDevice& in, QbbFrame* frame)
{
    if (frame->kind == QbbFrame::Kind::FAST_CNP || frame->kind == QbbFrame::Kind::ICMPV6)
    {
        const hpcc::Route route = m_core->route(in.GetNow(), Arriving(*frame), *m_rng);
        const bool isForwarded = route.verdict == hpcc::Verdict::Forward;
        if (!m_fastCnp->Passes(in, *frame, true) ||
            (isForwarded && !m_fastCnp->Passes(*m_ports[route.egress], *frame, false)))
        {
            DropAtBorder(frame);
            return false;
        }
    }
    if (frame->dst == m_index)
    {
        m_fastCnp->Receive(*frame);
        frame->Release();
        return false;
    }
    return true;
}

} // namespace ns3
