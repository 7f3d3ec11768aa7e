/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_TOTALS_H
#define SCENARIO_TOTALS_H

#include "../model/core-pointer.h"

namespace hpcc
{
struct RunTotals;
} // namespace hpcc

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Add up what the nodes of this process have counted.
 * \param network the network
 * \param results told what each port of a switch has sent
 * \param totals where to
 */
void CountNodes(const QbbHelper& network, hpcc::Results& results, hpcc::RunTotals& totals);

/**
 * \ingroup hpcc
 * \brief Add up the nodes' counters of Fast CNP.
 * \param scenario the scenario
 * \param network the network
 * \param totals the run's counters of Fast CNP
 */
void CountFastCnps(const hpcc::Scenario& scenario,
                   const QbbHelper& network,
                   hpcc::RunTotals& totals);

} // namespace ns3

#endif /* SCENARIO_TOTALS_H */
