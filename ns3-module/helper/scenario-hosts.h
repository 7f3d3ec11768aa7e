/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_HOSTS_H
#define SCENARIO_HOSTS_H

#include "ns3/object.h"

#include <cstdint>
#include <string>

namespace hpcc
{
struct Scenario;
} // namespace hpcc

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Runs a scenario whose flows the engine does not carry by itself.
 *
 * The scenario chooses the class, which is registered only where what it needs of ns-3 is built.
 */
class ScenarioHosts : public Object
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    /**
     * \brief Run a scenario.
     * \param scenario the scenario
     * \param out folder for the results
     * \param isQuiet whether only what is wrong is said
     * \return an HpccScenarioHelper::Outcome
     */
    virtual uint8_t Run(const hpcc::Scenario& scenario, const std::string& out, bool isQuiet) = 0;
};

} // namespace ns3

#endif /* SCENARIO_HOSTS_H */
