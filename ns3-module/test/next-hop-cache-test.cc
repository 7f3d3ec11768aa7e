/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/next-hop-cache.h"

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Of more flows than it has room for, NextHopCache knows the port or does not; a wrong one
 * never.
 */
class NextHopCacheTest : public TestCase
{
  public:
    NextHopCacheTest()
        : TestCase("what is kept of flows and their ports is right, and goes when routes change")
    {
    }

  private:
    static constexpr uint32_t FLOWS = 4'000; //!< some that differ in each of a flow's fields

    void DoRun() override
    {
        const std::vector<Ptr<QbbNetDevice>> ports{CreateObject<QbbNetDevice>(),
                                                   CreateObject<QbbNetDevice>(),
                                                   CreateObject<QbbNetDevice>()};
        const auto portOf = [&ports](uint32_t flow) {
            return PeekPointer(ports[flow % ports.size()]);
        };
        QbbFramePool pool;
        QbbFrame& frame = *pool.Acquire();
        NextHopCache known;
        known.Start();
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            Become(frame, flow);
            NS_TEST_ASSERT_MSG_EQ(known.Find(frame).device, nullptr, "flow " << flow << " is new");
            known.Keep(frame, {portOf(flow), static_cast<uint16_t>(flow % 3)});
            NS_TEST_ASSERT_MSG_EQ(known.Find(frame).device, portOf(flow), "flow " << flow);
        }
        uint32_t found = 0;
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            Become(frame, flow);
            const auto [port, number] = known.Find(frame);
            found += port != nullptr;
            NS_TEST_ASSERT_MSG_EQ((!port || (port == portOf(flow) && number == flow % 3)),
                                  true,
                                  flow);
        }
        NS_TEST_ASSERT_MSG_GT(found, 200, "there is room for some flows");
        known.Clear();
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            Become(frame, flow);
            NS_TEST_ASSERT_MSG_EQ(known.Find(frame).device,
                                  nullptr,
                                  "flow " << flow << " is forgotten");
        }
        frame.Release();
    }

    /**
     * \brief Make a frame one of a flow, which differs from the one before in one field.
     * \param frame the frame
     * \param flow number of the flow
     */
    static void Become(QbbFrame& frame, uint32_t flow)
    {
        frame.dst = flow / 5 + (flow % 5 > 0);
        frame.srcAddress = flow / 5 + (flow % 5 > 1);
        frame.dstAddress = flow / 5 + (flow % 5 > 2);
        frame.sport = static_cast<uint16_t>(flow / 5 + (flow % 5 > 3));
        frame.dport = static_cast<uint16_t>(flow / 5);
    }
};

TestCases
MakeNextHopCacheTests()
{
    return {new NextHopCacheTest};
}

} // namespace tests
} // namespace ns3
