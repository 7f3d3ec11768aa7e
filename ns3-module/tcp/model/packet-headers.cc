/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-headers.h"

#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-header.h"
#include "ns3/udp-l4-protocol.h"

namespace ns3
{

PacketHeaders::PacketHeaders(Ptr<const Packet> packet)
{
    const Ptr<Packet> rest = packet->Copy();
    rest->RemoveHeader(ip);
    if (ip.GetFragmentOffset() > 0)
    {
        return;
    }
    if (ip.GetProtocol() == TcpL4Protocol::PROT_NUMBER)
    {
        rest->RemoveHeader(tcp);
        isTcp = true;
        sport = tcp.GetSourcePort();
        dport = tcp.GetDestinationPort();
        payload = rest->GetSize();
    }
    else if (ip.GetProtocol() == UdpL4Protocol::PROT_NUMBER)
    {
        UdpHeader udp;
        rest->PeekHeader(udp);
        sport = udp.GetSourcePort();
        dport = udp.GetDestinationPort();
    }
}

} // namespace ns3
