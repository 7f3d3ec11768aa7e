/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-attributes.h"

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-helper.h"

#include "ns3/boolean.h"
#include "../model/core-parameters.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/qbb-node.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/**
 * \brief Set the attributes of HPCC.
 * \param p the parameters
 * \param network the network
 */
void
SetControl(const hpcc::HpccParameters& p, QbbHelper& network)
{
    network.SetHostAttribute("Eta", DoubleValue(p.eta));
    network.SetHostAttribute("MaxStage", UintegerValue(p.max_stage));
    network.SetHostAttribute("AdditiveIncrease", DataRateValue(DataRate(p.additive_increase_bps)));
    network.SetHostAttribute("MinRate", DataRateValue(DataRate(p.min_rate_bps)));
    network.SetHostAttribute("FastReact", BooleanValue(p.fast_react));
    network.SetHostAttribute("MultiRate", BooleanValue(p.multi_rate));
    network.SetHostAttribute("SampledFeedback", BooleanValue(p.sampled_feedback));
}

/**
 * \brief Set the attributes of HPCC++.
 * \param p the parameters
 * \param network the network
 */
void
SetControl(const hpcc::HpccPlusParameters& p, QbbHelper& network)
{
    network.SetHostAttribute("Eta", DoubleValue(p.eta));
    network.SetHostAttribute("MaxStage", UintegerValue(p.max_stage));
    network.SetHostAttribute("ExpectedFlows", UintegerValue(p.expected_flows));
    network.SetHostAttribute("WindowIncrease", UintegerValue(p.additive_increase_bytes));
    network.SetHostAttribute("CountFlows", BooleanValue(p.count_flows));
    network.SetHostAttribute("MinRate", DataRateValue(DataRate(p.min_rate_bps)));
}

/**
 * \brief Set the attributes of HPCC-PINT.
 * \param p the parameters
 * \param network the network
 */
void
SetControl(const hpcc::HpccPintParameters& p, QbbHelper& network)
{
    network.SetHostAttribute("Eta", DoubleValue(p.eta));
    network.SetHostAttribute("MaxStage", UintegerValue(p.max_stage));
    network.SetHostAttribute("AdditiveIncrease", DataRateValue(DataRate(p.additive_increase_bps)));
    network.SetHostAttribute("MinRate", DataRateValue(DataRate(p.min_rate_bps)));
    network.SetHostAttribute("PintProbability", DoubleValue(p.sample_probability));
}

/**
 * \brief Set the attributes of DCQCN.
 * \param p the parameters
 * \param network the network
 */
void
SetControl(const hpcc::DcqcnParameters& p, QbbHelper& network)
{
    network.SetHostAttribute("DcqcnGain", DoubleValue(p.gain));
    network.SetHostAttribute("DcqcnAlphaInterval", TimeValue(NanoSeconds(p.alpha_interval_ns)));
    network.SetHostAttribute("DcqcnDecreaseInterval", TimeValue(NanoSeconds(p.decrease_interval_ns)));
    network.SetHostAttribute("DcqcnIncreaseInterval", TimeValue(NanoSeconds(p.increase_interval_ns)));
    network.SetHostAttribute("DcqcnFastRecovery", UintegerValue(p.fast_recovery));
    network.SetHostAttribute("DcqcnAdditiveIncrease", DataRateValue(DataRate(p.additive_increase_bps)));
    network.SetHostAttribute("DcqcnHyperIncrease", DataRateValue(DataRate(p.hyper_increase_bps)));
    network.SetHostAttribute("DcqcnClampTarget", BooleanValue(p.clamp_target));
    network.SetHostAttribute("DcqcnNotificationInterval", TimeValue(NanoSeconds(p.notification_interval_ns)));
    network.SetHostAttribute("DcqcnMinRate", DataRateValue(DataRate(p.min_rate_bps)));
}

/**
 * \brief Set the attributes of TIMELY.
 * \param p the parameters
 * \param network the network
 */
void
SetControl(const hpcc::TimelyParameters& p, QbbHelper& network)
{
    network.SetHostAttribute("TimelyAdditiveIncrease", DataRateValue(DataRate(p.additive_increase_bps)));
    network.SetHostAttribute("TimelyHyperIncrease", DataRateValue(DataRate(p.hyper_increase_bps)));
    network.SetHostAttribute("TimelyHyperAfter", UintegerValue(p.hyper_after));
    network.SetHostAttribute("TimelyMinRate", DataRateValue(DataRate(p.min_rate_bps)));
    network.SetHostAttribute("TimelyWeight", DoubleValue(p.weight));
    network.SetHostAttribute("TimelyDecrease", DoubleValue(p.decrease));
    network.SetHostAttribute("TimelyLow", TimeValue(NanoSeconds(p.low_ns)));
    network.SetHostAttribute("TimelyHigh", TimeValue(NanoSeconds(p.high_ns)));
    network.SetHostAttribute("TimelyMinRtt", TimeValue(NanoSeconds(p.min_rtt_ns)));
}

/**
 * \brief Set the attributes of DCTCP.
 * \param p the parameters
 * \param network the network
 */
void
SetControl(const hpcc::DctcpParameters& p, QbbHelper& network)
{
    network.SetHostAttribute("DctcpGain", DoubleValue(p.gain));
    network.SetHostAttribute("DctcpAdditiveIncrease", DataRateValue(DataRate(p.additive_increase_bps)));
    network.SetHostAttribute("DctcpMinRate", DataRateValue(DataRate(p.min_rate_bps)));
}

/**
 * \brief Set the algorithm and its attributes.
 * \param control the algorithm and its parameters
 * \param network the network
 */
void
SetControl(const hpcc::ControlParameters& control, QbbHelper& network)
{
    network.SetHostAttribute("CongestionControl", StringValue(NameOf(control.algorithm)));
    switch (control.algorithm)
    {
    case hpcc::AlgorithmKind::Hpcc:
        SetControl(control.hpcc, network);
        break;
    case hpcc::AlgorithmKind::HpccPlus:
    case hpcc::AlgorithmKind::RxHpcc:
        SetControl(control.hpcc_plus, network);
        break;
    case hpcc::AlgorithmKind::HpccPint:
        SetControl(control.hpcc_pint, network);
        break;
    case hpcc::AlgorithmKind::Dcqcn:
        SetControl(control.dcqcn, network);
        break;
    case hpcc::AlgorithmKind::Timely:
        SetControl(control.timely, network);
        break;
    case hpcc::AlgorithmKind::Dctcp:
        SetControl(control.dctcp, network);
        break;
    default:
        break;
    }
}

/**
 * \brief Set the attributes of the retransmission timeout.
 * \param timeout the timeout
 * \param network the network
 */
void
SetTimeout(const hpcc::TimeoutParameters& timeout, QbbHelper& network)
{
    network.SetHostAttribute("Timeout", TimeValue(NanoSeconds(timeout.enabled ? timeout.high_ns : 0)));
    network.SetHostAttribute("TimeoutLow", TimeValue(NanoSeconds(timeout.low_ns)));
    network.SetHostAttribute("TimeoutLowPackets", UintegerValue(timeout.few));
    network.SetHostAttribute("TimeoutBaseRtts", UintegerValue(timeout.base_rtts));
    network.SetHostAttribute("TimeoutBackOff", BooleanValue(timeout.back_off));
}

/**
 * \brief Set the attributes of telemetry's way back.
 * \param feedback the way
 * \param network the network
 */
void
SetFeedback(const hpcc::FeedbackParameters& feedback, QbbHelper& network)
{
    network.SetHostAttribute("TelemetryPackets", StringValue(std::string(feedback.packets)));
    network.SetHostAttribute("TelemetryEvery", UintegerValue(feedback.every));
    network.SetHostAttribute("TelemetryAnswer", StringValue(std::string(feedback.answer)));
    network.SetHostAttribute("TelemetryFeedback", StringValue(std::string(feedback.by)));
    network.SetHostAttribute("TelemetryGuard", BooleanValue(feedback.guard));
    network.SetHostAttribute("TelemetrySeal", StringValue(std::string(feedback.seal)));
    network.SetHostAttribute("TelemetryPaths", UintegerValue(feedback.paths));
    network.SetHostAttribute("TelemetryPathInterval", UintegerValue(feedback.path_interval));
}

} // namespace

void
SetScenarioAttributes(const hpcc::Scenario& scenario, QbbHelper& network)
{
    network.SetReferenceFaults(std::string(scenario.reference_faults()));
    const hpcc::TransportParameters transport = scenario.transport();
    network.SetHostAttribute("Mtu", UintegerValue(transport.mtu));
    network.SetHostAttribute("Recovery", StringValue(NameOf(transport.recovery)));
    network.SetHostAttribute("Chunk", UintegerValue(transport.chunk));
    network.SetHostAttribute("AckInterval", UintegerValue(transport.ack_interval));
    network.SetHostAttribute("AckEvery", UintegerValue(transport.ack_every));
    network.SetHostAttribute("NackInterval", TimeValue(NanoSeconds(transport.nack_interval_ns)));
    SetTimeout(transport.timeout, network);
    network.SetHostAttribute("Window", BooleanValue(transport.window));
    network.SetHostAttribute("VariableWindow", BooleanValue(transport.variable_window));
    network.SetHostAttribute("GlobalRtt", BooleanValue(transport.global_rtt));
    network.SetHostAttribute("RateBound", BooleanValue(transport.rate_bound));
    network.SetHostAttribute("AckPriority", UintegerValue(transport.ack_priority));
    network.SetHostAttribute("CongestionNotification", StringValue(NameOf(transport.notification)));

    SetControl(scenario.control(), network);
    SetFeedback(scenario.feedback(), network);
    const hpcc::WireParameters wire = scenario.wire();
    network.SetWireProfile(std::string(wire.profile));
    network.SetDeviceAttribute("FrameGap", UintegerValue(scenario.frame_gap()));
    network.SetSwitchAttribute("PauseTime", UintegerValue(scenario.pause_time()));
    network.SetTelemetry(std::string(wire.layout), wire.multiplier, wire.log_base, wire.hops);
    const hpcc::QosParameters qos = scenario.qos();
    network.SetSwitchAttribute("Classes", StringValue(std::string(qos.classes)));
    network.SetSwitchAttribute("TelemetryScope", StringValue(std::string(qos.scope)));
    network.SetSwitchAttribute("TelemetryQueue", StringValue(std::string(qos.wait)));
    const hpcc::BufferParameters buffer = scenario.buffer();
    network.SetSwitchAttribute("BufferBytes", UintegerValue(buffer.bytes));
    network.SetSwitchAttribute("Lossy", BooleanValue(buffer.lossy));
    network.SetSwitchAttribute("LossyAlpha", DoubleValue(buffer.alpha));
    network.SetSwitchAttribute("Ecn", BooleanValue(scenario.ecn()));
}

void
SetLegacyAttributes(const hpcc::Scenario& scenario, const QbbHelper& network)
{
    for (const uint32_t index : scenario.legacy_nodes())
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        if (node->IsSwitch())
        {
            node->SetAttribute("StampTelemetry", BooleanValue(false));
            continue;
        }
        node->SetAttribute("CongestionControl", StringValue(NameOf(scenario.legacy_algorithm())));
        node->SetAttribute("TelemetryPackets", StringValue("none"));
        node->SetAttribute("TelemetryAnswer", StringValue("none"));
        node->SetAttribute("TelemetryGuard", BooleanValue(false));
        node->SetAttribute("TelemetryPaths", UintegerValue(1));
    }
}

} // namespace ns3
