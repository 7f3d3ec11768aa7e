/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FAR_EVENTS_H
#define FAR_EVENTS_H

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
 * \brief Events that are far away: timers, arrivals of flows.
 *
 * With thousands of timers a heap of all of them fits no cache. So only the next block of time has
 * its events in a heap, a small one. Each of the following blocks has a list of events in no order,
 * and later events, some milliseconds away, wait in a second heap.
 */
class FarEvents
{
  public:
    /// Time of no event.
    static constexpr uint64_t NEVER = UINT64_MAX;

    /**
     * \param order which of several events of a time runs first
     */
    explicit FarEvents(EventOrder order)
        : m_isLater{order}
    {
        m_lists.emplace_back();
    }

    /// \return whether there are none
    bool IsEmpty() const
    {
        return GetBound() == NEVER;
    }

    /// \return a time that no event precedes; NEVER if there is none
    uint64_t GetBound() const
    {
        return m_first;
    }

    /**
     * \pre there is an event
     * \return the one that runs first
     */
    const WheelEvent& Front()
    {
        if (m_near.empty())
        {
            Load(GetFirstBlock());
        }
        return m_near.front();
    }

    /**
     * \brief Insert an event.
     * \param ev the event
     */
    void Push(const WheelEvent& ev)
    {
        const uint64_t block = GetBlock(ev);
        // A nearer event decides.
        m_first = std::min(m_first, block <= m_block ? ev.ts : block * BLOCK);
        if (block <= m_block)
        {
            Push(m_near, ev);
            return;
        }
        m_bound = std::min(m_bound, block * BLOCK);
        if (block - m_block >= OccupancyMap::SIZE)
        {
            Push(m_beyond, ev);
            return;
        }
        uint32_t& list = m_places[block % OccupancyMap::SIZE];
        if (list == NO_LIST)
        {
            list = TakeSpare();
            m_occupied.Set(block % OccupancyMap::SIZE);
        }
        m_lists[list].push_back(ev);
    }

    /**
     * \pre there is an event
     * \return the one that runs first, which is taken
     */
    WheelEvent Pop()
    {
        Front();
        const WheelEvent first = Pop(m_near);
        NoteFirst();
        return first;
    }

    /**
     * \brief Remove an event, if it waits here. Takes time in proportion to the events that wait
     * with it.
     * \tparam T type of isIt
     * \param ts its time
     * \param isIt tells this event from others of its time
     */
    template <typename T>
    void Remove(uint64_t ts, T isIt)
    {
        const auto find = [ts, isIt](std::vector<WheelEvent>& events) {
            return std::find_if(events.begin(), events.end(), [ts, isIt](const WheelEvent& ev) {
                return ev.ts == ts && isIt(ev);
            });
        };
        for (auto* heap : {&m_near, &m_beyond})
        {
            const auto found = find(*heap);
            if (found != heap->end())
            {
                heap->erase(found);
                std::make_heap(heap->begin(), heap->end(), m_isLater);
                NoteBound();
                return;
            }
        }
        const uint64_t block = ts / BLOCK;
        std::vector<WheelEvent>& list = m_lists[m_places[block % OccupancyMap::SIZE]];
        const auto found = find(list);
        if (found != list.end())
        {
            list.erase(found);
            if (list.empty())
            {
                Vacate(block);
                NoteBound();
            }
        }
    }

  private:
    static constexpr uint64_t BLOCK = 1024;             //!< time steps of a block
    static constexpr uint64_t NO_BLOCK = NEVER / BLOCK; //!< a block that never comes
    static constexpr uint32_t NO_LIST = 0;              //!< place of a list that stays empty

    /// The order of a heap: the event that runs first is on top.
    struct IsLater
    {
        EventOrder order; //!< which of several events of a time runs first

        /**
         * \param a an event
         * \param b another event
         * \return whether a runs after b
         */
        bool operator()(const WheelEvent& a, const WheelEvent& b) const
        {
            return a.ts != b.ts ? a.ts > b.ts : b.RunsBefore(a, order);
        }
    };

    /**
     * \param ev an event
     * \return which block of time it is in
     */
    static uint64_t GetBlock(const WheelEvent& ev)
    {
        return ev.ts / BLOCK;
    }

    /**
     * \param heap a heap
     * \param ev the event that it gets
     */
    void Push(std::vector<WheelEvent>& heap, const WheelEvent& ev)
    {
        heap.push_back(ev);
        std::push_heap(heap.begin(), heap.end(), m_isLater);
    }

    /**
     * \param heap a heap that is not empty
     * \return its first event, which is taken
     */
    WheelEvent Pop(std::vector<WheelEvent>& heap)
    {
        std::pop_heap(heap.begin(), heap.end(), m_isLater);
        const WheelEvent first = heap.back();
        heap.pop_back();
        return first;
    }

    /// \return place of a list without events
    uint32_t TakeSpare()
    {
        if (m_spare.empty())
        {
            m_lists.emplace_back();
            return static_cast<uint32_t>(m_lists.size() - 1);
        }
        const uint32_t list = m_spare.back();
        m_spare.pop_back();
        return list;
    }

    /**
     * \brief The list of a block is empty.
     * \param block the block
     */
    void Vacate(uint64_t block)
    {
        const uint32_t place = block % OccupancyMap::SIZE;
        m_spare.push_back(std::exchange(m_places[place], NO_LIST));
        m_occupied.Clear(place);
    }

    /// Note when the first block behind m_block begins that has events.
    void NoteBound()
    {
        const uint64_t block = GetFirstBlock();
        m_bound = block == NO_BLOCK ? NEVER : block * BLOCK;
        NoteFirst();
    }

    /// Note when the first event may be.
    void NoteFirst()
    {
        m_first = m_near.empty() ? m_bound : m_near.front().ts;
    }

    /// \return the first block behind m_block that has events
    uint64_t GetFirstBlock() const
    {
        const uint64_t next = m_block + 1;
        const uint64_t listed = m_occupied.IsEmpty()
                                    ? NO_BLOCK
                                    : next + m_occupied.DistanceFrom(next % OccupancyMap::SIZE);
        return m_beyond.empty() ? listed : std::min(listed, GetBlock(m_beyond.front()));
    }

    /**
     * \brief Make a block the one that comes next: its events become the heap.
     * \param block the first block that has events
     */
    void Load(uint64_t block)
    {
        m_block = block;
        const uint32_t list = m_places[block % OccupancyMap::SIZE];
        if (list != NO_LIST)
        {
            m_near.swap(m_lists[list]);
            Vacate(block);
        }
        while (!m_beyond.empty() && GetBlock(m_beyond.front()) == block)
        {
            m_near.push_back(Pop(m_beyond));
        }
        std::make_heap(m_near.begin(), m_near.end(), m_isLater);
        NoteBound();
    }

    IsLater m_isLater;                //!< the order of the heaps
    uint64_t m_block{0};              //!< the block that comes next
    uint64_t m_first{NEVER};          //!< a time that no event precedes
    uint64_t m_bound{NEVER};          //!< when the first block behind that begins that has events
    std::vector<WheelEvent> m_near;   //!< heap of the events up to that block
    std::vector<WheelEvent> m_beyond; //!< heap of the events behind the lists
    /// By block, modulo OccupancyMap::SIZE: which of m_lists has its events.
    std::array<uint32_t, OccupancyMap::SIZE> m_places{};
    OccupancyMap m_occupied;                      //!< which blocks have a list
    std::vector<std::vector<WheelEvent>> m_lists; //!< events in no order; the first stays empty
    std::vector<uint32_t> m_spare;                //!< which other lists are empty
};

} // namespace ns3

#endif /* FAR_EVENTS_H */
