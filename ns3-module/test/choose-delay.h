/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef CHOOSE_DELAY_H
#define CHOOSE_DELAY_H

#include <cstdint>
#include <random>

namespace ns3
{
namespace tests
{

/// Steps that the wheel spans; events beyond it take another way.
constexpr uint64_t SPAN = 4096;

/**
 * \brief Choose how far away an event is: often near, sometimes at the wheel's edge or far beyond.
 * \param random source of chance
 * \return time steps
 */
inline uint64_t
ChooseDelay(std::mt19937& random)
{
    switch (random() % 8)
    {
    case 0:
        return 0;
    case 1:
        return SPAN - 2 + random() % 4;
    case 2:
        return random() % 1'000'000;
    case 3:
        return SPAN + random() % 10;
    default:
        return random() % 200;
    }
}

} // namespace tests
} // namespace ns3

#endif /* CHOOSE_DELAY_H */
