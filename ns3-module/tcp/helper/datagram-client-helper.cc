/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "datagram-client-helper.h"

#include "ns3/datagram-client.h"
#include "ns3/node-reference.h"

namespace ns3
{

DatagramClientHelper::DatagramClientHelper(const Address& remote)
{
    m_factory.SetTypeId(DatagramClient::GetTypeId());
    m_factory.Set("Remote", AddressValue(remote));
}

void
DatagramClientHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

ApplicationContainer
DatagramClientHelper::Install(const NodeContainer& nodes) const
{
    ApplicationContainer applications;
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        const auto application = m_factory.Create<Application>();
        (*it)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

ApplicationContainer
DatagramClientHelper::Install(const std::string& name) const
{
    return Install(NodeReference(name).GetNode());
}

} // namespace ns3
