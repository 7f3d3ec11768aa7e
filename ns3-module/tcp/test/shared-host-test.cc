/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Hosts with RDMA and a stack at once.
#include "tcp-test-network.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/node.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/qbb-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/rdma-client-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// The port of all servers.
constexpr uint16_t PORT = 5000;
/// The priority of RDMA flows.
constexpr uint8_t RDMA = 3;
/// The priority of packets.
constexpr uint8_t PACKETS = 4;

/// What a host is, what the senders do, and who looks.
struct Setup
{
    bool isRdma{true};    //!< whether hosts have RDMA
    bool isStack{true};   //!< whether hosts have a stack
    bool sends{true};     //!< whether RDMA flows begin
    bool talks{true};     //!< whether TCP connections begin
    bool hasSinks{false}; //!< whether sinks look on
    std::string disc;     //!< class of the queue discs of hosts; empty: none
};

/// What comes of it.
struct Outcome
{
    std::vector<Time> completions;                       //!< of RDMA flows
    std::vector<std::pair<Time, uint64_t>> received{{}}; //!< when the stack had how many bytes
    uint64_t rdmaFrames{0};                              //!< that left the first host, if seen
    uint64_t throughDisc{0};                             //!< packets that its queue disc sent
    uint64_t stackFrames{0};                             //!< that left the first host, if seen

    /**
     * \param other another one
     * \return whether it is the same, but for what was seen
     */
    bool operator==(const Outcome& other) const
    {
        return completions == other.completions && received == other.received;
    }
};

/**
 * \brief Two hosts send to a third one, each a flow and over a connection.
 * \param setup how
 * \return the results
 */
Outcome
RunIncast(const Setup& setup)
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::RdmaClient::Priority", UintegerValue(RDMA));
    Outcome outcome;
    NodeContainer nodes(3);
    NodeContainer center(1);
    QbbHelper network;
    network.SetNetworkAttribute("PfcPriorities", StringValue("3, 4"));
    PacketHostHelper packets;
    packets.SetAttribute("Priority", UintegerValue(PACKETS));
    if (!setup.disc.empty())
    {
        packets.SetAttribute("QueueBytes", UintegerValue(6000));
    }
    if (setup.isRdma)
    {
        network.InstallHosts(nodes);
    }
    if (setup.isStack)
    {
        packets.Install(nodes, network);
    }
    network.InstallSwitches(center);
    const NetDeviceContainer devices =
        network.LinkAll(nodes, center.Get(0), DataRate("25Gbps"), MicroSeconds(1));
    QueueDiscContainer discs;
    if (setup.isStack)
    {
        InternetStackHelper().Install(nodes);
        if (!setup.disc.empty())
        {
            TrafficControlHelper traffic;
            traffic.SetRootQueueDisc(setup.disc);
            for (uint32_t host = 0; host < 2; ++host)
            {
                discs.Add(traffic.Install(devices.Get(2 * host)));
            }
        }
        packets.AssignAddresses(nodes);
    }
    network.Start();
    if (setup.hasSinks)
    {
        devices.Get(0)->TraceConnectWithoutContext(
            "TxBegin",
            Callback<void, const QbbFrame&>([&outcome](const QbbFrame& frame) {
                ++(frame.CarriesPacket() ? outcome.stackFrames : outcome.rdmaFrames);
            }));
        devices.Get(5)->TraceConnectWithoutContext(
            "QueuedBytes",
            Callback<void, uint8_t, uint64_t, uint64_t>([](uint8_t, uint64_t, uint64_t) {}));
    }
    ApplicationContainer clients;
    if (setup.isRdma && setup.sends)
    {
        RdmaClientHelper client(nodes.Get(2));
        client.SetAttribute("Size", UintegerValue(2'000'000));
        clients = client.Install(NodeContainer(nodes.Get(0), nodes.Get(1)));
    }
    if (setup.isStack && setup.talks)
    {
        const InetSocketAddress server(nodes.Get(2)->GetObject<PacketHost>()->GetAddress(), PORT);
        const ApplicationContainer sinks =
            PacketSinkHelper("ns3::TcpSocketFactory", server).Install(nodes.Get(2));
        sinks.Get(0)->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>([&outcome](Ptr<const Packet> packet,
                                                                         const Address&) {
                outcome.received.emplace_back(Simulator::Now(),
                                              outcome.received.back().second + packet->GetSize());
            }));
        BulkSendHelper sender("ns3::TcpSocketFactory", server);
        sender.SetAttribute("MaxBytes", UintegerValue(1'000'000));
        sender.Install(NodeContainer(nodes.Get(0), nodes.Get(1)));
    }
    Simulator::Stop(Seconds(3));
    Simulator::Run();
    for (uint32_t client = 0; client < clients.GetN(); ++client)
    {
        outcome.completions.push_back(
            DynamicCast<RdmaClient>(clients.Get(client))->GetFlow().completion);
    }
    if (discs.GetN() > 0)
    {
        outcome.throughDisc = discs.Get(0)->GetStats().nTotalSentPackets;
    }
    Simulator::Destroy();
    return outcome;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief A host with both is for each of them what a host with that alone is.
 */
class SharedHostTest : public HpccTestCase
{
  public:
    SharedHostTest()
        : HpccTestCase("TCP and RDMA of one host: each alone is as on a host without the other, "
                       "sinks change nothing, queue discs hold TCP's packets alone")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string disc : {"", "ns3::FqCoDelQueueDisc"})
        {
            Setup tcpAlone;
            tcpAlone.sends = false;
            tcpAlone.disc = disc;
            Setup stackHosts = tcpAlone;
            stackHosts.isRdma = false;
            const Outcome tcp = RunIncast(tcpAlone);
            NS_TEST_EXPECT_MSG_EQ(tcp.received.back().second, 2'000'000, "TCP alone " << disc);
            NS_TEST_EXPECT_MSG_EQ((tcp == RunIncast(stackHosts)),
                                  true,
                                  "TCP on hosts of TCP " << disc);

            Setup rdmaAlone;
            rdmaAlone.talks = false;
            rdmaAlone.disc = disc;
            Setup rdmaHosts = rdmaAlone;
            rdmaHosts.isStack = false;
            const Outcome rdma = RunIncast(rdmaAlone);
            NS_TEST_EXPECT_MSG_GT(rdma.completions.at(0), Time(0), "RDMA alone");
            NS_TEST_EXPECT_MSG_EQ((rdma == RunIncast(rdmaHosts)),
                                  true,
                                  "RDMA on hosts of RDMA " << disc);

            Setup setup;
            setup.disc = disc;
            const Outcome both = RunIncast(setup);
            setup.hasSinks = true;
            const Outcome seen = RunIncast(setup);
            NS_TEST_EXPECT_MSG_EQ(both.received.back().second, 2'000'000, "TCP beside RDMA");
            NS_TEST_EXPECT_MSG_GT(both.completions.at(0), rdma.completions[0], "RDMA beside TCP");
            NS_TEST_EXPECT_MSG_EQ((seen == both), true, "sinks change nothing");
            NS_TEST_EXPECT_MSG_GT(seen.rdmaFrames, 2'000'000 / 1500, "RDMA leaves by the device");
            if (!disc.empty())
            {
                NS_TEST_EXPECT_MSG_EQ(seen.throughDisc, seen.stackFrames, "by the queue disc");
            }
        }
    }
};

/**
 * \ingroup hpcc
 * \brief Two parts that would each fill a link.
 */
class SharedLinkTest : public HpccTestCase
{
  public:
    SharedLinkTest()
        : HpccTestCase("RDMA and UDP fill a link by their shares; a pause of one class leaves the "
                       "link to the other")
    {
    }

  private:
    /// Bytes of frames that left, by priority.
    using Bytes = std::array<uint64_t, QbbNetDevice::PRIORITIES>;

    void DoRun() override
    {
        // The bytes that leave within a millisecond, and those that may be on the link at its ends.
        constexpr double ALL = 10e9 / 8 / 1000;
        constexpr double FRAMES = 2 * 1518;
        for (const uint32_t share : {0, 20, 50, 75, 100})
        {
            const Bytes sent = Send(share, 0);
            const double expected = ALL * share / 100;
            NS_TEST_EXPECT_MSG_EQ_TOL(sent[PACKETS], expected, FRAMES, "packets of " << share);
            NS_TEST_EXPECT_MSG_EQ_TOL(sent[RDMA], ALL - expected, FRAMES, "RDMA beside " << share);
        }
        const Bytes noRdma = Send(20, RDMA);
        NS_TEST_EXPECT_MSG_EQ(noRdma[RDMA], 0, "RDMA is paused");
        NS_TEST_EXPECT_MSG_EQ_TOL(noRdma[PACKETS], ALL, FRAMES, "and packets are not");
        const Bytes noPackets = Send(80, PACKETS);
        NS_TEST_EXPECT_MSG_EQ(noPackets[PACKETS], 0, "packets are paused");
        NS_TEST_EXPECT_MSG_EQ_TOL(noPackets[RDMA], ALL, FRAMES, "and RDMA is not");
    }

    /**
     * \brief Send both from one host to another.
     * \param share of packets
     * \param paused a priority that the switch pauses; 0: none
     * \return what leaves within the second millisecond
     */
    static Bytes Send(uint32_t share, uint8_t paused)
    {
        NodeContainer nodes(2);
        NodeContainer center(1);
        QbbHelper network;
        network.SetNetworkAttribute("PfcPriorities", StringValue("3, 4"));
        network.SetHostAttribute("CongestionControl", StringValue("none"));
        network.InstallHosts(nodes);
        network.InstallSwitches(center);
        const NetDeviceContainer devices =
            network.LinkAll(nodes, center.Get(0), DataRate("10Gbps"), MicroSeconds(1));
        // Links may come first.
        PacketHostHelper packets;
        packets.SetAttribute("Priority", UintegerValue(PACKETS));
        packets.SetAttribute("Share", UintegerValue(share));
        packets.Install(nodes, network);
        InternetStackHelper().Install(nodes);
        const InetSocketAddress server(packets.AssignAddresses(nodes).GetAddress(1), PORT);
        network.Start();
        Bytes sent{};
        devices.Get(0)->TraceConnectWithoutContext(
            "TxBegin",
            Callback<void, const QbbFrame&>([&sent](const QbbFrame& frame) {
                if (Simulator::Now() >= MilliSeconds(1))
                {
                    sent.at(frame.priority) += frame.size;
                }
            }));
        RdmaClientHelper client(nodes.Get(1));
        client.SetAttribute("Size", UintegerValue(100'000'000));
        client.SetAttribute("Priority", UintegerValue(RDMA));
        client.Install(nodes.Get(0));
        OnOffHelper source("ns3::UdpSocketFactory", server);
        source.SetConstantRate(DataRate("10Gbps"), 1472);
        source.Install(nodes.Get(0));
        PacketSinkHelper("ns3::UdpSocketFactory", server).Install(nodes.Get(1));
        if (paused > 0)
        {
            const auto aSwitch = center.Get(0)->GetObject<QbbSwitch>();
            Simulator::Schedule(MicroSeconds(900), [aSwitch, paused]() {
                aSwitch->SendPfc(*aSwitch->GetPort(0), paused, true);
            });
        }
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        Simulator::Destroy();
        return sent;
    }
};

/// A shared host with a class of TCP that sends probes.
static void
ProbeFromSharedHost()
{
    TcpTestNetwork network(2, "ns3::TcpHpccPlus");
    network.network.InstallHosts(network.nodes);
    network.MakeStar();
    network.AddFlow(0, 10'000);
    Simulator::Run();
}

TestCases
MakeSharedHostTests()
{
    return {new SharedHostTest,
            new SharedLinkTest,
            MakeMisuseTest("HPCC++ over TCP on a host with RDMA",
                           ProbeFromSharedHost,
                           "host 0 has RDMA beside its stack, and sends no probes")};
}

} // namespace tests
} // namespace ns3
