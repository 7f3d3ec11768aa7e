/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SLOT_ROOM_H
#define SLOT_ROOM_H

#include "wheel-slot.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Arrays for the events of crowded time steps.
 *
 * A step needs a large array only while it has many events. One that outgrows its array gets a
 * larger one from here and gives it back when its events have been taken. So there are no more
 * large arrays than crowded steps at a time, and none is freed and leaves a hole between others.
 */
class SlotRoom
{
  public:
    /// An array for so many events or fewer stays with its step, and grows by itself.
    static constexpr std::size_t FEW = 64;

    /**
     * \brief Move the events of a step to an array with room for twice as many.
     * \param entries the events, FEW or more
     */
    void Grow(std::vector<WheelEntry>& entries)
    {
        std::vector<WheelEntry> larger = Take(2 * entries.capacity());
        larger.assign(entries.begin(), entries.end());
        entries.swap(larger);
        Give(std::move(larger));
    }

    /**
     * \brief Give the array of a step back, which gets a small one.
     * \param entries the array, which has room for more than FEW
     */
    void Shrink(std::vector<WheelEntry>& entries)
    {
        std::vector<WheelEntry> small = Take(FEW);
        entries.swap(small);
        Give(std::move(small));
    }

  private:
    using Array = std::vector<WheelEntry>; //!< room for the events of a step

    /**
     * \param capacity of an array
     * \return spare arrays between the power of two that is not above it and the next one
     */
    std::vector<Array>& OfKind(std::size_t capacity)
    {
        std::size_t kind = 0;
        for (; capacity > 1; capacity /= 2)
        {
            ++kind;
        }
        return m_spare.at(kind);
    }

    /**
     * \param room for how many events, a power of two where the C++ library doubles arrays
     * \return an array with room for more than half as many, in most libraries for all
     */
    Array Take(std::size_t room)
    {
        std::vector<Array>& spare = OfKind(room);
        Array array;
        if (spare.empty())
        {
            array.reserve(room);
        }
        else
        {
            array = std::move(spare.back());
            spare.pop_back();
        }
        return array;
    }

    /**
     * \brief Keep an array for a step that needs it.
     * \param array the array
     */
    void Give(Array array)
    {
        array.clear();
        OfKind(array.capacity()).push_back(std::move(array));
    }

    std::array<std::vector<Array>, 64> m_spare; //!< spare arrays by the logarithm of their capacity
};

} // namespace ns3

#endif /* SLOT_ROOM_H */
