/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-switch.h"

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

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbSwitch");

NS_OBJECT_ENSURE_REGISTERED(QbbSwitch);

namespace
{

/// The rate for which the ECN attributes hold; other ports scale them.
constexpr uint64_t ECN_REFERENCE_RATE = 100'000'000'000;

/**
 * \brief The core's view of a frame's flow.
 * \param frame the frame
 * \return what ECMP hashes
 */
hpcc::FlowKey
KeyOf(const QbbFrame& frame)
{
    return {frame.srcAddress, frame.dstAddress, frame.sport, frame.dport};
}

} // namespace

TypeId
QbbSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::QbbSwitch")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<QbbSwitch>()
            .AddAttribute("BufferBytes",
                          "Packet memory that all ports share, headroom included",
                          UintegerValue(32 << 20),
                          MakeUintegerAccessor(&QbbSwitch::m_bufferBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Lossy",
                          "Drop what exceeds a queue's share of the buffer, and never pause",
                          BooleanValue(false),
                          MakeBooleanAccessor(&QbbSwitch::m_lossy),
                          MakeBooleanChecker())
            .AddAttribute("LossyAlpha",
                          "With Lossy: a queue may hold this many times the free memory",
                          DoubleValue(1),
                          MakeDoubleAccessor(&QbbSwitch::m_lossyAlpha),
                          MakeDoubleChecker<double>(0.001, 1000))
            .AddAttribute("Ecn",
                          "Whether frames are ECN-marked",
                          BooleanValue(true),
                          MakeBooleanAccessor(&QbbSwitch::m_ecn),
                          MakeBooleanChecker())
            .AddAttribute("EcnKmin",
                          "Queue length in bytes up to which nothing is marked, for a port of 100 Gb/s; other "
                          "ports scale it with their rate",
                          UintegerValue(400'000),
                          MakeUintegerAccessor(&QbbSwitch::m_ecnKmin),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnKmax",
                          "Queue length in bytes above which everything is marked, for a port of 100 Gb/s; "
                          "other ports scale it with their rate",
                          UintegerValue(1'600'000),
                          MakeUintegerAccessor(&QbbSwitch::m_ecnKmax),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnPmax",
                          "Probability of a mark at EcnKmax",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&QbbSwitch::m_ecnPmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Classes",
                          "How the queues of a port are served, such as \"3:3000, 4:1000, 5:strict\": by deficit round robin with "
                          "so many bytes a turn, or ahead of those; queues that are not named send while no other may. "
                          "Nothing: all in turn, a frame each",
                          StringValue(""),
                          MakeStringAccessor(&QbbSwitch::m_classes),
                          MakeStringChecker())
            .AddAttribute("TelemetryScope",
                          "Whose bytes telemetry reports: port (against the link) or queue (the frame's own, against the share "
                          "of the link that its class is sure of)",
                          StringValue("port"),
                          MakeStringAccessor(&QbbSwitch::m_telemetryScope),
                          MakeStringChecker())
            .AddAttribute("TelemetryQueue",
                          "What telemetry reports for a queue: length (bytes behind the frame) or sojourn (the time that the "
                          "frame spent here, as bytes of the link)",
                          StringValue("length"),
                          MakeStringAccessor(&QbbSwitch::m_telemetryQueue),
                          MakeStringChecker())
            .AddAttribute("StampTelemetry",
                          "Whether telemetry reports this hop; a switch that knows nothing of telemetry does not",
                          BooleanValue(true),
                          MakeBooleanAccessor(&QbbSwitch::m_stampTelemetry),
                          MakeBooleanChecker())
            .AddAttribute("PauseTime",
                          "Microseconds that a PFC pause says. No device counts them, but 0 makes every pause a resume, as a "
                          "pause time below 1 does in the reference simulator",
                          UintegerValue(5),
                          MakeUintegerAccessor(&QbbSwitch::m_pauseTime),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("Drop",
                            "A frame was dropped: no buffer, or no route",
                            MakeTraceSourceAccessor(&QbbSwitch::m_dropTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback");
    return tid;
}

QbbSwitch::QbbSwitch()
{
    NS_LOG_FUNCTION(this);
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
    m_fastCnp = nullptr;
    m_network.reset();
    QbbNode::DoDispose();
}

void
QbbSwitch::SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax)
{
    NS_LOG_FUNCTION(this << rate << kmin << kmax << pmax);
    m_ecnThresholds.push_back({rate.GetBitRate(), kmin, kmax, pmax});
}

uint32_t
QbbSwitch::GetQueuedBytes(uint16_t port) const
{
    return m_core->queued(port);
}

void
QbbSwitch::SampleQueues(hpcc::Results& results, std::size_t first) const
{
    results.sample_queues(first, *m_core, static_cast<uint16_t>(m_ports.size()));
}

void
QbbSwitch::TraceQueues(hpcc::Results& results, std::size_t first) const
{
    results.trace_queues(Simulator::Now().GetNanoSeconds(), first, *m_core, static_cast<uint16_t>(m_ports.size()));
}

uint64_t
QbbSwitch::GetDrops() const
{
    return m_drops;
}

uint64_t
QbbSwitch::GetUnroutable() const
{
    return m_unroutable;
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
    EnsureDraws();
    std::vector<hpcc::EcnThreshold> thresholds;
    for (const auto& port : m_ports)
    {
        const uint64_t rate = port->GetDataRate().GetBitRate();
        const auto own = std::find_if(m_ecnThresholds.begin(),
                                      m_ecnThresholds.end(),
                                      [rate](const EcnThreshold& t) { return t.rate == rate; });
        const double scale = static_cast<double>(rate) / ECN_REFERENCE_RATE;
        thresholds.push_back(own != m_ecnThresholds.end()
                                 ? hpcc::EcnThreshold{rate, own->kmin, own->kmax, own->pmax}
                                 : hpcc::EcnThreshold{rate,
                                                      static_cast<uint64_t>(m_ecnKmin * scale),
                                                      static_cast<uint64_t>(m_ecnKmax * scale),
                                                      m_ecnPmax});
    }
    m_fastCnp = GetObject<FastCnpSwitch>();
    if (m_fastCnp && !m_fastCnp->Start(*network, *this, thresholds))
    {
        m_fastCnp = nullptr;
    }
    if (!m_ecn)
    {
        thresholds.clear();
    }
    const hpcc::Quirks quirks = GetQuirks();
    m_leakOnLinkDown = quirks.leak_buffer_on_link_down;
    hpcc::WireParameters wire = GetWire();
    if (!m_stampTelemetry)
    {
        wire.layout = "none";
    }
    const hpcc::QosParameters qos{m_classes, m_telemetryScope, m_telemetryQueue};
    const std::string error(hpcc::qos_error(qos));
    NS_ABORT_MSG_UNLESS(error.empty(), error);
    for (const auto& port : m_ports)
    {
        port->SetScheduler(m_classes.empty() ? nullptr : hpcc::new_scheduler(qos).into_raw());
    }
    m_notesArrival = hpcc::tells_arrival(wire) || m_telemetryQueue == "sojourn";
    m_core.reset(hpcc::new_switch(*network,
                                  m_index,
                                  {m_bufferBytes, m_lossy, m_lossyAlpha},
                                  {thresholds.data(), thresholds.size()},
                                  wire,
                                  qos,
                                  quirks)
                     .into_raw());
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
            m_draws->skip();
            SendPfc(*m_ports[frame->ingress], frame->priority, false);
        }
        ++m_drops;
        frame->Release();
    }
}

void
QbbSwitch::OnNewRoutes()
{
    NS_LOG_FUNCTION(this);
    hpcc::update_switch_routes(*m_network, m_index, *m_core);
}

void
QbbSwitch::Receive(QbbNetDevice& in, QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << &in << frame->size);
    if (m_fastCnp && !ReceiveWithFastCnp(in, frame))
    {
        return;
    }
    const hpcc::Arrival arrival =
        m_core->arrive(in.GetPortNumber(), frame->dst, KeyOf(*frame), frame->priority, frame->size);
    if (arrival.verdict != hpcc::Verdict::Forward)
    {
        Drop(frame, arrival.verdict == hpcc::Verdict::Overflow ? m_drops : m_unroutable);
        return;
    }
    if (arrival.pause)
    {
        m_draws->skip();
        SendPfc(in, frame->priority, m_pauseTime > 0);
    }
    frame->ingress = in.GetPortNumber();
    if (m_notesArrival)
    {
        frame->arrived = in.GetNow();
    }
    --frame->hopLimit;
    QbbNetDevice& out = *m_ports[arrival.egress];
    out.Enqueue(frame, frame->priority);
    out.TrySend();
}

void
QbbSwitch::Drop(QbbFrame* frame, uint64_t& counter)
{
    NS_LOG_FUNCTION(this << frame->size);
    ++counter;
    m_dropTrace(*frame);
    frame->Release();
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

void
QbbSwitch::Depart(QbbNetDevice& out, QbbFrame& frame)
{
    const hpcc::DepartingFrame departing{
        frame.ingress,
        frame.priority,
        frame.CollectsTelemetry(),
        frame.hopLimit,
        frame.size,
        frame.telemetryBytes,
        out.GetQueuedBytes(),
        m_notesArrival ? frame.arrived : 0,
    };
    const hpcc::Departure departure = m_core->depart(out.GetPortNumber(),
                                                     out.GetNow(),
                                                     departing,
                                                     {frame.GetTelemetry(), frame.GetRoom()},
                                                     *m_draws);
    frame.size += departure.telemetry_bytes - frame.telemetryBytes;
    frame.telemetryBytes = departure.telemetry_bytes;
    frame.congestionMarked |= m_fastCnp ? DepartWithFastCnp(out, frame, departure.mark) : departure.mark;
    if (departure.resume)
    {
        m_draws->skip();
        SendPfc(*m_ports[frame.ingress], frame.priority, false);
    }
}

bool
QbbSwitch::DepartWithFastCnp(QbbNetDevice& out, const QbbFrame& frame, bool marked)
{
    bool mark = marked;
    if (frame.kind == QbbFrame::Kind::DATA)
    {
        const hpcc::FastCnpVerdict verdict = m_fastCnp->OnData(out, frame, marked, *m_draws);
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
    QbbFrame* frame = m_pool->Acquire();
    frame->priority = 0;
    frame->congestionMarked = false;
    frame->hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    frame->payload = 0;
    frame->ingress = 0;
    m_fastCnp->Fill(data, m_index, m_network->address(m_index), *frame);
    // Frames of priority 0 are not accounted for, and never refused.
    const hpcc::Arrival arrival = m_core->arrive(0, frame->dst, KeyOf(*frame), frame->priority, frame->size);
    QbbNetDevice* out = arrival.verdict == hpcc::Verdict::Forward ? PeekPointer(m_ports[arrival.egress]) : nullptr;
    if (!out || !m_fastCnp->Passes(*out, *frame, false))
    {
        Drop(frame, m_unroutable);
        return;
    }
    out->Enqueue(frame, frame->priority);
    out->TrySend();
}

bool
QbbSwitch::ReceiveWithFastCnp(QbbNetDevice& in, QbbFrame* frame)
{
    if (frame->kind == QbbFrame::Kind::FAST_CNP)
    {
        const hpcc::Arrival arrival = m_core->arrive(in.GetPortNumber(), frame->dst, KeyOf(*frame), 0, frame->size);
        const bool isForwarded = arrival.verdict == hpcc::Verdict::Forward;
        if (!m_fastCnp->Passes(in, *frame, true) ||
            (isForwarded && !m_fastCnp->Passes(*m_ports[arrival.egress], *frame, false)))
        {
            m_dropTrace(*frame);
            frame->Release();
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
