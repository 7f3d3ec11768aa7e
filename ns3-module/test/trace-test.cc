/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-client-helper.h"
#include "ns3/rdma-flow-results.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <memory>
#include <sstream>
#include <type_traits>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief What hosts and devices tell of by their trace sources, by paths of ns3::Config.
 */
class TraceSourcesTest : public HpccTestCase
{
  public:
    TraceSourcesTest()
        : HpccTestCase("Trace sources of hosts and queues, by their paths")
    {
    }

  private:
    void DoRun() override
    {
        CheckRoundTrips();
        CheckResent();
        CheckNotifications();
    }

    /// A packet that meets no other takes the base round-trip time, and the queues hold what they
    /// say.
    void CheckRoundTrips()
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        Connect();
        network.AddFlow(0, 1, 1000);
        network.AddFlow(0, 1, 100'000, MilliSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_rtts.size(), 101, "packets are acknowledged one by one");
        // T is rounded up once, a frame's time on each of the four links.
        const Time added = m_rtts.front() - network.helper.GetMaxRtt();
        NS_TEST_EXPECT_MSG_EQ((added >= Time(0) && added < NanoSeconds(4)),
                              true,
                              "round-trip time of a lone packet");
        NS_TEST_EXPECT_MSG_EQ(m_resent, 0, "nothing is lost");
        NS_TEST_EXPECT_MSG_EQ(m_cnps, 0, "HPCC needs no notifications");
        NS_TEST_EXPECT_MSG_GT(m_queueEvents, 200, "queues fill and empty");
        NS_TEST_EXPECT_MSG_EQ(m_wrongLengths, 0, "lengths that the device has");
        NS_TEST_EXPECT_MSG_EQ(m_queued, 0, "and are empty at the end");
        Simulator::Destroy();
    }

    /// Lost packets are sent again, and each is told of.
    void CheckResent()
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        network.MakeStar(2);
        network.helper.SetLoss(network.links[1], 0.01, 1);
        network.helper.Start();
        Connect();
        const auto flow = network.AddFlow(0, 1, 1'000'000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "the flow finishes");
        NS_TEST_EXPECT_MSG_GT(m_resent, 5, "packets were lost");
        NS_TEST_EXPECT_MSG_EQ(m_resent,
                              network.helper.GetHost(0)->GetCounters().resent,
                              "packets sent again");
        Simulator::Destroy();
    }

    /// DCQCN's receivers notify.
    void CheckNotifications()
    {
        TestNetwork network;
        network.helper.SetTelemetry("none");
        network.SetControl("dcqcn");
        network.helper.SetHostAttribute("CongestionNotification", StringValue("cnp"));
        network.MakeStar(3);
        network.helper.Start();
        Connect();
        network.AddFlow(0, 2, 10'000'000);
        network.AddFlow(1, 2, 10'000'000);
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        const uint64_t sent = network.helper.GetHost(network.hosts.Get(2))->GetCounters().cnps;
        NS_TEST_EXPECT_MSG_GT(m_cnps, 0, "senders are notified");
        NS_TEST_EXPECT_MSG_EQ((m_cnps <= sent && m_cnps + 2 >= sent),
                              true,
                              "of " << sent << " that were sent");
        std::ostringstream unfinished;
        NS_TEST_EXPECT_MSG_EQ(network.helper.PrintUnfinished(unfinished), 2, "flows under way");
        NS_TEST_EXPECT_MSG_NE(
            unfinished.str().find("10000000 bytes from host 1:10000 to host 2:100, begun at"),
            std::string::npos,
            unfinished.str());
        Simulator::Destroy();
    }

    /// Connect to all trace sources, and forget what they have told so far.
    void Connect()
    {
        m_rtts.clear();
        m_resent = 0;
        m_cnps = 0;
        Config::ConnectWithoutContext("/NodeList/*/$ns3::RdmaHost/Rtt",
                                      MakeCallback(&TraceSourcesTest::OnRtt, this));
        Config::ConnectWithoutContext("/NodeList/*/$ns3::RdmaHost/Resend",
                                      Callback<void, const RdmaFlow&, uint64_t>(
                                          [this](const RdmaFlow&, uint64_t) { ++m_resent; }));
        Config::ConnectWithoutContext(
            "/NodeList/*/$ns3::RdmaHost/Cnp",
            Callback<void, const RdmaFlow&>([this](const RdmaFlow&) { ++m_cnps; }));
        Config::Connect("/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/QueuedBytes",
                        MakeCallback(&TraceSourcesTest::OnQueue, this));
    }

    /**
     * \brief A packet is acknowledged.
     * \param rtt round-trip time
     */
    void OnRtt(const RdmaFlow&, Time rtt)
    {
        m_rtts.push_back(rtt);
    }

    /**
     * \brief A queue has changed.
     * \param path the device's
     * \param queue the queue
     * \param before its bytes before
     * \param now its bytes now
     */
    void OnQueue(std::string path, uint8_t queue, uint64_t before, uint64_t now)
    {
        ++m_queueEvents;
        uint64_t& known = m_lengths[{path, queue}];
        m_wrongLengths += known != before;
        known = now;
        m_queued += now - before;
    }

    std::vector<Time> m_rtts;  //!< round-trip times
    uint64_t m_resent{0};      //!< packets sent again
    uint64_t m_cnps{0};        //!< notifications
    uint64_t m_queueEvents{0}; //!< changes of queues
    uint64_t m_queued{0};      //!< bytes in all queues
    /// Lengths before that were not those after the last change.
    uint64_t m_wrongLengths{0};
    std::map<std::pair<std::string, uint8_t>, uint64_t> m_lengths; //!< length of each queue
};

/**
 * \ingroup hpcc
 * \brief A program in the words of ns-3's helpers.
 */
class HelpersTest : public HpccTestCase
{
  public:
    HelpersTest()
        : HpccTestCase("Applications, results and text traces by helpers")
    {
    }

  private:
    void DoRun() override
    {
        NodeContainer hosts(4);
        NodeContainer center(1);
        QbbHelper network;
        network.InstallHosts(hosts);
        network.InstallSwitches(center);
        const NetDeviceContainer devices =
            network.LinkAll(hosts, center.Get(0), DataRate("25Gbps"), MicroSeconds(1));
        NS_TEST_EXPECT_MSG_EQ(devices.GetN(), 8, "both ends of four links");
        network.Start();
        const auto text = Create<OutputStreamWrapper>(&m_text);
        network.EnableAscii(text, devices.Get(1));
        network.EnableAscii(Create<OutputStreamWrapper>(&m_hostText), devices.Get(0));
        RdmaFlowResults results(network);
        RdmaClientHelper clients(hosts.Get(3));
        clients.SetAttribute("Size", UintegerValue(50'000));
        NodeContainer senders(hosts.Get(0), hosts.Get(1));
        ApplicationContainer applications = clients.Install(senders);
        applications.Add(clients.Install(hosts.Get(2)));
        applications.Start(MicroSeconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(applications.GetN(), 3, "one for each sender");
        NS_TEST_EXPECT_MSG_EQ(results.GetStarted(), 3, "flows");
        NS_TEST_EXPECT_MSG_EQ(results.GetFinished().size(), 3, "flows that finished");
        for (const auto& [flow, slowdown] : results.GetFinished())
        {
            NS_TEST_EXPECT_MSG_EQ(flow.start, MicroSeconds(5), "start");
            NS_TEST_EXPECT_MSG_EQ(flow.dst, 3, "destination");
            const Time alone = network.GetStandaloneFct(hosts.Get(0), hosts.Get(3), flow.size);
            NS_TEST_EXPECT_MSG_EQ_TOL(slowdown,
                                      flow.completion.GetDouble() / alone.GetDouble(),
                                      1e-12,
                                      "slowdown");
        }
        std::ostringstream csv;
        results.WriteCsv(csv);
        NS_TEST_EXPECT_MSG_NE(csv.str().find("\n1,3,10000,100,50000,5000,"),
                              std::string::npos,
                              csv.str());
        const auto port = DynamicCast<QbbNetDevice>(devices.Get(1));
        NS_TEST_EXPECT_MSG_EQ(CountLines('-', m_text),
                              port->GetTxFrames(),
                              "a line for each frame that leaves");
        NS_TEST_EXPECT_MSG_EQ(CountLines('r', m_text), 50, "and for each that arrives");
        for (const auto* trace : {&m_text, &m_hostText})
        {
            NS_TEST_EXPECT_MSG_GT(CountLines('+', *trace), 40, "frames");
            NS_TEST_EXPECT_MSG_EQ(CountLines('+', *trace),
                                  CountLines('-', *trace),
                                  "what is sent was queued");
        }
        NS_TEST_EXPECT_MSG_NE(
            m_text.str().find(" /NodeList/" + std::to_string(center.Get(0)->GetId()) +
                              "/DeviceList/0/$ns3::QbbNetDevice/RxEnd data priority 3 size "),
            std::string::npos,
            "what it is, and where");
        NS_TEST_EXPECT_MSG_NE(m_text.str().find(" 0:10000 > 3:100 seq 49000 payload 1000\n"),
                              std::string::npos,
                              "whose it is");
    }

    /**
     * \brief Count lines of a text trace.
     * \param sign the sign at their beginning
     * \param text the trace
     * \return how many there are
     */
    static uint64_t CountLines(char sign, const std::ostringstream& text)
    {
        uint64_t count = 0;
        std::istringstream lines(text.str());
        for (std::string line; std::getline(lines, line);)
        {
            count += line[0] == sign;
        }
        return count;
    }

    std::ostringstream m_text;     //!< text trace of the switch's port
    std::ostringstream m_hostText; //!< text trace of the host at its other end
};

/**
 * \ingroup hpcc
 * \brief A program that calls nodes and devices by names.
 */
class NamesTest : public HpccTestCase
{
  public:
    NamesTest()
        : HpccTestCase("Nodes and devices by their names")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string name : {"sender", "receiver", "middle"})
        {
            Names::Add(name, CreateObject<Node>());
        }
        QbbHelper network;
        network.InstallHosts("sender");
        network.InstallHosts(std::string("receiver"));
        network.InstallSwitches("middle");
        const DataRate rate("25Gbps");
        Names::Add("uplink", network.Link("sender", "middle", rate, MicroSeconds(1)).Get(0));
        network.LinkAll(NodeContainer("receiver"), "middle", rate, MicroSeconds(1));
        network.Start();
        RdmaClientHelper clients("receiver");
        clients.SetAttribute("Size", UintegerValue(50'000));
        ApplicationContainer flows = clients.Install("sender");
        Config::Set("/Names/sender/ApplicationList/0/$ns3::RdmaClient/Size", UintegerValue(3'000));
        flows.Add(clients.Install(NodeContainer("sender")));
        flows.Get(1)->SetStartTime(MicroSeconds(20));
        // The second flow loses its way, and finds it again.
        Simulator::Schedule(MicroSeconds(22),
                            [&network]() { network.TakeLinkDown(NetDeviceContainer("uplink")); });
        Simulator::Schedule(MicroSeconds(100),
                            [&network]() { network.SetLinkUp("sender", "middle"); });
        Simulator::Run();
        const auto first = DynamicCast<RdmaClient>(flows.Get(0));
        NS_TEST_EXPECT_MSG_EQ(first->GetFlow().size, 3'000, "as set by the path of a name");
        NS_TEST_EXPECT_MSG_EQ(first->GetFlow().completion,
                              network.GetStandaloneFct("sender", "receiver", 3'000),
                              "a flow that is alone");
        const auto second = DynamicCast<RdmaClient>(flows.Get(1));
        NS_TEST_EXPECT_MSG_EQ(second->IsFinished(), true, "once its link is up again");
        NS_TEST_EXPECT_MSG_GT(second->GetFlow().completion, MicroSeconds(80), "not before");
    }

    void DoTeardown() override
    {
        Names::Clear();
        HpccTestCase::DoTeardown();
    }
};

/**
 * \ingroup hpcc
 * \brief A flow whose bottleneck is the first link between switches, and then the last link.
 */
class BottleneckTest : public HpccTestCase
{
  public:
    BottleneckTest()
        : HpccTestCase("The trace source Bottleneck tells each move of the bottleneck of a flow")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.hosts.Create(5);
        network.switches.Create(2);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        for (const uint32_t host : {0, 1})
        {
            network.Link(network.hosts.Get(host), network.switches.Get(0));
        }
        for (const uint32_t host : {2, 3, 4})
        {
            network.Link(network.hosts.Get(host), network.switches.Get(1));
        }
        network.Link(network.switches.Get(0), network.switches.Get(1));
        network.helper.Start();
        Config::ConnectWithoutContext("/NodeList/*/$ns3::RdmaHost/Bottleneck",
                                      MakeCallback(&BottleneckTest::OnChange, this));
        network.AddFlow(0, 2, 20'000'000);
        // The first shares the link between the switches with it, the second the link to host 2.
        network.AddFlow(1, 3, 1'000'000, MicroSeconds(100));
        network.AddFlow(4, 2, 1'000'000, MilliSeconds(1));
        Simulator::Schedule(MicroSeconds(200), &BottleneckTest::Expect, this, &network, 0);
        Simulator::Schedule(MicroSeconds(1100), &BottleneckTest::Expect, this, &network, 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(m_changes, 2, "it moved");
        NS_TEST_EXPECT_MSG_EQ(m_gaps, 0, "each move begins where the last one led to");
        Simulator::Destroy();
    }

    /**
     * \brief Expect a bottleneck of the long flow.
     * \param network the network
     * \param link its place on the path
     */
    void Expect(TestNetwork* network, int16_t link)
    {
        const Ptr<RdmaHost> host = network->helper.GetHost(0);
        NS_TEST_EXPECT_MSG_EQ(m_last, link, "at " << Simulator::Now());
        NS_TEST_EXPECT_MSG_EQ(host->GetControl(0).bottleneck, m_last, "as its state says");
    }

    /**
     * \brief A bottleneck has moved.
     * \param flow the flow
     * \param before where it was
     * \param now where it is
     */
    void OnChange(const RdmaFlow& flow, int16_t before, int16_t now)
    {
        if (flow.src != 0)
        {
            return;
        }
        ++m_changes;
        m_gaps += before != m_last || before == now;
        m_last = now;
    }

    int16_t m_last{-1};    //!< where the long flow's bottleneck is
    uint64_t m_changes{0}; //!< moves of it
    uint64_t m_gaps{0};    //!< moves that do not follow from the one before
};

/**
 * \ingroup hpcc
 * \brief A function builds a network, and its helper goes before the simulation begins.
 */
class LocalHelperTest : public HpccTestCase
{
  public:
    LocalHelperTest()
        : HpccTestCase("A network and its results need no helper, in any order of events")
    {
    }

  private:
    static_assert(!std::is_copy_constructible_v<QbbHelper> && !std::is_copy_assignable_v<QbbHelper>,
                  "a helper is one network");

    void DoRun() override
    {
        for (const bool isCanonical : {false, true})
        {
            Config::SetDefault("ns3::EngineNetwork::CanonicalOrder", BooleanValue(isCanonical));
            Build();
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(m_results->GetStarted(), 2, "flows");
            NS_TEST_EXPECT_MSG_EQ(m_results->GetFinished().size(), 2, "flows that finished");
            NS_TEST_EXPECT_MSG_GT(m_results->GetFinished().back().slowdown,
                                  1.5,
                                  "of two at a time");
            Simulator::Destroy();
            std::ostringstream csv;
            m_results->WriteCsv(csv);
            NS_TEST_EXPECT_MSG_NE(csv.str().find(",100000,0,"), std::string::npos, csv.str());
        }
        // Results may go before the simulation ends, too.
        Build();
        m_results.reset();
        Simulator::Run();
    }

    /// Build a network of two flows to one host.
    void Build()
    {
        TestNetwork network;
        network.MakeStar(3);
        network.helper.Start();
        m_results = std::make_unique<RdmaFlowResults>(network.helper);
        network.AddFlow(0, 2, 100'000);
        network.AddFlow(1, 2, 100'000);
    }

    std::unique_ptr<RdmaFlowResults> m_results; //!< what becomes of the flows
};

TestCases
MakeTraceTests()
{
    return {new TraceSourcesTest,
            new BottleneckTest,
            new HelpersTest,
            new NamesTest,
            new LocalHelperTest};
}

} // namespace tests
} // namespace ns3
