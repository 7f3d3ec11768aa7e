/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "program-clock.h"

#include "ns3-bridge/src/clock.rs.h"
#include "turn-scheduler.h"

namespace hpcc
{

uint64_t
next_of_program()
{
    return ns3::TurnScheduler::Get().GetDue();
}

bool
is_time_of_program(uint64_t now)
{
    return ns3::TurnScheduler::Get().IsTime(now);
}

bool
run_program(uint64_t now, Act& act)
{
    return ns3::TurnScheduler::Get().RunTo(now, [&act]() { act.run(); });
}

} // namespace hpcc
