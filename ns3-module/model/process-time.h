/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PROCESS_TIME_H
#define PROCESS_TIME_H

#include <cstdint>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief How long a process has taken for something.
 */
struct ProcessTime
{
    uint64_t wall{0}; //!< nanoseconds of real time
    uint64_t cpu{0};  //!< nanoseconds of processor time

    /// \return the present time, from any beginning on
    static ProcessTime Now();

    /**
     * \param earlier an earlier time
     * \return the time since
     */
    ProcessTime operator-(const ProcessTime& earlier) const
    {
        return {wall - earlier.wall, cpu - earlier.cpu};
    }

    /**
     * \param other what is added
     * \return the sum
     */
    ProcessTime& operator+=(const ProcessTime& other)
    {
        wall += other.wall;
        cpu += other.cpu;
        return *this;
    }
};

} // namespace ns3

#endif /* PROCESS_TIME_H */
