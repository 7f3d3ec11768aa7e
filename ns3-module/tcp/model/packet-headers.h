/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PACKET_HEADERS_H
#define PACKET_HEADERS_H

#include "ns3/ipv4-header.h"
#include "ns3/packet.h"
#include "ns3/tcp-header.h"

#include <cstdint>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief What tells the probes of a flow apart.
 */
struct ProbeNumber
{
    uint32_t seq;  //!< sequence number of the next new byte when the probe left
    bool isAnswer; //!< whether it is the answer
};

/**
 * \ingroup hpcc
 * \brief What the headers of an IPv4 packet say.
 */
struct PacketHeaders
{
    PacketHeaders() = default;

    /**
     * \param packet the packet, from the IPv4 header on
     */
    explicit PacketHeaders(Ptr<const Packet> packet);

    /**
     * \brief Read a packet that is a probe, or an answer. A TCP header says it by its numbers; behind a UDP header stand
     * four bytes of what it is and four of its number.
     * \param packet the packet that these are the headers of
     * \return what it says
     */
    ProbeNumber ReadProbe(Ptr<const Packet> packet) const;

    /**
     * \brief Make a probe, or an answer, with these addresses and ports.
     * \param number what it says
     * \return its packet, from the transport layer's header on
     */
    Ptr<Packet> MakeProbe(ProbeNumber number) const;

    /// \return the same turned round: addresses, and ports
    PacketHeaders Reversed() const;

    Ipv4Header ip;       //!< network layer
    TcpHeader tcp;       //!< transport layer, if isTcp
    bool isTcp{false};   //!< whether it is TCP, and no later fragment of it
    bool isUdp{false};   //!< whether it is UDP, and no later fragment of it
    uint16_t sport{0};   //!< source port, 0 where there is none
    uint16_t dport{0};   //!< destination port, 0 where there is none
    uint32_t payload{0}; //!< bytes behind the TCP or UDP header
};

} // namespace ns3

#endif /* PACKET_HEADERS_H */
