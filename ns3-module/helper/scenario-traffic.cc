/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-traffic.h"

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-helper.h"

#include "ns3/simulator.h"

namespace ns3
{

ScenarioTraffic::ScenarioTraffic(const hpcc::Scenario& scenario,
                                 const QbbHelper& network,
                                 hpcc::Results& results)
    : m_scenario(scenario),
      m_network(network),
      m_results(results)
{
}

Time
ScenarioTraffic::GetFirstStart() const
{
    return m_scenario.flow_count() > 0 ? NanoSeconds(m_scenario.flow(0).start_ns) : Time(0);
}

void
ScenarioTraffic::Begin()
{
    if (m_scenario.flow_count() > 0)
    {
        Simulator::Schedule(GetFirstStart() - Simulator::Now(), &ScenarioTraffic::StartDue, this);
    }
}

void
ScenarioTraffic::StartDue()
{
    const uint64_t now = Simulator::Now().GetNanoSeconds();
    const uint32_t count = m_scenario.flow_count();
    while (m_next < count && m_scenario.flow(m_next).start_ns == now)
    {
        // The reference simulator creates an application here, which starts by two events of its own; the order
        // of events within this nanosecond depends on them.
        const uint32_t flow = m_next++;
        Simulator::ScheduleNow([this, flow]() {
            Simulator::ScheduleNow(&ScenarioTraffic::StartFlow, this, flow);
        });
    }
    if (m_next < count)
    {
        Simulator::Schedule(NanoSeconds(m_scenario.flow(m_next).start_ns - now),
                            &ScenarioTraffic::StartDue,
                            this);
    }
}

void
ScenarioTraffic::StartFlow(uint32_t index)
{
    const hpcc::FlowSpec spec = m_scenario.flow(index);
    RdmaFlow flow;
    flow.dport = spec.dport;
    flow.priority = spec.priority;
    flow.size = spec.size_bytes;
    flow.tag = index;
    const Ptr<RdmaHost> host = m_network.GetHost(spec.src);
    const Ptr<RdmaHost> peer = m_network.GetHost(spec.dst);
    if (!host->CanReach(*peer))
    {
        m_unreachable.push_back(index);
        return;
    }
    const uint32_t queuePair =
        host->StartFlow(peer, flow, MakeCallback(&ScenarioTraffic::OnFinish, this));
    m_active[index] = {PeekPointer(host), queuePair};
}

void
ScenarioTraffic::OnFinish(const RdmaFlow& flow)
{
    const auto index = static_cast<uint32_t>(flow.tag);
    m_active.erase(index);
    ++m_finished;
    m_finishedBytes += flow.size;
    const hpcc::FlowOutcome outcome{
        index,
        flow.sport,
        static_cast<uint64_t>(flow.start.GetNanoSeconds()),
        static_cast<uint64_t>(flow.completion.GetNanoSeconds()),
        static_cast<uint64_t>(m_network.GetStandaloneFct(flow.src, flow.dst, flow.size).GetNanoSeconds()),
        flow.size,
    };
    m_results.flow_finished(m_scenario, outcome);
    if (IsDone())
    {
        m_results.flows_completed();
    }
}

uint32_t
ScenarioTraffic::GetFinished() const
{
    return m_finished;
}

bool
ScenarioTraffic::IsDone() const
{
    return m_finished == m_scenario.flow_count();
}

uint64_t
ScenarioTraffic::GetAckedBytes() const
{
    uint64_t bytes = m_finishedBytes;
    for (const auto& [index, active] : m_active)
    {
        bytes += active.host->GetAckedBytes(active.queuePair);
    }
    return bytes;
}

void
ScenarioTraffic::TraceGoodput() const
{
    for (const auto& [index, active] : m_active)
    {
        m_results.trace_goodput(Simulator::Now().GetNanoSeconds(),
                                index,
                                active.host->GetAckedBytes(active.queuePair));
    }
}

void
ScenarioTraffic::RecordUnfinished() const
{
    const auto record = [this](uint32_t index, uint16_t sport, uint64_t acked) {
        m_results.flow_unfinished(m_scenario,
                                  {index, sport, m_scenario.flow(index).start_ns, 0, 0, acked});
    };
    for (const auto& [index, active] : m_active)
    {
        record(index,
               active.host->GetFlow(active.queuePair).sport,
               active.host->GetAckedBytes(active.queuePair));
    }
    for (const uint32_t index : m_unreachable)
    {
        record(index, 0, 0);
    }
    for (uint32_t index = m_next; index < m_scenario.flow_count(); ++index)
    {
        record(index, 0, 0);
    }
}

} // namespace ns3
