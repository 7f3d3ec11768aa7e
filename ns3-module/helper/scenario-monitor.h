/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_MONITOR_H
#define SCENARIO_MONITOR_H

#include "sampling-clock.h"

#include "ns3/active-switches.h"
#include "ns3/core-pointer.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace ns3
{

class QbbHelper;
class QbbSwitch;
class ScenarioTraffic;

/**
 * \ingroup hpcc
 * \brief Watches a scenario's run: queues, goodput, pauses, progress.
 */
class ScenarioMonitor
{
  public:
    /**
     * \param scenario says what to watch
     * \param network the network
     * \param traffic the flows
     * \param results where it is recorded
     * \param isQuiet whether the progress is not shown
     */
    ScenarioMonitor(const hpcc::Scenario& scenario,
                    const QbbHelper& network,
                    ScenarioTraffic& traffic,
                    hpcc::Results& results,
                    bool isQuiet);

    ~ScenarioMonitor();

    /// Schedule the first samples.
    void Begin();

    /// \return how far this process is, as it was at most a moment ago
    const hpcc::RankProgress& GetProgress();

    /**
     * \brief Show how far a run is that several processes share.
     * \param ranks how far each is; nothing is shown if there are none
     */
    void ShowProgress(const std::vector<hpcc::RankProgress>& ranks);

    /// Remove the line that shows the progress.
    void End();

  private:
    /// Record the pauses that all devices receive.
    void WatchPauses();

    /// Sample all queues for histogram and statistics.
    void SampleQueues();

    /// Take samples for the reference simulator's histogram, which is printed now and then.
    void BeginHistogram();

    /// Take samples for statistics alone.
    void BeginStatistics();

    /// Take samples for the queues' time series.
    void BeginQueueSeries();

    /// Take samples for the flows' time series.
    void BeginGoodputSeries();

    /// Take samples of the flows' congestion control.
    void BeginControlSeries();

    /// Show how far the run of a single process is.
    void BeginProgress();

    const QbbHelper& m_network;             //!< the network
    ScenarioTraffic& m_traffic;             //!< the flows
    hpcc::Results& m_results;               //!< where it is recorded
    SamplingClock m_clock;                  //!< says when
    CorePointer<hpcc::Progress> m_progress; //!< the line that shows the progress
    /// How far this process was when it looked last.
    std::unique_ptr<hpcc::RankProgress> m_mine;
    uint64_t m_lookedAt{0}; //!< when that was, in ns of real time
    /// Of each switch: index of its first port in the results.
    std::vector<std::size_t> m_firstQueue;
    ActiveSwitches m_sampled; //!< for histogram and statistics
    ActiveSwitches m_traced;  //!< for the queues' time series
    bool m_hasHistogram;      //!< whether there is a histogram
    Time m_histogramStart;    //!< first sample of the histogram
    Time m_histogramEnd;      //!< last sample of the histogram
    Time m_queueInterval;     //!< time between points of the queues' series; 0: no series
    Time m_goodputInterval;   //!< time between points of the flows' series; 0: no series
    /// Between points of the flows' congestion control; 0: none.
    Time m_controlInterval;
    /// The flows of that series; all if there are none.
    std::unordered_set<uint32_t> m_controlFlows;
};

} // namespace ns3

#endif /* SCENARIO_MONITOR_H */
