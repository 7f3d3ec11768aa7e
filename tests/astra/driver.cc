/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Plays sends and receives of ranks, as ASTRA-sim would, and prints when each is over: driver CONFIG OUT [stall]

#include "hpcc-network.h"

#include <functional>
#include <iostream>
#include <memory>
#include <string>

namespace
{

std::vector<std::unique_ptr<HpccNetwork>> g_ranks;

/// What follows an operation.
using Then = std::function<void()>;

/// Prints that something is over at a rank, and goes on.
void
Over(int rank, const std::string& what, const Then& then)
{
    std::cout << static_cast<uint64_t>(g_ranks[rank]->sim_get_time().time_val) << " " << rank << " " << what << "\n";
    if (then)
    {
        then();
    }
}

/// The argument of a handler, which it deletes.
void*
Argument(int rank, std::string what, Then then)
{
    return new Then([rank, what = std::move(what), then = std::move(then)] { Over(rank, what, then); });
}

void
Handler(void* argument)
{
    std::unique_ptr<Then> then(static_cast<Then*>(argument));
    (*then)();
}

void
Send(int rank, int to, int tag, uint64_t size, Then then = {})
{
    void* argument = Argument(rank, "sent " + std::to_string(tag), std::move(then));
    g_ranks[rank]->sim_send(nullptr, size, 0, to, tag, nullptr, &Handler, argument);
}

void
Receive(int rank, int from, int tag, uint64_t size, Then then = {})
{
    void* argument = Argument(rank, "received " + std::to_string(tag), std::move(then));
    g_ranks[rank]->sim_recv(nullptr, size, 0, from, tag, nullptr, &Handler, argument);
}

void
Wait(int rank, AstraSim::timespec_t time, Then then)
{
    g_ranks[rank]->sim_schedule(time, &Handler, Argument(rank, "waited", std::move(then)));
}

} // namespace

int
main(int argc, char* argv[])
try
{
    const bool stalls = argc > 3;
    constexpr int RANKS = 4;
    constexpr uint64_t LARGE = 5'000'000'000;
    HpccSession session(hpcc::open_astra_network(argv[1], {}, RANKS, argv[2]), RANKS);
    for (int rank = 0; rank < RANKS; rank++)
    {
        g_ranks.push_back(std::make_unique<HpccNetwork>(rank, session));
    }
    auto end = [](int rank) { return [rank] { g_ranks[rank]->sim_notify_finished(); }; };
    // Two receives of one key wait; a message is there before its receive; a tag is below 0.
    Receive(1, 0, -7, 1'000'000, [&] { Send(1, 2, 5, 3'000, [&] { Send(1, 2, 5, 1'000, end(1)); }); });
    Receive(2, 1, 5, 3'000);
    Receive(2, 1, 5, 1'000, [&] { Wait(2, {AstraSim::US, 10}, [&] { Receive(2, 0, 9, 500, end(2)); }); });
    Wait(0, {AstraSim::NS, 400}, [&] {
        Send(0, 1, -7, 1'000'000);
        Send(0, 2, 9, 500, [&] { Send(0, 0, 1, 64); });
        Receive(0, 0, 1, 64, end(0));
    });
    // More than 4 GiB, after all others. Rank 1 has long ended.
    Wait(3, {AstraSim::MS, 1}, [&] {
        if (!stalls)
        {
            Send(3, 1, 2, LARGE, end(3));
        }
        else
        {
            Receive(3, 1, 2, 1, end(3));
        }
    });
    return session.Run();
}
catch (const std::exception& error)
{
    std::cerr << error.what() << "\n";
    return 2;
}
