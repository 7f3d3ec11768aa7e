/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_SIMULATOR_IMPL_H
#define WHEEL_SIMULATOR_IMPL_H

#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/simulator-impl.h"

#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{

class EngineNetwork;

/**
 * \ingroup hpcc
 * \brief A simulator that takes turns with the engines of networks: each runs, without one event of
 * ns-3, until ns-3's next event. Events of ns-3 run as with ns-3's own simulator, and are the first
 * of their nanosecond.
 *
 * Choose it before the first event:
 * `GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"))`.
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
     * \brief Find the simulator in use.
     * \return it, if it is one of this type; otherwise nullptr
     */
    static WheelSimulatorImpl* Find();

    /// \return whether the order of events in an engine depends on each node alone
    bool IsCanonical() const;

    /**
     * \brief Take turns with an engine, until the end.
     * \param network the engine
     */
    void Attach(Ptr<EngineNetwork> network);

    /**
     * \brief An engine has come to a time.
     * \param ts the time
     */
    void Advance(uint64_t ts);

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
    /// Time and number of an event, by which events are ordered.
    using Key = std::pair<uint64_t, uint32_t>;

    /// An event and its context.
    struct Entry
    {
        Ptr<EventImpl> event; //!< the event
        uint32_t context;     //!< its context
    };

    /**
     * \param ts a time
     * \param context the event's context
     * \param event the event
     * \return its number
     */
    uint32_t Insert(uint64_t ts, uint32_t context, EventImpl* event);

    /// Take the next event and run it.
    void ProcessOneEvent();

    /// \return the engine whose next event is the first, and its time
    std::pair<EngineNetwork*, uint64_t> FindNext() const;

    /**
     * \param isCanonical whether the order of events in an engine depends on each node alone
     */
    void SetCanonical(bool isCanonical);

    std::map<Key, Entry> m_events;              //!< ns-3's events
    std::vector<Ptr<EngineNetwork>> m_networks; //!< the engines
    std::list<EventId> m_destroyEvents;         //!< events for the end
    Key m_current;                              //!< the event that runs
    uint32_t m_context;                         //!< its context
    uint32_t m_uid;                             //!< number of the next event
    uint64_t m_now{0};                          //!< the present time step
    uint64_t m_eventCount{0};                   //!< ns-3's events that have run
    bool m_stop{false};                         //!< whether to stop after this event
    bool m_isCanonical{false};                  //!< attribute
};

} // namespace ns3

#endif /* WHEEL_SIMULATOR_IMPL_H */
