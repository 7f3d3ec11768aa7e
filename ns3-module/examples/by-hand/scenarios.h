/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_SCENARIOS_H
#define BY_HAND_SCENARIOS_H

#include "experiment.h"

#include <string>
#include <vector>

namespace ns3
{
namespace byhand
{

/**
 * \brief Find what stands for a scenario. The program ends if there is no such scenario.
 * \param name that of its file in configs/ or configs/paper/scenarios/, without the end
 * \return what a program sets for it
 */
Experiment FindScenario(const std::string& name);

/// \return the names of all scenarios
std::vector<std::string> ListScenarios();

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_SCENARIOS_H */
