/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "frame-record.h"

#include "ns3-bridge/src/frame.rs.h"

#include "ns3/abort.h"

namespace ns3
{

namespace
{

/**
 * \brief Translate what a frame is for.
 * \param kind a frame's kind
 * \return the core's form
 */
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
        return hpcc::PacketKind::Pfc;
    }
    NS_ABORT_MSG("a frame of no kind");
}

} // namespace

hpcc::FrameRecord
MakeFrameRecord(const QbbFrame& frame)
{
    hpcc::FrameRecord record{};
    record.kind = MakePacketKind(frame.kind);
    record.priority = frame.priority;
    record.hop_limit = frame.hopLimit;
    record.congestion_marked = frame.congestionMarked;
    record.congestion_echo = frame.congestionEchoed;
    record.pause = frame.pause;
    record.ack_requested = frame.ackRequested;
    record.src_address = frame.srcAddress;
    record.dst_address = frame.dstAddress;
    record.sport = frame.sport;
    record.dport = frame.dport;
    record.queue_pair = frame.queuePair;
    record.seq = frame.seq;
    record.selective = frame.selective;
    record.payload_bytes = frame.payload;
    record.mtu = frame.mtu;
    record.flow_bytes = frame.flowBytes;
    record.earlier_packets = frame.earlierPackets;
    record.earlier_writes = frame.earlierWrites;
    return record;
}

} // namespace ns3
