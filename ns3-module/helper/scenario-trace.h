/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_TRACE_H
#define SCENARIO_TRACE_H

#include "ns3/core-pointer.h"

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Record what happens to packets at the nodes that a scenario traces.
 * \param scenario the scenario
 * \param network its network
 * \param results where it is recorded; used until the simulation ends
 */
void TraceScenarioPackets(const hpcc::Scenario& scenario,
                          const QbbHelper& network,
                          hpcc::Results& results);

/**
 * \ingroup hpcc
 * \brief Capture the frames of the nodes that a scenario names, as bytes, in one file.
 * \param scenario the scenario
 * \param network its network
 * \param results where they are recorded; used until the simulation ends
 */
void CaptureScenarioFrames(const hpcc::Scenario& scenario,
                           const QbbHelper& network,
                           hpcc::Results& results);

} // namespace ns3

#endif /* SCENARIO_TRACE_H */
