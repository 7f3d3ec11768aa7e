/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "sampling-clock.h"

#include "ns3/make-event.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{

SamplingClock::SamplingClock()
    : m_wheel(WheelSimulatorImpl::Find())
{
}

void
SamplingClock::Add(const Time& first, const Time& interval, Sample sample, Repeat repeat)
{
    m_series.push_back({static_cast<uint64_t>(first.GetTimeStep()),
                        m_wheel->Reserve(),
                        static_cast<uint64_t>(interval.GetTimeStep()),
                        true,
                        std::move(sample),
                        std::move(repeat)});
}

void
SamplingClock::Begin()
{
    ScheduleNext();
}

void
SamplingClock::Tick(Series& series)
{
    ++m_ticks;
    series.runs = series.sample();
    if (series.runs)
    {
        series.ts += series.interval;
        SkipIdleTime(series);
        series.uid = m_wheel->Reserve();
    }
    ScheduleNext();
}

void
SamplingClock::SkipIdleTime(Series& series) const
{
    const uint64_t next = m_wheel->GetNextTs();
    if (series.ts < next)
    {
        const uint64_t before = (next - series.ts - 1) / series.interval + 1;
        series.ts += series.repeat(before) * series.interval;
    }
}

void
SamplingClock::ScheduleNext()
{
    Series* first = nullptr;
    for (Series& series : m_series)
    {
        if (series.runs &&
            (!first || std::pair(series.ts, series.uid) < std::pair(first->ts, first->uid)))
        {
            first = &series;
        }
    }
    if (first)
    {
        m_wheel->InsertReserved(first->ts,
                                first->uid,
                                Simulator::NO_CONTEXT,
                                MakeEvent([this, first]() { Tick(*first); }));
    }
}

} // namespace ns3
