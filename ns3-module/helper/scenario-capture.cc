/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-capture.h"

#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "qbb-helper.h"

#include "ns3/packet.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"
#include "ns3/simulator.h"

#include <vector>

namespace ns3
{

namespace
{

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
CaptureScenarioFrames(const hpcc::Scenario& scenario,
                      const QbbHelper& network,
                      hpcc::Results& results)
{
    const auto nodes = scenario.capture_nodes();
    if (nodes.empty())
    {
        return;
    }
    results.begin_capture();
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
