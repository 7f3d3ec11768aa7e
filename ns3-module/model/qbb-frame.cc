/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-frame.h"

#include "ns3-bridge/src/frame.rs.h"
#include "ns3-bridge/src/probed.rs.h"

#include "ns3/abort.h"

#include <utility>

namespace ns3
{

const uint8_t QbbFrame::INITIAL_HOP_LIMIT = hpcc::initial_hop_limit();

namespace
{

/**
 * \param frame a frame of the engine
 * \return what it is for
 */
QbbFrame::Kind
KindOf(const hpcc::Frame& frame)
{
    switch (frame.kind)
    {
    case hpcc::PacketKind::Data:
        return frame.of_stack ? QbbFrame::Kind::PACKET : QbbFrame::Kind::DATA;
    case hpcc::PacketKind::Ack:
        return QbbFrame::Kind::ACK;
    case hpcc::PacketKind::Nack:
        return QbbFrame::Kind::NACK;
    case hpcc::PacketKind::Pfc:
        return QbbFrame::Kind::PFC;
    case hpcc::PacketKind::Probe:
        return frame.of_stack ? QbbFrame::Kind::PACKET_PROBE : QbbFrame::Kind::PROBE;
    case hpcc::PacketKind::Feedback:
        return frame.of_stack ? QbbFrame::Kind::PACKET_RESPONSE : QbbFrame::Kind::FEEDBACK;
    case hpcc::PacketKind::Cnp:
        return QbbFrame::Kind::CNP;
    case hpcc::PacketKind::FastCnp:
        return QbbFrame::Kind::FAST_CNP;
    case hpcc::PacketKind::Icmpv6:
        return QbbFrame::Kind::ICMPV6;
    case hpcc::PacketKind::Trimmed:
        return QbbFrame::Kind::TRIMMED;
    }
    NS_ABORT_MSG("a frame of no kind");
}

/**
 * \param kind what a frame is for
 * \return the same, as the engine has it
 */
hpcc::PacketKind
CoreKindOf(QbbFrame::Kind kind)
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
    case QbbFrame::Kind::TRIMMED:
        return hpcc::PacketKind::Trimmed;
    case QbbFrame::Kind::PFC:
        return hpcc::PacketKind::Pfc;
    }
    NS_ABORT_MSG("a frame of no kind");
}

/**
 * \param frame a frame
 * \return the name of its kind
 */
const char*
NameOf(const QbbFrame& frame)
{
    switch (frame.kind)
    {
    case QbbFrame::Kind::DATA:
        return "data";
    case QbbFrame::Kind::ACK:
        return "ack";
    case QbbFrame::Kind::NACK:
        return "nack";
    case QbbFrame::Kind::PFC:
        return frame.pause ? "pause" : "resume";
    case QbbFrame::Kind::PROBE:
        return "probe";
    case QbbFrame::Kind::FEEDBACK:
        return "feedback";
    case QbbFrame::Kind::PACKET:
        return "packet";
    case QbbFrame::Kind::PACKET_PROBE:
        return "packet_probe";
    case QbbFrame::Kind::PACKET_RESPONSE:
        return "packet_response";
    case QbbFrame::Kind::CNP:
        return "cnp";
    case QbbFrame::Kind::FAST_CNP:
        return "fast_cnp";
    case QbbFrame::Kind::ICMPV6:
        return "icmpv6";
    case QbbFrame::Kind::TRIMMED:
        return "trimmed";
    }
    NS_ABORT_MSG("a frame of no kind");
}

} // namespace

std::ostream&
operator<<(std::ostream& os, const QbbFrame& frame)
{
    os << NameOf(frame) << " priority " << +frame.priority << " size " << frame.size;
    // A PFC frame belongs to a link, not to a flow.
    if (frame.kind != QbbFrame::Kind::PFC)
    {
        os << ' ' << frame.src << ':' << frame.sport << " > " << frame.dst << ':' << frame.dport
           << " seq " << frame.seq << " payload " << frame.payload;
    }
    return os;
}

QbbFrame::QbbFrame()
    : hopLimit(INITIAL_HOP_LIMIT)
{
}

QbbFrame::QbbFrame(const hpcc::Frame& frame, std::vector<uint8_t> section)
    : kind(KindOf(frame)),
      priority(frame.priority),
      congestionMarked(frame.congestion_marked),
      congestionEchoed(frame.congestion_echo),
      pause(frame.pause),
      ackRequested(frame.ack_requested),
      hopLimit(frame.hop_limit),
      telemetryBytes(static_cast<uint16_t>(section.size())),
      size(frame.size),
      src(frame.src),
      dst(frame.dst),
      srcAddress(hpcc::host_address(frame.src)),
      dstAddress(hpcc::host_address(frame.dst)),
      sport(frame.sport),
      dport(frame.dport),
      payload(frame.payload),
      earlierPackets(frame.earlier_packets),
      earlierWrites(frame.earlier_writes),
      seq(frame.seq),
      flowBytes(frame.flow_bytes),
      selective(frame.selective),
      trimmed(frame.trimmed),
      sacked(frame.sacked),
      atLastHop(frame.at_last_hop),
      queuePair(frame.queue_pair),
      replyQueuePair(frame.reply_queue_pair),
      telemetry(std::move(section))
{
}

hpcc::Frame
QbbFrame::ToCore() const
{
    return {CoreKindOf(kind),
            CarriesPacket(),
            priority,
            hopLimit,
            congestionMarked,
            congestionEchoed,
            pause,
            ackRequested,
            src,
            dst,
            sport,
            dport,
            queuePair,
            replyQueuePair,
            seq,
            selective,
            trimmed,
            atLastHop,
            sacked,
            payload,
            size,
            flowBytes,
            earlierPackets,
            earlierWrites};
}

const uint8_t*
QbbFrame::GetTelemetry() const
{
    return telemetry.data();
}

bool
QbbFrame::CollectsTelemetry() const
{
    return kind == Kind::DATA || kind == Kind::PROBE || kind == Kind::PACKET_PROBE ||
           kind == Kind::TRIMMED;
}

bool
QbbFrame::IsForTelemetryAlone() const
{
    return kind == Kind::PROBE || kind == Kind::FEEDBACK || kind == Kind::PACKET_PROBE ||
           kind == Kind::PACKET_RESPONSE;
}

bool
QbbFrame::CarriesPacket() const
{
    return kind == Kind::PACKET || kind == Kind::PACKET_PROBE || kind == Kind::PACKET_RESPONSE;
}

} // namespace ns3
