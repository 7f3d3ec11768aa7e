/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/source-ports.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace tests
{

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
        uint32_t started = 0;
        uint32_t finished = 0;
        uint32_t controlled = 0;
        RdmaControl control;
        m_host->TraceConnectWithoutContext(
            "FlowStart",
            RdmaHost::FlowCallback([&](const RdmaFlow& flow) { started += flow.tag == 77; }));
        m_host->TraceConnectWithoutContext(
            "FlowFinish",
            RdmaHost::FlowCallback([&](const RdmaFlow& flow) {
                finished += flow.tag == 77 && flow.completion == Simulator::Now() - flow.start;
            }));
        m_host->TraceConnectWithoutContext("Control",
                                           Callback<void, const RdmaFlow&, const RdmaControl&>(
                                               [&](const RdmaFlow& flow, const RdmaControl& told) {
                                                   controlled += flow.tag == 77;
                                                   control = told;
                                               }));
        Simulator::ScheduleNow([&] { Start(network.helper.GetHost(1)); });
        Simulator::Schedule(MicroSeconds(10), &FlowStateTest::Check, this);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(started, 1, "FlowStart");
        NS_TEST_EXPECT_MSG_EQ(finished, 1, "FlowFinish");
        NS_TEST_EXPECT_MSG_EQ(controlled, 200, "Control, for each acknowledgement");
        NS_TEST_EXPECT_MSG_EQ(control.inFlight, 0, "all is acknowledged");
        NS_TEST_EXPECT_MSG_EQ_TOL(control.utilisation, 0.95, 0.1, "U is where HPCC keeps it");
        NS_TEST_EXPECT_MSG_EQ(control.bottleneck, 0, "on the only switch of the path");
        NS_TEST_EXPECT_MSG_EQ(m_done, 1, "the caller was told");
        const std::string forgotten = "a flow that has finished is forgotten";
        NS_TEST_EXPECT_MSG_EQ(m_host->GetAckedBytes(m_queuePair), 0, forgotten);
        NS_TEST_EXPECT_MSG_EQ(m_host->GetRate(m_queuePair), DataRate(0), forgotten);
        NS_TEST_EXPECT_MSG_EQ(m_host->GetWindow(m_queuePair), 0, forgotten);
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
        const auto done = [this](const RdmaFlow& told) { m_done += told.tag == 77; };
        m_queuePair = m_host->StartFlow(peer, flow, RdmaHost::FlowCallback(done));
        NS_TEST_EXPECT_MSG_EQ(m_host->GetRate(m_queuePair), DataRate("100Gbps"), "line rate");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetWindow(m_queuePair), 52'350, "bandwidth times delay");
    }

    /// Look at the flow in its midst.
    void Check()
    {
        const uint64_t acked = m_host->GetAckedBytes(m_queuePair);
        NS_TEST_EXPECT_MSG_GT(acked, 0, "10 us are more than a round trip");
        NS_TEST_EXPECT_MSG_LT(acked, 200'000, "10 us are not enough");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetFlow(m_queuePair).tag, 77, "the caller's tag");
        NS_TEST_EXPECT_MSG_EQ(m_host->GetFlow(m_queuePair).dst, 1, "the destination");
    }

    Ptr<RdmaHost> m_host;    //!< the source
    uint32_t m_queuePair{0}; //!< the flow's queue pair
    uint32_t m_done{0};      //!< flows that the caller was told of
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
        Config::ConnectWithoutContext(
            "/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/TxBegin",
            Callback<void, const QbbFrame&>(
                [this](const QbbFrame& frame) { m_sent += frame.size > 0; }));
        Config::ConnectWithoutContext("/NodeList/*/ApplicationList/*/$ns3::RdmaClient/Finish",
                                      RdmaHost::FlowCallback([this](const RdmaFlow& flow) {
                                          m_finished += flow.size == 200'000;
                                      }));
        Simulator::Run();
        Simulator::Destroy();
        return flow->GetFlow().completion;
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
        : HpccTestCase("No UDP source port is two flows' unless all are in use, and a flow whose "
                       "link fails goes on however many came after it")
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
        NS_TEST_EXPECT_MSG_EQ(ports.Take(), SourcePorts::FIRST, "all are in use: two share it");
        ports.GiveBack(SourcePorts::FIRST);
        NS_TEST_EXPECT_MSG_EQ(ports.Take(), SourcePorts::FIRST + 1, "it is still one flow's");
        for (const uint16_t port : {10001, 65535, 20000, 30000})
        {
            ports.GiveBack(port);
        }
        for (const uint16_t port : {20000, 30000, 65535})
        {
            NS_TEST_EXPECT_MSG_EQ(ports.Take(), port, "the next that is free");
        }
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
        RdmaFlow request;
        request.size = 1;
        const RdmaHost::FlowCallback done([this](const RdmaFlow& flow) {
            ++m_finished;
            m_wrongPorts += flow.sport < SourcePorts::FIRST + 4;
        });
        for (uint32_t count = 0; count < 1000; ++count)
        {
            network->helper.GetHost(0)->StartFlow(network->helper.GetHost(1), request, done);
        }
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
        source->VisitFlows([&](const RdmaFlow& known, uint32_t, uint32_t) {
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
MakeFlowTests()
{
    return {new FlowStateTest, new AttributeTest, new SourcePortsTest, new VisitTest};
}

} // namespace tests
} // namespace ns3
