/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_SLOT_H
#define WHEEL_SLOT_H

#include "wheel-event.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief An event in a slot of EventWheel, which knows its time.
 */
struct WheelEntry
{
    uintptr_t tagged; //!< the event's implementation, with FORESEEN and ARRIVAL
    uint32_t context; //!< its node
    uint32_t number;  //!< lower half of WheelEvent::id: what waits in the wheel is not as old

    WheelEntry() = default;

    /**
     * \param ev the event
     */
    explicit WheelEntry(const WheelEvent& ev)
        : tagged(reinterpret_cast<uintptr_t>(ev.impl) | (ev.isForeseen ? FORESEEN : 0) |
                 (ev.isArrival ? ARRIVAL : 0)),
          context(ev.context),
          number(static_cast<uint32_t>(ev.id))
    {
    }

    /**
     * \param ts its time
     * \param id WheelEvent::id
     * \return the event
     */
    WheelEvent ToEvent(uint64_t ts, uint64_t id) const
    {
        return {GetImpl(), ts, id, context, IsForeseen(), IsArrival()};
    }

    /// \return what runs
    EventImpl* GetImpl() const
    {
        return reinterpret_cast<EventImpl*>(tagged & ~(FORESEEN | ARRIVAL));
    }

    /// \return whether it is a ForeseenEvent
    bool IsForeseen() const
    {
        return (tagged & FORESEEN) != 0;
    }

    /// \return whether it is the arrival of a frame
    bool IsArrival() const
    {
        return (tagged & ARRIVAL) != 0;
    }

  private:
    static constexpr uintptr_t FORESEEN = 1; //!< bit of tagged: a ForeseenEvent
    static constexpr uintptr_t ARRIVAL = 2;  //!< bit of tagged: the arrival of a frame
};

static_assert(sizeof(WheelEntry) == 16, "four entries are a cache line");

/**
 * \ingroup hpcc
 * \brief The events of one time step of EventWheel.
 */
struct WheelSlot
{
    static constexpr uint64_t UNARRANGED = 0;     //!< nobody has looked at them
    static constexpr uint64_t UNNOTED = 1;        //!< each node's are in canonical order
    static constexpr uint64_t WHOLE = UINT64_MAX; //!< events of different nodes are, too

    std::vector<WheelEntry> entries; //!< the events
    /// UNARRANGED, UNNOTED, WHOLE, or a number by which SlotOrder knows where each node's events
    /// end.
    uint64_t arranged{UNARRANGED};

    /// Events have moved: it is not known any more where each node's end.
    void ForgetPlaces()
    {
        arranged = arranged == UNARRANGED || arranged == WHOLE ? arranged : UNNOTED;
    }
};

} // namespace ns3

#endif /* WHEEL_SLOT_H */
