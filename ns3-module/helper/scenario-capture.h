/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_CAPTURE_H
#define SCENARIO_CAPTURE_H

#include "ns3/core-pointer.h"

namespace ns3
{

class QbbHelper;

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

#endif /* SCENARIO_CAPTURE_H */
