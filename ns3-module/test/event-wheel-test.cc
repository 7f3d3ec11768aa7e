/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/event-wheel.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief In canonical order it does not matter in which order the nodes have inserted their events,
 * nor when the wheel looks: each node has its own in the same order.
 */
class WheelCanonicalTest : public TestCase
{
  public:
    WheelCanonicalTest()
        : TestCase("EventWheel: canonical order is no node, then by node: arrivals by port, others "
                   "by insertion")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(7);
        // Times on the wheel, in the lists behind it, and in what is beyond them.
        constexpr std::array<uint64_t, 3> REACHES{2'000, 300'000, 6'000'000};
        for (uint32_t round = 0; round < 30; ++round)
        {
            const uint64_t reach = REACHES[round % REACHES.size()];
            const std::vector<EventWheel::Event> expected = MakeEvents(reach, random);
            NS_TEST_ASSERT_MSG_EQ(IsRunAs(Shuffle(expected, random), expected),
                                  true,
                                  "inserted in another order");
        }
    }

    /**
     * \brief Make events in canonical order, many of them at the same time.
     * \param reach the longest time from some to the next, in steps
     * \param random source of chance
     * \return the events
     */
    static std::vector<EventWheel::Event> MakeEvents(uint64_t reach, std::mt19937& random)
    {
        std::vector<EventWheel::Event> events;
        for (uint64_t ts = 0; ts < 3 * reach; ts += 1 + random() % reach)
        {
            for (uint32_t count = random() % 4; count < 2; ++count)
            {
                events.push_back({nullptr, ts, count, Simulator::NO_CONTEXT, false});
            }
            for (uint32_t node = 0; node < 10; ++node)
            {
                for (uint32_t port = random() % 4; port < 4; ++port)
                {
                    events.push_back({nullptr, ts, port, node, false, true});
                }
                for (uint32_t count = random() % 4; count < 4; ++count)
                {
                    events.push_back({nullptr, ts, count, node, false});
                }
            }
        }
        return events;
    }

    /**
     * \brief Reorder events as other processes might have: those that a node inserts for itself
     * stay in order.
     * \param events the events
     * \param random source of chance
     * \return the same in another order, with ids that say so
     */
    static std::vector<EventWheel::Event> Shuffle(std::vector<EventWheel::Event> events,
                                                  std::mt19937& random)
    {
        std::stable_sort(events.begin(),
                         events.end(),
                         [seed = random()](const auto& a, const auto& b) {
                             const auto key = [seed](const auto& event) {
                                 return std::pair(event.isArrival ? 0
                                                                  : 1 + (event.context ^ seed) % 16,
                                                  event.isArrival ? (event.id * seed) % 101 : 0);
                             };
                             return key(a) < key(b);
                         });
        uint64_t id = 1'000;
        for (auto& event : events)
        {
            event.id = event.isArrival ? event.id : id++;
        }
        return events;
    }

    /**
     * \brief Insert some events at first, the others while they run, at the latest one step before
     * their turn. Before each step an event is inserted and removed again.
     * \param inserted the events in the order of insertion
     * \param expected the events in the order of execution
     * \return whether they run in that order
     */
    static bool IsRunAs(const std::vector<EventWheel::Event>& inserted,
                        const std::vector<EventWheel::Event>& expected)
    {
        constexpr uint64_t LATE = 50;
        EventWheel wheel(EventOrder::CANONICAL);
        std::vector<EventWheel::Event> late;
        for (const auto& event : inserted)
        {
            const bool isReserved = !event.isArrival && event.id % 5 == 0;
            if (event.ts > LATE && (event.context % 3 == 0 || isReserved))
            {
                late.push_back(event);
            }
            else
            {
                wheel.Insert(event);
            }
        }
        std::vector<EventWheel::Event> taken;
        for (const auto& event : expected)
        {
            for (auto next = late.begin(); next != late.end();)
            {
                const bool isDue =
                    next->ts <= event.ts + LATE || wheel.IsEmpty() || next->ts <= wheel.Peek().ts;
                if (isDue && !next->isArrival)
                {
                    wheel.InsertInOrder(*next);
                }
                else if (isDue)
                {
                    wheel.Insert(*next);
                }
                next = isDue ? late.erase(next) : next + 1;
            }
            const EventWheel::Event dropped{nullptr,
                                            event.ts,
                                            1'000'000 + taken.size(),
                                            event.context,
                                            false};
            wheel.InsertInOrder(dropped);
            wheel.Remove(dropped.ts, static_cast<uint32_t>(dropped.id));
            taken.push_back(wheel.ToTakenEvent(wheel.Pop()));
        }
        return wheel.IsEmpty() && IsSameAtEachNode(std::move(taken), expected);
    }

    /**
     * \param taken events in the order of execution
     * \param expected the events in canonical order
     * \return whether events of no node come first at each time, and each node's are as expected
     */
    static bool IsSameAtEachNode(std::vector<EventWheel::Event> taken,
                                 const std::vector<EventWheel::Event>& expected)
    {
        const auto byTime = [](const auto& a, const auto& b) {
            const auto key = [](const auto& event) {
                return std::pair(event.ts, event.context != Simulator::NO_CONTEXT);
            };
            return key(a) < key(b);
        };
        const auto byNode = [](const auto& a, const auto& b) {
            return std::pair(a.ts, a.context + 1) < std::pair(b.ts, b.context + 1);
        };
        bool isSame = std::is_sorted(taken.begin(), taken.end(), byTime);
        std::stable_sort(taken.begin(), taken.end(), byNode);
        for (std::size_t place = 0; place < taken.size(); ++place)
        {
            const auto& mine = taken[place];
            const auto& other = expected[place];
            isSame = isSame && mine.ts == other.ts && mine.context == other.context &&
                     mine.isArrival == other.isArrival && (!mine.isArrival || mine.id == other.id);
            const bool follows =
                place > 0 && !taken[place - 1].isArrival && !byNode(taken[place - 1], mine);
            isSame = isSame && (!follows || taken[place - 1].id < mine.id);
        }
        return isSame;
    }
};

TestCases
MakeWheelTests()
{
    return {new WheelCanonicalTest};
}

} // namespace tests
} // namespace ns3
