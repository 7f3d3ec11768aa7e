/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_CONGESTION_OPS_H
#define RDMA_CONGESTION_OPS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <array>
#include <cstdint>
#include <vector>

namespace hpcc
{
class CongestionOps;
}

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A congestion control of RDMA flows that is written in C++: the state of one flow.
 *
 * Derive a class with a TypeId of its own and an AddConstructor(), and name it as
 * `CongestionControl` of RdmaHost or as `congestion_control.algorithm` of a scenario file:
 * "ns3::MyControl". Its attributes are its parameters; in a file they are keys of
 * [congestion_control] under their own names. scratch/hpcc-own-control.cc shows one.
 *
 * The core calls, in this order: Start() once; OnSent() for each packet with payload that has left;
 * for an acknowledgement that reports a missing byte OnLoss(), then for each acknowledgement
 * OnFeedback(); OnLoss() for a retransmission timeout; OnNotification() for a congestion
 * notification; OnTimer() when a timer that it has armed is due; OnPort() after a failed link has
 * moved the flow to another port. A decision takes effect before the next call.
 *
 * The host waits for these calls in the midst of its work: to call it from inside one - to start
 * the next flow, to take a link down, to ask for a rate - ends the program with a message. Schedule
 * such a thing by Simulator::ScheduleNow(): it happens at the same time, after the decision.
 * Simulator::Now() is the time of what a call tells, and Simulator::Stop() stops there. What a call
 * throws ends the program, too.
 */
class RdmaCongestionOps : public Object
{
  public:
    /// What a controller reads of telemetry: frames carry it unless the attribute TelemetryLayout
    /// says otherwise.
    enum class Reads
    {
        NOTHING,    //!< nothing
        RECORDS,    //!< a record of each hop
        SEND_TIME,  //!< when the packet left its sender
        UTILISATION //!< the utilisation of the busiest hop
    };

    /// Timers that a controller has, numbered from 0.
    static constexpr uint8_t TIMERS = 4;

    /// Facts of a flow that never change.
    struct Limits
    {
        DataRate lineRate;    //!< rate of the sender's port
        Time baseRtt;         //!< T, the base round-trip time
        uint64_t windowBytes; //!< window at line rate; 0: none
        uint32_t mtu;         //!< most payload bytes in a packet
        uint8_t hops;         //!< links on the shortest path; 0: not known
    };

    /// The record of one hop, if the attribute TelemetryLayout has records.
    struct Hop
    {
        DataRate rate;    //!< rate of the egress link
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
        /// Place on the path, from 0, of the only record in hops; -1: one of each hop.
        int8_t busiestPlace;
        uint64_t sentAt; //!< when the acknowledged packet left, in ns; 0: not said
        /// U of the busiest hop, 1 if bytes in flight are capacity * T; below 0: not said.
        double utilisation;
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

    /// The answer of a controller.
    struct Decision
    {
        bool keep{true};         //!< leave window and rate as they are
        DataRate rate;           //!< the pace, otherwise; 0 ends the run
        uint64_t windowBytes{0}; //!< the window; 0: in proportion to the rate
        /// With a rate alone: the wait for the packet that is due next is computed anew; otherwise
        /// the rate paces the packets after it.
        bool repace{true};
    };

    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    /**
     * \brief A flow begins, at line rate.
     * \param limits facts of the flow
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
     * \param loss the loss
     * \return what to do
     */
    virtual Decision OnLoss(const Loss& loss);

    /**
     * \brief A congestion notification has come, by the receiver or a switch.
     * \param now when, in ns
     * \return what to do
     */
    virtual Decision OnNotification(uint64_t now);

    /**
     * \brief An armed timer is due; it is no longer armed.
     * \param timer its number
     * \param now when, in ns
     * \return what to do
     */
    virtual Decision OnTimer(uint8_t timer, uint64_t now);

    /**
     * \brief A failed link has moved the flow to another port.
     * \param lineRate rate of that port; Limits::lineRate was the first port's
     */
    virtual void OnPort(DataRate lineRate);

    /// \return whether OnNotification() does something: otherwise a run with notifications is
    /// refused
    virtual bool ReactsToNotifications() const;

    /// \return the telemetry that it reads
    virtual Reads GetReads() const;

    /**
     * \brief Ask whether the controller can do with less than a record of each hop.
     * \return whether the record of the busiest link, or its utilisation, will do in place of all
     * records; otherwise busiest_link and loads of TelemetryContent are refused
     */
    virtual bool TakesDigests() const;

  protected:
    /**
     * \brief Arm a timer, in place of its earlier time. It counts within calls alone: not in an
     * event that a call has scheduled. \param timer its number, below TIMERS \param at when it is
     * due, in ns; a time that has passed counts as now, but OnTimer() that arms for now again and
     * again ends the program
     */
    void Arm(uint8_t timer, uint64_t at);

  private:
    friend class hpcc::CongestionOps;

    std::array<uint64_t, TIMERS> m_due{}; //!< when each timer is due
    uint8_t m_armed{0};                   //!< bit n: timer n was armed since the core asked
};

} // namespace ns3

#endif /* RDMA_CONGESTION_OPS_H */
