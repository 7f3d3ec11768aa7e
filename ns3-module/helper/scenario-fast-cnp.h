/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_FAST_CNP_H
#define SCENARIO_FAST_CNP_H

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
 * \brief Sum up what the nodes did.
 * \param scenario the scenario
 * \param network the network
 * \param totals what a run's summary says
 */
void CountFastCnps(const hpcc::Scenario& scenario,
                   const QbbHelper& network,
                   hpcc::RunTotals& totals);

} // namespace ns3

#endif /* SCENARIO_FAST_CNP_H */
