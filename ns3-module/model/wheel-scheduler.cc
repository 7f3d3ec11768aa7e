/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "wheel-scheduler.h"

#include "ns3/assert.h"
#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WheelScheduler");

NS_OBJECT_ENSURE_REGISTERED(WheelScheduler);

TypeId
WheelScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WheelScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<WheelScheduler>();
    return tid;
}

WheelScheduler::WheelScheduler()
{
    NS_LOG_FUNCTION(this);
}

WheelScheduler::~WheelScheduler()
{
    NS_LOG_FUNCTION(this);
}

void
WheelScheduler::Insert(const Event& ev)
{
    // Ids grow by a little from one event to the next, and begin again after the last.
    m_latest += static_cast<int32_t>(ev.key.m_uid - static_cast<uint32_t>(m_latest));
    m_wheel.Insert({ev.impl, ev.key.m_ts, m_latest, ev.key.m_context, false});
}

bool
WheelScheduler::IsEmpty() const
{
    return m_wheel.IsEmpty();
}

Scheduler::Event
WheelScheduler::ToEvent(const EventWheel::Event& event)
{
    return {event.impl, {event.ts, static_cast<uint32_t>(event.id), event.context}};
}

Scheduler::Event
WheelScheduler::PeekNext() const
{
    NS_ASSERT(!IsEmpty());
    return ToEvent(m_wheel.Peek());
}

Scheduler::Event
WheelScheduler::RemoveNext()
{
    NS_ASSERT(!IsEmpty());
    return ToEvent(m_wheel.ToTakenEvent(m_wheel.Pop()));
}

void
WheelScheduler::Remove(const Event& ev)
{
    NS_LOG_FUNCTION(this << &ev);
    m_wheel.Remove(ev.key.m_ts, ev.key.m_uid);
}

} // namespace ns3
