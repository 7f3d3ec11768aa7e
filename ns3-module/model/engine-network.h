/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef ENGINE_NETWORK_H
#define ENGINE_NETWORK_H

#include "core-pointer.h"
#include "qbb-frame.h"
#include "settings-owner.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hpcc
{
struct FlowEnd;
struct Notice;
struct StartParameters;
struct Turn;
} // namespace hpcc

namespace ns3
{

class Packet;
class QbbNode;
class RdmaHost;

/**
 * \ingroup hpcc
 * \brief The engine of a network, which simulates all frames, and its turns with ns-3's simulator.
 *
 * Nodes and devices are faces over their index here. Between two events of ns-3 the engine runs
 * without one: see TurnScheduler. Events of ns-3 are the first of their nanosecond.
 *
 * Trace sinks are called when the engine's event is over that they are told of, in the order in
 * which things happened: they may start flows, fail links, and ask for anything. Only a congestion
 * control in C++ is called inside of an event, and may not call hosts: the engine stops for ns-3's
 * clock before each event that may call one, and behind it for what was scheduled there.
 *
 * Its attributes are the settings that all nodes share.
 */
class EngineNetwork : public Object, public SettingsOwner
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    EngineNetwork();
    ~EngineNetwork() override;
    EngineNetwork(const EngineNetwork&) = delete;
    EngineNetwork& operator=(const EngineNetwork&) = delete;

    /**
     * \brief Ask something; ends the program inside of a call of a congestion control.
     * \return nodes, links and, once it is started, the engine
     */
    hpcc::Network& Look() const;

    /**
     * \brief Change something now, as Look(). Settle() has to follow.
     * \return the engine
     */
    hpcc::Network& Enter() const;

    /// Tell what has happened, and take the next turn when it is due.
    void Settle();

    /**
     * \brief Start the engine, once settings are settled.
     * \param nodes the nodes by index
     * \param parameters order of events and random streams
     */
    void Start(const std::vector<Ptr<QbbNode>>& nodes, const hpcc::StartParameters& parameters);

    /// \return whether the order of events of a nanosecond depends on each node alone
    bool IsCanonical() const;

    /// \return whether it is started
    bool IsStarted() const;

    /**
     * \param node a node's index
     * \return the node; nullptr if it was disposed of
     */
    QbbNode* PeekNode(uint32_t node) const;

    /**
     * \brief A node is disposed of.
     * \param node its index
     */
    void Forget(uint32_t node);

    /// \return when the engine's next event is; the largest number: never
    uint64_t GetNext() const;

    /// \return how often ns-3 and the engine took turns, or a turn changed something
    uint64_t GetCrossings() const;

    /**
     * \brief Run what happens before a time, at most until there is something to tell.
     * \param end the time
     * \return the time of the engine's last event
     */
    uint64_t RunUntil(uint64_t end);

    /// Tell what has happened in RunUntil().
    void Tell();

    /// \return a number for a flow that is to begin
    uint32_t AddFlow();

    /**
     * \brief Number flows of the program from here on: a scenario has those before.
     * \param first the number of the first
     */
    void SetFirstFlow(uint32_t first);

    /**
     * \brief A flow has begun.
     * \param id its number
     * \param host its source
     * \param queuePair its queue pair
     */
    void BeginFlow(uint32_t id, RdmaHost& host, uint32_t queuePair);

    /**
     * \brief A flow has finished: tell its host.
     * \param end which
     */
    void EndFlow(const hpcc::FlowEnd& end);

    /**
     * \brief Keep a packet that a frame of the engine carries.
     * \param frame the frame's place
     * \param packet the packet
     */
    void Carry(uint32_t frame, Ptr<Packet> packet);

    /// Told that the engine pauses, and whether it is time for a sample.
    using Follower = std::function<void(bool)>;

    /**
     * \brief Call somebody at each pause, once all others are told.
     * \param follower whom
     */
    void Follow(Follower follower);

    /**
     * \param mtu most payload bytes of RDMA packets
     */
    void SetMtu(uint32_t mtu);

    /// \return most payload bytes of RDMA packets
    uint32_t GetMtu() const;

  private:
    /**
     * \brief Tell what has happened, and what happens because somebody was told.
     * \param turn what has happened
     */
    void Tell(hpcc::Turn turn);

    /// \return what has happened since the last turn
    hpcc::Turn TakeTold();

    /**
     * \brief Tell of something.
     * \param notice what
     */
    void Tell(const hpcc::Notice& notice);

    /**
     * \param isCanonical whether the order of events depends on each node alone
     */
    void SetCanonical(bool isCanonical);

    std::shared_ptr<hpcc::Network> m_core; //!< nodes, links, engine
    std::vector<QbbNode*> m_nodes;         //!< by index; nullptr: disposed of
    /// Sources and queue pairs of flows in progress.
    std::unordered_map<uint32_t, std::pair<RdmaHost*, uint32_t>> m_flows;
    std::vector<Ptr<Packet>> m_packets; //!< by the place of the frame that carries each
    uint32_t m_nextFlow{0};             //!< number of the next flow
    uint32_t m_mtu{0};                  //!< most payload bytes
    bool m_isStarted{false};            //!< whether there is an engine
    bool m_isTelling{false};            //!< whether somebody is being told
    mutable bool m_hasEntered{false};   //!< whether somebody who was told has changed something
    mutable uint64_t m_crossings{0};    //!< turns, and changes
    bool m_isCanonical{false};          //!< attribute
    std::unique_ptr<hpcc::Turn> m_held; //!< what is to be told
    Follower m_follower;                //!< called at each pause
};

} // namespace ns3

#endif /* ENGINE_NETWORK_H */
