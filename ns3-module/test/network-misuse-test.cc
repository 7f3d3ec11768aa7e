/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What programs must not do with nodes, devices and links.
#include "hpcc-tests.h"

#include "ns3/data-rate.h"
#include "ns3/mac64-address.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-flow-results.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \param network a network
 * \return its switch
 */
Ptr<QbbSwitch>
GetSwitch(TestNetwork& network)
{
    return network.switches.Get(0)->GetObject<QbbSwitch>();
}

} // namespace

TestCases
MakeNetworkMisuseTests()
{
    const auto end = [](TestNetwork& network) {
        Simulator::Destroy();
        network.helper.TakeLinkDown(0, 2);
    };
    return {
        MakeMisuseTest(
            "a link that fails before the start",
            WithNetwork(false, [](TestNetwork& network) { network.helper.TakeLinkDown(0, 2); }),
            "call QbbHelper::Start() first"),
        MakeMisuseTest("a link that fails after the end",
                       WithNetwork(true, end),
                       "Simulator::Destroy() has ended it"),
        MakeMisuseTest(
            "a link of a node that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.TakeLinkDown(0, 9); }),
            "there is no node 9 in this network, which has 3"),
        MakeMisuseTest(
            "a link that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.TakeLinkDown(0, 1); }),
            "there is no link from host 0 to host 1"),
        MakeMisuseTest("a link that comes up before it can have failed",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.TakeLinkDown(0, 2);
                                       network.helper.SetLinkUp(network.hosts.Get(0),
                                                                network.switches.Get(0));
                                   }),
                       "cannot come up +0ns after it failed; expected at least +1800ns"),
        MakeMisuseTest("a device of another network",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       TestNetwork other;
                                       other.MakeStar(2);
                                       network.helper.TakeLinkDown(other.links[0]);
                                   }),
                       "no link of this network ends at"),
        MakeMisuseTest(
            "a node by a name that none has",
            WithNetwork(true, [](TestNetwork& network) { network.helper.GetHost("nobody"); }),
            "no node has the name \"nobody\""),
        MakeMisuseTest("a switch for a host",
                       WithNetwork(true, [](TestNetwork& network) { network.helper.GetHost(2); }),
                       "switch 2 is no RdmaHost"),
        MakeMisuseTest(
            "a port that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.GetNode(0)->GetPort(1); }),
            "node 0 has no port 1; it has 1"),
        MakeMisuseTest(
            "a queue of a switch's port that there is not",
            WithNetwork(true, [](TestNetwork& network) { GetSwitch(network)->GetQueuedBytes(77); }),
            "node 2 has no port 77; it has 2"),
        MakeMisuseTest(
            "what a port that there is not has sent",
            WithNetwork(true, [](TestNetwork& network) { GetSwitch(network)->GetSentBytes(77); }),
            "node 2 has no port 77; it has 2"),
        MakeMisuseTest("a queue of a switch that is no more",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto aSwitch = GetSwitch(network);
                                       Simulator::Destroy();
                                       aSwitch->GetQueuedBytes(0);
                                   }),
                       "switch 2 is no more: Simulator::Destroy() has ended it"),
        MakeMisuseTest(
            "a link by a place that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.SetLinks({77}, false); }),
            "there is no link 77 in this network, which has 2"),
        MakeMisuseTest(
            "a link that comes up and that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.SetLinks({77}, true); }),
            "there is no link 77 in this network, which has 2"),
        MakeMisuseTest(
            "a queue of a device that there is not",
            WithNetwork(true,
                        [](TestNetwork& network) { network.GetHostDevice(0)->GetQueuedBytes(8); }),
            "no queue, 8; expected 0 to 7"),
        MakeMisuseTest("a frame for a queue that there is not",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       QbbFrame* frame = network.helper.GetHost(0)->NewFrame();
                                       network.GetHostDevice(0)->Enqueue(frame, 9);
                                   }),
                       "no queue, 9; expected 0 to 7"),
        MakeMisuseTest(
            "a priority of a device that there is not",
            WithNetwork(true,
                        [](TestNetwork& network) { network.GetHostDevice(0)->GetPausedTime(9); }),
            "no priority, and no queue, 9; expected 0 to 7"),
        MakeMisuseTest(
            "the far end of a device without a link",
            []() { CreateObject<QbbNetDevice>()->GetPeer(); },
            "a device has no link"),
        MakeMisuseTest(
            "a packet by a device that is no port",
            []() { CreateObject<QbbNetDevice>()->Send(Create<Packet>(), Address(), 0x0800); },
            "a device is no port of a host or switch"),
        MakeMisuseTest("a device's node after the end",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto device = network.GetHostDevice(0);
                                       Simulator::Destroy();
                                       device->GetOwner();
                                   }),
                       "Simulator::Destroy() has ended the network"),
        MakeMisuseTest("frames counted after the end",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.GetTxFrames();
                                   }),
                       "Simulator::Destroy() has ended it"),
        MakeMisuseTest(
            "results of a network that was not started",
            WithNetwork(false, [](TestNetwork& network) { RdmaFlowResults(network.helper); }),
            "call QbbHelper::Start() first"),
        MakeMisuseTest(
            "nodes by a factory of something else",
            []() { QbbHelper().Install(NodeContainer(1), ObjectFactory("ns3::QbbNetDevice")); },
            "by a factory of a QbbNode, such as ns3::RdmaHost, not ns3::QbbNetDevice"),
        MakeMisuseTest(
            "nodes by a factory of nothing",
            []() { QbbHelper().Install(NodeContainer(1), ObjectFactory()); },
            "not by one without a type"),
        MakeMisuseTest(
            "no node as a host",
            []() { QbbHelper().InstallHosts(NodeContainer(Ptr<Node>(nullptr))); },
            "a null pointer is no node"),
        MakeMisuseTest("no device of a link",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.TakeLinkDown(
                                           NetDeviceContainer(Ptr<NetDevice>(nullptr)));
                                   }),
                       "a null pointer is no device"),
        MakeMisuseTest("a link without a rate",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.helper.Link(network.hosts.Get(0),
                                                           network.hosts.Get(1),
                                                           DataRate(0),
                                                           Time(0));
                                   }),
                       "above 0 b/s"),
        MakeMisuseTest("a link from a node to itself",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.Link(network.hosts.Get(0), network.hosts.Get(0));
                                   }),
                       "cannot be linked to itself"),
        MakeMisuseTest("a link after the start",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.Link(network.hosts.Get(0), network.hosts.Get(1));
                                   }),
                       "cannot be linked after Start()"),
        MakeMisuseTest("a second start",
                       WithNetwork(true, [](TestNetwork& network) { network.helper.Start(); }),
                       "started already"),
        MakeMisuseTest("a loss above 1",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.SetLoss(network.links[0], 1.5, 1);
                                   }),
                       "probability 1.5; expected 0 to 1"),
        MakeMisuseTest("a loss at no device",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.SetLoss(NetDeviceContainer(), 0.5, 1);
                                   }),
                       "SetLoss() is given no device"),
        MakeMisuseTest(
            "streams that are chosen after the start",
            WithNetwork(true, [](TestNetwork& network) { network.helper.UseStreamsAlone(); }),
            "random streams are in use: choose them before Start()"),
        MakeMisuseTest(
            "an address of another kind",
            []() { CreateObject<QbbNetDevice>()->SetAddress(Mac64Address::Allocate()); },
            "expected a Mac48Address"),
        MakeMisuseTest("losses after the end",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.SetLoss(network.links[0], 0.1, 1);
                                   }),
                       "Simulator::Destroy() has ended the network"),
        MakeMisuseTest("a start after the end",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.Start();
                                   }),
                       "the network is no more: Simulator::Destroy() has ended it"),
        MakeMisuseTest("a link after the end",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.Link(0, 1, DataRate("100Gbps"), Time(0));
                                   }),
                       "the network is no more: Simulator::Destroy() has ended it"),
        MakeMisuseTest("more hosts after the end",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.InstallHosts(NodeContainer(1));
                                   }),
                       "the network is no more: Simulator::Destroy() has ended it"),
        MakeMisuseTest("no link that fails",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.TakeLinkDown(NetDeviceContainer());
                                   }),
                       "a container without a device names no link"),
        MakeMisuseTest(
            "a switch by a name that none has",
            []() { QbbHelper().InstallSwitches("nobody"); },
            "no node has the name \"nobody\""),
    };
}

} // namespace tests
} // namespace ns3
