/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef EVENT_WHEEL_H
#define EVENT_WHEEL_H

#include "foreseen-event.h"

#include "ns3/scheduler.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A queue of events for packet traffic: a timing wheel, and a heap for what is far away.
 *
 * Frames of a datacenter network are events of the next microseconds. The wheel has a slot for each of the next
 * 4096 time steps; insertion and removal there take constant time, however many events wait. The events of one
 * step are an array in the order of their ids, which is the order of their insertion and of their execution.
 * Events beyond the wheel (timers, arrivals of flows) wait in a binary heap and are taken from there directly.
 *
 * The wheel looks a few events ahead and lets those that are ForeseenEvents fetch what they will touch.
 */
class EventWheel
{
  public:
    /// An event with its time, id and context.
    using Event = Scheduler::Event;

    EventWheel()
    {
        m_occupied.fill(0);
        m_slots.fill(0);
        m_lists.emplace_back();
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
        Append(ev, Entry::Of(ev));
    }

    /**
     * \brief The same for an event that can be foreseen.
     * \param ev the event; its implementation is a ForeseenEvent
     */
    void InsertForeseen(const Event& ev)
    {
        Append(ev, Entry::OfForeseen(ev));
    }

    /**
     * \brief Insert an event whose id was assigned earlier: it runs where it would, had it been inserted then.
     * \param ev the event
     */
    void InsertInOrder(const Event& ev)
    {
        PutInOrder(ev, Entry::Of(ev));
    }

    /**
     * \brief The same for an event that can be foreseen.
     * \param ev the event; its implementation is a ForeseenEvent
     */
    void InsertForeseenInOrder(const Event& ev)
    {
        PutInOrder(ev, Entry::OfForeseen(ev));
    }

    /**
     * \brief Look at the next event.
     * \pre there is one
     * \return the event
     */
    Event Peek() const
    {
        return NextIsFar() ? m_far.front() : GetSlot(m_nextTs)[m_taken].ToEvent(m_nextTs);
    }

    /**
     * \brief Take the next event, to run it. The events behind it may fetch what they will touch.
     * \pre there is one
     * \return the event
     */
    Event Pop()
    {
        const Event next = Discard();
        if (m_count >= SOME)
        {
            LookAhead();
        }
        return next;
    }

    /**
     * \brief Take the next event.
     * \pre there is one
     * \return the event
     */
    Event Discard()
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
        Slot& slot = GetSlot(m_nextTs);
        const Entry next = slot[m_taken++];
        --m_count;
        if (m_seen != m_looked && m_ahead[m_seen % RING] == next.tagged)
        {
            ++m_seen;
        }
        if (m_taken == slot.size())
        {
            Vacate(slot, m_nextTs);
        }
        return next.ToEvent(m_base);
    }

    /**
     * \brief Remove an event, if it waits. Takes time in proportion to the events that wait with it.
     * \param ev the event
     */
    void Remove(const Event& ev)
    {
        ForgetAhead();
        Slot& slot = GetSlot(ev.key.m_ts);
        const std::size_t taken = GetTaken(ev.key.m_ts);
        const auto place = FindPlace(slot, taken, ev.key.m_uid);
        if (place != slot.end() && place->uid == ev.key.m_uid)
        {
            slot.erase(place);
            --m_count;
            if (slot.size() == taken)
            {
                Vacate(slot, ev.key.m_ts);
            }
            return;
        }
        const auto isIt = [&ev](const Event& other) { return other.key.m_uid == ev.key.m_uid; };
        const auto far = std::find_if(m_far.begin(), m_far.end(), isIt);
        if (far != m_far.end())
        {
            m_far.erase(far);
            std::make_heap(m_far.begin(), m_far.end(), IsLater);
        }
    }

  private:
    static constexpr uint32_t SLOTS = 4096;       //!< steps that the wheel spans
    static constexpr uint32_t WORDS = SLOTS / 64; //!< words of the occupancy bitmap
    static constexpr uint64_t NEVER = UINT64_MAX; //!< time of no event
    static constexpr uint32_t APART = 2;          //!< events from one step of fetching to the next
    static constexpr uint32_t AHEAD = APART * ForeseenEvent::STEPS; //!< events that are looked at before their turn
    static constexpr uint32_t RING = 16;          //!< place for them: a power of two, for their numbers wrap around
    static_assert(RING >= AHEAD, "every event that was looked at needs a place until it is taken");
    static_assert(WORDS == 64, "one word must hold a bit for each word of the bitmap");
    /// From so many events on it pays to fetch those that come next.
    static constexpr std::size_t SOME = 64;
    /// From so many on it pays to ask them for more: what fewer touch stays in a processor's own caches (some megabytes).
    static constexpr std::size_t MANY = 16384;

    /// An event in a slot, which knows its time.
    struct Entry
    {
        uintptr_t tagged; //!< the event's implementation; bit 0: it is a ForeseenEvent
        uint32_t uid;     //!< its id
        uint32_t context; //!< its context

        /**
         * \param ev an event
         * \return its entry
         */
        static Entry Of(const Event& ev)
        {
            return {reinterpret_cast<uintptr_t>(ev.impl), ev.key.m_uid, ev.key.m_context};
        }

        /**
         * \param ev an event that can be foreseen
         * \return its entry
         */
        static Entry OfForeseen(const Event& ev)
        {
            return {reinterpret_cast<uintptr_t>(ev.impl) | 1, ev.key.m_uid, ev.key.m_context};
        }

        /**
         * \param ts its time
         * \return the event
         */
        Event ToEvent(uint64_t ts) const
        {
            return {reinterpret_cast<EventImpl*>(tagged & ~uintptr_t{1}), {ts, uid, context}};
        }
    };

    /// The events of one time step.
    using Slot = std::vector<Entry>;

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
     * \param a id of an event
     * \param b id of an event of the same time
     * \return whether a is the lower one; ids may have wrapped around
     */
    static bool IsBefore(uint32_t a, uint32_t b)
    {
        return static_cast<int32_t>(a - b) < 0;
    }

    /**
     * \param slot events of one time
     * \param taken how many of them have run
     * \param uid id of another, or of one of them
     * \return its place: that of the first whose id is not lower
     */
    static Slot::iterator FindPlace(Slot& slot, std::size_t taken, uint32_t uid)
    {
        const auto precedes = [](const Entry& entry, uint32_t id) { return IsBefore(entry.uid, id); };
        return std::lower_bound(slot.begin() + static_cast<std::ptrdiff_t>(taken), slot.end(), uid, precedes);
    }

    /// \return whether the next event is in the heap, not in the wheel
    bool NextIsFar() const
    {
        if (m_far.empty() || m_far.front().key.m_ts > m_nextTs)
        {
            return false;
        }
        return m_far.front().key.m_ts < m_nextTs ||
               IsBefore(m_far.front().key.m_uid, GetSlot(m_nextTs)[m_taken].uid);
    }

    /**
     * \brief Insert an event behind all others of its time.
     * \param ev the event
     * \param entry its entry
     */
    void Append(const Event& ev, Entry entry)
    {
        if (ev.key.m_ts - m_base >= SLOTS)
        {
            m_far.push_back(ev);
            std::push_heap(m_far.begin(), m_far.end(), IsLater);
            return;
        }
        if (!m_slots[ev.key.m_ts % SLOTS])
        {
            Occupy(ev.key.m_ts);
        }
        GetSlot(ev.key.m_ts).push_back(entry);
        ++m_count;
    }

    /**
     * \brief Insert an event at the place of its id.
     * \param ev the event
     * \param entry its entry
     */
    void PutInOrder(const Event& ev, Entry entry)
    {
        Slot& slot = GetSlot(ev.key.m_ts);
        const bool far = ev.key.m_ts - m_base >= SLOTS;
        if (far || slot.empty() || IsBefore(slot.back().uid, ev.key.m_uid))
        {
            Append(ev, entry);
            return;
        }
        const auto place = FindPlace(slot, GetTaken(ev.key.m_ts), ev.key.m_uid);
        if (ev.key.m_ts == m_lookTs && static_cast<std::size_t>(place - slot.begin()) < m_lookAt)
        {
            ++m_lookAt;
        }
        slot.insert(place, entry);
        ++m_count;
    }

    /**
     * \param ts a time that is not passed
     * \return how many events of its slot have been taken already
     */
    std::size_t GetTaken(uint64_t ts) const
    {
        return ts == m_nextTs ? m_taken : 0;
    }

    /**
     * \param ts a time that is not passed
     * \return the events of its slot
     */
    const Slot& GetSlot(uint64_t ts) const
    {
        return m_lists[m_slots[ts % SLOTS]];
    }

    /**
     * \param ts a time that is not passed
     * \return the events of its slot
     */
    Slot& GetSlot(uint64_t ts)
    {
        return m_lists[m_slots[ts % SLOTS]];
    }

    /**
     * \brief A slot gets its first event: it gets the memory that was vacated last, for that is in the cache.
     * \param ts its time
     */
    void Occupy(uint64_t ts)
    {
        const uint32_t index = ts % SLOTS;
        if (m_spare.empty())
        {
            m_spare.push_back(static_cast<uint32_t>(m_lists.size()));
            m_lists.emplace_back();
        }
        m_slots[index] = m_spare.back();
        m_spare.pop_back();
        m_occupied[index / 64] |= uint64_t{1} << (index % 64);
        m_occupiedWords |= uint64_t{1} << (index / 64);
        if (ts < m_nextTs)
        {
            m_nextTs = ts;
            m_taken = 0;
        }
    }

    /**
     * \brief A slot has lost its last event.
     * \param slot the slot
     * \param ts its time
     */
    void Vacate(Slot& slot, uint64_t ts)
    {
        const uint32_t index = ts % SLOTS;
        slot.clear();
        m_spare.push_back(std::exchange(m_slots[index], 0));
        m_occupied[index / 64] &= ~(uint64_t{1} << (index % 64));
        if (m_occupied[index / 64] == 0)
        {
            m_occupiedWords &= ~(uint64_t{1} << (index / 64));
        }
        if (ts == m_nextTs)
        {
            m_nextTs = FirstOccupied(m_base);
            m_taken = 0;
        }
    }

    /// Look at events until AHEAD of them wait.
    void LookAhead()
    {
        while (m_looked - m_seen < AHEAD)
        {
            if (m_lookTs == NEVER || m_lookTs < m_nextTs || (m_lookTs == m_nextTs && m_lookAt < m_taken))
            {
                m_lookTs = m_nextTs;
                m_lookAt = m_taken;
            }
            else if (m_lookAt >= GetSlot(m_lookTs).size())
            {
                const uint64_t ts = FirstOccupied(m_lookTs + 1);
                if (ts == NEVER)
                {
                    return;
                }
                m_lookTs = ts;
                m_lookAt = 0;
            }
            LookAt(GetSlot(m_lookTs)[m_lookAt++]);
        }
    }

    /**
     * \brief Look at an event, and once more at those before it.
     * \param entry the event
     */
    void LookAt(const Entry& entry)
    {
        m_ahead[m_looked % RING] = entry.tagged;
        if (entry.tagged & 1)
        {
            FetchLines(reinterpret_cast<const void*>(entry.tagged & ~uintptr_t{1}), ForeseenEvent::LINES);
        }
        for (unsigned step = 1; step < ForeseenEvent::STEPS && m_count >= MANY; ++step)
        {
            const uint32_t before = m_looked - step * APART;
            const uintptr_t tagged = m_ahead[before % RING];
            // The difference of ids that wrap around: only those that still wait.
            if (static_cast<int32_t>(before - m_seen) >= 0 && tagged & 1)
            {
                static_cast<ForeseenEvent*>(reinterpret_cast<EventImpl*>(tagged & ~uintptr_t{1}))->Fetch(step);
            }
        }
        ++m_looked;
    }

    /// An event may go before its turn: look at none until new ones are looked at.
    void ForgetAhead()
    {
        m_seen = m_looked;
        m_lookTs = NEVER;
    }

    /**
     * \param from a time, at most SLOTS steps behind the wheel's beginning
     * \return time of the wheel's earliest event from then on
     */
    uint64_t FirstOccupied(uint64_t from) const
    {
        if (m_occupiedWords == 0)
        {
            return NEVER;
        }
        const uint32_t base = from % SLOTS;
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
        const uint64_t ts = from + (slot + SLOTS - base) % SLOTS;
        return ts - m_base < SLOTS ? ts : NEVER;
    }

    /**
     * \param word not 0
     * \return index of its lowest bit that is set
     */
    static uint32_t LowestBit(uint64_t word)
    {
        return __builtin_ctzll(word);
    }

    std::array<uint32_t, SLOTS> m_slots;    //!< the wheel: by time modulo SLOTS, which of m_lists has its events
    std::vector<Slot> m_lists;              //!< lists of events; the first stays empty, for times without any
    std::vector<uint32_t> m_spare;          //!< which others are empty
    std::array<uint64_t, WORDS> m_occupied; //!< a bit for each slot that has events
    uint64_t m_occupiedWords{0};            //!< a bit for each word of m_occupied that is not 0
    uint64_t m_base{0};                     //!< time of the latest removal: where the wheel begins
    uint64_t m_nextTs{NEVER};               //!< time of the wheel's earliest event
    std::size_t m_count{0};                 //!< events in the wheel
    std::size_t m_taken{0};                 //!< events of that time that were taken already
    std::array<uintptr_t, RING> m_ahead{};  //!< the latest events that were looked at, as Entry::tagged
    uint32_t m_looked{0};                   //!< how many were looked at so far
    uint32_t m_seen{0};                     //!< how many of them have been taken
    uint64_t m_lookTs{NEVER};               //!< time of the event that is looked at next
    std::size_t m_lookAt{0};                //!< its place in the slot
    std::vector<Event> m_far;               //!< binary heap of the events beyond the wheel
};

} // namespace ns3

#endif /* EVENT_WHEEL_H */
