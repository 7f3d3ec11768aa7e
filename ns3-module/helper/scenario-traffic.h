/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_TRAFFIC_H
#define SCENARIO_TRAFFIC_H

#include "ns3-bridge/src/results.rs.h"
#include "scenario-hosts.h"

#include "ns3/core-pointer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Starts the flows of a scenario when their time has come and records how they end.
 */
class ScenarioTraffic
{
  public:
    /**
     * \param scenario the flows
     * \param network their network
     * \param hosts their hosts
     * \param results where they are recorded
     */
    ScenarioTraffic(const hpcc::Scenario& scenario,
                    const QbbHelper& network,
                    ScenarioHosts& hosts,
                    hpcc::Results& results);

    /// Schedule the first flow.
    void Begin();

    /// \return when the first flow starts
    Time GetFirstStart() const;

    /// \return flows that have finished
    uint32_t GetFinished() const;

    /// \return whether all flows have finished
    bool IsDone() const;

    /// \return whether no flow is in progress
    bool IsIdle() const;

    /// \return bytes of the flows that have finished
    uint64_t GetFinishedBytes() const;

    /// \return acknowledged bytes of the flows of this process that are in progress
    uint64_t GetActiveBytes() const;

    /// Add a point to the goodput of every flow in progress.
    void TraceGoodput() const;

    /// Keep each flow's newest round-trip time for TraceControl() from now on.
    void WatchRtts();

    /**
     * \brief Add a point to the time series of congestion control of flows in progress.
     * \param flows their numbers in the scenario; all if there are none
     */
    void TraceControl(const std::unordered_set<uint32_t>& flows) const;

    /// A window of a run in canonical order is over: take note of what has finished at all
    /// processes.
    void OnWindow();

    /// \return the flows of this process that nothing controlled, of those that were recorded
    hpcc::UncontrolledFlows GetUncontrolled() const;

    /// Record the flows that have not finished, or have not begun.
    void RecordUnfinished();

  private:
    /// Start all flows whose time is now, then schedule the next.
    void StartDue();

    /// Schedule the start of the next flow, if it is before the end of the run.
    void ScheduleNext();

    /// Take the next flow, if there is one.
    void Advance();

    /**
     * \param flow the flow to start
     */
    void StartFlow(const RdmaFlow& flow);

    /**
     * \brief A flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow);

    /**
     * \brief Count a flow if it was slow, and its congestion control never moved rate or window.
     * \param flow the flow
     * \param isSteered whether it moved them
     * \param duration how long the flow took
     * \param idealNs how long it takes alone
     */
    void NoteControl(const RdmaFlow& flow, bool isSteered, Time duration, uint64_t idealNs);

    /// Tell the results if all flows have finished.
    void NoteCompletion();

    /**
     * \param flow a flow
     * \return whether this process simulates its source
     */
    bool IsLocal(const RdmaFlow& flow) const;

    const CorePointer<hpcc::Flows> m_flows; //!< the flows after m_next
    const uint32_t m_count;                 //!< how many there are in all
    const Time m_stop;                      //!< when the run ends
    const QbbHelper& m_network;             //!< their network
    ScenarioHosts& m_hosts;                 //!< their hosts
    hpcc::Results& m_results;               //!< where they are recorded
    /// The next flow to start; its tag is its group and its index.
    RdmaFlow m_next;
    bool m_hasNext{false};                                      //!< whether there is one
    Time m_firstStart;                                          //!< when the first flow starts
    hpcc::UncontrolledFlows m_uncontrolled{};                   //!< flows that nothing controlled
    uint32_t m_finished{0};                                     //!< flows that have finished
    uint64_t m_finishedBytes{0};                                //!< their bytes
    std::map<uint32_t, std::unique_ptr<ScenarioFlow>> m_active; //!< flows in progress by index
    /// Newest round-trip times of flows in progress, once they are watched.
    std::unordered_map<uint32_t, Time> m_rtts;
    /// Flows that could not start, which ended the run.
    std::vector<RdmaFlow> m_refused;
};

} // namespace ns3

#endif /* SCENARIO_TRAFFIC_H */
