/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/engine-network.h"
#include "ns3/global-value.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief The engine and ns-3 take turns for what is told of, and for nothing else.
 */
class CrossingsTest : public HpccTestCase
{
  public:
    CrossingsTest()
        : HpccTestCase("Turns of the engine and ns-3, with traces and without")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_LT(Count(false), 20, "nobody watches");
        const uint64_t watched = Count(true);
        NS_TEST_EXPECT_MSG_EQ(m_seen, 2 * PACKETS, "packets that left and acknowledgements");
        NS_TEST_EXPECT_MSG_LT(watched, 6 * PACKETS, "turns for both of a packet");
    }

    /**
     * \brief Send a flow over a switch.
     * \param watches whether the sender's device is traced
     * \return how often the engine and ns-3 took turns
     */
    uint64_t Count(bool watches)
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        if (watches)
        {
            const auto see = Callback<void, const QbbFrame&>([this](const QbbFrame&) { ++m_seen; });
            network.GetHostDevice(0)->TraceConnectWithoutContext("TxBegin", see);
            network.GetHostDevice(0)->TraceConnectWithoutContext("RxEnd", see);
        }
        network.AddFlow(0, 1, PACKETS * 1000);
        Simulator::Run();
        const uint64_t count = network.helper.GetHost(0)->GetNetwork().GetCrossings();
        Simulator::Destroy();
        return count;
    }

    static constexpr uint64_t PACKETS = 1000; //!< of the flow, 1000 bytes each
    uint64_t m_seen{0};                       //!< frames told of
};

/**
 * \ingroup hpcc
 * \brief A simulation that is looked at, stopped and continued in every way gives what it gives at
 * once.
 */
class TurnsTest : public HpccTestCase
{
  public:
    TurnsTest()
        : HpccTestCase("A simulation runs the same in one piece and in many")
    {
    }

  private:
    /// Completion times of the flows, and the end of the simulation, in ns.
    using Times = std::vector<int64_t>;

    void DoRun() override
    {
        const Times expected = Run([]() { Simulator::Run(); });
        NS_TEST_ASSERT_MSG_EQ(expected.size(), 3, "two flows and the end");
        const auto inSlices = []() {
            for (int slice = 0; slice < 20; ++slice)
            {
                Simulator::Stop(NanoSeconds(997));
                Simulator::Run();
                NS_ABORT_MSG_IF(Simulator::Now() != NanoSeconds(997) * (slice + 1), "another time");
            }
            Simulator::Run();
        };
        NS_TEST_EXPECT_MSG_EQ((Run(inSlices) == expected), true, "in slices of 997 ns");
        const auto byStops = [this]() {
            for (int part = 0; part < 1000 && m_lastSeen < 100'000; ++part)
            {
                m_stops = true;
                Simulator::Run();
                NS_ABORT_MSG_IF(Simulator::Now() != m_seen, "it goes on behind a stop");
            }
            m_stops = false;
            Simulator::Run();
        };
        NS_TEST_EXPECT_MSG_EQ((Run(byStops) == expected), true, "stopped by a sink at each frame");
        const auto amidEvents = []() {
            for (int event = 0; event < 30'000; event += 7)
            {
                Simulator::Schedule(NanoSeconds(event), []() {});
            }
            Simulator::Run();
        };
        NS_TEST_EXPECT_MSG_EQ((Run(amidEvents) == expected), true, "amid events of ns-3");
        GlobalValue::Bind("SchedulerType", StringValue("ns3::HeapScheduler"));
        NS_TEST_EXPECT_MSG_EQ((Run([]() { Simulator::Run(); }) == expected), true, "by a heap");
        GlobalValue::Bind("SchedulerType", StringValue("ns3::MapScheduler"));
    }

    /**
     * \param simulate runs the simulation
     * \return what comes of it
     */
    Times Run(const std::function<void()>& simulate)
    {
        m_lastSeen = 0;
        TestNetwork network;
        network.MakeStar(3);
        network.helper.Start();
        network.GetHostDevice(2)->TraceConnectWithoutContext(
            "RxEnd",
            Callback<void, const QbbFrame&>([this](const QbbFrame& frame) {
                m_lastSeen = frame.seq;
                m_seen = Simulator::Now();
                if (m_stops)
                {
                    Simulator::Stop();
                }
            }));
        const auto first = network.AddFlow(0, 2, 200'000);
        const auto second = network.AddFlow(1, 2, 200'000, MicroSeconds(3));
        simulate();
        const Times times{first->GetFlow().completion.GetTimeStep(),
                          second->GetFlow().completion.GetTimeStep(),
                          Simulator::Now().GetTimeStep()};
        Simulator::Destroy();
        return times;
    }

    bool m_stops{false};    //!< whether a frame that arrives stops the simulation
    Time m_seen;            //!< when the last one arrived
    uint64_t m_lastSeen{0}; //!< its sequence number
};

/**
 * \ingroup hpcc
 * \brief Events of ns-3 are the first of their nanosecond, and two networks do not disturb each
 * other.
 */
class OrderOfTurnsTest : public HpccTestCase
{
  public:
    OrderOfTurnsTest()
        : HpccTestCase("Events of ns-3 come first, whenever they were scheduled")
    {
    }

  private:
    void DoRun() override
    {
        const Time arrival = Run(Time(0));
        Run(arrival);
        NS_TEST_EXPECT_MSG_EQ(m_order, "eeef", "three events, then the frame");
        TwoNetworks();
    }

    /**
     * \brief Send a packet.
     * \param at when ns-3 has events
     * \return when it arrives
     */
    Time Run(Time at)
    {
        m_order.clear();
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        Time arrival;
        network.GetHostDevice(1)->TraceConnectWithoutContext(
            "RxEnd",
            Callback<void, const QbbFrame&>([&](const QbbFrame&) {
                arrival = Simulator::Now();
                m_order += "f";
            }));
        network.AddFlow(0, 1, 1000, NanoSeconds(100));
        Simulator::Schedule(at, [this]() { m_order += "e"; });
        Simulator::Schedule(Max(at - NanoSeconds(1), Time(0)), [this]() {
            Simulator::Schedule(NanoSeconds(1), [this]() {
                m_order += "e";
                Simulator::ScheduleNow([this]() { m_order += "e"; });
            });
        });
        Simulator::Run();
        Simulator::Destroy();
        return arrival;
    }

    /// Each gives what it gives alone.
    void TwoNetworks()
    {
        std::vector<Time> completions;
        for (const size_t count : {1, 2})
        {
            std::vector<std::unique_ptr<TestNetwork>> networks;
            std::vector<Ptr<RdmaClient>> flows;
            for (size_t n = 0; n < count; ++n)
            {
                networks.push_back(std::make_unique<TestNetwork>());
                networks.back()->MakeStar(3);
                networks.back()->helper.Start();
                flows.push_back(networks.back()->AddFlow(0, 2, 100'000));
                networks.back()->AddFlow(1, 2, 100'000);
            }
            Simulator::Run();
            for (const auto& flow : flows)
            {
                completions.push_back(flow->GetFlow().completion);
            }
            networks.clear();
            Simulator::Destroy();
        }
        NS_TEST_EXPECT_MSG_GT(completions[0], Time(0), "it has finished");
        NS_TEST_EXPECT_MSG_EQ(completions[1], completions[0], "the first of two");
        NS_TEST_EXPECT_MSG_EQ(completions[2], completions[0], "the second");
    }

    std::string m_order; //!< events and frames that came
};

TestCases
MakeTurnTests()
{
    return {new CrossingsTest, new TurnsTest, new OrderOfTurnsTest};
}

} // namespace tests
} // namespace ns3
