/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_TCP_FLOW_H
#define SCENARIO_TCP_FLOW_H

#include "scenario-stack-hosts.h"

#include "ns3/address.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-socket-base.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A flow of a scenario over a TCP connection of its own.
 *
 * It begins with the connection's first packet and has finished when the last byte is acknowledged;
 * then it closes.
 */
class ScenarioTcpFlow : public ScenarioStackFlow
{
  public:
    /// Counters of a run's flows.
    struct Counters
    {
        uint64_t resent{0};   //!< segments sent again
        uint64_t timeouts{0}; //!< retransmission timeouts
    };

    /**
     * \param id the flow's number
     * \param size its bytes
     * \param socket a socket of its source
     * \param counters where the flow counts; outlives it
     * \param done called when the flow has finished; may delete this
     */
    ScenarioTcpFlow(uint32_t id,
                    uint64_t size,
                    Ptr<TcpSocketBase> socket,
                    Counters& counters,
                    FinishCallback done);
    ~ScenarioTcpFlow() override;

    /**
     * \brief Open the connection.
     * \param peer where it leads
     */
    void Connect(const Address& peer);

    // Inherited
    uint64_t GetAckedBytes() const override;
    uint16_t GetSourcePort() const override;

  private:
    /**
     * \brief The connection is open, or bytes were acknowledged.
     * \param socket the socket
     * \param room bytes that it takes
     */
    void OnRoom(Ptr<Socket> socket, uint32_t room);

    /// Give the socket what it has room for, in whole segments.
    void Fill();

    /// All bytes are acknowledged.
    void Finish();

    /**
     * \brief A packet leaves.
     * \param packet its payload
     * \param header its header
     * \param socket the socket
     */
    void OnSent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket);

    /**
     * \brief TCP's view of the network has changed.
     * \param before what it was
     * \param now what it is
     */
    void OnState(TcpSocketState::TcpCongState_t before, TcpSocketState::TcpCongState_t now);

    uint32_t m_id;               //!< the flow's number
    uint64_t m_size;             //!< its bytes
    Ptr<TcpSocketBase> m_socket; //!< the connection
    Counters& m_counters;        //!< where it counts
    FinishCallback m_done;       //!< is told when it has finished
    uint32_t m_buffer;           //!< bytes that the socket holds
    uint32_t m_segment;          //!< payload bytes of a segment
    uint16_t m_sourcePort{0};    //!< its source port
    uint64_t m_written{0};       //!< bytes that the socket was given
    SequenceNumber32 m_end;      //!< sequence number behind what was sent
    EventId m_finish;            //!< the end of this flow
};

} // namespace ns3

#endif /* SCENARIO_TCP_FLOW_H */
