/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef ATTACKER_H
#define ATTACKER_H

#include "ns3/core-pointer.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace hpcc
{
struct KnownFlow;
struct Scenario;
} // namespace hpcc

namespace ns3
{

class QbbFrame;
class QbbHelper;
class QbbNode;
class RdmaHost;
struct RdmaFlow;

/**
 * \ingroup hpcc
 * \brief A node that sends forged frames, or changes frames that pass it.
 *
 * The core decides which (`hpcc_core::attack`). It knows the flows in progress. AttackHelper makes
 * one for a program; files have `[[attack]]`. The attack ends with this object.
 */
class Attacker
{
  public:
    /**
     * \param core the core's attack
     * \param network its network
     * \param isOver whether there is nothing left to attack
     */
    Attacker(CorePointer<hpcc::Attack> core,
             const QbbHelper& network,
             std::function<bool()> isOver);

    /// Watch frames that pass the attacker, if the attack needs it, and schedule its first frame.
    void Begin();

    /// \return frames that it sent
    uint64_t GetSent() const;

    /// \return frames that it changed
    uint64_t GetAltered() const;

  private:
    /**
     * \brief Make a callback that does nothing once the attacker is gone.
     * \tparam Args types of what it is given
     * \param call the call
     * \return the call, guarded
     */
    template <class... Args>
    std::function<void(Args...)> WhileHere(void (Attacker::*call)(Args...));

    /// Watch what arrives at the attacker's node, and the notifications that it makes.
    void Watch();

    /// \return the victims' flows in progress, in the order of hosts and ports
    std::vector<hpcc::KnownFlow> ListFlows() const;

    /// Send a frame, and schedule the next.
    void Send();

    /**
     * \brief Put a frame onto the network.
     * \param frame the frame
     */
    void Emit(QbbFrame* frame);

    /**
     * \brief Pause or resume what all neighbours send.
     * \param priority the priority
     * \param pause whether to pause
     */
    void SendPfcs(uint8_t priority, bool pause);

    /**
     * \param frame a frame
     * \return the flow that it belongs to, as its sender has it; nullptr if that is not known
     */
    const RdmaFlow* FindFlow(const QbbFrame& frame) const;

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
    const Ptr<QbbNode> m_node;              //!< the attacker
    std::vector<Ptr<RdmaHost>> m_hosts;     //!< hosts by node; nullptr for switches
    const std::function<bool()> m_isOver;   //!< whether there is nothing left to attack
    const std::shared_ptr<bool> m_isHere;   //!< expires with the attacker
};

/**
 * \ingroup hpcc
 * \brief Make the attackers of a scenario.
 * \param scenario the scenario
 * \param network its network
 * \param isOver whether there is nothing left to attack
 * \return the attackers
 */
std::vector<std::unique_ptr<Attacker>> MakeAttackers(const hpcc::Scenario& scenario,
                                                     const QbbHelper& network,
                                                     const std::function<bool()>& isOver);

} // namespace ns3

#endif /* ATTACKER_H */
