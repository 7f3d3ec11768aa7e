/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "process-time.h"

#include <ctime>

namespace ns3
{

namespace
{

/**
 * \param clock a clock of the system
 * \return its time, in nanoseconds
 */
uint64_t
Read(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace

ProcessTime
ProcessTime::Now()
{
    return {Read(CLOCK_MONOTONIC), Read(CLOCK_PROCESS_CPUTIME_ID)};
}

} // namespace ns3
