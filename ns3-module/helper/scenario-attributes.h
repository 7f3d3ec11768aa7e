/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_ATTRIBUTES_H
#define SCENARIO_ATTRIBUTES_H

#include "ns3/core-pointer.h"

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Set the attributes of hosts and switches as a scenario says.
 * \param scenario the scenario
 * \param network where hosts and switches will be installed
 */
void SetScenarioAttributes(const hpcc::Scenario& scenario, QbbHelper& network);

/**
 * \ingroup hpcc
 * \brief Set the attributes of nodes that know nothing of telemetry.
 * \param scenario the scenario
 * \param network where the nodes are installed, and not started
 */
void SetLegacyAttributes(const hpcc::Scenario& scenario, const QbbHelper& network);

} // namespace ns3

#endif /* SCENARIO_ATTRIBUTES_H */
