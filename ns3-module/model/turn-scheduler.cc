/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "turn-scheduler.h"

#include "engine-network.h"

#include "ns3/abort.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TurnScheduler);

namespace
{

/// The time of no event.
constexpr uint64_t NEVER = UINT64_MAX;

/// The queue that the simulator has.
TurnScheduler* g_queue = nullptr;

/**
 * \param time a time step, not before now
 * \return how far away it is
 */
Time
GetWait(uint64_t time)
{
    return TimeStep(time) - Simulator::Now();
}

} // namespace

TypeId
TurnScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::TurnScheduler")
                            .SetParent<MapScheduler>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<TurnScheduler>();
    return tid;
}

TurnScheduler::TurnScheduler()
{
    g_queue = this;
}

TurnScheduler::~TurnScheduler()
{
    if (g_queue == this)
    {
        g_queue = nullptr;
    }
}

TurnScheduler&
TurnScheduler::Get()
{
    NS_ABORT_MSG_UNLESS(g_queue,
                        "the simulator has another queue of events than at QbbHelper::Start(): "
                        "do not call Simulator::SetScheduler() later");
    return *g_queue;
}

void
TurnScheduler::Attach(Ptr<EngineNetwork> network)
{
    if (!g_queue)
    {
        ObjectFactory factory;
        factory.SetTypeId(GetTypeId());
        Simulator::SetScheduler(factory);
    }
    Get().m_networks.push_back(network);
    Get().Await();
}

uint64_t
TurnScheduler::GetTurns() const
{
    return m_turns;
}

void
TurnScheduler::Await()
{
    if (m_isHeld)
    {
        return;
    }
    m_at = NEVER;
    for (const auto& network : m_networks)
    {
        if (const uint64_t next = network->GetNext(); next < m_at)
        {
            m_next = PeekPointer(network);
            m_at = next;
        }
    }
    if (!m_turn.IsExpired() && m_turn.GetTs() == m_at)
    {
        return;
    }
    Simulator::Remove(m_turn);
    if (m_at != NEVER)
    {
        m_turn = Simulator::Schedule(Max(GetWait(m_at), Time(0)), &TurnScheduler::OnTurn);
    }
}

void
TurnScheduler::OnTurn()
{
    Get().TakeTurn();
}

void
TurnScheduler::TakeTurn()
{
    ++m_turns;
    const uint64_t next = IsEmpty() ? NEVER : PeekNext().key.m_ts;
    if (m_at >= next)
    {
        // Behind the events of ns-3.
        Await();
        return;
    }
    m_isHeld = true;
    // Several networks know nothing of each other.
    const uint64_t reached = m_next->RunUntil(m_networks.size() == 1 ? next : m_at + 1);
    const Time wait = GetWait(reached);
    if (wait.IsStrictlyPositive())
    {
        m_turn = Simulator::Schedule(wait, &TurnScheduler::OnTold);
    }
    else
    {
        Tell();
    }
}

void
TurnScheduler::OnTold()
{
    ++Get().m_turns;
    Get().Tell();
}

void
TurnScheduler::Tell()
{
    m_next->Tell();
    m_isHeld = false;
    Await();
}

} // namespace ns3
