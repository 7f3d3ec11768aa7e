/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_FABRIC_HELPER_H
#define QBB_FABRIC_HELPER_H

#include "section-settings.h"

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"

#include <string>
#include <vector>

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Nodes and devices of a fabric.
 */
struct QbbFabric
{
    NodeContainer hosts;              //!< its hosts, in their order in files
    std::vector<NodeContainer> tiers; //!< its switches: those next to hosts, those above, and so on
    NetDeviceContainer devices;       //!< two devices for each link, that of the lower node first

    /// \return the switches next to hosts
    NodeContainer GetLeaves() const
    {
        return tiers.front();
    }

    /// \return the switches of the highest tier
    NodeContainer GetSpines() const
    {
        return tiers.back();
    }
};

/**
 * \ingroup hpcc
 * \brief Builds networks of common shapes.
 *
 * Shapes and their keys are those of `[topology]` in scenario files - `star`, `dumbbell`,
 * `leaf_spine`, `fat_tree`, `k_ary_fat_tree`, `rails`, `dragonfly` and others: `./hpcc explain
 * topology` - with the same numbers of nodes and ports, so that results are those of a file.
 */
class QbbFabricHelper : public SectionSettings
{
  public:
    /**
     * \param kind the shape
     */
    explicit QbbFabricHelper(const std::string& kind);

    /**
     * \brief Make nodes, install hosts and switches, and link them; ends the program with the
     * reason if the shape cannot be built.
     * \param network the network, which is not started yet
     * \return what was made
     */
    QbbFabric Install(QbbHelper& network) const;
};

} // namespace ns3

#endif /* QBB_FABRIC_HELPER_H */
