/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RANK_EXCHANGE_H
#define RANK_EXCHANGE_H

#include "process-time.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Exchanges data between the processes of a simulation, its ranks, by MPI.
 *
 * There can be one at a time. Methods that exchange something have to be called by all ranks, in
 * the same order.
 */
class RankExchange
{
  public:
    /// Bytes for another rank.
    using Bytes = std::vector<uint8_t>;

    /**
     * \brief Meet the other ranks of the program, as mpirun has started it. Begins MPI, which ends
     * with the object, unless the program did so itself.
     * \return nothing, and the reason on standard error, where MPI is missing
     */
    static std::shared_ptr<RankExchange> Begin();

    virtual ~RankExchange() = default;
    RankExchange(const RankExchange&) = delete;
    RankExchange& operator=(const RankExchange&) = delete;

    /// \return which rank this is, from 0 on
    uint32_t GetRank() const
    {
        return m_rank;
    }

    /// \return how many ranks there are
    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_outboxes.size());
    }

    /**
     * \param rank another rank
     * \return bytes that the next Exchange() sends to it
     */
    Bytes& GetOutbox(uint32_t rank)
    {
        return m_outboxes[rank];
    }

    /**
     * \param rank another rank
     * \return bytes that it sent by the last Exchange()
     */
    const Bytes& GetInbox(uint32_t rank) const
    {
        return m_inboxes[rank];
    }

    /**
     * \brief Send and empty the outboxes, and receive what the others have sent.
     * \param value any number
     * \return the smallest of all ranks' numbers
     */
    virtual uint64_t Exchange(uint64_t value) = 0;

    /**
     * \brief Bring bytes of all ranks to rank 0.
     * \param bytes bytes of this rank
     * \return at rank 0 the bytes of each rank; nothing elsewhere
     */
    virtual std::vector<Bytes> Gather(const Bytes& bytes) = 0;

    /**
     * \brief Add up numbers of all ranks.
     * \param values numbers of this rank; at rank 0 the sums afterwards
     * \param count how many there are
     */
    virtual void Sum(uint64_t* values, std::size_t count) const = 0;

    /**
     * \brief Tell all ranks a number of rank 0.
     * \param value the number, at rank 0
     * \return that number
     */
    virtual int Share(int value) const = 0;

    /// \return bytes that were sent so far
    uint64_t GetSentBytes() const
    {
        return m_sentBytes;
    }

    /// \return how often Exchange() was called so far
    uint64_t GetWindows() const
    {
        return m_windows;
    }

    /// \return the time that was spent so far in waiting for other ranks and in exchanging with
    /// them
    const ProcessTime& GetWaited() const
    {
        return m_waited;
    }

  protected:
    RankExchange() = default;

    uint32_t m_rank{0};            //!< which rank this is
    std::vector<Bytes> m_outboxes; //!< by rank: what is sent to it next
    std::vector<Bytes> m_inboxes;  //!< by rank: what was received from it last
    uint64_t m_sentBytes{0};       //!< bytes sent so far
    uint64_t m_windows{0};         //!< calls of Exchange() so far
    ProcessTime m_waited;          //!< time spent in exchanges
};

} // namespace ns3

#endif /* RANK_EXCHANGE_H */
