/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-fast-cnp.h"

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-helper.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/nstime.h"
#include "ns3/qbb-node.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/**
 * \brief Set the attributes of switches.
 * \param fastCnp the settings
 * \param network the network
 */
void
SetSwitches(const hpcc::FastCnpParameters& fastCnp, QbbHelper& network)
{
    const hpcc::FastCnpSwitchParameters& p = fastCnp.switches;
    network.SetFastCnpSwitchAttribute("Enabled", BooleanValue(p.enabled));
    network.SetFastCnpSwitchAttribute("Trigger", StringValue(std::string(p.trigger)));
    network.SetFastCnpSwitchAttribute("Kmin", UintegerValue(fastCnp.kmin_bytes));
    network.SetFastCnpSwitchAttribute("Kmax", UintegerValue(fastCnp.kmax_bytes));
    network.SetFastCnpSwitchAttribute("Pmax", DoubleValue(fastCnp.pmax));
    network.SetFastCnpSwitchAttribute("Bound", DoubleValue(p.bound));
    network.SetFastCnpSwitchAttribute("FlowInterval", TimeValue(NanoSeconds(p.flow_interval_ns)));
    network.SetFastCnpSwitchAttribute("PortInterval", TimeValue(NanoSeconds(p.port_interval_ns)));
    network.SetFastCnpSwitchAttribute("PortBurst", UintegerValue(p.port_burst));
    network.SetFastCnpSwitchAttribute("MarkUnknown", BooleanValue(p.mark_unknown));
    network.SetFastCnpSwitchAttribute("Domain", StringValue(std::string(p.domain)));
    network.SetFastCnpSwitchAttribute("Capable", StringValue(std::string(p.capable)));
    network.SetFastCnpSwitchAttribute("OptionType", UintegerValue(p.option_type));
    network.SetFastCnpSwitchAttribute("TraceOptionType", UintegerValue(p.trace_option_type));
}

/**
 * \brief Set the attributes of hosts.
 * \param p the settings
 * \param network the network
 */
void
SetHosts(const hpcc::FastCnpHostParameters& p, QbbHelper& network)
{
    network.SetFastCnpHostAttribute("Enabled", BooleanValue(p.enabled));
    network.SetFastCnpHostAttribute("AcceptFrom", StringValue(std::string(p.accept_from)));
    network.SetFastCnpHostAttribute("AcceptInterval", TimeValue(NanoSeconds(p.accept_interval_ns)));
    network.SetFastCnpHostAttribute("OptionType", UintegerValue(p.option_type));
    network.SetFastCnpHostAttribute("TraceOptionType", UintegerValue(p.trace_option_type));
    network.SetFastCnpHostAttribute("Detour", BooleanValue(p.detour));
    network.SetFastCnpHostAttribute("DetourAfter", UintegerValue(p.detour_after));
    network.SetFastCnpHostAttribute("DetourWithin", TimeValue(NanoSeconds(p.detour_within_ns)));
    network.SetFastCnpHostAttribute("DetourHold", TimeValue(NanoSeconds(p.detour_hold_ns)));
    network.SetFastCnpHostAttribute("DetourMaxHold", TimeValue(NanoSeconds(p.detour_max_hold_ns)));
}

/**
 * \brief Add what happened at a node.
 * \param sum the sum over nodes
 * \param node what happened at one
 */
void
Add(hpcc::FastCnpCounters& sum, const hpcc::FastCnpCounters& node)
{
    sum.sent += node.sent;
    sum.unmarked += node.unmarked;
    sum.learnt += node.learnt;
    sum.dropped_inbound += node.dropped_inbound;
    sum.dropped_outbound += node.dropped_outbound;
    sum.accepted += node.accepted;
    sum.detours += node.detours;
    sum.reports += node.reports;
    for (std::size_t reason = 0; reason < sum.withheld.size(); ++reason)
    {
        sum.withheld[reason] += node.withheld[reason];
    }
    for (std::size_t reason = 0; reason < sum.refused.size(); ++reason)
    {
        sum.refused[reason] += node.refused[reason];
    }
}

} // namespace

void
SetFastCnpAttributes(const hpcc::Scenario& scenario, QbbHelper& network)
{
    const hpcc::FastCnpParameters fastCnp = scenario.fast_cnp();
    SetSwitches(fastCnp, network);
    SetHosts(fastCnp.hosts, network);
}

void
SetFastCnpNodes(const hpcc::Scenario& scenario, const QbbHelper& network)
{
    const hpcc::FastCnpParameters fastCnp = scenario.fast_cnp();
    for (const uint32_t host : fastCnp.incapable)
    {
        network.GetNode(host)->GetObject<FastCnpHost>()->SetAttribute("Enabled", BooleanValue(false));
    }
    for (const auto& border : fastCnp.borders)
    {
        network.SetFastCnpBorder(border.node, border.outside);
    }
}

void
CountFastCnps(const hpcc::Scenario& scenario, const QbbHelper& network, hpcc::RunTotals& totals)
{
    totals.fast_cnp_on = scenario.fast_cnp().is_on;
    for (uint32_t index = 0; index < network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = network.GetNode(index);
        if (const auto aSwitch = node->GetObject<FastCnpSwitch>())
        {
            Add(totals.fast_cnp, aSwitch->GetCounters());
        }
        else if (const auto host = node->GetObject<FastCnpHost>())
        {
            Add(totals.fast_cnp, host->GetCounters());
        }
    }
}

} // namespace ns3
