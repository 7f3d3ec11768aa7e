/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-datagram-flow.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3
{

ScenarioDatagramFlow::ScenarioDatagramFlow(const RdmaFlow& flow,
                                           Ptr<DatagramClient> client,
                                           ScenarioHosts::FinishCallback done)
    : m_flow(flow),
      m_client(std::move(client)),
      m_done(std::move(done))
{
    m_client->Start();
    m_flow.sport = m_client->GetPort();
}

ScenarioDatagramFlow::~ScenarioDatagramFlow()
{
    m_client->Dispose();
}

bool
ScenarioDatagramFlow::IsLast(uint32_t bytes) const
{
    return m_arrived + bytes == m_flow.size;
}

void
ScenarioDatagramFlow::OnArrival(uint32_t bytes)
{
    const bool isLast = IsLast(bytes);
    m_arrived += bytes;
    if (!isLast)
    {
        return;
    }
    m_flow.completion = Simulator::Now() - m_flow.start;
    // The callback may delete this object.
    const auto done = m_done;
    const RdmaFlow flow = m_flow;
    done(flow);
}

uint64_t
ScenarioDatagramFlow::GetAckedBytes() const
{
    return m_arrived;
}

RdmaFlow
ScenarioDatagramFlow::GetFlow() const
{
    return m_flow;
}

} // namespace ns3
