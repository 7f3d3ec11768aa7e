/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_TCP_HOSTS_H
#define SCENARIO_TCP_HOSTS_H

#include "packet-host-helper.h"
#include "scenario-tcp-flow.h"

#include "../../helper/scenario-hosts.h"

#include "ns3/internet-stack-helper.h"

#include <cstdint>
#include <set>
#include <utility>

namespace ns3
{

class PacketHost;

/**
 * \ingroup hpcc
 * \brief Hosts of a scenario whose flows are connections of ns-3's TCP.
 */
class ScenarioTcpHosts : public ScenarioHosts
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    ScenarioTcpHosts();
    ~ScenarioTcpHosts() override;

    // Inherited
    void Install(Ptr<Node> node, QbbHelper& network) override;
    void Prepare(const hpcc::Scenario& scenario, const QbbHelper& network) override;
    std::unique_ptr<ScenarioFlow> StartFlow(const RdmaFlow& flow, FinishCallback done) override;
    void Count(hpcc::RunTotals& totals) const override;

  private:
    /**
     * \brief Get a host ready.
     * \param host the host
     */
    void PrepareHost(const Ptr<PacketHost>& host) const;

    /**
     * \brief Make a socket as the scenario says.
     * \param host its host
     * \return the socket
     */
    Ptr<TcpSocketBase> MakeSocket(uint32_t host) const;

    /**
     * \brief Wait for connections, unless somebody does.
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

    /**
     * \param index a node's index
     * \return the host; nullptr if it is a switch
     */
    Ptr<PacketHost> GetHost(uint32_t index) const;

    PacketHostHelper m_helper;                            //!< makes hosts
    InternetStackHelper m_stack;                          //!< makes their stacks
    const QbbHelper* m_network{nullptr};                  //!< the network
    const hpcc::Scenario* m_scenario{nullptr};            //!< what hosts run by
    std::set<std::pair<uint32_t, uint16_t>> m_listening;  //!< hosts and ports that wait for connections
    ScenarioTcpFlow::Counters m_counters;                 //!< what happened to flows
};

} // namespace ns3

#endif /* SCENARIO_TCP_HOSTS_H */
