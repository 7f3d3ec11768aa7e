/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_STACK_HOSTS_H
#define SCENARIO_STACK_HOSTS_H

#include "../../helper/scenario-hosts.h"
#include "packet-host-helper.h"

#include "ns3/address.h"
#include "ns3/internet-stack-helper.h"

#include <cstdint>

namespace ns3
{

class PacketHost;

/**
 * \ingroup hpcc
 * \brief Hosts of a scenario whose flows are TCP connections or datagrams of ns-3's stack.
 */
class ScenarioStackHosts : public ScenarioHosts
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    ~ScenarioStackHosts() override;

    // Inherited
    void Install(const NodeContainer& nodes, QbbHelper& network) override;
    void Prepare(const hpcc::Scenario& scenario, const QbbHelper& network) override;
    void Count(hpcc::RunTotals& totals) const override;

  protected:
    /**
     * \param index a node's index
     * \return the host; nullptr if it is a switch
     */
    Ptr<PacketHost> GetHost(uint32_t index) const;

    /**
     * \param host a host
     * \return its node
     */
    Ptr<Node> GetNodeOf(uint32_t host) const;

    /**
     * \param host a host
     * \param port a port
     * \return both, for sockets
     */
    Address GetAddress(uint32_t host, uint16_t port) const;

    /**
     * \param port a port
     * \return any address with it, for sockets that wait
     */
    Address GetAnyAddress(uint16_t port) const;

    const hpcc::Scenario* m_scenario{nullptr}; //!< what hosts run by

  private:
    PacketHostHelper m_helper;           //!< makes hosts
    InternetStackHelper m_stack;         //!< makes their stacks
    const QbbHelper* m_network{nullptr}; //!< the network
};

} // namespace ns3

#endif /* SCENARIO_STACK_HOSTS_H */
