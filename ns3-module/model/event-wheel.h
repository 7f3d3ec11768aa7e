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
#include "slot-order.h"
#include "slot-room.h"

#include "ns3/abort.h"

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
          m_order(order)
    {
        m_lists.emplace_back();
    }

    /**
     * \brief Choose which of several events of a time runs first.
     * \pre no event waits
     * \param order which
     */
    void SetOrder(EventOrder order)
    {
        m_far = FarEvents(order);
        m_order = SlotOrder(order);
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
    [[gnu::always_inline]] void Insert(const Event& ev)
    {
        m_order.See(ev);
        if (!Append(ev))
        {
            Put(WheelEntry(ev), ev.ts, ev.id, false);
        }
    }

    /**
     * \brief Insert an event whose id was assigned earlier: it runs where it would, had it been
     * inserted then.
     * \param ev the event
     */
    [[gnu::always_inline]] void InsertInOrder(const Event& ev)
    {
        // In canonical order a slot is arranged later, whatever is inserted when.
        const bool isLate = m_order.GetOrder() == EventOrder::INSERTION;
        if (isLate || !Append(ev))
        {
            Put(WheelEntry(ev), ev.ts, ev.id, isLate);
        }
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
        return NextIsFar() ? m_far.Front() : m_order.ToEvent(*m_next, m_nextTs);
    }

    /**
     * \brief Take the next event, to run it. The events behind it may fetch what they will touch.
     * \pre there is one
     * \return the event
     */
    [[gnu::always_inline]] WheelEntry Pop()
    {
        const WheelEntry next = Discard();
        if (m_count >= SOME)
        {
            if (!LookAtOne(next.GetImpl()))
            {
                LookAhead(next.GetImpl());
            }
        }
        else if (m_looked != m_seen)
        {
            ForgetAhead();
        }
        return next;
    }

    /**
     * \brief Take the next event.
     * \pre there is one
     * \return the event
     */
    [[gnu::always_inline]] WheelEntry Discard()
    {
        return NextIsFar() ? TakeFar() : TakeNear();
    }

    /// \return the time of the event that was taken last
    uint64_t GetTakenTs() const
    {
        return m_base;
    }

    /**
     * \brief Say all of the event that was taken last.
     * \param taken that event
     * \return the event
     */
    Event ToTakenEvent(const WheelEntry& taken) const
    {
        return m_isFar ? taken.ToEvent(m_base, m_farId) : m_order.ToEvent(taken, m_base);
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
        const auto isIt = [id](const WheelEntry& entry) {
            return entry.number == id && !entry.IsArrival();
        };
        WheelSlot& slot = GetSlot(ts);
        const std::size_t taken = GetTaken(slot, ts);
        const auto place = std::find_if(slot.entries.begin() + static_cast<std::ptrdiff_t>(taken),
                                        slot.entries.end(),
                                        isIt);
        if (place != slot.entries.end() && ts - m_base < SLOTS)
        {
            slot.entries.erase(place);
            --m_count;
            slot.ForgetPlaces();
            if (slot.entries.size() > taken)
            {
                m_last = ts == m_nextTs ? EndOf(slot) : m_last;
            }
            else if (ts == m_nextTs)
            {
                Advance();
            }
            else
            {
                Empty(ts % SLOTS);
            }
            return;
        }
        m_far.Remove(ts, [isIt](const Event& far) { return isIt(WheelEntry(far)); });
    }

    /**
     * \brief Compare two events of the same time.
     * \param a an event
     * \param b another event
     * \return whether a runs before b
     */
    bool RunsBefore(const Event& a, const Event& b) const
    {
        return a.RunsBefore(b, m_order.GetOrder());
    }

  private:
    static constexpr uint32_t SLOTS = OccupancyMap::SIZE; //!< steps that the wheel spans
    static constexpr uint32_t APART = 2; //!< events from one step of fetching to the next
    /// Events that are looked at before their turn.
    static constexpr uint32_t AHEAD = APART * ForeseenEvent::STEPS;
    /// Place for them: a power of two, for their numbers wrap around.
    static constexpr uint32_t RING = 16;
    static_assert(RING >= AHEAD, "every event that was looked at needs a place until it is taken");
    /// Most cache lines of a slot that are fetched before its turn.
    static constexpr std::size_t SLOT_LINES = 16;
    /// From so many events on it pays to fetch those that come next.
    static constexpr std::size_t SOME = 1024;
    /// From so many on it pays to ask them for more: memory of fewer events stays in a processor's
    /// own caches (some megabytes).
    static constexpr std::size_t MANY = 16384;

    /// \return the next event, which is beyond the wheel
    [[gnu::noinline]] WheelEntry TakeFar()
    {
        const Event next = m_far.Pop();
        m_base = next.ts;
        // It may have been inserted so long ago that the lower half does not say which it is.
        m_farId = next.id;
        m_isFar = true;
        return WheelEntry(next);
    }

    /// \return the next event, which is in the wheel; inline, so that its parts stay in registers
    [[gnu::always_inline]] WheelEntry TakeNear()
    {
        const WheelEntry next = *m_next++;
        m_base = m_nextTs;
        m_isFar = false;
        --m_count;
        if (m_next == m_last)
        {
            Advance();
        }
        return next;
    }

    /// The earliest slot's last event was taken: the turn of the next slot.
    [[gnu::always_inline]] void Advance()
    {
        const uint32_t place = m_nextTs % SLOTS;
        Empty(place);
        if (m_occupied.IsEmpty())
        {
            m_nextTs = NEVER;
            return;
        }
        const uint64_t ts = m_nextTs + m_occupied.DistanceFrom(place);
        GoTo(GetSlot(ts), ts, 0);
        // Where there are more, LookFrom() does.
        if (m_count < SOME)
        {
            FetchSlotAfter(ts);
        }
    }

    /**
     * \brief Fetch the first events of the slot that will probably be next but one.
     * \param ts time of the one that is next
     */
    void FetchSlotAfter(uint64_t ts)
    {
        const uint64_t after = FirstOccupied(ts + 1);
        if (after != NEVER)
        {
            // Four entries are a cache line.
            const auto& entries = GetSlot(after).entries;
            FetchLines(entries.data(), std::min(entries.size() / 4 + 1, SLOT_LINES));
        }
    }

    /**
     * \brief A slot has lost its last event.
     * \param place its place in the wheel
     */
    void Empty(uint32_t place)
    {
        const uint32_t list = std::exchange(m_slots[place], 0);
        WheelSlot& slot = m_lists[list];
        slot.entries.clear();
        if (slot.entries.capacity() > SlotRoom::FEW)
        {
            m_room.Shrink(slot.entries);
        }
        slot.arranged = WheelSlot::UNARRANGED;
        m_spare[m_spareCount++] = list;
        m_occupied.Clear(place);
    }

    /**
     * \brief A slot gets its first event: it gets the memory that was vacated last, for that is in
     * the cache.
     * \param place its place in the wheel
     * \return which of m_lists that is
     */
    [[gnu::always_inline]] uint32_t Occupy(uint32_t place)
    {
        if (m_spareCount == 0)
        {
            AddList();
        }
        const uint32_t list = m_spare[--m_spareCount];
        m_slots[place] = list;
        m_occupied.Set(place);
        return list;
    }

    /// Make one more list, which is spare.
    [[gnu::noinline]] void AddList()
    {
        // Room for all of them to be empty.
        m_spare.emplace_back();
        m_spare[m_spareCount++] = static_cast<uint32_t>(m_lists.size());
        m_lists.emplace_back();
        // The lists may have moved.
        m_lookSlot = &GetSlot(m_lookTs);
    }

    /**
     * \param slot a slot
     * \return the place behind its last event
     */
    static const WheelEntry* EndOf(const WheelSlot& slot)
    {
        return slot.entries.data() + slot.entries.size();
    }

    /// \return whether the next event is beyond the wheel
    [[gnu::always_inline]] bool NextIsFar()
    {
        return m_far.GetBound() <= m_nextTs && FarPrecedes();
    }

    /// \return whether the first event beyond the wheel precedes the first one in it
    [[gnu::noinline]] bool FarPrecedes()
    {
        const Event& far = m_far.Front();
        if (far.ts != m_nextTs)
        {
            return far.ts < m_nextTs;
        }
        if (m_order.ArrangeAll(GetSlot(far.ts), GetTaken(GetSlot(far.ts), far.ts)))
        {
            ForgetAhead();
        }
        return RunsBefore(far, m_order.ToEvent(*m_next, far.ts));
    }

    /**
     * \brief Put an event behind the events of a time that is not looked at yet, the usual case.
     * \param ev the event
     * \return whether its time is such, and has room
     */
    [[gnu::always_inline]] bool Append(const Event& ev)
    {
        if (ev.ts <= m_nextTs || ev.ts - m_base >= SLOTS)
        {
            return false;
        }
        uint32_t list = m_slots[ev.ts % SLOTS];
        if (!list)
        {
            list = Occupy(ev.ts % SLOTS);
        }
        WheelSlot& slot = m_lists[list];
        // Where there is room, the entry is made where it stays, without a copy in memory.
        if (slot.arranged != WheelSlot::UNARRANGED ||
            slot.entries.size() == slot.entries.capacity())
        {
            return false;
        }
        slot.entries.emplace_back(ev);
        ++m_count;
        return true;
    }

    /**
     * \brief Insert an event.
     * \param entry the event
     * \param ts its time
     * \param id WheelEvent::id
     * \param isLate whether events that it precedes may wait already, in insertion order
     */
    [[gnu::noinline]] void Put(WheelEntry entry, uint64_t ts, uint64_t id, bool isLate)
    {
        if (ts - m_base >= SLOTS)
        {
            m_far.Push(entry.ToEvent(ts, id));
            return;
        }
        ++m_count;
        uint32_t list = m_slots[ts % SLOTS];
        if (!list)
        {
            list = Occupy(ts % SLOTS);
        }
        WheelSlot& slot = m_lists[list];
        std::size_t taken = GetTaken(slot, ts);
        if (slot.entries.size() == slot.entries.capacity() && slot.entries.size() >= SlotRoom::FEW)
        {
            m_room.Grow(slot.entries);
        }
        if (slot.arranged != WheelSlot::UNARRANGED || isLate)
        {
            taken = PutInOrder(slot, ts, taken, entry);
        }
        else
        {
            slot.entries.push_back(entry);
        }
        if (ts <= m_nextTs)
        {
            GoTo(slot, ts, taken);
        }
    }

    /**
     * \brief Insert an event into a slot whose events are in order.
     * \param slot the slot
     * \param ts its time
     * \param taken how many of its events have been taken
     * \param entry the event
     * \return how many places of events that have been taken are left
     */
    [[gnu::noinline]] std::size_t PutInOrder(WheelSlot& slot,
                                             uint64_t ts,
                                             std::size_t taken,
                                             const WheelEntry& entry)
    {
        const SlotOrder::Change change = m_order.Put(slot, taken, entry);
        const bool isAhead = ts < m_lookTs || (ts == m_lookTs && change.place < m_lookAt);
        switch (change.room)
        {
        case SlotOrder::Room::BEHIND:
            m_lookAt += isAhead && ts == m_lookTs ? 1 : 0;
            return taken;
        case SlotOrder::Room::BEFORE:
            m_lookAt -= !isAhead && ts == m_lookTs ? 1 : 0;
            return taken - 1;
        case SlotOrder::Room::SORTED:
            if (isAhead)
            {
                // Some that were looked at have changed places.
                ForgetAhead();
            }
            return taken;
        }
        NS_ABORT_MSG("Room has no value " << static_cast<int>(change.room));
    }

    /**
     * \param slot the events of a time that is not passed
     * \param ts that time
     * \return how many of them have been taken already
     */
    std::size_t GetTaken(const WheelSlot& slot, uint64_t ts) const
    {
        return ts == m_nextTs ? m_next - slot.entries.data() : 0;
    }

    /**
     * \brief A slot has the wheel's earliest events.
     * \param slot the slot
     * \param ts its time
     * \param taken how many of its events have been taken
     */
    void GoTo(WheelSlot& slot, uint64_t ts, std::size_t taken)
    {
        m_order.Arrange(slot);
        m_nextTs = ts;
        m_next = slot.entries.data() + taken;
        m_last = EndOf(slot);
    }

    /**
     * \param ts a time that is not passed
     * \return the events of its slot
     */
    WheelSlot& GetSlot(uint64_t ts)
    {
        return m_lists[m_slots[ts % SLOTS]];
    }

    /**
     * \brief Look at one event more, as nearly always: one that was looked at was taken, and more
     * wait with the last one.
     * \param latest the event that was taken last
     * \return whether that is so
     */
    [[gnu::always_inline]] bool LookAtOne(const EventImpl* latest)
    {
        if (m_looked - m_seen != AHEAD || m_ahead[m_seen % RING].GetImpl() != latest ||
            m_lookAt == m_lookSlot->entries.size())
        {
            return false;
        }
        ++m_seen;
        LookAt(m_lookSlot->entries[m_lookAt++]);
        return true;
    }

    /**
     * \brief Look at events until AHEAD of them wait.
     * \param latest the event that was taken last
     * \pre one waits in the wheel
     */
    [[gnu::noinline]] void LookAhead(const EventImpl* latest)
    {
        if (m_seen != m_looked && m_ahead[m_seen % RING].GetImpl() == latest)
        {
            ++m_seen;
        }
        while (m_looked - m_seen < AHEAD)
        {
            if (m_looked == m_seen)
            {
                LookFrom(m_nextTs, GetTaken(GetSlot(m_nextTs), m_nextTs));
            }
            else if (m_lookAt == m_lookSlot->entries.size())
            {
                const uint64_t ts = FirstOccupied(m_lookTs + 1);
                if (ts == NEVER)
                {
                    return;
                }
                LookFrom(ts, 0);
            }
            LookAt(m_lookSlot->entries[m_lookAt++]);
        }
    }

    /**
     * \param ts time of the event that is looked at next
     * \param place its place in the slot
     */
    void LookFrom(uint64_t ts, std::size_t place)
    {
        m_lookTs = ts;
        m_lookSlot = &GetSlot(ts);
        m_lookAt = place;
        m_order.Arrange(*m_lookSlot);
        FetchSlotAfter(ts);
    }

    /**
     * \brief Look at an event, and where there are MANY once more at those before it.
     * \param entry the event
     */
    void LookAt(const WheelEntry& entry)
    {
        m_ahead[m_looked % RING] = entry;
        if (entry.IsForeseen())
        {
            FetchLines(entry.GetImpl(), ForeseenEvent::LINES);
        }
        if (m_count >= MANY)
        {
            LookAgain();
        }
        ++m_looked;
    }

    /// Let the events that were looked at before fetch more.
    [[gnu::noinline]] void LookAgain()
    {
        for (unsigned step = 1; step < ForeseenEvent::STEPS; ++step)
        {
            const uint32_t before = m_looked - step * APART;
            const WheelEntry& ahead = m_ahead[before % RING];
            // The difference of numbers that wrap around: only those that still wait.
            if (static_cast<int32_t>(before - m_seen) >= 0 && ahead.IsForeseen())
            {
                static_cast<ForeseenEvent*>(ahead.GetImpl())->Fetch(step);
            }
        }
    }

    /// An event may be removed before its turn: forget all that were looked at.
    void ForgetAhead()
    {
        m_seen = m_looked;
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
    std::vector<WheelSlot> m_lists;
    std::vector<uint32_t> m_spare;          //!< which others are empty: the first m_spareCount
    std::size_t m_spareCount{0};            //!< how many are
    OccupancyMap m_occupied;                //!< which slots have events
    uint64_t m_base{0};                     //!< time of the latest removal: where the wheel begins
    uint64_t m_nextTs{NEVER};               //!< time of the wheel's earliest event
    std::size_t m_count{0};                 //!< events in the wheel
    const WheelEntry* m_next{nullptr};      //!< the first of them, if there is one
    const WheelEntry* m_last{nullptr};      //!< behind the last of them
    std::array<WheelEntry, RING> m_ahead{}; //!< the latest events that were looked at
    uint32_t m_looked{0};                   //!< how many were looked at so far
    uint32_t m_seen{0};                     //!< how many of them have been taken
    uint64_t m_lookTs{0};                   //!< time of the event that is looked at next
    WheelSlot* m_lookSlot{nullptr};         //!< its slot, while events that were looked at wait
    std::size_t m_lookAt{0};                //!< its place there
    FarEvents m_far;                        //!< the events beyond the wheel
    bool m_isFar{false};                    //!< whether the event taken last was one of them
    uint64_t m_farId{0};                    //!< id of the one that was taken from there last
    SlotOrder m_order;                      //!< which of several events of a time runs first
    SlotRoom m_room;                        //!< arrays for crowded slots
};

} // namespace ns3

#endif /* EVENT_WHEEL_H */
