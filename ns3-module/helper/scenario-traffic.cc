/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-traffic.h"

#include "../model/call-rust.h"
#include "../model/stop-run.h"
#include "flow-tag.h"
#include "ns3-bridge/src/flows.rs.h"
#include "ns3-bridge/src/host.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "qbb-helper.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \param flow a flow
 * \return its index in the scenario
 */
uint32_t
GetIndex(const RdmaFlow& flow)
{
    return FlowTag::From(flow.tag).index;
}

/**
 * \param flow a flow
 * \param acked how many of its bytes were acknowledged
 * \return how far it got
 */
hpcc::FlowOutcome
MakeOutcome(const RdmaFlow& flow, uint64_t acked)
{
    return {{true,
             GetIndex(flow),
             FlowTag::From(flow.tag).group,
             flow.src,
             flow.dst,
             flow.priority,
             flow.dport,
             flow.size,
             static_cast<uint64_t>(flow.start.GetNanoSeconds())},
            flow.sport,
            0,
            0,
            acked};
}

} // namespace

ScenarioTraffic::ScenarioTraffic(const hpcc::Scenario& scenario,
                                 const QbbHelper& network,
                                 ScenarioHosts& hosts,
                                 hpcc::Results& results)
    : m_flows(FromRust(hpcc::open_flows(scenario))),
      m_count(scenario.flow_count()),
      m_stop(NanoSeconds(scenario.stop_ns())),
      m_network(network),
      m_hosts(hosts),
      m_results(results)
{
    Advance();
    m_firstStart = m_next.start;
}

void
ScenarioTraffic::Advance()
{
    hpcc::FlowSpec spec{};
    const std::string wrong = TryRust([&] { spec = m_flows->next(); });
    if (!wrong.empty())
    {
        StopRun(wrong);
    }
    m_hasNext = spec.present;
    m_next.tag = FlowTag{spec.group, spec.index}.Get();
    m_next.src = spec.src;
    m_next.dst = spec.dst;
    m_next.priority = spec.priority;
    m_next.dport = spec.dport;
    m_next.size = spec.size_bytes;
    m_next.start = NanoSeconds(spec.start_ns);
}

Time
ScenarioTraffic::GetFirstStart() const
{
    return m_firstStart;
}

void
ScenarioTraffic::Begin()
{
    ScheduleNext();
}

void
ScenarioTraffic::ScheduleNext()
{
    // Flows that would start at the stop time are left for RecordUnfinished().
    if (m_hasNext && m_next.start < m_stop)
    {
        Simulator::Schedule(m_next.start - Simulator::Now(), &ScenarioTraffic::StartDue, this);
    }
}

void
ScenarioTraffic::StartDue()
{
    const Time now = Simulator::Now();
    while (m_hasNext && m_next.start == now)
    {
        // The reference simulator creates an application here, which starts by two events of its
        // own; the order of events within this nanosecond depends on them.
        Simulator::ScheduleNow([this, flow = m_next]() {
            Simulator::ScheduleNow(&ScenarioTraffic::StartFlow, this, flow);
        });
        Advance();
    }
    ScheduleNext();
}

void
ScenarioTraffic::StartFlow(const RdmaFlow& flow)
{
    auto active = m_hosts.StartFlow(flow, MakeCallback(&ScenarioTraffic::OnFinish, this));
    if (!IsLocal(flow))
    {
        return;
    }
    if (!active)
    {
        m_refused.push_back(flow);
        return;
    }
    m_results.flow_started(Simulator::Now().GetNanoSeconds(), GetIndex(flow));
    m_active[GetIndex(flow)] = std::move(active);
}

void
ScenarioTraffic::OnFinish(const RdmaFlow& flow)
{
    m_active.erase(GetIndex(flow));
    m_rtts.erase(GetIndex(flow));
    if (SharedNetwork* shared = m_network.GetShared())
    {
        shared->CountFinished(flow.size);
    }
    else
    {
        ++m_finished;
        m_finishedBytes += flow.size;
    }
    hpcc::FlowOutcome outcome = MakeOutcome(flow, flow.size);
    outcome.fct_ns = flow.completion.GetNanoSeconds();
    outcome.ideal_ns = m_network.GetStandaloneFct(flow).GetNanoSeconds();
    NoteControl(flow, flow.isSteered, flow.completion, outcome.ideal_ns);
    m_results.flow_finished(outcome);
    NoteCompletion();
}

void
ScenarioTraffic::NoteControl(const RdmaFlow& flow, bool isSteered, Time duration, uint64_t idealNs)
{
    const uint64_t bdp = m_network.GetCore().max_bdp_bytes();
    if (isSteered || flow.size <= bdp || duration <= NanoSeconds(2 * idealNs))
    {
        return;
    }
    const uint64_t first = m_uncontrolled.count > 0 ? m_uncontrolled.first : UINT64_MAX;
    m_uncontrolled = {m_uncontrolled.count + 1, std::min<uint64_t>(first, GetIndex(flow))};
}

hpcc::UncontrolledFlows
ScenarioTraffic::GetUncontrolled() const
{
    return m_uncontrolled;
}

void
ScenarioTraffic::OnWindow()
{
    m_finished = static_cast<uint32_t>(m_network.GetShared()->GetFinished());
    m_finishedBytes = m_network.GetShared()->GetFinishedBytes();
    NoteCompletion();
}

void
ScenarioTraffic::NoteCompletion()
{
    if (IsDone())
    {
        m_results.flows_completed();
    }
}

bool
ScenarioTraffic::IsLocal(const RdmaFlow& flow) const
{
    const SharedNetwork* shared = m_network.GetShared();
    return !shared || shared->IsLocal(flow.src);
}

uint32_t
ScenarioTraffic::GetFinished() const
{
    return m_finished;
}

bool
ScenarioTraffic::IsDone() const
{
    return m_finished == m_count;
}

bool
ScenarioTraffic::IsIdle() const
{
    return m_active.empty();
}

uint64_t
ScenarioTraffic::GetFinishedBytes() const
{
    return m_finishedBytes;
}

uint64_t
ScenarioTraffic::GetActiveBytes() const
{
    uint64_t bytes = 0;
    for (const auto& [index, active] : m_active)
    {
        bytes += active->GetAckedBytes();
    }
    return bytes;
}

void
ScenarioTraffic::TraceGoodput() const
{
    for (const auto& [index, active] : m_active)
    {
        m_results.trace_goodput(Simulator::Now().GetNanoSeconds(), index, active->GetAckedBytes());
    }
}

void
ScenarioTraffic::WatchRtts()
{
    const auto keep = [this](const RdmaFlow& flow, Time rtt) { m_rtts[GetIndex(flow)] = rtt; };
    for (uint32_t index = 0; index < m_network.GetNNodes(); ++index)
    {
        const auto host = DynamicCast<RdmaHost>(m_network.GetNode(index));
        if (host && host->IsLocal())
        {
            host->TraceConnectWithoutContext("Rtt", Callback<void, const RdmaFlow&, Time>(keep));
        }
    }
}

void
ScenarioTraffic::TraceControl(const std::unordered_set<uint32_t>& flows) const
{
    for (const auto& [index, active] : m_active)
    {
        if (flows.empty() || flows.count(index))
        {
            const RdmaControl control = active->GetControl();
            const auto rtt = m_rtts.find(index);
            m_results.trace_control(Simulator::Now().GetNanoSeconds(),
                                    index,
                                    {control.rate.GetBitRate(),
                                     control.window,
                                     control.inFlight,
                                     control.utilisation,
                                     control.bottleneck,
                                     control.isSteered},
                                    rtt == m_rtts.end() ? 0 : rtt->second.GetNanoSeconds());
        }
    }
}

void
ScenarioTraffic::RecordUnfinished()
{
    const uint64_t now = Simulator::Now().GetNanoSeconds();
    for (const auto& [index, active] : m_active)
    {
        const RdmaFlow flow = active->GetFlow();
        const uint64_t acked = active->GetAckedBytes();
        m_results.flow_unfinished(now, index, MakeOutcome(flow, acked));
        // As far as it got.
        RdmaFlow part = flow;
        part.size = acked;
        NoteControl(part,
                    active->GetControl().isSteered,
                    Simulator::Now() - flow.start,
                    m_network.GetStandaloneFct(part).GetNanoSeconds());
    }
    // Rows are sorted by these numbers: flows in progress, flows at whose start the run ended,
    // flows that have not begun. The last are counted alike in all processes.
    constexpr uint64_t REFUSED = uint64_t{1} << 32;
    constexpr uint64_t NOT_BEGUN = uint64_t{2} << 32;
    std::sort(m_refused.begin(), m_refused.end(), [](const RdmaFlow& a, const RdmaFlow& b) {
        return GetIndex(a) < GetIndex(b);
    });
    for (const RdmaFlow& flow : m_refused)
    {
        m_results.flow_unfinished(now, REFUSED + GetIndex(flow), MakeOutcome(flow, 0));
    }
    for (uint64_t place = NOT_BEGUN; m_hasNext; Advance(), ++place)
    {
        if (IsLocal(m_next))
        {
            m_results.flow_unfinished(now, place, MakeOutcome(m_next, 0));
        }
    }
}

} // namespace ns3
