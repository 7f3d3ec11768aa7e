/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rank-exchange.h"

#include "ns3/abort.h"

#ifdef NS3_MPI
#include <mpi.h>
#endif

#include <algorithm>
#include <limits>

namespace ns3
{

#ifdef NS3_MPI

namespace
{

/// The tag of all messages.
constexpr int TAG = 1;

/// Adds the time of a block to a sum.
class Stopwatch
{
  public:
    /**
     * \param sum the time so far
     */
    explicit Stopwatch(ProcessTime& sum)
        : m_sum(sum),
          m_begin(ProcessTime::Now())
    {
    }

    ~Stopwatch()
    {
        m_sum += ProcessTime::Now() - m_begin;
    }

    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    ProcessTime& m_sum;  //!< the time so far
    ProcessTime m_begin; //!< when the block began
};

/**
 * \param size bytes of a message
 * \return the same as MPI counts
 */
int
CountOf(std::size_t size)
{
    NS_ABORT_MSG_IF(size > std::numeric_limits<int>::max(),
                    "a message of " << size << " bytes is more than MPI can send");
    return static_cast<int>(size);
}

} // namespace

bool
RankExchange::IsAvailable()
{
    return true;
}

RankExchange::RankExchange()
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

RankExchange::~RankExchange()
{
    if (m_ends)
    {
        MPI_Finalize();
    }
}

uint64_t
RankExchange::Exchange(uint64_t value)
{
    const Stopwatch watch(m_waited);
    ++m_windows;
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
        m_sentBytes += outbox.size();
        outbox.clear();
    }
    return value;
}

std::vector<RankExchange::Bytes>
RankExchange::Gather(const Bytes& bytes)
{
    const Stopwatch watch(m_waited);
    const bool isFirst = m_rank == 0;
    const int mine = CountOf(bytes.size());
    std::vector<int> counts(GetSize());
    MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<int> places(isFirst ? counts.size() : 0);
    std::size_t total = 0;
    for (std::size_t rank = 0; rank < places.size(); ++rank)
    {
        places[rank] = CountOf(total);
        total += static_cast<std::size_t>(counts[rank]);
    }
    Bytes all(total);
    MPI_Gatherv(bytes.data(),
                mine,
                MPI_BYTE,
                all.data(),
                counts.data(),
                places.data(),
                MPI_BYTE,
                0,
                MPI_COMM_WORLD);
    m_sentBytes += isFirst ? 0 : bytes.size();
    std::vector<Bytes> result;
    for (std::size_t rank = 0; rank < places.size(); ++rank)
    {
        const auto begin = all.begin() + places[rank];
        result.emplace_back(begin, begin + counts[rank]);
    }
    return result;
}

void
RankExchange::Sum(uint64_t* values, std::size_t count) const
{
    const void* mine = m_rank == 0 ? MPI_IN_PLACE : values;
    MPI_Reduce(mine, values, CountOf(count), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

int
RankExchange::Share(int value) const
{
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return value;
}

#else

bool
RankExchange::IsAvailable()
{
    return false;
}

RankExchange::RankExchange()
{
    NS_ABORT_MSG("the module was built without MPI; see RankExchange::IsAvailable()");
}

RankExchange::~RankExchange() = default;

uint64_t
RankExchange::Exchange(uint64_t value)
{
    return value;
}

std::vector<RankExchange::Bytes>
RankExchange::Gather(const Bytes&)
{
    return {};
}

void
RankExchange::Sum(uint64_t*, std::size_t) const
{
}

int
RankExchange::Share(int value) const
{
    return value;
}

#endif

} // namespace ns3
