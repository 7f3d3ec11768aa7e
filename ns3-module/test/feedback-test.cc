/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// What a run showed.
struct Observed
{
    std::vector<Time> completions; //!< of each flow; zero for one that has not finished
    RdmaCounters counters;         //!< of the first sender
    /// Mean queue at the bottleneck after the start, in bytes.
    uint64_t meanQueue{0};
    /// Frames of each kind that the first sender's port sent.
    std::map<QbbFrame::Kind, uint32_t> sent;
    std::vector<Time> probes;    //!< when it sent probes
    uint32_t otherPriorities{0}; //!< probes in another priority than data
};

/// Four flows of this size to one host.
constexpr uint64_t SIZE = 2'000'000;
/// Senders, all to the host behind them.
constexpr uint32_t SENDERS = 4;
/// Samples of the queue, 1 us apart.
constexpr uint64_t SAMPLES = 250;

/**
 * \brief A star in which all hosts but one send to that one.
 */
class Incast
{
  public:
    /// HPCC++ with the paper's telemetry.
    Incast()
    {
        m_network.SetControl("hpcc_plus");
        m_network.helper.SetTelemetry("paper");
    }

    /**
     * \brief Choose another congestion control.
     * \param algorithm its name
     * \return this
     */
    Incast& Control(const std::string& algorithm)
    {
        m_network.SetControl(algorithm);
        return *this;
    }

    /**
     * \brief Set an attribute of all hosts.
     * \param name its name
     * \param value its value
     * \return this
     */
    Incast& Set(const std::string& name, const AttributeValue& value)
    {
        m_network.helper.SetHostAttribute(name, value);
        return *this;
    }

    /**
     * \brief Set an attribute of a host, or of the switch, which comes behind them.
     * \param node the node
     * \param name its name
     * \param value its value
     * \return this
     */
    Incast& SetAt(uint32_t node, const std::string& name, const AttributeValue& value)
    {
        Build();
        m_network.helper.GetNode(node)->SetAttribute(name, value);
        return *this;
    }

    /// \return what the run showed
    Observed Run()
    {
        Build();
        m_network.helper.Start();
        Observed observed;
        const auto port = m_network.GetHostDevice(0);
        port->TraceConnectWithoutContext(
            "TxBegin",
            Callback<void, const QbbFrame&>([&](const QbbFrame& frame) {
                ++observed.sent[frame.kind];
                if (frame.kind == QbbFrame::Kind::PROBE)
                {
                    observed.probes.push_back(Simulator::Now());
                    observed.otherPriorities += frame.priority != 3;
                }
            }));
        std::vector<Ptr<RdmaClient>> flows;
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            flows.push_back(m_network.AddFlow(sender, SENDERS, SIZE));
        }
        const auto bottleneck = DynamicCast<QbbSwitch>(m_network.helper.GetNode(SENDERS + 1));
        for (uint64_t micros = 250; micros < 250 + SAMPLES; ++micros)
        {
            Simulator::Schedule(MicroSeconds(micros), [&observed, bottleneck]() {
                observed.meanQueue += bottleneck->GetQueuedBytes(SENDERS);
            });
        }
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        for (const auto& flow : flows)
        {
            observed.completions.push_back(flow->GetFlow().completion);
        }
        observed.meanQueue /= SAMPLES;
        observed.counters = DynamicCast<RdmaHost>(m_network.helper.GetNode(0))->GetCounters();
        Simulator::Destroy();
        return observed;
    }

  private:
    /// Build the network, once.
    void Build()
    {
        if (m_network.links.empty())
        {
            m_network.MakeStar(SENDERS + 1);
        }
    }

    TestNetwork m_network; //!< the network
};

} // namespace

/**
 * \ingroup hpcc
 * \brief REQ-03, REQ-04, REQ-12, REQ-16, REQ-17, REQ-19, REQ-20, REQ-25: every way of telemetry
 * controls the flows.
 */
class FeedbackModesTest : public HpccTestCase
{
  public:
    FeedbackModesTest()
        : HpccTestCase("Every way of telemetry keeps the queue short, and all flows finish")
    {
    }

  private:
    void DoRun() override
    {
        // Without telemetry three windows of 52 kB stand in the queue, for the fourth is on the
        // way. Rx-HPCC swings: its rounds are as long as an empty path, so that it decides several
        // times before it hears of the first.
        const uint64_t limit = 5'000;
        const uint64_t swing = 78'000;
        const Observed plain = Expect("all", limit, Incast());
        Expect("nth", limit, Incast().Set("TelemetryPackets", StringValue("nth")));
        Expect("rtt", limit, Incast().Set("TelemetryPackets", StringValue("rtt")));
        Expect("congestion", limit, Incast().Set("TelemetryPackets", StringValue("congestion")));
        Expect("probes", limit, Incast().Set("TelemetryPackets", StringValue("probes")));
        Expect("busiest link", limit, Incast().Set("TelemetryAnswer", StringValue("busiest_link")));
        Expect("loads", limit, Incast().Set("TelemetryAnswer", StringValue("loads")));
        Expect("rx", swing, Incast().Control("rx_hpcc"));
        Expect("rx, counted",
               swing,
               Incast().Control("rx_hpcc").Set("RxHpccCountFlows", BooleanValue(true)));
        Expect("rx, notified",
               swing,
               Incast().Control("rx_hpcc").Set("TelemetryFeedback", StringValue("notification")));
        const Observed guarded =
            Expect("guard", limit, Incast().Set("TelemetryGuard", BooleanValue(true)));
        NS_TEST_EXPECT_MSG_EQ(guarded.counters.rejectedByGuard, 0, "honest records are believed");
        const StringValue key("000102030405060708090a0b0c0d0e0f");
        const Observed sealed = Expect("seal", limit, Incast().Set("TelemetrySeal", key));
        NS_TEST_EXPECT_MSG_EQ(sealed.counters.rejectedBySeal, 0, "seals fit");
        NS_TEST_EXPECT_MSG_EQ((plain.completions == guarded.completions),
                              true,
                              "a guard changes nothing");
        ExpectUncontrolled();
    }

    /**
     * \brief Run, and expect a short queue after the first round trips.
     * \param mode what is tried
     * \param limit the mean queue is shorter, in bytes
     * \param incast the network
     * \return what the run showed
     */
    Observed Expect(const std::string& mode, uint64_t limit, Incast& incast)
    {
        const Observed observed = incast.Run();
        for (const Time& completion : observed.completions)
        {
            NS_TEST_EXPECT_MSG_GT(completion, Time(0), mode << ": a flow has not finished");
        }
        NS_TEST_EXPECT_MSG_LT(observed.meanQueue, limit, mode << ": a standing queue");
        NS_TEST_EXPECT_MSG_GT(observed.counters.feedback, 0, mode << ": no feedback");
        return observed;
    }

    /**
     * \brief The same; a temporary.
     * \param mode what is tried
     * \param limit the mean queue is shorter, in bytes
     * \param incast the network
     * \return what the run showed
     */
    Observed Expect(const std::string& mode, uint64_t limit, Incast&& incast)
    {
        return Expect(mode, limit, incast);
    }

    /// Without any telemetry the windows stand in the queue: what the others avoid.
    void ExpectUncontrolled()
    {
        const Observed observed =
            Incast().Control("none").Set("TelemetryPackets", StringValue("none")).Run();
        NS_TEST_EXPECT_MSG_GT(observed.meanQueue, 150'000, "three windows stand in the queue");
        NS_TEST_EXPECT_MSG_EQ(observed.counters.feedback, 0, "nothing comes back");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-64: a switch that hides from one host what records tell.
 */
class TelemetryBorderTest : public HpccTestCase
{
  public:
    TelemetryBorderTest()
        : HpccTestCase(
              "A border switch tells a host outside ratios only, which control its flow as well")
    {
    }

  private:
    void DoRun() override
    {
        const Time open = Run("none");
        NS_TEST_EXPECT_MSG_EQ((m_codes == std::set<uint8_t>{4}), true, "100 Gb/s");
        const Time hidden = Run("0");
        NS_TEST_EXPECT_MSG_EQ((m_codes == std::set<uint8_t>{7}), true, "800 Gb/s, whatever it is");
        NS_TEST_EXPECT_MSG_EQ_TOL(hidden, open, MicroSeconds(3), "the flow is controlled alike");
    }

    /**
     * \brief Run two flows from hosts 0 and 1 to host 2.
     * \param outside from whom the switch hides
     * \return when the flow of host 0 is complete
     */
    Time Run(const std::string& outside)
    {
        m_codes.clear();
        TestNetwork network;
        network.helper.SetTelemetry("paper");
        network.SetControl("hpcc_plus");
        network.helper.SetSwitchAttribute("TelemetryHiddenFrom", StringValue(outside));
        network.MakeStar(3);
        const auto flow = network.AddFlow(0, 2, 1'000'000);
        network.AddFlow(1, 2, 1'000'000);
        network.helper.Start();
        const auto port = DynamicCast<QbbSwitch>(network.helper.GetNode(3))->GetPort(0);
        port->TraceConnectWithoutContext("TxBegin",
                                         MakeCallback(&TelemetryBorderTest::OnSend, this));
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        const Time completion = flow->GetFlow().completion;
        Simulator::Destroy();
        return completion;
    }

    /**
     * \brief A frame leaves for host 0.
     * \param frame the frame
     */
    void OnSend(const QbbFrame& frame)
    {
        // Two bytes of hop count and path id; the next begin with the code of the rate.
        if (frame.IsAcknowledgement() && frame.telemetryBytes > 2)
        {
            m_codes.insert(frame.GetTelemetry()[2] >> 4);
        }
    }

    std::set<uint8_t> m_codes; //!< codes of the rates in what goes to host 0
};

/**
 * \ingroup hpcc
 * \brief REQ-11: more flows than W_ai was made for.
 */
class MoreFlowsThanExpectedTest : public HpccTestCase
{
  public:
    MoreFlowsThanExpectedTest()
        : HpccTestCase("With more flows than expected the link is full, and a queue stands")
    {
    }

  private:
    void DoRun() override
    {
        const Observed expected = Measure(100);
        const Observed more = Measure(1);
        NS_TEST_EXPECT_MSG_LT(expected.meanQueue, 2'000, "as many as expected, or fewer");
        NS_TEST_EXPECT_MSG_GT(more.meanQueue, 5'000, "a standing queue");
        NS_TEST_EXPECT_MSG_LT(more.meanQueue, 20'000, "that is bounded");
        // 8 MB in packets of 1000 bytes, each in a frame of 1058, take 677 us.
        for (const Time& completion : more.completions)
        {
            NS_TEST_EXPECT_MSG_GT(completion, Time(0), "a flow has not finished");
            NS_TEST_EXPECT_MSG_LT(completion, MicroSeconds(700), "the link was not full");
        }
    }

    /**
     * \param flows that are expected
     * \return what four flows showed
     */
    Observed Measure(uint32_t flows)
    {
        return Incast()
            .Set("HpccPlusMaxStage", UintegerValue(5))
            .Set("HpccPlusExpectedFlows", UintegerValue(flows))
            .Run();
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-13, REQ-14, REQ-15: probes take the data's way, once in a round trip, while data is in
 * flight.
 */
class ProbeTest : public HpccTestCase
{
  public:
    ProbeTest()
        : HpccTestCase(
              "Probes leave once in a round trip, in the data's queue, while data is in flight")
    {
    }

  private:
    void DoRun() override
    {
        const Observed observed = Incast().Set("TelemetryPackets", StringValue("probes")).Run();
        NS_TEST_ASSERT_MSG_GT(observed.probes.size(), 10, "probes");
        NS_TEST_EXPECT_MSG_EQ(observed.counters.probes,
                              observed.probes.size(),
                              "the host counts them");
        NS_TEST_EXPECT_MSG_EQ(observed.otherPriorities, 0, "in the data's priority");
        // T of a star of 1 us links: 4.16 us; a probe may have to wait for the frame before it.
        for (std::size_t n = 1; n < observed.probes.size(); ++n)
        {
            const Time gap = observed.probes[n] - observed.probes[n - 1];
            NS_TEST_EXPECT_MSG_GT(gap, MicroSeconds(4), "two probes in a round trip");
        }
        const Time last = observed.completions[0];
        NS_TEST_EXPECT_MSG_LT(observed.probes.back(), last, "a probe of an idle flow");
    }
};

/**
 * \ingroup hpcc
 * \brief Answers in packets of their own, REQ-16: their number.
 */
class NotificationTest : public HpccTestCase
{
  public:
    NotificationTest()
        : HpccTestCase("Telemetry comes back in packets of its own, one for each that collected it")
    {
    }

  private:
    void DoRun() override
    {
        const Observed acks = Incast().Run();
        const Observed alone = Incast().Set("TelemetryFeedback", StringValue("notification")).Run();
        const uint64_t packets = SIZE / 1000;
        NS_TEST_EXPECT_MSG_EQ(acks.counters.feedback, packets, "in acknowledgements");
        NS_TEST_EXPECT_MSG_EQ(alone.counters.feedback, packets, "by itself");
        const Observed sampled = Incast()
                                     .Set("TelemetryFeedback", StringValue("notification"))
                                     .Set("TelemetryPackets", StringValue("nth"))
                                     .Set("TelemetryEvery", UintegerValue(16))
                                     .Run();
        NS_TEST_EXPECT_MSG_EQ(sampled.counters.feedback, packets / 16, "of every 16th");
    }
};

/**
 * \ingroup hpcc
 * \brief Nodes that know nothing of telemetry, among others that do.
 */
class MixedDeploymentTest : public HpccTestCase
{
  public:
    MixedDeploymentTest()
        : HpccTestCase("Hosts and switches without telemetry stall nobody")
    {
    }

  private:
    void DoRun() override
    {
        ExpectDone("a sender", Incast().SetAt(0, "CongestionControl", StringValue("none")));
        ExpectDone("a DCQCN sender",
                   Incast()
                       .SetAt(0, "TelemetryPackets", StringValue("none"))
                       .SetAt(0, "CongestionControl", StringValue("dcqcn")));
        ExpectDone("the receiver", Incast().SetAt(SENDERS, "TelemetryAnswer", StringValue("none")));
    }

    /**
     * \brief Expect that all flows finish.
     * \param who knows nothing of telemetry
     * \param incast the network
     */
    void ExpectDone(const std::string& who, Incast& incast)
    {
        for (const Time& completion : incast.Run().completions)
        {
            NS_TEST_EXPECT_MSG_GT(completion, Time(0), who << ": a flow has not finished");
        }
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-30: flows that share a spine while another is idle.
 */
class PathMigrationTest : public HpccTestCase
{
  public:
    PathMigrationTest()
        : HpccTestCase("Flows move to idle paths, and then stay")
    {
    }

  private:
    /// What a run showed.
    struct Outcome
    {
        double gbps{0};       //!< payload of all flows
        uint64_t moves{0};    //!< until the flows were measured
        uint64_t restless{0}; //!< afterwards
    };

    void DoRun() override
    {
        const Outcome fixed = Measure(1);
        const Outcome free = Measure(8);
        NS_TEST_EXPECT_MSG_EQ(fixed.moves + fixed.restless, 0, "nobody moves");
        NS_TEST_EXPECT_MSG_GT(free.moves, 0, "somebody moves");
        // By their hashes the four flows have two or three of the four spines; 95 % of all four is
        // 359 Gb/s of payload.
        NS_TEST_EXPECT_MSG_LT(fixed.gbps, 280, "without a choice");
        NS_TEST_EXPECT_MSG_GT(free.gbps, 340, "with one");
        NS_TEST_EXPECT_MSG_EQ(free.restless, 0, "each has a spine to itself, and stays");
    }

    /**
     * \brief Run four flows from one leaf to another, over four spines.
     * \param paths that each flow chooses from
     * \return what it showed
     */
    Outcome Measure(uint8_t paths)
    {
        constexpr uint32_t FLOWS = 4;
        TestNetwork network;
        network.SetControl("hpcc_plus");
        network.helper.SetHostAttribute("TelemetryPaths", UintegerValue(paths));
        network.helper.SetTelemetry("paper");
        network.hosts.Create(2 * FLOWS);
        network.switches.Create(2 + FLOWS);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        for (uint32_t host = 0; host < 2 * FLOWS; ++host)
        {
            network.Link(network.hosts.Get(host), network.switches.Get(host / FLOWS));
        }
        for (uint32_t spine = 0; spine < FLOWS; ++spine)
        {
            network.Link(network.switches.Get(0), network.switches.Get(2 + spine));
            network.Link(network.switches.Get(1), network.switches.Get(2 + spine));
        }
        network.helper.Start();
        std::vector<Ptr<RdmaClient>> flows;
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            flows.push_back(network.AddFlow(flow, FLOWS + flow, uint64_t{1} << 30));
        }
        Outcome outcome;
        uint64_t before = 0;
        const auto look = [&](uint64_t& acked, uint64_t& moves) {
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                const auto host = DynamicCast<RdmaHost>(network.helper.GetNode(flow));
                acked += host->GetAckedBytes(flows[flow]->GetQueuePair());
                moves += host->GetCounters().pathMoves;
            }
        };
        Simulator::Schedule(MilliSeconds(6), [&]() { look(before, outcome.moves); });
        Simulator::Schedule(MilliSeconds(10), [&]() {
            uint64_t after = 0;
            look(after, outcome.restless);
            outcome.gbps = static_cast<double>(after - before) * 8 / 4e6;
            outcome.restless -= outcome.moves;
        });
        Simulator::Stop(MilliSeconds(10) + NanoSeconds(1));
        Simulator::Run();
        Simulator::Destroy();
        return outcome;
    }
};

TestCases
MakeFeedbackTests()
{
    return {new FeedbackModesTest,
            new TelemetryBorderTest,
            new MoreFlowsThanExpectedTest,
            new ProbeTest,
            new NotificationTest,
            new MixedDeploymentTest,
            new PathMigrationTest};
}

} // namespace tests
} // namespace ns3
