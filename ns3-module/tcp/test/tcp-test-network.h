/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef TCP_TEST_NETWORK_H
#define TCP_TEST_NETWORK_H

#include "../../test/hpcc-tests.h"

#include "ns3/application-container.h"
#include "ns3/data-rate.h"
#include "ns3/packet-host-helper.h"
#include "ns3/packet-host.h"
#include "ns3/qbb-switch.h"

#include <string>

namespace ns3
{
namespace tests
{

/// \return tests of DatagramClient
TestCases MakeDatagramClientTests();
/// \return tests of FlowMonitor, where that is built
TestCases MakeFlowMonitorTests();
/// \return tests of PacketHost
TestCases MakePacketHostTests();
/// \return tests of hosts with RDMA and a stack
TestCases MakeSharedHostTests();
/// \return tests of whole programs with hosts of ns-3's stack
TestCases MakeStackProgramTests();
/// \return tests of TcpHpccPlus
TestCases MakeTcpHpccPlusTests();

/**
 * \ingroup hpcc
 * \brief Hosts with stacks around one switch: all send at 100 Gb/s but the last, whose link has 25
 * Gb/s.
 */
class TcpTestNetwork
{
  public:
    /**
     * \param hosts how many, the last one included
     * \param congestionControl TypeId name of TCP's congestion control
     */
    TcpTestNetwork(uint32_t hosts, const std::string& congestionControl);

    /// Link the hosts to one switch, RDMA hosts by 25 Gb/s, and start. Attributes of helper and
    /// hosts have been set.
    void MakeStar();

    /// Link the hosts, with two switches between the senders' switch and the last host's, at 25
    /// Gb/s.
    void MakeSpines();

    /**
     * \brief Add a bulk TCP flow to the last host.
     * \param src the sender
     * \param bytes how many, 0 for no end
     * \param start when
     */
    void AddFlow(uint32_t src, uint64_t bytes, Time start = Time(0));

    /**
     * \param flow a flow, by the order of AddFlow()
     * \return bytes that its sink has received
     */
    uint64_t GetReceived(uint32_t flow) const;

    /**
     * \param host a host
     * \return it
     */
    Ptr<PacketHost> GetHost(uint32_t host) const;

    /// \return the switch that the last host is linked to
    Ptr<QbbSwitch> GetLastSwitch() const;

    /// \return the port of that switch that leads to the last host
    uint16_t GetBottleneck() const;

    QbbHelper network;      //!< the network
    PacketHostHelper hosts; //!< makes hosts
    NodeContainer nodes;    //!< the hosts' nodes
    NodeContainer switches; //!< the switches' nodes
    NodeContainer rdma;     //!< nodes of RDMA hosts, if any were created before MakeStar()

  private:
    /// Make nodes and switches.
    void Install();

    /// Install stacks and start.
    void Start();

    std::string m_congestionControl; //!< TypeId name of TCP's congestion control
    ApplicationContainer m_sinks;    //!< of the flows
};

} // namespace tests
} // namespace ns3

#endif /* TCP_TEST_NETWORK_H */
