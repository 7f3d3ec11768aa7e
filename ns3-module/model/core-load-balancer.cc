/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "core-load-balancer.h"

#include "controller-call.h"
#include "ns3-bridge/src/load_balancer.rs.h"
#include "stop-run.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hpcc
{

namespace
{

/// Made, and not yet given to their switches.
std::vector<ns3::Ptr<ns3::QbbLoadBalancer>> g_made;

} // namespace

CoreLoadBalancer::CoreLoadBalancer(ns3::Ptr<ns3::QbbLoadBalancer> balancer, uint32_t index)
    : m_balancer(std::move(balancer))
{
    m_balancer->m_switch = index;
}

uint16_t
CoreLoadBalancer::choose(const BalancerChoice& choice,
                         rust::Slice<const BalancerHop> hops,
                         Draws& draws)
{
    m_choice.now = ns3::NanoSeconds(choice.now_ns);
    m_choice.dst = choice.dst;
    m_choice.srcAddress = choice.src_address;
    m_choice.dstAddress = choice.dst_address;
    m_choice.sport = choice.sport;
    m_choice.dport = choice.dport;
    m_choice.priority = choice.priority;
    m_choice.hops.clear();
    for (const BalancerHop& hop : hops)
    {
        m_choice.hops.push_back(
            {hop.port, hop.queued_bytes, ns3::DataRate(hop.rate_bps), hop.is_paused});
    }
    m_balancer->m_draws = &draws;
    const ns3::ControllerCall call(choice.now_ns);
    const uint16_t port = m_balancer->Choose(m_choice);
    m_balancer->m_draws = nullptr;
    const auto isPort = [port](const BalancerHop& hop) { return hop.port == port; };
    if (std::none_of(hops.begin(), hops.end(), isPort))
    {
        ns3::StopRun(m_balancer->GetInstanceTypeId().GetName() + " has chosen port " +
                     std::to_string(port) + " of switch " +
                     std::to_string(m_balancer->GetSwitch()) +
                     ", which is on no shortest path; expected the port of one of Choice::hops");
        return hops.front().port;
    }
    return port;
}

bool
is_load_balancer(rust::Str name)
{
    ns3::TypeId tid;
    return ns3::TypeId::LookupByNameFailSafe(std::string(name), &tid) &&
           tid.IsChildOf(ns3::QbbLoadBalancer::GetTypeId()) && tid.HasConstructor();
}

rust::String
why_no_load_balancer(rust::Str name)
{
    const std::string text(name);
    ns3::TypeId tid;
    if (!ns3::TypeId::LookupByNameFailSafe(text, &tid))
    {
        return "no class " + text +
               " is registered: look at its spelling, and for its NS_OBJECT_ENSURE_REGISTERED()";
    }
    if (!tid.IsChildOf(ns3::QbbLoadBalancer::GetTypeId()))
    {
        return text + " is not derived from " + ns3::QbbLoadBalancer::GetTypeId().GetName();
    }
    return "the TypeId of " + text + " has no AddConstructor()";
}

std::unique_ptr<CoreLoadBalancer>
new_load_balancer(rust::Str name, rust::Slice<const rust::String> attributes, uint32_t switchIndex)
{
    ns3::ObjectFactory factory;
    factory.SetTypeId(std::string(name));
    for (std::size_t index = 0; index + 1 < attributes.size(); index += 2)
    {
        factory.Set(std::string(attributes[index]),
                    ns3::StringValue(std::string(attributes[index + 1])));
    }
    const auto balancer = factory.Create<ns3::QbbLoadBalancer>();
    g_made.push_back(balancer);
    return std::make_unique<CoreLoadBalancer>(balancer, switchIndex);
}

std::vector<ns3::Ptr<ns3::QbbLoadBalancer>>
TakeLoadBalancers()
{
    return std::exchange(g_made, {});
}

} // namespace hpcc
