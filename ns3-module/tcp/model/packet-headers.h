/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PACKET_HEADERS_H
#define PACKET_HEADERS_H

#include "ns3/address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/packet.h"
#include "ns3/tcp-header.h"

#include <cstdint>

namespace ns3
{

/// Protocols as headers number them (IANA, IEEE): ns-3's names for these numbers differ from
/// release to release.
namespace protocol_number
{
constexpr uint8_t TCP = 6;        //!< after an IP header
constexpr uint8_t UDP = 17;       //!< after an IP header
constexpr uint8_t FRAGMENT = 44;  //!< after an IPv6 header
constexpr uint16_t IPV4 = 0x0800; //!< EtherType
constexpr uint16_t IPV6 = 0x86DD; //!< EtherType
} // namespace protocol_number

/**
 * \ingroup hpcc
 * \brief The number of a probe.
 */
struct ProbeNumber
{
    uint32_t seq;  //!< sequence number of the next new byte when the probe left
    bool isAnswer; //!< whether it is the answer
};

/**
 * \ingroup hpcc
 * \brief The fields of an IPv4 or IPv6 packet's headers.
 *
 * Addresses of hosts are kept in IPv4's form: a host's IPv6 address ends with it.
 */
struct PacketHeaders
{
    PacketHeaders() = default;

    /**
     * \param packet the packet, from the IP header on
     */
    explicit PacketHeaders(Ptr<const Packet> packet);

    /// \return source address and port, for sockets
    Address GetSource() const;

    /// \return destination address and port, for sockets
    Address GetDestination() const;

    /// \return the differentiated services code point
    uint8_t GetDscp() const;

    /// \return hop limit, or time to live
    uint8_t GetHopLimit() const;

    /// \return the network layer's EtherType
    uint16_t GetEtherType() const;

    /**
     * \brief Do to a packet with these headers what the network did.
     * \param packet the packet
     * \param hopLimit hop limit with which it arrived
     * \param marked whether a switch marked it; one whose sender does not know ECN cannot be
     */
    void Arrive(Packet& packet, uint8_t hopLimit, bool marked);

    /**
     * \brief Read a packet that is a probe, or an answer. A TCP header says it by its numbers;
     * behind a UDP header stand four bytes of what it is and four of its number.
     * \param packet the packet that these are the headers of
     * \return what it says
     */
    ProbeNumber ReadProbe(Ptr<const Packet> packet) const;

    /**
     * \brief Make a probe, or an answer, with these addresses and ports.
     * \param number what it says
     * \param dscp its code point
     * \param hopLimit its hop limit
     * \return its packet, from the network layer's header on
     */
    Ptr<Packet> MakeProbe(ProbeNumber number, uint8_t dscp, uint8_t hopLimit) const;

    /// \return the same turned round: addresses, and ports
    PacketHeaders Reversed() const;

    bool isIpv6{false};  //!< whether it is IPv6
    uint32_t src{0};     //!< source host's address in IPv4, 0 if no host has it
    uint32_t dst{0};     //!< destination host's address in IPv4, 0 if no host has it
    TcpHeader tcp;       //!< transport layer, if isTcp
    bool isTcp{false};   //!< whether it is TCP, and no later fragment of it
    bool isUdp{false};   //!< whether it is UDP, and no later fragment of it
    uint16_t sport{0};   //!< source port, 0 where there is none
    uint16_t dport{0};   //!< destination port, 0 where there is none
    uint32_t payload{0}; //!< bytes behind the TCP or UDP header, in a first fragment those there

  private:
    /**
     * \brief Read the header of TCP or UDP, in a first fragment, too.
     * \param rest the packet behind the IPv6 header
     */
    void ReadIpv6Transport(Packet& rest);

    /**
     * \brief Read the header of TCP or UDP.
     * \param rest the packet behind the network layer's header
     * \param protocol the protocol there
     */
    void ReadTransport(Packet& rest, uint8_t protocol);

    /**
     * \brief Make the part of a probe behind the network layer's header.
     * \param number what it says
     * \return its packet
     */
    Ptr<Packet> MakeProbeBody(ProbeNumber number) const;

    Ipv4Header m_ipv4; //!< network layer, unless isIpv6
    Ipv6Header m_ipv6; //!< network layer, if isIpv6
};

} // namespace ns3

#endif /* PACKET_HEADERS_H */
