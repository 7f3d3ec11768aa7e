/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "wheel-simulator-impl.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WheelSimulatorImpl");

NS_OBJECT_ENSURE_REGISTERED(WheelSimulatorImpl);

TypeId
WheelSimulatorImpl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WheelSimulatorImpl")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<WheelSimulatorImpl>();
    return tid;
}

WheelSimulatorImpl::WheelSimulatorImpl()
    : m_currentUid(EventId::UID::INVALID),
      m_currentContext(Simulator::NO_CONTEXT),
      m_uid(EventId::UID::VALID),
      m_thread(std::this_thread::get_id())
{
}

WheelSimulatorImpl::~WheelSimulatorImpl() = default;

WheelSimulatorImpl*
WheelSimulatorImpl::Find()
{
    return dynamic_cast<WheelSimulatorImpl*>(PeekPointer(Simulator::GetImplementation()));
}

void
WheelSimulatorImpl::DoDispose()
{
    TakeForeignEvents();
    while (!m_wheel.IsEmpty())
    {
        m_wheel.Discard().impl->Unref();
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
WheelSimulatorImpl::ProcessOneEvent()
{
    const EventWheel::Event next = m_wheel.Pop();
    m_currentTs = next.key.m_ts;
    m_currentUid = next.key.m_uid;
    m_currentContext = next.key.m_context;
    ++m_eventCount;
    next.impl->Invoke();
    next.impl->Unref();
    if (m_hasForeign.load(std::memory_order_relaxed))
    {
        TakeForeignEvents();
    }
}

void
WheelSimulatorImpl::Run()
{
    m_thread = std::this_thread::get_id();
    TakeForeignEvents();
    m_stop = false;
    while (!m_stop && !m_wheel.IsEmpty())
    {
        ProcessOneEvent();
    }
}

void
WheelSimulatorImpl::TakeForeignEvents()
{
    std::vector<ForeignEvent> foreign;
    {
        const std::lock_guard<std::mutex> lock(m_foreignMutex);
        foreign.swap(m_foreign);
        m_hasForeign = false;
    }
    for (const auto& event : foreign)
    {
        Insert(m_currentTs + event.delay, event.context, event.event);
    }
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
    NS_ASSERT_MSG(m_thread == std::this_thread::get_id(), "Schedule() from another thread");
    NS_ASSERT_MSG(delay.IsPositive(), "negative delay");
    const uint64_t ts = m_currentTs + delay.GetTimeStep();
    const EventId id(event, ts, m_currentContext, m_uid);
    Insert(ts, m_currentContext, event);
    return id;
}

void
WheelSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    if (m_thread == std::this_thread::get_id())
    {
        Insert(m_currentTs + delay.GetTimeStep(), context, event);
        return;
    }
    const std::lock_guard<std::mutex> lock(m_foreignMutex);
    m_foreign.push_back({static_cast<uint64_t>(delay.GetTimeStep()), context, event});
    m_hasForeign = true;
}

EventId
WheelSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
WheelSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    const EventId id(Ptr<EventImpl>(event, false), m_currentTs, Simulator::NO_CONTEXT, EventId::UID::DESTROY);
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
    m_wheel.Remove({id.PeekEventImpl(), {id.GetTs(), id.GetUid(), id.GetContext()}});
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
        return std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id) == m_destroyEvents.end();
    }
    return HasPassed(id.GetTs(), id.GetUid());
}

Time
WheelSimulatorImpl::Now() const
{
    return TimeStep(m_currentTs);
}

Time
WheelSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? Time(0) : TimeStep(id.GetTs() - m_currentTs);
}

Time
WheelSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(INT64_MAX);
}

void
WheelSimulatorImpl::SetScheduler(ObjectFactory)
{
    // The simulator has its own; Simulator calls this once with the default.
}

uint32_t
WheelSimulatorImpl::GetSystemId() const
{
    return 0;
}

uint32_t
WheelSimulatorImpl::GetContext() const
{
    return m_currentContext;
}

uint64_t
WheelSimulatorImpl::GetEventCount() const
{
    return m_eventCount;
}

} // namespace ns3
