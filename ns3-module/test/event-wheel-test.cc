/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "choose-delay.h"
#include "hpcc-tests.h"

#include "ns3/event-wheel.h"
#include "ns3/map-scheduler.h"
#include "ns3/wheel-scheduler.h"

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \param ts time
 * \param uid id
 * \return an event that does nothing
 */
Scheduler::Event
MakeTestEvent(uint64_t ts, uint32_t uid)
{
    return {nullptr, {ts, uid, uid % 5}};
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Thousands of random operations: the wheel answers as ns-3's MapScheduler does.
 */
class WheelDifferentialTest : public TestCase
{
  public:
    /**
     * \param seed of the operations
     */
    explicit WheelDifferentialTest(uint32_t seed)
        : TestCase("WheelScheduler orders events as MapScheduler does, seed " +
                   std::to_string(seed)),
          m_random(seed)
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t operation = 0; operation < 20'000; ++operation)
        {
            // Phases of growth and of shrinking, so that the queue is both long and empty at times.
            const bool growing = operation / 1000 % 2 == 0;
            const uint32_t choice = m_random() % 10;
            if (choice < (growing ? 6 : 3))
            {
                InsertOne();
            }
            else if (choice == 9)
            {
                RemoveAny();
            }
            else
            {
                TakeNext();
            }
            NS_TEST_ASSERT_MSG_EQ(m_wheel->IsEmpty(), m_map->IsEmpty(), "one of them is empty");
        }
        while (!m_map->IsEmpty())
        {
            TakeNext();
        }
        NS_TEST_EXPECT_MSG_EQ(m_wheel->IsEmpty(), true, "an event is left over");
    }

    /// Insert an event that is not in the past.
    void InsertOne()
    {
        const auto event = MakeTestEvent(m_now + ChooseDelay(m_random), m_uid++);
        m_pending.push_back(event);
        m_wheel->Insert(event);
        m_map->Insert(event);
    }

    /// Remove an event that need not be the next.
    void RemoveAny()
    {
        if (m_pending.empty())
        {
            return;
        }
        const auto event = m_pending[m_random() % m_pending.size()];
        Forget(event);
        m_wheel->Remove(event);
        m_map->Remove(event);
    }

    /// Look at the next event, then take it.
    void TakeNext()
    {
        if (m_map->IsEmpty())
        {
            return;
        }
        const auto peeked = m_wheel->PeekNext();
        const auto mine = m_wheel->RemoveNext();
        const auto other = m_map->RemoveNext();
        NS_TEST_ASSERT_MSG_EQ(peeked.key.m_uid, other.key.m_uid, "PeekNext() shows another event");
        NS_TEST_ASSERT_MSG_EQ(mine.key.m_uid, other.key.m_uid, "RemoveNext() takes another event");
        NS_TEST_ASSERT_MSG_EQ(mine.key.m_ts, other.key.m_ts, "the event's time has changed");
        NS_TEST_ASSERT_MSG_EQ(mine.key.m_context,
                              other.key.m_context,
                              "the event's context has changed");
        m_now = other.key.m_ts;
        Forget(other);
    }

    /**
     * \brief An event waits no longer.
     * \param event the event
     */
    void Forget(const Scheduler::Event& event)
    {
        const auto isIt = [&event](const auto& other) {
            return other.key.m_uid == event.key.m_uid;
        };
        m_pending.erase(std::find_if(m_pending.begin(), m_pending.end(), isIt));
    }

    std::mt19937 m_random;                                   //!< chooses the operations
    Ptr<Scheduler> m_wheel = CreateObject<WheelScheduler>(); //!< what is tested
    Ptr<Scheduler> m_map = CreateObject<MapScheduler>();     //!< what it is compared with
    std::vector<Scheduler::Event> m_pending;                 //!< events in both
    uint64_t m_now{0};                                       //!< time of the latest event taken
    uint32_t m_uid{4}; //!< id of the next event; ns-3 uses those below
};

/**
 * \ingroup hpcc
 * \brief The corners, one by one: empty, same step, the wheel's end, far events, removal.
 */
class WheelCornersTest : public TestCase
{
  public:
    WheelCornersTest()
        : TestCase("WheelScheduler: same step, wrap, far events, removal")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(m_wheel->IsEmpty(), true, "a new scheduler is empty");
        ExpectOrder({{7, 10}, {7, 11}, {7, 12}}, "first in, first out within a step");
        ExpectOrder({{4000, 20}, {4100, 21}, {8000, 22}, {8191, 23}}, "round the wheel");
        ExpectOrder({{1'000'000, 30}, {1'000'000, 31}, {2'000'000, 32}}, "far events");

        // 2'010'000 is far when its first event is inserted, near when its second is.
        m_wheel->Insert(MakeTestEvent(2'010'000, 40));
        m_wheel->Insert(MakeTestEvent(2'009'000, 41));
        ExpectNext(41, "the earlier of two far events");
        m_wheel->Insert(MakeTestEvent(2'010'000, 42));
        m_wheel->Insert(MakeTestEvent(2'010'000, 43));
        m_wheel->Remove(MakeTestEvent(2'010'000, 42));
        ExpectNext(40, "inserted first, though as a far event");
        ExpectNext(43, "what is left of the step");

        m_wheel->Insert(MakeTestEvent(3'000'000, 50));
        m_wheel->Insert(MakeTestEvent(3'000'001, 51));
        m_wheel->Remove(MakeTestEvent(3'000'000, 50));
        ExpectNext(51, "a removed far event is gone");
        m_wheel->Insert(MakeTestEvent(3'000'002, 60));
        m_wheel->Remove(MakeTestEvent(3'000'002, 60));
        NS_TEST_EXPECT_MSG_EQ(m_wheel->IsEmpty(), true, "the last event was removed");
    }

    /**
     * \brief Insert events and take them again.
     * \param events time and id of each, in the order expected
     * \param what what is tested
     */
    void ExpectOrder(std::vector<std::pair<uint64_t, uint32_t>> events, const std::string& what)
    {
        for (const auto& [ts, uid] : events)
        {
            m_wheel->Insert(MakeTestEvent(ts, uid));
        }
        for (const auto& [ts, uid] : events)
        {
            ExpectNext(uid, what);
        }
    }

    /**
     * \brief Take the next event.
     * \param uid the id expected
     * \param what what is tested
     */
    void ExpectNext(uint32_t uid, const std::string& what)
    {
        const auto next = m_wheel->RemoveNext();
        NS_TEST_EXPECT_MSG_EQ(next.key.m_uid, uid, what);
    }

    Ptr<Scheduler> m_wheel = CreateObject<WheelScheduler>(); //!< what is tested
};

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
     * \param expected the events in that of execution
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
     * \return whether those of no node come first at each time, and those of each node are as
     * expected
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
    return {new WheelDifferentialTest(1),
            new WheelDifferentialTest(2),
            new WheelDifferentialTest(3),
            new WheelCornersTest,
            new WheelCanonicalTest};
}

} // namespace tests
} // namespace ns3
