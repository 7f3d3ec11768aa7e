/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "experiment.h"

#include "ns3/core-module.h"

namespace ns3
{
namespace byhand
{

namespace
{

/**
 * \brief Say what hosts and switches will be, before they are installed.
 * \param experiment what the program sets
 * \param network an empty network
 */
void
SetAttributes(const Experiment& experiment, QbbHelper& network)
{
    if (!experiment.wireProfile.empty())
    {
        network.SetWireProfile(experiment.wireProfile);
    }
    if (!experiment.telemetry.empty())
    {
        network.SetTelemetry(experiment.telemetry);
    }
    if (!experiment.faults.empty())
    {
        network.SetReferenceFaults(experiment.faults);
    }
    for (const Attributes* attributes : {&experiment.control, &experiment.nodes, &experiment.hosts})
    {
        for (const auto& [name, value] : *attributes)
        {
            network.SetHostAttribute(name, StringValue(value));
        }
    }
    for (const Attributes* attributes : {&experiment.nodes, &experiment.switches})
    {
        for (const auto& [name, value] : *attributes)
        {
            network.SetSwitchAttribute(name, StringValue(value));
        }
    }
}

/**
 * \brief Say what hosts and switches will do about Fast CNP, before they are installed.
 * \param experiment what the program sets
 * \param network an empty network
 */
void
SetFastCnp(const Experiment& experiment, QbbHelper& network)
{
    for (const Attributes* attributes : {&experiment.fastCnp, &experiment.fastCnpHosts})
    {
        for (const auto& [name, value] : *attributes)
        {
            network.SetFastCnpHostAttribute(name, StringValue(value));
        }
    }
    for (const Attributes* attributes : {&experiment.fastCnp, &experiment.fastCnpSwitches})
    {
        for (const auto& [name, value] : *attributes)
        {
            network.SetFastCnpSwitchAttribute(name, StringValue(value));
        }
    }
}

} // namespace

NodeContainer
Build(const Experiment& experiment, QbbHelper& network)
{
    SetAttributes(experiment, network);
    SetFastCnp(experiment, network);
    const NodeContainer hosts(experiment.topology.hosts);
    const NodeContainer switches(experiment.topology.switches);
    network.InstallHosts(hosts);
    network.InstallSwitches(switches);
    experiment.topology.link(network, hosts, switches);
    for (const auto& [node, attributes] : experiment.others)
    {
        for (const auto& [name, value] : attributes)
        {
            network.GetNode(node)->SetAttribute(name, StringValue(value));
        }
    }
    for (const auto& [node, outside] : experiment.borders)
    {
        network.SetFastCnpBorder(node, outside);
    }
    network.Start();
    return NodeContainer(hosts, switches);
}

void
ScheduleFailures(const Experiment& experiment, const QbbHelper& network)
{
    for (const Failure& failure : experiment.failures)
    {
        Simulator::Schedule(failure.at,
                            [&network, failure] { network.TakeLinkDown(failure.a, failure.b); });
        if (failure.until.IsStrictlyPositive())
        {
            Simulator::Schedule(failure.until,
                                [&network, failure] { network.SetLinkUp(failure.a, failure.b); });
        }
    }
}

std::vector<std::unique_ptr<Attacker>>
BeginAttacks(const Experiment& experiment, const QbbHelper& network, const NodeContainer& nodes)
{
    std::vector<std::unique_ptr<Attacker>> attackers;
    for (const Attack& attack : experiment.attacks)
    {
        AttackHelper helper(attack.kind);
        for (const auto& [key, value] : attack.settings)
        {
            helper.Set(key, value);
        }
        attackers.push_back(helper.Install(nodes.Get(attack.node), network));
    }
    return attackers;
}

} // namespace byhand
} // namespace ns3
