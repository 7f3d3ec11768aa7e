/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef CORE_TIME_H
#define CORE_TIME_H

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// Times as the Rust core has them: in ns since the start of the simulation.
namespace core_time
{

constexpr uint64_t NEVER = UINT64_MAX; //!< a time that does not come

/// \return the present time
inline uint64_t
Now()
{
    return Simulator::Now().GetNanoSeconds();
}

/**
 * \param time a time
 * \return how long it is until then; 0 if it has passed
 */
inline Time
Until(uint64_t time)
{
    return NanoSeconds(std::max(time, Now()) - Now());
}

} // namespace core_time

} // namespace ns3

#endif // CORE_TIME_H
