/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-switch.h"

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-frame.h"
#include "qbb-net-device.h"
#include "qbb-node.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FastCnpSwitch");

NS_OBJECT_ENSURE_REGISTERED(FastCnpSwitch);

namespace
{

/// The rate for which the attributes of the queue hold; other ports scale them.
constexpr uint64_t REFERENCE_RATE = 100'000'000'000;
/// The experimental option type of RFC 4727 whose upper bits are 100.
constexpr uint8_t EXPERIMENTAL_OPTION = 0x9e;

} // namespace

TypeId
FastCnpSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FastCnpSwitch")
            .SetParent<Object>()
            .SetGroupName("Hpcc")
            .AddConstructor<FastCnpSwitch>()
            .AddAttribute("Enabled",
                          "Whether the switch notifies senders of frames that meet congestion; needs WireProfile "
                          "rocev2_ipv6",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FastCnpSwitch::m_enabled),
                          MakeBooleanChecker())
            .AddAttribute("Trigger",
                          "What congestion is: queue (a queue for which a frame would be marked) or utilisation (a U of "
                          "the port above Bound)",
                          StringValue("queue"),
                          MakeStringAccessor(&FastCnpSwitch::m_trigger),
                          MakeStringChecker())
            .AddAttribute("Kmin",
                          "With Trigger queue: bytes up to which nobody is notified, for a port of 100 Gb/s; other ports "
                          "scale it with their rate",
                          UintegerValue(400'000),
                          MakeUintegerAccessor(&FastCnpSwitch::m_kmin),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Kmax",
                          "Bytes above which every frame counts, likewise; 0: the switch's ECN thresholds hold here too",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FastCnpSwitch::m_kmax),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Pmax",
                          "Probability that a frame counts at Kmax",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&FastCnpSwitch::m_pmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Bound",
                          "With Trigger utilisation: U above which senders are notified",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&FastCnpSwitch::m_bound),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("FlowInterval",
                          "Least time between two notifications of a port about one flow",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&FastCnpSwitch::m_flowInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PortInterval",
                          "Mean time between two notifications of a port",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&FastCnpSwitch::m_portInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PortBurst",
                          "Notifications that a port may send at once",
                          UintegerValue(16),
                          MakeUintegerAccessor(&FastCnpSwitch::m_portBurst),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MarkUnknown",
                          "Whether frames are ECN-marked as well while it is not known if their sender understands "
                          "notifications",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FastCnpSwitch::m_markUnknown),
                          MakeBooleanChecker())
            .AddAttribute("Domain",
                          "Senders that may be notified: none, all, hosts, switches, or numbers and ranges of nodes",
                          StringValue("hosts"),
                          MakeStringAccessor(&FastCnpSwitch::m_domain),
                          MakeStringChecker())
            .AddAttribute("Capable",
                          "Senders of which the switch knows that they understand notifications, so that it never marks "
                          "their frames; as Domain",
                          StringValue("hosts"),
                          MakeStringAccessor(&FastCnpSwitch::m_capable),
                          MakeStringChecker())
            .AddAttribute("OptionType",
                          "Type of option 1, the original destination; its upper bits must be 100",
                          UintegerValue(EXPERIMENTAL_OPTION),
                          MakeUintegerAccessor(&FastCnpSwitch::m_optionType),
                          MakeUintegerChecker<uint8_t>())
            .AddAttribute("TraceOptionType",
                          "Type of option 2, which copies an IOAM trace besides; likewise",
                          UintegerValue(EXPERIMENTAL_OPTION),
                          MakeUintegerAccessor(&FastCnpSwitch::m_traceOptionType),
                          MakeUintegerChecker<uint8_t>())
            .AddTraceSource("Sent",
                            "A notification is sent",
                            MakeTraceSourceAccessor(&FastCnpSwitch::m_sentTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("Withheld",
                            "A frame met congestion, but its sender is not notified",
                            MakeTraceSourceAccessor(&FastCnpSwitch::m_withheldTrace),
                            "ns3::FastCnpSwitch::WithheldTracedCallback")
            .AddTraceSource("Learnt",
                            "A sender said that it does not understand notifications",
                            MakeTraceSourceAccessor(&FastCnpSwitch::m_learntTrace),
                            "ns3::FastCnpSwitch::LearntTracedCallback")
            .AddTraceSource("BorderDrop",
                            "A notification was dropped at the edge of the domain",
                            MakeTraceSourceAccessor(&FastCnpSwitch::m_borderTrace),
                            "ns3::FastCnpSwitch::BorderTracedCallback");
    return tid;
}

FastCnpSwitch::FastCnpSwitch()
{
    NS_LOG_FUNCTION(this);
}

FastCnpSwitch::~FastCnpSwitch()
{
    NS_LOG_FUNCTION(this);
}

void
FastCnpSwitch::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_core.reset();
    m_serializer.reset();
    Object::DoDispose();
}

bool
FastCnpSwitch::IsEnabled() const
{
    return m_enabled;
}

void
FastCnpSwitch::SetBorder(uint16_t port)
{
    NS_LOG_FUNCTION(this << port);
    m_borders.insert(port);
}

std::vector<hpcc::EcnThreshold>
FastCnpSwitch::Scale(const std::vector<hpcc::EcnThreshold>& thresholds) const
{
    if (m_kmax == 0)
    {
        return thresholds;
    }
    std::vector<hpcc::EcnThreshold> scaled;
    for (const auto& port : thresholds)
    {
        const double scale = static_cast<double>(port.rate_bps) / REFERENCE_RATE;
        scaled.push_back({port.rate_bps,
                          static_cast<uint64_t>(m_kmin * scale),
                          static_cast<uint64_t>(m_kmax * scale),
                          m_pmax});
    }
    return scaled;
}

bool
FastCnpSwitch::Start(const hpcc::Network& network,
                     const QbbNode& node,
                     const std::vector<hpcc::EcnThreshold>& ecn)
{
    NS_LOG_FUNCTION(this);
    if (!m_enabled && m_borders.empty())
    {
        return false;
    }
    NS_ABORT_MSG_IF(m_kmax != 0 && m_kmin > m_kmax, "Kmin is " << m_kmin << ", more than Kmax, " << m_kmax);
    const hpcc::FastCnpSwitchParameters parameters{
        m_enabled,
        m_trigger,
        m_bound,
        static_cast<uint64_t>(m_flowInterval.GetNanoSeconds()),
        static_cast<uint64_t>(m_portInterval.GetNanoSeconds()),
        m_portBurst,
        m_markUnknown,
        m_domain,
        m_capable,
        m_optionType,
        m_traceOptionType,
    };
    const std::vector<hpcc::EcnThreshold> thresholds = Scale(ecn);
    const rust::Slice<const hpcc::EcnThreshold> slice{thresholds.data(), thresholds.size()};
    const hpcc::WireParameters wire = node.GetWire();
    const std::string error(hpcc::fast_cnp_switch_error(network, parameters, slice, wire));
    NS_ABORT_MSG_UNLESS(error.empty(), error);
    m_core.reset(hpcc::new_fast_cnp_switch(network, node.GetIndex(), parameters, slice, wire).into_raw());
    for (const auto& reason : hpcc::fast_cnp_withheld())
    {
        m_reasons.emplace_back(reason);
    }
    if (!m_borders.empty())
    {
        m_serializer = std::make_unique<FrameSerializer>(wire);
    }
    return true;
}

hpcc::FastCnpVerdict
FastCnpSwitch::OnData(const QbbNetDevice& out, const QbbFrame& frame, bool marked, hpcc::Draws& draws)
{
    if (!m_enabled)
    {
        return {false, marked, -1};
    }
    const hpcc::FastCnpDeparture departure{frame.srcAddress,
                                           frame.dstAddress,
                                           frame.queuePair,
                                           out.GetQueuedBytes(frame.priority),
                                           marked};
    const hpcc::FastCnpVerdict verdict = m_core->on_data(out.GetPortNumber(), out.GetNow(), departure, draws);
    if (verdict.withheld >= 0 && !m_withheldTrace.IsEmpty())
    {
        m_withheldTrace(frame, m_reasons[verdict.withheld]);
    }
    return verdict;
}

void
FastCnpSwitch::OnSent(const QbbNetDevice& out, const QbbFrame& frame)
{
    m_core->on_sent(out.GetPortNumber(), out.GetNow(), frame.size);
}

void
FastCnpSwitch::Fill(const QbbFrame& data, uint32_t node, uint32_t address, QbbFrame& notification)
{
    NS_LOG_FUNCTION(this << data.queuePair);
    notification.kind = QbbFrame::Kind::FAST_CNP;
    notification.src = node;
    notification.srcAddress = address;
    notification.dst = data.src;
    notification.dstAddress = data.srcAddress;
    notification.sport = data.sport;
    notification.dport = data.dport;
    notification.queuePair = data.queuePair;
    notification.replyQueuePair = 0;
    notification.seq = 0;
    notification.flowBytes = 0;
    notification.mtu = data.mtu;
    notification.telemetryBytes =
        static_cast<uint16_t>(m_core->write_options(data.dstAddress,
                                                    {data.GetTelemetry(), data.telemetryBytes},
                                                    {notification.GetTelemetry(), notification.GetRoom()}));
    notification.size = m_core->notification_bytes(notification.telemetryBytes);
    m_sentTrace(notification);
}

void
FastCnpSwitch::Receive(const QbbFrame& frame)
{
    NS_LOG_FUNCTION(this << frame.size);
    if (frame.kind == QbbFrame::Kind::ICMPV6 &&
        m_core->learn(frame.receiver->GetNow(), {frame.GetTelemetry(), frame.telemetryBytes}))
    {
        m_learntTrace(frame.src);
    }
}

bool
FastCnpSwitch::Passes(const QbbNetDevice& port, const QbbFrame& frame, bool inbound)
{
    if (!m_borders.count(port.GetPortNumber()))
    {
        return true;
    }
    // As on the wire: the border knows a notification by its option, not by what the simulation calls it.
    const Ptr<Packet> packet = m_serializer->Serialize(frame, Mac48Address(), Mac48Address());
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    const bool passes = m_core->passes({bytes.data(), bytes.size()}, inbound);
    if (!passes)
    {
        m_borderTrace(frame, inbound);
    }
    return passes;
}

hpcc::FastCnpCounters
FastCnpSwitch::GetCounters() const
{
    return m_core ? m_core->counters() : hpcc::FastCnpCounters{};
}

uint64_t
FastCnpSwitch::GetSent() const
{
    return GetCounters().sent;
}

uint64_t
FastCnpSwitch::GetBorderDrops() const
{
    const hpcc::FastCnpCounters counters = GetCounters();
    return counters.dropped_inbound + counters.dropped_outbound;
}

} // namespace ns3
