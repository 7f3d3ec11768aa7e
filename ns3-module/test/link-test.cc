/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/data-rate.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-client.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Of two links between two switches one fails, and comes up again.
 */
class LinkRecoveryTest : public HpccTestCase
{
  public:
    LinkRecoveryTest()
        : HpccTestCase(
              "One of several links fails, the other carries all, and both do when it is up again")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("1ms"));
        network.hosts.Create(2);
        network.switches.Create(2);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        network.Link(network.hosts.Get(0), network.switches.Get(0));
        network.Link(network.hosts.Get(1), network.switches.Get(1));
        network.Link(network.switches.Get(0), network.switches.Get(1));
        const NetDeviceContainer second =
            network.Link(network.switches.Get(0), network.switches.Get(1));
        network.helper.Start();
        for (uint32_t phase = 0; phase < 3; ++phase)
        {
            for (uint32_t flow = 0; flow < 16; ++flow)
            {
                m_flows.push_back(network.AddFlow(0, 1, 20'000, MilliSeconds(10 * phase)));
            }
        }
        const auto device = DynamicCast<QbbNetDevice>(second.Get(0));
        std::vector<bool> told;
        device->AddLinkChangeCallback(Callback<void>(
            [&told, port = PeekPointer(device)]() { told.push_back(port->IsLinkUp()); }));
        Simulator::Schedule(MicroSeconds(9'000), &LinkRecoveryTest::Note, this, device);
        // While flows are on it: what is lost is sent again over the other one.
        Simulator::Schedule(MicroSeconds(10'005),
                            [&]() { network.helper.TakeLinkDown(NetDeviceContainer(device)); });
        Simulator::Schedule(MicroSeconds(10'006), &LinkRecoveryTest::Note, this, device);
        Simulator::Schedule(MicroSeconds(19'000), &LinkRecoveryTest::Note, this, device);
        Simulator::Schedule(MicroSeconds(19'500), [&]() { network.helper.SetLinkUp(second); });
        Simulator::Run();
        Note(device);
        for (const auto& flow : m_flows)
        {
            NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "a flow has not finished");
        }
        NS_TEST_EXPECT_MSG_GT(m_frames[0], 20, "both links are used at first");
        NS_TEST_EXPECT_MSG_EQ(m_frames[2], m_frames[1], "nothing is sent over a link that is down");
        NS_TEST_EXPECT_MSG_GT(m_frames[3] - m_frames[2], 20, "flows go over it again");
        NS_TEST_EXPECT_MSG_EQ((told == std::vector<bool>{false, true}), true, "each change");
    }

    /**
     * \brief Note how many frames a device has sent.
     * \param device the device
     */
    void Note(Ptr<QbbNetDevice> device)
    {
        m_frames.push_back(device->GetTxFrames());
    }

    std::vector<Ptr<RdmaClient>> m_flows; //!< flows
    std::vector<uint64_t> m_frames;       //!< frames that the failing link's device had sent
};

/**
 * \ingroup hpcc
 * \brief A link comes up while its switch has no room for what comes over it.
 */
class PausedLinkTest : public HpccTestCase
{
  public:
    PausedLinkTest()
        : HpccTestCase("A link that comes up is paused as it was, and obeys the threshold and the "
                       "headroom that are set")
    {
    }

  private:
    void DoRun() override
    {
        // A port with 4,096 bytes of its own and 20,000 of the shared memory pauses; 25 kB are on
        // the link then, and 2 us of frames that leave before the pause is heard.
        const Time paused = Run("auto", "20000");
        NS_TEST_EXPECT_MSG_GT(m_longest, 24'000, "the threshold is used");
        NS_TEST_EXPECT_MSG_LT(m_longest, 60'000, "and kept");
        NS_TEST_EXPECT_MSG_EQ(m_drops, 0, "the headroom holds the rest");
        NS_TEST_EXPECT_MSG_EQ(+m_pausedBefore, 1 << 3, "paused before the failure");
        NS_TEST_EXPECT_MSG_EQ(+m_pausedAtOnce,
                              0,
                              "nothing is known of pauses as the link comes up");
        NS_TEST_EXPECT_MSG_EQ(+m_pausedAfter, 1 << 3, "the switch says it again");
        NS_TEST_EXPECT_MSG_GT(paused, MicroSeconds(100), "the pause lasts");
        NS_TEST_EXPECT_MSG_GT(m_pausedAtFailure, Time(0), "it was counted before the failure");
        NS_TEST_EXPECT_MSG_EQ(m_pausedWhileDown, Time(0), "and not while the link was down");
        NS_TEST_EXPECT_MSG_EQ(m_resumedAt, MicroSeconds(50), "the link that fails ends it");
        Run("2000", "20000");
        NS_TEST_EXPECT_MSG_GT(m_drops, 0, "too little headroom");
        Run("auto", "auto");
        NS_TEST_EXPECT_MSG_GT(m_longest, 200'000, "without a threshold there is room for more");
    }

    /**
     * \brief Send from 100 Gb/s into 1 Gb/s, and break the sender's link for 2 us.
     * \param headroom attribute of the switch
     * \param threshold attribute of the switch
     * \return how long the sender was paused
     */
    Time Run(const std::string& headroom, const std::string& threshold)
    {
        TestNetwork network;
        network.SetControl("none");
        network.helper.SetHostAttribute("Window", StringValue("false"));
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        // The layout has no code for 1 Gb/s.
        network.helper.SetSwitchAttribute("StampTelemetry", StringValue("false"));
        network.helper.SetSwitchAttribute("Headroom", StringValue(headroom));
        network.helper.SetSwitchAttribute("PauseThreshold", StringValue(threshold));
        network.MakeStar(1);
        const NodeContainer slow(1);
        network.helper.InstallHosts(slow);
        network.helper.Link(slow.Get(0),
                            network.switches.Get(0),
                            DataRate("1Gbps"),
                            MicroSeconds(1));
        network.helper.Start();
        network.hosts.Add(slow);
        network.AddFlow(0, 1, 400'000);
        Names::Add("sender", network.hosts.Get(0));
        const Ptr<QbbNetDevice> sender = network.GetHostDevice(0);
        const auto center = network.switches.Get(0)->GetObject<QbbSwitch>();
        m_longest = 0;
        center->GetPort(1)->TraceConnectWithoutContext(
            "QueuedBytes",
            MakeCallback(&PausedLinkTest::OnQueue, this));
        Simulator::Schedule(MicroSeconds(50), [&]() {
            m_pausedBefore = sender->GetPaused();
            m_pausedAtFailure = sender->GetPausedTime(3);
            network.helper.TakeLinkDown("sender", network.switches.Get(0));
        });
        Simulator::Schedule(NanoSeconds(51'999), [&]() {
            m_pausedWhileDown = sender->GetPausedTime(3) - m_pausedAtFailure;
        });
        sender->TraceConnectWithoutContext("Pause", MakeCallback(&PausedLinkTest::OnPause, this));
        Simulator::Schedule(MicroSeconds(52), [&]() {
            network.helper.SetLinkUp(0, 1);
            m_pausedAtOnce = sender->GetPaused();
        });
        Simulator::Schedule(MicroSeconds(55), [&]() { m_pausedAfter = sender->GetPaused(); });
        Simulator::Stop(MilliSeconds(6));
        Simulator::Run();
        m_drops = center->GetDrops();
        const Time paused = sender->GetPausedTime(3);
        Simulator::Destroy();
        Names::Clear();
        return paused;
    }

    /**
     * \brief A queue of the switch has changed.
     * \param queue the queue
     * \param now its bytes
     */
    void OnQueue(uint8_t queue, uint64_t, uint64_t now)
    {
        m_longest = std::max(m_longest, queue == 3 ? now : 0);
    }

    /**
     * \brief The sender was paused or resumed.
     * \param priority the priority
     * \param paused whether it is paused now
     */
    void OnPause(uint8_t priority, bool paused)
    {
        if (priority == 3 && !paused && Simulator::Now() <= MicroSeconds(52))
        {
            m_resumedAt = Simulator::Now();
        }
    }

    uint64_t m_longest{0};     //!< longest queue
    uint64_t m_drops{0};       //!< frames that the switch dropped for lack of buffer
    Time m_pausedAtFailure;    //!< how long the sender was paused as its link fails
    Time m_pausedWhileDown;    //!< how long by then until it comes up
    Time m_resumedAt;          //!< its last resume until then
    uint8_t m_pausedBefore{0}; //!< paused priorities of the sender as its link fails
    uint8_t m_pausedAtOnce{0}; //!< the same as it comes up
    uint8_t m_pausedAfter{0};  //!< the same 3 us later
};

/**
 * \ingroup hpcc
 * \brief Frames wait for a link as it fails.
 */
class LinkDropsTest : public HpccTestCase
{
  public:
    LinkDropsTest()
        : HpccTestCase("What a failing link drops is no want of buffer")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(3);
        network.helper.Start();
        const auto center = network.switches.Get(0)->GetObject<QbbSwitch>();
        center->TraceConnectWithoutContext("Drop", MakeCallback(&LinkDropsTest::OnDrop, this));
        center->GetPort(2)->TraceConnectWithoutContext("LinkDrop",
                                                       MakeCallback(&LinkDropsTest::OnDrop, this));
        network.AddFlow(0, 2, 1'000'000);
        network.AddFlow(1, 2, 1'000'000);
        Simulator::Schedule(MicroSeconds(8), [&]() { network.helper.TakeLinkDown(2, 3); });
        Simulator::Schedule(NanoSeconds(8'001), [&]() {
            NS_TEST_EXPECT_MSG_EQ(center->GetDrops(), 0, "the buffer has room");
            NS_TEST_EXPECT_MSG_GT(center->GetLinkDrops(), 10, "frames waited for the link");
            NS_TEST_EXPECT_MSG_EQ(center->GetLinkDrops(), m_traced, "each is told of");
        });
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
    }

    /// A frame was dropped.
    void OnDrop(const QbbFrame&)
    {
        ++m_traced;
    }

    uint64_t m_traced{0}; //!< frames dropped
};

/**
 * \ingroup hpcc
 * \brief Applications that start while their destination is cut off, or stop.
 */
class CutOffTest : public HpccTestCase
{
  public:
    CutOffTest()
        : HpccTestCase("An RdmaClient whose destination is cut off sends once there is a way, one "
                       "that stops goes on")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string queuePairs : {"per_flow", "per_pair"})
        {
            Run(queuePairs);
        }
    }

    /**
     * \brief Start a flow before, one in, and one after an outage.
     * \param queuePairs attribute of the hosts
     */
    void Run(const std::string& queuePairs)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("1ms"));
        network.helper.SetHostAttribute("QueuePairs", StringValue(queuePairs));
        network.MakeStar(2);
        network.helper.Start();
        Simulator::Schedule(MicroSeconds(100), [&]() { network.helper.TakeLinkDown(1, 2); });
        Simulator::Schedule(MicroSeconds(300), [&]() { network.helper.SetLinkUp(1, 2); });
        const auto before = network.AddFlow(0, 1, 100'000);
        const auto during = network.AddFlow(0, 1, 200'000, MicroSeconds(200));
        const auto after = network.AddFlow(0, 1, 300'000, MicroSeconds(400));
        const auto never = network.AddFlow(0, 1, 400'000, MicroSeconds(500));
        after->SetStopTime(MicroSeconds(410));
        never->SetStopTime(MicroSeconds(450));
        Simulator::Schedule(MicroSeconds(250), [&]() {
            NS_TEST_EXPECT_MSG_EQ(during->IsCutOff(), true, "it says so");
            std::ostringstream unfinished;
            NS_TEST_EXPECT_MSG_EQ(network.helper.PrintUnfinished(unfinished), 1, "the one cut off");
            NS_TEST_EXPECT_MSG_NE(unfinished.str().find("begun at +200000ns, cut off"),
                                  std::string::npos,
                                  unfinished.str());
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(before->IsFinished(), true, "before the outage");
        NS_TEST_EXPECT_MSG_EQ(during->IsFinished(), true, "it has found its way");
        const RdmaFlow& flow = during->GetFlow();
        NS_TEST_EXPECT_MSG_EQ(flow.start, MicroSeconds(200), "it began as it was asked to");
        const Time waited = flow.completion - network.helper.GetStandaloneFct(flow);
        NS_TEST_EXPECT_MSG_GT(waited, MicroSeconds(99), "and waited until the link came up");
        NS_TEST_EXPECT_MSG_LT(waited, MicroSeconds(110), "and no longer");
        NS_TEST_EXPECT_MSG_EQ(after->IsFinished(), true, "what was posted goes on");
        NS_TEST_EXPECT_MSG_EQ((before->IsCutOff() || after->IsCutOff()), false, "not cut off");
        NS_TEST_EXPECT_MSG_EQ((never->IsFinished() || never->IsCutOff()),
                              false,
                              "stopped before it started");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief A flow is cut off, for a while or for good.
 */
class LostRouteTest : public HpccTestCase
{
  public:
    LostRouteTest()
        : HpccTestCase(
              "A flow that is cut off for good does not keep the simulation going, and one "
              "that finds its way again goes on as if its timer had fired meanwhile")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Run(Time(0)), Time(0), "cut off for good");
        NS_TEST_EXPECT_MSG_LT(m_end, MilliSeconds(10), "nothing is left to do");
        // As with a timer that fires all the time. The clock of records has wrapped meanwhile:
        // those from before are not compared.
        const Time again = Run(MicroSeconds(20'000));
        NS_TEST_EXPECT_MSG_GT(again, MicroSeconds(20'100), "the timer, then the rest of the flow");
        NS_TEST_EXPECT_MSG_LT(again, MicroSeconds(20'200), "the first timeout after 20 ms");
    }

    /**
     * \brief Break the only link of a flow's destination.
     * \param until when it comes up again; 0: never
     * \return the flow's completion time; 0 if it has not finished
     */
    Time Run(Time until)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("200us"));
        network.MakeStar(3);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 1'000'000);
        network.AddFlow(2, 1, 100'000);
        Simulator::Schedule(MicroSeconds(50), [&]() { network.helper.TakeLinkDown(1, 3); });
        if (until.IsStrictlyPositive())
        {
            Simulator::Schedule(until, [&]() { network.helper.SetLinkUp(1, 3); });
            // The first frame is lost: the timer decides how soon it is noticed.
            network.helper.SetLoss(network.links[1], 0.02, 1);
        }
        Simulator::Run();
        m_end = Simulator::Now();
        const Time completion = flow->IsFinished() ? flow->GetFlow().completion : Time(0);
        Simulator::Destroy();
        return completion;
    }

    Time m_end; //!< when nothing was left to do
};

/**
 * \ingroup hpcc
 * \brief A link is slower for a time, and wrong bits lose frames.
 */
class DegradedLinkTest : public HpccTestCase
{
  public:
    DegradedLinkTest()
        : HpccTestCase("Links become slower, and have wrong bits, for a time")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.SetControl("none");
        network.helper.SetHostAttribute("Window", StringValue("false"));
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        network.MakeStar(4);
        network.helper.Start();
        const auto slowed = network.AddFlow(0, 1, 1'250'000);
        const auto spoilt = network.AddFlow(2, 3, 1'000'000);
        const auto degrade = [&](std::size_t link, const std::string& rate, double bitErrors) {
            network.helper.DegradeLink(network.links[link], DataRate(rate), bitErrors);
        };
        Simulator::Schedule(MicroSeconds(50), [&]() {
            degrade(0, "10Gbps", 0);
            degrade(2, "0bps", 1e-5);
        });
        Simulator::Schedule(MicroSeconds(150), [&]() {
            degrade(0, "0bps", 0);
            degrade(2, "0bps", 0);
        });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(slowed->IsFinished(), true, "slower for a time");
        // 1,250 packets of 1,048 bytes: 50 us and 45 us at 100 Gb/s, 100 us at 10 Gb/s, and the
        // way.
        const Time duration = slowed->GetFlow().completion;
        NS_TEST_EXPECT_MSG_GT(duration, MicroSeconds(190), "bytes at both rates");
        NS_TEST_EXPECT_MSG_LT(duration, MicroSeconds(205), "bytes at both rates");
        NS_TEST_EXPECT_MSG_EQ(spoilt->IsFinished(), true, "what was spoilt is sent again");
        const auto center = network.switches.Get(0)->GetObject<QbbSwitch>();
        const uint64_t losses = center->GetPort(2)->GetLostFrames();
        NS_TEST_EXPECT_MSG_GT(losses, 5, "of 8,384 bits one in 100,000");
        NS_TEST_EXPECT_MSG_LT(losses, 200, "and no more");
        Simulator::Destroy();
    }
};

TestCases
MakeLinkTests()
{
    return {new LinkRecoveryTest,
            new PausedLinkTest,
            new LinkDropsTest,
            new CutOffTest,
            new LostRouteTest,
            new DegradedLinkTest};
}

} // namespace tests
} // namespace ns3
