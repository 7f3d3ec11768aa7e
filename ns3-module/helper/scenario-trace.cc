/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-trace.h"

#include "qbb-helper.h"

#include "../model/packet-kind.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"

namespace ns3
{

namespace
{

/// Both bits of the IP header's ECN field: congestion experienced.
constexpr uint8_t ECN_CE = 3;

/**
 * \param frame a frame
 * \param isSwitch whether it is at a switch
 * \return the queue that it waits in; a host's acknowledgements have queue 0
 */
uint8_t
QueueOf(const QbbFrame& frame, bool isSwitch)
{
    const bool first = frame.kind == QbbFrame::Kind::PFC || (!isSwitch && !frame.CollectsTelemetry());
    return first ? 0 : frame.priority;
}

/// Where packets are traced, and into what.
struct Tracer
{
    hpcc::Results* results;      //!< the results
    const QbbNode* node;         //!< the node
    const QbbNetDevice* device;  //!< its port; nullptr for the node as a whole
    bool stamped;                //!< whether telemetry is the time of sending
};

/**
 * \param frame a frame whose telemetry is the time of sending
 * \return that time in nanoseconds
 */
uint64_t
SentAt(const QbbFrame& frame)
{
    uint64_t nanos = 0;
    for (uint16_t byte = 0; byte < frame.telemetryBytes; ++byte)
    {
        nanos |= uint64_t{frame.GetTelemetry()[byte]} << (8 * byte);
    }
    return nanos;
}

/**
 * \brief Record an event.
 * \param at where
 * \param event what
 * \param frame of which frame
 */
void
Record(const Tracer& at, hpcc::PacketEventKind event, const QbbFrame& frame)
{
    const bool isSwitch = at.node->IsSwitch();
    const bool isPfc = frame.kind == QbbFrame::Kind::PFC;
    const bool queued = event == hpcc::PacketEventKind::Enqueue || event == hpcc::PacketEventKind::Dequeue;
    hpcc::PacketEvent record{};
    record.time_ns = Simulator::Now().GetNanoSeconds();
    record.node = at.node->GetIndex();
    record.port = at.device ? at.device->GetPortNumber() + 1 : 0;
    record.queue = queued ? QueueOf(frame, isSwitch) : 0;
    if (queued && isSwitch)
    {
        const uint64_t bytes = at.device->GetQueuedBytes(record.queue);
        record.qlen_bytes = event == hpcc::PacketEventKind::Enqueue ? bytes - frame.size : bytes;
    }
    record.event = event;
    record.kind = MakePacketKind(frame.kind);
    record.is_switch = isSwitch;
    record.priority = frame.priority;
    record.size_bytes = frame.size;
    record.pause = isPfc && frame.pause;
    if (!isPfc)
    {
        record.src_address = frame.srcAddress;
        record.dst_address = frame.dstAddress;
        record.sport = frame.sport;
        record.dport = frame.dport;
        record.payload_bytes = frame.payload;
        record.seq = frame.seq;
        record.sent_ns = at.stamped && frame.HasTelemetrySection() ? SentAt(frame) : 0;
        record.ecn = frame.congestionMarked ? ECN_CE : 0;
        record.congestion_echo = frame.IsAcknowledgement() && frame.congestionEchoed;
    }
    at.results->packet(record);
}

/**
 * \brief Connect a trace source of a port or node.
 * \param source what has the trace source
 * \param name its name
 * \param at where that is
 * \param event what it stands for
 */
void
Connect(Object& source, const char* name, const Tracer& at, hpcc::PacketEventKind event)
{
    source.TraceConnectWithoutContext(
        name,
        Callback<void, const QbbFrame&>([at, event](const QbbFrame& frame) { Record(at, event, frame); }));
}

} // namespace

void
TraceScenarioPackets(const hpcc::Scenario& scenario, const QbbHelper& network, hpcc::Results& results)
{
    const auto nodes = scenario.trace_nodes();
    if (nodes.empty())
    {
        return;
    }
    results.begin_trace(scenario, network.GetMaxBdp());
    const bool stamped = scenario.stamps_send_time();
    for (const uint32_t index : nodes)
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            QbbNetDevice& device = *node->GetPort(port);
            const Tracer at{&results, PeekPointer(node), &device, stamped};
            Connect(device, "RxEnd", at, hpcc::PacketEventKind::Receive);
            Connect(device, "Enqueue", at, hpcc::PacketEventKind::Enqueue);
            Connect(device, "Dequeue", at, hpcc::PacketEventKind::Dequeue);
        }
        if (node->IsSwitch())
        {
            Connect(*node, "Drop", {&results, PeekPointer(node), nullptr, stamped}, hpcc::PacketEventKind::Drop);
        }
    }
}

} // namespace ns3
