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

    ScenarioStackHosts();
    ~ScenarioStackHosts() override;

  protected:
    // Inherited
    void InstallHost(const NodeContainer& node, uint32_t index) override;
    void PrepareHosts() override;
    void Count(hpcc::StackCounters& counters) const override;

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

  private:
    PacketHostHelper m_helper;   //!< makes hosts
    InternetStackHelper m_stack; //!< makes their stacks
};

} // namespace ns3

#endif /* SCENARIO_STACK_HOSTS_H */
