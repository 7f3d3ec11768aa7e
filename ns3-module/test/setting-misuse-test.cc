/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What programs must not set of nodes, controllers, Fast CNP and attacks.
#include "hpcc-tests.h"

#include "ns3/attack-helper.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/enum.h"
#include "ns3/node.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/string.h"

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \brief Start a network that has Fast CNP at one side only.
 * \param switches whether switches send notifications
 * \param hosts whether hosts accept them
 */
void
StartWithFastCnp(bool switches, bool hosts)
{
    TestNetwork network;
    network.helper.SetWireProfile("rocev2_ipv6");
    network.SetControl("hpcc_plus");
    network.helper.SetFastCnpSwitchAttribute("Enabled", BooleanValue(switches));
    network.helper.SetFastCnpHostAttribute("Enabled", BooleanValue(hosts));
    network.MakeStar(2);
    network.helper.Start();
}

/// Build a network whose hosts alone have another layout of telemetry.
void
DisagreeOnTelemetry()
{
    QbbHelper helper;
    helper.SetHostAttribute("TelemetryLayout", StringValue("draft"));
    NodeContainer hosts(2);
    NodeContainer center(1);
    helper.InstallHosts(hosts);
    helper.InstallSwitches(center);
    for (uint32_t host = 0; host < 2; ++host)
    {
        helper.Link(hosts.Get(host), center.Get(0), DataRate("100Gbps"), MicroSeconds(1));
    }
    helper.Start();
}

/**
 * \brief Start a network with a slow host.
 * \param name an attribute of that host besides
 * \param value its value
 */
void
StartWithSlowHost(const std::string& name, const std::string& value)
{
    TestNetwork network;
    network.MakeStar(2);
    const auto host = network.helper.GetHost(0);
    host->SetAttribute("ReceiveSlow", StringValue("hosts"));
    host->SetAttribute(name, StringValue(value));
    network.helper.Start();
}

/// \return whether the program has ns-3's internet stack
bool
HasTcp()
{
    TypeId tid;
    return TypeId::LookupByNameFailSafe("ns3::TcpCongestionOps", &tid);
}

} // namespace

TestCases
MakeSettingMisuseTests()
{
    return {
        MakeMisuseTest(
            "a setting by a value of a type that no setting has",
            []() { QbbHelper().SetHostAttribute("CongestionControl", EnumValue(1)); },
            "attribute CongestionControl: no setting is set by a value of this type"),
        MakeMisuseTest(
            "a number by such a value",
            []() { QbbHelper().SetHostAttribute("HpccEta", EnumValue(1)); },
            "attribute HpccEta: no setting is set by a value of this type"),
        MakeMisuseTest("hosts and switches with different layouts of telemetry",
                       DisagreeOnTelemetry,
                       "switch 2 has the telemetry layout \"paper\", and host 0 \"draft\""),
        MakeMisuseTest(
            "a congestion control that there is not",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("hpc")); },
            "the value is \"hpc\"; expected one of \"hpcc\", "),
        MakeMisuseTest(
            "a congestion control that may be a class",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("hpc")); },
            ", or the name of a class derived from ns3::RdmaCongestionOps"),
        MakeMisuseTest(
            "a class that there is not",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("ns3::Nope")); },
            "no class ns3::Nope is registered"),
        MakeMisuseTest(
            "a class of TCP that there is not, perhaps without all of TCP",
            []() {
                QbbHelper().SetHostAttribute("CongestionControl", StringValue("ns3::TcpNope"));
            },
            HasTcp() ? "no class ns3::TcpNope is registered"
                     : "those of TCP are in ns-3's internet stack, which this simulator was built "
                       "without: HPCC_TCP=1 ./hpcc build"),
        MakeMisuseTest(
            "a class that controls nothing",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("ns3::Node")); },
            "ns3::Node is not derived from ns3::RdmaCongestionOps"),
        MakeMisuseTest(
            "a class that cannot be made",
            []() {
                TypeId("ns3::tests::Unmakeable").SetParent<RdmaCongestionOps>();
                QbbHelper().SetHostAttribute("CongestionControl",
                                             StringValue("ns3::tests::Unmakeable"));
            },
            "the TypeId of ns3::tests::Unmakeable has no AddConstructor()"),
        MakeMisuseTest(
            "a layout of telemetry that there is not",
            []() { QbbHelper().SetTelemetry("papre"); },
            "\"paper\""),
        MakeMisuseTest(
            "notifications that no host accepts",
            []() { StartWithFastCnp(true, false); },
            "ns3::FastCnpSwitch::Enabled has no effect: ns3::FastCnpHost::Enabled is false at all"),
        MakeMisuseTest(
            "hosts that wait for notifications of switches that send none",
            []() { StartWithFastCnp(false, true); },
            "ns3::FastCnpHost::Enabled has no effect: ns3::FastCnpSwitch::Enabled is false at all"),
        MakeMisuseTest(
            "a border of Fast CNP after the start",
            WithNetwork(true, [](TestNetwork& network) { network.helper.SetFastCnpBorder(2, 0); }),
            "set borders before Start()"),
        MakeMisuseTest(
            "a border of Fast CNP where frames have no bytes",
            WithNetwork(false,
                        [](TestNetwork& network) {
                            network.helper.SetFastCnpBorder(2, 0);
                            network.helper.Start();
                        }),
            "node 2 is a border of Fast CNP (SetFastCnpBorder()), whose packets are IPv6; "
            "the wire profile is \"reference\"; expected \"rocev2_ipv6\""),
        MakeMisuseTest("an attack that there is not",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto attack =
                                           AttackHelper("forged").Install(network.hosts.Get(0),
                                                                          network.helper);
                                   }),
                       "kind: the value is \"forged\"; expected one of \"forged_fast_cnp\""),
        MakeMisuseTest("an attack before the start",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       const auto attack =
                                           AttackHelper("tampered_feedback")
                                               .Install(network.hosts.Get(0), network.helper);
                                   }),
                       "an attack comes after QbbHelper::Start()"),
        MakeMisuseTest("an attack by a node of another network",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       TestNetwork other;
                                       other.MakeStar(2);
                                       const auto attack =
                                           AttackHelper("tampered_feedback")
                                               .Install(other.hosts.Get(0), network.helper);
                                   }),
                       "is neither host nor switch of this network"),
        MakeMisuseTest(
            "a fault that the reference has not",
            []() { QbbHelper().SetReferenceFaults("lossy"); },
            "lossy_pfc"),
        MakeMisuseTest(
            "a slow host that is as fast as its link",
            []() { StartWithSlowHost("ReceiveRate", "100Gbps"); },
            "from 0 to 2, brings no more than 100Gbps; expected less than that"),
        MakeMisuseTest(
            "a slow host whose NIC has no room for what comes after a pause",
            []() { StartWithSlowHost("ReceiveBuffer", "20KB"); },
            "the NIC of a slow host has room for 20000 bytes"),
        MakeMisuseTest(
            "a switch as a slow host",
            []() { StartWithSlowHost("ReceiveSlow", "2"); },
            "node 2 is a switch; expected hosts"),
    };
}

} // namespace tests
} // namespace ns3
