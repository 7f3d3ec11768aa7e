/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef DATAGRAM_CLIENT_H
#define DATAGRAM_CLIENT_H

#include "probe-client.h"

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/core-pointer.h"
#include "ns3/event-id.h"
#include "ns3/settings-owner.h"
#include "ns3/socket.h"

#include <cstdint>

namespace ns3
{

class PacketHost;

/**
 * \ingroup hpcc
 * \brief Sends UDP datagrams at the pace of HPCC++, as QUIC sends those that it does not repeat
 * (RFC 9221).
 *
 * Its node has a PacketHost, which sends the probes of the flow: of its addresses, ports and
 * protocol. Any UDP sink takes the datagrams, for nothing acknowledges them: what an answered probe
 * has followed is no longer in flight. The core decides (`hpcc_core::transport::DatagramPacer`).
 */
class DatagramClient : public Application, public SettingsOwner, public ProbeClient
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    DatagramClient();
    ~DatagramClient() override;

    /// Begin to send now, once; an application's start time does it by itself.
    void Start();

    /// \return the port that it sends from, once it has begun
    uint16_t GetPort() const;

    /// \return payload bytes that it has sent
    uint64_t GetSent() const;

    // Inherited
    uint16_t PrepareProbe(uint8_t* section, std::size_t room) const override;
    void OnResponse(uint32_t seq, const uint8_t* section, std::size_t size) override;
    uint64_t GetBaselineResets() const override;

  private:
    // Inherited
    void DoDispose() override;
    void StartApplication() override;
    void StopApplication() override;

    /// Open the socket.
    void Bind();

    /// Send what may leave now, and wait for the time of the rest.
    void Send();

    /// Send one datagram.
    void SendOne();

    /// Wait for the time of the next probe, if there is to be one.
    void ScheduleProbe();

    /// The time of a probe has come.
    void OnProbeTime();

    Address m_remote;                     //!< attribute
    uint32_t m_size{0};                   //!< attribute
    uint64_t m_maxBytes{0};               //!< attribute
    Ptr<PacketHost> m_host;               //!< sends the probes
    Ptr<Socket> m_socket;                 //!< sends the datagrams
    uint16_t m_port{0};                   //!< the socket's port
    CorePointer<hpcc::ProbedFlow> m_core; //!< the decisions
    ProbeSender m_sendProbe;              //!< sends probes
    EventId m_sendTimer;                  //!< the next datagram
    EventId m_probeTimer;                 //!< the next probe
    uint64_t m_sent{0};                   //!< payload bytes sent
    bool m_isStopped{false};              //!< whether the application has stopped
};

} // namespace ns3

#endif /* DATAGRAM_CLIENT_H */
