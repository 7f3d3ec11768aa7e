/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef EVENT_WHEEL_H
#define EVENT_WHEEL_H

#include "far-events.h"
#include "foreseen-event.h"
#include "occupancy-map.h"
#include "wheel-event.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A queue of events for packet traffic: a timing wheel, and FarEvents behind it.
 *
 * Frames of a datacenter network are events of the next microseconds. The wheel has a slot for each
 * of the next 4096 time steps; insertion and removal there take constant time, however many events
 * wait. The events of one step are an array in the order of their insertion, which is that of their
 * execution unless EventOrder says otherwise. Events beyond the wheel (timers, arrivals of flows)
 * wait in FarEvents and are taken from there directly. In canonical order the events of a step
 * are arranged when they are first looked at.
 *
 * The wheel looks a few events ahead and lets those that are ForeseenEvents fetch what they will
 * touch.
 */
class EventWheel
{
  public:
    static constexpr uint64_t NEVER = FarEvents::NEVER; //!< time of no event
    using Event = WheelEvent;                           //!< what waits

    /**
     * \param order which of several events of a time runs first
     */
    explicit EventWheel(EventOrder order = EventOrder::INSERTION)
        : m_far(order),
          m_order(order),
          m_isCanonical(order == EventOrder::CANONICAL)
    {
        m_lists.emplace_back();
    }

    /// \return whether no event waits
    bool IsEmpty() const
    {
        return m_nextTs == NEVER && m_far.IsEmpty();
    }

    /**
     * \brief Insert an event whose id is the largest so far, or an arrival.
     * \param ev the event
     */
    void Insert(const Event& ev)
    {
        m_latestId = ev.isArrival && m_isCanonical ? m_latestId : ev.id;
        Put(ev, false);
    }

    /**
     * \brief Insert an event whose id was assigned earlier: it runs where it would, had it been
     * inserted then.
     * \param ev the event
     */
    void InsertInOrder(const Event& ev)
    {
        // In canonical order a slot is arranged later, whatever is inserted when.
        Put(ev, !m_isCanonical);
    }

    /// \return the time of the next event, NEVER if none waits
    uint64_t PeekTs()
    {
        return m_far.GetBound() >= m_nextTs ? m_nextTs : std::min(m_nextTs, m_far.Front().ts);
    }

    /**
     * \brief Look at the next event.
     * \pre there is one
     * \return the event
     */
    Event Peek()
    {
        if (NextIsFar())
        {
            return m_far.Front();
        }
        return ToEvent(GetSlot(m_nextTs).entries[m_taken], m_nextTs);
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
        return NextIsFar() ? TakeFar() : TakeNear();
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
            return entry.number == id && !entry.IsArrival();
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
            slot.ForgetPlaces();
            if (slot.entries.size() == taken)
            {
                Vacate(slot, ts);
            }
            return;
        }
        m_far.Remove(ts, [isIt](const Event& far) { return isIt(Entry(far)); });
    }

    /**
     * \brief Compare two events of the same time.
     * \param a an event
     * \param b another event
     * \return whether a runs before b
     */
    bool RunsBefore(const Event& a, const Event& b) const
    {
        return a.RunsBefore(b, m_order);
    }

  private:
    static constexpr uint32_t SLOTS = OccupancyMap::SIZE; //!< steps that the wheel spans
    static constexpr uint32_t APART = 2; //!< events from one step of fetching to the next
    /// Events that are looked at before their turn.
    static constexpr uint32_t AHEAD = APART * ForeseenEvent::STEPS;
    /// Place for them: a power of two, for their numbers wrap around.
    static constexpr uint32_t RING = 16;
    static_assert(RING >= AHEAD, "every event that was looked at needs a place until it is taken");
    /// From so many events on it pays to fetch those that come next.
    static constexpr std::size_t SOME = 64;
    static constexpr uint32_t NONE = UINT32_MAX; //!< place of no event
    /// The last node that an array by node has room for.
    static constexpr uint32_t LAST_NODE = (1 << 24) - 1;
    /// From so many events on, m_latest says where those of a node end in a slot.
    static constexpr std::size_t MANY_OF_A_TIME = 16;
    /// So many swaps an event are too many.
    static constexpr std::size_t MANY_SWAPS = 8;
    /// From so many on it pays to ask them for more: what fewer touch stays in a processor's own
    /// caches (some megabytes).
    static constexpr std::size_t MANY = 16384;

    static constexpr uintptr_t FORESEEN = 1; //!< bit of Entry::tagged: a ForeseenEvent
    static constexpr uintptr_t ARRIVAL = 2;  //!< bit of Entry::tagged: the arrival of a frame

    /// An event in a slot, which knows its time.
    struct Entry
    {
        uintptr_t tagged; //!< the event's implementation, with FORESEEN and ARRIVAL
        uint32_t context; //!< its node
        uint32_t number;  //!< lower half of Event::id: events that wait in the wheel are not as old

        Entry() = default;

        /**
         * \param ev the event
         */
        explicit Entry(const Event& ev)
            : tagged(reinterpret_cast<uintptr_t>(ev.impl) | (ev.isForeseen ? FORESEEN : 0) |
                     (ev.isArrival ? ARRIVAL : 0)),
              context(ev.context),
              number(static_cast<uint32_t>(ev.id))
        {
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
    };

    static_assert(sizeof(Entry) == 16, "four entries are a cache line");

    static constexpr uint64_t UNARRANGED = 0;     //!< a slot that was not looked at
    static constexpr uint64_t UNNOTED = 1;        //!< one of which m_latest knows nothing
    static constexpr uint64_t WHOLE = UINT64_MAX; //!< one that is in canonical order as a whole

    /// The events of one time step.
    struct Slot
    {
        std::vector<Entry> entries; //!< the events
        /**
         * Whether the events of each node are in canonical order, for they have been looked at:
         * UNARRANGED, UNNOTED, WHOLE, or the number by which m_latest knows the slot.
         */
        uint64_t arranged{UNARRANGED};

        /// Events have moved: what m_latest says of the slot does not hold any more.
        void ForgetPlaces()
        {
            arranged = arranged == UNARRANGED || arranged == WHOLE ? arranged : UNNOTED;
        }
    };

    /// Of a node: its latest event in the slot that was noted last and has any.
    struct Latest
    {
        uint64_t slot{UNARRANGED}; //!< Slot::arranged
        uint32_t place;            //!< the event's place in the slot
    };

    /**
     * \param entry an event that waits in the wheel
     * \param ts its time
     * \return the event
     */
    Event ToEvent(const Entry& entry, uint64_t ts) const
    {
        const bool isPort = m_isCanonical && entry.IsArrival();
        return {entry.GetImpl(),
                ts,
                isPort ? entry.number : m_latestId + GetAge(entry),
                entry.context,
                entry.IsForeseen(),
                entry.IsArrival()};
    }

    /**
     * \param entry an event that waits, no arrival in canonical order
     * \return its id less the latest one
     */
    int32_t GetAge(const Entry& entry) const
    {
        return static_cast<int32_t>(entry.number - static_cast<uint32_t>(m_latestId));
    }

    /**
     * \brief Put the place of an event in canonical order into one number.
     * \param entry an event of the present or the future
     * \return from the top: 32 bits of its node, 0 for none; 1 bit for other than arrivals; 31 bits
     * of the port, or of the id, by age, for the numbers of ids start again
     */
    uint64_t GetKey(const Entry& entry) const
    {
        constexpr uint32_t OTHER = uint32_t{1} << 31;
        const uint32_t byAge = static_cast<uint32_t>(GetAge(entry) + (1 << 30)) | OTHER;
        return uint64_t{entry.context + 1} << 32 | (entry.IsArrival() ? entry.number : byAge);
    }

    /**
     * \param a an event in the wheel
     * \param b another event of the same time
     * \return whether a runs before b
     */
    bool Precedes(const Entry& a, const Entry& b) const
    {
        return m_isCanonical ? GetKey(a) < GetKey(b) : GetAge(a) < GetAge(b);
    }

    /**
     * \brief The slot is about to be looked at: bring the events of each node into canonical order.
     * Those of a node are a chain, most often of one, which is sorted by insertion.
     * \param slot the slot
     */
    void Arrange(Slot& slot)
    {
        if (!m_isCanonical || slot.arranged != UNARRANGED)
        {
            return;
        }
        slot.arranged = UNNOTED;
        if (slot.entries.size() < 2)
        {
            return;
        }
        slot.arranged = ++m_arranged;
        m_previous.resize(std::max(m_previous.size(), slot.entries.size()));
        std::size_t swaps = 0;
        for (uint32_t place = 0; place < slot.entries.size(); ++place)
        {
            const uint32_t context = slot.entries[place].context;
            if (context > LAST_NODE || swaps > MANY_SWAPS * slot.entries.size())
            {
                ArrangeAll(slot, 0);
                return;
            }
            Latest& latest = GetLatest(context);
            m_previous[place] = latest.slot == slot.arranged ? latest.place : NONE;
            swaps += m_previous[place] == NONE ? 0 : SortInto(slot.entries, place);
            latest = {slot.arranged, place};
        }
    }

    /**
     * \param context a node
     * \return what is known of it
     */
    Latest& GetLatest(uint32_t context)
    {
        if (context >= m_latest.size())
        {
            m_latest.resize(context + 1);
        }
        return m_latest[context];
    }

    /**
     * \brief Sort the last event of a chain into it.
     * \param entries the events of a slot
     * \param place where the last event of the chain is
     * \return how many follow it now
     */
    std::size_t SortInto(std::vector<Entry>& entries, uint32_t place) const
    {
        std::size_t swaps = 0;
        for (uint32_t before = m_previous[place];
             before != NONE && Precedes(entries[place], entries[before]);
             before = m_previous[before])
        {
            std::swap(entries[place], entries[before]);
            place = before;
            ++swaps;
        }
        return swaps;
    }

    /**
     * \brief The same for events of different nodes, too: where there are events of no node, which
     * come first, or more of the time beyond the wheel; and where chains are long and out of order.
     * \param slot the slot
     * \param taken how many of its events have been taken
     */
    void ArrangeAll(Slot& slot, std::size_t taken)
    {
        slot.arranged = WHOLE;
        std::stable_sort(slot.entries.begin() + static_cast<std::ptrdiff_t>(taken),
                         slot.entries.end(),
                         [this](const Entry& a, const Entry& b) { return Precedes(a, b); });
    }

    /// \return the next event, which is beyond the wheel
    Event TakeFar()
    {
        const Event next = m_far.Pop();
        m_base = next.ts;
        return next;
    }

    /// \return the next event, which is in the wheel; inline, so that its parts stay in registers
    [[gnu::always_inline]] Event TakeNear()
    {
        m_base = m_nextTs;
        Slot& slot = GetSlot(m_nextTs);
        const Entry next = slot.entries[m_taken++];
        --m_count;
        if (m_seen != m_looked && m_ahead[m_seen % RING].tagged == next.tagged)
        {
            ++m_seen;
        }
        if (m_taken == slot.entries.size())
        {
            Vacate(slot, m_nextTs);
        }
        return ToEvent(next, m_base);
    }

    /// \return whether the next event is beyond the wheel
    bool NextIsFar()
    {
        if (m_far.GetBound() > m_nextTs)
        {
            return false;
        }
        const uint64_t ts = m_far.Front().ts;
        return ts < m_nextTs || (ts == m_nextTs && FarPrecedes(GetSlot(ts)));
    }

    /**
     * \param slot the next events of the wheel
     * \return whether the first event beyond the wheel, of the same time, precedes them
     */
    bool FarPrecedes(Slot& slot)
    {
        if (m_isCanonical && slot.arranged != WHOLE)
        {
            ArrangeAll(slot, m_taken);
            ForgetAhead();
        }
        return RunsBefore(m_far.Front(), ToEvent(slot.entries[m_taken], m_nextTs));
    }

    /**
     * \brief Insert an event.
     * \param ev the event
     * \param isLate whether events that it precedes may wait already, in insertion order
     */
    void Put(const Event& ev, bool isLate)
    {
        if (ev.ts - m_base >= SLOTS)
        {
            m_far.Push(ev);
            return;
        }
        if (!m_slots[ev.ts % SLOTS])
        {
            Occupy(ev.ts);
        }
        Slot& slot = GetSlot(ev.ts);
        if (slot.arranged != UNARRANGED || isLate)
        {
            PutInOrder(slot, ev.ts, Entry(ev));
            return;
        }
        // Made where it stays: a copy would wait until all of its parts are in memory.
        slot.entries.emplace_back(ev);
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
        ++m_count;
        const std::size_t taken = GetTaken(ts);
        if (m_isCanonical && slot.arranged != WHOLE)
        {
            if (entry.context > LAST_NODE)
            {
                ArrangeAll(slot, taken);
                ForgetAhead();
            }
            else if (slot.entries.size() - taken >= MANY_OF_A_TIME && KnowsPlaces(slot, taken))
            {
                PutAmongMany(slot, ts, taken, entry);
                return;
            }
        }
        const auto place = FindPlace(slot, taken, entry);
        if (ts == m_lookTs && static_cast<std::size_t>(place - slot.entries.begin()) < m_lookAt)
        {
            ++m_lookAt;
        }
        slot.entries.insert(place, entry);
        slot.ForgetPlaces();
    }

    /**
     * \brief The same where it takes too long to move events, or to look at each: all that stand
     * where the event of a node has to come in are that node's. Most events that are inserted at
     * the last moment are the last of theirs. \param slot the slot, whose places m_latest knows
     * \param ts its time
     * \param taken how many of its events have been taken
     * \param entry the event
     */
    void PutAmongMany(Slot& slot, uint64_t ts, std::size_t taken, const Entry& entry)
    {
        std::vector<Entry>& entries = slot.entries;
        std::size_t place = entries.size();
        entries.push_back(entry);
        Latest& latest = GetLatest(entry.context);
        // What is known of a node is of a later slot, if that has events of it.
        std::size_t before = latest.slot > slot.arranged ? place : taken;
        if (latest.slot == slot.arranged && latest.place >= taken)
        {
            before = latest.place + std::size_t{1};
        }
        if (latest.slot <= slot.arranged)
        {
            latest = {slot.arranged, static_cast<uint32_t>(place)};
        }
        while (before-- > taken)
        {
            if (entries[before].context == entry.context)
            {
                if (!Precedes(entry, entries[before]))
                {
                    break;
                }
                std::swap(entries[place], entries[before]);
                place = before;
            }
        }
        if (ts == m_lookTs && place < m_lookAt)
        {
            ForgetAhead();
        }
    }

    /**
     * \brief See to it that m_latest knows where the events of each node end in a slot.
     * \param slot the slot, whose chains are in order
     * \param taken how many of its events have been taken
     * \return whether it does, having room for all nodes
     */
    bool KnowsPlaces(Slot& slot, std::size_t taken)
    {
        if (slot.arranged != UNNOTED)
        {
            return true;
        }
        const uint64_t number = ++m_arranged;
        for (std::size_t place = taken; place < slot.entries.size(); ++place)
        {
            const uint32_t context = slot.entries[place].context;
            if (context > LAST_NODE)
            {
                return false;
            }
            GetLatest(context) = {number, static_cast<uint32_t>(place)};
        }
        slot.arranged = number;
        return true;
    }

    /**
     * \param slot a slot whose events are in order
     * \param taken how many of them have been taken
     * \param entry an event that is to be inserted
     * \return its place
     */
    std::vector<Entry>::iterator FindPlace(Slot& slot, std::size_t taken, const Entry& entry) const
    {
        const auto first = slot.entries.begin() + static_cast<std::ptrdiff_t>(taken);
        if (!m_isCanonical || slot.arranged == WHOLE)
        {
            const auto precedes = [this](const Entry& a, const Entry& b) { return Precedes(a, b); };
            return std::upper_bound(first, slot.entries.end(), entry, precedes);
        }
        return std::find_if(first, slot.entries.end(), [&](const Entry& other) {
            return other.context == entry.context && Precedes(entry, other);
        });
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
        m_occupied.Set(index);
        if (ts < m_nextTs)
        {
            m_nextTs = ts;
            m_taken = 0;
            Arrange(GetSlot(ts));
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
        slot.arranged = UNARRANGED;
        m_spare.push_back(std::exchange(m_slots[index], 0));
        m_occupied.Clear(index);
        if (ts == m_nextTs)
        {
            m_nextTs = FirstOccupied(m_base);
            m_taken = 0;
            if (m_nextTs != NEVER)
            {
                Arrange(GetSlot(m_nextTs));
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
                Arrange(GetSlot(ts));
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
        m_ahead[m_looked % RING] = entry;
        if (entry.IsForeseen())
        {
            FetchLines(entry.GetImpl(), ForeseenEvent::LINES);
        }
        for (unsigned step = 1; step < ForeseenEvent::STEPS && m_count >= MANY; ++step)
        {
            const uint32_t before = m_looked - step * APART;
            const Entry& ahead = m_ahead[before % RING];
            // The difference of numbers that wrap around: only those that still wait.
            if (static_cast<int32_t>(before - m_seen) >= 0 && ahead.IsForeseen())
            {
                static_cast<ForeseenEvent*>(ahead.GetImpl())->Fetch(step);
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
        if (m_occupied.IsEmpty())
        {
            return NEVER;
        }
        const uint64_t ts = from + m_occupied.DistanceFrom(from % SLOTS);
        return ts - m_base < SLOTS ? ts : NEVER;
    }

    /// The wheel: by time modulo SLOTS, which of m_lists has its events.
    std::array<uint32_t, SLOTS> m_slots{};
    /// Lists of events; the first stays empty, for times without any.
    std::vector<Slot> m_lists;
    std::vector<uint32_t> m_spare;     //!< which others are empty
    OccupancyMap m_occupied;           //!< which slots have events
    uint64_t m_base{0};                //!< time of the latest removal: where the wheel begins
    uint64_t m_nextTs{NEVER};          //!< time of the wheel's earliest event
    std::size_t m_count{0};            //!< events in the wheel
    std::size_t m_taken{0};            //!< events of that time that were taken already
    std::array<Entry, RING> m_ahead{}; //!< the latest events that were looked at
    uint32_t m_looked{0};              //!< how many were looked at so far
    uint32_t m_seen{0};                //!< how many of them have been taken
    uint64_t m_lookTs{NEVER};          //!< time of the event that is looked at next
    std::size_t m_lookAt{0};           //!< its place in the slot
    FarEvents m_far;                   //!< the events beyond the wheel
    uint64_t m_latestId{0};            //!< id of the latest event whose id says when
    std::vector<Latest> m_latest;      //!< by node
    uint64_t m_arranged{UNNOTED};      //!< the latest number of a slot that m_latest knows
    /// By place in such a slot: the place of the event of the same node before it.
    std::vector<uint32_t> m_previous;
    EventOrder m_order; //!< which of several events of a time runs first
    bool m_isCanonical; //!< whether it is EventOrder::CANONICAL
};

} // namespace ns3

#endif /* EVENT_WHEEL_H */
