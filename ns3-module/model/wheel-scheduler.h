/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_SCHEDULER_H
#define WHEEL_SCHEDULER_H

#include "event-wheel.h"

#include "ns3/scheduler.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief An EventWheel as a scheduler for any of ns-3's simulators.
 */
class WheelScheduler : public Scheduler
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    WheelScheduler();
    ~WheelScheduler() override;

    // Inherited
    void Insert(const Event& ev) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& ev) override;

  private:
    /**
     * \param event an event of the wheel
     * \return the same for ns-3
     */
    static Event ToEvent(const EventWheel::Event& event);

    mutable EventWheel m_wheel; //!< the events, which are arranged when they are looked at
    uint64_t m_latest{0};       //!< the largest id so far; ns-3 counts the lower half of it
};

} // namespace ns3

#endif /* WHEEL_SCHEDULER_H */
