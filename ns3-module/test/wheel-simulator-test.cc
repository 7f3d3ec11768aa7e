/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/simulator.h"
#include "ns3/wheel-simulator-impl.h"

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Steps that the wheel spans; events beyond it take another way.
constexpr uint64_t SPAN = 4096;

/**
 * \brief Choose how far away an event is: often near, sometimes at the wheel's edge or far beyond.
 * \param random source of chance
 * \return time steps
 */
uint64_t
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

} // namespace

/**
 * \ingroup hpcc
 * \brief A program of events that schedule, cancel and remove others runs the same on every
 * simulator.
 */
class WheelSimulatorTest : public HpccTestCase
{
  public:
    WheelSimulatorTest()
        : HpccTestCase("Simulations run event for event as with ns-3's simulator")
    {
    }

  private:
    /// What ran: time, number and context of each event.
    using Log = std::vector<std::tuple<int64_t, uint32_t, uint32_t>>;

    void DoRun() override
    {
        for (const uint32_t seed : {7, 8, 9})
        {
            const Log expected = RunProgram("ns3::DefaultSimulatorImpl", seed);
            const Log found = RunProgram("ns3::WheelSimulatorImpl", seed);
            NS_TEST_EXPECT_MSG_GT(expected.size(), 5000, "too short to tell anything");
            NS_TEST_EXPECT_MSG_EQ((found == expected), true, "another order with seed " << seed);
        }
    }

    /**
     * \brief Run the program.
     * \param simulator type of the simulator
     * \param seed of what the program does
     * \return what ran
     */
    Log RunProgram(const std::string& simulator, uint32_t seed)
    {
        UseSimulator(simulator);
        m_log.clear();
        m_events.clear();
        m_next = 0;
        m_random.seed(seed);
        for (uint32_t event = 0; event < 50; ++event)
        {
            ScheduleOne();
        }
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        m_log.emplace_back(Simulator::Now().GetTimeStep(), Simulator::GetEventCount(), 0);
        return m_log;
    }

    /// Schedule an event, in one of the ways that there are.
    void ScheduleOne()
    {
        const uint32_t number = m_next++;
        const Time delay = TimeStep(ChooseDelay(m_random));
        switch (m_random() % 4)
        {
        case 0:
            Simulator::ScheduleWithContext(number % 7,
                                           delay,
                                           &WheelSimulatorTest::OnEvent,
                                           this,
                                           number);
            break;
        case 1:
            Simulator::ScheduleNow(&WheelSimulatorTest::OnEvent, this, number);
            break;
        default:
            m_events.push_back(
                Simulator::Schedule(delay, &WheelSimulatorTest::OnEvent, this, number));
        }
    }

    /**
     * \brief An event: notes that it runs, and changes what is to come.
     * \param number the event's number
     */
    void OnEvent(uint32_t number)
    {
        m_log.emplace_back(Simulator::Now().GetTimeStep(), number, Simulator::GetContext());
        if (m_log.size() < 10'000)
        {
            ScheduleOne();
        }
        if (m_events.empty() || m_random() % 4)
        {
            return;
        }
        const EventId& other = m_events[m_random() % m_events.size()];
        m_log.emplace_back(Simulator::GetDelayLeft(other).GetTimeStep(),
                           Simulator::IsExpired(other),
                           0);
        if (m_random() % 2)
        {
            Simulator::Cancel(other);
        }
        else
        {
            Simulator::Remove(other);
        }
        ScheduleOne();
    }

    std::mt19937 m_random;         //!< chooses what the program does
    Log m_log;                     //!< what ran
    std::vector<EventId> m_events; //!< events that can be cancelled
    uint32_t m_next{0};            //!< number of the next event
};

TestCases
MakeWheelSimulatorTests()
{
    return {new WheelSimulatorTest};
}

} // namespace tests
} // namespace ns3
