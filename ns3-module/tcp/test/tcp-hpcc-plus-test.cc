/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-test-network.h"

#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/qbb-net-device.h"
#include "ns3/simulator.h"
#include "ns3/tcp-hpcc-plus.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief REQ-13, REQ-14, REQ-15, REQ-18: probes of TCP flows.
 */
class TcpProbeTest : public HpccTestCase
{
  public:
    TcpProbeTest()
        : HpccTestCase("Probes of TCP flows: one in T while data is in flight, on the data's way, "
                       "known by their DSCP")
    {
    }

  private:
    /// Addresses and ports.
    using Tuple = std::tuple<uint32_t, uint32_t, uint16_t, uint16_t>;

    void DoRun() override
    {
        TcpTestNetwork network(5, "ns3::TcpHpccPlus");
        network.MakeSpines();
        for (uint32_t host = 0; host < 4; ++host)
        {
            network.AddFlow(host, 1'000'000);
            network.AddFlow(host, 1'000'000, MilliSeconds(3));
        }
        for (uint32_t host = 0; host < 5; ++host)
        {
            const auto port = network.GetHost(host)->GetPort(0);
            port->TraceConnectWithoutContext("TxBegin", MakeCallback(&TcpProbeTest::OnSent, this));
        }
        for (uint32_t spine : {1, 2})
        {
            const auto port = network.switches.Get(spine)->GetObject<QbbSwitch>()->GetPort(0);
            port->TraceConnect("RxEnd",
                               std::to_string(spine),
                               MakeCallback(&TcpProbeTest::OnSpine, this));
        }
        Simulator::Stop(MilliSeconds(6));
        Simulator::Run();
        uint64_t counted = 0;
        uint64_t answered = 0;
        for (uint32_t host = 0; host < 5; ++host)
        {
            counted += network.GetHost(host)->GetProbes();
            answered += network.GetHost(host)->GetFeedback();
        }
        NS_TEST_EXPECT_MSG_GT(answered, m_answers / 2, "answers bring telemetry back");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(answered, m_answers, "and no more than were sent");
        for (uint32_t flow = 0; flow < 8; ++flow)
        {
            NS_TEST_EXPECT_MSG_EQ(network.GetReceived(flow),
                                  1'000'000,
                                  "probes reach no application");
        }
        Judge(counted);
    }

    /**
     * \brief Compare what was seen with what should have been.
     * \param counted probes that the hosts counted
     */
    void Judge(uint64_t counted)
    {
        NS_TEST_ASSERT_MSG_EQ(m_probes.size(), 8, "all flows send probes");
        // T over three switches: 8 us of cables and the transmission of 1500 bytes, four times
        // there, and back again.
        const Time baseRtt = NanoSeconds(8'000);
        std::size_t sent = 0;
        for (const auto& [tuple, times] : m_probes)
        {
            sent += times.size();
            // 8 MB at 25 Gb/s take 2.7 ms; each flow is in progress for about 1.3 ms.
            NS_TEST_EXPECT_MSG_GT(times.size(), 50, "often enough");
            for (std::size_t n = 1; n < times.size(); ++n)
            {
                NS_TEST_EXPECT_MSG_GT(times[n] - times[n - 1], baseRtt, "two probes in T");
            }
            NS_TEST_EXPECT_MSG_EQ(m_data.count(tuple), 1, "addresses and ports are those of data");
            NS_TEST_EXPECT_MSG_EQ((m_spines[tuple] == m_probeSpines[tuple]),
                                  true,
                                  "on the same way");
            NS_TEST_EXPECT_MSG_EQ(m_probeSpines[tuple].size(), 1, "which is one");
        }
        NS_TEST_EXPECT_MSG_EQ(sent, counted, "the hosts count them");
        NS_TEST_EXPECT_MSG_EQ(m_answers, sent, "each is answered");
        NS_TEST_EXPECT_MSG_EQ(m_idle, 0, "probes of idle flows");
        NS_TEST_EXPECT_MSG_EQ(m_wrongDscp,
                              0,
                              "probes and answers have their DSCP, nothing else has");
        NS_TEST_EXPECT_MSG_EQ(m_wrongQueue, 0, "probes wait where data waits");
        std::set<std::string> used;
        for (const auto& [tuple, spines] : m_probeSpines)
        {
            used.insert(spines.begin(), spines.end());
        }
        NS_TEST_EXPECT_MSG_EQ(used.size(), 2, "there are two ways");
    }

    /**
     * \param frame a frame
     * \return its addresses and ports
     */
    static Tuple TupleOf(const QbbFrame& frame)
    {
        return {frame.srcAddress, frame.dstAddress, frame.sport, frame.dport};
    }

    /**
     * \brief A host sends a frame.
     * \param frame the frame
     */
    void OnSent(const QbbFrame& frame)
    {
        const Ptr<Packet> packet = frame.packet->Copy();
        Ipv4Header ip;
        TcpHeader tcp;
        packet->RemoveHeader(ip);
        packet->RemoveHeader(tcp);
        const bool isOwn = ip.GetDscp() == 0b101011;
        m_wrongDscp += isOwn != frame.IsForTelemetryAlone();
        m_wrongQueue += frame.priority != 3;
        const Tuple own = TupleOf(frame);
        const Tuple reverse{frame.dstAddress, frame.srcAddress, frame.dport, frame.sport};
        if (frame.kind == QbbFrame::Kind::PACKET_RESPONSE)
        {
            ++m_answers;
            return;
        }
        if (frame.kind == QbbFrame::Kind::PACKET_PROBE)
        {
            m_probes[own].push_back(Simulator::Now());
            // A sender's clock: what the last host has acknowledged arrives 4 us later at the
            // earliest.
            m_idle += m_acked.count(own) &&
                      Simulator::Now() > m_acked[own].second + MicroSeconds(20) &&
                      m_acked[own].first >= m_data[own];
            return;
        }
        if (packet->GetSize() > 0)
        {
            m_data[own] =
                std::max(m_data[own], tcp.GetSequenceNumber().GetValue() + packet->GetSize());
        }
        else if (m_data.count(reverse))
        {
            m_acked[reverse] = {tcp.GetAckNumber().GetValue(), Simulator::Now()};
        }
    }

    /**
     * \brief A frame has come from the senders' switch.
     * \param spine where
     * \param frame the frame
     */
    void OnSpine(std::string spine, const QbbFrame& frame)
    {
        if (frame.kind == QbbFrame::Kind::PACKET_PROBE)
        {
            m_probeSpines[TupleOf(frame)].insert(spine);
        }
        else if (frame.kind == QbbFrame::Kind::PACKET && frame.payload > 0)
        {
            m_spines[TupleOf(frame)].insert(spine);
        }
    }

    std::map<Tuple, std::vector<Time>> m_probes; //!< when each flow's probes left
    /// Sequence number behind each flow's data.
    std::map<Tuple, uint32_t> m_data;
    /// The last acknowledged byte, and when.
    std::map<Tuple, std::pair<uint32_t, Time>> m_acked;
    std::map<Tuple, std::set<std::string>> m_spines;      //!< where each flow's data went
    std::map<Tuple, std::set<std::string>> m_probeSpines; //!< where its probes went
    uint64_t m_answers{0};                                //!< answers to probes
    uint64_t m_idle{0};                                   //!< probes without data in flight
    /// Frames whose DSCP does not say what they are.
    uint64_t m_wrongDscp{0};
    uint64_t m_wrongQueue{0}; //!< frames of another priority
};

/**
 * \ingroup hpcc
 * \brief Without a PacketHost HPCC++ is NewReno.
 */
class TcpHpccPlusUnboundTest : public HpccTestCase
{
  public:
    TcpHpccPlusUnboundTest()
        : HpccTestCase("Where nobody sends probes TcpHpccPlus does what TcpNewReno does")
    {
    }

  private:
    void DoRun() override
    {
        const auto state = CreateObject<TcpSocketState>();
        state->m_cWnd = 10'000;
        state->m_segmentSize = 1'000;
        const auto plus = CreateObject<TcpHpccPlus>();
        plus->Init(state);
        NS_TEST_EXPECT_MSG_EQ(plus->HasCongControl(), false, "TCP decides");
        const Ptr<TcpCongestionOps> reno = CreateObject<TcpNewReno>();
        NS_TEST_EXPECT_MSG_EQ(plus->GetSsThresh(state, 10'000),
                              reno->GetSsThresh(state, 10'000),
                              "after a loss");
        state->m_ssThresh = 20'000;
        plus->IncreaseWindow(state, 1);
        NS_TEST_EXPECT_MSG_EQ(state->m_cWnd.Get(), 11'000, "slow start");
        NS_TEST_EXPECT_MSG_EQ(DynamicCast<TcpHpccPlus>(plus->Fork())->IsBound(),
                              false,
                              "a fork is a flow of its own");
    }
};

TestCases
MakeTcpHpccPlusTests()
{
    return {new TcpProbeTest, new TcpHpccPlusUnboundTest};
}

} // namespace tests
} // namespace ns3
