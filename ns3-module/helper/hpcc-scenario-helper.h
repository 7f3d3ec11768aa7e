/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_SCENARIO_HELPER_H
#define HPCC_SCENARIO_HELPER_H

#include "ns3/core-pointer.h"
#include "ns3/ptr.h"
#include "ns3/rank-exchange.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class QbbHelper;
class ScenarioHosts;

/**
 * \ingroup hpcc
 * \brief Runs an experiment that a file describes: TOML, or the 2019 simulator's config.txt.
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
        STOPPED =
            4, //!< a fault or the program has ended the run early: results are of the time before
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
     * \brief Run the experiment by several threads; the results are those of one.
     * \param threads how many
     */
    void UseThreads(uint32_t threads);

    /**
     * \brief Show the longest queues and slowdowns so far beside the progress, on a terminal. Not
     * with several processes, nor with hosts of TCP or UDP.
     */
    void Watch();

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
     * \brief Open the experiment that was loaded as a network of ns-3 nodes, in the order of its
     * file: to add sinks, nodes, links and applications before Run(), which starts the network.
     *
     * Results are those of Run() alone as long as the program sends nothing itself. Nodes that it
     * adds run by the settings of the file; attributes are refused. Flows that it starts are in the
     * results as the group "program".
     * \return the network, as long as this helper lives; nullptr, with a message on standard error,
     * without an experiment, for several processes or threads, or where ns-3's simulator has left
     * time 0 or counts in another unit than nanoseconds
     */
    QbbHelper* Open();

    /**
     * \brief Run the experiment that was loaded. Call it once. Simulator, defaults of attributes
     * and ns-3's run number are restored afterwards.
     *
     * ns-3's simulator goes along where hosts have ns-3's stack, or a congestion control is a class
     * of the program: what is scheduled before, or by that class, happens at its time, and
     * Simulator::Stop() ends the run (STOPPED). After Open() nodes stay, until the program calls
     * Simulator::Destroy().
     * \param out folder for the results
     * \return what became of it; BAD_INPUT without an experiment and the second time and, where
     * ns-3's simulator is to go along, while the program has nodes of its own, or its simulator has
     * left time 0 or counts in another unit than nanoseconds
     */
    Outcome Run(const std::string& out);

  private:
    /**
     * \brief Ask whether ns-3's simulator can go along with a run, which has it for itself; says
     * why not.
     * \return whether it can
     */
    bool HasSimulator() const;

    /**
     * \brief Run the experiment by the engine alone.
     * \param out folder for the results
     * \return what became of it
     */
    Outcome RunEngine(const std::string& out);

    /**
     * \brief Tell the user something; only the first of several processes does.
     * \param message the message
     */
    void Say(const std::string& message) const;

    /// \return whether several processes or threads run it
    bool IsShared() const;

    /**
     * \brief Make what builds the network of the scenario.
     * \return it; nullptr where ns-3 was built without what it needs, which is said
     */
    Ptr<ScenarioHosts> MakeHosts() const;

    CorePointer<hpcc::Scenario> m_scenario;   //!< the experiment
    Ptr<ScenarioHosts> m_hosts;               //!< its nodes, if they are open
    std::shared_ptr<RankExchange> m_exchange; //!< connects the processes, if there are several
    uint32_t m_threads{1};                    //!< threads that share the work
    bool m_hasRun{false};                     //!< whether it was run
    bool m_isQuiet{false};                    //!< whether only what is wrong is said
    bool m_isWatched{false};                  //!< whether queues and slowdowns are shown
};

} // namespace ns3

#endif /* HPCC_SCENARIO_HELPER_H */
