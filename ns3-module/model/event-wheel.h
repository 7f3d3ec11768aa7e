/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef EVENT_WHEEL_H
#define EVENT_WHEEL_H

#include "ns3/event-impl.h"
#include "ns3/scheduler.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A queue of events for packet traffic: a timing wheel, and a heap for what is far away.
 *
 * Frames of a datacenter network are events of the next microseconds. The wheel has a slot for each of the next
 * 4096 time steps; insertion and removal there take constant time, however many events wait. The events of one
 * step are a list in the order of their ids, which is the order of their insertion and of their execution.
 * Events beyond the wheel (timers, arrivals of flows) wait in a binary heap and are taken from there directly.
 */
class EventWheel
{
  public:
    /// An event with its time, id and context.
    using Event = Scheduler::Event;

    EventWheel()
    {
        m_occupied.fill(0);
    }

    /// \return whether no event waits
    bool IsEmpty() const
    {
        return m_nextTs == NEVER && m_far.empty();
    }

    /**
     * \brief Insert an event whose id is the largest so far.
     * \param ev the event
     */
    void Insert(const Event& ev)
    {
        if (ev.key.m_ts - m_base >= SLOTS)
        {
            m_far.push_back(ev);
            std::push_heap(m_far.begin(), m_far.end(), IsLater);
            return;
        }
        const uint32_t index = NewEntry(ev);
        Slot& slot = m_slots[ev.key.m_ts % SLOTS];
        if (slot.head == NIL)
        {
            slot.head = index;
            Occupy(ev.key.m_ts);
        }
        else
        {
            m_entries[slot.tail].next = index;
            m_entries[index].previous = slot.tail;
        }
        slot.tail = index;
    }

    /**
     * \brief Insert an event whose id was assigned earlier: it runs where it would, had it been inserted then.
     * \param ev the event
     */
    void InsertInOrder(const Event& ev)
    {
        Slot& slot = m_slots[ev.key.m_ts % SLOTS];
        const bool far = ev.key.m_ts - m_base >= SLOTS;
        if (far || slot.head == NIL || IsBefore(m_entries[slot.tail].event, ev))
        {
            Insert(ev);
            return;
        }
        // Most events of a time were inserted long before, so that the place is near the end of the list.
        const uint32_t index = NewEntry(ev);
        uint32_t behind = slot.tail;
        while (behind != slot.head && !IsBefore(m_entries[m_entries[behind].previous].event, ev))
        {
            behind = m_entries[behind].previous;
        }
        m_entries[index].next = behind;
        if (behind == slot.head)
        {
            slot.head = index;
        }
        else
        {
            m_entries[index].previous = m_entries[behind].previous;
            m_entries[m_entries[behind].previous].next = index;
        }
        m_entries[behind].previous = index;
    }

    /**
     * \brief Look at the next event.
     * \pre there is one
     * \return the event
     */
    const Event& Peek() const
    {
        return NextIsFar() ? m_far.front() : m_entries[m_slots[m_nextTs % SLOTS].head].event;
    }

    /**
     * \brief Take the next event.
     * \pre there is one
     * \return the event
     */
    Event Pop()
    {
        if (NextIsFar())
        {
            std::pop_heap(m_far.begin(), m_far.end(), IsLater);
            const Event next = m_far.back();
            m_far.pop_back();
            m_base = next.key.m_ts;
            return next;
        }
        m_base = m_nextTs;
        const Event next = PopFront(m_slots[m_nextTs % SLOTS]);
        Advance();
        return next;
    }

    /**
     * \brief Remove an event. Takes time in proportion to the events that wait with it.
     * \param ev the event
     */
    void Remove(const Event& ev)
    {
        const auto isIt = [&ev](const Event& other) { return other.key.m_uid == ev.key.m_uid; };
        const auto far = std::find_if(m_far.begin(), m_far.end(), isIt);
        if (far != m_far.end())
        {
            m_far.erase(far);
            std::make_heap(m_far.begin(), m_far.end(), IsLater);
            return;
        }
        std::vector<Event> kept;
        Slot& slot = m_slots[ev.key.m_ts % SLOTS];
        while (slot.head != NIL)
        {
            kept.push_back(PopFront(slot));
        }
        Vacate(ev.key.m_ts);
        for (const Event& event : kept)
        {
            if (!isIt(event))
            {
                Insert(event);
            }
        }
        m_nextTs = FirstOccupied();
    }

  private:
    static constexpr uint32_t SLOTS = 4096;         //!< steps that the wheel spans
    static constexpr uint32_t WORDS = SLOTS / 64;   //!< words of the occupancy bitmap
    static constexpr uint32_t NIL = UINT32_MAX;     //!< end of a list
    static constexpr uint64_t NEVER = UINT64_MAX;   //!< time of no event
    static_assert(WORDS == 64, "one word must hold a bit for each word of the bitmap");

    /// An event in a slot's list.
    struct Entry
    {
        Event event;       //!< the event
        uint32_t next;     //!< index of the list's next entry
        uint32_t previous; //!< index of the list's previous entry; not valid in the first
    };

    /// The list of one time step.
    struct Slot
    {
        uint32_t head{NIL}; //!< index of the first entry
        uint32_t tail{NIL}; //!< index of the last entry; not valid in an empty list
    };

    /**
     * \param a an event
     * \param b another event
     * \return whether a runs after b; of two events the heap has the earlier one on top
     */
    static bool IsLater(const Event& a, const Event& b)
    {
        return b.key < a.key;
    }

    /**
     * \param a an event
     * \param b an event of the same time
     * \return whether a has the lower id; ids may have wrapped around
     */
    static bool IsBefore(const Event& a, const Event& b)
    {
        return static_cast<int32_t>(a.key.m_uid - b.key.m_uid) < 0;
    }

    /// \return whether the next event is in the heap, not in the wheel
    bool NextIsFar() const
    {
        if (m_far.empty() || m_far.front().key.m_ts > m_nextTs)
        {
            return false;
        }
        return m_far.front().key.m_ts < m_nextTs ||
               IsBefore(m_far.front(), m_entries[m_slots[m_nextTs % SLOTS].head].event);
    }

    /**
     * \param ev an event
     * \return index of an entry that holds it
     */
    uint32_t NewEntry(const Event& ev)
    {
        if (m_free == NIL)
        {
            m_entries.push_back({ev, NIL, NIL});
            return static_cast<uint32_t>(m_entries.size() - 1);
        }
        const uint32_t index = m_free;
        m_free = m_entries[index].next;
        m_entries[index] = {ev, NIL, NIL};
        return index;
    }

    /**
     * \param slot a list that is not empty
     * \return its first event, which is no longer in it
     */
    Event PopFront(Slot& slot)
    {
        const uint32_t index = slot.head;
        Entry& entry = m_entries[index];
        slot.head = entry.next;
        entry.next = m_free;
        m_free = index;
        return entry.event;
    }

    /**
     * \brief The slot of a time has got its first event.
     * \param ts the time
     */
    void Occupy(uint64_t ts)
    {
        const uint32_t slot = ts % SLOTS;
        m_occupied[slot / 64] |= uint64_t{1} << (slot % 64);
        m_occupiedWords |= uint64_t{1} << (slot / 64);
        m_nextTs = std::min(m_nextTs, ts);
    }

    /**
     * \brief The slot of a time has lost its last event.
     * \param ts the time
     */
    void Vacate(uint64_t ts)
    {
        const uint32_t slot = ts % SLOTS;
        m_occupied[slot / 64] &= ~(uint64_t{1} << (slot % 64));
        if (m_occupied[slot / 64] == 0)
        {
            m_occupiedWords &= ~(uint64_t{1} << (slot / 64));
        }
    }

    /// An event of the next time was taken: find the time of the next one, and fetch what will be needed of it.
    void Advance()
    {
        if (m_slots[m_nextTs % SLOTS].head == NIL)
        {
            Vacate(m_nextTs);
            m_nextTs = FirstOccupied();
            if (m_nextTs == NEVER)
            {
                return;
            }
        }
        __builtin_prefetch(m_entries[m_slots[m_nextTs % SLOTS].head].event.impl, 1);
    }

    /// \return time of the wheel's earliest event
    uint64_t FirstOccupied() const
    {
        if (m_occupiedWords == 0)
        {
            return NEVER;
        }
        const uint32_t base = m_base % SLOTS;
        const uint32_t word = base / 64;
        const uint64_t here = m_occupied[word] >> (base % 64);
        uint32_t slot = 0;
        if (here)
        {
            slot = base + LowestBit(here);
        }
        else
        {
            // The words behind this one, then round to this one again for what precedes the base in it.
            const uint64_t behind = word == WORDS - 1 ? 0 : m_occupiedWords >> (word + 1);
            const uint32_t found = behind ? word + 1 + LowestBit(behind) : LowestBit(m_occupiedWords);
            slot = found * 64 + LowestBit(m_occupied[found]);
        }
        return m_base + (slot + SLOTS - base) % SLOTS;
    }

    /**
     * \param word not 0
     * \return index of its lowest bit that is set
     */
    static uint32_t LowestBit(uint64_t word)
    {
        return __builtin_ctzll(word);
    }

    std::array<Slot, SLOTS> m_slots;        //!< the wheel; a slot's index is its time modulo SLOTS
    std::array<uint64_t, WORDS> m_occupied; //!< a bit for each slot that has events
    uint64_t m_occupiedWords{0};            //!< a bit for each word of m_occupied that is not 0
    uint64_t m_base{0};                     //!< time of the latest removal: where the wheel begins
    uint64_t m_nextTs{NEVER};               //!< time of the wheel's earliest event
    std::vector<Entry> m_entries;           //!< storage of the lists
    uint32_t m_free{NIL};                   //!< list of unused entries
    std::vector<Event> m_far;               //!< binary heap of the events beyond the wheel
};

} // namespace ns3

#endif /* EVENT_WHEEL_H */
