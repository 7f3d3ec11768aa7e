/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Links that fail, and come back.
#include "ns3-bridge/src/network.rs.h"
#include "qbb-helper.h"

#include "ns3/abort.h"
#include "ns3/data-rate.h"
#include "ns3/engine-network.h"
#include "ns3/qbb-channel.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"

#include <algorithm>
#include <vector>

namespace ns3
{

void
QbbHelper::TakeLinkDown(const NodeReference& a, const NodeReference& b) const
{
    SetLinks(FindLinks(a, b), false);
}

void
QbbHelper::TakeLinkDown(const NetDeviceContainer& devices) const
{
    SetLinks(FindLinks(devices), false);
}

void
QbbHelper::SetLinkUp(const NodeReference& a, const NodeReference& b) const
{
    SetLinks(FindLinks(a, b), true);
}

void
QbbHelper::SetLinkUp(const NetDeviceContainer& devices) const
{
    SetLinks(FindLinks(devices), true);
}

void
QbbHelper::DegradeLink(const NetDeviceContainer& devices, DataRate rate, double bitErrors) const
{
    CheckRunning();
    NS_ABORT_MSG_UNLESS(bitErrors >= 0 && bitErrors <= 1,
                        "bits cannot be wrong with the probability " << bitErrors
                                                                     << "; expected 0 to 1");
    const std::vector<uint32_t> links = FindLinks(devices);
    m_network->Enter().set_quality({links.data(), links.size()}, rate.GetBitRate(), bitErrors);
    m_network->Settle();
}

void
QbbHelper::SetLinks(const std::vector<uint32_t>& links, bool up) const
{
    CheckRunning();
    std::vector<Ptr<QbbNetDevice>> ends;
    for (const uint32_t link : m_network->Enter().set_links({links.data(), links.size()}, up))
    {
        for (std::size_t end = 0; end < 2; ++end)
        {
            const auto device = DynamicCast<QbbNetDevice>(m_links[link]->GetDevice(end));
            // A program may have disposed of the node.
            if (device->GetNode())
            {
                up ? device->BringUp() : device->TakeDown();
                ends.push_back(device);
            }
        }
    }
    m_network->Settle();
    // Last, so that a program that is told may start flows over what is there now.
    for (const auto& end : ends)
    {
        end->TellLinkChange();
    }
}

std::vector<uint32_t>
QbbHelper::FindLinks(const NodeReference& a, const NodeReference& b) const
{
    const Ptr<QbbNode> here = GetNode(a);
    const Ptr<QbbNode> there = GetNode(b);
    const auto links = m_network->Look().links_between(here->GetIndex(), there->GetIndex());
    NS_ABORT_MSG_IF(links.empty(),
                    "there is no link from " << here->Describe() << " to " << there->Describe());
    return {links.begin(), links.end()};
}

std::vector<uint32_t>
QbbHelper::FindLinks(const NetDeviceContainer& devices) const
{
    std::vector<uint32_t> links;
    for (auto device = devices.Begin(); device != devices.End(); ++device)
    {
        const Ptr<Channel> channel = (*device)->GetChannel();
        const auto link = std::find(m_links.begin(), m_links.end(), channel);
        NS_ABORT_MSG_IF(!channel || link == m_links.end(),
                        "a device is given that no link of this network ends at");
        links.push_back(static_cast<uint32_t>(link - m_links.begin()));
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

} // namespace ns3
