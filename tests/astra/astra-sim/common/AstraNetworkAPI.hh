/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// The interface of ASTRA-sim's network backends, as far as ours uses it, for a test that needs no ASTRA-sim.
#pragma once

#include <cstdint>

namespace AstraSim
{

enum time_type_e
{
    SE = 0,
    MS,
    US,
    NS,
    FS
};

struct timespec_t
{
    time_type_e time_res;
    long double time_val;
};

struct sim_request
{
};

/// One object for each rank.
class AstraNetworkAPI
{
  public:
    AstraNetworkAPI(int rank)
        : rank(rank)
    {
    }

    virtual ~AstraNetworkAPI() = default;
    virtual int sim_send(void*, uint64_t, int, int, int, sim_request*, void (*)(void*), void*) = 0;
    virtual int sim_recv(void*, uint64_t, int, int, int, sim_request*, void (*)(void*), void*) = 0;
    virtual void sim_schedule(timespec_t, void (*)(void*), void*) = 0;
    virtual timespec_t sim_get_time() = 0;

    virtual void sim_notify_finished()
    {
    }

    int rank;
};

} // namespace AstraSim
