/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "packet-kind.h"

namespace ns3
{

hpcc::PacketKind
MakePacketKind(QbbFrame::Kind kind)
{
    switch (kind)
    {
    case QbbFrame::Kind::DATA:
    case QbbFrame::Kind::PACKET:
        return hpcc::PacketKind::Data;
    case QbbFrame::Kind::ACK:
        return hpcc::PacketKind::Ack;
    case QbbFrame::Kind::NACK:
        return hpcc::PacketKind::Nack;
    case QbbFrame::Kind::PROBE:
    case QbbFrame::Kind::PACKET_PROBE:
        return hpcc::PacketKind::Probe;
    case QbbFrame::Kind::FEEDBACK:
    case QbbFrame::Kind::PACKET_RESPONSE:
        return hpcc::PacketKind::Feedback;
    case QbbFrame::Kind::CNP:
        return hpcc::PacketKind::Cnp;
    case QbbFrame::Kind::FAST_CNP:
        return hpcc::PacketKind::FastCnp;
    case QbbFrame::Kind::ICMPV6:
        return hpcc::PacketKind::Icmpv6;
    case QbbFrame::Kind::PFC:
        break;
    }
    return hpcc::PacketKind::Pfc;
}

} // namespace ns3
