/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SHARED_NETWORK_H
#define SHARED_NETWORK_H

#include "frame-image.h"
#include "rank-exchange.h"

#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3
{

class QbbNetDevice;
class QbbNode;
class RdmaHost;
class WheelSimulatorImpl;

/**
 * \ingroup hpcc
 * \brief A network whose simulation several processes may share, its ranks.
 *
 * Simulated time is cut into windows that are no longer than the delay of any link between two
 * ranks. So what a rank sends within a window arrives in a later one, and the ranks run each window
 * without waiting, then exchange what they have sent: frames, and which flows have finished.
 *
 * A flow that has finished closes its receiver at the end of the window, for the receiver may be at
 * another rank; with a single rank as well, so that nothing depends on how many there are. This
 * takes the order EventOrder::CANONICAL.
 */
class SharedNetwork
{
  public:
    /// Called between two windows, at the same simulated time at all ranks.
    using Observer = std::function<void()>;

    /**
     * \param simulator the simulator
     * \param nodes all nodes of the network, by index
     * \param pool where frames from other ranks come from
     * \param exchange connects the ranks; nullptr if there is one
     * \param ranks the rank of each node; empty if there is one
     */
    SharedNetwork(WheelSimulatorImpl& simulator,
                  const std::vector<Ptr<QbbNode>>& nodes,
                  std::shared_ptr<QbbFramePool> pool,
                  std::shared_ptr<RankExchange> exchange,
                  std::vector<uint32_t> ranks);
    ~SharedNetwork();
    SharedNetwork(const SharedNetwork&) = delete;
    SharedNetwork& operator=(const SharedNetwork&) = delete;

    /**
     * \param node index of a node
     * \return whether this rank simulates it
     */
    bool IsLocal(uint32_t node) const
    {
        return m_ranks.empty() || m_ranks[node] == m_exchange->GetRank();
    }

    /// \return the other ranks; nullptr if there are none
    const std::shared_ptr<RankExchange>& GetExchange() const
    {
        return m_exchange;
    }

    /**
     * \brief A frame leaves for a node of another rank. It goes back to its pool.
     * \param nanos when it arrives, in ns; not within the present window
     * \param receiver device at which it arrives
     * \param frame the frame
     */
    void Send(uint64_t nanos, const QbbNetDevice& receiver, QbbFrame* frame);

    /**
     * \brief A flow has finished: its receiver closes at the end of the window.
     * \param host index of its destination
     * \param receiver key of the receiver there
     */
    void CloseReceiver(uint32_t host, uint32_t receiver);

    /**
     * \brief Count a flow of this rank that has finished.
     * \param bytes its bytes
     */
    void CountFinished(uint64_t bytes);

    /// Count what has finished in the last window. To be called by all ranks when the simulation is
    /// over.
    void End();

    /// End the simulation of all ranks at the end of this window.
    void Stop()
    {
        m_isStopped = true;
    }

    /// \return flows of all ranks that finished before the present window
    uint64_t GetFinished() const
    {
        return m_finished;
    }

    /// \return their bytes
    uint64_t GetFinishedBytes() const
    {
        return m_finishedBytes;
    }

    /// \return frames sent to other ranks so far
    uint64_t GetSentFrames() const
    {
        return m_sentFrames;
    }

    /**
     * \param observer called between two windows, after the last one's flows have been counted
     */
    void SetObserver(Observer observer)
    {
        m_observer = std::move(observer);
    }

    /**
     * \brief A window is over, and the next one begins. The simulator calls it.
     * \param next time of this rank's next event
     * \return time of the next event of any rank
     */
    uint64_t EndWindow(uint64_t next);

  private:
    /// A receiver that is no longer needed.
    struct Closing
    {
        uint32_t host;     //!< index of its host
        uint32_t receiver; //!< its key there
    };

    /// A rank's news of its flows, before its closings and frames.
    struct Header
    {
        uint64_t finished{0};      //!< flows that finished in the window
        uint64_t finishedBytes{0}; //!< their bytes
        uint64_t closings{0};      //!< how many closings follow
        uint64_t stops{0};         //!< whether the simulation is to end
    };

    /**
     * \brief Exchange the window's frames and closings with the other ranks.
     * \param next time of this rank's next event
     * \return time of the next event of any rank
     */
    uint64_t Exchange(uint64_t next);

    /**
     * \brief Take in what another rank has sent.
     * \param bytes its closings and its frames
     */
    void TakeIn(const RankExchange::Bytes& bytes);

    /// Close the receivers of all ranks' flows that finished in the window.
    void Close();

    WheelSimulatorImpl& m_simulator;           //!< the simulator
    std::vector<Ptr<QbbNode>> m_nodes;         //!< all nodes, by index
    std::vector<Ptr<RdmaHost>> m_hosts;        //!< the hosts among them; nullptr for others
    std::shared_ptr<QbbFramePool> m_pool;      //!< where frames from other ranks come from
    std::shared_ptr<RankExchange> m_exchange;  //!< connects the ranks, if there are several
    bool m_isStopped{false};                   //!< whether the simulation is to end
    std::vector<uint32_t> m_ranks;             //!< the rank of each node; empty: one rank
    std::vector<RankExchange::Bytes> m_frames; //!< by rank: frames of this window
    Header m_news;                             //!< news of this window
    std::vector<Closing> m_closings;           //!< receivers to close
    uint64_t m_earliestSent{UINT64_MAX};       //!< when the earliest of those frames arrives
    uint64_t m_finished{0};                    //!< flows that finished before this window
    uint64_t m_finishedBytes{0};               //!< their bytes
    uint64_t m_sentFrames{0};                  //!< frames sent to other ranks
    Observer m_observer;                       //!< called between windows
};

} // namespace ns3

#endif /* SHARED_NETWORK_H */
