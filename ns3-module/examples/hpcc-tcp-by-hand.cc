/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// configs/tcp.toml, and each variant of configs/tcp-controllers.toml, as a program of its own, as
// hpcc-by-hand has the scenarios with RDMA. The list of flows is that of the run by the file:
//
//   ./hpcc run configs/tcp.toml --out out
//   cd ~/.cache/hpcc/ns-3
//   ./ns3 run "hpcc-tcp-by-hand --scenario=tcp --flows=OUT --stop=20ms"

#include "by-hand/flows.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <map>
#include <string>
#include <vector>

using namespace ns3;

/// Bytes of a segment, or of a datagram.
static constexpr uint32_t PAYLOAD = 1448;

/// The congestion control of each variant; datagrams have that of DatagramClient.
static const std::map<std::string, std::string> CONTROLS{
    {"hpcc-plus", "ns3::TcpHpccPlus"},
    {"hpcc-plus-datagrams", ""},
    {"dctcp", "ns3::TcpDctcp"},
    {"cubic", "ns3::TcpCubic"},
    {"new-reno", "ns3::TcpNewReno"},
};

/**
 * \brief Find the congestion control of a run. The program ends if there is no such run.
 * \param scenario the scenario, or nothing
 * \param sweep the sweep, or nothing
 * \param variant its variant
 * \return the congestion control; nothing for datagrams
 */
static std::string
FindControl(const std::string& scenario, const std::string& sweep, const std::string& variant)
{
    if (sweep.empty())
    {
        NS_ABORT_MSG_UNLESS(scenario == "tcp", "there is no scenario \"" << scenario << "\" here");
        return "ns3::TcpHpccPlus";
    }
    NS_ABORT_MSG_UNLESS(scenario.empty(), "expected --scenario or --sweep, and one of them");
    NS_ABORT_MSG_UNLESS(sweep == "tcp-controllers", "there is no sweep \"" << sweep << "\" here");
    const auto found = CONTROLS.find(variant);
    NS_ABORT_MSG_IF(found == CONTROLS.end(), "there is no variant \"" << variant << "\" here");
    return found->second;
}

/**
 * \brief Set what ns-3's TCP needs for short round-trip times.
 * \param control its congestion control
 */
static void
SetTcpDefaults(const std::string& control)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(control));
    Config::SetDefault("ns3::TcpHpccPlus::ExpectedFlows", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
}

/// The nodes of the network, and how flows reach their hosts.
struct Network
{
    QbbHelper helper;                  //!< builds it
    NodeContainer hosts;               //!< its hosts
    Ipv4InterfaceContainer interfaces; //!< their addresses
};

/**
 * \brief Build ten hosts at one switch, with ns-3's own stack.
 * \param network an empty network
 */
static void
Build(Network& network)
{
    network.hosts.Create(10);
    const NodeContainer center(1);
    const PacketHostHelper packetHosts;
    packetHosts.Install(network.hosts, network.helper);
    network.helper.InstallSwitches(center);
    network.helper.LinkAll(network.hosts, center.Get(0), DataRate("25Gbps"), MicroSeconds(1));
    InternetStackHelper().Install(network.hosts);
    network.interfaces = packetHosts.AssignAddresses(network.hosts);
    network.helper.Start();
}

/**
 * \brief Have a host take in what comes to a port.
 * \param protocol class of its sockets' factory
 * \param flow a flow to it
 * \param network the network
 * \return the receiver, the same for all flows to this port
 */
static Ptr<PacketSink>
FindSink(const std::string& protocol, const byhand::Flow& flow, const Network& network)
{
    static std::map<std::pair<uint32_t, uint16_t>, Ptr<PacketSink>> sinks;
    Ptr<PacketSink>& sink = sinks[{flow.dst, flow.dport}];
    if (!sink)
    {
        PacketSinkHelper helper(protocol, InetSocketAddress(Ipv4Address::GetAny(), flow.dport));
        sink = DynamicCast<PacketSink>(helper.Install(network.hosts.Get(flow.dst)).Get(0));
    }
    return sink;
}

/**
 * \brief Add a TCP connection, whose time runs until its last byte is acknowledged.
 * \param flow what it sends
 * \param network the network
 */
static void
AddConnection(const byhand::Flow& flow, const Network& network)
{
    FindSink("ns3::TcpSocketFactory", flow, network);
    const InetSocketAddress receiver(network.interfaces.GetAddress(flow.dst), flow.dport);
    BulkSendHelper helper("ns3::TcpSocketFactory", receiver);
    helper.SetAttribute("MaxBytes", UintegerValue(flow.size));
    helper.SetAttribute("SendSize", UintegerValue(PAYLOAD));
    ApplicationContainer source = helper.Install(network.hosts.Get(flow.src));
    source.Start(flow.start);
    const auto onAcked = [flow](SequenceNumber32 before, SequenceNumber32 now) {
        // The first byte has the number 1.
        if (before.GetValue() <= flow.size && now.GetValue() > flow.size)
        {
            byhand::PrintFinished(flow.number, Simulator::Now() - flow.start);
        }
    };
    const auto application = DynamicCast<BulkSendApplication>(source.Get(0));
    // It has a socket once it has started.
    Simulator::Schedule(flow.start + NanoSeconds(1), [application, onAcked]() {
        application->GetSocket()->TraceConnectWithoutContext(
            "HighestRxAck",
            Callback<void, SequenceNumber32, SequenceNumber32>(onAcked));
    });
}

/**
 * \brief Add a flow of datagrams, whose time runs until its last byte has arrived.
 * \param flow what it sends
 * \param network the network
 */
static void
AddDatagrams(const byhand::Flow& flow, const Network& network)
{
    const InetSocketAddress receiver(network.interfaces.GetAddress(flow.dst), flow.dport);
    DatagramClientHelper helper(receiver);
    helper.SetAttribute("ExpectedFlows", UintegerValue(10));
    helper.SetAttribute("PacketSize", UintegerValue(PAYLOAD));
    helper.SetAttribute("MaxBytes", UintegerValue(flow.size));
    ApplicationContainer source = helper.Install(network.hosts.Get(flow.src));
    source.Start(flow.start);
    const auto client = DynamicCast<DatagramClient>(source.Get(0));
    const Ipv4Address sender = network.interfaces.GetAddress(flow.src);
    const auto onArrival = [flow, client, sender, arrived = uint64_t{0}](
                               Ptr<const Packet> packet,
                               const Address& from) mutable {
        if (InetSocketAddress::ConvertFrom(from) != InetSocketAddress(sender, client->GetPort()))
        {
            return;
        }
        arrived += packet->GetSize();
        if (arrived == flow.size)
        {
            byhand::PrintFinished(flow.number, Simulator::Now() - flow.start);
        }
    };
    FindSink("ns3::UdpSocketFactory", flow, network)
        ->TraceConnectWithoutContext("Rx",
                                     Callback<void, Ptr<const Packet>, const Address&>(onArrival));
}

int
main(int argc, char* argv[])
{
    std::string scenario;
    std::string sweep;
    std::string variant;
    std::string flows;
    Time stop;

    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario", "tcp", scenario);
    cmd.AddValue("sweep", "tcp-controllers, in place of a scenario", sweep);
    cmd.AddValue("variant", "the variant of the sweep", variant);
    cmd.AddValue("flows", "results of the run by its file", flows);
    cmd.AddValue("stop", "end of the simulation", stop);
    cmd.Parse(argc, argv);

    // As files run. Before the first use of the simulator.
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(true));

    const std::string control = FindControl(scenario, sweep, variant);
    if (!control.empty())
    {
        SetTcpDefaults(control);
    }
    Network network;
    Build(network);
    byhand::PrintHead();
    for (const byhand::Flow& flow : byhand::ReadFlows(flows, stop))
    {
        control.empty() ? AddDatagrams(flow, network) : AddConnection(flow, network);
    }
    Simulator::Stop(stop);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
