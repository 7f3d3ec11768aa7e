/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SLOW_RECEIVER_H
#define SLOW_RECEIVER_H

#include "qbb-frame.h"

#include "ns3/event-id.h"

#include <cstdint>
#include <functional>

namespace hpcc
{
struct Host;
} // namespace hpcc

namespace ns3
{

class QbbNetDevice;
class QbbNode;

/**
 * \ingroup hpcc
 * \brief The NIC of a port whose host takes frames more slowly than the link brings them.
 *
 * It holds what waits for the host, and pauses the link before there is no room. The decisions are
 * the core's (`hpcc_core::transport::receive`); the NIC holds the frames.
 */
class SlowReceiver
{
  public:
    /// Given each frame that the host has taken.
    using Deliver = std::function<void(QbbFrame*)>;

    /**
     * \param core the host's decisions, which must outlive this
     * \param node the host, which must outlive this
     * \param port its port, which must outlive this
     * \param deliver called with each frame that the host takes
     */
    SlowReceiver(hpcc::Host& core, QbbNode& node, QbbNetDevice& port, Deliver deliver);
    SlowReceiver(const SlowReceiver&) = delete;
    SlowReceiver& operator=(const SlowReceiver&) = delete;

    /**
     * \brief A frame arrives: hold it until the host has taken it, or drop it for lack of room.
     * \param frame the frame; the NIC now owns it
     */
    void RxEnqueue(QbbFrame* frame);

    /// \return whether a pause or resume waits for the port
    bool HasPfc() const
    {
        return !m_pfcs.IsEmpty();
    }

    /**
     * \brief Take the pause or resume that leaves next: before all other frames, and never paused.
     * \return the frame, or nullptr
     */
    QbbFrame* NextPfc();

    /// The host is no more, nor its core: release all frames.
    void Stop();

    /// The link has failed: what it had paused is not, and pauses that wait are void.
    void OnLinkDown();

  private:
    /// The turn of the first frame has come.
    void RxStart();

    /// The host has taken the first frame.
    void RxDone();

    /**
     * \brief Pause or resume a priority of the link.
     * \param priority the priority
     * \param pause whether to pause it
     */
    void SendPfc(uint8_t priority, bool pause);

    hpcc::Host& m_core;   //!< the host's decisions
    QbbNode& m_node;      //!< the host
    QbbNetDevice& m_port; //!< the port
    Deliver m_deliver;    //!< called with each frame that the host takes
    QbbFrameQueue m_held; //!< frames that wait for the host; it is taking the first
    QbbFrameQueue m_pfcs; //!< pauses and resumes that wait for the port
    EventId m_end;        //!< when it will have taken that frame
};

} // namespace ns3

#endif /* SLOW_RECEIVER_H */
