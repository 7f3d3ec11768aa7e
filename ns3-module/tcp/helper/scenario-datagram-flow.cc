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

ScenarioDatagramFlow::ScenarioDatagramFlow(uint32_t id,
                                           uint64_t size,
                                           Ptr<DatagramClient> client,
                                           FinishCallback done)
    : m_id(id),
      m_size(size),
      m_client(std::move(client)),
      m_done(std::move(done))
{
    m_client->Start();
}

ScenarioDatagramFlow::~ScenarioDatagramFlow()
{
    m_client->Dispose();
}

bool
ScenarioDatagramFlow::IsLast(uint32_t bytes) const
{
    return m_arrived + bytes == m_size;
}

void
ScenarioDatagramFlow::OnArrival(uint32_t bytes)
{
    const bool isLast = IsLast(bytes);
    m_arrived += bytes;
    if (isLast)
    {
        // The callback may delete this object.
        const auto done = m_done;
        done(m_id);
    }
}

uint64_t
ScenarioDatagramFlow::GetAckedBytes() const
{
    return m_arrived;
}

uint16_t
ScenarioDatagramFlow::GetSourcePort() const
{
    return m_client->GetPort();
}

} // namespace ns3
