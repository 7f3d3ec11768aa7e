/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_SLOT_H
#define WHEEL_SLOT_H

#include "wheel-event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
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
 * \brief The events of a slot, in a row. Where there are few, as in most small networks, they stand
 * in the slot itself; SlotMemory lends it room for more.
 */
class SlotEntries
{
  public:
    SlotEntries() = default;
    // It has a pointer into itself.
    SlotEntries(const SlotEntries&) = delete;
    SlotEntries& operator=(const SlotEntries&) = delete;

    /// \return the first event
    WheelEntry* begin()
    {
        return m_first;
    }

    /// \return the first event
    const WheelEntry* begin() const
    {
        return m_first;
    }

    /// \return the place behind the last event
    WheelEntry* end()
    {
        return m_first + m_size;
    }

    /// \return the place behind the last event
    const WheelEntry* end() const
    {
        return m_first + m_size;
    }

    /// \return how many there are
    std::size_t size() const
    {
        return m_size;
    }

    /**
     * \param place which event, counted from 0
     * \return the event
     */
    WheelEntry& operator[](std::size_t place)
    {
        return m_first[place];
    }

    /// \return whether there is room for one more
    bool HasRoom() const
    {
        return m_size < m_room;
    }

    /**
     * \brief Append an event.
     * \pre HasRoom()
     * \param entry the event
     */
    void Append(const WheelEntry& entry)
    {
        m_first[m_size++] = entry;
    }

    /**
     * \brief Insert an event.
     * \pre HasRoom()
     * \param place where; those from there on move on by one
     * \param entry the event
     */
    void Insert(WheelEntry* place, const WheelEntry& entry)
    {
        std::move_backward(place, end(), end() + 1);
        *place = entry;
        ++m_size;
    }

    /**
     * \brief Remove an event.
     * \param place which
     */
    void Erase(WheelEntry* place)
    {
        std::move(place + 1, end(), place);
        --m_size;
    }

  private:
    friend class SlotMemory;

    static constexpr uint32_t OWN = 2; //!< events that the slot itself has room for

    WheelEntry* m_first{m_own.data()};    //!< the events: in m_own, or in m_lent
    uint32_t m_size{0};                   //!< how many there are
    uint32_t m_room{OWN};                 //!< how many there is room for
    std::unique_ptr<WheelEntry[]> m_lent; //!< room for more
    std::array<WheelEntry, OWN> m_own;    //!< room for few
};

/**
 * \ingroup hpcc
 * \brief Room for the events of slots that have more than a few.
 */
class SlotMemory
{
  public:
    /**
     * \brief Give a slot more room.
     * \param entries its events
     */
    [[gnu::noinline]] void Extend(SlotEntries& entries)
    {
        Room room = Take(2 * entries.m_room);
        std::copy(entries.begin(), entries.end(), room.memory.get());
        entries.m_first = room.memory.get();
        entries.m_lent = std::move(room.memory);
        entries.m_room = room.size;
    }

    /**
     * \brief Remove all events of a slot, and take back what it was lent.
     * \param entries its events
     */
    void Clear(SlotEntries& entries)
    {
        entries.m_size = 0;
        if (entries.m_lent)
        {
            TakeBack(entries);
        }
    }

  private:
    /// Room that no slot has.
    struct Room
    {
        std::unique_ptr<WheelEntry[]> memory; //!< the places
        uint32_t size;                        //!< how many
    };

    /// Room that is lent is for so many events at least.
    static constexpr uint32_t LEAST = 16;

    /**
     * \brief Find room: what was taken back last, for that is in the cache. What is too small now
     * will be so again, and goes.
     * \param least for how many events
     * \return the room
     */
    Room Take(uint32_t least)
    {
        while (!m_spare.empty())
        {
            Room room = std::move(m_spare.back());
            m_spare.pop_back();
            if (room.size >= least)
            {
                return room;
            }
        }
        const uint32_t size = std::max(LEAST, least);
        return {std::make_unique<WheelEntry[]>(size), size};
    }

    /**
     * \brief Take back what a slot was lent.
     * \param entries its events, of which there are none
     */
    void TakeBack(SlotEntries& entries)
    {
        m_spare.push_back({std::move(entries.m_lent), entries.m_room});
        entries.m_first = entries.m_own.data();
        entries.m_room = SlotEntries::OWN;
    }

    std::vector<Room> m_spare; //!< room that no slot has, the latest at the end
};

/**
 * \ingroup hpcc
 * \brief The events of one time step of EventWheel: one cache line, and what it was lent.
 */
struct alignas(64) WheelSlot
{
    static constexpr uint64_t UNARRANGED = 0;     //!< nobody has looked at them
    static constexpr uint64_t UNNOTED = 1;        //!< each node's are in canonical order
    static constexpr uint64_t WHOLE = UINT64_MAX; //!< those of different nodes are, too

    SlotEntries entries; //!< the events
    /// UNARRANGED, UNNOTED, WHOLE, or a number by which SlotOrder knows where those of a node end.
    uint64_t arranged{UNARRANGED};

    /// Events have moved: where those of a node end is not known any more.
    void ForgetPlaces()
    {
        arranged = arranged == UNARRANGED || arranged == WHOLE ? arranged : UNNOTED;
    }
};

static_assert(sizeof(WheelSlot) == 64, "a slot is one cache line");

} // namespace ns3

#endif /* WHEEL_SLOT_H */
