/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-totals.h"

#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "qbb-helper.h"

#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"

namespace ns3
{

namespace
{

/**
 * \brief Add a node's counters.
 * \param sum the sum over nodes
 * \param node one node's counters
 */
void
Add(hpcc::FastCnpCounters& sum, const hpcc::FastCnpCounters& node)
{
    sum.sent += node.sent;
    sum.unmarked += node.unmarked;
    sum.learnt += node.learnt;
    sum.unasked += node.unasked;
    sum.forgotten += node.forgotten;
    sum.dropped_inbound += node.dropped_inbound;
    sum.dropped_outbound += node.dropped_outbound;
    sum.accepted += node.accepted;
    sum.migrations += node.migrations;
    sum.reports += node.reports;
    for (std::size_t reason = 0; reason < sum.withheld.size(); ++reason)
    {
        sum.withheld[reason] += node.withheld[reason];
    }
    for (std::size_t reason = 0; reason < sum.without_effect.size(); ++reason)
    {
        sum.without_effect[reason] += node.without_effect[reason];
    }
    for (std::size_t reason = 0; reason < sum.refused.size(); ++reason)
    {
        sum.refused[reason] += node.refused[reason];
    }
}

} // namespace

void
CountNodes(const QbbHelper& network, hpcc::Results& results, hpcc::RunTotals& totals)
{
    for (uint32_t index = 0; index < network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        if (!node->IsLocal())
        {
            continue;
        }
        if (const auto aSwitch = DynamicCast<QbbSwitch>(node))
        {
            totals.drops += aSwitch->GetDrops() + aSwitch->GetLinkDrops() +
                            aSwitch->GetUnroutable() + aSwitch->GetExpired();
            totals.marks += aSwitch->GetMarks();
            for (uint16_t port = 0; port < node->GetNPorts(); ++port)
            {
                results.port_sent(index, port + 1, aSwitch->GetSentBytes(port));
            }
        }
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            totals.losses += node->GetPort(port)->GetLostFrames();
            totals.telemetry_bytes += node->GetPort(port)->GetTxTelemetryBytes();
        }
    }
}

void
CountFastCnps(const hpcc::Scenario& scenario, const QbbHelper& network, hpcc::RunTotals& totals)
{
    totals.fast_cnp_on = scenario.has_fast_cnp();
    for (uint32_t index = 0; index < network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        if (const auto aSwitch = node->GetObject<FastCnpSwitch>())
        {
            Add(totals.fast_cnp, aSwitch->GetCounters());
        }
        else if (const auto host = node->GetObject<FastCnpHost>())
        {
            Add(totals.fast_cnp, host->GetCounters());
        }
    }
}

} // namespace ns3
