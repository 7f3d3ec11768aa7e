/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/network.rs.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3
{
namespace tests
{

namespace
{

/// Bytes of the reference layout's section: five words and a count.
constexpr uint32_t REFERENCE_SECTION = 42;

/**
 * \brief Read a little-endian integer out of a frame's telemetry.
 * \param frame the frame
 * \param offset of its first byte
 * \param length in bytes
 * \return the integer
 */
uint64_t
ReadTelemetry(const QbbFrame& frame, uint32_t offset, uint32_t length)
{
    uint64_t value = 0;
    for (uint32_t byte = 0; byte < length; ++byte)
    {
        value |= static_cast<uint64_t>(frame.GetTelemetry()[offset + byte]) << 8 * byte;
    }
    return value;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Flow completion times that the reference simulator printed for the same network and flows.
 */
class ReferenceFctTest : public HpccTestCase
{
  public:
    ReferenceFctTest()
        : HpccTestCase("Flow completion times are the reference simulator's")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            ExpectOneFlow();
            ExpectTwoFlows("HpccFastReact", BooleanValue(true), 16748, 20053);
            ExpectTwoFlows("HpccFastReact", BooleanValue(false), 16455, 16502);
            ExpectTwoFlows("HpccSampledFeedback", BooleanValue(true), 16455, 20593);
            ExpectTwoFlows("HpccMultiRate", BooleanValue(true), 16748, 20053);
            ExpectTwoFlows("HpccMaxStage", UintegerValue(5), 16748, 20053);
            ExpectIncast();
        }
    }

    /// One flow alone.
    void ExpectOneFlow()
    {
        TestNetwork network("all");
        network.MakeStar(2);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 20'500, Seconds(2));
        Finish();
        NS_TEST_EXPECT_MSG_EQ(flow->GetFlow().completion, NanoSeconds(5888), "a flow alone");
        NS_TEST_EXPECT_MSG_EQ(network.helper.GetStandaloneFct(0, 1, 20'500),
                              NanoSeconds(5880),
                              "standalone");
        NS_TEST_EXPECT_MSG_EQ(flow->GetFlow().start, Seconds(2), "its start");
        NS_TEST_EXPECT_MSG_EQ(flow->GetFlow().sport, 10000, "its source port");
    }

    /**
     * \brief Two flows to one host, the second 5 us behind.
     * \param attribute an attribute of the hosts
     * \param value its value
     * \param first completion time of the first flow in ns
     * \param second completion time of the second flow in ns
     */
    void ExpectTwoFlows(const std::string& attribute,
                        const AttributeValue& value,
                        int64_t first,
                        int64_t second)
    {
        TestNetwork network("all");
        network.helper.SetHostAttribute(attribute, value);
        network.MakeStar(3);
        network.helper.Start();
        const auto one = network.AddFlow(0, 2, 100'000, Seconds(2));
        const auto two = network.AddFlow(1, 2, 100'000, NanoSeconds(2'000'004'999));
        Finish();
        NS_TEST_EXPECT_MSG_EQ(one->GetFlow().completion,
                              NanoSeconds(first),
                              "first flow, other " << attribute);
        NS_TEST_EXPECT_MSG_EQ(two->GetFlow().completion,
                              NanoSeconds(second),
                              "second flow, other " << attribute);
    }

    /// Eight flows to one host.
    void ExpectIncast()
    {
        TestNetwork network("all");
        network.MakeStar(9);
        network.helper.Start();
        std::vector<Ptr<RdmaClient>> flows;
        for (uint32_t sender = 0; sender < 8; ++sender)
        {
            flows.push_back(network.AddFlow(sender, 8, 30'000, Seconds(2)));
        }
        Finish();
        int64_t expected = 24372;
        for (const auto& flow : flows)
        {
            NS_TEST_EXPECT_MSG_EQ(flow->GetFlow().completion,
                                  NanoSeconds(expected),
                                  "a flow of an incast");
            expected += 87;
        }
    }

    /// Run, and clear the simulator for the next network.
    static void Finish()
    {
        Simulator::Run();
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief Each congestion control runs with its telemetry: a flow alone, against the reference
 * simulator.
 */
class EachControlTest : public HpccTestCase
{
  public:
    EachControlTest()
        : HpccTestCase("Each congestion control with its telemetry")
    {
    }

  private:
    void DoRun() override
    {
        // The frames' size is what differs: 42, 8, 2 or no bytes of telemetry.
        Expect("hpcc", "reference", 5888);
        Expect("hpcc_plus", "reference", 5888);
        Expect("timely", "timestamp", 5816);
        Expect("hpcc_pint", "pint", 5794);
        Expect("dcqcn", "none", 5794);
        Expect("dctcp", "none", 5794);
        Expect("none", "none", 5794);
    }

    /**
     * \brief Run a flow alone.
     * \param control the congestion control
     * \param layout the telemetry layout
     * \param completion time expected in ns
     */
    void Expect(const std::string& control, const std::string& layout, int64_t completion)
    {
        TestNetwork network("all");
        network.helper.SetTelemetry(layout);
        network.SetControl(control);
        network.MakeStar(2);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 20'500, Seconds(2));
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(flow->GetFlow().completion, NanoSeconds(completion), control);
    }
};

/**
 * \ingroup hpcc
 * \brief No packet leaves a full window, or before the one ahead of it has been paced out.
 */
class WindowTest : public HpccTestCase
{
  public:
    WindowTest()
        : HpccTestCase("Every packet respects window and rate")
    {
    }

  private:
    static constexpr uint32_t SENDERS = 4; //!< sending hosts

    void DoRun() override
    {
        m_network.MakeStar(SENDERS + 1);
        m_network.helper.Start();
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            m_network.GetHostDevice(sender)->TraceConnect(
                "TxBegin",
                std::to_string(sender),
                MakeCallback(&WindowTest::OnTxBegin, this));
            m_network.AddFlow(sender, SENDERS, 500'000);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_packets, SENDERS * 500, "every packet once");
        NS_TEST_EXPECT_MSG_LT(m_leastWindow,
                              52'000 / 2,
                              "four flows on one link must close their windows");
    }

    /**
     * \brief A host's packet leaves.
     * \param context the host
     * \param frame the packet
     */
    void OnTxBegin(std::string context, const QbbFrame& frame)
    {
        const auto host = m_network.helper.GetHost(std::stoi(context));
        const uint64_t window = host->GetWindow(frame.replyQueuePair);
        const uint64_t inFlight = frame.seq - host->GetAckedBytes(frame.replyQueuePair);
        NS_TEST_EXPECT_MSG_LT(inFlight, window, "the window is full");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(window,
                                    m_network.helper.GetMaxBdp(),
                                    "the window is at most a bandwidth-delay product");
        m_leastWindow = std::min(m_leastWindow, window);

        const uint64_t now = Simulator::Now().GetNanoSeconds();
        const uint64_t rate = host->GetRate(frame.replyQueuePair).GetBitRate();
        NS_TEST_EXPECT_MSG_LT_OR_EQ(rate, 100'000'000'000, "the rate is at most the line rate");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(rate, 1'000'000'000, "the rate is at least the minimum");
        if (m_packets >= SENDERS)
        {
            // A new rate holds for the gap that is under way, too.
            const uint64_t gap = hpcc::tx_time(rate, frame.size, false);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(now - m_last[context], gap, "the packet comes too early");
        }
        m_last[context] = now;
        ++m_packets;
    }

    TestNetwork m_network;                  //!< the network
    std::map<std::string, uint64_t> m_last; //!< when each host sent last
    uint32_t m_packets{0};                  //!< packets sent
    uint64_t m_leastWindow{UINT64_MAX};     //!< smallest window seen
};

/**
 * \ingroup hpcc
 * \brief The telemetry of a packet, read byte by byte: a word for each switch that it has passed.
 */
class TelemetryBytesTest : public HpccTestCase
{
  public:
    /**
     * \param switches between the two hosts
     */
    explicit TelemetryBytesTest(uint32_t switches)
        : HpccTestCase("Telemetry of " + std::to_string(switches) + " hops as bytes"),
          m_hops(switches)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeChain(m_hops);
        network.helper.Start();
        network.GetHostDevice(1)->TraceConnectWithoutContext(
            "RxEnd",
            MakeCallback(&TelemetryBytesTest::OnData, this));
        network.GetHostDevice(0)->TraceConnectWithoutContext(
            "RxEnd",
            MakeCallback(&TelemetryBytesTest::OnAck, this));
        const auto flow = network.AddFlow(0, 1, 100'000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "the flow has not finished");
        NS_TEST_EXPECT_MSG_EQ(m_packets, 100, "packets at the receiver");
        NS_TEST_EXPECT_MSG_EQ(m_acks, 100, "acknowledgements at the sender");
    }

    /**
     * \brief A packet arrives at the receiver.
     * \param frame the packet
     */
    void OnData(const QbbFrame& frame)
    {
        NS_TEST_ASSERT_MSG_EQ(frame.telemetryBytes, REFERENCE_SECTION, "length of the section");
        NS_TEST_EXPECT_MSG_EQ(frame.size,
                              1048 + REFERENCE_SECTION,
                              "the section is part of the frame");
        NS_TEST_EXPECT_MSG_EQ(ReadTelemetry(frame, 40, 2), m_hops, "the count of hops");
        uint64_t time = 0;
        for (uint32_t hop = 0; hop < 5; ++hop)
        {
            const uint64_t word = ReadTelemetry(frame, 8 * hop, 8);
            if (hop >= m_hops)
            {
                NS_TEST_EXPECT_MSG_EQ(word, 0, "an unused word");
                continue;
            }
            NS_TEST_EXPECT_MSG_EQ((word & 7), 2, "the code of 100 Gb/s");
            NS_TEST_EXPECT_MSG_GT((word >> 3 & 0xff'ffff), time, "time passes from hop to hop");
            time = word >> 3 & 0xff'ffff;
            // This flow is all that the port has sent, in units of 512 bytes.
            NS_TEST_EXPECT_MSG_EQ((word >> 27 & 0xf'ffff),
                                  m_packets * 1090 / 512,
                                  "bytes sent by the port");
            NS_TEST_EXPECT_MSG_EQ((word >> 47), 0, "one flow at line rate queues nothing");
        }
        const uint64_t sent = Simulator::Now().GetNanoSeconds() - 1000 - 87;
        NS_TEST_EXPECT_MSG_EQ(time, sent, "the last hop's time is the start of its transmission");
        ++m_packets;
    }

    /**
     * \brief An acknowledgement arrives at the sender.
     * \param frame the acknowledgement
     */
    void OnAck(const QbbFrame& frame)
    {
        NS_TEST_EXPECT_MSG_EQ(frame.size, 88, "14 + 20 + 12 bytes and the section");
        NS_TEST_EXPECT_MSG_EQ(ReadTelemetry(frame, 40, 2),
                              m_hops,
                              "the section comes back unchanged");
        ++m_acks;
    }

    uint32_t m_hops;       //!< switches on the path
    uint64_t m_packets{0}; //!< packets received
    uint64_t m_acks{0};    //!< acknowledgements received
};

TestCases
MakeHostTests()
{
    return {new ReferenceFctTest,
            new EachControlTest,
            new WindowTest,
            new TelemetryBytesTest(1),
            new TelemetryBytesTest(3),
            new TelemetryBytesTest(5)};
}

} // namespace tests
} // namespace ns3
