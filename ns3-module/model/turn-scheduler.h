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
#include <functional>
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

    /// Give a queue of this type to the simulator, unless it has one.
    static void Install();

    /// \return the queue of the simulator, which is of this type
    static TurnScheduler& Get();

    /// \return whether nothing is to be done; never while an engine runs, so that
    /// Simulator::IsFinished() then tells of Simulator::Stop() alone
    bool IsEmpty() const override;

    /// An engine may have something to do at another time than it had.
    void Await();

    /// \return how many events were turns
    uint64_t GetTurns() const;

    /// \return the time of ns-3's next event; 0 if Simulator::Stop() was called since an engine
    /// runs
    uint64_t GetDue() const;

    /**
     * \param now a time
     * \return while an engine runs, whether it is that time, whose events of ns-3 are over
     */
    bool IsTime(uint64_t now) const;

    /**
     * \brief Have the simulator go on to a time, for a run that has it for itself.
     * \param time the time, not before now
     * \param act what happens there, once ns-3's events until then are over; it may call congestion
     * controls
     * \return whether it may go on: not after Simulator::Stop()
     */
    bool RunTo(uint64_t time, const std::function<void()>& act);

  private:
    /// It is the turn of an engine.
    static void OnTurn();

    /// It is time for what an engine has to tell.
    static void OnTold();

    /// It is the time of an act.
    static void OnAct();

    /// Act, if it is time.
    void TakeAct();

    /// The next engine runs, if it may.
    void TakeTurn();

    /// The engine that has run tells what it has to.
    void Tell();

    std::vector<Ptr<EngineNetwork>> m_networks; //!< the engines
    EngineNetwork* m_next{nullptr}; //!< the one that runs next, or has something to tell
    uint64_t m_at{0};               //!< when that has something to do
    EventId m_turn;                 //!< its turn
    bool m_isHeld{false};           //!< whether it has run, and this is not told yet
    bool m_isRunning{false};        //!< whether an engine runs
    bool m_goesOn{false};           //!< whether the last act is over, and may be followed by others
    const std::function<void()>* m_act{nullptr}; //!< what is to be done
    uint64_t m_turns{0};                         //!< turns so far
};

} // namespace ns3

#endif /* TURN_SCHEDULER_H */
