/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "frame-ascii-trace.h"

#include "ns3/abort.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/qbb-frame.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"
#include "ns3/simulator.h"

#include <string>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \param frame a frame
 * \return the name of its kind
 */
std::string
KindOf(const QbbFrame& frame)
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

/**
 * \brief Write a line.
 * \param stream where to
 * \param event what has happened, and where
 * \param frame the frame
 *
 * ns-3.37 takes what is bound for values: a reference here would be another type of callback.
 */
void
WriteFrame(Ptr<OutputStreamWrapper> stream,
           std::pair<char, std::string> event,
           const QbbFrame& frame)
{
    std::ostream& os = *stream->GetStream();
    os << event.first << ' ' << Simulator::Now().As(Time::S) << ' ' << event.second << ' '
       << KindOf(frame) << " priority " << +frame.priority << " size " << frame.size;
    // A PFC frame belongs to a link, not to a flow.
    if (frame.kind != QbbFrame::Kind::PFC)
    {
        os << ' ' << frame.src << ':' << frame.sport << " > " << frame.dst << ':' << frame.dport
           << " seq " << frame.seq << " payload " << frame.payload;
    }
    os << '\n';
}

/**
 * \brief Write the lines of a frame that leaves a host: data has not been in a queue of the device
 * before, and is queued and sent at once here.
 * \param stream where to
 * \param event what has happened, and where
 * \param frame the frame
 */
void
WriteHostDeparture(Ptr<OutputStreamWrapper> stream,
                   std::pair<char, std::string> event,
                   const QbbFrame& frame)
{
    if (frame.kind == QbbFrame::Kind::DATA)
    {
        WriteFrame(stream, {'+', event.second}, frame);
    }
    WriteFrame(stream, event, frame);
}

} // namespace

void
TraceFramesAsText(QbbNetDevice& device, Ptr<OutputStreamWrapper> stream)
{
    const std::string place = "/NodeList/" + std::to_string(device.GetNode()->GetId()) +
                              "/DeviceList/" + std::to_string(device.GetIfIndex());
    const auto depart = device.GetOwner().IsSwitch() ? &WriteFrame : &WriteHostDeparture;
    device.TraceConnectWithoutContext("Dequeue",
                                      MakeBoundCallback(depart, stream, std::pair('-', place)));
    const std::pair<const char*, char> events[] = {{"Enqueue", '+'},
                                                   {"RxEnd", 'r'},
                                                   {"RxDrop", 'd'},
                                                   {"LinkDrop", 'd'}};
    for (const auto& [source, sign] : events)
    {
        device.TraceConnectWithoutContext(
            source,
            MakeBoundCallback(&WriteFrame, stream, std::pair(sign, place)));
    }
}

} // namespace ns3
