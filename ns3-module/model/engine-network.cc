/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "engine-network.h"

#include "call-rust.h"
#include "controller-call.h"
#include "core-load-balancer.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "qbb-net-device.h"
#include "qbb-node.h"
#include "qbb-switch.h"
#include "rdma-host.h"
#include "setting-attributes.h"
#include "stop-run.h"
#include "turn-scheduler.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(EngineNetwork);

TypeId
EngineNetwork::GetTypeId()
{
    static TypeId tid =
        AddSettings(TypeId("ns3::EngineNetwork")
                        .SetParent<Object>()
                        .SetGroupName("Hpcc")
                        .AddConstructor<EngineNetwork>()
                        .AddAttribute("CanonicalOrder",
                                      "Whether events of the same nanosecond run in an order that "
                                      "depends on each node alone; if not, in that of their "
                                      "insertion",
                                      BooleanValue(false),
                                      MakeBooleanAccessor(&EngineNetwork::SetCanonical,
                                                          &EngineNetwork::IsCanonical),
                                      MakeBooleanChecker()),
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
    NS_ABORT_MSG_IF(ControllerCall::IsUnderWay(),
                    "hosts and switches cannot be called from inside a call of a congestion "
                    "control or load balancer: schedule what is to be done, by "
                    "Simulator::ScheduleNow()");
    return *m_core;
}

hpcc::Network&
EngineNetwork::Enter() const
{
    hpcc::Network& core = Look();
    ++m_crossings;
    m_hasEntered = true;
    core.advance(Simulator::Now().GetTimeStep());
    return core;
}

void
EngineNetwork::Settle()
{
    if (!m_isTelling)
    {
        Tell(TakeTold());
        TurnScheduler::Get().Await();
    }
}

void
EngineNetwork::SetCanonical(bool isCanonical)
{
    NS_ABORT_MSG_IF(m_isStarted, "the order of events is chosen before QbbHelper::Start()");
    m_isCanonical = isCanonical;
}

bool
EngineNetwork::IsCanonical() const
{
    return m_isCanonical;
}

void
EngineNetwork::Start(const std::vector<Ptr<QbbNode>>& nodes,
                     const hpcc::StartParameters& parameters)
{
    for (const auto& node : nodes)
    {
        m_nodes.push_back(PeekPointer(node));
    }
    hpcc::TakeLoadBalancers();
    CallRust([&] { m_core->start(parameters); });
    for (const auto& balancer : hpcc::TakeLoadBalancers())
    {
        DynamicCast<QbbSwitch>(nodes[balancer->GetSwitch()])->SetLoadBalancer(balancer);
    }
    m_isStarted = true;
    TurnScheduler::Attach(this);
}

bool
EngineNetwork::IsStarted() const
{
    return m_isStarted;
}

QbbNode*
EngineNetwork::PeekNode(uint32_t node) const
{
    return m_nodes[node];
}

void
EngineNetwork::Forget(uint32_t node)
{
    if (node < m_nodes.size())
    {
        m_nodes[node] = nullptr;
    }
}

uint64_t
EngineNetwork::GetNext() const
{
    ++m_crossings;
    return m_core->next_ns();
}

uint64_t
EngineNetwork::GetCrossings() const
{
    return m_crossings;
}

uint64_t
EngineNetwork::RunUntil(uint64_t end)
{
    ++m_crossings;
    m_held = std::make_unique<hpcc::Turn>(hpcc::run(*m_core, end, !m_follower));
    return m_held->now_ns;
}

void
EngineNetwork::Tell()
{
    const bool isSample = m_held->pause == hpcc::Pause::Sample;
    Tell(std::move(*m_held));
    if (m_follower)
    {
        m_follower(isSample);
        Tell(TakeTold());
    }
}

hpcc::Turn
EngineNetwork::TakeTold()
{
    ++m_crossings;
    return hpcc::take_told(*m_core, !m_follower);
}

void
EngineNetwork::Tell(hpcc::Turn turn)
{
    m_isTelling = true;
    m_hasEntered = false;
    for (;;)
    {
        for (const hpcc::Notice& notice : turn.notices)
        {
            Tell(notice);
        }
        for (const hpcc::FlowEnd& end : turn.ended)
        {
            EndFlow(end);
        }
        if (!turn.fault.empty())
        {
            StopRun(std::string(turn.fault));
        }
        if (!std::exchange(m_hasEntered, false))
        {
            break;
        }
        turn = TakeTold();
    }
    m_isTelling = false;
}

void
EngineNetwork::EndFlow(const hpcc::FlowEnd& end)
{
    const auto found = m_flows.find(end.id);
    if (found == m_flows.end())
    {
        return;
    }
    const auto [host, queuePair] = found->second;
    m_flows.erase(found);
    if (m_nodes[host->GetIndex()])
    {
        host->FinishFirst(queuePair, end);
    }
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
    return m_nextFlow++;
}

void
EngineNetwork::SetFirstFlow(uint32_t first)
{
    m_nextFlow = first;
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
    TurnScheduler::Get().Await();
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
