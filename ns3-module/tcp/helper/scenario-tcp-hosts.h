/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_TCP_HOSTS_H
#define SCENARIO_TCP_HOSTS_H

#include "scenario-stack-hosts.h"
#include "scenario-tcp-flow.h"

#include <cstdint>
#include <set>
#include <utility>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Hosts of a scenario whose flows are connections of ns-3's TCP.
 */
class ScenarioTcpHosts : public ScenarioStackHosts
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    ~ScenarioTcpHosts() override;

  private:
    // Inherited
    std::unique_ptr<ScenarioStackFlow> StartFlow(const hpcc::StackFlow& flow,
                                                 ScenarioStackFlow::FinishCallback done) override;
    void Count(hpcc::StackCounters& counters) const override;

    /**
     * \brief Make a congestion control as the scenario says.
     * \param host its host
     * \return the congestion control
     */
    Ptr<TcpCongestionOps> MakeControl(uint32_t host) const;

    /**
     * \brief Make a socket as the scenario says.
     * \param host its host
     * \return the socket
     */
    Ptr<TcpSocketBase> MakeSocket(uint32_t host) const;

    /**
     * \brief Listen for connections, unless it does already.
     * \param host where
     * \param port at which port
     */
    void Listen(uint32_t host, uint16_t port);

    /**
     * \brief A connection has come in.
     * \param socket its socket
     * \param from where it comes from
     */
    void OnConnection(Ptr<Socket> socket, const Address& from);

    /// Hosts and ports that wait for connections.
    std::set<std::pair<uint32_t, uint16_t>> m_listening;
    ScenarioTcpFlow::Counters m_counters; //!< counters of flows
};

} // namespace ns3

#endif /* SCENARIO_TCP_HOSTS_H */
