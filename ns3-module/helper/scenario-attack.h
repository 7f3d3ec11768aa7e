/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_ATTACK_H
#define SCENARIO_ATTACK_H

#include "../model/core-pointer.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace hpcc
{
struct RunTotals;
} // namespace hpcc

namespace ns3
{

class QbbFrame;
class QbbHelper;
class QbbNode;
class ScenarioTraffic;

/**
 * \ingroup hpcc
 * \brief An attacker of a scenario: a node that sends frames of its own, or changes what passes it.
 *
 * What it sends and changes is the core's to decide (`hpcc_core::attack`).
 */
class ScenarioAttack
{
  public:
    /**
     * \param scenario the scenario
     * \param index which of its attacks
     * \param network its network
     * \param traffic its flows
     */
    ScenarioAttack(const hpcc::Scenario& scenario,
                   uint32_t index,
                   const QbbHelper& network,
                   const ScenarioTraffic& traffic);

    /// Watch what passes the attacker, if that is what it does, and schedule its first frame.
    void Begin();

    /**
     * \brief Add what it did.
     * \param totals what a run's summary says
     */
    void Count(hpcc::RunTotals& totals) const;

  private:
    /// Watch what arrives at the attacker's node, and the notifications that it makes.
    void Watch();

    /// Send a frame, and schedule the next.
    void Send();

    /**
     * \brief Let the core see a frame and change its telemetry.
     * \param frame the frame
     */
    void OnFrame(QbbFrame& frame);

    /**
     * \brief The attacker's node has made a notification.
     * \param frame the notification
     */
    void OnNotification(const QbbFrame& frame);

    const CorePointer<hpcc::Attack> m_core; //!< what it does
    const ScenarioTraffic& m_traffic;       //!< the flows
    const Ptr<QbbNode> m_node;              //!< the attacker
};

/// All attackers of a scenario.
using ScenarioAttacks = std::vector<std::unique_ptr<ScenarioAttack>>;

/**
 * \ingroup hpcc
 * \brief Make the attackers of a scenario.
 * \param scenario the scenario
 * \param network its network
 * \param traffic its flows
 * \return the attackers
 */
ScenarioAttacks MakeScenarioAttacks(const hpcc::Scenario& scenario,
                                    const QbbHelper& network,
                                    const ScenarioTraffic& traffic);

} // namespace ns3

#endif /* SCENARIO_ATTACK_H */
