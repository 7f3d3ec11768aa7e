/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Two bulk flows share a link of 25 Gb/s, over TCP or as UDP datagrams that nothing acknowledges.
// What stands in the queue, and who gets how much?
//
//   ./ns3 run hpcc-tcp-example
//   ./ns3 run "hpcc-tcp-example --control=ns3::TcpNewReno"
//   ./ns3 run "hpcc-tcp-example --ns3::TcpHpccPlus::ExpectedFlows=100"
//   ./ns3 run "hpcc-tcp-example --datagrams"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <array>
#include <iomanip>
#include <iostream>

using namespace ns3;

/// The receivers, and how much each had at the last line of the table.
struct Sinks
{
    std::array<Ptr<PacketSink>, 2> sinks; //!< the receivers
    std::array<uint64_t, 2> before{};     //!< bytes
};

/// Print a line of the table, and the next one later.
static void
PrintLine(Sinks* sinks, Ptr<QbbNetDevice> bottleneck, Time interval)
{
    std::cout << std::setw(9) << Simulator::Now().GetMicroSeconds();
    for (std::size_t flow = 0; flow < sinks->sinks.size(); ++flow)
    {
        const uint64_t received = sinks->sinks[flow]->GetTotalRx();
        std::cout << std::setw(15)
                  << (received - sinks->before[flow]) * 8.0 / interval.GetNanoSeconds();
        sinks->before[flow] = received;
    }
    std::cout << std::setw(13) << bottleneck->GetQueuedBytes() / 1e3 << "\n";
    Simulator::Schedule(interval, &PrintLine, sinks, bottleneck, interval);
}

int
main(int argc, char* argv[])
{
    std::string control = "ns3::TcpHpccPlus";
    bool datagrams = false;
    Time join = MicroSeconds(500);
    Time interval = MicroSeconds(250);
    Time stop = MilliSeconds(3);

    // TCP for short round-trip times: segments that fill a frame, no waiting for a second one to
    // acknowledge. Two flows share the link: HPCC++ adds accordingly.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpHpccPlus::ExpectedFlows", UintegerValue(2));
    Config::SetDefault("ns3::DatagramClient::ExpectedFlows", UintegerValue(2));

    CommandLine cmd(__FILE__);
    cmd.AddValue("control", "congestion control of TCP", control);
    cmd.AddValue("datagrams", "UDP datagrams under HPCC++ in place of TCP", datagrams);
    cmd.AddValue("join", "when the second flow starts", join);
    cmd.AddValue("interval", "time between two lines of the table", interval);
    cmd.AddValue("stop", "end of the simulation", stop);
    cmd.Parse(argc, argv);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(control));

    // Hosts 0 and 1 send to host 2 through one switch.
    NodeContainer nodes(3);
    NodeContainer center(1);
    QbbHelper network;
    PacketHostHelper hosts;
    hosts.Install(nodes, network);
    network.InstallSwitches(center);
    NetDeviceContainer last;
    for (uint32_t host = 0; host < nodes.GetN(); ++host)
    {
        const DataRate rate(host < 2 ? "100Gbps" : "25Gbps");
        last = network.Link(center.Get(0), nodes.Get(host), rate, MicroSeconds(1));
    }
    InternetStackHelper().Install(nodes);
    const Ipv4InterfaceContainer interfaces = hosts.AssignAddresses(nodes);
    network.Start();

    Sinks sinks;
    for (uint32_t host : {0, 1})
    {
        const uint16_t port = 5000 + host;
        const std::string factory = datagrams ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
        const InetSocketAddress receiver(interfaces.GetAddress(2), port);
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.sinks[host] = DynamicCast<PacketSink>(sink.Install(nodes.Get(2)).Get(0));
        BulkSendHelper stream(factory, receiver);
        stream.SetAttribute("MaxBytes", UintegerValue(0));
        ApplicationContainer source = datagrams
                                          ? DatagramClientHelper(receiver).Install(nodes.Get(host))
                                          : stream.Install(nodes.Get(host));
        source.Start(host == 0 ? Time(0) : join);
    }

    Simulator::Schedule(interval,
                        &PrintLine,
                        &sinks,
                        DynamicCast<QbbNetDevice>(last.Get(0)),
                        interval);
    std::cout << "time (us)   flow 0 (Gb/s)  flow 1 (Gb/s)   queue (kB)\n"
              << std::fixed << std::setprecision(1);
    Simulator::Stop(stop);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
