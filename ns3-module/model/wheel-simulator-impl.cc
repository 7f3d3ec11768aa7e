/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "wheel-simulator-impl.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WheelSimulatorImpl");

NS_OBJECT_ENSURE_REGISTERED(WheelSimulatorImpl);

TypeId
WheelSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::WheelSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("Hpcc")
            .AddConstructor<WheelSimulatorImpl>()
            .AddAttribute(
                "CanonicalOrder",
                "Whether events of the same nanosecond run in the order EventOrder::CANONICAL",
                BooleanValue(false),
                MakeBooleanAccessor(&WheelSimulatorImpl::SetCanonical,
                                    &WheelSimulatorImpl::IsCanonical),
                MakeBooleanChecker());
    return tid;
}

WheelSimulatorImpl::WheelSimulatorImpl()
    : m_current({nullptr, 0, EventId::UID::INVALID, Simulator::NO_CONTEXT, false}),
      m_id(EventId::UID::VALID)
{
}

WheelSimulatorImpl::~WheelSimulatorImpl() = default;

void
WheelSimulatorImpl::SetCanonical(bool isCanonical)
{
    if (isCanonical == m_isCanonical)
    {
        return;
    }
    NS_ABORT_MSG_UNLESS(m_wheel.IsEmpty(),
                        "the order of events is chosen before the first one is scheduled, which "
                        "making a node does");
    m_isCanonical = isCanonical;
    m_wheel.SetOrder(isCanonical ? EventOrder::CANONICAL : EventOrder::INSERTION);
}

WheelSimulatorImpl*
WheelSimulatorImpl::Find()
{
    return dynamic_cast<WheelSimulatorImpl*>(PeekPointer(Simulator::GetImplementation()));
}

void
WheelSimulatorImpl::DoDispose()
{
    while (!m_wheel.IsEmpty())
    {
        Drop(m_wheel.Discard());
    }
    SimulatorImpl::DoDispose();
}

void
WheelSimulatorImpl::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        const Ptr<EventImpl> event = m_destroyEvents.front().PeekEventImpl();
        m_destroyEvents.pop_front();
        event->Invoke();
    }
}

void
WheelSimulatorImpl::Drop(const WheelEntry& event)
{
    if (!event.IsForeseen())
    {
        event.GetImpl()->Unref();
    }
}

inline void
WheelSimulatorImpl::ProcessOneEvent()
{
    const WheelEntry next = m_wheel.Pop();
    // Part by part: a copy of the whole would wait until all of its parts are in memory.
    m_current.tagged = next.tagged;
    m_current.context = next.context;
    m_current.number = next.number;
    m_now = m_wheel.GetTakenTs();
    ++m_eventCount;
    m_otherEventCount += next.context == Simulator::NO_CONTEXT || m_now == 0 ? 1 : 0;
    EventImpl* event = next.GetImpl();
    if (next.IsForeseen())
    {
        static_cast<ForeseenEvent*>(event)->Notify();
    }
    else
    {
        event->Invoke();
        event->Unref();
    }
}

void
WheelSimulatorImpl::Run()
{
    m_stop = false;

    while (!m_stop)
    {
        if (m_wheel.PeekTs() < m_windowEnd)
        {
            ProcessOneEvent();
        }
        else if (!BeginWindow())
        {
            break;
        }
    }
}

void
WheelSimulatorImpl::SetWindows(uint64_t length, EndWindow endWindow, bool isAlone)
{
    NS_ABORT_MSG_IF(m_endWindow, "a simulation in canonical order has one network only");
    m_windowLength = length;
    m_windowEnd = m_now;
    m_isAlone = isAlone;
    m_endWindow = std::move(endWindow);
}

bool
WheelSimulatorImpl::BeginWindow()
{
    const uint64_t next = m_endWindow ? m_endWindow(m_wheel.PeekTs()) : EventWheel::NEVER;
    if (next == EventWheel::NEVER)
    {
        return false;
    }
    m_windowEnd = (next / m_windowLength + 1) * m_windowLength;
    m_windowEventCount = m_eventCount;
    return true;
}

bool
WheelSimulatorImpl::IsFinished() const
{
    return m_stop || m_wheel.IsEmpty();
}

void
WheelSimulatorImpl::Stop()
{
    m_stop = true;
}

WheelSimulatorImpl::StopResult
WheelSimulatorImpl::Stop(const Time& delay)
{
    return static_cast<StopResult>(Simulator::Schedule(delay, &Simulator::Stop));
}

EventId
WheelSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(delay.IsPositive(), "negative delay");
    const uint64_t ts = m_now + delay.GetTimeStep();
    const EventId id(event, ts, m_current.context, static_cast<uint32_t>(m_id));
    Insert(ts, m_current.context, event);
    return id;
}

void
WheelSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    Insert(m_now + delay.GetTimeStep(), context, event);
}

EventId
WheelSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
WheelSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    const EventId id(Ptr<EventImpl>(event, false),
                     m_now,
                     Simulator::NO_CONTEXT,
                     EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    return id;
}

void
WheelSimulatorImpl::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroyEvents.remove(id);
        return;
    }
    if (IsExpired(id))
    {
        return;
    }
    m_wheel.Remove(id.GetTs(), id.GetUid());
    id.PeekEventImpl()->Cancel();
    id.PeekEventImpl()->Unref();
}

void
WheelSimulatorImpl::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
WheelSimulatorImpl::IsExpired(const EventId& id) const
{
    if (!id.PeekEventImpl() || id.PeekEventImpl()->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id) ==
               m_destroyEvents.end();
    }
    return HasPassed(id.GetTs(), id.GetUid(), id.GetContext());
}

Time
WheelSimulatorImpl::Now() const
{
    return TimeStep(m_now);
}

Time
WheelSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? Time(0) : TimeStep(id.GetTs() - m_now);
}

Time
WheelSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(INT64_MAX);
}

void
WheelSimulatorImpl::SetScheduler(ObjectFactory)
{
    // This simulator has a queue of its own, which runs events in the order of any scheduler.
}

uint32_t
WheelSimulatorImpl::GetSystemId() const
{
    return 0;
}

uint32_t
WheelSimulatorImpl::GetContext() const
{
    return m_current.context;
}

uint64_t
WheelSimulatorImpl::GetEventCount() const
{
    return m_eventCount;
}

} // namespace ns3
