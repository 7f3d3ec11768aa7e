/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/network.rs.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/source-ports.h"
#include "ns3/string.h"
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

/**
 * \ingroup hpcc
 * \brief A flow's state as RdmaHost shows it, from its start until it is forgotten.
 */
class FlowStateTest : public HpccTestCase
{
  public:
    FlowStateTest()
        : HpccTestCase("A flow's state while it runs, and afterwards")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        m_host = network.helper.GetHost(0);
        m_host->TraceConnectWithoutContext("FlowStart",
                                           MakeCallback(&FlowStateTest::OnStart, this));
        m_host->TraceConnectWithoutContext("FlowFinish",
                                           MakeCallback(&FlowStateTest::OnFinish, this));
        m_host->TraceConnectWithoutContext("Control",
                                           MakeCallback(&FlowStateTest::OnControl, this));
        Simulator::ScheduleNow([this, &network]() { Start(network.helper.GetHost(1)); });
        Simulator::Schedule(MicroSeconds(10), &FlowStateTest::Check, this);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_started, 1, "FlowStart");
        NS_TEST_EXPECT_MSG_EQ(m_finished, 1, "FlowFinish");
        NS_TEST_EXPECT_MSG_EQ(m_controlled, 200, "Control, for each acknowledgement");
        NS_TEST_EXPECT_MSG_EQ(m_control.inFlight, 0, "all is acknowledged");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_control.utilisation, 0.95, 0.1, "U is where HPCC keeps it");
        NS_TEST_EXPECT_MSG_EQ(m_control.bottleneck, 0, "on the only switch of the path");
        NS_TEST_EXPECT_MSG_EQ(m_done, 1, "the caller was told");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetAckedBytes(m_queuePair),
                              0,
                              "a flow that has finished is forgotten");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetRate(m_queuePair),
                              DataRate(0),
                              "a flow that has finished is forgotten");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetWindow(m_queuePair),
                              0,
                              "a flow that has finished is forgotten");
        m_host = nullptr;
    }

    /**
     * \brief Start the flow.
     * \param peer its destination
     */
    void Start(Ptr<RdmaHost> peer)
    {
        RdmaFlow flow;
        flow.size = 200'000;
        flow.tag = 77;
        m_queuePair = m_host->StartFlow(peer, flow, MakeCallback(&FlowStateTest::OnDone, this));
        NS_TEST_EXPECT_MSG_EQ(m_host->GetRate(m_queuePair),
                              DataRate("100Gbps"),
                              "line rate at first");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetWindow(m_queuePair),
                              52'350,
                              "a bandwidth-delay product at first");
    }

    /// Look at the flow in its midst.
    void Check()
    {
        NS_TEST_EXPECT_MSG_GT(m_host->GetAckedBytes(m_queuePair),
                              0,
                              "10 us are more than a round trip");
        NS_TEST_EXPECT_MSG_LT(m_host->GetAckedBytes(m_queuePair), 200'000, "10 us are not enough");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetFlow(m_queuePair).tag, 77, "the caller's tag");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetFlow(m_queuePair).dst, 1, "the destination");
    }

    /**
     * \brief A flow starts.
     * \param flow the flow
     */
    void OnStart(const RdmaFlow& flow)
    {
        m_started += flow.tag == 77;
    }

    /**
     * \brief A flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow)
    {
        m_finished += flow.tag == 77 && flow.completion == Simulator::Now() - flow.start;
    }

    /**
     * \brief The caller is told.
     * \param flow the flow
     */
    void OnDone(const RdmaFlow& flow)
    {
        m_done += flow.tag == 77;
    }

    /**
     * \brief The flow's congestion control was told something.
     * \param flow the flow
     * \param control its state
     */
    void OnControl(const RdmaFlow& flow, const RdmaControl& control)
    {
        m_controlled += flow.tag == 77;
        m_control = control;
    }

    Ptr<RdmaHost> m_host;     //!< the source
    RdmaControl m_control;    //!< what Control told last
    uint32_t m_controlled{0}; //!< how often it did
    uint32_t m_queuePair{0};  //!< the flow's queue pair
    uint32_t m_started{0};    //!< flows that FlowStart told of
    uint32_t m_finished{0};   //!< flows that FlowFinish told of
    uint32_t m_done{0};       //!< flows that the caller was told of
};

/**
 * \ingroup hpcc
 * \brief Parameters and traces are reached in ns-3's usual ways, and have an effect.
 */
class AttributeTest : public HpccTestCase
{
  public:
    AttributeTest()
        : HpccTestCase("Config reaches attributes and trace sources")
    {
    }

  private:
    void DoRun() override
    {
        const Time usual = RunTwoFlows();
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.5));
        const Time careful = RunTwoFlows();
        NS_TEST_EXPECT_MSG_GT(careful, usual, "a lower target must cost time");

        Config::SetDefault("ns3::RdmaHost::Mtu", UintegerValue(250));
        const Time small = RunTwoFlows();
        NS_TEST_EXPECT_MSG_GT(small, careful, "headers of small packets must cost time");
        NS_TEST_EXPECT_MSG_EQ(m_finished, 6, "RdmaClient's Finish, by path");
        NS_TEST_EXPECT_MSG_GT(m_sent, 3 * 4 * 200, "QbbNetDevice's TxBegin, by path");
    }

    /**
     * \brief Two flows to one host.
     * \return completion time of the second
     */
    Time RunTwoFlows()
    {
        TestNetwork network;
        network.MakeStar(3);
        network.helper.Start();
        network.AddFlow(0, 2, 200'000);
        const auto flow = network.AddFlow(1, 2, 200'000);
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/TxBegin",
                                      MakeCallback(&AttributeTest::OnTxBegin, this));
        Config::ConnectWithoutContext("/NodeList/*/ApplicationList/*/$ns3::RdmaClient/Finish",
                                      MakeCallback(&AttributeTest::OnFinish, this));
        Simulator::Run();
        Simulator::Destroy();
        return flow->GetFlow().completion;
    }

    /**
     * \brief A frame begins to leave.
     * \param frame the frame
     */
    void OnTxBegin(const QbbFrame& frame)
    {
        m_sent += frame.size > 0;
    }

    /**
     * \brief A flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow)
    {
        m_finished += flow.size == 200'000;
    }

    uint32_t m_sent{0};     //!< transmissions
    uint32_t m_finished{0}; //!< flows that finished
};

/**
 * \ingroup hpcc
 * \brief More flows from one host to another than there are UDP source ports.
 */
class SourcePortsTest : public HpccTestCase
{
  public:
    SourcePortsTest()
        : HpccTestCase("No UDP source port is two flows', and a flow whose link fails goes on "
                       "however many came after it")
    {
    }

  private:
    void DoRun() override
    {
        CheckPorts();
        CheckFlows();
    }

    /// All ports are taken, none twice, and one that is given back is found.
    void CheckPorts()
    {
        SourcePorts ports;
        uint32_t rising = 0;
        for (uint32_t port = SourcePorts::FIRST; port <= UINT16_MAX; ++port)
        {
            rising += ports.Take() == port;
        }
        NS_TEST_EXPECT_MSG_EQ(rising, SourcePorts::COUNT, "all of them, in turn");
        NS_TEST_EXPECT_MSG_EQ(ports.Take().has_value(), false, "all are in use");
        for (const uint16_t port : {65535, 20000, 30000})
        {
            ports.GiveBack(port);
        }
        for (const uint16_t port : {20000, 30000, 65535})
        {
            NS_TEST_EXPECT_MSG_EQ(*ports.Take(), port, "the next that is free");
        }
        NS_TEST_EXPECT_MSG_EQ(ports.Take().has_value(), false, "all are in use again");
    }

    /// Long flows keep their ports, and find another link.
    void CheckFlows()
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        network.MakeStar(2);
        network.Link(network.hosts.Get(0), network.switches.Get(0));
        network.helper.Start();
        std::vector<Ptr<RdmaClient>> flows;
        for (uint32_t flow = 0; flow < 4; ++flow)
        {
            flows.push_back(network.AddFlow(0, 1, 6'000'000));
        }
        for (uint32_t batch = 0; batch < 56; ++batch)
        {
            Simulator::Schedule(MicroSeconds(10 + 20 * batch),
                                &SourcePortsTest::StartFlows,
                                this,
                                &network);
        }
        Simulator::Schedule(MicroSeconds(1200),
                            [&]() { network.helper.TakeLinkDown(network.links[2]); });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_finished, 56'000, "short flows that finished");
        NS_TEST_EXPECT_MSG_EQ(m_wrongPorts, 0, "ports of a long flow, or below the first");
        for (const auto& flow : flows)
        {
            NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "a long flow was lost");
            NS_TEST_EXPECT_MSG_GT(flow->GetFlow().completion,
                                  MicroSeconds(1200),
                                  "it was under way as the link failed");
        }
        Simulator::Destroy();
    }

    /**
     * \brief Start a thousand flows of one byte.
     * \param network the network
     */
    void StartFlows(TestNetwork* network)
    {
        RdmaFlow flow;
        flow.size = 1;
        for (uint32_t count = 0; count < 1000; ++count)
        {
            network->helper.GetHost(0)->StartFlow(network->helper.GetHost(1),
                                                  flow,
                                                  MakeCallback(&SourcePortsTest::OnFinish, this));
        }
    }

    /**
     * \brief A short flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow)
    {
        ++m_finished;
        m_wrongPorts += flow.sport < SourcePorts::FIRST + 4;
    }

    uint32_t m_finished{0};   //!< short flows that finished
    uint32_t m_wrongPorts{0}; //!< those with a port that they must not have
};

/**
 * \ingroup hpcc
 * \brief Whoever visits flows may start others meanwhile.
 */
class VisitTest : public HpccTestCase
{
  public:
    VisitTest()
        : HpccTestCase("A visitor of flows may start flows")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        const Ptr<RdmaHost> source = network.helper.GetHost(0);
        RdmaFlow flow;
        const auto start = [&](uint64_t size) {
            flow.size = size;
            source->StartFlow(network.helper.GetHost(1), flow, RdmaHost::FlowCallback());
        };
        for (uint64_t size = 1; size <= 50; ++size)
        {
            start(size);
        }
        uint64_t visited = 0;
        source->VisitFlows([&](const RdmaFlow& known, uint32_t) {
            visited += known.size;
            for (uint32_t count = 0; count < 20; ++count)
            {
                start(1'000);
            }
        });
        NS_TEST_EXPECT_MSG_EQ(visited, 50 * 51 / 2, "each of the flows before, once");
        Simulator::Destroy();
    }
};

TestCases
MakeHostTests()
{
    return {new ReferenceFctTest,
            new EachControlTest,
            new WindowTest,
            new TelemetryBytesTest(1),
            new TelemetryBytesTest(3),
            new TelemetryBytesTest(5),
            new FlowStateTest,
            new AttributeTest,
            new SourcePortsTest,
            new VisitTest};
}

} // namespace tests
} // namespace ns3
