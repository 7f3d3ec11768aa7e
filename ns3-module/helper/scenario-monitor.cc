/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-monitor.h"

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-helper.h"
#include "scenario-traffic.h"

#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"

namespace ns3
{

namespace
{

/// Between two samples of the reference simulator's histogram.
const Time HISTOGRAM_INTERVAL = NanoSeconds(100);
/// The reference simulator prints its histogram at multiples of this.
const Time HISTOGRAM_PRINT_INTERVAL = MilliSeconds(100);
/// Between two samples of the queues for statistics, where there is neither histogram nor time series.
const Time STATISTICS_INTERVAL = MicroSeconds(1);
/// Between two looks at the progress.
const Time PROGRESS_INTERVAL = MicroSeconds(10);

/**
 * \brief Record a pause or resume that a device received.
 * \param results where it is recorded
 * \param device the device
 * \param node its node
 * \param pause whether it is paused
 */
void
RecordPause(hpcc::Results* results, const QbbNetDevice* device, const QbbNode* node, uint8_t, bool pause)
{
    results->pfc(Simulator::Now().GetNanoSeconds(),
                 node->GetIndex(),
                 node->IsSwitch(),
                 device->GetPortNumber() + 1,
                 pause);
}

} // namespace

ScenarioMonitor::ScenarioMonitor(const hpcc::Scenario& scenario,
                                 const QbbHelper& network,
                                 ScenarioTraffic& traffic,
                                 hpcc::Results& results)
    : m_network(network),
      m_traffic(traffic),
      m_results(results),
      m_progress(hpcc::new_progress(scenario.total_bytes(), scenario.flow_count()).into_raw())
{
    const hpcc::MonitorParameters parameters = scenario.monitor();
    m_hasHistogram = parameters.histogram;
    m_histogramStart = NanoSeconds(parameters.histogram_start_ns);
    m_histogramEnd = NanoSeconds(parameters.histogram_end_ns);
    m_queueInterval = NanoSeconds(parameters.queue_interval_ns);
    m_goodputInterval = NanoSeconds(parameters.goodput_interval_ns);
    for (uint32_t index = 0; index < network.GetNNodes(); ++index)
    {
        if (const auto node = DynamicCast<QbbSwitch>(network.GetNode(index)))
        {
            const auto ports = static_cast<uint16_t>(node->GetNPorts());
            m_switches.push_back({node, results.add_queues(index, ports), ports});
        }
    }
}

void
ScenarioMonitor::Begin()
{
    WatchPauses();
    const Time start = m_traffic.GetFirstStart();
    if (m_hasHistogram)
    {
        Simulator::Schedule(m_histogramStart, &ScenarioMonitor::SampleHistogram, this);
    }
    // A histogram of one sample tells little, and nothing is added to it once it is printed.
    const bool isPrinted = m_histogramEnd <= m_histogramStart && m_histogramStart <= start;
    if (!m_hasHistogram || isPrinted)
    {
        Simulator::Schedule(start, &ScenarioMonitor::SampleStatistics, this);
    }
    if (!m_queueInterval.IsZero())
    {
        Simulator::Schedule(start, &ScenarioMonitor::TraceQueues, this);
    }
    if (!m_goodputInterval.IsZero())
    {
        Simulator::Schedule(start, &ScenarioMonitor::TraceGoodput, this);
    }
    Simulator::Schedule(start, &ScenarioMonitor::ShowProgress, this);
}

void
ScenarioMonitor::End()
{
    m_progress->clear();
}

void
ScenarioMonitor::WatchPauses()
{
    for (uint32_t index = 0; index < m_network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = m_network.GetNode(index);
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            const Ptr<QbbNetDevice> device = node->GetPort(port);
            const QbbNetDevice* aDevice = PeekPointer(device);
            const QbbNode* aNode = PeekPointer(node);
            device->TraceConnectWithoutContext("Pause",
                                               MakeBoundCallback(&RecordPause, &m_results, aDevice, aNode));
        }
    }
}

void
ScenarioMonitor::SampleQueues()
{
    for (const auto& watched : m_switches)
    {
        watched.node->SampleQueues(m_results, watched.first);
    }
}

void
ScenarioMonitor::SampleHistogram()
{
    const Time now = Simulator::Now();
    SampleQueues();
    if ((now % HISTOGRAM_PRINT_INTERVAL).IsZero())
    {
        m_results.print_queues(now.GetNanoSeconds());
    }
    if (now < m_histogramEnd)
    {
        Simulator::Schedule(HISTOGRAM_INTERVAL, &ScenarioMonitor::SampleHistogram, this);
    }
}

void
ScenarioMonitor::SampleStatistics()
{
    SampleQueues();
    if (!m_traffic.IsDone())
    {
        const Time interval = m_queueInterval.IsZero() ? STATISTICS_INTERVAL : m_queueInterval;
        Simulator::Schedule(interval, &ScenarioMonitor::SampleStatistics, this);
    }
}

void
ScenarioMonitor::TraceQueues()
{
    for (const auto& watched : m_switches)
    {
        watched.node->TraceQueues(m_results, watched.first);
    }
    if (!m_traffic.IsDone())
    {
        Simulator::Schedule(m_queueInterval, &ScenarioMonitor::TraceQueues, this);
    }
}

void
ScenarioMonitor::TraceGoodput()
{
    m_traffic.TraceGoodput();
    if (!m_traffic.IsDone())
    {
        Simulator::Schedule(m_goodputInterval, &ScenarioMonitor::TraceGoodput, this);
    }
}

void
ScenarioMonitor::ShowProgress()
{
    m_progress->update(Simulator::Now().GetNanoSeconds(),
                       Simulator::GetEventCount(),
                       m_traffic.GetAckedBytes(),
                       m_traffic.GetFinished());
    if (!m_traffic.IsDone())
    {
        Simulator::Schedule(PROGRESS_INTERVAL, &ScenarioMonitor::ShowProgress, this);
    }
}

} // namespace ns3
