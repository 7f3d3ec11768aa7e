/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef TURN_SCHEDULER_H
#define TURN_SCHEDULER_H

#include "ns3/event-id.h"
#include "ns3/map-scheduler.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class EngineNetwork;

/**
 * \ingroup hpcc
 * \brief The queue of events of ns-3's simulator, which gives the engines of networks their turns:
 * an engine runs up to ns-3's next event, or until there is something to tell. Events of ns-3 are
 * the first of their nanosecond.
 *
 * QbbHelper::Start() gives it to the simulator, whichever that is, in the place of its queue. An
 * event of ns-3 stands where an engine's turn begins, and where something is told.
 */
class TurnScheduler : public MapScheduler
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    TurnScheduler();
    ~TurnScheduler() override;

    /**
     * \brief Give an engine its turns, until the end. The simulator has a queue of this type from
     * now on.
     * \param network the engine
     */
    static void Attach(Ptr<EngineNetwork> network);

    /// \return the queue of the simulator, which has engines
    static TurnScheduler& Get();

    /// An engine may have something to do at another time than it had.
    void Await();

    /// \return how many events were turns
    uint64_t GetTurns() const;

  private:
    /// It is the turn of an engine.
    static void OnTurn();

    /// It is time for what an engine has to tell.
    static void OnTold();

    /// The next engine runs, if it may.
    void TakeTurn();

    /// The engine that has run tells what it has to.
    void Tell();

    std::vector<Ptr<EngineNetwork>> m_networks; //!< the engines
    EngineNetwork* m_next{nullptr}; //!< the one that runs next, or has something to tell
    uint64_t m_at{0};               //!< when that has something to do
    EventId m_turn;                 //!< its turn
    bool m_isHeld{false};           //!< whether it has run, and this is not told yet
    uint64_t m_turns{0};            //!< turns so far
};

} // namespace ns3

#endif /* TURN_SCHEDULER_H */
