/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RANK_EXCHANGE_H
#define RANK_EXCHANGE_H

#include <cstddef>
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
     * \brief Set what the next Exchange() sends to a rank.
     * \param rank the rank
     * \param bytes the first byte
     * \param size how many there are
     */
    void Send(uint32_t rank, const uint8_t* bytes, std::size_t size)
    {
        m_outboxes[rank].assign(bytes, bytes + size);
    }

    /**
     * \param rank a rank
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

  protected:
    RankExchange() = default;

    uint32_t m_rank{0};            //!< which rank this is
    std::vector<Bytes> m_outboxes; //!< by rank: what is sent to it next
    std::vector<Bytes> m_inboxes;  //!< by rank: what was received from it last
};

} // namespace ns3

#endif /* RANK_EXCHANGE_H */
