/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_HOSTS_H
#define SCENARIO_HOSTS_H

#include "qbb-helper.h"

#include "ns3/core-pointer.h"
#include "ns3/net-device-container.h"
#include "ns3/object.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hpcc
{
struct Scenario;
struct StackCounters;
struct StackFlow;
struct StackRun;
} // namespace hpcc

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A flow of a scenario that is in progress, and not carried by the engine.
 */
class ScenarioStackFlow
{
  public:
    /// Called with a flow's number when it has finished; its object is no longer needed then.
    using FinishCallback = std::function<void(uint32_t)>;

    virtual ~ScenarioStackFlow() = default;

    /// \return its bytes that were acknowledged
    virtual uint64_t GetAckedBytes() const = 0;

    /// \return its source port
    virtual uint16_t GetSourcePort() const = 0;
};

/**
 * \ingroup hpcc
 * \brief A scenario as a network of ns-3 nodes, and its run there.
 *
 * Where hosts have ns-3's stack the scenario names a subclass, which is registered only where what
 * it needs of ns-3 is built.
 */
class ScenarioHosts : public Object
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    ScenarioHosts();
    ~ScenarioHosts() override;

    /**
     * \brief Build the network, which Run() starts.
     * \param scenario the scenario; outlives this
     * \return the network
     */
    QbbHelper& Build(const hpcc::Scenario& scenario);

    /**
     * \brief Run the scenario.
     * \param out folder for the results
     * \param isQuiet whether only what is wrong is said
     * \param isOpen whether the program sees the scenario's flows, and may have its own
     * \return an HpccScenarioHelper::Outcome
     */
    uint8_t Run(const std::string& out, bool isQuiet, bool isOpen);

  protected:
    /**
     * \brief Make a node a host.
     * \param node the node
     * \param index its index
     */
    virtual void InstallHost(const NodeContainer& node, uint32_t index);

    /// Get hosts ready: they have their settings and links.
    virtual void PrepareHosts();

    /**
     * \brief Start a flow that the engine does not carry.
     * \param flow the flow
     * \param done is told when it has finished
     * \return the flow
     */
    virtual std::unique_ptr<ScenarioStackFlow> StartFlow(const hpcc::StackFlow& flow,
                                                         ScenarioStackFlow::FinishCallback done);

    /**
     * \brief Add the hosts' counters.
     * \param counters the run's counters
     */
    virtual void Count(hpcc::StackCounters& counters) const;

    const hpcc::Scenario* m_scenario{nullptr}; //!< what nodes run by
    std::unique_ptr<QbbHelper> m_network;      //!< the network

  private:
    /**
     * \brief Let links lose frames.
     * \param links both ends of each
     */
    void SetLosses(const std::vector<NetDeviceContainer>& links);

    /// Record frames as bytes.
    void Capture();

    /**
     * \brief The engine pauses.
     * \param isSample whether it is time for a sample
     */
    void OnPause(bool isSample);

    /// Tell hosts which flows of the engine have begun and finished.
    void ShowFlows();

    /// Tell the run how far flows are that the engine does not carry.
    void TellAcked();

    std::shared_ptr<hpcc::StackRun> m_run; //!< results
    bool m_isOpen{false};                  //!< whether the program sees flows
    /// Flows in progress that the engine does not carry, by number.
    std::map<uint32_t, std::unique_ptr<ScenarioStackFlow>> m_active;
};

} // namespace ns3

#endif /* SCENARIO_HOSTS_H */
