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

#include <algorithm>

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
 * \param time a time step, not before now; ends the program if it is
 * \return how far away it is
 */
Time
GetWait(uint64_t time)
{
    const Time wait = TimeStep(time) - Simulator::Now();
    NS_ABORT_MSG_IF(wait.IsStrictlyNegative(),
                    "an engine at " << time << " ns is " << -wait.GetTimeStep()
                                    << " ns behind ns-3's clock: please report this");
    return wait;
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
TurnScheduler::Install()
{
    if (!g_queue)
    {
        ObjectFactory factory;
        factory.SetTypeId(GetTypeId());
        Simulator::SetScheduler(factory);
    }
}

void
TurnScheduler::Attach(Ptr<EngineNetwork> network)
{
    Install();
    Get().m_networks.push_back(network);
    Get().Await();
}

uint64_t
TurnScheduler::GetTurns() const
{
    return m_turns;
}

bool
TurnScheduler::IsEmpty() const
{
    return !m_isRunning && MapScheduler::IsEmpty();
}

uint64_t
TurnScheduler::GetDue() const
{
    if (m_isRunning && Simulator::IsFinished())
    {
        return 0;
    }
    return MapScheduler::IsEmpty() ? NEVER : PeekNext().key.m_ts;
}

bool
TurnScheduler::IsTime(uint64_t now) const
{
    return static_cast<uint64_t>(Simulator::Now().GetTimeStep()) == now && GetDue() > now;
}

bool
TurnScheduler::RunTo(uint64_t time, const std::function<void()>& act)
{
    m_act = &act;
    m_at = time;
    m_goesOn = false;
    m_turn = Simulator::Schedule(GetWait(time), &TurnScheduler::OnAct);
    Simulator::Run();
    // It is still to come if somebody else has stopped the simulator.
    Simulator::Remove(m_turn);
    return m_goesOn;
}

void
TurnScheduler::OnAct()
{
    Get().TakeAct();
}

void
TurnScheduler::TakeAct()
{
    ++m_turns;
    if (!MapScheduler::IsEmpty() && PeekNext().key.m_ts <= m_at)
    {
        // Behind the events of ns-3.
        m_turn = Simulator::ScheduleNow(&TurnScheduler::OnAct);
        return;
    }
    m_isRunning = true;
    (*m_act)();
    m_goesOn = !Simulator::IsFinished();
    m_isRunning = false;
    Simulator::Stop();
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
        const uint64_t now = Simulator::Now().GetTimeStep();
        m_turn = Simulator::Schedule(GetWait(std::max(m_at, now)), &TurnScheduler::OnTurn);
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
    const uint64_t next = MapScheduler::IsEmpty() ? NEVER : PeekNext().key.m_ts;
    if (m_at >= next)
    {
        // Behind the events of ns-3.
        Await();
        return;
    }
    m_isHeld = true;
    // Several networks know nothing of each other.
    m_isRunning = true;
    const uint64_t reached = m_next->RunUntil(m_networks.size() == 1 ? next : m_at + 1);
    m_isRunning = false;
    // It may have found nothing to do, not even now.
    if (reached > static_cast<uint64_t>(Simulator::Now().GetTimeStep()))
    {
        m_turn = Simulator::Schedule(GetWait(reached), &TurnScheduler::OnTold);
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
