/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SAMPLING_CLOCK_H
#define SAMPLING_CLOCK_H

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/wheel-simulator-impl.h"

#include <cstdint>
#include <deque>
#include <functional>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Takes samples at regular intervals, and none while nothing can change.
 *
 * Until the next event of the network all samples equal the one just taken: they are not events,
 * but are counted all at once. A sample that is taken runs exactly where a chain of events would
 * have run it, each of which schedules the next: its place among the events of its nanosecond is
 * reserved when the sample before it would have been taken. At most one sample is in the
 * simulator's queue, so that the clock's own samples are not taken for the network's events. All
 * this needs WheelSimulatorImpl.
 */
class SamplingClock
{
  public:
    /// Take a sample; return whether there is to be another one.
    using Sample = std::function<bool()>;
    /// Count up to so many samples that equal the one just taken; return how many were counted.
    using Repeat = std::function<uint64_t(uint64_t)>;

    SamplingClock();

    /**
     * \brief Begin a series of samples.
     * \param first when to take the first one
     * \param interval from one to the next
     * \param sample takes one
     * \param repeat counts those that are not taken
     */
    void Add(const Time& first, const Time& interval, Sample sample, Repeat repeat);

    /// Schedule the first sample of all series. To be called once.
    void Begin();

    /// \return events that were samples
    uint64_t GetTicks() const
    {
        return m_ticks;
    }

  private:
    /// A series of samples.
    struct Series
    {
        uint64_t ts;       //!< time step of the next sample
        uint32_t uid;      //!< its place among the events of that time
        uint64_t interval; //!< time steps from one to the next
        bool runs;         //!< whether there is a next one
        Sample sample;     //!< takes one
        Repeat repeat;     //!< counts those that are not taken
    };

    /**
     * \brief Take the sample that is due, and schedule what follows.
     * \param series the series
     */
    void Tick(Series& series);

    /**
     * \brief Count the samples before the next event of the network.
     * \param series the series, whose sample has just been taken
     */
    void SkipIdleTime(Series& series) const;

    /// Schedule the next sample of all series.
    void ScheduleNext();

    Ptr<WheelSimulatorImpl> m_wheel; //!< the simulator
    std::deque<Series> m_series;     //!< the series
    uint64_t m_ticks{0};             //!< events that were samples
};

} // namespace ns3

#endif /* SAMPLING_CLOCK_H */
