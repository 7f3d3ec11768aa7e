/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What programs must not do with flows and the applications that send them.
#include "hpcc-tests.h"

#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-client-helper.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \brief Start a flow from a host of one network to one of another.
 * \param network the first
 */
void
LeaveNetwork(TestNetwork& network)
{
    TestNetwork other;
    other.MakeStar(2);
    other.helper.Start();
    RdmaFlow flow;
    flow.size = 1;
    network.helper.GetHost(0)->StartFlow(other.helper.GetHost(1), flow, RdmaHost::FlowCallback());
}

/**
 * \brief Start a flow.
 * \param network its network
 * \param flow the flow
 */
void
StartFlow(TestNetwork& network, const RdmaFlow& flow)
{
    network.helper.GetHost(0)->StartFlow(network.helper.GetHost(1), flow, RdmaHost::FlowCallback());
}

/// Start a flow whose receiver answers in a priority of its own.
void
WithUnlikeAnswers()
{
    TestNetwork network;
    network.MakeStar(2);
    network.helper.GetHost(1)->SetAttribute("AckPriority", UintegerValue(5));
    network.helper.Start();
    RdmaFlow flow;
    flow.size = 1;
    StartFlow(network, flow);
}

/**
 * \brief Start a flow of hosts that have one attribute.
 * \param attribute its name
 * \param value its value
 */
void
WithHosts(const std::string& attribute, const std::string& value)
{
    TestNetwork network;
    network.helper.SetHostAttribute(attribute, StringValue(value));
    network.MakeStar(2);
    network.helper.Start();
    network.AddFlow(0, 1, 1000);
    Simulator::Run();
}

/// Start a flow that passes more switches than telemetry has room for.
void
PassManySwitches()
{
    TestNetwork network;
    network.helper.SetHostAttribute("TelemetryLayout", StringValue("reference"));
    network.MakeChain(6);
    network.helper.Start();
    network.AddFlow(0, 1, 1'000'000);
    Simulator::Run();
}

/// Start a network whose hosts send probes faster than links do.
void
FillLinksWithProbes()
{
    TestNetwork network;
    network.helper.SetHostAttribute("TelemetryPackets", StringValue("probes"));
    network.helper.SetHostAttribute("BaseRtt", StringValue("10ns"));
    network.MakeStar(2);
    network.helper.Start();
}

} // namespace

TestCases
MakeFlowMisuseTests()
{
    const auto run = [](TestNetwork& network) {
        network.AddFlow(0, 1, 1000);
        Simulator::Run();
    };
    RdmaFlow empty;
    RdmaFlow urgent;
    urgent.size = 1;
    urgent.priority = 8;
    RdmaFlow other;
    other.size = 1;
    other.priority = 4;
    return {
        MakeMisuseTest("a flow in a network that was not started",
                       WithNetwork(false, run),
                       "host 0 is not part of a running network: call QbbHelper::Start()"),
        MakeMisuseTest("a flow to a host of another network",
                       WithNetwork(true, LeaveNetwork),
                       ", is part of another network than host 0, which is node "),
        MakeMisuseTest(
            "an empty flow",
            WithNetwork(true, [empty](TestNetwork& network) { StartFlow(network, empty); }),
            "at least 1 byte"),
        MakeMisuseTest(
            "a flow of a priority that there is not",
            WithNetwork(true, [urgent](TestNetwork& network) { StartFlow(network, urgent); }),
            "priority 8; expected 0 to 7"),
        MakeMisuseTest(
            "a flow of a priority for which switches keep no memory",
            WithNetwork(true, [other](TestNetwork& network) { StartFlow(network, other); }),
            "the flow has priority 4, for which switches keep no memory; expected 4 beside 3"),
        MakeMisuseTest("acknowledgements of a priority for which switches keep no memory",
                       WithUnlikeAnswers,
                       "its acknowledgements have priority 5, for which switches keep no memory"),
        MakeMisuseTest("a frame of a priority for which switches keep no memory",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto host = network.helper.GetHost(0);
                                       QbbFrame* frame = host->NewFrame();
                                       frame->priority = 6;
                                       host->Send(frame);
                                   }),
                       "the frame has priority 6, for which switches keep no memory"),
        MakeMisuseTest(
            "a flow that collects no telemetry",
            []() { WithHosts("TelemetryPackets", "none"); },
            "attribute TelemetryPackets: packets = \"none\" leaves hpcc without "
            "telemetry, and so without any control"),
        MakeMisuseTest(
            "a flow whose telemetry does not come back",
            []() { WithHosts("TelemetryAnswer", "none"); },
            "attribute TelemetryAnswer: answer = \"none\" leaves hpcc without telemetry"),
        MakeMisuseTest("a flow over six switches with room for five",
                       PassManySwitches,
                       "reports 5 switches, and a flow passes 6, which leaves hpcc without "
                       "telemetry"),
        MakeMisuseTest("the rate of a flow that there never was",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.AddFlow(0, 1, 1000);
                                       network.helper.GetHost(0)->GetRate(7);
                                   }),
                       "host 0 has had no flow with the queue pair 7"),
        MakeMisuseTest(
            "the time that a flow to a switch takes",
            WithNetwork(true,
                        [](TestNetwork& network) { network.helper.GetStandaloneFct(0, 2, 1000); }),
            "node 2 is no host, and flows are between hosts"),
        MakeMisuseTest(
            "probes that fill links",
            FillLinksWithProbes,
            "attribute BaseRtt: T is 10 ns, and probes so often would leave data no room"),
        MakeMisuseTest("an RdmaClient without a peer",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.hosts.Get(1)->AddApplication(
                                           CreateObject<RdmaClient>());
                                       Simulator::Run();
                                   }),
                       "has no peer: call SetPeer()"),
        MakeMisuseTest(
            "a flow that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.GetHost(0)->GetFlow(7); }),
            "no flow with the queue pair 7"),
        MakeMisuseTest(
            "no node for an application",
            []() {
                RdmaClientHelper(CreateObject<Node>()).Install(NodeContainer(Ptr<Node>(nullptr)));
            },
            "a null pointer is no node"),
        MakeMisuseTest(
            "a peer by a name that none has",
            []() { RdmaClientHelper("zz"); },
            "no node has the name \"zz\""),
        MakeMisuseTest("a flow from a host to itself",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.AddFlow(1, 1, 1000);
                                       Simulator::Run();
                                   }),
                       "host 1 cannot send to itself"),
        MakeMisuseTest("an application that starts before the simulation does",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.AddFlow(0, 1, 1000, NanoSeconds(-10));
                                       Simulator::Run();
                                   }),
                       "is to start at -10 ns"),
        MakeMisuseTest(
            "an application whose flow cannot be paused",
            []() { CreateObject<RdmaClient>()->SetPriority(0); },
            "an RdmaClient cannot have the priority 0; expected 1 to 7"),
        MakeMisuseTest(
            "a flow of no bytes",
            []() { ObjectFactory("ns3::RdmaClient", "Size", UintegerValue(0)).Create(); },
            "hpcc: attribute Size: the value is 0; expected a whole number from 1 to "),
        MakeMisuseTest(
            "a flow of a priority that there is not",
            []() { ObjectFactory("ns3::RdmaClient", "Priority", UintegerValue(9)).Create(); },
            "hpcc: attribute Priority: the value is 9; expected a whole number from 1 to 7"),
        MakeMisuseTest(
            "the same as text",
            []() { ObjectFactory("ns3::RdmaClient", "Priority", StringValue("0")).Create(); },
            "hpcc: attribute Priority: the value is 0; expected a whole number from 1 to 7"),
        MakeMisuseTest(
            "no frame",
            WithNetwork(true,
                        [](TestNetwork& network) { network.helper.GetHost(0)->Send(nullptr); }),
            "a null pointer is no frame"),
        MakeMisuseTest("another size of a flow that has started",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto flow = network.AddFlow(0, 1, 100'000);
                                       Simulator::Schedule(MicroSeconds(1), [flow]() {
                                           flow->SetAttribute("Size", UintegerValue(1));
                                       });
                                       Simulator::Run();
                                   }),
                       "has started: its Size cannot change any more"),
        MakeMisuseTest("another size of a flow whose network is no more",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto flow = network.AddFlow(0, 1, 1000);
                                       Simulator::Run();
                                       Simulator::Destroy();
                                       flow->SetSize(1);
                                   }),
                       "the flow of a disposed RdmaClient has started: its Size cannot change"),
        MakeMisuseTest("another peer of a flow that has started",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto flow = network.AddFlow(0, 1, 100'000);
                                       Simulator::Run();
                                       flow->SetPeer(network.hosts.Get(0));
                                   }),
                       "has started: its Peer cannot change any more"),
    };
}

} // namespace tests
} // namespace ns3
