/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-test-network.h"

#include "ns3/ethernet-header.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/qbb-net-device.h"
#include "ns3/rdma-client.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// The port of UDP tests.
constexpr uint16_t PORT = 9;

/**
 * \param node a node with a stack
 * \return a UDP socket
 */
Ptr<Socket>
MakeUdpSocket(Ptr<Node> node)
{
    return Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
}

} // namespace

/**
 * \ingroup hpcc
 * \brief TCP over lossless switches: everything arrives, pauses are obeyed.
 */
class PacketPauseTest : public HpccTestCase
{
  public:
    PacketPauseTest()
        : HpccTestCase("Hosts with ns-3 stacks obey PFC, and switches lose nothing of theirs")
    {
    }

  private:
    void DoRun() override
    {
        TcpTestNetwork network(3, "ns3::TcpNewReno");
        network.network.SetSwitchAttribute("Buffer", UintegerValue(1 << 20));
        network.MakeStar();
        network.AddFlow(0, 2'000'000);
        network.AddFlow(1, 2'000'000);
        for (uint32_t host = 0; host < 2; ++host)
        {
            // Not a Ptr: a device that its own sink holds is never freed.
            QbbNetDevice* port = PeekPointer(network.GetHost(host)->GetPort(0));
            port->TraceConnectWithoutContext(
                "TxBegin",
                Callback<void, const QbbFrame&>([this, port](const QbbFrame&) {
                    m_disobedient += port->GetPaused() >> 3 & 1;
                }));
        }
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        for (uint32_t host = 0; host < 2; ++host)
        {
            const auto port = network.GetHost(host)->GetPort(0);
            NS_TEST_EXPECT_MSG_GT(port->GetPauses(), 0, "the switch pauses its senders");
            NS_TEST_EXPECT_MSG_GT(port->GetPausedTime(3), Time(0), "in their priority");
            NS_TEST_EXPECT_MSG_EQ(network.GetReceived(host), 2'000'000, "every byte arrives");
            NS_TEST_EXPECT_MSG_EQ(network.GetHost(host)->GetDrops(),
                                  0,
                                  "without a loss at the host");
        }
        NS_TEST_EXPECT_MSG_EQ(m_disobedient, 0, "a paused port sent");
        NS_TEST_EXPECT_MSG_EQ(network.GetLastSwitch()->GetDrops(),
                              0,
                              "without a loss at the switch");
    }

    uint64_t m_disobedient{0}; //!< frames that left a paused port
};

/**
 * \ingroup hpcc
 * \brief A UDP packet crosses the network unchanged, also in the bytes of a capture.
 */
class PacketEncapsulationTest : public HpccTestCase
{
  public:
    PacketEncapsulationTest()
        : HpccTestCase("Packets arrive as they left, but for time to live and congestion mark")
    {
    }

  private:
    void DoRun() override
    {
        TcpTestNetwork network(3, "ns3::TcpNewReno");
        // A queue marks as soon as a frame waits behind the one that leaves.
        network.network.SetSwitchAttribute("EcnKmin", UintegerValue(0));
        network.network.SetSwitchAttribute("EcnKmax", UintegerValue(0));
        network.MakeStar();
        const Ptr<Socket> sink = MakeUdpSocket(network.nodes.Get(2));
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sink->SetIpRecvTtl(true);
        sink->SetIpRecvTos(true);
        sink->SetRecvCallback(MakeCallback(&PacketEncapsulationTest::OnPacket, this));
        const auto last = network.GetHost(2)->GetPort(0);
        last->TraceConnectWithoutContext("PromiscSniffer",
                                         MakeCallback(&PacketEncapsulationTest::OnSniffed, this));
        const InetSocketAddress address(network.GetHost(2)->GetAddress(), PORT);
        std::vector<Ptr<Socket>> sockets;
        for (const uint8_t tos : {0x00, 0x02})
        {
            sockets.push_back(MakeUdpSocket(network.nodes.Get(tos / 2)));
            sockets.back()->Connect(address);
            sockets.back()->SetIpTos(tos);
            for (uint32_t n = 0; n < COUNT; ++n)
            {
                sockets.back()->Send(Create<Packet>(SIZE));
            }
        }
        sockets.back()->SendTo(Create<Packet>(1), 0, InetSocketAddress("11.0.0.99", PORT));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_received, 2 * COUNT, "all packets");
        NS_TEST_EXPECT_MSG_EQ(m_otherTtl, 0, "one switch takes one from the time to live");
        NS_TEST_EXPECT_MSG_EQ(m_tos[0], COUNT, "a sender without ECN is never marked");
        NS_TEST_EXPECT_MSG_GT(m_tos[3], COUNT / 2, "one with ECN is");
        NS_TEST_EXPECT_MSG_EQ(m_tos[2] + m_tos[3], COUNT, "or is not");
        NS_TEST_EXPECT_MSG_EQ(m_sniffed, 2 * COUNT, "captures show the bytes");
        NS_TEST_EXPECT_MSG_EQ(m_wrongBytes, 0, "with right lengths, checksums and marks");
        NS_TEST_EXPECT_MSG_EQ(network.GetHost(1)->GetDrops(),
                              1,
                              "what nobody has the address of stays");
    }

    /**
     * \brief Packets have arrived.
     * \param socket where
     */
    void OnPacket(Ptr<Socket> socket)
    {
        while (const Ptr<Packet> packet = socket->Recv())
        {
            SocketIpTtlTag ttl;
            SocketIpTosTag tos;
            packet->RemovePacketTag(ttl);
            packet->RemovePacketTag(tos);
            ++m_received;
            m_otherTtl += ttl.GetTtl() != 63;
            ++m_tos.at(tos.GetTos());
        }
    }

    /**
     * \brief The last host's port has seen a frame.
     * \param frame its bytes
     */
    void OnSniffed(Ptr<const Packet> frame)
    {
        const Ptr<Packet> rest = frame->Copy();
        EthernetHeader ethernet(false);
        Ipv4Header ip;
        ip.EnableChecksum();
        rest->RemoveHeader(ethernet);
        rest->RemoveHeader(ip);
        ++m_sniffed;
        const bool right = ethernet.GetLengthType() == 0x0800 && ip.IsChecksumOk() &&
                           ip.GetTtl() == 63 && ip.GetPayloadSize() == 8 + SIZE &&
                           rest->GetSize() == 8 + SIZE;
        m_wrongBytes += !right;
    }

    static constexpr uint32_t COUNT = 20;    //!< packets of each sender
    static constexpr uint32_t SIZE = 1000;   //!< bytes of each
    uint32_t m_received{0};                  //!< packets received
    uint32_t m_otherTtl{0};                  //!< packets with another time to live
    std::vector<uint32_t> m_tos{0, 0, 0, 0}; //!< packets by ECN field
    uint32_t m_sniffed{0};                   //!< frames in the capture
    uint32_t m_wrongBytes{0};                //!< those with wrong bytes
};

/**
 * \ingroup hpcc
 * \brief A host's queue ends somewhere.
 */
class PacketLimitsTest : public HpccTestCase
{
  public:
    PacketLimitsTest()
        : HpccTestCase("A host drops what its queue has no room for")
    {
    }

  private:
    void DoRun() override
    {
        TcpTestNetwork network(2, "ns3::TcpNewReno");
        network.hosts.SetAttribute("QueueBytes", UintegerValue(10'000));
        network.MakeStar();
        const Ptr<Socket> socket = MakeUdpSocket(network.nodes.Get(0));
        socket->Connect(InetSocketAddress(network.GetHost(1)->GetAddress(), PORT));
        for (uint32_t n = 0; n < 20; ++n)
        {
            socket->Send(Create<Packet>(1000));
        }
        // 1046 bytes a frame: one is on the link, nine wait.
        NS_TEST_EXPECT_MSG_EQ(network.GetHost(0)->GetDrops(), 10, "ten have no room");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.GetHost(0)->GetPort(0)->GetTxFrames(),
                              10,
                              "the others leave");
    }
};

/**
 * \ingroup hpcc
 * \brief RDMA and TCP in one network.
 */
class PacketAndRdmaTest : public HpccTestCase
{
  public:
    PacketAndRdmaTest()
        : HpccTestCase(
              "RDMA flows and TCP flows share switches; neither host takes the other's frames")
    {
    }

  private:
    void DoRun() override
    {
        TcpTestNetwork network(3, "ns3::TcpHpccPlus");
        network.rdma.Create(2);
        network.MakeStar();
        network.AddFlow(0, 1'000'000);
        network.AddFlow(1, 1'000'000);
        const auto client = CreateObject<RdmaClient>();
        client->SetPeer(network.rdma.Get(1));
        client->SetAttribute("Size", UintegerValue(1'000'000));
        network.rdma.Get(0)->AddApplication(client);
        const auto rdmaHost = network.rdma.Get(1)->GetObject<RdmaHost>();
        const Ptr<Socket> socket = MakeUdpSocket(network.nodes.Get(0));
        socket->Connect(InetSocketAddress(PacketHost::AddressOf(rdmaHost->GetIndex()), PORT));
        const int sent = socket->Send(Create<Packet>(100));
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.GetReceived(0) + network.GetReceived(1),
                              2'000'000,
                              "TCP arrives");
        NS_TEST_EXPECT_MSG_GT(client->GetFlow().completion, Time(0), "RDMA as well");
        NS_TEST_EXPECT_MSG_EQ(sent, 100, "a packet to an RDMA host leaves");
        NS_TEST_EXPECT_MSG_EQ(rdmaHost->GetCounters().feedback, 0, "and says nothing there");
    }
};

/**
 * \brief Link two hosts with stacks, and send from one to the other.
 * \param ownAddresses whether the program gives them addresses of its own
 * \param starts whether the network is started
 */
static void
SendInPair(bool ownAddresses, bool starts)
{
    const NodeContainer nodes(2);
    QbbHelper network;
    const PacketHostHelper hosts;
    hosts.Install(nodes, network);
    const NetDeviceContainer devices =
        network.Link(nodes.Get(0), nodes.Get(1), DataRate("25Gbps"), MicroSeconds(1));
    InternetStackHelper().Install(nodes);
    if (ownAddresses)
    {
        Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(devices);
    }
    else
    {
        hosts.AssignAddresses(nodes);
    }
    if (starts)
    {
        network.Start();
    }
    const auto host = nodes.Get(1)->GetObject<PacketHost>();
    MakeUdpSocket(nodes.Get(0))
        ->SendTo(Create<Packet>(10), 0, InetSocketAddress(host->GetAddress(), PORT));
}

TestCases
MakePacketHostTests()
{
    return {new PacketPauseTest,
            new PacketEncapsulationTest,
            new PacketLimitsTest,
            new PacketAndRdmaTest,
            MakeMisuseTest(
                "datagrams in a network that was not started",
                []() { SendInPair(false, false); },
                "host 0 is not part of a running network: call QbbHelper::Start()"),
            MakeMisuseTest(
                "an address to which no way leads",
                []() { SendInPair(true, true); },
                "host 0 has an address to which no way leads; PacketHostHelper assigns those that "
                "stand for hosts. It is 10.1.1.1")};
}

} // namespace tests
} // namespace ns3
