/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_RDMA_HOSTS_H
#define SCENARIO_RDMA_HOSTS_H

#include "scenario-hosts.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief RDMA hosts of a scenario.
 */
class ScenarioRdmaHosts : public ScenarioHosts
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    // Inherited
    void Install(const NodeContainer& nodes, QbbHelper& network) override;
    void Prepare(const hpcc::Scenario& scenario, const QbbHelper& network) override;
    std::unique_ptr<ScenarioFlow> StartFlow(const RdmaFlow& flow, FinishCallback done) override;
    void Count(hpcc::RunTotals& totals) const override;

  private:
    const QbbHelper* m_network{nullptr}; //!< the network
};

} // namespace ns3

#endif /* SCENARIO_RDMA_HOSTS_H */
