/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "host-alarms.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{

HostAlarm::HostAlarm(HostAlarms& alarms)
    : m_alarms(alarms)
{
}

void
HostAlarm::Notify()
{
    m_alarms.OnAlarm(this);
}

HostAlarms::HostAlarms(Handler handler)
    : m_handler(std::move(handler))
{
}

void
HostAlarms::SetContext(uint32_t context)
{
    m_context = context;
}

HostAlarm*
HostAlarms::Schedule(uint64_t nanos, uint32_t owner, uint8_t timer)
{
    if (m_idle.empty())
    {
        m_all.push_back(Create<HostAlarm>(*this));
        m_idle.push_back(PeekPointer(m_all.back()));
    }
    HostAlarm* alarm = m_idle.back();
    m_idle.pop_back();
    alarm->m_timer = timer;
    alarm->m_calledOff = false;
    alarm->m_owner = owner;
    // A controller may ask for a time that has passed, or for one that never comes.
    const uint64_t now = Simulator::Now().GetTimeStep();
    alarm->m_nanos = std::clamp<uint64_t>(nanos, now, std::numeric_limits<int64_t>::max());
    // The simulator drops a reference after each event.
    alarm->Ref();
    Simulator::ScheduleWithContext(m_context, TimeStep(alarm->m_nanos - now), alarm);
    return alarm;
}

void
HostAlarms::OnAlarm(HostAlarm* alarm)
{
    m_idle.push_back(alarm);
    if (!alarm->m_calledOff)
    {
        m_handler(*alarm);
    }
}

} // namespace ns3
