/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/data-rate.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>

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
        network.MakeChain(2);
        const NetDeviceContainer second = network.helper.Link(network.switches.Get(0),
                                                              network.switches.Get(1),
                                                              DataRate("100Gbps"),
                                                              MicroSeconds(1));
        network.helper.Start();
        for (uint32_t phase = 0; phase < 3; ++phase)
        {
            for (uint32_t flow = 0; flow < 16; ++flow)
            {
                m_flows.push_back(network.AddFlow(0, 1, 20'000, MilliSeconds(10 * phase)));
            }
        }
        const auto device = DynamicCast<QbbNetDevice>(second.Get(0));
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
        NS_TEST_EXPECT_MSG_EQ(device->IsLinkUp(), true, "it is up");
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
        Run("1000", "20000");
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
        network.helper.SetHostAttribute("CongestionControl", StringValue("none"));
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
            network.helper.TakeLinkDown("sender", network.switches.Get(0));
        });
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

    uint64_t m_longest{0};     //!< longest queue
    uint64_t m_drops{0};       //!< frames that the switch dropped
    uint8_t m_pausedBefore{0}; //!< paused priorities of the sender as its link fails
    uint8_t m_pausedAtOnce{0}; //!< the same as it comes up
    uint8_t m_pausedAfter{0};  //!< the same 3 us later
};

TestCases
MakeLinkTests()
{
    return {new LinkRecoveryTest, new PausedLinkTest};
}

} // namespace tests
} // namespace ns3
