/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/network.rs.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/integer.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <map>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Flows end when their applications stop, or when a program stops them, and keep to a rate
 * and a link of their own.
 */
class StoppedFlowTest : public HpccTestCase
{
  public:
    StoppedFlowTest()
        : HpccTestCase("Flows end when they are stopped, and keep to a rate of their own")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(4);
        network.helper.Start();
        // At 10 Gb/s a packet of 1,090 bytes leaves each 872 ns: 115 in 100 us, and one more.
        const auto stopped = network.AddFlow(0, 1, 0);
        stopped->SetAttribute("MaxRate", DataRateValue(DataRate("10Gbps")));
        stopped->SetAttribute("Nic", IntegerValue(0));
        stopped->SetStopTime(MicroSeconds(100));
        const auto endless = network.AddFlow(2, 3, 0);
        Simulator::Schedule(MicroSeconds(50), [&]() {
            network.helper.GetHost(2)->StopFlow(endless->GetQueuePair());
        });
        const auto unstopped = network.AddFlow(3, 2, 0);
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(stopped->IsFinished(), true, "its application has stopped");
        const RdmaFlow& flow = stopped->GetFlow();
        NS_TEST_EXPECT_MSG_EQ(flow.size, 116'000, "bytes until then");
        NS_TEST_EXPECT_MSG_GT(flow.completion, MicroSeconds(100), "the last packet comes later");
        NS_TEST_EXPECT_MSG_LT(flow.completion, MicroSeconds(106), "by a round trip");
        NS_TEST_EXPECT_MSG_EQ(endless->IsFinished(), true, "it was stopped");
        NS_TEST_EXPECT_MSG_GT(endless->GetFlow().size, 500'000, "50 us at 100 Gb/s");
        NS_TEST_EXPECT_MSG_LT(endless->GetFlow().size, 630'000, "and no more");
        NS_TEST_EXPECT_MSG_EQ(unstopped->IsFinished(), false, "nobody has stopped it");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief A node that a program disposes of sends no more; other flows go on.
 */
class DisposedHostTest : public HpccTestCase
{
  public:
    DisposedHostTest()
        : HpccTestCase("Flows of a host end when it is disposed of")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(4);
        network.helper.Start();
        network.AddFlow(0, 1, 10'000'000);
        const auto other = network.AddFlow(2, 3, 1'000'000);
        Simulator::Schedule(MicroSeconds(50), [&]() { network.hosts.Get(0)->Dispose(); });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        const auto center = network.switches.Get(0)->GetObject<QbbSwitch>();
        NS_TEST_EXPECT_MSG_GT(center->GetSentBytes(1), 500'000, "50 us at 100 Gb/s");
        NS_TEST_EXPECT_MSG_LT(center->GetSentBytes(1), 650'000, "and no more");
        NS_TEST_EXPECT_MSG_EQ(other->IsFinished(), true, "it is another host's");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief Flow completion times that the 2019 simulator printed for the same network and flows.
 */
class ReferenceFctTest : public HpccTestCase
{
  public:
    ReferenceFctTest()
        : HpccTestCase("Flow completion times are the 2019 simulator's")
    {
    }

  private:
    void DoRun() override
    {
        ExpectOneFlow();
        ExpectTwoFlows("HpccFastReact", BooleanValue(true), 16748, 20053);
        ExpectTwoFlows("HpccFastReact", BooleanValue(false), 16455, 16502);
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

    /// Run, and clear the simulator for the next network.
    static void Finish()
    {
        Simulator::Run();
        Simulator::Destroy();
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
            // A new rate holds for the gap that is in progress, too; both ends of it are exact
            // times in whole nanoseconds.
            const uint64_t gap = hpcc::tx_time(rate, frame.size, false);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(now - m_last[context] + 1,
                                        gap,
                                        "the packet comes too early");
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
        NS_TEST_EXPECT_MSG_EQ(m_host->GetWindow(m_queuePair), 52'362, "bandwidth times delay");
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
 * \brief One slow host among others.
 */
class SlowHostTest : public HpccTestCase
{
  public:
    SlowHostTest()
        : HpccTestCase("A slow host takes frames at its rate, and its NIC pauses the switch")
    {
    }

  private:
    static constexpr uint32_t SLOW = 1; //!< the host that is slow

    void DoRun() override
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("500us"));
        network.MakeStar(4);
        const auto slow = network.helper.GetHost(SLOW);
        slow->SetAttribute("ReceiveHosts", StringValue("hosts"));
        slow->SetAttribute("ReceiveRate", StringValue("40Gbps"));
        slow->SetAttribute("ReceiveBuffer", StringValue("60KB"));
        network.helper.Start();
        const auto toSlow = network.AddFlow(0, SLOW, 2'000'000);
        const auto toOther = network.AddFlow(2, 3, 2'000'000);
        Simulator::Run();
        // 2,000 frames of 1,090 bytes with HPCC's telemetry, at 40 Gb/s, and a round trip.
        const Time duration = toSlow->GetFlow().completion;
        NS_TEST_EXPECT_MSG_GT(duration, NanoSeconds(436'000), "time of what it takes");
        NS_TEST_EXPECT_MSG_LT(duration, NanoSeconds(445'000), "time of what it takes");
        NS_TEST_EXPECT_MSG_LT(toOther->GetFlow().completion,
                              NanoSeconds(200'000),
                              "time of what another one takes");
        const auto counters = slow->GetCounters();
        NS_TEST_EXPECT_MSG_GT(counters.receivePauses, 0, "pauses of the slow host");
        NS_TEST_EXPECT_MSG_EQ(counters.receiveDropped, 0, "frames that it had no room for");
        const auto forwarding = network.switches.Get(0)->GetObject<QbbSwitch>();
        NS_TEST_EXPECT_MSG_EQ(forwarding->GetPort(SLOW)->GetPauses(),
                              counters.receivePauses,
                              "pauses that the switch received");
        NS_TEST_EXPECT_MSG_EQ(forwarding->GetPort(SLOW)->GetPaused(), 0, "paused at the end");
        NS_TEST_EXPECT_MSG_EQ(forwarding->GetPort(3)->GetPauses(), 0, "pauses of another one");
        Simulator::Destroy();
    }
};

TestCases
MakeHostTests()
{
    return {new ReferenceFctTest,
            new WindowTest,
            new FlowStateTest,
            new SlowHostTest,
            new StoppedFlowTest,
            new DisposedHostTest};
}

} // namespace tests
} // namespace ns3
