/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_FRAME_H
#define QBB_FRAME_H

#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <ostream>
#include <vector>

namespace hpcc
{
struct Frame;
} // namespace hpcc

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A frame of a lossless Ethernet network (802.1Qbb), as trace sources show it: a copy of
 * what the engine has, made when a sink is connected.
 */
class QbbFrame
{
  public:
    /// What a frame is for.
    enum class Kind : uint8_t
    {
        DATA,            //!< carries payload
        ACK,             //!< positive acknowledgement
        NACK,            //!< negative acknowledgement: a byte is missing
        PFC,             //!< pause or resume of one priority on one link
        PROBE,           //!< a packet of a flow without payload, which collects telemetry
        FEEDBACK,        //!< telemetry that comes back by itself
        PACKET,          //!< a packet of an ns-3 stack
        PACKET_PROBE,    //!< a probe of a flow of such packets
        PACKET_RESPONSE, //!< its telemetry on the way back
        CNP,             //!< congestion notification by the receiver
        /// Congestion notification by a switch; destination options in the place of telemetry.
        FAST_CNP,
        /// ICMPv6 about one of those; the whole IPv6 packet in the place of telemetry.
        ICMPV6,
        TRIMMED, //!< the headers of data whose payload a switch has cut off
    };

    /// Of a negative acknowledgement: no packet arrived ahead of its turn.
    static constexpr uint64_t NOTHING_AHEAD = UINT64_MAX;

    /// Hop limit of a frame as it leaves its sender, as the core has it.
    static const uint8_t INITIAL_HOP_LIMIT;

    QbbFrame();

    /**
     * \brief Copy a frame of the engine.
     * \param frame the frame
     * \param section its telemetry section
     */
    QbbFrame(const hpcc::Frame& frame, std::vector<uint8_t> section);

    /// \return the frame as the engine has it, without its telemetry
    hpcc::Frame ToCore() const;

    /// \return the telemetry section as on the wire
    const uint8_t* GetTelemetry() const;

    /// \return whether switches stamp their telemetry into it
    bool CollectsTelemetry() const;

    /// \return whether nothing but telemetry needs it
    bool IsForTelemetryAlone() const;

    /// \return whether it carries an ns-3 packet
    bool CarriesPacket() const;

    Kind kind{Kind::DATA};        //!< what it is for
    uint8_t priority{0};          //!< priority group, 0 (highest) to 7
    bool congestionMarked{false}; //!< ECN: congestion experienced
    bool congestionEchoed{false}; //!< acknowledgement: the data frame was marked
    bool pause{false};            //!< PFC: pause or resume
    bool ackRequested{false};     //!< data: the receiver is to acknowledge it at once
    uint8_t hopLimit;             //!< IPv4 time to live or IPv6 hop limit
    uint16_t telemetryBytes{0};   //!< length of the telemetry section
    uint32_t size{0};             //!< bytes that it occupies on the link, telemetry included
    uint32_t src{0};              //!< source node
    uint32_t dst{0};              //!< destination node
    uint32_t srcAddress{0};       //!< IPv4 source address
    uint32_t dstAddress{0};       //!< IPv4 destination address
    uint16_t sport{0};            //!< UDP source port
    uint16_t dport{0};            //!< UDP destination port
    uint32_t payload{0};          //!< payload bytes
    /// Packets before the flow's first one on its queue pair; 0 if the flow has it to itself.
    uint32_t earlierPackets{0};
    uint32_t earlierWrites{0}; //!< RDMA WRITEs before it, as earlierPackets
    /// First byte of the payload; of an acknowledgement: first byte still expected.
    uint64_t seq{0};
    uint64_t flowBytes{0}; //!< bytes of the flow
    /// Negative acknowledgement: the packet that arrived, by its first byte.
    uint64_t selective{NOTHING_AHEAD};
    /// Negative acknowledgement: the packet without payload that it answers, by its first byte.
    uint64_t trimmed{NOTHING_AHEAD};
    /// Acknowledgement with a bitmap: the first byte of the bitmap's first packet.
    uint64_t sacked{NOTHING_AHEAD};
    bool atLastHop{false};          //!< the last switch before its host has cut that packet
    uint32_t queuePair{0};          //!< key of the queue pair that it is for, at its destination
    uint32_t replyQueuePair{0};     //!< key of the queue pair that an answer is for
    std::vector<uint8_t> telemetry; //!< the telemetry section
    Ptr<Packet> packet;             //!< the packet that it carries, if it does
};

/**
 * \brief Write a frame's kind, priority and size, and the flow that it belongs to.
 * \param os where to
 * \param frame the frame
 * \return os
 */
std::ostream& operator<<(std::ostream& os, const QbbFrame& frame);

} // namespace ns3

#endif /* QBB_FRAME_H */
