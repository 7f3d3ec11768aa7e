/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-attack.h"

#include "../model/call-core.h"
#include "../model/frame-record.h"
#include "qbb-helper.h"
#include "scenario-traffic.h"
#include "ns3-bridge/src/attack.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"

namespace ns3
{

namespace
{

/**
 * \brief Describe a frame that passes an attacker.
 * \param frame the frame
 * \return what the core looks at
 */
hpcc::PassingFrame
MakePassing(const QbbFrame& frame)
{
    return {MakeFrameRecord(frame).kind, frame.src, frame.dst, frame.sport, frame.queuePair};
}

} // namespace

ScenarioAttack::ScenarioAttack(const hpcc::Scenario& scenario,
                               uint32_t index,
                               const QbbHelper& network,
                               const ScenarioTraffic& traffic)
    : m_core(CallCore([&] { return hpcc::new_attack(scenario, index).into_raw(); })),
      m_traffic(traffic),
      m_node(network.GetNode(m_core->node()))
{
}

void
ScenarioAttack::Begin()
{
    if (m_core->watches())
    {
        Watch();
    }
    if (m_core->sends())
    {
        Simulator::Schedule(NanoSeconds(m_core->start_ns()) - Simulator::Now(), &ScenarioAttack::Send, this);
    }
}

void
ScenarioAttack::Watch()
{
    for (uint32_t port = 0; port < m_node->GetNPorts(); ++port)
    {
        m_node->GetPort(port)->AddTap(MakeCallback(&ScenarioAttack::OnFrame, this));
    }
    if (const auto notifier = m_node->GetObject<FastCnpSwitch>())
    {
        notifier->TraceConnectWithoutContext("Sent", MakeCallback(&ScenarioAttack::OnNotification, this));
    }
}

void
ScenarioAttack::Send()
{
    if (m_traffic.IsDone() || Simulator::Now() >= NanoSeconds(m_core->stop_ns()))
    {
        return;
    }
    std::vector<hpcc::KnownFlow> flows;
    m_traffic.VisitActive([&](const RdmaFlow& flow, uint32_t receiver) {
        if (m_core->is_victim(flow.src))
        {
            flows.push_back({flow.src, flow.dst, flow.sport, receiver});
        }
    });
    QbbFrame* frame = m_node->NewFrame();
    const hpcc::ForgedFrame forged =
        m_core->forge({flows.data(), flows.size()}, {frame->GetTelemetry(), frame->GetRoom()});
    Simulator::Schedule(NanoSeconds(forged.gap_ns), &ScenarioAttack::Send, this);
    if (!forged.present)
    {
        frame->Release();
        return;
    }
    frame->kind = forged.icmpv6 ? QbbFrame::Kind::ICMPV6 : QbbFrame::Kind::FAST_CNP;
    frame->src = forged.src;
    frame->dst = forged.dst;
    frame->srcAddress = forged.src_address;
    frame->dstAddress = forged.dst_address;
    frame->sport = forged.sport;
    frame->dport = m_node->GetSettings().wire_port();
    frame->queuePair = forged.queue_pair;
    frame->telemetryBytes = forged.section;
    frame->size = forged.size;
    if (const auto host = DynamicCast<RdmaHost>(m_node))
    {
        host->Send(frame);
    }
    else if (const auto aSwitch = DynamicCast<QbbSwitch>(m_node))
    {
        aSwitch->Send(frame);
    }
}

void
ScenarioAttack::OnFrame(QbbFrame& frame)
{
    const uint16_t length = m_core->on_frame(Simulator::Now().GetNanoSeconds(),
                                             MakePassing(frame),
                                             {frame.GetTelemetry(), frame.GetRoom()},
                                             frame.telemetryBytes);
    frame.size -= frame.telemetryBytes - length;
    frame.telemetryBytes = length;
}

void
ScenarioAttack::OnNotification(const QbbFrame& frame)
{
    std::vector<uint8_t> options(frame.GetTelemetry(), frame.GetTelemetry() + frame.telemetryBytes);
    m_core->on_frame(Simulator::Now().GetNanoSeconds(),
                     MakePassing(frame),
                     {options.data(), options.size()},
                     frame.telemetryBytes);
}

void
ScenarioAttack::Count(hpcc::RunTotals& totals) const
{
    totals.attacks.push_back(m_core->counters());
}

ScenarioAttacks
MakeScenarioAttacks(const hpcc::Scenario& scenario, const QbbHelper& network, const ScenarioTraffic& traffic)
{
    ScenarioAttacks attacks;
    for (uint32_t index = 0; index < hpcc::attack_count(scenario); ++index)
    {
        attacks.push_back(std::make_unique<ScenarioAttack>(scenario, index, network, traffic));
    }
    return attacks;
}

} // namespace ns3
