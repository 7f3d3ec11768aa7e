/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "../../test/hpcc-tests.h"
#include "tcp-test-network.h"

#include "ns3/address.h"
#include "ns3/boolean.h"
#include "ns3/datagram-client-helper.h"
#include "ns3/datagram-client.h"
#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Two hosts with stacks, linked to each other.
struct StackPair
{
    /// Make and link them, with stacks that have no addresses yet.
    StackPair()
    {
        nodes.Create(2);
        hosts.Install(nodes, network);
        devices = network.Link(0, 1, DataRate("25Gbps"), MicroSeconds(1));
        InternetStackHelper().Install(nodes);
    }

    /**
     * \brief Let host 0 send datagrams to host 1 for a millisecond, by the addresses that stand for
     * them.
     * \return what sends them
     */
    Ptr<DatagramClient> Send()
    {
        const Ipv4Address to = nodes.Get(1)->GetObject<PacketHost>()->GetAddress();
        const DatagramClientHelper clients(InetSocketAddress(to, 9));
        const ApplicationContainer applications = clients.Install(nodes);
        applications.Get(1)->SetStartTime(Seconds(1));
        Simulator::Stop(MilliSeconds(1));
        return DynamicCast<DatagramClient>(applications.Get(0));
    }

    NodeContainer nodes;        //!< the nodes
    QbbHelper network;          //!< links them
    PacketHostHelper hosts;     //!< makes them hosts
    NetDeviceContainer devices; //!< both ends of the link
};

/**
 * \brief Expect a message from what a program does with hosts whose traffic is their stacks'.
 * \param what what is done wrong
 * \param misuse does it
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseWithStacks(const std::string& what,
                 const std::function<void(StackPair&)>& misuse,
                 const std::string& reason)
{
    const auto inProcess = [misuse]() {
        StackPair pair;
        misuse(pair);
    };
    return MakeMisuseTest(what, inProcess, reason);
}

/**
 * \brief Start two hosts, let one send, and change something of what sends.
 * \param change changes it
 * \return what does so
 */
std::function<void(StackPair&)>
WhileSending(const std::function<void(DatagramClient&)>& change)
{
    return [change](StackPair& pair) {
        pair.hosts.AssignAddresses(pair.nodes);
        pair.network.Start();
        const Ptr<DatagramClient> client = pair.Send();
        Simulator::Schedule(MicroSeconds(100), [change, client]() { change(*client); });
        Simulator::Run();
    };
}

} // namespace

std::vector<TestCase*>
MakeStackMisuseTests()
{
    return {
        RefuseWithStacks(
            "datagrams in a network that was not started",
            [](StackPair& pair) {
                pair.hosts.AssignAddresses(pair.nodes);
                pair.Send();
                Simulator::Run();
            },
            "host 0 is not part of a running network: call QbbHelper::Start()"),
        RefuseWithStacks(
            "a packet in a network that was not started",
            [](StackPair& pair) {
                pair.hosts.AssignAddresses(pair.nodes);
                const auto socket =
                    Socket::CreateSocket(pair.nodes.Get(0), UdpSocketFactory::GetTypeId());
                const auto host = pair.nodes.Get(1)->GetObject<PacketHost>();
                socket->SendTo(Create<Packet>(10), 0, InetSocketAddress(host->GetAddress(), 9));
            },
            "host 0 is not part of a running network: call QbbHelper::Start()"),
        RefuseWithStacks(
            "an address to which no way leads",
            [](StackPair& pair) {
                Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(pair.devices);
                pair.network.Start();
            },
            "host 0 has an address to which no way leads; PacketHostHelper assigns those that "
            "stand for hosts. It is 10.1.1.1"),
        RefuseWithStacks(
            "an IPv6 address to which no way leads",
            [](StackPair& pair) {
                Ipv6AddressHelper(Ipv6Address("2001:db8::"), Ipv6Prefix(64)).Assign(pair.devices);
                pair.network.Start();
            },
            "host 0 has an address to which no way leads"),
        RefuseWithStacks(
            "IPv6 addresses after the start",
            [](StackPair& pair) {
                pair.network.Start();
                pair.hosts.AssignIpv6Addresses(pair.nodes);
            },
            "assign IPv6 addresses before QbbHelper::Start()"),
        RefuseWithStacks(
            "packets that IP cannot go by",
            [](StackPair& pair) {
                pair.devices.Get(0)->SetMtu(30);
                pair.network.Start();
            },
            "host 0 has a device with an Mtu of 30; expected at least 68"),
        RefuseWithStacks("another destination of datagrams under way",
                         WhileSending([](DatagramClient& client) {
                             client.SetAttribute("Remote", AddressValue(Address()));
                         }),
                         "has started, and another Remote comes too late"),
        RefuseWithStacks("another size of datagrams under way",
                         WhileSending([](DatagramClient& client) {
                             client.SetAttribute("PacketSize", UintegerValue(100));
                         }),
                         "has started, and another PacketSize comes too late"),
        RefuseWithStacks(
            "datagrams of nothing",
            [](StackPair&) { CreateObject<DatagramClient>()->SetPacketSize(0); },
            "a datagram cannot have 0 bytes of payload; expected 1 to 65507"),
        RefuseWithStacks(
            "datagrams longer than there are",
            [](StackPair&) { CreateObject<DatagramClient>()->SetPacketSize(70'000); },
            "a datagram cannot have 70000 bytes of payload"),
        RefuseWithStacks("another parameter of datagrams under way",
                         WhileSending([](DatagramClient& client) {
                             client.SetAttribute("Eta", DoubleValue(0.5));
                         }),
                         "attribute Eta: it has been taken over"),
        RefuseWithStacks("a second start of datagrams",
                         WhileSending([](DatagramClient& client) { client.Start(); }),
                         "has started, and a second start comes too late"),
        RefuseWithStacks(
            "no node for datagrams",
            [](StackPair&) {
                DatagramClientHelper(Address()).Install(NodeContainer(Ptr<Node>(nullptr)));
            },
            "a null pointer is no node"),
    };
}

} // namespace tests
} // namespace ns3
