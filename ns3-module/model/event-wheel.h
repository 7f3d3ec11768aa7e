/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef EVENT_WHEEL_H
#define EVENT_WHEEL_H

#include "foreseen-event.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Which of several events of the same nanosecond runs first.
 */
enum class EventOrder
{
    INSERTION, //!< the one that was inserted first, as in every sequential simulator of ns-3
    /**
     * Events of no node first, then by node. At one node frames that arrive, by port, then all
     * others by insertion. Nothing of it depends on what happens at other nodes meanwhile: it is
     * the same however many processes share a simulation.
     */
    CANONICAL,
};

/**
 * \ingroup hpcc
 * \brief A queue of events for packet traffic: a timing wheel, and a heap for what is far away.
 *
 * Frames of a datacenter network are events of the next microseconds. The wheel has a slot for each
 * of the next 4096 time steps; insertion and removal there take constant time, however many events
 * wait. The events of one step are an array in the order of their insertion, which is that of their
 * execution unless EventOrder says otherwise. Events beyond the wheel (timers, arrivals of flows)
 * wait in a binary heap and are taken from there directly. In canonical order the events of a step
 * are sorted when they are first looked at.
 *
 * The wheel looks a few events ahead and lets those that are ForeseenEvents fetch what they will
 * touch.
 */
class EventWheel
{
  public:
    /// Time of no event.
    static constexpr uint64_t NEVER = UINT64_MAX;

    /// An event with its time and its place among those of that time.
    struct Event
    {
        EventImpl* impl; //!< what runs
        uint64_t ts;     //!< when, in time steps
        /// How many were inserted before it; of an arrival in canonical order: the port.
        uint64_t id;
        uint32_t context; //!< its node
        bool isForeseen;  //!< whether it is a ForeseenEvent
        /// Whether it is the arrival of a frame, which matters in canonical order only.
        bool isArrival{false};
    };

    /**
     * \param order which of several events of a time runs first
     */
    explicit EventWheel(EventOrder order = EventOrder::INSERTION)
        : m_isCanonical(order == EventOrder::CANONICAL)
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
     * \brief Insert an event whose id is the largest so far, or an arrival.
     * \param ev the event
     */
    void Insert(const Event& ev)
    {
        if (ev.ts - m_base >= SLOTS)
        {
            m_far.push_back({ev.ts, Entry::Of(ev)});
            std::push_heap(m_far.begin(), m_far.end(), FarIsLater{*this});
            return;
        }
        if (!m_slots[ev.ts % SLOTS])
        {
            Occupy(ev.ts);
        }
        Slot& slot = GetSlot(ev.ts);
        if (slot.isSorted)
        {
            PutInOrder(slot, ev.ts, Entry::Of(ev));
            return;
        }
        slot.entries.push_back(Entry::Of(ev));
        ++m_count;
    }

    /**
     * \brief Insert an event whose id was assigned earlier: it runs where it would, had it been
     * inserted then.
     * \param ev the event
     */
    void InsertInOrder(const Event& ev)
    {
        Slot& slot = GetSlot(ev.ts);
        if (ev.ts - m_base >= SLOTS || slot.entries.empty())
        {
            Insert(ev);
        }
        else if (m_isCanonical && !slot.isSorted)
        {
            PutBehindOlder(slot, Entry::Of(ev));
        }
        else
        {
            PutInOrder(slot, ev.ts, Entry::Of(ev));
        }
    }

    /// \return the time of the next event, NEVER if none waits
    uint64_t PeekTs() const
    {
        return m_far.empty() ? m_nextTs : std::min(m_nextTs, m_far.front().ts);
    }

    /**
     * \brief Look at the next event.
     * \pre there is one
     * \return the event
     */
    Event Peek() const
    {
        if (NextIsFar())
        {
            return m_far.front().entry.ToEvent(m_far.front().ts);
        }
        return GetSlot(m_nextTs).entries[m_taken].ToEvent(m_nextTs);
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
            std::pop_heap(m_far.begin(), m_far.end(), FarIsLater{*this});
            const FarEntry next = m_far.back();
            m_far.pop_back();
            m_base = next.ts;
            return next.entry.ToEvent(next.ts);
        }
        m_base = m_nextTs;
        Slot& slot = GetSlot(m_nextTs);
        const Entry next = slot.entries[m_taken++];
        --m_count;
        if (m_seen != m_looked && m_ahead[m_seen % RING] == next.tagged)
        {
            ++m_seen;
        }
        if (m_taken == slot.entries.size())
        {
            Vacate(slot, m_nextTs);
        }
        return next.ToEvent(m_base);
    }

    /**
     * \brief Remove an event that is no arrival, if it waits. Takes time in proportion to the
     * events that wait with it.
     * \param ts its time
     * \param id the lower half of its id
     */
    void Remove(uint64_t ts, uint32_t id)
    {
        ForgetAhead();
        const auto isIt = [id](const Entry& entry) {
            return static_cast<uint32_t>(entry.id) == id && !entry.IsArrival();
        };
        Slot& slot = GetSlot(ts);
        const std::size_t taken = GetTaken(ts);
        const auto place = std::find_if(slot.entries.begin() + static_cast<std::ptrdiff_t>(taken),
                                        slot.entries.end(),
                                        isIt);
        if (place != slot.entries.end() && ts - m_base < SLOTS)
        {
            slot.entries.erase(place);
            --m_count;
            if (slot.entries.size() == taken)
            {
                Vacate(slot, ts);
            }
            return;
        }
        const auto far =
            std::find_if(m_far.begin(), m_far.end(), [ts, isIt](const FarEntry& entry) {
                return entry.ts == ts && isIt(entry.entry);
            });
        if (far != m_far.end())
        {
            m_far.erase(far);
            std::make_heap(m_far.begin(), m_far.end(), FarIsLater{*this});
        }
    }

    /**
     * \brief Compare two events of the same time.
     * \param a an event
     * \param b another event
     * \return whether a runs before b
     */
    bool RunsBefore(const Event& a, const Event& b) const
    {
        return Precedes(Entry::Of(a), Entry::Of(b));
    }

  private:
    static constexpr uint32_t SLOTS = 4096;       //!< steps that the wheel spans
    static constexpr uint32_t WORDS = SLOTS / 64; //!< words of the occupancy bitmap
    static constexpr uint32_t APART = 2;          //!< events from one step of fetching to the next
    /// Events that are looked at before their turn.
    static constexpr uint32_t AHEAD = APART * ForeseenEvent::STEPS;
    /// Place for them: a power of two, for their numbers wrap around.
    static constexpr uint32_t RING = 16;
    static_assert(RING >= AHEAD, "every event that was looked at needs a place until it is taken");
    static_assert(WORDS == 64, "one word must hold a bit for each word of the bitmap");
    /// From so many events on it pays to fetch those that come next.
    static constexpr std::size_t SOME = 64;
    /// Up to so many are sorted by insertion.
    static constexpr std::size_t FEW = 16;
    /// Indices that a sort key has room for.
    static constexpr std::size_t KEY_INDICES = 1 << 15;
    /// From so many on it pays to ask them for more: what fewer touch stays in a processor's own
    /// caches (some megabytes).
    static constexpr std::size_t MANY = 16384;

    static constexpr uintptr_t FORESEEN = 1; //!< bit of Entry::tagged: a ForeseenEvent

    /// An event in a slot, which knows its time.
    struct Entry
    {
        uintptr_t tagged; //!< the event's implementation; bit 0: it is a ForeseenEvent
        uint64_t id;      //!< Event::id
        /// Upper half: its context + 1, 0 if it has none; lower half: 0 for an arrival, 1 for all
        /// others.
        uint64_t place;

        /**
         * \param ev an event
         * \return its entry
         */
        static Entry Of(const Event& ev)
        {
            return {reinterpret_cast<uintptr_t>(ev.impl) | (ev.isForeseen ? FORESEEN : 0),
                    ev.id,
                    uint64_t{ev.context + 1} << 32 | (ev.isArrival ? 0 : 1)};
        }

        /// \return whether it is the arrival of a frame
        bool IsArrival() const
        {
            return static_cast<uint32_t>(place) == 0;
        }

        /**
         * \param ts its time
         * \return the event
         */
        Event ToEvent(uint64_t ts) const
        {
            return {reinterpret_cast<EventImpl*>(tagged & ~FORESEEN),
                    ts,
                    id,
                    static_cast<uint32_t>(place >> 32) - 1,
                    (tagged & FORESEEN) != 0,
                    IsArrival()};
        }
    };

    /// An event beyond the wheel.
    struct FarEntry
    {
        uint64_t ts; //!< its time
        Entry entry; //!< the event
    };

    /// The events of one time step.
    struct Slot
    {
        std::vector<Entry> entries; //!< the events
        /// Whether they are in canonical order, for they have been looked at.
        bool isSorted{false};
    };

    /// What the heap is made by: the event that runs first is on top.
    struct FarIsLater
    {
        const EventWheel& wheel; //!< whose heap it is

        /**
         * \param a an event
         * \param b another event
         * \return whether a runs after b
         */
        bool operator()(const FarEntry& a, const FarEntry& b) const
        {
            return a.ts != b.ts ? a.ts > b.ts : wheel.Precedes(b.entry, a.entry);
        }
    };

    /**
     * \param a an event
     * \param b another event of the same time
     * \return whether a runs before b
     */
    bool Precedes(const Entry& a, const Entry& b) const
    {
        return m_isCanonical ? PrecedesCanonically(a, b) : a.id < b.id;
    }

    /**
     * \param a an event
     * \param b another event of the same time
     * \return whether a runs before b in canonical order
     */
    static bool PrecedesCanonically(const Entry& a, const Entry& b)
    {
        // One comparison without branches, for its outcome is a matter of chance.
        using Key = unsigned __int128;
        return (Key{a.place} << 64 | a.id) < (Key{b.place} << 64 | b.id);
    }

    /**
     * \brief The slot is about to be looked at: bring its events into canonical order.
     * \param slot the slot
     */
    void Sort(Slot& slot)
    {
        if (!m_isCanonical || slot.isSorted)
        {
            return;
        }
        slot.isSorted = true;
        const std::size_t count = slot.entries.size();
        if (count <= 2)
        {
            if (count == 2 && PrecedesCanonically(slot.entries[1], slot.entries[0]))
            {
                std::swap(slot.entries[0], slot.entries[1]);
            }
            return;
        }
        if (count > KEY_INDICES)
        {
            std::sort(slot.entries.begin(), slot.entries.end(), PrecedesCanonically);
            return;
        }
        m_keys.resize(count);
        for (std::size_t index = 0; index < count; ++index)
        {
            m_keys[index] = MakeKey(slot.entries[index], index);
        }
        count <= FEW ? SortFew() : SortMany();
        m_sorted.resize(count);
        for (std::size_t index = 0; index < count; ++index)
        {
            m_sorted[index] = slot.entries[m_keys[index] % KEY_INDICES];
        }
        slot.entries.swap(m_sorted);
    }

    /**
     * \brief Put an event's place in canonical order into one number, which sorts faster than the
     * event.
     * \param entry the event; in its slot events other than arrivals are in the order of their ids
     * \param index its index there, below KEY_INDICES
     * \return from the top: 32 bits of its node, 1 bit for other than arrivals, 16 of the port and
     * 15 of the index; never negative, for a network has fewer nodes
     */
    static int64_t MakeKey(const Entry& entry, std::size_t index)
    {
        const uint64_t behind = entry.IsArrival() ? entry.id * KEY_INDICES : uint64_t{1} << 31;
        return static_cast<int64_t>((entry.place & ~uint64_t{UINT32_MAX}) | behind | index);
    }

    /// Sort the keys without branches, whose outcomes nothing can foresee: the place of each is how
    /// many are smaller.
    void SortFew()
    {
        const std::size_t count = m_keys.size();
        m_otherKeys.resize(count);
        const int64_t* keys = m_keys.data();
        for (std::size_t index = 0; index < count; ++index)
        {
            const int64_t key = keys[index];
            int64_t smaller = 0;
            for (std::size_t other = 0; other < count; ++other)
            {
                smaller += keys[other] < key ? 1 : 0;
            }
            m_otherKeys[static_cast<std::size_t>(smaller)] = key;
        }
        m_keys.swap(m_otherKeys);
    }

    /// Sort the keys by their nodes, byte by byte, then those of each node.
    void SortMany()
    {
        int64_t used = 0;
        for (const int64_t key : m_keys)
        {
            used |= key;
        }
        m_otherKeys.resize(m_keys.size());
        for (uint32_t shift = 32; shift < 64 && used >> shift; shift += 8)
        {
            std::array<uint32_t, 257> begins{};
            for (const int64_t key : m_keys)
            {
                ++begins[(key >> shift) % 256 + 1];
            }
            std::partial_sum(begins.begin(), begins.end(), begins.begin());
            for (const int64_t key : m_keys)
            {
                m_otherKeys[begins[(key >> shift) % 256]++] = key;
            }
            m_keys.swap(m_otherKeys);
        }
        for (auto begin = m_keys.begin(); begin != m_keys.end();)
        {
            const auto isOther = [node = *begin >> 32](int64_t key) { return key >> 32 != node; };
            const auto end = std::find_if(begin + 1, m_keys.end(), isOther);
            std::sort(begin, end);
            begin = end;
        }
    }

    /// \return whether the next event is in the heap, not in the wheel
    bool NextIsFar() const
    {
        if (m_far.empty() || m_far.front().ts > m_nextTs)
        {
            return false;
        }
        return m_far.front().ts < m_nextTs ||
               Precedes(m_far.front().entry, GetSlot(m_nextTs).entries[m_taken]);
    }

    /**
     * \brief Insert an event into a slot that is not in order yet. But for arrivals its events are
     * always in that of their ids, which sorting takes for granted.
     * \param slot the slot
     * \param entry the event, no arrival
     */
    void PutBehindOlder(Slot& slot, const Entry& entry)
    {
        auto place = slot.entries.end();
        for (; place != slot.entries.begin(); --place)
        {
            const Entry& before = *(place - 1);
            if (!before.IsArrival() && before.id < entry.id)
            {
                break;
            }
        }
        slot.entries.insert(place, entry);
        ++m_count;
    }

    /**
     * \brief Insert an event into a slot whose events are in order.
     * \param slot the slot
     * \param ts its time
     * \param entry the event
     */
    void PutInOrder(Slot& slot, uint64_t ts, const Entry& entry)
    {
        const auto first = slot.entries.begin() + static_cast<std::ptrdiff_t>(GetTaken(ts));
        const auto place =
            std::upper_bound(first,
                             slot.entries.end(),
                             entry,
                             [this](const Entry& a, const Entry& b) { return Precedes(a, b); });
        if (ts == m_lookTs && static_cast<std::size_t>(place - slot.entries.begin()) < m_lookAt)
        {
            ++m_lookAt;
        }
        slot.entries.insert(place, entry);
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
     * \brief A slot gets its first event: it gets the memory that was vacated last, for that is in
     * the cache.
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
            Sort(GetSlot(ts));
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
        slot.entries.clear();
        slot.isSorted = false;
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
            if (m_nextTs != NEVER)
            {
                Sort(GetSlot(m_nextTs));
            }
        }
    }

    /// Look at events until AHEAD of them wait.
    void LookAhead()
    {
        while (m_looked - m_seen < AHEAD)
        {
            if (m_lookTs == NEVER || m_lookTs < m_nextTs ||
                (m_lookTs == m_nextTs && m_lookAt < m_taken))
            {
                m_lookTs = m_nextTs;
                m_lookAt = m_taken;
            }
            else if (m_lookAt >= GetSlot(m_lookTs).entries.size())
            {
                const uint64_t ts = FirstOccupied(m_lookTs + 1);
                if (ts == NEVER)
                {
                    return;
                }
                m_lookTs = ts;
                m_lookAt = 0;
                Sort(GetSlot(ts));
            }
            LookAt(GetSlot(m_lookTs).entries[m_lookAt++]);
        }
    }

    /**
     * \brief Look at an event, and once more at those before it.
     * \param entry the event
     */
    void LookAt(const Entry& entry)
    {
        m_ahead[m_looked % RING] = entry.tagged;
        if (entry.tagged & FORESEEN)
        {
            FetchLines(reinterpret_cast<const void*>(entry.tagged & ~FORESEEN),
                       ForeseenEvent::LINES);
        }
        for (unsigned step = 1; step < ForeseenEvent::STEPS && m_count >= MANY; ++step)
        {
            const uint32_t before = m_looked - step * APART;
            const uintptr_t tagged = m_ahead[before % RING];
            // The difference of ids that wrap around: only those that still wait.
            if (static_cast<int32_t>(before - m_seen) >= 0 && tagged & FORESEEN)
            {
                static_cast<ForeseenEvent*>(reinterpret_cast<EventImpl*>(tagged & ~FORESEEN))
                    ->Fetch(step);
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
            // The words behind this one, then round to this one again for what precedes the base in
            // it.
            const uint64_t behind = word == WORDS - 1 ? 0 : m_occupiedWords >> (word + 1);
            const uint32_t found =
                behind ? word + 1 + LowestBit(behind) : LowestBit(m_occupiedWords);
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

    /// The wheel: by time modulo SLOTS, which of m_lists has its events.
    std::array<uint32_t, SLOTS> m_slots;
    /// Lists of events; the first stays empty, for times without any.
    std::vector<Slot> m_lists;
    std::vector<uint32_t> m_spare;          //!< which others are empty
    std::array<uint64_t, WORDS> m_occupied; //!< a bit for each slot that has events
    uint64_t m_occupiedWords{0};            //!< a bit for each word of m_occupied that is not 0
    uint64_t m_base{0};                     //!< time of the latest removal: where the wheel begins
    uint64_t m_nextTs{NEVER};               //!< time of the wheel's earliest event
    std::size_t m_count{0};                 //!< events in the wheel
    std::size_t m_taken{0};                 //!< events of that time that were taken already
    /// The latest events that were looked at, as Entry::tagged.
    std::array<uintptr_t, RING> m_ahead{};
    uint32_t m_looked{0};             //!< how many were looked at so far
    uint32_t m_seen{0};               //!< how many of them have been taken
    uint64_t m_lookTs{NEVER};         //!< time of the event that is looked at next
    std::size_t m_lookAt{0};          //!< its place in the slot
    std::vector<FarEntry> m_far;      //!< binary heap of the events beyond the wheel
    std::vector<int64_t> m_keys;      //!< sorted instead of events
    std::vector<int64_t> m_otherKeys; //!< takes turns with them
    std::vector<Entry> m_sorted;      //!< takes turns with the events of a slot
    bool m_isCanonical;               //!< whether EventOrder::CANONICAL holds
};

} // namespace ns3

#endif /* EVENT_WHEEL_H */
