/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_EXPERIMENT_H
#define BY_HAND_EXPERIMENT_H

#include "networks.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace byhand
{

/// Attributes that a program sets, by name. What is not here keeps its default.
using Attributes = std::map<std::string, std::string>;

/// What an AttackHelper is told.
struct Attack
{
    std::string kind;    //!< what the attacker does
    uint32_t node;       //!< which node that is
    Attributes settings; //!< the rest
};

/// A link that fails for a time, or for good.
struct Failure
{
    uint32_t a;    //!< one node
    uint32_t b;    //!< the other node
    Time at;       //!< when it fails
    Time until{0}; //!< when it comes up again; 0: never
};

/// What a program sets. What is empty it leaves alone.
struct Experiment
{
    Topology topology;       //!< the network
    std::string wireProfile; //!< headers of all frames
    std::string telemetry;   //!< layout of telemetry
    std::string faults;      //!< faults of the reference simulator, as SetReferenceFaults() is told
    bool isCanonical{true};  //!< whether events of a nanosecond run in the order that files have
    Attributes control;      //!< congestion control of hosts, and its parameters
    Attributes nodes;        //!< other attributes of hosts and switches
    Attributes hosts;        //!< other attributes of hosts
    Attributes switches;     //!< other attributes of switches

    Attributes fastCnp;         //!< what hosts and switches do about Fast CNP
    Attributes fastCnpHosts;    //!< what hosts do besides
    Attributes fastCnpSwitches; //!< what switches do besides
    /// Switches with the nodes to which they have a link that no Fast CNP crosses.
    std::vector<std::pair<uint32_t, uint32_t>> borders;

    std::map<uint32_t, Attributes> others; //!< attributes of single nodes
    std::vector<Failure> failures;         //!< links that fail
    std::vector<Attack> attacks;           //!< attackers
};

/**
 * \brief Build the network of an experiment, and start it.
 * \param experiment what the program sets
 * \param network an empty network
 * \return its nodes, as they are numbered
 */
NodeContainer Build(const Experiment& experiment, QbbHelper& network);

/**
 * \brief Let links fail as an experiment says.
 * \param experiment what the program sets
 * \param network the network, which has started and stays until the simulation ends
 */
void ScheduleFailures(const Experiment& experiment, const QbbHelper& network);

/**
 * \brief Begin the attacks of an experiment.
 * \param experiment what the program sets
 * \param network the network, which has started
 * \param nodes its nodes
 * \return the attackers; each attack ends with its attacker
 */
std::vector<std::unique_ptr<Attacker>> BeginAttacks(const Experiment& experiment,
                                                    const QbbHelper& network,
                                                    const NodeContainer& nodes);

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_EXPERIMENT_H */
