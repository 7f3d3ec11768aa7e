/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "sweeps.h"

#include "own-sweeps.h"
#include "paper-sweeps.h"
#include "scenarios.h"

#include "ns3/core-module.h"

namespace ns3
{
namespace byhand
{

namespace
{

/**
 * \return all sweeps
 */
Sweeps
AllSweeps()
{
    Sweeps all = OwnSweeps();
    all.merge(PaperSweeps());
    return all;
}

/**
 * \param sweep a sweep
 * \return the steps of its axis; without an axis one that is called nothing
 */
Changes
GetSteps(const Sweep& sweep)
{
    return sweep.steps.empty() ? Changes{{"", AsItIs}} : sweep.steps;
}

/**
 * \brief Find a change by its name. The program ends if there is none.
 * \param changes the changes
 * \param name the name
 * \param what what is looked for
 * \return the change
 */
Change
Find(const Changes& changes, const std::string& name, const std::string& what)
{
    const auto found = changes.find(name);
    NS_ABORT_MSG_IF(found == changes.end(), "there is no " << what << " \"" << name << "\" here");
    return found->second;
}

} // namespace

Experiment
FindRun(const Run& run)
{
    const Sweeps sweeps = AllSweeps();
    const auto found = sweeps.find(run.sweep);
    NS_ABORT_MSG_IF(found == sweeps.end(), "there is no sweep \"" << run.sweep << "\" here");
    const Sweep& sweep = found->second;
    Experiment experiment = FindScenario(sweep.base);
    if (run.isQuick)
    {
        NS_ABORT_MSG_UNLESS(sweep.quick, "the sweep " << run.sweep << " has no quick form");
        sweep.quick(experiment);
    }
    Find(sweep.variants, run.variant, "variant")(experiment);
    Find(GetSteps(sweep), run.step, "step")(experiment);
    return experiment;
}

std::vector<Run>
ListRuns()
{
    std::vector<Run> runs;
    for (const auto& [name, sweep] : AllSweeps())
    {
        for (const auto& variant : sweep.variants)
        {
            for (const auto& step : GetSteps(sweep))
            {
                runs.push_back({name, variant.first, step.first, false});
                if (sweep.quick)
                {
                    runs.push_back({name, variant.first, step.first, true});
                }
            }
        }
    }
    return runs;
}

} // namespace byhand
} // namespace ns3
