/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_SIMULATOR_IMPL_H
#define WHEEL_SIMULATOR_IMPL_H

#include "event-wheel.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/simulator-impl.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <utility>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A simulator on an EventWheel, for one process or for each of those that share a network
 * (SharedNetwork).
 *
 * It runs any ns-3 program of one thread as DefaultSimulatorImpl does, event for event. Beyond the
 * common
 * interface it lets the module's devices schedule without virtual calls, and reserve the place of
 * an event that is inserted only if it turns out to be needed.
 *
 * Choose it before the first use of Simulator, by GlobalValue::Bind("SimulatorImplementationType",
 * StringValue("ns3::WheelSimulatorImpl")) or on the command line.
 */
class WheelSimulatorImpl : public SimulatorImpl
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    WheelSimulatorImpl();
    ~WheelSimulatorImpl() override;

    /**
     * \brief Find the running simulator, if it is of this type.
     * \return the simulator, or nullptr
     */
    static WheelSimulatorImpl* Find();

    /// \return the current time step
    uint64_t GetNow() const
    {
        return m_now;
    }

    /// \return whether events of the same nanosecond run in the order EventOrder::CANONICAL
    bool IsCanonical() const
    {
        return m_isCanonical;
    }

    /// Told that a window is over, and of the time step of the next event; says which is the next
    /// of any process. The largest number stands for no event.
    using EndWindow = std::function<uint64_t(uint64_t)>;

    /**
     * \brief Interrupt the simulation between windows of simulated time. The first begins at time
     * 0.
     * \param length time steps of a window, at least 1
     * \param endWindow called before the first event behind each window that had any
     * \param isAlone whether no other process can bring events at the end of a window
     */
    void SetWindows(uint64_t length, EndWindow endWindow, bool isAlone);

    /**
     * \brief Say when something may change next.
     * \return the time step of the next event or, if that is sooner, of the end of the window
     * unless nothing can come of that; the current one if no event waits
     */
    uint64_t GetNextTs()
    {
        if (m_wheel.IsEmpty())
        {
            return m_now;
        }
        // In a window nothing but the present event has happened in, there is nothing to end.
        const bool isEmpty = m_isAlone && m_eventCount == m_windowEventCount + 1;
        return isEmpty ? m_wheel.PeekTs() : std::min(m_wheel.PeekTs(), m_windowEnd);
    }

    /**
     * \brief Count the events of nodes that mean something to the network.
     * \return events so far that belonged to a node, without events of time 0, by which ns-3
     * initializes all nodes of the program
     */
    uint64_t GetNodeEventCount() const
    {
        return m_eventCount - m_otherEventCount;
    }

    /**
     * \brief Schedule an event.
     * \param ts when
     * \param context in which context
     * \param event what; the simulator takes over one reference
     */
    void Insert(uint64_t ts, uint32_t context, EventImpl* event)
    {
        m_wheel.Insert({event, ts, m_id++, context, false});
    }

    /**
     * \brief Schedule the arrival of a frame.
     * \param ts when
     * \param context in which context
     * \param port port of the node by which it arrives
     * \param event what; the simulator holds no reference to it
     */
    void InsertArrival(uint64_t ts, uint32_t context, uint16_t port, ForeseenEvent* event)
    {
        // A port is a place that does not depend on what was inserted elsewhere.
        const uint64_t id = m_isCanonical ? port : m_id++;
        m_wheel.Insert({event, ts, id, context, true, true});
    }

    /**
     * \brief Reserve the place of an event among the events of its time.
     * \return the lower half of the event's id
     */
    uint32_t Reserve()
    {
        return static_cast<uint32_t>(m_id++);
    }

    /**
     * \brief Schedule an event whose place was reserved.
     * \param ts when; not passed yet
     * \param uid the lower half of its id
     * \param context in which context
     * \param event what; the simulator takes over one reference
     */
    void InsertReserved(uint64_t ts, uint32_t uid, uint32_t context, EventImpl* event)
    {
        m_wheel.InsertInOrder({event, ts, WholeId(uid), context, false});
    }

    /**
     * \brief Schedule an event that can be foreseen, and whose place was reserved.
     * \param ts when; not passed yet
     * \param uid the lower half of its id
     * \param context in which context
     * \param event what; the simulator holds no reference to it
     */
    void InsertReserved(uint64_t ts, uint32_t uid, uint32_t context, ForeseenEvent* event)
    {
        m_wheel.InsertInOrder({event, ts, WholeId(uid), context, true});
    }

    /**
     * \brief Take back an event whose place was reserved: its object goes. Nothing happens if it
     * does not wait any more.
     * \param ts its time
     * \param uid the lower half of its id
     */
    void Withdraw(uint64_t ts, uint32_t uid)
    {
        m_wheel.Remove(ts, uid);
    }

    /**
     * \brief Ask whether an event with a reserved place would run now, or would have run already.
     * \param ts its time
     * \param uid the lower half of its id
     * \param context its context
     * \return whether its turn has come
     */
    bool HasPassed(uint64_t ts, uint32_t uid, uint32_t context) const
    {
        if (ts != m_now)
        {
            return ts < m_now;
        }
        return !m_wheel.RunsBefore(m_wheel.ToTakenEvent(m_current),
                                   {nullptr, ts, WholeId(uid), context, false});
    }

    /// The type that Stop(delay) returns differs between versions of ns-3.
    using StopResult = decltype(std::declval<SimulatorImpl&>().Stop(std::declval<const Time&>()));

    // Inherited
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    StopResult Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory factory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  protected:
    void DoDispose() override;

  private:
    /// Take the next event and run it.
    void ProcessOneEvent();

    /**
     * \brief Let go of an event that has not run.
     * \param event the event
     */
    static void Drop(const WheelEntry& event);

    /**
     * \brief Complete the id of an event that was inserted, or its place reserved, no more than
     * four billion events ago.
     * \param uid the lower half of the id
     * \return the id
     */
    uint64_t WholeId(uint32_t uid) const
    {
        return m_id - static_cast<uint32_t>(m_id - uid);
    }

    /**
     * \param isCanonical whether events of the same nanosecond run in canonical order; nothing may
     * have been scheduled yet
     */
    void SetCanonical(bool isCanonical);

    /**
     * \brief Begin the window of the next event.
     * \return whether there is one
     */
    bool BeginWindow();

    EventWheel m_wheel;                 //!< the events
    bool m_isCanonical{false};          //!< whether they run in canonical order
    WheelEntry m_current;               //!< the event that runs
    uint64_t m_now{0};                  //!< its time
    uint64_t m_id;                      //!< id of the next event
    bool m_stop{false};                 //!< whether to stop after this event
    uint64_t m_eventCount{0};           //!< events that have run
    uint64_t m_otherEventCount{0};      //!< events of no node, and of time 0
    uint64_t m_windowLength{0};         //!< time steps of a window
    uint64_t m_windowEnd{UINT64_MAX};   //!< first time step behind the present window
    uint64_t m_windowEventCount{0};     //!< events that had run before the present window
    bool m_isAlone{false};              //!< whether only this process brings events
    EndWindow m_endWindow;              //!< called between windows, if there are any
    std::list<EventId> m_destroyEvents; //!< events for the end
};

} // namespace ns3

#endif /* WHEEL_SIMULATOR_IMPL_H */
