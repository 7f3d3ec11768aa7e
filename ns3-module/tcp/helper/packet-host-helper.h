/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PACKET_HOST_HELPER_H
#define PACKET_HOST_HELPER_H

#include "ns3/ipv4-interface-container.h"
#include "ns3/ipv6-interface-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-helper.h"

#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Makes nodes hosts of a lossless network that carries the traffic of their ns-3 stacks.
 *
 * Between the two calls here, link the nodes by the QbbHelper and install stacks by the
 * InternetStackHelper.
 */
class PacketHostHelper
{
  public:
    PacketHostHelper();

    /**
     * \brief Set an attribute of the hosts to be installed.
     * \param name the attribute
     * \param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Make nodes hosts, or give RDMA hosts a part that carries packets of their stacks.
     * \param nodes the nodes; QbbHelper::InstallHosts() comes before where they are to be both
     * \param network the network that they join, or have joined
     */
    void Install(const NodeContainer& nodes, QbbHelper& network) const;

    /**
     * \brief Make a node a host.
     * \param name the node's name; ends the program if no node has it
     * \param network the network that it joins
     */
    void Install(const std::string& name, QbbHelper& network) const;

    /**
     * \brief Give hosts the IPv4 addresses that stand for them.
     * \param nodes hosts, each with a stack and at least one link
     * \return their interfaces
     */
    Ipv4InterfaceContainer AssignAddresses(const NodeContainer& nodes) const;

    /**
     * \brief Give hosts the IPv6 addresses that stand for them. Before QbbHelper::Start(), which
     * measures paths by the packets that hosts send.
     * \param nodes hosts, each with a stack and at least one link
     * \return their interfaces; as with ns-3's Ipv6AddressHelper, address 0 of each is its
     * link-local one, which leads nowhere here, and address 1 the one that stands for the host
     */
    Ipv6InterfaceContainer AssignIpv6Addresses(const NodeContainer& nodes) const;

  private:
    ObjectFactory m_factory; //!< makes hosts
};

} // namespace ns3

#endif /* PACKET_HOST_HELPER_H */
