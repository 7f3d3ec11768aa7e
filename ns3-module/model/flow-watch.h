/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_FLOW_WATCH_H
#define HPCC_FLOW_WATCH_H

#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <map>
#include <unordered_map>

namespace ns3
{

class QbbFrame;
class RdmaHost;
struct RdmaFlow;

/**
 * \ingroup hpcc
 * \brief Follows the frames of a host's flows for its trace sources Resend, Rtt and Cnp.
 */
class FlowWatch
{
  public:
    /**
     * \param host the host, which owns this
     */
    explicit FlowWatch(RdmaHost& host);

    /// Follow the frames of all of the host's ports. Call it once, when they are there.
    void FollowPorts();

    /**
     * \brief Follow a queue pair that has sent before.
     * \param queuePair the queue pair
     * \param end the first byte that it has never sent
     */
    void Begin(uint32_t queuePair, uint64_t end);

    /// A flow, and the first byte of the packet that is sent again, counted from the flow's first.
    TracedCallback<const RdmaFlow&, uint64_t> resend;
    /// A flow, and the time from a packet's first bit out to the acknowledgement of its last byte.
    TracedCallback<const RdmaFlow&, Time> rtt;
    /// A flow.
    TracedCallback<const RdmaFlow&> cnp;

  private:
    /// What is known of the packets of a flow.
    struct Sent
    {
        uint64_t end{0}; //!< first byte that has never been sent
        /// When packets left that were sent once, by the first byte behind them.
        std::map<uint64_t, Time> times;
    };

    /**
     * \brief A frame leaves.
     * \param frame the frame
     */
    void OnSent(const QbbFrame& frame);

    /**
     * \brief A frame has arrived.
     * \param frame the frame
     */
    void OnArrived(const QbbFrame& frame);

    /**
     * \brief An acknowledgement has arrived.
     * \param frame the acknowledgement
     */
    void OnAck(const QbbFrame& frame);

    /**
     * \brief A flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow);

    RdmaHost& m_host;                          //!< the host
    std::unordered_map<uint32_t, Sent> m_sent; //!< packets of flows, by queue pair
};

} // namespace ns3

#endif /* HPCC_FLOW_WATCH_H */
