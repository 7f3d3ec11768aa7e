/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_NETWORKS_H
#define BY_HAND_NETWORKS_H

#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ns3
{
namespace byhand
{

/// A network: so many hosts, so many switches, and how they are linked.
struct Topology
{
    /// Links hosts and switches that are installed.
    using Links =
        std::function<void(QbbHelper&, const NodeContainer& hosts, const NodeContainer& switches)>;

    uint32_t hosts;    //!< hosts, which have the first numbers
    uint32_t switches; //!< switches, which have the next ones
    Links link;        //!< links them
};

// All cables are 1 us long, but for that between the two switches of a dumbbell.

/**
 * \brief All hosts at one switch.
 * \param hosts how many
 * \param rate of each link
 * \return the network
 */
Topology Star(uint32_t hosts, const std::string& rate);

/**
 * \brief Hosts at two switches, and one cable between these.
 * \param left hosts of the first switch
 * \param right hosts of the second switch
 * \param rate of each link
 * \param distance delay of the cable between the switches
 * \return the network
 */
Topology Dumbbell(uint32_t left,
                  uint32_t right,
                  const std::string& rate,
                  const std::string& distance);

/**
 * \brief Switches in a row, with a host at each.
 * \param switches how many
 * \param rate of each link
 * \return the network
 */
Topology ParkingLot(uint32_t switches, const std::string& rate);

/**
 * \brief Hosts with a link to each of two top-of-rack switches, under one aggregation switch.
 * \param pairs pairs of top-of-rack switches
 * \param hostsPerPair hosts of each pair
 * \param rate of each link of a host
 * \param fabricRate of each link between switches
 * \return the network
 */
Topology DualHomed(uint32_t pairs,
                   uint32_t hostsPerPair,
                   const std::string& rate,
                   const std::string& fabricRate);

/**
 * \brief Racks of hosts under leaf switches, each of which is linked to all spine switches.
 * \param leaves leaf switches
 * \param spines spine switches
 * \param hostsPerLeaf hosts of each leaf
 * \param rate of each link of a host
 * \param fabricRate of each link between switches
 * \return the network
 */
Topology LeafSpine(uint32_t leaves,
                   uint32_t spines,
                   uint32_t hostsPerLeaf,
                   const std::string& rate,
                   const std::string& fabricRate);

/// How large a fat tree is.
struct TreeSize
{
    uint32_t pods;        //!< pods
    uint32_t torsPerPod;  //!< top-of-rack switches of each pod
    uint32_t aggsPerPod;  //!< aggregation switches of each pod
    uint32_t coresPerAgg; //!< core switches above each of these
    uint32_t hostsPerTor; //!< hosts of each rack
};

/**
 * \brief Pods of racks under core switches: the i-th aggregation switches of all pods share their
 * cores.
 * \param size how large it is
 * \param rate of each link of a host
 * \param fabricRate of each link between switches
 * \return the network
 */
Topology FatTree(const TreeSize& size, const std::string& rate, const std::string& fabricRate);

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_NETWORKS_H */
