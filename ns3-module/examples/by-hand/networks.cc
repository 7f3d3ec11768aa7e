/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "networks.h"

namespace ns3
{
namespace byhand
{

namespace
{

/// The delay of all other cables.
const char* const CABLE = "1us";

/**
 * \brief Take some nodes that follow each other.
 * \param nodes all nodes
 * \param first index of the first
 * \param count how many
 * \return these
 */
NodeContainer
Slice(const NodeContainer& nodes, uint32_t first, uint32_t count)
{
    NodeContainer slice;
    for (uint32_t index = first; index < first + count; ++index)
    {
        slice.Add(nodes.Get(index));
    }
    return slice;
}

/**
 * \brief Link racks of hosts to their switches.
 * \param network the network
 * \param hosts all hosts, rack by rack
 * \param switches a switch for each rack
 * \param rate of each link
 */
void
LinkRacks(QbbHelper& network,
          const NodeContainer& hosts,
          const NodeContainer& switches,
          const std::string& rate)
{
    const uint32_t perRack = hosts.GetN() / switches.GetN();
    for (uint32_t rack = 0; rack < switches.GetN(); ++rack)
    {
        network.LinkAll(Slice(hosts, rack * perRack, perRack),
                        switches.Get(rack),
                        DataRate(rate),
                        Time(CABLE));
    }
}

/**
 * \brief Link each node of a tier to all of another one.
 * \param network the network
 * \param lower the one tier
 * \param upper the other
 * \param rate of each link
 */
void
LinkTiers(QbbHelper& network,
          const NodeContainer& lower,
          const NodeContainer& upper,
          const std::string& rate)
{
    for (uint32_t low = 0; low < lower.GetN(); ++low)
    {
        for (uint32_t up = 0; up < upper.GetN(); ++up)
        {
            network.Link(lower.Get(low), upper.Get(up), DataRate(rate), Time(CABLE));
        }
    }
}

} // namespace

Topology
Star(uint32_t hosts, const std::string& rate)
{
    const auto link = [=](QbbHelper& network, const NodeContainer& h, const NodeContainer& s) {
        LinkRacks(network, h, s, rate);
    };
    return {hosts, 1, link};
}

Topology
Dumbbell(uint32_t left, uint32_t right, const std::string& rate, const std::string& distance)
{
    const auto link = [=](QbbHelper& network, const NodeContainer& h, const NodeContainer& s) {
        network.LinkAll(Slice(h, 0, left), s.Get(0), DataRate(rate), Time(CABLE));
        network.LinkAll(Slice(h, left, right), s.Get(1), DataRate(rate), Time(CABLE));
        network.Link(s.Get(0), s.Get(1), DataRate(rate), Time(distance));
    };
    return {left + right, 2, link};
}

Topology
ParkingLot(uint32_t switches, const std::string& rate)
{
    const auto link = [=](QbbHelper& network, const NodeContainer& h, const NodeContainer& s) {
        LinkRacks(network, h, s, rate);
        for (uint32_t next = 1; next < switches; ++next)
        {
            network.Link(s.Get(next - 1), s.Get(next), DataRate(rate), Time(CABLE));
        }
    };
    return {switches, switches, link};
}

Topology
DualHomed(uint32_t pairs,
          uint32_t hostsPerPair,
          const std::string& rate,
          const std::string& fabricRate)
{
    const uint32_t tors = 2 * pairs;
    const auto link = [=](QbbHelper& network, const NodeContainer& h, const NodeContainer& s) {
        for (uint32_t pair = 0; pair < pairs; ++pair)
        {
            LinkTiers(network,
                      Slice(h, pair * hostsPerPair, hostsPerPair),
                      Slice(s, 2 * pair, 2),
                      rate);
        }
        LinkTiers(network, Slice(s, 0, tors), Slice(s, tors, 1), fabricRate);
    };
    return {pairs * hostsPerPair, tors + 1, link};
}

Topology
LeafSpine(uint32_t leaves,
          uint32_t spines,
          uint32_t hostsPerLeaf,
          const std::string& rate,
          const std::string& fabricRate)
{
    const auto link = [=](QbbHelper& network, const NodeContainer& h, const NodeContainer& s) {
        const NodeContainer leafSwitches = Slice(s, 0, leaves);
        LinkRacks(network, h, leafSwitches, rate);
        LinkTiers(network, leafSwitches, Slice(s, leaves, spines), fabricRate);
    };
    return {leaves * hostsPerLeaf, leaves + spines, link};
}

Topology
FatTree(const TreeSize& size, const std::string& rate, const std::string& fabricRate)
{
    const uint32_t tors = size.pods * size.torsPerPod;
    const uint32_t aggs = size.pods * size.aggsPerPod;
    const uint32_t cores = size.aggsPerPod * size.coresPerAgg;
    const auto link = [=](QbbHelper& network, const NodeContainer& h, const NodeContainer& s) {
        LinkRacks(network, h, Slice(s, 0, tors), rate);
        for (uint32_t pod = 0; pod < size.pods; ++pod)
        {
            LinkTiers(network,
                      Slice(s, pod * size.torsPerPod, size.torsPerPod),
                      Slice(s, tors + pod * size.aggsPerPod, size.aggsPerPod),
                      fabricRate);
        }
        for (uint32_t agg = 0; agg < aggs; ++agg)
        {
            const uint32_t group = agg % size.aggsPerPod;
            LinkTiers(network,
                      Slice(s, tors + agg, 1),
                      Slice(s, tors + aggs + group * size.coresPerAgg, size.coresPerAgg),
                      fabricRate);
        }
    };
    return {tors * size.hostsPerTor, tors + aggs + cores, link};
}

} // namespace byhand
} // namespace ns3
