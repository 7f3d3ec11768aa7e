/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SLOT_ORDER_H
#define SLOT_ORDER_H

#include "wheel-slot.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Brings the events of one time step into the EventOrder of a wheel.
 *
 * By insertion they are in order as they come. In canonical order the events of each node are, once
 * the slot is arranged: they are a chain, most often of one. Those of different nodes, which cannot
 * affect each other, stay where they are, unless there are events of no node, or far ones of the
 * same time.
 */
class SlotOrder
{
  public:
    /// How events made room for one that was inserted.
    enum class Room
    {
        BEHIND, //!< those behind it moved on by one
        BEFORE, //!< those before it moved back by one, over one that was taken
        SORTED, //!< some changed places
    };

    /// The effect of an insertion on a slot.
    struct Change
    {
        std::size_t place; //!< where the first event stood that has another before it now
        Room room;         //!< how events made room
    };

    /**
     * \param order which of several events of a time runs first
     */
    explicit SlotOrder(EventOrder order)
        : m_isCanonical(order == EventOrder::CANONICAL)
    {
    }

    /// \return the order
    EventOrder GetOrder() const
    {
        return m_isCanonical ? EventOrder::CANONICAL : EventOrder::INSERTION;
    }

    /**
     * \param ev an event that is inserted now
     */
    void See(const WheelEvent& ev)
    {
        m_latestId = ev.isArrival && m_isCanonical ? m_latestId : ev.id;
    }

    /**
     * \param entry an event that waits in the wheel
     * \param ts its time
     * \return the event
     */
    WheelEvent ToEvent(const WheelEntry& entry, uint64_t ts) const
    {
        const bool isPort = m_isCanonical && entry.IsArrival();
        return entry.ToEvent(ts, isPort ? entry.number : m_latestId + GetAge(entry));
    }

    /**
     * \brief A slot is about to be looked at: bring the events of each node into canonical order.
     * \param slot the slot
     */
    void Arrange(WheelSlot& slot)
    {
        if (!m_isCanonical || slot.arranged != WheelSlot::UNARRANGED)
        {
            return;
        }
        slot.arranged = WheelSlot::UNNOTED;
        if (slot.entries.size() > 1)
        {
            ArrangeNodes(slot);
        }
    }

    /**
     * \brief Bring all events of a slot into canonical order, of different nodes, too: where there
     * are events of no node, which come first, or events of this time beyond the wheel; and where
     * chains are long and out of order.
     * \param slot the slot
     * \param taken how many of its events have been taken
     * \return whether it was not so before
     */
    bool ArrangeAll(WheelSlot& slot, std::size_t taken)
    {
        if (!m_isCanonical || slot.arranged == WheelSlot::WHOLE)
        {
            return false;
        }
        slot.arranged = WheelSlot::WHOLE;
        std::stable_sort(
            slot.entries.begin() + static_cast<std::ptrdiff_t>(taken),
            slot.entries.end(),
            [this](const WheelEntry& a, const WheelEntry& b) { return Precedes(a, b); });
        return true;
    }

    /**
     * \brief Insert an event into a slot whose events are in order.
     * \param slot the slot
     * \param taken how many of its events have been taken
     * \param entry the event
     * \return the change
     */
    Change Put(WheelSlot& slot, std::size_t taken, const WheelEntry& entry)
    {
        bool isSorted = entry.context > LAST_NODE && ArrangeAll(slot, taken);
        if (m_isCanonical && slot.arranged != WheelSlot::WHOLE &&
            slot.entries.size() - taken >= MANY)
        {
            if (KnowsPlaces(slot, taken))
            {
                return {PutAmongMany(slot, taken, entry), Room::SORTED};
            }
            isSorted = ArrangeAll(slot, taken);
        }
        const std::size_t place = FindPlace(slot, taken, entry);
        slot.ForgetPlaces();
        if (isSorted)
        {
            Insert(slot.entries, place, entry);
            return {taken, Room::SORTED};
        }
        return {place, MakeRoom(slot.entries, taken, place, entry)};
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX; //!< place of no event
    /// The last node that an array by node has room for.
    static constexpr uint32_t LAST_NODE = (1 << 24) - 1;
    /// So many events of a time are arranged by looking back from each.
    static constexpr std::size_t FEW = 32;
    /// From so many events of one time on it pays to know where each node's end.
    static constexpr std::size_t MANY = 16;
    /// So many swaps an event are too many.
    static constexpr std::size_t MANY_SWAPS = 8;

    /// Of a node: its latest event in the slot that was noted last and has any.
    struct Latest
    {
        uint64_t slot{WheelSlot::UNARRANGED}; //!< WheelSlot::arranged
        uint32_t place;                       //!< the event's place in the slot
    };

    /**
     * \param entry an event that waits, no arrival in canonical order
     * \return its id less the latest one
     */
    int32_t GetAge(const WheelEntry& entry) const
    {
        return static_cast<int32_t>(entry.number - static_cast<uint32_t>(m_latestId));
    }

    /**
     * \brief Put the place of an event in canonical order into one number.
     * \param entry an event of the present or the future
     * \return from the top: 32 bits of its node, 0 for none; 1 bit for other than arrivals; 31 bits
     * of the port, or of the id, by age, for the numbers of ids start again
     */
    uint64_t GetKey(const WheelEntry& entry) const
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
    bool Precedes(const WheelEntry& a, const WheelEntry& b) const
    {
        return m_isCanonical ? GetKey(a) < GetKey(b) : GetAge(a) < GetAge(b);
    }

    /**
     * \brief Bring the events of each node into canonical order.
     * \param slot the slot
     */
    [[gnu::noinline]] void ArrangeNodes(WheelSlot& slot)
    {
        if (slot.entries.size() > FEW)
        {
            ArrangeChains(slot);
        }
        else
        {
            ArrangeFew(slot);
        }
    }

    /**
     * \brief Arrange a slot of few events by looking back for events of the same node. Most slots
     * have a few events, each of another node.
     * \param slot the slot
     */
    void ArrangeFew(WheelSlot& slot)
    {
        constexpr uint32_t BITS = 64;
        // Which nodes the events so far may be of.
        std::array<uint64_t, 8> seen{};
        for (std::size_t place = 0; place < slot.entries.size(); ++place)
        {
            const uint32_t context = slot.entries[place].context;
            if (context > LAST_NODE)
            {
                ArrangeAll(slot, 0);
                return;
            }
            uint64_t& word = seen[context / BITS % seen.size()];
            const uint64_t bit = uint64_t{1} << (context % BITS);
            if ((word & bit) != 0)
            {
                MoveForward(slot.entries, place, place, 0);
            }
            word |= bit;
        }
    }

    /**
     * \brief An event changes places with those of its node that it precedes.
     * \param entries the events of a slot; before the event each node's are in order
     * \param place its place
     * \param before the place behind the last event of its node before it
     * \param first the first place that it may take
     * \return its new place
     */
    std::size_t MoveForward(std::vector<WheelEntry>& entries,
                            std::size_t place,
                            std::size_t before,
                            std::size_t first) const
    {
        while (before-- > first)
        {
            if (entries[before].context == entries[place].context)
            {
                if (!Precedes(entries[place], entries[before]))
                {
                    break;
                }
                std::swap(entries[place], entries[before]);
                place = before;
            }
        }
        return place;
    }

    /**
     * \brief Arrange a slot of many events: it is noted where the events of each node are.
     * \param slot the slot
     */
    void ArrangeChains(WheelSlot& slot)
    {
        slot.arranged = ++m_noted;
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
     * \return its latest event
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
    std::size_t SortInto(std::vector<WheelEntry>& entries, uint32_t place) const
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
     * \brief Note where the events of each node end in a slot, unless it is known.
     * \param slot the slot, whose chains are in order
     * \param taken how many of its events have been taken
     * \return whether it is, all nodes having room
     */
    bool KnowsPlaces(WheelSlot& slot, std::size_t taken)
    {
        if (slot.arranged != WheelSlot::UNNOTED)
        {
            return true;
        }
        const uint64_t number = ++m_noted;
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
     * \brief Insert an event of a node where it takes too long to move others, or to look at each:
     * it goes behind all, and changes places with the events of its node that it precedes. Most
     * that are inserted at the last moment precede none.
     * \param slot the slot, of which it is known where the events of each node end
     * \param taken how many of its events have been taken
     * \param entry the event
     * \return its place
     */
    std::size_t PutAmongMany(WheelSlot& slot, std::size_t taken, const WheelEntry& entry)
    {
        std::vector<WheelEntry>& entries = slot.entries;
        const std::size_t place = entries.size();
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
        return MoveForward(entries, place, before, taken);
    }

    /**
     * \param slot a slot whose events are in order
     * \param taken how many of them have been taken
     * \param entry an event that is to be inserted
     * \return its place
     */
    std::size_t FindPlace(const WheelSlot& slot, std::size_t taken, const WheelEntry& entry) const
    {
        const WheelEntry* const begin = slot.entries.data();
        const WheelEntry* const end = begin + slot.entries.size();
        if (!m_isCanonical || slot.arranged == WheelSlot::WHOLE)
        {
            const auto precedes = [this](const WheelEntry& a, const WheelEntry& b) {
                return Precedes(a, b);
            };
            return std::upper_bound(begin + taken, end, entry, precedes) - begin;
        }
        const auto isBehind = [&](const WheelEntry& other) {
            return other.context == entry.context && Precedes(entry, other);
        };
        return std::find_if(begin + taken, end, isBehind) - begin;
    }

    /**
     * \brief Insert an event, and move the fewer of those before it and those behind it: of many
     * flows that start at one time each is inserted in front of all that are still to start.
     * \param entries the events of a slot
     * \param taken how many of them have been taken
     * \param place the place of the first event behind it
     * \param entry the event
     * \return which have moved
     */
    static Room MakeRoom(std::vector<WheelEntry>& entries,
                         std::size_t taken,
                         std::size_t place,
                         const WheelEntry& entry)
    {
        if (taken == 0 || place - taken >= entries.size() - place)
        {
            Insert(entries, place, entry);
            return Room::BEHIND;
        }
        WheelEntry* const begin = entries.data();
        *std::move(begin + taken, begin + place, begin + taken - 1) = entry;
        return Room::BEFORE;
    }

    /**
     * \brief Insert an event and move those behind it on by one.
     * \param entries the events of a slot
     * \param place the event's place
     * \param entry the event
     */
    static void Insert(std::vector<WheelEntry>& entries, std::size_t place, const WheelEntry& entry)
    {
        entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(place), entry);
    }

    bool m_isCanonical;                   //!< whether it is EventOrder::CANONICAL
    uint64_t m_latestId{0};               //!< id of the latest event whose id says when
    std::vector<Latest> m_latest;         //!< by node
    uint64_t m_noted{WheelSlot::UNNOTED}; //!< the latest number of a slot that m_latest knows
    /// By place in a slot that is arranged: the place of the event of the same node before it.
    std::vector<uint32_t> m_previous;
};

} // namespace ns3

#endif /* SLOT_ORDER_H */
