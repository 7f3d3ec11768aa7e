/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_DATAGRAM_HOSTS_H
#define SCENARIO_DATAGRAM_HOSTS_H

#include "scenario-datagram-flow.h"
#include "scenario-stack-hosts.h"

#include "ns3/socket.h"

#include <cstdint>
#include <map>
#include <utility>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Hosts of a scenario whose flows are UDP datagrams at the pace of HPCC++.
 */
class ScenarioDatagramHosts : public ScenarioStackHosts
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    ~ScenarioDatagramHosts() override;

  private:
    // Inherited
    std::unique_ptr<ScenarioStackFlow> StartFlow(const hpcc::StackFlow& flow,
                                                 ScenarioStackFlow::FinishCallback done) override;

    /// A host, and a port there.
    using Place = std::pair<uint32_t, uint16_t>;

    /**
     * \brief Listen for datagrams, unless it does already.
     * \param place where
     */
    void Listen(const Place& place);

    /**
     * \brief Datagrams have come in.
     * \param place where
     * \param socket the socket that has them
     */
    void OnDatagrams(Place place, Ptr<Socket> socket);

    std::map<Place, Ptr<Socket>> m_sockets; //!< wait for datagrams
    /// Under way, by where they go and come from.
    std::map<std::pair<Place, Address>, ScenarioDatagramFlow*> m_flows;
};

} // namespace ns3

#endif /* SCENARIO_DATAGRAM_HOSTS_H */
