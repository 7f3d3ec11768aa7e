/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-test-network.h"

#include "ns3/datagram-client-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/packet.h"
#include "ns3/qbb-net-device.h"
#include "ns3/simulator.h"
#include "ns3/udp-header.h"
#include "ns3/uinteger.h"

#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// The port of the last host.
constexpr uint16_t PORT = 6000;

/**
 * \brief Let host 0 of a network send to an address.
 * \param network the network
 * \param remote the address
 * \param bytes how much
 */
void
AddClient(const TcpTestNetwork& network, const Address& remote, uint64_t bytes)
{
    DatagramClientHelper client(remote);
    client.SetAttribute("MaxBytes", UintegerValue(bytes));
    client.Install(network.nodes.Get(0));
}

/**
 * \brief Send datagrams to an address that no host has.
 * \param remote the address
 */
void
SendTo(const Address& remote)
{
    TcpTestNetwork network(3, "ns3::TcpNewReno");
    network.MakeStar();
    AddClient(network, remote, 1000);
    Simulator::Run();
}

} // namespace

/**
 * \ingroup hpcc
 * \brief REQ-13, REQ-14, REQ-15, REQ-18: probes of UDP flows.
 */
class DatagramProbeTest : public HpccTestCase
{
  public:
    DatagramProbeTest()
        : HpccTestCase("Probes of UDP flows: their addresses, ports and protocol, one in T, none "
                       "without data")
    {
    }

  private:
    void DoRun() override
    {
        TcpTestNetwork network(3, "ns3::TcpNewReno");
        network.MakeStar();
        PacketSinkHelper sink("ns3::UdpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), PORT));
        const auto received = DynamicCast<PacketSink>(sink.Install(network.nodes.Get(2)).Get(0));
        AddClient(network, InetSocketAddress(network.GetHost(2)->GetAddress(), PORT), 1'000'000);
        for (const uint32_t host : {0, 2})
        {
            const auto port = network.GetHost(host)->GetPort(0);
            port->TraceConnectWithoutContext("TxBegin",
                                             MakeCallback(&DatagramProbeTest::OnSent, this));
        }
        const auto last = network.GetHost(2)->GetPort(0);
        last->TraceConnectWithoutContext("PromiscSniffer",
                                         MakeCallback(&DatagramProbeTest::OnSniffed, this));
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetTotalRx(), 1'000'000, "probes reach no application");
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
        NS_TEST_EXPECT_MSG_EQ(network.GetHost(0)->GetProbes(),
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

TestCases
MakeDatagramClientTests()
{
    return {new DatagramProbeTest,
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
