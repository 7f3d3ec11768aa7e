/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_SCENARIO_HELPER_H
#define HPCC_SCENARIO_HELPER_H

#include "qbb-helper.h"

#include "ns3/core-pointer.h"
#include "ns3/rank-exchange.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hpcc
{
struct RunTotals;
} // namespace hpcc

namespace ns3
{

class Attacker;
class ScenarioHosts;
class ScenarioMonitor;
class ScenarioTraffic;

/**
 * \ingroup hpcc
 * \brief Runs an experiment that a file describes: TOML, or the reference simulator's config.txt.
 */
class HpccScenarioHelper
{
  public:
    /// The outcome of a run; the values are a program's exit codes.
    enum Outcome
    {
        FINISHED = 0,   //!< all flows have finished
        FAILED = 1,     //!< the results could not be written
        BAD_INPUT = 2,  //!< the file, or the output folder, cannot be used; nothing was written
        UNFINISHED = 3, //!< the results are complete, but some flows have not finished
        STOPPED = 4,    //!< a fault has ended the run early: the results are of the time until then
    };

    HpccScenarioHelper();
    ~HpccScenarioHelper();

    /**
     * \brief Run the experiment together with the other processes of an MPI program; to be called
     * before Load(). Each process calls the same methods; the first one writes the results, which
     * are the same as from a single process.
     * \param exchange connects the processes
     */
    void ShareAmong(std::shared_ptr<RankExchange> exchange);

    /**
     * \brief Print errors only, such as flows that do not finish: no notes on the experiment, no
     * progress. To be called before Load().
     */
    void BeQuiet();

    /**
     * \brief Read an experiment; says on standard error what is wrong with it.
     * \param config the file
     * \param overrides `KEY=VALUE`, in place of what the file says
     * \return whether it can be run
     */
    bool Load(const std::string& config, const std::vector<std::string>& overrides);

    /**
     * \brief Run the experiment that was loaded. Call it once. Simulator, defaults of attributes
     * and ns-3's run number are restored afterwards.
     * \param out folder for the results
     * \return what became of it; BAD_INPUT without an experiment, the second time, and while the
     * program has nodes of its own, or its simulator has left time 0
     */
    Outcome Run(const std::string& out);

  private:
    /**
     * \brief Make the ScenarioHosts of the scenario; says on standard error if this program was
     * built without their class.
     * \return whether they are there
     */
    bool MakeHosts();

    /**
     * \return whether there is an experiment that has not been run; says on standard error why not
     */
    bool CanRun() const;

    /**
     * \brief Divide the experiment's network among the processes, if there are several.
     * \return whether they can share it; says on standard error why if not
     */
    bool Divide();

    /**
     * \brief Choose the simulator and its order of events, unless the program has one already.
     * \return whether it has the order that the experiment asks for, and nothing else to do; says
     * so on standard error if not
     */
    bool ChooseSimulator() const;

    /**
     * \brief Open the results.
     * \param out the folder, at the first process
     * \return the results; nothing if that cannot be done
     */
    CorePointer<hpcc::Results> OpenResults(const std::string& out) const;

    /**
     * \brief Run to the end what was scheduled.
     * \param traffic the flows
     * \param monitor shows the progress
     * \param results the results
     * \return how long this process simulated for, without waiting for others
     */
    ProcessTime Simulate(ScenarioTraffic& traffic,
                         ScenarioMonitor& monitor,
                         hpcc::Results& results) const;

    /// End the simulation after the event in progress; one that processes share after its window.
    void StopSimulation() const;

    /**
     * \brief Tell all processes whether one of them has found a fault.
     * \param fault this process's fault; empty if there is none
     * \return at the first process the first fault of any; empty if there is none
     */
    std::string ShareFault(const std::string& fault) const;

    /**
     * \brief Bring the rows of all processes to the first one, which writes them in order.
     * \param results the results
     */
    void GatherRows(hpcc::Results& results) const;

    /**
     * \brief Bring what each process has counted to the first one.
     * \param busy how long this process simulated for
     * \param totals what this process has counted; of the first one the sums afterwards
     */
    void GatherTotals(const ProcessTime& busy, hpcc::RunTotals& totals) const;

    /**
     * \brief Say something on standard error, if this is the first process.
     * \param message what to say
     */
    void Say(const std::string& message) const;

    /**
     * \brief Call a function of the core that may refuse what it is given; says why if it does.
     * \param call the call
     * \return whether it did not
     */
    bool Try(const std::function<void()>& call) const;

    /// \return whether this is the first process, or the only one
    bool IsFirst() const;

    /// Build the network.
    void BuildNetwork();

    /// Give all nodes their settings.
    void SetSettings() const;

    /**
     * \brief Lose frames on links.
     * \param links the devices of each link
     */
    void SetLosses(const std::vector<NetDeviceContainer>& links);

    /**
     * \brief Close the results.
     * \param results the results
     * \param attacks the attackers
     * \param totals why the run ended early, and what the flows have come to; all else is added
     * \param busy how long this process simulated for
     * \return whether all was written
     */
    bool Finish(hpcc::Results& results,
                const std::vector<std::unique_ptr<Attacker>>& attacks,
                hpcc::RunTotals& totals,
                const ProcessTime& busy) const;

    CorePointer<hpcc::Scenario> m_scenario;   //!< the experiment
    std::shared_ptr<RankExchange> m_exchange; //!< connects the processes, if there are several
    std::vector<uint32_t> m_ranks;            //!< the process of each node, if there are several
    QbbHelper m_network;                      //!< the network
    Ptr<ScenarioHosts> m_hosts;               //!< its hosts
    bool m_isQuiet{false};                    //!< whether only what is wrong is said
};

} // namespace ns3

#endif /* HPCC_SCENARIO_HELPER_H */
