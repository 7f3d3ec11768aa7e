/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/random.rs.h"

#include "ns3/rng-stream.h"

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief The core's generator gives what ns-3's own gives for the same stream: ECN marks and losses
 * are then as in an ns-3 model with that stream.
 */
class RandomStreamTest : public TestCase
{
  public:
    RandomStreamTest()
        : TestCase("The core's random streams are ns-3's")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t stream : {0ULL, 1ULL, 26ULL, 2258ULL, 1ULL << 40, (1ULL << 63) + 50})
        {
            for (const uint32_t seed : {1U, 7U, 4294944442U})
            {
                RngStream expected(seed, stream, 1);
                for (const double draw : hpcc::uniform_draws(seed, stream, 100))
                {
                    const double other = expected.RandU01();
                    NS_TEST_ASSERT_MSG_EQ(draw,
                                          other,
                                          "a draw of stream " << stream << " differs with the seed "
                                                              << seed);
                }
            }
        }
    }
};

TestCases
MakeRandomStreamTests()
{
    return {new RandomStreamTest};
}

} // namespace tests
} // namespace ns3
