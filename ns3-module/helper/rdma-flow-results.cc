/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-flow-results.h"

#include "ns3/abort.h"
#include "ns3/callback.h"

namespace ns3
{

RdmaFlowResults::RdmaFlowResults(const QbbHelper& network)
{
    NS_ABORT_MSG_UNLESS(network.IsStarted(),
                        "RdmaFlowResults follow the hosts of a network that is complete: call "
                        "QbbHelper::Start() first");
    for (uint32_t node = 0; node < network.GetNNodes(); ++node)
    {
        m_hosts.push_back(DynamicCast<RdmaHost>(network.GetNode(node)));
        if (const auto& host = m_hosts.back())
        {
            host->TraceConnectWithoutContext("FlowStart",
                                             MakeCallback(&RdmaFlowResults::OnStart, this));
            host->TraceConnectWithoutContext("FlowFinish",
                                             MakeCallback(&RdmaFlowResults::OnFinish, this));
        }
    }
}

RdmaFlowResults::~RdmaFlowResults()
{
    for (const auto& host : m_hosts)
    {
        if (host)
        {
            host->TraceDisconnectWithoutContext("FlowStart",
                                                MakeCallback(&RdmaFlowResults::OnStart, this));
            host->TraceDisconnectWithoutContext("FlowFinish",
                                                MakeCallback(&RdmaFlowResults::OnFinish, this));
        }
    }
}

const std::vector<RdmaFlowResults::Result>&
RdmaFlowResults::GetFinished() const
{
    return m_finished;
}

uint64_t
RdmaFlowResults::GetStarted() const
{
    return m_started;
}

void
RdmaFlowResults::WriteCsv(std::ostream& os) const
{
    os << "src,dst,sport,dport,size_bytes,start_ns,fct_ns,slowdown\n";
    for (const auto& [flow, slowdown] : m_finished)
    {
        os << flow.src << ',' << flow.dst << ',' << flow.sport << ',' << flow.dport << ','
           << flow.size << ',' << flow.start.GetNanoSeconds() << ','
           << flow.completion.GetNanoSeconds() << ',' << slowdown << '\n';
    }
}

void
RdmaFlowResults::OnStart(const RdmaFlow&)
{
    ++m_started;
}

void
RdmaFlowResults::OnFinish(const RdmaFlow& flow)
{
    const Time alone = m_hosts[flow.src]->GetStandaloneFct(flow);
    m_finished.push_back({flow, flow.completion.GetDouble() / alone.GetDouble()});
}

} // namespace ns3
