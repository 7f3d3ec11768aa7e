/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// A library of its own, libhpcc-mpi.so, which RankExchange::Begin() loads: without it nothing needs
// MPI.

#include "rank-exchange.h"

#include <algorithm>
#include <limits>
#include <mpi.h>
#include <stdexcept>
#include <string>

namespace ns3
{

namespace
{

/// The tag of all messages.
constexpr int TAG = 1;

/**
 * \param size bytes of a message
 * \return the same as MPI counts
 */
int
CountOf(std::size_t size)
{
    if (size > std::numeric_limits<int>::max())
    {
        throw std::length_error("a message of " + std::to_string(size) +
                                " bytes is more than MPI can send");
    }
    return static_cast<int>(size);
}

/// Ranks that mpirun has started.
class MpiExchange : public RankExchange
{
  public:
    MpiExchange();
    ~MpiExchange() override;
    uint64_t Exchange(uint64_t value) override;

  private:
    bool m_ends{false}; //!< whether it has begun MPI, and ends it
};

MpiExchange::MpiExchange()
{
    int isRunning = 0;
    MPI_Initialized(&isRunning);
    if (!isRunning)
    {
        MPI_Init(nullptr, nullptr);
        m_ends = true;
    }
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    m_rank = static_cast<uint32_t>(rank);
    m_outboxes.resize(static_cast<std::size_t>(size));
    m_inboxes.resize(static_cast<std::size_t>(size));
}

MpiExchange::~MpiExchange()
{
    if (m_ends)
    {
        MPI_Finalize();
    }
}

uint64_t
MpiExchange::Exchange(uint64_t value)
{
    const std::size_t size = GetSize();
    // From each rank: its value, and how many bytes it sends to each other one.
    std::vector<uint64_t> mine{value};
    std::vector<uint64_t> all((size + 1) * size);
    for (const Bytes& outbox : m_outboxes)
    {
        mine.push_back(outbox.size());
    }
    MPI_Allgather(mine.data(),
                  CountOf(mine.size()),
                  MPI_UINT64_T,
                  all.data(),
                  CountOf(mine.size()),
                  MPI_UINT64_T,
                  MPI_COMM_WORLD);
    std::vector<MPI_Request> requests;
    for (std::size_t rank = 0; rank < size; ++rank)
    {
        value = std::min(value, all[rank * (size + 1)]);
        m_inboxes[rank].resize(all[rank * (size + 1) + 1 + m_rank]);
        if (!m_inboxes[rank].empty())
        {
            requests.emplace_back();
            MPI_Irecv(m_inboxes[rank].data(),
                      CountOf(m_inboxes[rank].size()),
                      MPI_BYTE,
                      static_cast<int>(rank),
                      TAG,
                      MPI_COMM_WORLD,
                      &requests.back());
        }
    }
    for (std::size_t rank = 0; rank < size; ++rank)
    {
        if (!m_outboxes[rank].empty())
        {
            requests.emplace_back();
            MPI_Isend(m_outboxes[rank].data(),
                      CountOf(m_outboxes[rank].size()),
                      MPI_BYTE,
                      static_cast<int>(rank),
                      TAG,
                      MPI_COMM_WORLD,
                      &requests.back());
        }
    }
    MPI_Waitall(CountOf(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (Bytes& outbox : m_outboxes)
    {
        outbox.clear();
    }
    return value;
}

} // namespace

} // namespace ns3

extern "C" ns3::RankExchange*
hpcc_begin_mpi()
{
    return new ns3::MpiExchange;
}
