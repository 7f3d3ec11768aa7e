/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-client-helper.h"

#include "node-reference.h"

#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/rdma-client.h"

namespace ns3
{

RdmaClientHelper::RdmaClientHelper(Ptr<Node> peer)
{
    m_factory.SetTypeId(RdmaClient::GetTypeId());
    m_factory.Set("Peer", PointerValue(peer));
}

RdmaClientHelper::RdmaClientHelper(const std::string& peer)
    : RdmaClientHelper(NodeReference(peer).GetNode())
{
}

void
RdmaClientHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

ApplicationContainer
RdmaClientHelper::Install(const NodeContainer& nodes) const
{
    ApplicationContainer applications;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        const auto application = m_factory.Create<Application>();
        (*node)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

ApplicationContainer
RdmaClientHelper::Install(const std::string& name) const
{
    return Install(NodeReference(name).GetNode());
}

} // namespace ns3
