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

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A sequential simulator on an EventWheel.
 *
 * It runs any ns-3 program as DefaultSimulatorImpl does, event for event. Beyond the common interface it lets the
 * module's devices schedule without virtual calls, and reserve the place of an event that is inserted only if it
 * turns out to be needed.
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
        return m_currentTs;
    }

    /// \return the time step of the next event; the current one if no event waits
    uint64_t GetNextTs() const
    {
        return m_wheel.IsEmpty() ? m_currentTs : m_wheel.Peek().key.m_ts;
    }

    /**
     * \brief Schedule an event.
     * \param ts when
     * \param context in which context
     * \param event what; the simulator takes over one reference
     */
    void Insert(uint64_t ts, uint32_t context, EventImpl* event)
    {
        m_wheel.Insert({event, {ts, m_uid++, context}});
    }

    /**
     * \brief The same for an event that can be foreseen.
     * \param ts when
     * \param context in which context
     * \param event what; the simulator takes over one reference
     */
    void InsertForeseen(uint64_t ts, uint32_t context, ForeseenEvent* event)
    {
        m_wheel.InsertForeseen({event, {ts, m_uid++, context}});
    }

    /**
     * \brief Reserve the place of an event among those of its time.
     * \return the event's id
     */
    uint32_t Reserve()
    {
        return m_uid++;
    }

    /**
     * \brief Schedule an event whose place was reserved.
     * \param ts when; not passed yet
     * \param uid its id
     * \param context in which context
     * \param event what; the simulator takes over one reference
     */
    void InsertReserved(uint64_t ts, uint32_t uid, uint32_t context, EventImpl* event)
    {
        m_wheel.InsertInOrder({event, {ts, uid, context}});
    }

    /**
     * \brief The same for an event that can be foreseen.
     * \param ts when; not passed yet
     * \param uid its id
     * \param context in which context
     * \param event what; the simulator takes over one reference
     */
    void InsertReserved(uint64_t ts, uint32_t uid, uint32_t context, ForeseenEvent* event)
    {
        m_wheel.InsertForeseenInOrder({event, {ts, uid, context}});
    }

    /**
     * \brief Take back an event whose place was reserved: its object goes. Nothing happens if it does not wait any more.
     * \param ts its time
     * \param uid its id
     */
    void Withdraw(uint64_t ts, uint32_t uid)
    {
        m_wheel.Remove({nullptr, {ts, uid, 0}});
    }

    /**
     * \brief Ask whether an event with a reserved place would run now, or would have run already.
     * \param ts its time
     * \param uid its id
     * \return whether its turn has come
     */
    bool HasPassed(uint64_t ts, uint32_t uid) const
    {
        return ts < m_currentTs || (ts == m_currentTs && static_cast<int32_t>(uid - m_currentUid) <= 0);
    }

    /// What Stop(delay) returns differs between versions of ns-3.
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
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  protected:
    void DoDispose() override;

  private:
    /// An event that another thread has scheduled.
    struct ForeignEvent
    {
        uint64_t delay;   //!< time steps from when it is taken in
        uint32_t context; //!< its context
        EventImpl* event; //!< the event
    };

    /// Take the next event and run it.
    void ProcessOneEvent();

    /// Take in what other threads have scheduled.
    void TakeForeignEvents();

    EventWheel m_wheel;                      //!< the events
    uint64_t m_currentTs{0};                 //!< current time step
    uint32_t m_currentUid;                   //!< id of the event that runs
    uint32_t m_currentContext;               //!< its context
    uint32_t m_uid;                          //!< id of the next event
    bool m_stop{false};                      //!< whether to stop after this event
    uint64_t m_eventCount{0};                //!< events that have run
    std::list<EventId> m_destroyEvents;      //!< events for the end
    std::thread::id m_thread;                //!< the thread that runs the simulation
    std::mutex m_foreignMutex;               //!< guards m_foreign
    std::vector<ForeignEvent> m_foreign;     //!< what other threads have scheduled
    std::atomic<bool> m_hasForeign{false};   //!< whether m_foreign has something
};

} // namespace ns3

#endif /* WHEEL_SIMULATOR_IMPL_H */
