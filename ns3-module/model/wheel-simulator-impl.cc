/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "wheel-simulator-impl.h"

#include "engine-network.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WheelSimulatorImpl");

NS_OBJECT_ENSURE_REGISTERED(WheelSimulatorImpl);

namespace
{

/// The time of no event.
constexpr uint64_t NEVER = UINT64_MAX;

} // namespace

TypeId
WheelSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::WheelSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("Hpcc")
            .AddConstructor<WheelSimulatorImpl>()
            .AddAttribute("CanonicalOrder",
                          "Whether events of the same nanosecond in a network run in an order that "
                          "depends on each node alone; if not, in that of their insertion",
                          BooleanValue(false),
                          MakeBooleanAccessor(&WheelSimulatorImpl::SetCanonical,
                                              &WheelSimulatorImpl::IsCanonical),
                          MakeBooleanChecker());
    return tid;
}

WheelSimulatorImpl::WheelSimulatorImpl()
    : m_current(0, EventId::UID::INVALID),
      m_context(Simulator::NO_CONTEXT),
      m_uid(EventId::UID::VALID)
{
}

WheelSimulatorImpl::~WheelSimulatorImpl() = default;

void
WheelSimulatorImpl::SetCanonical(bool isCanonical)
{
    NS_ABORT_MSG_UNLESS(isCanonical == m_isCanonical || m_events.empty(),
                        "the order of events is chosen before the first one is scheduled, which "
                        "making a node does");
    m_isCanonical = isCanonical;
}

bool
WheelSimulatorImpl::IsCanonical() const
{
    return m_isCanonical;
}

WheelSimulatorImpl*
WheelSimulatorImpl::Find()
{
    return dynamic_cast<WheelSimulatorImpl*>(PeekPointer(Simulator::GetImplementation()));
}

void
WheelSimulatorImpl::Attach(Ptr<EngineNetwork> network)
{
    m_networks.push_back(network);
}

void
WheelSimulatorImpl::Advance(uint64_t ts)
{
    m_now = std::max(m_now, ts);
}

void
WheelSimulatorImpl::DoDispose()
{
    m_events.clear();
    m_networks.clear();
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
    const auto first = m_events.begin();
    m_current = first->first;
    m_now = m_current.first;
    m_context = first->second.context;
    const Ptr<EventImpl> event = std::move(first->second.event);
    m_events.erase(first);
    ++m_eventCount;
    event->Invoke();
}

std::pair<EngineNetwork*, uint64_t>
WheelSimulatorImpl::FindNext() const
{
    std::pair<EngineNetwork*, uint64_t> first{nullptr, NEVER};
    for (const auto& network : m_networks)
    {
        if (const uint64_t next = network->GetNext(); next < first.second)
        {
            first = {PeekPointer(network), next};
        }
    }
    return first;
}

void
WheelSimulatorImpl::Run()
{
    m_stop = false;
    while (!m_stop)
    {
        const uint64_t next = m_events.empty() ? NEVER : m_events.begin()->first.first;
        const auto [network, at] = FindNext();
        if (at < next)
        {
            m_context = Simulator::NO_CONTEXT;
            // Several networks know nothing of each other.
            network->RunUntil(m_networks.size() == 1 ? next : at + 1, *this);
        }
        else if (next != NEVER)
        {
            ProcessOneEvent();
        }
        else
        {
            break;
        }
    }
}

bool
WheelSimulatorImpl::IsFinished() const
{
    return m_stop || (m_events.empty() && !FindNext().first);
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

uint32_t
WheelSimulatorImpl::Insert(uint64_t ts, uint32_t context, EventImpl* event)
{
    const uint32_t uid = m_uid++;
    m_events[{ts, uid}] = {Ptr<EventImpl>(event, false), context};
    return uid;
}

EventId
WheelSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(delay.IsPositive(), "negative delay");
    const uint64_t ts = m_now + delay.GetTimeStep();
    const uint32_t uid = Insert(ts, m_context, event);
    return EventId(event, ts, m_context, uid);
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
    }
    else if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
        m_events.erase({id.GetTs(), id.GetUid()});
    }
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
    return id.GetTs() < m_now || Key(id.GetTs(), id.GetUid()) <= m_current;
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
    return m_context;
}

uint64_t
WheelSimulatorImpl::GetEventCount() const
{
    return m_eventCount;
}

} // namespace ns3
