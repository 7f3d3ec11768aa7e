/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// TCP behind FqCoDel beside RDMA, on the same hosts: hosts of a rack send an incast of RDMA flows
// to one of another rack, and two of them keep TCP connections to it busy over the same links. Each
// kind has a priority of its own, and TCP at its hosts the part of the link that --share says.
//
//   ./ns3 run hpcc-background-example
//   ./ns3 run "hpcc-background-example --share=0"
//   ./ns3 run "hpcc-background-example --disc=ns3::RedQueueDisc --tcp=0"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string disc = "ns3::FqCoDelQueueDisc";
    uint32_t tcp = 4;
    uint32_t share = 50;
    uint64_t size = 500'000;

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    // CoDel's own 5 ms and 100 ms are for the Internet's round-trip times.
    Config::SetDefault("ns3::FqCoDelQueueDisc::Target", StringValue("50us"));
    Config::SetDefault("ns3::FqCoDelQueueDisc::Interval", StringValue("500us"));

    CommandLine cmd(__FILE__);
    cmd.AddValue("disc", "queue disc of TCP's packets", disc);
    cmd.AddValue("tcp", "connections in the background", tcp);
    cmd.AddValue("share", "percent of a host's link for TCP while RDMA sends, too", share);
    cmd.AddValue("size", "bytes of each flow of the incast", size);
    cmd.Parse(argc, argv);

    // Five hosts below a leaf, and one below another.
    NodeContainer hosts(6);
    NodeContainer leaves(2);
    QbbHelper network;
    network.SetNetworkAttribute("PfcPriorities", StringValue("3, 4"));
    network.InstallHosts(hosts);
    PacketHostHelper packets;
    packets.SetAttribute("Priority", UintegerValue(4));
    packets.SetAttribute("Share", UintegerValue(share));
    packets.SetAttribute("QueueBytes", UintegerValue(6000)); // the queue disc has the rest
    packets.Install(hosts, network);
    network.InstallSwitches(leaves);
    NetDeviceContainer uplinks;
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        const bool isServer = host == 5;
        uplinks.Add(network
                        .Link(hosts.Get(host),
                              leaves.Get(isServer ? 1 : 0),
                              DataRate(isServer ? "100Gbps" : "25Gbps"),
                              MicroSeconds(1))
                        .Get(0));
    }
    network.Link(leaves.Get(0), leaves.Get(1), DataRate("100Gbps"), MicroSeconds(1));

    InternetStackHelper().Install(hosts);
    TrafficControlHelper control;
    control.SetRootQueueDisc(disc);
    const QueueDiscContainer discs = control.Install(uplinks);
    const Ipv4InterfaceContainer interfaces = packets.AssignAddresses(hosts);
    network.Start();
    RdmaFlowResults results(network);

    const Ptr<Node> server = hosts.Get(5);
    const InetSocketAddress address(interfaces.GetAddress(5), 5000);
    const auto sink = DynamicCast<PacketSink>(
        PacketSinkHelper("ns3::TcpSocketFactory", address).Install(server).Get(0));
    BulkSendHelper stream("ns3::TcpSocketFactory", address);
    stream.SetAttribute("MaxBytes", UintegerValue(0));
    for (uint32_t connection = 0; connection < tcp; ++connection)
    {
        stream.Install(hosts.Get(connection % 2)).Start(MicroSeconds(10 * connection));
    }
    RdmaClientHelper incast(server);
    incast.SetAttribute("Size", UintegerValue(size));
    for (uint32_t host = 0; host < 5; ++host)
    {
        incast.Install(hosts.Get(host)).Start(MilliSeconds(2));
    }
    Simulator::Stop(MilliSeconds(5));
    Simulator::Run();

    std::cout << "TCP: " << sink->GetTotalRx() * 8 / 5e6 << " Gb/s, "
              << discs.Get(0)->GetStats().nTotalDroppedPackets << " packets dropped and "
              << discs.Get(0)->GetStats().nTotalMarkedPackets << " marked by the first " << disc
              << '\n';
    for (const auto& [flow, slowdown] : results.GetFinished())
    {
        std::cout << "RDMA: host " << flow.src << ' ' << flow.completion.As(Time::US)
                  << ", slowdown " << slowdown << '\n';
    }
    Simulator::Destroy();
    return 0;
}
