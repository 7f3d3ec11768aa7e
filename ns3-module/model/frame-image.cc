/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "frame-image.h"

#include "ns3/abort.h"

#include <cstring>
#include <type_traits>

namespace ns3
{

namespace
{

/// All of a frame but its telemetry, and where it arrives; of the same program at both ends.
struct Record
{
    FrameImage::Arrival arrival; //!< where and when it arrives
    QbbFrame::Kind kind;         //!< as QbbFrame has it, and all that follow
    uint8_t priority;            //!< QbbFrame::priority
    bool congestionMarked;       //!< QbbFrame::congestionMarked
    bool congestionEchoed;       //!< QbbFrame::congestionEchoed
    bool pause;                  //!< QbbFrame::pause
    bool ackRequested;           //!< QbbFrame::ackRequested
    uint8_t hopLimit;            //!< QbbFrame::hopLimit
    uint16_t telemetryBytes;     //!< QbbFrame::telemetryBytes
    uint32_t size;               //!< QbbFrame::size
    uint32_t dst;                //!< QbbFrame::dst
    uint32_t srcAddress;         //!< QbbFrame::srcAddress
    uint32_t dstAddress;         //!< QbbFrame::dstAddress
    uint16_t sport;              //!< QbbFrame::sport
    uint16_t dport;              //!< QbbFrame::dport
    uint16_t payload;            //!< QbbFrame::payload
    uint16_t mtu;                //!< QbbFrame::mtu
    uint32_t earlierPackets;     //!< QbbFrame::earlierPackets
    uint64_t seq;                //!< QbbFrame::seq
    uint64_t flowBytes;          //!< QbbFrame::flowBytes
    uint64_t selective;          //!< QbbFrame::selective
    uint64_t arrived;            //!< QbbFrame::arrived
    uint32_t src;                //!< QbbFrame::src
    uint32_t queuePair;          //!< QbbFrame::queuePair
    uint32_t replyQueuePair;     //!< QbbFrame::replyQueuePair
    uint32_t earlierWrites;      //!< QbbFrame::earlierWrites
};

static_assert(std::is_trivially_copyable_v<Record>, "it is copied as bytes");

} // namespace

void
FrameImage::Write(const QbbFrame& frame, const Arrival& arrival, std::vector<uint8_t>& bytes)
{
    NS_ABORT_MSG_IF(frame.CarriesPacket(), "a packet of ns-3's stack cannot leave its process");
    const Record record{arrival,
                        frame.kind,
                        frame.priority,
                        frame.congestionMarked,
                        frame.congestionEchoed,
                        frame.pause,
                        frame.ackRequested,
                        frame.hopLimit,
                        frame.telemetryBytes,
                        frame.size,
                        frame.dst,
                        frame.srcAddress,
                        frame.dstAddress,
                        frame.sport,
                        frame.dport,
                        frame.payload,
                        frame.mtu,
                        frame.earlierPackets,
                        frame.seq,
                        frame.flowBytes,
                        frame.selective,
                        frame.arrived,
                        frame.src,
                        frame.queuePair,
                        frame.replyQueuePair,
                        frame.earlierWrites};
    const std::size_t place = bytes.size();
    bytes.resize(place + sizeof(record) + frame.telemetryBytes);
    std::memcpy(bytes.data() + place, &record, sizeof(record));
    std::memcpy(bytes.data() + place + sizeof(record), frame.GetTelemetry(), frame.telemetryBytes);
}

QbbFrame*
FrameImage::Read(const std::vector<uint8_t>& bytes,
                 std::size_t& place,
                 QbbFramePool& pool,
                 Arrival& arrival)
{
    Record record;
    std::memcpy(&record, bytes.data() + place, sizeof(record));
    place += sizeof(record);
    QbbFrame* frame = pool.Acquire();
    arrival = record.arrival;
    frame->kind = record.kind;
    frame->priority = record.priority;
    frame->congestionMarked = record.congestionMarked;
    frame->congestionEchoed = record.congestionEchoed;
    frame->pause = record.pause;
    frame->ackRequested = record.ackRequested;
    frame->hopLimit = record.hopLimit;
    frame->telemetryBytes = record.telemetryBytes;
    frame->size = record.size;
    frame->dst = record.dst;
    frame->srcAddress = record.srcAddress;
    frame->dstAddress = record.dstAddress;
    frame->sport = record.sport;
    frame->dport = record.dport;
    frame->payload = record.payload;
    frame->mtu = record.mtu;
    frame->earlierPackets = record.earlierPackets;
    frame->seq = record.seq;
    frame->flowBytes = record.flowBytes;
    frame->selective = record.selective;
    frame->arrived = record.arrived;
    frame->src = record.src;
    frame->queuePair = record.queuePair;
    frame->replyQueuePair = record.replyQueuePair;
    frame->earlierWrites = record.earlierWrites;
    std::memcpy(frame->GetTelemetry(), bytes.data() + place, record.telemetryBytes);
    place += record.telemetryBytes;
    return frame;
}

} // namespace ns3
