/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-trace.h"

#include "../model/frame-record.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "qbb-helper.h"

#include "ns3/packet.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"

#include <vector>

namespace ns3
{

namespace
{

/// Where the reference simulator's PFC frames go.
constexpr uint32_t BROADCAST = 0xffffffff;

/**
 * \param frame a frame
 * \param isSwitch whether it is at a switch
 * \return the queue that it waits in; a host's acknowledgements have queue 0
 */
uint8_t
QueueOf(const QbbFrame& frame, bool isSwitch)
{
    const bool first =
        frame.kind == QbbFrame::Kind::PFC || (!isSwitch && !frame.CollectsTelemetry());
    return first ? 0 : frame.priority;
}

/// Where packets are traced, and into what.
struct Tracer
{
    hpcc::Results* results;     //!< the results
    const QbbNode* node;        //!< the node
    const QbbNetDevice* device; //!< its port; nullptr for the node as a whole
    uint32_t pauseTime;         //!< microseconds that a pause says
    uint32_t address;           //!< address of PFC frames that the port sends
    uint32_t peerAddress;       //!< address of PFC frames that it receives
};

/**
 * \brief Record an event.
 * \param at where
 * \param event what
 * \param queued whether the frame is in a queue of the port, or was
 * \param frame of which frame
 */
void
Record(const Tracer& at, hpcc::PacketEventKind event, bool queued, const QbbFrame& frame)
{
    const bool isSwitch = at.node->IsSwitch();
    hpcc::PacketEvent record{};
    record.time_ns = Simulator::Now().GetNanoSeconds();
    record.node = at.node->GetIndex();
    record.port = at.device ? at.device->GetPortNumber() + 1 : 0;
    record.queue = queued ? QueueOf(frame, isSwitch) : 0;
    if (at.device && isSwitch)
    {
        const uint64_t bytes = at.device->GetQueuedBytes(record.queue);
        record.qlen_bytes = event == hpcc::PacketEventKind::Enqueue ? bytes - frame.size : bytes;
    }
    record.event = event;
    record.is_switch = isSwitch;
    record.size_bytes = frame.size;
    record.pause_us = at.pauseTime;
    record.frame = MakeFrameRecord(frame);
    if (frame.kind == QbbFrame::Kind::PFC)
    {
        record.frame.src_address = queued ? at.address : at.peerAddress;
        record.frame.dst_address = BROADCAST;
    }
    at.results->packet(record, {frame.GetTelemetry(), frame.telemetryBytes});
}

/**
 * \brief Connect a trace source of a port or node.
 * \param source owner of the trace source
 * \param name its name
 * \param at where that is
 * \param event the event that it stands for
 * \param queued whether frames are in a queue of the port then, or were
 */
void
Connect(Object& source,
        const char* name,
        const Tracer& at,
        hpcc::PacketEventKind event,
        bool queued)
{
    source.TraceConnectWithoutContext(
        name,
        Callback<void, const QbbFrame&>(
            [at, event, queued](const QbbFrame& frame) { Record(at, event, queued, frame); }));
}

/**
 * \brief Record frames that arrive over a link that has failed; random losses are not recorded.
 * \param device the device
 * \param at where that is
 */
void
ConnectFailedLink(QbbNetDevice& device, const Tracer& at)
{
    device.TraceConnectWithoutContext("RxDrop",
                                      Callback<void, const QbbFrame&>([at](const QbbFrame& frame) {
                                          if (!at.device->IsLinkUp())
                                          {
                                              Record(at, hpcc::PacketEventKind::Drop, false, frame);
                                          }
                                      }));
}

/**
 * \brief Record a frame.
 * \param results where
 * \param node at which node
 * \param packet its bytes
 */
void
Capture(hpcc::Results& results, uint32_t node, Ptr<const Packet> packet)
{
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    results.capture(Simulator::Now().GetNanoSeconds(), node, {bytes.data(), bytes.size()});
}

} // namespace

void
TraceScenarioPackets(const hpcc::Scenario& scenario,
                     const QbbHelper& network,
                     hpcc::Results& results)
{
    const auto nodes = scenario.trace_nodes();
    if (nodes.empty())
    {
        return;
    }
    results.begin_trace(scenario, network.GetMaxBdp());
    const uint32_t pauseTime = scenario.settings()->pause_us();
    for (const uint32_t index : nodes)
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        if (!node->IsLocal())
        {
            continue;
        }
        const auto addresses = scenario.port_addresses(index);
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            QbbNetDevice& device = *node->GetPort(port);
            const QbbNetDevice& peer = device.GetPeer();
            const uint32_t peerAddress =
                scenario.port_addresses(peer.GetOwner().GetIndex())[peer.GetPortNumber()];
            const Tracer at{&results,
                            PeekPointer(node),
                            &device,
                            pauseTime,
                            addresses[port],
                            peerAddress};
            Connect(device, "RxEnd", at, hpcc::PacketEventKind::Receive, false);
            Connect(device, "Enqueue", at, hpcc::PacketEventKind::Enqueue, true);
            Connect(device, "Dequeue", at, hpcc::PacketEventKind::Dequeue, true);
            Connect(device, "LinkDrop", at, hpcc::PacketEventKind::Drop, true);
            ConnectFailedLink(device, at);
        }
        if (node->IsSwitch() && scenario.traces_overflow())
        {
            const Tracer at{&results, PeekPointer(node), nullptr, pauseTime, 0, 0};
            Connect(*node, "Drop", at, hpcc::PacketEventKind::Drop, false);
        }
    }
}

void
CaptureScenarioFrames(const hpcc::Scenario& scenario,
                      const QbbHelper& network,
                      hpcc::Results& results)
{
    const auto nodes = scenario.capture_nodes();
    if (nodes.empty())
    {
        return;
    }
    results.begin_capture(scenario);
    for (const uint32_t index : nodes)
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        const Callback<void, Ptr<const Packet>> sink(
            [&results, index](Ptr<const Packet> packet) { Capture(results, index, packet); });
        for (uint32_t port = 0; node->IsLocal() && port < node->GetNPorts(); ++port)
        {
            node->GetPort(port)->TraceConnectWithoutContext("PromiscSniffer", sink);
        }
    }
}

} // namespace ns3
