/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_HOSTS_H
#define SCENARIO_HOSTS_H

#include "ns3/callback.h"
#include "ns3/node-container.h"
#include "ns3/object.h"
#include "ns3/rdma-host.h"

#include <cstdint>
#include <memory>

namespace hpcc
{
struct RunTotals;
struct Scenario;
} // namespace hpcc

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief A flow of a scenario that is in progress.
 */
class ScenarioFlow
{
  public:
    virtual ~ScenarioFlow() = default;

    /// \return its bytes that were acknowledged
    virtual uint64_t GetAckedBytes() const = 0;

    /// \return the state of its congestion control; scenarios ask RDMA hosts only
    virtual RdmaControl GetControl() const
    {
        return {};
    }

    /// \return the request, and its source port
    virtual RdmaFlow GetFlow() const = 0;
};

/**
 * \ingroup hpcc
 * \brief The hosts of a scenario: what they are, and how their flows start.
 *
 * The scenario chooses the class; a class that needs more of ns-3 than the module does is
 * registered only where that is built.
 */
class ScenarioHosts : public Object
{
  public:
    /// Called with a flow that has finished; the flow's object is no longer needed then.
    using FinishCallback = Callback<void, const RdmaFlow&>;

    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    /**
     * \brief Make nodes hosts.
     * \param nodes the nodes
     * \param network the network that they join
     */
    virtual void Install(const NodeContainer& nodes, QbbHelper& network) = 0;

    /**
     * \brief Get hosts ready: they have their settings and links, and the network is about to
     * start.
     * \param scenario the scenario
     * \param network the network
     */
    virtual void Prepare(const hpcc::Scenario& scenario, const QbbHelper& network) = 0;

    /**
     * \brief Start a flow now.
     * \param flow the flow
     * \param done is told when it has finished
     * \return the flow; nullptr if another process simulates its source, or it ends the run
     */
    virtual std::unique_ptr<ScenarioFlow> StartFlow(const RdmaFlow& flow, FinishCallback done) = 0;

    /**
     * \brief Add the hosts' counters.
     * \param totals the run's totals
     */
    virtual void Count(hpcc::RunTotals& totals) const = 0;
};

} // namespace ns3

#endif /* SCENARIO_HOSTS_H */
