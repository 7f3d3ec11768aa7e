/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "frame-ascii-trace.h"

#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/qbb-frame.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"
#include "ns3/simulator.h"

#include <iomanip>
#include <string>
#include <utility>

namespace ns3
{

namespace
{

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
    // As ns-3's own devices write it, but with all digits of a time.
    *stream->GetStream() << event.first << ' ' << std::fixed << std::setprecision(9)
                         << Simulator::Now().GetSeconds() << ' ' << event.second << ' ' << frame
                         << '\n';
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
                              "/DeviceList/" + std::to_string(device.GetIfIndex()) +
                              "/$ns3::QbbNetDevice/";
    const auto depart = device.GetOwner().IsSwitch() ? &WriteFrame : &WriteHostDeparture;
    device.TraceConnectWithoutContext(
        "Dequeue",
        MakeBoundCallback(depart, stream, std::pair('-', place + "Dequeue")));
    const std::pair<const char*, char> events[] = {{"Enqueue", '+'},
                                                   {"RxEnd", 'r'},
                                                   {"RxDrop", 'd'},
                                                   {"LinkDrop", 'd'}};
    for (const auto& [source, sign] : events)
    {
        device.TraceConnectWithoutContext(
            source,
            MakeBoundCallback(&WriteFrame, stream, std::pair(sign, place + source)));
    }
}

} // namespace ns3
