/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_LOAD_BALANCER_H
#define QBB_LOAD_BALANCER_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace hpcc
{
class CoreLoadBalancer;
struct Draws;
} // namespace hpcc

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A load balancer that is written in C++: which of several equally short paths a packet
 * takes at one switch.
 *
 * Derive a class with a TypeId of its own and an AddConstructor(), and name it as
 * `LoadBalancingScheme` of QbbSwitch: "ns3::MyBalancer". Each switch has an object, which exists
 * from QbbHelper::Start() on: QbbSwitch::GetLoadBalancer(), and the attribute `LoadBalancer` in
 * paths of Config. examples/hpcc-own-balancer-example.cc shows one.
 *
 * Data and probes are balanced; answers go by the switch's hash. Simulator::Now() is the time at
 * which the packet comes in. During a call hosts and switches cannot be called, as in
 * RdmaCongestionOps: Simulator::ScheduleNow() does such things behind it.
 */
class QbbLoadBalancer : public Object
{
  public:
    /// A port on a shortest path.
    struct Hop
    {
        uint16_t port;        //!< number of the port, counted from 0
        uint32_t queuedBytes; //!< bytes that wait there, without the frame that is leaving
        DataRate rate;        //!< rate of its link
        bool isPaused;        //!< whether its far end pauses the packet's priority
    };

    /// A packet that has come in, and where it may go.
    struct Choice
    {
        Time now;              //!< the present time
        uint32_t dst;          //!< index of the host that it goes to
        uint32_t srcAddress;   //!< IPv4 address of its sender, as an integer
        uint32_t dstAddress;   //!< IPv4 address of its receiver, as an integer
        uint16_t sport;        //!< UDP source port
        uint16_t dport;        //!< UDP destination port
        uint8_t priority;      //!< priority
        std::vector<Hop> hops; //!< at least two ports

        /**
         * \brief Hash addresses and ports, as switches do for ECMP: of several hops they take the
         * one at the remainder of a division by their number.
         * \param seed seed; that of a switch is its index
         * \return the hash
         */
        uint32_t Hash(uint32_t seed) const;
    };

    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    /**
     * \brief Choose where a packet goes.
     * \param choice the packet and its next hops
     * \return the port of one of them; any other ends the run
     */
    virtual uint16_t Choose(const Choice& choice) = 0;

    /// \return index of its switch in the network
    uint32_t GetSwitch() const;

  protected:
    /**
     * \brief Draw a random number of the port by which the packet has come, as built-in schemes do.
     * A RandomVariableStream of ns-3 will do as well. Only in Choose().
     * \return a number, uniform in 32 bits
     */
    uint32_t Draw();

  private:
    friend class hpcc::CoreLoadBalancer;

    uint32_t m_switch{0};          //!< index of its switch
    hpcc::Draws* m_draws{nullptr}; //!< random numbers, during a call
};

} // namespace ns3

#endif /* QBB_LOAD_BALANCER_H */
