/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef NEXT_HOP_CACHE_H
#define NEXT_HOP_CACHE_H

#include "qbb-frame.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ns3
{

class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief The ports by which the latest flows leave a switch.
 *
 * The core decides, by a hash of the flow over its next hops, and decides the same for all frames
 * of a flow until routes change. Its answer stands here in one cache line; the routes are several
 * tables. For a flow that has made room for another the core is asked again.
 */
class NextHopCache
{
  public:
    /// Prepare for frames; until then there is no room, and nothing may be asked.
    void Start()
    {
        m_sets = std::make_unique<Sets>();
    }

    /// A port of the switch. Its number stands here, too, so that the device need not be touched.
    struct Port
    {
        QbbNetDevice* device{nullptr}; //!< the port; nullptr: none is known
        uint16_t number{0};            //!< its number, counted from 0
    };

    /**
     * \param frame a frame
     * \return the port by which its flow leaves, if it is known here
     */
    Port Find(const QbbFrame& frame) const
    {
        const Key key(frame);
        for (const Flow& flow : (*m_sets)[key.GetPlace()].flows)
        {
            if (flow.key == key)
            {
                return flow.port;
            }
        }
        return {};
    }

    /**
     * \brief Keep what was decided for a flow that is not known here.
     * \param frame a frame of it
     * \param port the port by which it leaves
     */
    void Keep(const QbbFrame& frame, const Port& port)
    {
        const Key key(frame);
        auto& flows = (*m_sets)[key.GetPlace()].flows;
        flows[1] = flows[0];
        flows[0] = {key, port};
    }

    /// Forget all, for routes have changed.
    void Clear()
    {
        m_sets->fill({});
    }

    /**
     * \brief Fetch what Find() will look at.
     * \param frame the frame
     */
    void Fetch(const QbbFrame& frame) const
    {
        FetchLines(&(*m_sets)[Key(frame).GetPlace()], 1);
    }

  private:
    static constexpr unsigned SETS_LOG2 = 7; //!< logarithm of how many sets there are

    /// All of a frame that its route depends on.
    struct Key
    {
        Key() = default;

        /// \param frame the frame
        explicit Key(const QbbFrame& frame)
            : from(uint64_t{frame.srcAddress} << 32 | frame.dst),
              to(uint64_t{frame.dport} << 48 | uint64_t{frame.sport} << 32 | frame.dstAddress)
        {
        }

        /**
         * \param other another key
         * \return whether both are the same
         */
        bool operator==(const Key& other) const
        {
            return from == other.from && to == other.to;
        }

        /// \return the set in which it stands
        std::size_t GetPlace() const
        {
            // Fibonacci hashing: the upper bits of the product depend on all bits.
            constexpr uint64_t GOLDEN = 0x9e37'79b9'7f4a'7c15;
            return ((from ^ (to << 17 | to >> 47)) * GOLDEN) >> (64 - SETS_LOG2);
        }

        uint64_t from{0}; //!< source address and destination node
        uint64_t to{0};   //!< destination address and both UDP ports
    };

    /// A flow.
    struct Flow
    {
        Key key;   //!< which
        Port port; //!< where it leaves
    };

    /// Flows that compete for the same place, the latest first: one cache line.
    struct alignas(64) Set
    {
        std::array<Flow, 2> flows; //!< the flows
    };

    using Sets = std::array<Set, 1U << SETS_LOG2>; //!< 8 kB

    std::unique_ptr<Sets> m_sets; //!< by Key::GetPlace()
};

} // namespace ns3

#endif /* NEXT_HOP_CACHE_H */
