/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-monitor.h"

#include "../model/call-rust.h"
#include "ns3-bridge/src/progress.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "qbb-helper.h"
#include "scenario-traffic.h"

#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// Between two samples of the reference simulator's histogram.
const Time HISTOGRAM_INTERVAL = NanoSeconds(100);
/// The reference simulator prints its histogram at multiples of this.
const Time HISTOGRAM_PRINT_INTERVAL = MilliSeconds(100);
/// Between two samples of the queues for statistics, where there is neither histogram nor time
/// series.
const Time STATISTICS_INTERVAL = MicroSeconds(1);
/// Between two looks at the progress.
const Time PROGRESS_INTERVAL = MicroSeconds(10);
/// Between two looks where several processes share the run, in ns of real time: a look is slow.
constexpr uint64_t RANK_PROGRESS_INTERVAL = 200'000'000;

/**
 * \brief Count samples that equal the last one and leave no trace.
 * \param count how many
 * \return as many
 */
uint64_t
CountAll(uint64_t count)
{
    return count;
}

} // namespace

ScenarioMonitor::~ScenarioMonitor() = default;

ScenarioMonitor::ScenarioMonitor(const hpcc::Scenario& scenario,
                                 const QbbHelper& network,
                                 ScenarioTraffic& traffic,
                                 hpcc::Results& results,
                                 bool isQuiet)
    : m_network(network),
      m_traffic(traffic),
      m_results(results),
      m_progress(
          FromRust(hpcc::new_progress(scenario.total_bytes(), scenario.flow_count(), isQuiet))),
      m_mine(std::make_unique<hpcc::RankProgress>())
{
    const hpcc::MonitorParameters parameters = scenario.monitor();
    m_hasHistogram = parameters.histogram;
    m_histogramStart = NanoSeconds(parameters.histogram_start_ns);
    m_histogramEnd = NanoSeconds(parameters.histogram_end_ns);
    m_queueInterval = NanoSeconds(parameters.queue_interval_ns);
    m_goodputInterval = NanoSeconds(parameters.goodput_interval_ns);
    m_controlInterval = NanoSeconds(parameters.control_interval_ns);
    m_controlFlows.insert(parameters.control_flows.begin(), parameters.control_flows.end());
    for (uint32_t index = 0; index < network.GetNNodes(); ++index)
    {
        const auto node = DynamicCast<QbbSwitch>(network.GetNode(index));
        if (!network.GetNode(index)->IsLocal())
        {
            m_firstQueue.push_back(0);
            continue;
        }
        m_firstQueue.push_back(
            node ? results.add_queues(index, static_cast<uint16_t>(node->GetNPorts())) : 0);
        if (node)
        {
            m_sampled.Add(*node);
            m_traced.Add(*node);
        }
    }
}

void
ScenarioMonitor::Begin()
{
    WatchPauses();
    if (m_hasHistogram)
    {
        BeginHistogram();
    }
    // A histogram of one sample tells little, and nothing is added to it once it is printed.
    const bool isPrinted =
        m_histogramEnd <= m_histogramStart && m_histogramStart <= m_traffic.GetFirstStart();
    if (!m_hasHistogram || isPrinted)
    {
        BeginStatistics();
    }
    if (!m_queueInterval.IsZero())
    {
        BeginQueueSeries();
    }
    if (!m_goodputInterval.IsZero())
    {
        BeginGoodputSeries();
    }
    if (!m_controlInterval.IsZero())
    {
        BeginControlSeries();
    }
    const SharedNetwork* shared = m_network.GetShared();
    if (!shared || !shared->GetExchange())
    {
        BeginProgress();
    }
    m_clock.Begin();
}

const hpcc::RankProgress&
ScenarioMonitor::GetProgress()
{
    const uint64_t now = ProcessTime::Now().wall;
    if (now - m_lookedAt >= RANK_PROGRESS_INTERVAL)
    {
        m_lookedAt = now;
        *m_mine = {m_network.GetTxFrames(),
                   m_traffic.GetActiveBytes(),
                   m_network.GetShared()->GetExchange()->GetWaited().wall};
    }
    return *m_mine;
}

void
ScenarioMonitor::ShowProgress(const std::vector<hpcc::RankProgress>& ranks)
{
    if (!ranks.empty())
    {
        m_progress->update_shared(Simulator::Now().GetNanoSeconds(),
                                  m_traffic.GetFinishedBytes(),
                                  m_traffic.GetFinished(),
                                  {ranks.data(), ranks.size()});
    }
}

void
ScenarioMonitor::End()
{
    m_progress->clear();
}

void
ScenarioMonitor::WatchPauses()
{
    // By its name once, not for each port.
    const auto pause = QbbNetDevice::GetTypeId().LookupTraceSourceByName("Pause");
    for (uint32_t index = 0; index < m_network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = m_network.GetNode(index);
        for (uint32_t port = 0; node->IsLocal() && port < node->GetNPorts(); ++port)
        {
            const Ptr<QbbNetDevice> device = node->GetPort(port);
            // Not bound arguments, of which ns-3 keeps copies: there is one of these for each port.
            const auto record = [&results = m_results, &device = *device](uint8_t, bool pause) {
                results.pfc(Simulator::Now().GetNanoSeconds(),
                            device.GetOwner().GetIndex(),
                            device.GetOwner().IsSwitch(),
                            device.GetPortNumber() + 1,
                            pause);
            };
            pause->ConnectWithoutContext(PeekPointer(device),
                                         Callback<void, uint8_t, bool>(record));
        }
    }
}

void
ScenarioMonitor::SampleQueues()
{
    m_results.begin_samples();
    m_sampled.Visit([this](const QbbSwitch& node) {
        return node.SampleQueues(m_results, m_firstQueue[node.GetIndex()]);
    });
}

void
ScenarioMonitor::BeginHistogram()
{
    const auto sample = [this]() {
        const Time now = Simulator::Now();
        SampleQueues();
        if ((now % HISTOGRAM_PRINT_INTERVAL).IsZero())
        {
            m_results.print_queues(now.GetNanoSeconds());
        }
        return now < m_histogramEnd;
    };
    // The last sample and one that is printed have to be taken.
    const auto repeat = [this](uint64_t count) {
        const Time now = Simulator::Now();
        const Time toPrint = HISTOGRAM_PRINT_INTERVAL - now % HISTOGRAM_PRINT_INTERVAL;
        const int64_t distance = std::min(m_histogramEnd - now, toPrint).GetTimeStep();
        const int64_t before = (distance - 1) / HISTOGRAM_INTERVAL.GetTimeStep();
        const uint64_t counted = std::min(count, static_cast<uint64_t>(before));
        m_results.repeat_samples(counted);
        return counted;
    };
    m_clock.Add(m_histogramStart, HISTOGRAM_INTERVAL, sample, repeat);
}

void
ScenarioMonitor::BeginStatistics()
{
    const auto sample = [this]() {
        SampleQueues();
        return !m_traffic.IsDone();
    };
    const auto repeat = [this](uint64_t count) {
        m_results.repeat_samples(count);
        return count;
    };
    const Time interval = m_queueInterval.IsZero() ? STATISTICS_INTERVAL : m_queueInterval;
    m_clock.Add(m_traffic.GetFirstStart(), interval, sample, repeat);
}

void
ScenarioMonitor::BeginQueueSeries()
{
    const auto sample = [this]() {
        m_traced.Visit([this](const QbbSwitch& node) {
            return node.TraceQueues(m_results, m_firstQueue[node.GetIndex()]);
        });
        return !m_traffic.IsDone();
    };
    // Only changes are recorded.
    m_clock.Add(m_traffic.GetFirstStart(), m_queueInterval, sample, CountAll);
}

void
ScenarioMonitor::BeginGoodputSeries()
{
    m_results.begin_goodput();
    const auto sample = [this]() {
        m_traffic.TraceGoodput();
        return !m_traffic.IsDone();
    };
    // A flow that makes no progress is recorded.
    const auto repeat = [this](uint64_t count) { return m_traffic.IsIdle() ? count : 0; };
    m_clock.Add(m_traffic.GetFirstStart(), m_goodputInterval, sample, repeat);
}

void
ScenarioMonitor::BeginControlSeries()
{
    m_results.begin_control();
    m_traffic.WatchRtts();
    const auto sample = [this]() {
        m_traffic.TraceControl(m_controlFlows);
        return !m_traffic.IsDone();
    };
    // Each flow in progress has a row, whether anything has changed or not.
    const auto repeat = [this](uint64_t count) { return m_traffic.IsIdle() ? count : 0; };
    m_clock.Add(m_traffic.GetFirstStart(), m_controlInterval, sample, repeat);
}

void
ScenarioMonitor::BeginProgress()
{
    const auto sample = [this]() {
        // All flows are asked for their bytes only then.
        if (m_progress->is_due())
        {
            m_progress->update(Simulator::Now().GetNanoSeconds(),
                               Simulator::GetEventCount() - m_clock.GetTicks(),
                               m_traffic.GetFinishedBytes() + m_traffic.GetActiveBytes(),
                               m_traffic.GetFinished());
        }
        return !m_traffic.IsDone();
    };
    m_clock.Add(m_traffic.GetFirstStart(), PROGRESS_INTERVAL, sample, CountAll);
}

} // namespace ns3
