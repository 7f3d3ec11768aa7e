/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef DATAGRAM_CLIENT_HELPER_H
#define DATAGRAM_CLIENT_HELPER_H

#include "ns3/address.h"
#include "ns3/application-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Makes applications that send UDP datagrams at the pace of HPCC++.
 */
class DatagramClientHelper
{
  public:
    /**
     * \param remote where the datagrams go: an InetSocketAddress or Inet6SocketAddress
     */
    explicit DatagramClientHelper(const Address& remote);

    /**
     * \brief Set an attribute of the applications to be installed.
     * \param name the attribute
     * \param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Install an application on each node.
     * \param nodes the nodes
     * \return the applications
     */
    ApplicationContainer Install(const NodeContainer& nodes) const;

    /**
     * \brief Install an application on a node.
     * \param name the node's name; ends the program if no node has it
     * \return the application
     */
    ApplicationContainer Install(const std::string& name) const;

  private:
    ObjectFactory m_factory; //!< makes applications
};

} // namespace ns3

#endif /* DATAGRAM_CLIENT_HELPER_H */
