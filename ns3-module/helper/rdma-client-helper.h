/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_CLIENT_HELPER_H
#define RDMA_CLIENT_HELPER_H

#include "ns3/application-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Makes RdmaClient applications that send to one host.
 */
class RdmaClientHelper
{
  public:
    /**
     * \param peer node of the destination host
     */
    explicit RdmaClientHelper(Ptr<Node> peer);

    /**
     * \param peer name of the destination's node; ends the program if no node has it
     */
    explicit RdmaClientHelper(const std::string& peer);

    /**
     * \brief Set an attribute of the applications to be installed.
     * \param name the attribute of RdmaClient
     * \param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Add an application to each node; a single node is a container, too.
     * \param nodes the nodes
     * \return the applications, in the order of the nodes
     */
    ApplicationContainer Install(const NodeContainer& nodes) const;

    /**
     * \brief Add an application to a node.
     * \param name the node's name; ends the program if no node has it
     * \return the application
     */
    ApplicationContainer Install(const std::string& name) const;

  private:
    ObjectFactory m_factory; //!< makes the applications
};

} // namespace ns3

#endif /* RDMA_CLIENT_HELPER_H */
