/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "engine-network.h"

#include "call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "qbb-net-device.h"
#include "qbb-node.h"
#include "rdma-host.h"
#include "setting-attributes.h"
#include "stop-run.h"
#include "wheel-simulator-impl.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(EngineNetwork);

TypeId
EngineNetwork::GetTypeId()
{
    static TypeId tid = AddSettings(TypeId("ns3::EngineNetwork")
                                        .SetParent<Object>()
                                        .SetGroupName("Hpcc")
                                        .AddConstructor<EngineNetwork>(),
                                    hpcc::attributes_of(hpcc::Holder::Network));
    return tid;
}

EngineNetwork::EngineNetwork()
    : m_core(FromRust(hpcc::new_network()))
{
}

EngineNetwork::~EngineNetwork() = default;

hpcc::Network&
EngineNetwork::Look() const
{
    NS_ABORT_MSG_IF(m_isRunning,
                    "a host cannot be called from inside a call of its congestion control: "
                    "schedule what is to be done, by Simulator::ScheduleNow()");
    return *m_core;
}

hpcc::Network&
EngineNetwork::Enter() const
{
    hpcc::Network& core = Look();
    core.advance(Simulator::Now().GetTimeStep());
    return core;
}

void
EngineNetwork::Settle()
{
    if (!m_isTelling)
    {
        Tell();
    }
}

void
EngineNetwork::Start(const std::vector<Ptr<QbbNode>>& nodes,
                     const hpcc::StartParameters& parameters)
{
    for (const auto& node : nodes)
    {
        m_nodes.push_back(PeekPointer(node));
    }
    CallRust([&] { m_core->start(parameters); });
    m_isStarted = true;
    if (WheelSimulatorImpl* simulator = WheelSimulatorImpl::Find())
    {
        m_takesTurns = true;
        simulator->Attach(this);
    }
}

bool
EngineNetwork::IsStarted() const
{
    return m_isStarted;
}

bool
EngineNetwork::IsRunning() const
{
    return m_isRunning;
}

void
EngineNetwork::Forget(uint32_t node)
{
    if (node < m_nodes.size())
    {
        m_nodes[node] = nullptr;
    }
    m_turn.Cancel();
}

uint64_t
EngineNetwork::GetNext() const
{
    return m_core->next_ns();
}

hpcc::Pause
EngineNetwork::Run(uint64_t end)
{
    m_isRunning = true;
    const hpcc::Pause pause = m_core->run(end);
    m_isRunning = false;
    return pause;
}

void
EngineNetwork::RunUntil(uint64_t end, WheelSimulatorImpl& simulator)
{
    const hpcc::Pause pause = Run(end);
    simulator.Advance(m_core->now_ns());
    Tell();
    if (m_follower)
    {
        m_follower(pause == hpcc::Pause::Sample);
        Tell();
    }
}

void
EngineNetwork::OnTurn()
{
    while (Run(Simulator::Now().GetTimeStep() + 1) != hpcc::Pause::Time)
    {
        Tell();
    }
    Tell();
}

void
EngineNetwork::Await()
{
    const uint64_t next = m_takesTurns ? UINT64_MAX : GetNext();
    const auto at = static_cast<uint64_t>(m_turn.GetTs());
    if (!m_turn.IsExpired() && at == next)
    {
        return;
    }
    m_turn.Cancel();
    if (next != UINT64_MAX)
    {
        const Time wait = TimeStep(next) - Simulator::Now();
        m_turn = Simulator::Schedule(std::max(wait, Time(0)), &EngineNetwork::OnTurn, this);
    }
}

void
EngineNetwork::Tell()
{
    m_isTelling = true;
    for (bool isAny = true; isAny;)
    {
        isAny = false;
        for (const hpcc::Notice& notice : hpcc::take_notices(*m_core))
        {
            isAny = true;
            Tell(notice);
        }
        // Who follows takes the flows that have finished itself.
        const auto ended = m_follower ? rust::Vec<hpcc::FlowEnd>() : m_core->take_ended();
        for (const hpcc::FlowEnd& end : ended)
        {
            isAny = true;
            const auto found = m_flows.find(end.id);
            if (found != m_flows.end())
            {
                const auto [host, queuePair] = found->second;
                m_flows.erase(found);
                if (m_nodes[host->GetIndex()])
                {
                    host->FinishFirst(queuePair, end.is_steered);
                }
            }
        }
        const std::string fault(m_core->take_fault());
        if (!fault.empty())
        {
            StopRun(fault);
        }
    }
    m_isTelling = false;
    Await();
}

void
EngineNetwork::Tell(const hpcc::Notice& notice)
{
    QbbNode* const node = m_nodes[notice.node];
    if (!node)
    {
        return;
    }
    QbbFrame frame(notice.frame, {notice.section.begin(), notice.section.end()});
    if (frame.CarriesPacket() && notice.id < m_packets.size())
    {
        frame.packet = m_packets[notice.id];
    }
    if (notice.kind == hpcc::NoticeKind::Packet)
    {
        m_packets[notice.id] = nullptr;
    }
    node->OnNotice(notice, frame);
}

uint32_t
EngineNetwork::AddFlow()
{
    return m_flowCount++;
}

void
EngineNetwork::BeginFlow(uint32_t id, RdmaHost& host, uint32_t queuePair)
{
    m_flows[id] = {&host, queuePair};
}

void
EngineNetwork::Carry(uint32_t frame, Ptr<Packet> packet)
{
    if (frame >= m_packets.size())
    {
        m_packets.resize(frame + 1);
    }
    m_packets[frame] = packet;
}

void
EngineNetwork::Follow(Follower follower)
{
    m_follower = std::move(follower);
}

void
EngineNetwork::SetMtu(uint32_t mtu)
{
    m_mtu = mtu;
}

uint32_t
EngineNetwork::GetMtu() const
{
    return m_mtu;
}

} // namespace ns3
