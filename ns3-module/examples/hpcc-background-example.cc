/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// TCP behind FqCoDel beside RDMA: hosts with ns-3's stack keep the link to a server busy, where
// RDMA hosts send an incast to another server of the same rack. Each kind has a priority of its
// own.
//
//   ./ns3 run hpcc-background-example
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
    uint64_t size = 500'000;

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));

    CommandLine cmd(__FILE__);
    cmd.AddValue("disc", "queue disc of TCP hosts", disc);
    cmd.AddValue("tcp", "connections in the background", tcp);
    cmd.AddValue("size", "bytes of each flow of the incast", size);
    cmd.Parse(argc, argv);

    // Two TCP hosts and five RDMA hosts below a leaf, and one of each below another.
    NodeContainer stacks(3);
    NodeContainer rdma(6);
    NodeContainer leaves(2);
    QbbHelper network;
    network.SetNetworkAttribute("PfcPriorities", StringValue("3, 4"));
    PacketHostHelper packets;
    packets.SetAttribute("Priority", UintegerValue(4));
    packets.SetAttribute("QueueBytes", UintegerValue(6000)); // the queue disc has the rest
    packets.Install(stacks, network);
    network.InstallHosts(rdma);
    network.InstallSwitches(leaves);
    NetDeviceContainer uplinks;
    for (uint32_t host = 0; host < stacks.GetN(); ++host)
    {
        const Ptr<Node> leaf = leaves.Get(host == 2 ? 1 : 0);
        uplinks.Add(
            network.Link(stacks.Get(host), leaf, DataRate("25Gbps"), MicroSeconds(1)).Get(0));
    }
    for (uint32_t host = 0; host < rdma.GetN(); ++host)
    {
        const Ptr<Node> leaf = leaves.Get(host == 5 ? 1 : 0);
        network.Link(rdma.Get(host), leaf, DataRate("100Gbps"), MicroSeconds(1));
    }
    network.Link(leaves.Get(0), leaves.Get(1), DataRate("100Gbps"), MicroSeconds(1));

    InternetStackHelper().Install(stacks);
    TrafficControlHelper control;
    control.SetRootQueueDisc(disc);
    const QueueDiscContainer discs = control.Install(uplinks);
    const Ipv4InterfaceContainer interfaces = packets.AssignAddresses(stacks);
    network.Start();
    RdmaFlowResults results(network);

    const InetSocketAddress server(interfaces.GetAddress(2), 5000);
    const auto sink = DynamicCast<PacketSink>(
        PacketSinkHelper("ns3::TcpSocketFactory", server).Install(stacks.Get(2)).Get(0));
    BulkSendHelper stream("ns3::TcpSocketFactory", server);
    stream.SetAttribute("MaxBytes", UintegerValue(0));
    for (uint32_t connection = 0; connection < tcp; ++connection)
    {
        stream.Install(stacks.Get(connection % 2)).Start(MicroSeconds(10 * connection));
    }
    RdmaClientHelper incast(rdma.Get(5));
    incast.SetAttribute("Size", UintegerValue(size));
    for (uint32_t host = 0; host < 5; ++host)
    {
        incast.Install(rdma.Get(host)).Start(MilliSeconds(2));
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
