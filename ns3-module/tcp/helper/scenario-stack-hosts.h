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
#include "ns3/core-pointer.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/net-device-container.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hpcc
{
struct StackCounters;
struct StackFlow;
struct StackRun;
} // namespace hpcc

namespace ns3
{

class PacketHost;
class QbbHelper;

/**
 * \ingroup hpcc
 * \brief A flow of a scenario that is in progress.
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

    // Inherited
    uint8_t Run(const hpcc::Scenario& scenario, const std::string& out, bool isQuiet) override;

  protected:
    /**
     * \brief Start a flow now.
     * \param flow the flow
     * \param done is told when it has finished
     * \return the flow
     */
    virtual std::unique_ptr<ScenarioStackFlow> StartFlow(
        const hpcc::StackFlow& flow,
        ScenarioStackFlow::FinishCallback done) = 0;

    /**
     * \brief Add the hosts' counters.
     * \param counters the run's counters
     */
    virtual void Count(hpcc::StackCounters& counters) const;

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
    /// Build the network, and start it.
    void Build();

    /// Give all nodes their settings.
    void SetSettings() const;

    /**
     * \brief Let links lose frames.
     * \param links both ends of each
     */
    void SetLosses(const std::vector<NetDeviceContainer>& links);

    /// Get hosts ready: they have their settings and links.
    void PrepareHosts();

    /// Record frames as bytes.
    void Capture();

    /**
     * \brief The engine pauses.
     * \param isSample whether it is time for a sample
     */
    void OnPause(bool isSample);

    /// Tell the run how far flows are.
    void TellAcked();

    PacketHostHelper m_helper;             //!< makes hosts
    InternetStackHelper m_stack;           //!< makes their stacks
    std::unique_ptr<QbbHelper> m_network;  //!< the network
    std::shared_ptr<hpcc::StackRun> m_run; //!< results
    /// Flows in progress, by number.
    std::map<uint32_t, std::unique_ptr<ScenarioStackFlow>> m_active;
};

} // namespace ns3

#endif /* SCENARIO_STACK_HOSTS_H */
