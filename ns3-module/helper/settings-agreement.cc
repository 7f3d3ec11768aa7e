/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "settings-agreement.h"

#include "../model/call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/abort.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/rdma-host.h"

#include <algorithm>
#include <set>
#include <string>

namespace ns3
{

namespace
{

/**
 * \brief Let the core check something of a node; ends the program with the reason if it refuses.
 * \tparam F type of the call
 * \param node the node
 * \param check the call
 */
template <class F>
void
CheckNode(const QbbNode& node, F check)
{
    const std::string wrong = TryRust(check);
    NS_ABORT_MSG_UNLESS(wrong.empty(), node.Describe() << ": " << wrong);
}

/**
 * \brief End the program if a node differs from another one in what both must have the same.
 * \param node the node
 * \param first the other one; the same if there is no other
 * \param among which nodes must have it the same
 */
void
CheckPair(const QbbNode& node, const QbbNode& first, hpcc::Among among)
{
    const hpcc::Difference found = node.GetSettings().difference(first.GetSettings(), among);
    NS_ABORT_MSG_UNLESS(found.attribute.empty(),
                        node.Describe()
                            << " has " << std::string(found.attribute) << " "
                            << std::string(found.own) << ", and " << first.Describe() << " "
                            << std::string(found.other) << "; expected the same");
}

/**
 * \brief Say whether a node is an RDMA host.
 * \param node the node
 * \return whether it is
 */
bool
IsRdmaHost(const Ptr<QbbNode>& node)
{
    return DynamicCast<RdmaHost>(node) != nullptr;
}

} // namespace

void
CheckThatAttributesCount(const std::vector<Ptr<QbbNode>>& nodes, const hpcc::Network& network)
{
    for (const auto& node : nodes)
    {
        CheckNode(*node, [&] {
            const auto holder = node->IsSwitch() ? hpcc::Holder::Switch : hpcc::Holder::Host;
            hpcc::check_given(node->GetSettings(), network, holder);
            if (const auto agent = node->GetObject<FastCnpHost>())
            {
                hpcc::check_given(agent->GetSettings(), network, hpcc::Holder::FastCnpHost);
            }
            if (const auto agent = node->GetObject<FastCnpSwitch>())
            {
                hpcc::check_given(agent->GetSettings(), network, hpcc::Holder::FastCnpSwitch);
            }
        });
    }
}

void
CheckThatParametersCount(const std::vector<Ptr<QbbNode>>& nodes)
{
    // A helper sets parameters at all hosts: they count if any host runs their algorithm.
    std::set<std::string> names;
    for (const auto& node : nodes)
    {
        if (IsRdmaHost(node))
        {
            names.insert(std::string(node->GetSettings().algorithm()));
        }
    }
    const std::vector<rust::String> run(names.begin(), names.end());
    for (const auto& node : nodes)
    {
        if (IsRdmaHost(node))
        {
            CheckNode(*node, [&] {
                node->GetSettings().check_parameters({run.data(), run.size()});
            });
        }
    }
}

void
CheckThatNodesAgree(const std::vector<Ptr<QbbNode>>& nodes)
{
    const auto host = std::find_if(nodes.begin(), nodes.end(), IsRdmaHost);
    const auto answering = std::find_if(nodes.begin(), nodes.end(), [](const Ptr<QbbNode>& node) {
        return IsRdmaHost(node) && node->GetSettings().answers_telemetry();
    });
    const auto aSwitch = std::find_if(nodes.begin(), nodes.end(), [](const Ptr<QbbNode>& node) {
        return node->IsSwitch();
    });
    for (const auto& node : nodes)
    {
        CheckPair(*node, *nodes.front(), hpcc::Among::Nodes);
        if (node->IsSwitch())
        {
            CheckPair(*node, **aSwitch, hpcc::Among::Switches);
        }
        else if (IsRdmaHost(node))
        {
            CheckPair(*node, **host, hpcc::Among::Hosts);
            CheckPair(*node, answering == nodes.end() ? *node : **answering, hpcc::Among::Hosts);
        }
    }
}

void
CheckThatFastCnpIsWhole(const std::vector<Ptr<QbbNode>>& nodes)
{
    bool anySwitch = false;
    bool anySends = false;
    bool anyHost = false;
    bool anyAccepts = false;
    bool anyNotifies = false;
    for (const auto& node : nodes)
    {
        if (const auto agent = node->GetObject<FastCnpSwitch>())
        {
            anySwitch = true;
            anySends |= agent->IsEnabled();
        }
        if (const auto agent = node->GetObject<FastCnpHost>())
        {
            anyHost = true;
            // Also at hosts that are among the Incapable.
            anyAccepts |= agent->GetSettings().accepts_fast_cnp();
            anyNotifies |= agent->IsNotifying();
        }
    }
    NS_ABORT_MSG_IF(
        anySends && anyHost && !anyAccepts,
        "ns3::FastCnpSwitch::Enabled has no effect: ns3::FastCnpHost::Enabled is false at "
        "all hosts; set it, or, for hosts that do not understand notifications, "
        "Incapable of both");
    NS_ABORT_MSG_IF(
        anyAccepts && anySwitch && !anySends && !anyNotifies,
        "ns3::FastCnpHost::Enabled has no effect: ns3::FastCnpSwitch::Enabled is false at "
        "all switches");
}

void
CheckThatLinksAreServed(const std::vector<Ptr<QbbNode>>& nodes, const hpcc::Network& network)
{
    // Sockets of ns-3's stack get their congestion control later, and it may read no telemetry.
    const bool isRead = std::any_of(nodes.begin(), nodes.end(), IsRdmaHost);
    const rust::Box<hpcc::LinkRates> rates = network.link_rates();
    for (const auto& node : nodes)
    {
        CheckNode(*node, [&] {
            if (node->IsSwitch())
            {
                network.check_switch(node->GetIndex(), node->GetSettings(), isRead);
            }
            if (node->IsSwitch() || IsRdmaHost(node))
            {
                rates->check_node(node->GetSettings(), node->IsSwitch());
            }
        });
    }
}

void
FreezeNodes(const std::vector<Ptr<QbbNode>>& nodes)
{
    for (const auto& node : nodes)
    {
        node->Freeze();
        if (const auto agent = node->GetObject<FastCnpHost>())
        {
            agent->Freeze();
        }
        if (const auto agent = node->GetObject<FastCnpSwitch>())
        {
            agent->Freeze();
        }
    }
}

} // namespace ns3
