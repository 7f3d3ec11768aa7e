/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-attack.h"

#include "../model/call-core.h"
#include "ns3-bridge/src/attack.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "qbb-helper.h"
#include "scenario-traffic.h"

namespace ns3
{

ScenarioAttacks
MakeScenarioAttacks(const hpcc::Scenario& scenario,
                    const QbbHelper& network,
                    const ScenarioTraffic& traffic)
{
    ScenarioAttacks attacks;
    for (uint32_t index = 0; index < hpcc::attack_count(scenario); ++index)
    {
        CorePointer<hpcc::Attack> core =
            OwnCore(CallCore([&] { return hpcc::new_attack(scenario, index); }));
        const auto isOver = [&traffic]() { return traffic.IsDone(); };
        attacks.push_back(std::make_unique<Attacker>(std::move(core), network, isOver));
    }
    return attacks;
}

} // namespace ns3
