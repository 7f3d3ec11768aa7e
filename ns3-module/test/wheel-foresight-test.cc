/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Which events the wheel looks at before their turn.
#include "hpcc-tests.h"

#include "ns3/event-wheel.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <random>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief An event that notes what it is asked.
 */
class Foreseen : public ForeseenEvent
{
  public:
    /**
     * \param failures counts what must not happen
     */
    explicit Foreseen(uint32_t& failures)
        : m_failures(failures)
    {
    }

    // Inherited
    void Fetch(unsigned step) override
    {
        // Where the order of events changes, they are asked once more.
        m_failures += m_taken || step > m_steps + 1 ? 1 : 0;
        m_steps = std::max(m_steps, step);
    }

    /// The event has been taken.
    void Take()
    {
        m_failures += m_taken ? 1 : 0;
        m_taken = true;
    }

    /// \return whether it was asked for all steps
    bool IsFetched() const
    {
        return m_steps == ForeseenEvent::STEPS - 1;
    }

    void Notify() override
    {
    }

  private:
    uint32_t& m_failures; //!< counts what must not happen
    unsigned m_steps{0};  //!< the step that it was asked for last
    bool m_taken{false};  //!< whether its turn has come
};

/**
 * \ingroup hpcc
 * \brief A wheel with such events.
 */
class ForeseenWheel
{
  public:
    /**
     * \param order which of several events of a time runs first
     */
    explicit ForeseenWheel(EventOrder order)
        : queue(order)
    {
    }

    /**
     * \param ts time
     * \param uid id
     * \return an event of one of few nodes that can be foreseen
     */
    EventWheel::Event Make(uint64_t ts, uint32_t uid)
    {
        m_events.push_back(Create<Foreseen>(m_failures));
        return {PeekPointer(m_events.back()), ts, uid, uid % NODES, true};
    }

    /// \return id of the next event
    uint32_t NextUid()
    {
        return m_uid++;
    }

    /**
     * \brief Insert events of the next hundred time steps.
     * \param count how many
     */
    void Fill(uint32_t count)
    {
        for (uint32_t n = 0; n < count; ++n)
        {
            queue.Insert(Make(m_now + random() % 100, NextUid()));
        }
    }

    /// \return the event that runs now
    Foreseen& Take()
    {
        auto& foreseen = *static_cast<Foreseen*>(queue.Pop().GetImpl());
        m_now = queue.GetTakenTs();
        foreseen.Take();
        return foreseen;
    }

    /// \return the time of the event that was taken last
    uint64_t GetNow() const
    {
        return m_now;
    }

    /// \return how often what must not happen did
    uint32_t GetFailures() const
    {
        return m_failures;
    }

    EventWheel queue;       //!< the wheel
    std::mt19937 random{5}; //!< source of chance

  private:
    static constexpr uint32_t NODES = 4; //!< nodes that have events

    std::vector<Ptr<Foreseen>> m_events; //!< all events
    uint64_t m_now{0};                   //!< time of the event that was taken last
    uint32_t m_failures{0};              //!< what must not happen and did
    uint32_t m_uid{4};                   //!< id of the next event; ns-3 uses those below
};

/**
 * \ingroup hpcc
 * \brief In a long queue each event that can be foreseen is asked to fetch, step by step, before
 * its turn and never behind it.
 */
class WheelForesightTest : public TestCase
{
  public:
    WheelForesightTest()
        : TestCase("EventWheel asks events to fetch before their turn")
    {
    }

  private:
    void DoRun() override
    {
        for (const EventOrder order : {EventOrder::INSERTION, EventOrder::CANONICAL})
        {
            Run(order);
        }
    }

    /**
     * \param order which of several events of a time runs first
     */
    void Run(EventOrder order)
    {
        // Behind the first COUNT, events are inserted while others are taken: some late, at a place
        // reserved before.
        ForeseenWheel wheel(order);
        wheel.Fill(COUNT);
        uint32_t fetched = 0;
        for (uint32_t n = 0; n < COUNT; ++n)
        {
            fetched += wheel.Take().IsFetched() ? 1 : 0;
            const uint32_t reserved = wheel.NextUid();
            const uint64_t later = wheel.GetNow() + 100 + wheel.random() % 100;
            wheel.queue.Insert(wheel.Make(later, wheel.NextUid()));
            if (wheel.random() % 8 == 0)
            {
                const uint64_t soon = wheel.GetNow() + wheel.random() % 3;
                wheel.queue.InsertInOrder(wheel.Make(soon, reserved));
            }
            if (order == EventOrder::CANONICAL && wheel.random() % 8 == 0)
            {
                // Before what waits at its node already, some of which was looked at.
                auto arrival = wheel.Make(wheel.GetNow() + wheel.random() % 3, wheel.random() % 8);
                arrival.isArrival = true;
                wheel.queue.Insert(arrival);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(
            wheel.GetFailures(),
            0,
            "an event was asked behind its turn, or for a step before the one that leads there");
        NS_TEST_EXPECT_MSG_GT(fetched, COUNT * 8 / 10, "too few events were foreseen");
        while (!wheel.queue.IsEmpty())
        {
            static_cast<Foreseen*>(wheel.queue.Discard().GetImpl())->Take();
        }
        NS_TEST_EXPECT_MSG_EQ(wheel.GetFailures(), 0, "an event was taken twice");
    }

    static constexpr uint32_t COUNT = 30'000; //!< events that wait
};

/**
 * \ingroup hpcc
 * \brief Where few events wait now and then, looking ahead stops, and none of those that were
 * looked at before is asked later.
 */
class WheelRefillTest : public TestCase
{
  public:
    WheelRefillTest()
        : TestCase("EventWheel forgets what it has looked at while few events wait")
    {
    }

  private:
    void DoRun() override
    {
        ForeseenWheel wheel(EventOrder::INSERTION);
        uint32_t fetched = 0;
        for (uint32_t round = 0; round < 3; ++round)
        {
            wheel.Fill(COUNT);
            for (uint32_t n = 0; n < COUNT - FEW / 3; ++n)
            {
                fetched += wheel.Take().IsFetched() ? 1 : 0;
            }
        }
        NS_TEST_EXPECT_MSG_EQ(wheel.GetFailures(), 0, "an event was asked behind its turn");
        NS_TEST_EXPECT_MSG_GT(fetched, COUNT, "too few events were foreseen");
    }

    static constexpr uint32_t COUNT = 30'000; //!< events that wait at most
    static constexpr uint32_t FEW = 300;      //!< events that wait at the end
};

/**
 * \ingroup hpcc
 * \brief Flows of all nodes start at one time, and each start is an event that makes another of the
 * same time: it runs next, in front of all that were inserted before it, and these are still asked
 * to fetch, each once.
 */
class WheelCrowdTest : public TestCase
{
  public:
    WheelCrowdTest()
        : TestCase("EventWheel: events of a time put themselves in front of thousands of others")
    {
    }

  private:
    void DoRun() override
    {
        Run(true);
        Run(false);
    }

    /**
     * \param isFirst whether an event of no node, with which nodes come in their order, is inserted
     * before events of nodes or behind them
     */
    void Run(bool isFirst)
    {
        ForeseenWheel wheel(EventOrder::CANONICAL);
        if (isFirst)
        {
            InsertAt(wheel, Simulator::NO_CONTEXT);
        }
        for (uint32_t node = 0; node < NODES; ++node)
        {
            InsertAt(wheel, node);
        }
        if (!isFirst)
        {
            InsertAt(wheel, Simulator::NO_CONTEXT);
        }
        wheel.Take();
        uint32_t fetched = 0;
        for (uint32_t node = 0; node < NODES; ++node)
        {
            NS_TEST_ASSERT_MSG_EQ(wheel.queue.Peek().context, node, "another node's turn");
            fetched += wheel.Take().IsFetched() ? 1 : 0;
            InsertAt(wheel, node);
            NS_TEST_ASSERT_MSG_EQ(wheel.queue.Peek().context, node, "its second event is not next");
            wheel.Take();
        }
        NS_TEST_EXPECT_MSG_EQ(wheel.queue.IsEmpty(), true, "an event is left over");
        NS_TEST_EXPECT_MSG_EQ(wheel.GetFailures(), 0, "an event was asked or taken twice");
        NS_TEST_EXPECT_MSG_GT(fetched, (NODES - MANY) * 9 / 10, "too few events were foreseen");
    }

    /**
     * \brief Insert an event of time 0.
     * \param wheel where
     * \param node its node
     */
    static void InsertAt(ForeseenWheel& wheel, uint32_t node)
    {
        EventWheel::Event event = wheel.Make(0, wheel.NextUid());
        event.context = node;
        wheel.queue.Insert(event);
    }

    static constexpr uint32_t NODES = 40'000; //!< nodes that have an event
    static constexpr uint32_t MANY = 16'384;  //!< from so many on events are asked for more
};

TestCases
MakeWheelForesightTests()
{
    return {new WheelForesightTest, new WheelRefillTest, new WheelCrowdTest};
}

} // namespace tests
} // namespace ns3
