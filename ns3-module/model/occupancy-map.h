/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef OCCUPANCY_MAP_H
#define OCCUPANCY_MAP_H

#include <array>
#include <cstdint>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Which places of a ring are occupied; the first one from a place on is found at once.
 */
class OccupancyMap
{
  public:
    static constexpr uint32_t SIZE = 4096; //!< places of the ring

    /// \return whether no place is occupied
    bool IsEmpty() const
    {
        return m_occupied == 0;
    }

    /**
     * \param place a place, below SIZE, that is occupied from now on
     */
    void Set(uint32_t place)
    {
        m_words[place / BITS] |= uint64_t{1} << (place % BITS);
        m_occupied |= uint64_t{1} << (place / BITS);
    }

    /**
     * \param place a place, below SIZE, that is empty from now on
     */
    void Clear(uint32_t place)
    {
        uint64_t& word = m_words[place / BITS];
        word &= ~(uint64_t{1} << (place % BITS));
        if (word == 0)
        {
            m_occupied &= ~(uint64_t{1} << (place / BITS));
        }
    }

    /**
     * \pre one is occupied
     * \param from a place, below SIZE
     * \return how many places further round the ring the first occupied one is: 0 to SIZE - 1
     */
    uint32_t DistanceFrom(uint32_t from) const
    {
        const uint32_t word = from / BITS;
        const uint64_t here = m_words[word] >> (from % BITS);
        if (here)
        {
            return LowestBit(here);
        }
        // The words behind this one, then round to this one again for what precedes the place in
        // it.
        const uint64_t behind = word == BITS - 1 ? 0 : m_occupied >> (word + 1);
        const uint32_t found = behind ? word + 1 + LowestBit(behind) : LowestBit(m_occupied);
        return (found * BITS + LowestBit(m_words[found]) + SIZE - from) % SIZE;
    }

  private:
    static constexpr uint32_t BITS = 64; //!< of a word
    static_assert(SIZE == BITS * BITS, "one word has a bit for each word");

    /**
     * \param word not 0
     * \return index of its lowest bit that is set
     */
    static uint32_t LowestBit(uint64_t word)
    {
        return __builtin_ctzll(word);
    }

    std::array<uint64_t, BITS> m_words{}; //!< a bit for each place
    uint64_t m_occupied{0};               //!< a bit for each word that is not 0
};

} // namespace ns3

#endif /* OCCUPANCY_MAP_H */
