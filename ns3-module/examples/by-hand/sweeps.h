/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_SWEEPS_H
#define BY_HAND_SWEEPS_H

#include "experiment.h"

#include <string>
#include <vector>

namespace ns3
{
namespace byhand
{

/// A run of a sweep, but for its seed.
struct Run
{
    std::string sweep;   //!< the sweep's file, without folder and end
    std::string variant; //!< the variant's name
    std::string step;    //!< the axis and its value, such as load-0.5; empty without an axis
    bool isQuick;        //!< whether it is of the quick form
};

/**
 * \brief Find what stands for a run of a sweep. The program ends if there is no such run.
 * \param run the run
 * \return what a program sets for it
 */
Experiment FindRun(const Run& run);

/// \return all runs of all sweeps
std::vector<Run> ListRuns();

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_SWEEPS_H */
