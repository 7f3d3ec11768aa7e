/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "../../test/hpcc-tests.h"
#include "tcp-test-network.h"

#include "ns3/datagram-client-helper.h"
#include "ns3/datagram-client.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/packet.h"
#include "ns3/qbb-net-device.h"
#include "ns3/simulator.h"
#include "ns3/udp-header.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// The first client's port at the last host; the next one has the next.
constexpr uint16_t FIRST_PORT = 6000;

/// Senders of datagrams to the last host of a star, whose port has 25 Gb/s.
struct DatagramNetwork
{
    DatagramNetwork()
        : network(3, "ns3::TcpNewReno")
    {
        network.MakeStar();
    }

    /**
     * \brief Let a host send to the last one.
     * \param src the host
     * \param bytes how much, 0 for no end
     */
    void AddClient(uint32_t src, uint64_t bytes)
    {
        const auto port = static_cast<uint16_t>(FIRST_PORT + sinks.GetN());
        PacketSinkHelper sink("ns3::UdpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(network.nodes.Get(2)));
        DatagramClientHelper client(InetSocketAddress(network.GetHost(2)->GetAddress(), port));
        client.SetAttribute("MaxBytes", UintegerValue(bytes));
        client.SetAttribute("ExpectedFlows", UintegerValue(2));
        clients.Add(client.Install(NodeContainer(network.nodes.Get(src))));
    }

    /**
     * \param flow place in the order of AddClient()
     * \return bytes that arrived
     */
    uint64_t GetReceived(uint32_t flow) const
    {
        return DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx();
    }

    /**
     * \param flow place in the order of AddClient()
     * \return bytes that were sent
     */
    uint64_t GetSent(uint32_t flow) const
    {
        return DynamicCast<DatagramClient>(clients.Get(flow))->GetSent();
    }

    TcpTestNetwork network;       //!< hosts and switch
    ApplicationContainer sinks;   //!< where datagrams arrive
    ApplicationContainer clients; //!< where they leave
};

} // namespace

/**
 * \ingroup hpcc
 * \brief HPCC++ paces datagrams that nothing acknowledges.
 */
class DatagramPaceTest : public TcpTestCase
{
  public:
    DatagramPaceTest()
        : TcpTestCase(
              "Datagrams under HPCC++ share a link and keep its queue short, by probes alone")
    {
    }

  private:
    void DoRun() override
    {
        DatagramNetwork datagrams;
        datagrams.AddClient(0, 0);
        datagrams.AddClient(1, 0);
        uint64_t queue = 0;
        const uint64_t samples = 3'000;
        for (uint64_t micros = 1'000; micros < 1'000 + samples; ++micros)
        {
            Simulator::Schedule(MicroSeconds(micros), [&]() {
                queue += datagrams.network.GetLastSwitch()->GetQueuedBytes(
                    datagrams.network.GetBottleneck());
            });
        }
        std::vector<uint64_t> before{0, 0};
        Simulator::Schedule(MilliSeconds(1), [&]() {
            before = {datagrams.GetReceived(0), datagrams.GetReceived(1)};
        });
        Simulator::Stop(MilliSeconds(4));
        Simulator::Run();
        const uint64_t first = datagrams.GetReceived(0) - before[0];
        const uint64_t second = datagrams.GetReceived(1) - before[1];
        // 25 Gb/s for 3 ms are 9.375 MB, of which headers take 3 % and the headroom at most 5 %.
        NS_TEST_EXPECT_MSG_GT(first + second, 8'500'000, "the link is used");
        NS_TEST_EXPECT_MSG_LT(first + second, 9'375'000, "by no more than it can carry");
        NS_TEST_EXPECT_MSG_GT(std::min(first, second), (first + second) * 45 / 100, "and shared");
        NS_TEST_EXPECT_MSG_LT(queue / samples, 10'000, "without a standing queue");
        NS_TEST_EXPECT_MSG_EQ(datagrams.network.GetHost(0)->GetDrops(),
                              0,
                              "the host's queue is none");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-13, REQ-14, REQ-15, REQ-18: probes of UDP flows.
 */
class DatagramProbeTest : public TcpTestCase
{
  public:
    DatagramProbeTest()
        : TcpTestCase("Probes of UDP flows: their addresses, ports and protocol, one in T, none "
                      "without data")
    {
    }

  private:
    void DoRun() override
    {
        DatagramNetwork datagrams;
        datagrams.AddClient(0, 1'000'000);
        for (const uint32_t host : {0, 2})
        {
            const auto port = datagrams.network.GetHost(host)->GetPort(0);
            port->TraceConnectWithoutContext("TxBegin",
                                             MakeCallback(&DatagramProbeTest::OnSent, this));
        }
        const auto last = datagrams.network.GetHost(2)->GetPort(0);
        last->TraceConnectWithoutContext("PromiscSniffer",
                                         MakeCallback(&DatagramProbeTest::OnSniffed, this));
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(datagrams.GetReceived(0), 1'000'000, "probes reach no application");
        NS_TEST_EXPECT_MSG_EQ(m_data, (1'000'000 + 1'451) / 1'452, "datagrams");
        // 1 MB at 23.75 Gb/s and with headers takes 347 us; T is 4 us of cables and the frames'
        // times.
        NS_TEST_EXPECT_MSG_GT(m_probes.size(), 30, "often enough");
        for (std::size_t n = 1; n < m_probes.size(); ++n)
        {
            NS_TEST_EXPECT_MSG_GT(m_probes[n] - m_probes[n - 1],
                                  MicroSeconds(4),
                                  "two probes in T");
        }
        NS_TEST_EXPECT_MSG_EQ(datagrams.network.GetHost(0)->GetProbes(),
                              m_probes.size(),
                              "the host counts them");
        NS_TEST_EXPECT_MSG_EQ(m_answers, m_probes.size(), "each is answered");
        NS_TEST_EXPECT_MSG_LT(m_probes.back(),
                              m_lastData + MicroSeconds(20),
                              "none follow the last datagram");
        NS_TEST_EXPECT_MSG_EQ(m_ports.size(), 1, "addresses and ports are those of data");
        NS_TEST_EXPECT_MSG_EQ(m_wrongDscp,
                              0,
                              "probes and answers have their DSCP, nothing else has");
        NS_TEST_EXPECT_MSG_GT(m_sniffed, 2 * m_probes.size(), "captures show them");
        NS_TEST_EXPECT_MSG_EQ(m_wrongLength, 0, "with the length that UDP has there");
    }

    /**
     * \brief A host sends a frame.
     * \param frame the frame
     */
    void OnSent(const QbbFrame& frame)
    {
        const Ptr<Packet> packet = frame.packet->Copy();
        Ipv4Header ip;
        UdpHeader udp;
        packet->RemoveHeader(ip);
        packet->RemoveHeader(udp);
        m_wrongDscp += (ip.GetDscp() == 0b101011) != frame.IsForTelemetryAlone();
        if (frame.kind == QbbFrame::Kind::PACKET_RESPONSE)
        {
            ++m_answers;
            m_ports.insert({udp.GetDestinationPort(), udp.GetSourcePort()});
            return;
        }
        m_ports.insert({udp.GetSourcePort(), udp.GetDestinationPort()});
        if (frame.kind == QbbFrame::Kind::PACKET_PROBE)
        {
            m_probes.push_back(Simulator::Now());
            return;
        }
        ++m_data;
        m_lastData = Simulator::Now();
    }

    /**
     * \brief The last host's port has seen a frame.
     * \param frame its bytes
     */
    void OnSniffed(Ptr<const Packet> frame)
    {
        std::vector<uint8_t> bytes(frame->GetSize());
        frame->CopyData(bytes.data(), static_cast<uint32_t>(bytes.size()));
        const auto word = [&bytes](std::size_t at) { return bytes[at] << 8 | bytes[at + 1]; };
        ++m_sniffed;
        // Behind 14 bytes of Ethernet the IP header, of 20 bytes, says the packet's length at 2,
        // and UDP its own at 4.
        m_wrongLength += word(14 + 2) != 20 + word(34 + 4);
    }

    std::vector<Time> m_probes;                      //!< when probes left
    std::set<std::pair<uint16_t, uint16_t>> m_ports; //!< ports, as the client's end has them
    uint64_t m_data{0};                              //!< datagrams
    Time m_lastData;                                 //!< when the last one left
    uint64_t m_answers{0};                           //!< answers to probes
    /// Frames whose DSCP does not say what they are.
    uint64_t m_wrongDscp{0};
    uint64_t m_sniffed{0};     //!< frames in the capture
    uint64_t m_wrongLength{0}; //!< those whose lengths contradict each other
};

/**
 * \ingroup hpcc
 * \brief Lost datagrams, probes and answers stop no flow.
 */
class DatagramLossTest : public TcpTestCase
{
  public:
    DatagramLossTest()
        : TcpTestCase("A flow of datagrams goes on where datagrams, probes and answers are lost")
    {
    }

  private:
    void DoRun() override
    {
        DatagramNetwork datagrams;
        datagrams.AddClient(0, 5'000'000);
        const auto last = datagrams.network.GetHost(2)->GetPort(0);
        datagrams.network.network.SetLoss(NetDeviceContainer(last), 0.02, 1);
        datagrams.network.network.SetLoss(
            NetDeviceContainer(datagrams.network.GetHost(0)->GetPort(0)),
            0.02,
            2);
        Simulator::Stop(MilliSeconds(10));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(datagrams.GetSent(0), 5'000'000, "all is sent");
        const uint64_t received = datagrams.GetReceived(0);
        NS_TEST_EXPECT_MSG_GT(received, 4'800'000, "and most arrives");
        NS_TEST_EXPECT_MSG_LT(received, 4'970'000, "but for what is lost");
    }
};

/**
 * \ingroup hpcc
 * \brief What stops before it starts sends nothing.
 */
class DatagramStopTest : public TcpTestCase
{
  public:
    DatagramStopTest()
        : TcpTestCase("A client that stops before it starts sends no datagram")
    {
    }

  private:
    void DoRun() override
    {
        DatagramNetwork datagrams;
        datagrams.AddClient(0, 1'000'000);
        datagrams.AddClient(1, 1'000'000);
        datagrams.clients.Get(0)->SetStartTime(MicroSeconds(50));
        datagrams.clients.Get(0)->SetStopTime(MicroSeconds(20));
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(datagrams.GetSent(0), 0, "it was stopped");
        NS_TEST_EXPECT_MSG_EQ(datagrams.GetReceived(0), 0, "nothing arrives");
        NS_TEST_EXPECT_MSG_EQ(datagrams.GetReceived(1), 1'000'000, "the other one sends");
    }
};

/**
 * \brief Send datagrams to an address that no host has.
 * \param remote the address
 */
static void
SendTo(const Address& remote)
{
    DatagramNetwork datagrams;
    DatagramClientHelper(remote).Install(datagrams.network.nodes.Get(0));
    Simulator::Run();
}

std::vector<TestCase*>
MakeDatagramClientTests()
{
    return {new DatagramPaceTest,
            new DatagramProbeTest,
            new DatagramLossTest,
            new DatagramStopTest,
            MakeMisuseTest(
                "datagrams to an IPv4 address that no host has",
                [] { SendTo(InetSocketAddress("10.9.9.9", 200)); },
                "no host has the address 10.9.9.9:200"),
            MakeMisuseTest(
                "datagrams to an IPv6 address that no host has",
                [] { SendTo(Inet6SocketAddress("2001:db9::1", 200)); },
                "no host has the address [2001:db9::1]:200")};
}

} // namespace tests
} // namespace ns3
