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
 * \brief What the headers of an IPv4 packet say.
 */
struct PacketHeaders
{
    /**
     * \param packet the packet, from the IPv4 header on
     */
    explicit PacketHeaders(Ptr<const Packet> packet);

    Ipv4Header ip;       //!< network layer
    TcpHeader tcp;       //!< transport layer, if isTcp
    bool isTcp{false};   //!< whether it is TCP, and no later fragment of it
    uint16_t sport{0};   //!< source port, 0 where there is none
    uint16_t dport{0};   //!< destination port, 0 where there is none
    uint32_t payload{0}; //!< bytes behind the TCP header
};

} // namespace ns3

#endif /* PACKET_HEADERS_H */
