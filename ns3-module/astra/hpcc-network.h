/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_NETWORK_H
#define HPCC_NETWORK_H

#include "astra-sim/common/AstraNetworkAPI.hh"
#include "hpcc-astra/src/lib.rs.h"

#include <cstdint>
#include <utility>
#include <vector>

/**
 * \ingroup hpcc
 * \brief The network that all ranks share, and what they wait for.
 *
 * Nothing of ASTRA-sim is called from within the engine: it runs until something is over, and then
 * its handler is called.
 */
class HpccSession
{
  public:
    /// What is called when something is over, and with what.
    using Handler = std::pair<void (*)(void*), void*>;

    /**
     * \param network the network
     * \param ranks how many ranks there are
     */
    HpccSession(rust::Box<hpcc::AstraNetwork> network, uint32_t ranks)
        : m_network(std::move(network)),
          m_unfinished(ranks)
    {
    }

    /// \return the network
    hpcc::AstraNetwork& Network()
    {
        return *m_network;
    }

    /**
     * Keeps a handler until it is called.
     * \param handler the handler
     * \return its number
     */
    uint64_t Keep(Handler handler)
    {
        if (m_free.empty())
        {
            m_handlers.push_back(handler);
            return m_handlers.size() - 1;
        }
        const uint64_t id = m_free.back();
        m_free.pop_back();
        m_handlers[id] = handler;
        return id;
    }

    /**
     * A rank has nothing left to do.
     * \param rank the rank
     */
    void EndRank(uint32_t rank)
    {
        m_network->end_rank(rank);
        m_unfinished--;
    }

    /**
     * Runs until all ranks have ended, or nothing is under way.
     * \return the exit status: 0 if all ranks have ended
     */
    int Run()
    {
        uint64_t id = 0;
        while (m_unfinished > 0 && m_network->next(id))
        {
            const auto [function, argument] = m_handlers[id];
            m_free.push_back(id);
            if (function)
            {
                function(argument);
            }
        }
        return hpcc::finish_astra_network(std::move(m_network));
    }

  private:
    rust::Box<hpcc::AstraNetwork> m_network; //!< The network
    std::vector<Handler> m_handlers;         //!< By number
    std::vector<uint64_t> m_free;            //!< Numbers of handlers that were called
    uint32_t m_unfinished;                   //!< Ranks that have not ended
};

/**
 * \ingroup hpcc
 * \brief The network of one rank, as ASTRA-sim sees it.
 */
class HpccNetwork : public AstraSim::AstraNetworkAPI
{
  public:
    /**
     * \param rank the rank
     * \param session what all ranks share
     */
    HpccNetwork(int rank, HpccSession& session)
        : AstraNetworkAPI(rank),
          m_session(session)
    {
    }

    int sim_send(void* buffer,
                 uint64_t count,
                 int type,
                 int dst,
                 int tag,
                 AstraSim::sim_request* request,
                 void (*handler)(void*),
                 void* argument) override
    {
        m_session.Network().send(rank, dst, Tag(tag), count, m_session.Keep({handler, argument}));
        return 0;
    }

    int sim_recv(void* buffer,
                 uint64_t count,
                 int type,
                 int src,
                 int tag,
                 AstraSim::sim_request* request,
                 void (*handler)(void*),
                 void* argument) override
    {
        m_session.Network().receive(rank, src, Tag(tag), m_session.Keep({handler, argument}));
        return 0;
    }

    void sim_schedule(AstraSim::timespec_t delta, void (*handler)(void*), void* argument) override
    {
        m_session.Network().wait(rank, Nanoseconds(delta), m_session.Keep({handler, argument}));
    }

    AstraSim::timespec_t sim_get_time() override
    {
        AstraSim::timespec_t time;
        time.time_res = AstraSim::NS;
        time.time_val = m_session.Network().now_ns();
        return time;
    }

    void sim_notify_finished() override
    {
        if (!m_hasEnded)
        {
            m_hasEnded = true;
            m_session.EndRank(rank);
        }
    }

  private:
    /**
     * \param tag a tag, perhaps below 0
     * \return its bits
     */
    static uint64_t Tag(int tag)
    {
        return static_cast<uint32_t>(tag);
    }

    /**
     * \param time a time
     * \return the same in ns
     */
    static uint64_t Nanoseconds(AstraSim::timespec_t time)
    {
        switch (time.time_res)
        {
        case AstraSim::SE:
            return time.time_val * 1e9L;
        case AstraSim::MS:
            return time.time_val * 1e6L;
        case AstraSim::US:
            return time.time_val * 1e3L;
        case AstraSim::FS:
            return time.time_val / 1e6L;
        default:
            return time.time_val;
        }
    }

    HpccSession& m_session;  //!< What all ranks share
    bool m_hasEnded = false; //!< Whether the rank has said so
};

#endif /* HPCC_NETWORK_H */
