/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_CONGESTION_OPS_H
#define RDMA_CONGESTION_OPS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A congestion control of RDMA flows that is written in C++: the state of one flow.
 *
 * Derive a class with a TypeId of its own and an AddConstructor(), and name it as `CongestionControl` of RdmaHost or as
 * `congestion_control.algorithm` of a scenario file: "ns3::MyControl". Its attributes are its parameters; in a file they
 * are keys of [congestion_control] under their own names. scratch/hpcc-own-control.cc shows one.
 *
 * The core calls, in this order: Start() once; OnSent() for each packet with payload that has left; for an acknowledgement
 * that reports a missing byte OnLoss(), then for each acknowledgement OnFeedback(); OnLoss() for a retransmission timeout;
 * OnNotification() for a congestion notification. A decision takes effect before the next call.
 */
class RdmaCongestionOps : public Object
{
  public:
    /// What a controller must know of its flow and never changes.
    struct Limits
    {
        DataRate lineRate;    //!< of the sender's port
        Time baseRtt;         //!< T, the base round-trip time
        uint64_t windowBytes; //!< window at line rate; 0: none
        uint32_t mtu;         //!< most payload bytes in a packet
        uint8_t hops;         //!< links on the shortest path; 0: not known
    };

    /// What one hop reported, if telemetry with records of hops travels (attribute TelemetryLayout).
    struct Hop
    {
        DataRate rate;    //!< of the egress link
        uint64_t nanos;   //!< emission time, modulo Feedback::nanosModulus
        uint64_t txBytes; //!< bytes sent before, modulo Feedback::bytesModulus
        uint64_t qlen;    //!< bytes that wait behind the packet
    };

    /// One acknowledgement.
    struct Feedback
    {
        uint64_t now;          //!< arrival time in ns
        uint64_t ackSeq;       //!< first byte that the receiver still expects
        uint64_t sndNxt;       //!< first byte that was not sent yet
        uint64_t acked;        //!< bytes acknowledged for the first time
        uint64_t rtt;          //!< measured round-trip time in ns; 0: not known
        bool congestionMarked; //!< whether the acknowledged packet was ECN-marked
        std::vector<Hop> hops; //!< records of hops in path order, if there are any
        uint64_t nanosModulus; //!< where Hop::nanos wraps
        uint64_t bytesModulus; //!< where Hop::txBytes wraps
    };

    /// A packet that has left.
    struct Sent
    {
        uint64_t now;        //!< when, in ns
        uint64_t seq;        //!< its first byte
        uint32_t bytes;      //!< payload bytes
        uint64_t inFlight;   //!< bytes sent and not acknowledged
        bool retransmission; //!< whether its first byte was sent before
    };

    /// Packets taken for lost.
    struct Loss
    {
        uint64_t now;      //!< when that was noticed, in ns
        uint64_t seq;      //!< the first missing byte
        uint64_t inFlight; //!< bytes that were in flight
        bool timeout;      //!< noticed by a timeout, not by the receiver
    };

    /// What a controller wants.
    struct Decision
    {
        bool keep{true};         //!< leave window and rate as they are
        DataRate rate;           //!< the pace, otherwise
        uint64_t windowBytes{0}; //!< the window; 0: in proportion to the rate
    };

    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    /**
     * \brief A flow begins, at line rate.
     * \param limits what is known of it
     */
    virtual void Start(const Limits& limits);

    /**
     * \brief Take in an acknowledgement.
     * \param feedback the acknowledgement
     * \return what to do
     */
    virtual Decision OnFeedback(const Feedback& feedback) = 0;

    /**
     * \brief A packet has left.
     * \param sent the packet
     */
    virtual void OnSent(const Sent& sent);

    /**
     * \brief Packets are taken for lost.
     * \param loss what is lost
     * \return what to do
     */
    virtual Decision OnLoss(const Loss& loss);

    /**
     * \brief A congestion notification has come, by the receiver or a switch.
     * \param now when, in ns
     * \return what to do
     */
    virtual Decision OnNotification(uint64_t now);

    /// \return whether OnNotification() does something: otherwise a run with notifications is refused
    virtual bool ReactsToNotifications() const;

    /// \return whether it needs a record of each hop, so that frames carry them unless a setting says otherwise
    virtual bool ReadsTelemetry() const;
};

} // namespace ns3

#endif /* RDMA_CONGESTION_OPS_H */
