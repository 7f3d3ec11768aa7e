/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_SCENARIO_HELPER_H
#define HPCC_SCENARIO_HELPER_H

#include "qbb-helper.h"

#include "ns3/core-pointer.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class Attacker;
class ScenarioHosts;

/**
 * \ingroup hpcc
 * \brief Runs an experiment that a file describes: TOML, or the reference simulator's config.txt.
 */
class HpccScenarioHelper
{
  public:
    /// What a run comes to; the values are a program's exit codes.
    enum Outcome
    {
        FINISHED = 0,   //!< all flows have finished
        FAILED = 1,     //!< the results could not be written
        BAD_INPUT = 2,  //!< the file, or the output folder, cannot be used; nothing was written
        UNFINISHED = 3, //!< the results are complete, but some flows have not finished
    };

    HpccScenarioHelper();
    ~HpccScenarioHelper();

    /**
     * \brief Read an experiment; says on standard error what is wrong with it.
     * \param config the file
     * \param overrides `KEY=VALUE`, in place of what the file says
     * \return whether it can be run
     */
    bool Load(const std::string& config, const std::vector<std::string>& overrides);

    /**
     * \brief Run the experiment that was loaded.
     * \param out folder for the results
     * \return what became of it
     */
    Outcome Run(const std::string& out);

  private:
    /**
     * \brief Make what the scenario's hosts come from; says on standard error if this program was built without it.
     * \return whether it is there
     */
    bool MakeHosts();

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
     * \return whether all was written
     */
    bool Finish(hpcc::Results& results, const std::vector<std::unique_ptr<Attacker>>& attacks) const;

    CorePointer<hpcc::Scenario> m_scenario; //!< the experiment
    QbbHelper m_network;                    //!< the network
    Ptr<ScenarioHosts> m_hosts;             //!< its hosts
};

} // namespace ns3

#endif /* HPCC_SCENARIO_HELPER_H */
