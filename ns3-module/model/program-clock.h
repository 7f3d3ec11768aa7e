/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_PROGRAM_CLOCK_H
#define HPCC_PROGRAM_CLOCK_H

#include <cstdint>

namespace hpcc
{

struct Act;

/// \return when ns-3 has something to do next, in ns: the largest number if it has nothing, 0 once
/// it is to stop
uint64_t next_of_program();

/**
 * \param now a time in ns
 * \return whether it is that time in ns-3, whose events until then are over
 */
bool is_time_of_program(uint64_t now);

/**
 * \brief Have ns-3 go on to a time, and act there, where it has no engine.
 * \param now the time in ns
 * \param act what to do
 * \return whether it may go on: not after Simulator::Stop()
 */
bool run_program(uint64_t now, Act& act);

} // namespace hpcc

#endif /* HPCC_PROGRAM_CLOCK_H */
