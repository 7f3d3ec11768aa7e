/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FORESEEN_EVENT_H
#define FORESEEN_EVENT_H

#include "ns3/event-impl.h"

#include <cstddef>
#include <cstdint>

namespace ns3
{

/**
 * \brief Start to load memory into the cache, which takes as long as some events do.
 * \param memory where the first byte is
 * \param lines cache lines from there on
 */
inline void
FetchLines(const void* memory, std::size_t lines)
{
    constexpr std::size_t LINE = 64;
    for (std::size_t line = 0; line < lines; ++line)
    {
        __builtin_prefetch(static_cast<const std::byte*>(memory) + line * LINE, 1);
    }
}

/**
 * \ingroup hpcc
 * \brief An event that can fetch the memory that it will touch before its turn.
 *
 * In a large network nearly all of it has left the cache since the last event of the port. The
 * event wheel asks each event a few events before its turn, in steps: what a step has fetched says
 * where the next one finds more. A step changes nothing that a result depends on.
 *
 * Nobody has an EventId of such an event, by which it could be cancelled, and it belongs to someone
 * who stays as long as the simulation runs. So a WheelSimulatorImpl lets it happen without more
 * ado, and holds no reference to it.
 */
class ForeseenEvent : public EventImpl
{
  public:
    /// Steps of fetching. The first, by the wheel itself, fetches the beginning of the event.
    static constexpr unsigned STEPS = 5;
    /// Cache lines of the event that the first step fetches.
    static constexpr std::size_t LINES = 3;

    /**
     * \brief Fetch more of what the event will touch.
     * \param step which step, 1 to STEPS - 1
     */
    virtual void Fetch(unsigned step) = 0;

    /// What happens when its turn has come.
    void Notify() override = 0;
};

} // namespace ns3

#endif /* FORESEEN_EVENT_H */
