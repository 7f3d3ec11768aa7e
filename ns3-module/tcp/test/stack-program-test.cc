/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-test-network.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/node.h"
#include "ns3/packet-host.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/queue-disc.h"
#include "ns3/sequence-number.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/system-path.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Bytes of the flow.
constexpr uint32_t SIZE = 1'000'000;
/// The receiver's port.
constexpr uint16_t PORT = 200;

/// A network of two hosts and a switch, as a program or a file has it.
struct Setting
{
    uint32_t mtu;     //!< bytes of a packet
    uint32_t segment; //!< bytes of a segment
    bool isIpv6;      //!< whether it is IPv6
    std::string rate; //!< of both links
};

/// The results of a flow alone in it.
struct Outcome
{
    Time baseRtt;       //!< T
    Time completion;    //!< when the last byte was acknowledged
    uint64_t probes{0}; //!< probes of the sender
};

/// When the last byte of the flow was acknowledged, whose first one has the sequence number 1.
struct LastByte
{
    /**
     * \brief The sender has had an acknowledgement.
     * \param highest the number that is expected next
     */
    void OnAcked(SequenceNumber32, SequenceNumber32 highest)
    {
        if (acked.IsZero() && highest.GetValue() > SIZE)
        {
            acked = Simulator::Now();
        }
    }

    Time acked; //!< when all was acknowledged
};

/**
 * \brief Set what ns-3's TCP needs for short round-trip times, and the order of events that files
 * have.
 * \param setting the network
 */
void
SetDefaults(const Setting& setting)
{
    Config::SetDefault("ns3::EngineNetwork::CanonicalOrder", BooleanValue(true));
    Config::SetDefault("ns3::QbbNetDevice::Mtu", UintegerValue(setting.mtu));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(setting.segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpHpccPlus"));
}

/**
 * \brief Run a flow in a network that a program builds.
 * \param setting the network
 * \return the results
 */
Outcome
RunProgram(const Setting& setting)
{
    SetDefaults(setting);
    NodeContainer nodes(2);
    NodeContainer center(1);
    QbbHelper network;
    PacketHostHelper hosts;
    hosts.Install(nodes, network);
    network.InstallSwitches(center);
    network.LinkAll(nodes, center.Get(0), DataRate(setting.rate), MicroSeconds(1));
    InternetStackHelper().Install(nodes);
    Address receiver = InetSocketAddress(Ipv4Address::GetAny(), PORT);
    Address any = receiver;
    if (setting.isIpv6)
    {
        receiver = Inet6SocketAddress(hosts.AssignIpv6Addresses(nodes).GetAddress(1, 1), PORT);
        any = Inet6SocketAddress(Ipv6Address::GetAny(), PORT);
    }
    else
    {
        receiver = InetSocketAddress(hosts.AssignAddresses(nodes).GetAddress(1), PORT);
    }
    network.Start();
    PacketSinkHelper("ns3::TcpSocketFactory", any).Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", receiver);
    source.SetAttribute("MaxBytes", UintegerValue(SIZE));
    source.SetAttribute("SendSize", UintegerValue(setting.segment));
    source.Install(nodes.Get(0));
    LastByte last;
    const std::string socket = "/NodeList/" + std::to_string(nodes.Get(0)->GetId()) +
                               "/$ns3::TcpL4Protocol/SocketList/0/HighestRxAck";
    Simulator::Schedule(NanoSeconds(1), [&]() {
        Config::ConnectWithoutContext(socket, MakeCallback(&LastByte::OnAcked, &last));
    });
    Simulator::Stop(MilliSeconds(20));
    Simulator::Run();
    const Outcome outcome{network.GetMaxRtt(),
                          last.acked,
                          nodes.Get(0)->GetObject<PacketHost>()->GetProbes()};
    Simulator::Destroy();
    Config::Reset();
    return outcome;
}

/**
 * \param setting a network
 * \return the file that describes it
 */
std::string
Describe(const Setting& setting)
{
    std::ostringstream file;
    file << "[run]\nstop = \"20ms\"\n"
         << "[topology]\nkind = \"star\"\nhosts = 2\ndelay = \"1us\"\nrate = \"" << setting.rate
         << "\"\n[congestion_control]\nalgorithm = \"hpcc_plus\"\n"
         << "[transport]\nprotocol = \"tcp\"\nip = \"" << (setting.isIpv6 ? "ipv6" : "ipv4")
         << "\"\ntcp_buffer = \"4MB\"\nmtu = \"" << setting.segment << "B\"\n"
         << "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"" << SIZE << "B\"\n";
    return file.str();
}

/**
 * \param name a file
 * \return what is in it
 */
std::string
ReadFile(const std::string& name)
{
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/**
 * \param text a text
 * \param key what stands before a number of nanoseconds in it
 * \return that time; 0 if there is none
 */
Time
ReadTime(const std::string& text, const std::string& key)
{
    const std::size_t place = text.find(key);
    return place == std::string::npos ? Time(0)
                                      : NanoSeconds(std::stoll(text.substr(place + key.size())));
}

} // namespace

/**
 * \ingroup hpcc
 * \brief A program builds what a file describes.
 */
class StackProgramTest : public HpccTestCase
{
  public:
    StackProgramTest()
        : HpccTestCase("TCP in a program has the T and the completion times of the file that says "
                       "the same, for any Mtu")
    {
    }

  private:
    void DoRun() override
    {
        Compare({1500, 1448, false, "25Gbps"});
        Compare({9000, 8948, false, "25Gbps"});
        Compare({1500, 1428, true, "25Gbps"});
        Compare({9000, 8948, false, "400Gbps"});
    }

    /**
     * \brief Run both.
     * \param setting the network of both
     */
    void Compare(const Setting& setting)
    {
        const Outcome program = RunProgram(setting);
        const std::string name =
            "mtu" + std::to_string(setting.mtu) + setting.rate + (setting.isIpv6 ? "v6" : "v4");
        const std::string config = CreateTempDirFilename(name + ".toml");
        std::ofstream(config) << Describe(setting);
        const std::string out = CreateTempDirFilename(name);
        {
            HpccScenarioHelper scenario;
            NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, {}), true, name << " is refused");
            NS_TEST_ASSERT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, name);
        }
        Simulator::Destroy();
        Config::Reset();
        const std::string summary = ReadFile(SystemPath::Append(out, "summary.json"));
        const std::string flows = ReadFile(SystemPath::Append(out, "fct.csv"));
        NS_TEST_EXPECT_MSG_EQ(program.baseRtt, ReadTime(summary, "\"base_rtt_ns\": "), name);
        const std::string size = "," + std::to_string(SIZE) + ",0,";
        NS_TEST_EXPECT_MSG_EQ(program.completion, ReadTime(flows, size), name);
    }
};

/**
 * \ingroup hpcc
 * \brief Segments that leave in fragments are HPCC++'s as others are.
 */
class StackFragmentTest : public HpccTestCase
{
  public:
    StackFragmentTest()
        : HpccTestCase("Segments longer than the Mtu are probed for, over IPv4 and IPv6")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool isIpv6 : {false, true})
        {
            const Outcome whole = RunProgram({1500, 1428, isIpv6, "25Gbps"});
            for (const uint32_t segment : {1480u, 3000u})
            {
                const Outcome cut = RunProgram({1500, segment, isIpv6, "25Gbps"});
                NS_TEST_EXPECT_MSG_GT(cut.completion, Time(0), "every byte arrives");
                NS_TEST_EXPECT_MSG_GT(10 * cut.probes, 9 * whole.probes, "one probe in T");
            }
        }
    }
};

/**
 * \ingroup hpcc
 * \brief What an ns-3 program does with ordinary nodes: queue discs on devices, and global routing.
 */
class StackQueueDiscTest : public HpccTestCase
{
  public:
    StackQueueDiscTest()
        : HpccTestCase(
              "Queue discs hold what a device has no room for; global routing finds routes")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string disc :
             {"", "ns3::PfifoFastQueueDisc", "ns3::FqCoDelQueueDisc", "ns3::RedQueueDisc"})
        {
            Run(disc);
        }
    }

    /**
     * \brief Two connections by one device.
     * \param disc the class of its queue disc; empty: none
     */
    void Run(const std::string& disc)
    {
        m_longest = 0;
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        NodeContainer nodes(3);
        NodeContainer center(1);
        QbbHelper network;
        PacketHostHelper hosts;
        hosts.SetAttribute("QueueBytes", UintegerValue(6000));
        hosts.Install(nodes, network);
        network.InstallSwitches(center);
        const NetDeviceContainer devices =
            network.LinkAll(nodes, center.Get(0), DataRate("1Gbps"), MicroSeconds(1));
        InternetStackHelper().Install(nodes);
        QueueDiscContainer discs;
        if (!disc.empty())
        {
            TrafficControlHelper traffic;
            traffic.SetRootQueueDisc(disc);
            discs = traffic.Install(devices.Get(0));
            discs.Get(0)->TraceConnectWithoutContext(
                "PacketsInQueue",
                Callback<void, uint32_t, uint32_t>(
                    [this](uint32_t, uint32_t now) { m_longest = std::max(m_longest, now); }));
        }
        const Ipv4InterfaceContainer interfaces = hosts.AssignAddresses(nodes);
        network.Start();
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        ApplicationContainer sinks;
        for (uint32_t receiver = 1; receiver < 3; ++receiver)
        {
            const InetSocketAddress peer(interfaces.GetAddress(receiver), PORT);
            sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory",
                                       InetSocketAddress(Ipv4Address::GetAny(), PORT))
                          .Install(nodes.Get(receiver)));
            BulkSendHelper sender("ns3::TcpSocketFactory", peer);
            sender.SetAttribute("MaxBytes", UintegerValue(SIZE));
            sender.Install(nodes.Get(0)).Start(MicroSeconds(1));
        }
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        for (uint32_t sink = 0; sink < sinks.GetN(); ++sink)
        {
            NS_TEST_EXPECT_MSG_EQ(DynamicCast<PacketSink>(sinks.Get(sink))->GetTotalRx(),
                                  SIZE,
                                  "bytes that arrive with " << disc);
        }
        const uint64_t drops = nodes.Get(0)->GetObject<PacketHost>()->GetDrops();
        if (disc.empty())
        {
            NS_TEST_EXPECT_MSG_GT(drops, 0, "the device drops what it has no room for");
        }
        else
        {
            NS_TEST_EXPECT_MSG_EQ(drops, 0, "what the device has no room for waits: " << disc);
            const QueueDisc::Stats stats = discs.Get(0)->GetStats();
            NS_TEST_EXPECT_MSG_GT(stats.nTotalSentPackets, 2 * SIZE / 1448, "by the queue disc");
            NS_TEST_EXPECT_MSG_GT(m_longest, 5, "the device was full, and packets waited there");
        }
        Simulator::Destroy();
    }

    uint32_t m_longest{0}; //!< most packets that waited in a queue disc
};

/**
 * \ingroup hpcc
 * \brief A node with an ordinary device sends to a host of the fabric, by a host that forwards, and
 * the other way.
 */
class StackGatewayTest : public HpccTestCase
{
  public:
    StackGatewayTest()
        : HpccTestCase("Ordinary nodes behind a host talk with other hosts both ways")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        NodeContainer nodes(3);
        NodeContainer center(1);
        NodeContainer outside(1);
        QbbHelper network;
        PacketHostHelper hosts;
        hosts.Install(nodes, network);
        network.InstallSwitches(center);
        network.LinkAll(nodes, center.Get(0), DataRate("10Gbps"), MicroSeconds(1));
        NodeContainer lan(nodes.Get(0), outside.Get(0));
        const NetDeviceContainer ordinary = SimpleNetDeviceHelper().Install(lan);
        InternetStackHelper().Install(NodeContainer(nodes, outside));
        const Ipv4InterfaceContainer inside = hosts.AssignAddresses(nodes);
        const Ipv4InterfaceContainer beyond =
            Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(ordinary);
        network.Start();
        // As everywhere in ns-3: the outside by way of host 0, and back.
        Ipv4StaticRoutingHelper routing;
        routing.GetStaticRouting(outside.Get(0)->GetObject<Ipv4>())
            ->SetDefaultRoute(beyond.GetAddress(0), 1);
        routing.GetStaticRouting(nodes.Get(1)->GetObject<Ipv4>())
            ->AddNetworkRouteTo("10.1.1.0", "255.255.255.0", inside.GetAddress(0), 1);

        const auto there = Send(outside.Get(0), nodes.Get(1), inside.GetAddress(1));
        const auto back = Send(nodes.Get(1), outside.Get(0), beyond.GetAddress(1));
        const auto unrouted = Send(nodes.Get(2), outside.Get(0), beyond.GetAddress(1));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(there->GetTotalRx(), SIZE, "into the fabric");
        NS_TEST_EXPECT_MSG_EQ(back->GetTotalRx(), SIZE, "out of it");
        NS_TEST_EXPECT_MSG_EQ(unrouted->GetTotalRx(), 0, "a host without a route there");
    }

    /**
     * \brief Send SIZE bytes over TCP.
     * \param from the sender
     * \param to the receiver
     * \param address the receiver's address
     * \return what receives them
     */
    Ptr<PacketSink> Send(Ptr<Node> from, Ptr<Node> to, Ipv4Address address)
    {
        const InetSocketAddress peer(address, ++m_port);
        BulkSendHelper sender("ns3::TcpSocketFactory", peer);
        sender.SetAttribute("MaxBytes", UintegerValue(SIZE));
        sender.Install(from).Start(MicroSeconds(1));
        return DynamicCast<PacketSink>(
            PacketSinkHelper("ns3::TcpSocketFactory", peer).Install(to).Get(0));
    }

    uint16_t m_port{PORT}; //!< the last receiver's
};

TestCases
MakeStackProgramTests()
{
    return {new StackProgramTest,
            new StackFragmentTest,
            new StackQueueDiscTest,
            new StackGatewayTest};
}

} // namespace tests
} // namespace ns3
