/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_ATTACK_H
#define SCENARIO_ATTACK_H

#include "attacker.h"

#include <memory>
#include <vector>

namespace ns3
{

class ScenarioTraffic;

/// All attackers of a scenario.
using ScenarioAttacks = std::vector<std::unique_ptr<Attacker>>;

/**
 * \ingroup hpcc
 * \brief Make the attackers of a scenario.
 * \param scenario the scenario
 * \param network its network
 * \param traffic its flows, whose end is that of the attacks
 * \return the attackers
 */
ScenarioAttacks MakeScenarioAttacks(const hpcc::Scenario& scenario,
                                    const QbbHelper& network,
                                    const ScenarioTraffic& traffic);

} // namespace ns3

#endif /* SCENARIO_ATTACK_H */
