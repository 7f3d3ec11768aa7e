/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What a user can set on an RdmaHost: one function for each group of attributes. Defaults of the algorithms are
// those of the core (`hpcc_core::cc`).

#include "core-parameters.h"
#include "rdma-host.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <limits>

namespace ns3
{

TypeId
RdmaHost::GetTypeId()
{
    static TypeId tid = [] {
        TypeId type =
            TypeId("ns3::RdmaHost")
                .SetParent<QbbNode>()
                .SetGroupName("Hpcc")
                .AddConstructor<RdmaHost>()
                .AddAttribute("CongestionControl",
                              "Congestion control of flows that start here: hpcc (the reference's rate form), hpcc_plus "
                              "(the drafts' window form), rx_hpcc (the same at the receiver), hpcc_pint, dcqcn, timely, "
                              "dctcp or none",
                              StringValue("hpcc"),
                              MakeStringAccessor(&RdmaHost::m_congestionControl),
                              MakeStringChecker())
                .AddAttribute("CongestionNotification",
                              "In what marks of frames that arrive here come back: ack (acknowledgements echo them) or "
                              "cnp (a congestion notification packet, once in the notification interval of the sender's "
                              "DCQCN, and once in 50 us under other algorithms)",
                              StringValue("ack"),
                              MakeStringAccessor(&RdmaHost::m_congestionNotification),
                              MakeStringChecker())
                .AddTraceSource("FlowStart",
                                "A flow begins",
                                MakeTraceSourceAccessor(&RdmaHost::m_startTrace),
                                "ns3::RdmaHost::FlowTracedCallback")
                .AddTraceSource("FlowFinish",
                                "A flow's last acknowledgement has arrived",
                                MakeTraceSourceAccessor(&RdmaHost::m_finishTrace),
                                "ns3::RdmaHost::FlowTracedCallback");
        type = AddHpccAttributes(type);
        type = AddDcqcnAttributes(type);
        type = AddTimelyAttributes(type);
        type = AddDctcpAttributes(type);
        type = AddFeedbackAttributes(type);
        return AddTransportAttributes(type);
    }();
    return tid;
}

TypeId
RdmaHost::AddHpccAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Eta",
                      "HPCC, HPCC++, HPCC-PINT: target utilisation",
                      DoubleValue(0.95),
                      MakeDoubleAccessor(&RdmaHost::m_eta),
                      MakeDoubleChecker<double>(std::numeric_limits<double>::min(), 2))
        .AddAttribute("MaxStage",
                      "HPCC, HPCC++, HPCC-PINT: rounds of additive increase before a multiplicative step",
                      UintegerValue(5),
                      MakeUintegerAccessor(&RdmaHost::m_maxStage),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("AdditiveIncrease",
                      "HPCC, HPCC-PINT: W_ai as a rate",
                      DataRateValue(DataRate("50Mbps")),
                      MakeDataRateAccessor(&RdmaHost::m_additiveIncrease),
                      MakeDataRateChecker())
        .AddAttribute("MinRate",
                      "HPCC, HPCC++, HPCC-PINT: the rate never falls below this",
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
        .AddAttribute("ExpectedFlows",
                      "HPCC++: flows that share a link, of which W_ai follows; 0 for WindowIncrease",
                      UintegerValue(100),
                      MakeUintegerAccessor(&RdmaHost::m_expectedFlows),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("WindowIncrease",
                      "HPCC++: W_ai in bytes, if ExpectedFlows is 0",
                      UintegerValue(80),
                      MakeUintegerAccessor(&RdmaHost::m_windowIncrease),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("CountFlows",
                      "Rx-HPCC: the receiver counts the flows of which W_ai follows",
                      BooleanValue(false),
                      MakeBooleanAccessor(&RdmaHost::m_countFlows),
                      MakeBooleanChecker())
        .AddAttribute("PintProbability",
                      "HPCC-PINT: probability that an acknowledgement is looked at",
                      DoubleValue(1),
                      MakeDoubleAccessor(&RdmaHost::m_pintProbability),
                      MakeDoubleChecker<double>(1.0 / 65536, 1));
}

TypeId
RdmaHost::AddFeedbackAttributes(TypeId tid)
{
    return tid
        .AddAttribute("TelemetryPackets",
                      "Packets of flows that start here which collect telemetry: all, nth, rtt (once in T), congestion (the "
                      "same, and all for one T after the flow slowed down), probes (packets of their own, once in T) or none",
                      StringValue("all"),
                      MakeStringAccessor(&RdmaHost::m_telemetryPackets),
                      MakeStringChecker())
        .AddAttribute("TelemetryEvery",
                      "With TelemetryPackets nth: one packet in so many",
                      UintegerValue(8),
                      MakeUintegerAccessor(&RdmaHost::m_telemetryEvery),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("TelemetryAnswer",
                      "What goes back for telemetry: records (all), busiest_link (one record) or loads (one byte for each link); "
                      "the same at all hosts",
                      StringValue("records"),
                      MakeStringAccessor(&RdmaHost::m_telemetryAnswer),
                      MakeStringChecker())
        .AddAttribute("TelemetryFeedback",
                      "In what it goes back: ack (the next acknowledgement) or notification (a packet of its own); the same at "
                      "all hosts",
                      StringValue("ack"),
                      MakeStringAccessor(&RdmaHost::m_telemetryFeedback),
                      MakeStringChecker())
        .AddAttribute("TelemetryGuard",
                      "Reject telemetry that cannot be true",
                      BooleanValue(false),
                      MakeBooleanAccessor(&RdmaHost::m_telemetryGuard),
                      MakeBooleanChecker())
        .AddAttribute("TelemetrySeal",
                      "Key with which receivers seal what goes back, 32 hexadecimal digits, or nothing; the same at all hosts",
                      StringValue(""),
                      MakeStringAccessor(&RdmaHost::m_telemetrySeal),
                      MakeStringChecker())
        .AddAttribute("TelemetryPaths",
                      "Paths, by UDP source ports, that a flow chooses from by telemetry; 1: it stays on its own. The same at all "
                      "hosts",
                      UintegerValue(1),
                      MakeUintegerAccessor(&RdmaHost::m_telemetryPaths),
                      MakeUintegerChecker<uint8_t>(1, 8))
        .AddAttribute("TelemetryPathInterval",
                      "Time between two probes of other paths, in base round-trip times",
                      UintegerValue(5),
                      MakeUintegerAccessor(&RdmaHost::m_telemetryPathInterval),
                      MakeUintegerChecker<uint32_t>(1));
}

TypeId
RdmaHost::AddDcqcnAttributes(TypeId tid)
{
    return tid
        .AddAttribute("DcqcnGain",
                      "DCQCN: weight of the newest interval in alpha",
                      DoubleValue(1.0 / 256),
                      MakeDoubleAccessor(&RdmaHost::m_dcqcnGain),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("DcqcnAlphaInterval",
                      "DCQCN: time between two updates of alpha",
                      TimeValue(MicroSeconds(1)),
                      MakeTimeAccessor(&RdmaHost::m_dcqcnAlphaInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("DcqcnDecreaseInterval",
                      "DCQCN: least time between two decreases",
                      TimeValue(MicroSeconds(4)),
                      MakeTimeAccessor(&RdmaHost::m_dcqcnDecreaseInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("DcqcnIncreaseInterval",
                      "DCQCN: time between two increases",
                      TimeValue(MicroSeconds(300)),
                      MakeTimeAccessor(&RdmaHost::m_dcqcnIncreaseInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("DcqcnFastRecovery",
                      "DCQCN: increases after a decrease that leave the target as it is",
                      UintegerValue(1),
                      MakeUintegerAccessor(&RdmaHost::m_dcqcnFastRecovery),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("DcqcnAdditiveIncrease",
                      "DCQCN: added to the target after fast recovery",
                      DataRateValue(DataRate("20Mbps")),
                      MakeDataRateAccessor(&RdmaHost::m_dcqcnAdditiveIncrease),
                      MakeDataRateChecker())
        .AddAttribute("DcqcnHyperIncrease",
                      "DCQCN: added to the target by each further increase",
                      DataRateValue(DataRate("200Mbps")),
                      MakeDataRateAccessor(&RdmaHost::m_dcqcnHyperIncrease),
                      MakeDataRateChecker())
        .AddAttribute("DcqcnClampTarget",
                      "DCQCN: every decrease makes the old rate the target",
                      BooleanValue(false),
                      MakeBooleanAccessor(&RdmaHost::m_dcqcnClampTarget),
                      MakeBooleanChecker())
        .AddAttribute("DcqcnNotificationInterval",
                      "DCQCN: least time between two notifications of a receiver for marked packets of one flow",
                      TimeValue(MicroSeconds(50)),
                      MakeTimeAccessor(&RdmaHost::m_dcqcnNotificationInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("DcqcnMinRate",
                      "DCQCN: the rate never falls below this",
                      DataRateValue(DataRate("1Gbps")),
                      MakeDataRateAccessor(&RdmaHost::m_dcqcnMinRate),
                      MakeDataRateChecker());
}

TypeId
RdmaHost::AddTimelyAttributes(TypeId tid)
{
    return tid
        .AddAttribute("TimelyAdditiveIncrease",
                      "TIMELY: added to the rate by the first increases in a row",
                      DataRateValue(DataRate("100Mbps")),
                      MakeDataRateAccessor(&RdmaHost::m_timelyAdditiveIncrease),
                      MakeDataRateChecker())
        .AddAttribute("TimelyHyperIncrease",
                      "TIMELY: added by each further increase",
                      DataRateValue(DataRate("500Mbps")),
                      MakeDataRateAccessor(&RdmaHost::m_timelyHyperIncrease),
                      MakeDataRateChecker())
        .AddAttribute("TimelyHyperAfter",
                      "TIMELY: increases in a row before TimelyHyperIncrease takes over",
                      UintegerValue(5),
                      MakeUintegerAccessor(&RdmaHost::m_timelyHyperAfter),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("TimelyMinRate",
                      "TIMELY: the rate never falls below this",
                      DataRateValue(DataRate("1Gbps")),
                      MakeDataRateAccessor(&RdmaHost::m_timelyMinRate),
                      MakeDataRateChecker())
        .AddAttribute("TimelyWeight",
                      "TIMELY: weight of the newest difference of round-trip times",
                      DoubleValue(0.875),
                      MakeDoubleAccessor(&RdmaHost::m_timelyWeight),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("TimelyDecrease",
                      "TIMELY: factor of a decrease",
                      DoubleValue(0.8),
                      MakeDoubleAccessor(&RdmaHost::m_timelyDecrease),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("TimelyLow",
                      "TIMELY: below this round-trip time the rate only grows",
                      TimeValue(MicroSeconds(50)),
                      MakeTimeAccessor(&RdmaHost::m_timelyLow),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("TimelyHigh",
                      "TIMELY: above this round-trip time the rate only falls",
                      TimeValue(MicroSeconds(500)),
                      MakeTimeAccessor(&RdmaHost::m_timelyHigh),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("TimelyMinRtt",
                      "TIMELY: the round-trip time that differences are measured against",
                      TimeValue(MicroSeconds(20)),
                      MakeTimeAccessor(&RdmaHost::m_timelyMinRtt),
                      MakeTimeChecker(NanoSeconds(1)));
}

TypeId
RdmaHost::AddDctcpAttributes(TypeId tid)
{
    return tid
        .AddAttribute("DctcpGain",
                      "DCTCP: weight of the newest fraction in alpha",
                      DoubleValue(1.0 / 16),
                      MakeDoubleAccessor(&RdmaHost::m_dctcpGain),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("DctcpAdditiveIncrease",
                      "DCTCP: added to the rate in a round trip without a cut",
                      DataRateValue(DataRate("615Mbps")),
                      MakeDataRateAccessor(&RdmaHost::m_dctcpAdditiveIncrease),
                      MakeDataRateChecker())
        .AddAttribute("DctcpMinRate",
                      "DCTCP: the rate never falls below this",
                      DataRateValue(DataRate("1Gbps")),
                      MakeDataRateAccessor(&RdmaHost::m_dctcpMinRate),
                      MakeDataRateChecker());
}

TypeId
RdmaHost::AddTransportAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Mtu",
                      "Most payload bytes in a packet",
                      UintegerValue(1000),
                      MakeUintegerAccessor(&RdmaHost::m_mtu),
                      MakeUintegerChecker<uint32_t>(1, 9000))
        .AddAttribute("Recovery",
                      "After a loss: go_back_n resumes at the missing byte, go_back_zero at the last multiple of "
                      "Chunk, selective_repeat sends only what is missing and always bounds the bytes in flight",
                      StringValue("go_back_n"),
                      MakeStringAccessor(&RdmaHost::m_recovery),
                      MakeStringChecker())
        .AddAttribute("Timeout",
                      "Time without progress after which bytes in flight are sent again; 0: never",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&RdmaHost::m_timeout),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("TimeoutLow",
                      "The same while at most TimeoutLowPackets are in flight",
                      TimeValue(MicroSeconds(100)),
                      MakeTimeAccessor(&RdmaHost::m_timeoutLow),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("TimeoutLowPackets",
                      "Most packets in flight for which TimeoutLow holds; 0: it never does",
                      UintegerValue(0),
                      MakeUintegerAccessor(&RdmaHost::m_timeoutLowPackets),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("TimeoutBaseRtts",
                      "Base round-trip times that are added to both timeouts",
                      UintegerValue(0),
                      MakeUintegerAccessor(&RdmaHost::m_timeoutBaseRtts),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("TimeoutBackOff",
                      "Double the timeout each time that it expires in a row, up to 64-fold",
                      BooleanValue(true),
                      MakeBooleanAccessor(&RdmaHost::m_timeoutBackOff),
                      MakeBooleanChecker())
        .AddAttribute("AckEvery",
                      "Bytes after which the sender asks for an acknowledgement, at least twice in a window and with "
                      "its last packet; 0: the receiver goes by AckInterval",
                      UintegerValue(0),
                      MakeUintegerAccessor(&RdmaHost::m_ackEvery),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("Chunk",
                      "Granularity of go_back_zero in bytes",
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
                      "Priority in which this host's acknowledgements travel, and whose pause stops them; 0 is the switches' queue "
                      "ahead of all others, which is never paused and takes no share of the buffer",
                      UintegerValue(3),
                      MakeUintegerAccessor(&RdmaHost::m_ackPriority),
                      MakeUintegerChecker<uint8_t>(0, 7));
}

hpcc::FeedbackParameters
RdmaHost::GetFeedback() const
{
    return {m_telemetryPackets,
            m_telemetryEvery,
            m_telemetryAnswer,
            m_telemetryFeedback,
            m_telemetryGuard,
            m_telemetrySeal,
            m_telemetryPaths,
            m_telemetryPathInterval};
}

hpcc::ControlParameters
RdmaHost::GetControl() const
{
    const auto rate = [](const DataRate& value) { return value.GetBitRate(); };
    const auto nanos = [](const Time& value) { return static_cast<uint64_t>(value.GetNanoSeconds()); };
    return {
        MakeAlgorithmKind(m_congestionControl),
        {m_eta, m_maxStage, rate(m_additiveIncrease), rate(m_minRate), m_fastReact, m_multiRate, m_sampledFeedback},
        {m_eta, m_maxStage, m_expectedFlows, m_windowIncrease, rate(m_minRate), m_countFlows},
        {m_eta, m_maxStage, rate(m_additiveIncrease), rate(m_minRate), m_pintProbability},
        {
            m_dcqcnGain,
            nanos(m_dcqcnAlphaInterval),
            nanos(m_dcqcnDecreaseInterval),
            nanos(m_dcqcnIncreaseInterval),
            m_dcqcnFastRecovery,
            rate(m_dcqcnAdditiveIncrease),
            rate(m_dcqcnHyperIncrease),
            m_dcqcnClampTarget,
            nanos(m_dcqcnNotificationInterval),
            rate(m_dcqcnMinRate),
        },
        {
            rate(m_timelyAdditiveIncrease),
            rate(m_timelyHyperIncrease),
            m_timelyHyperAfter,
            rate(m_timelyMinRate),
            m_timelyWeight,
            m_timelyDecrease,
            nanos(m_timelyLow),
            nanos(m_timelyHigh),
            nanos(m_timelyMinRtt),
        },
        {m_dctcpGain, rate(m_dctcpAdditiveIncrease), rate(m_dctcpMinRate)},
    };
}

} // namespace ns3
