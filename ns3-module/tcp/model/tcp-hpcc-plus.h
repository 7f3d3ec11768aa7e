/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef TCP_HPCC_PLUS_H
#define TCP_HPCC_PLUS_H

#include "probe-client.h"

#include "ns3/address.h"
#include "ns3/core-pointer.h"
#include "ns3/event-id.h"
#include "ns3/settings-owner.h"
#include "ns3/tcp-congestion-ops.h"

#include <cstdint>

namespace ns3
{

class Node;

/**
 * \ingroup hpcc
 * \brief HPCC++ as a congestion control of TCP (draft-miao-rtgwg-hpccplus-00, section 7.2).
 *
 * Window and pace are the core's (`hpcc_core::transport::ProbedFlow`), which hears what probes of
 * the flow bring back. The PacketHost below the stack sends those and tells what TCP does; it finds
 * this object through the socket, so that `ns3::TcpL4Protocol::SocketType` is all that an
 * application's user sets. Before the first segment leaves, and on nodes without a PacketHost for
 * good, this is TcpNewReno.
 *
 * HPCC++ does not react to losses: the network pauses. TCP still repairs them.
 */
class TcpHpccPlus : public TcpNewReno, public SettingsOwner, public ProbeClient
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    TcpHpccPlus();
    /**
     * \brief Make a congestion control with the same parameters, without a connection.
     * \param other whose parameters
     */
    TcpHpccPlus(const TcpHpccPlus& other);
    ~TcpHpccPlus() override;

    /**
     * \brief Find the congestion control of a connection.
     * \param node a node with a stack
     * \param own address and port of its end
     * \param other address and port of the other end
     * \return it, or nullptr if it is another than HPCC++
     */
    static Ptr<TcpHpccPlus> Find(const Node& node, const Address& own, const Address& other);

    /// \return whether a PacketHost has taken the flow on
    bool IsBound() const;

    /**
     * \brief A PacketHost takes the flow on: from now on HPCC++ decides.
     * \param path the flow's path
     * \param host the host's settings; ends the program if its telemetry has no records of hops
     * \param first sequence number of the flow's first byte
     * \param sendProbe sends its probes
     * \return whether the flow could be taken on: its socket is known
     */
    bool Bind(const ProbedPath& path,
              const hpcc::Settings& host,
              uint32_t first,
              ProbeSender sendProbe);

    /**
     * \brief A segment with payload has left.
     * \param end the sequence number behind it
     */
    void OnSent(uint32_t end);

    /**
     * \brief An acknowledgement has arrived.
     * \param ack the byte that is expected next
     */
    void OnAcked(uint32_t ack);

    // Inherited
    void OnResponse(uint32_t seq, const uint8_t* section, std::size_t size) override;
    uint64_t GetBaselineResets() const override;
    uint16_t PrepareProbe(uint8_t* section, std::size_t room) const override;
    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

  private:
    /// Hand the core's window and pace to the socket.
    void Apply();

    /// Wait for the time of the next probe, if there is to be one.
    void ScheduleProbe();

    /// The time of a probe has come.
    void OnProbeTime();

    /// The decisions; nothing before a host takes the flow on.
    CorePointer<hpcc::ProbedFlow> m_core;
    Ptr<TcpSocketState> m_tcb; //!< the socket's state
    ProbeSender m_sendProbe;   //!< sends probes
    EventId m_probeTimer;      //!< the next probe
};

} // namespace ns3

#endif /* TCP_HPCC_PLUS_H */
