/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/qbb-channel.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <memory>
#include <sstream>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Two hosts at the ends of a cable of 1 us.
 */
class CableTest : public HpccTestCase
{
  protected:
    using HpccTestCase::HpccTestCase;

    /**
     * \brief Make the two hosts and the cable.
     * \param rate data rate of both ends
     * \param faults the 2019 simulator's faults that both ends repeat
     * \param loss probability with which frames to the left are lost
     */
    void MakeCable(const std::string& rate, const std::string& faults = "none", double loss = 0)
    {
        m_network = std::make_unique<TestNetwork>(faults);
        // No switch stamps anything, and the layout has no code for other rates.
        m_network->SetControl("none");
        m_network->helper.SetTelemetry("none");
        m_network->hosts.Create(2);
        m_network->helper.InstallHosts(m_network->hosts);
        const auto ends = m_network->helper.Link(m_network->hosts.Get(0),
                                                 m_network->hosts.Get(1),
                                                 DataRate(rate),
                                                 MicroSeconds(1));
        if (loss > 0)
        {
            m_network->helper.SetLoss(NetDeviceContainer(ends.Get(0)), loss, 1);
        }
        m_network->helper.Start();
        m_left = m_network->helper.GetHost(0);
        m_right = m_network->helper.GetHost(1);
        m_arrivals.str("");
        for (const auto& host : {m_left, m_right})
        {
            host->GetPort(0)->TraceConnectWithoutContext("RxEnd",
                                                         MakeCallback(&CableTest::OnArrival, this));
        }
    }

    /**
     * \brief Send a frame of which the other host makes nothing, or queue it.
     * \param from the host
     * \param size bytes
     */
    static void Send(Ptr<RdmaHost> from, uint32_t size)
    {
        QbbFrame frame;
        frame.kind = QbbFrame::Kind::ICMPV6;
        frame.priority = 1;
        frame.size = size;
        frame.src = from->GetIndex();
        frame.dst = 1 - from->GetIndex();
        from->Send(frame);
    }

    /**
     * \brief Pause or resume what the left host sends.
     * \param priority the priority
     * \param pause whether to pause
     */
    void Pause(uint8_t priority, bool pause)
    {
        m_right->SendPfc(*m_right->GetPort(0), priority, pause);
    }

    void DoTeardown() override
    {
        m_left = nullptr;
        m_right = nullptr;
        m_network.reset();
        HpccTestCase::DoTeardown();
    }

    std::unique_ptr<TestNetwork> m_network; //!< the network
    Ptr<RdmaHost> m_left;                   //!< one end
    Ptr<RdmaHost> m_right;                  //!< the other end
    std::ostringstream m_arrivals;          //!< priority and time in ns of each arrival

  private:
    /**
     * \brief Note a frame that is no PFC frame.
     * \param frame the frame
     */
    void OnArrival(const QbbFrame& frame)
    {
        if (frame.kind != QbbFrame::Kind::PFC)
        {
            m_arrivals << +frame.priority << "@" << Simulator::Now().GetNanoSeconds() << " ";
        }
    }
};

/**
 * \ingroup hpcc
 * \brief Frames take their exact time, the nearest nanosecond, or the 2019 simulator's.
 */
class FrameTimingTest : public CableTest
{
  public:
    FrameTimingTest()
        : CableTest("Frames take exact times, the nearest nanoseconds, or the 2019 simulator's")
    {
    }

  private:
    void DoRun() override
    {
        // 87.2, 80.0 (79 in 64.64 fixed point), 3.44 and 83.84 ns.
        const std::string fault = "floored_times";
        Expect("100Gbps", {1090, 1000, 43, 1048}, "1@1087 1@1166 1@1169 1@1252 ", fault);
        Expect("400Gbps", {1090, 1000, 60}, "1@1021 1@1040 1@1041 ", fault);
        Expect("25Gbps", {1090, 1000}, "1@1348 1@1667 ", fault);
        Config::SetDefault("ns3::EngineNetwork::WireExactRates", StringValue("false"));
        Expect("100Gbps", {1090, 1000, 43, 1048}, "1@1087 1@1167 1@1170 1@1254 ", "none");
        Expect("25Gbps", {1090, 1000}, "1@1349 1@1669 ", "none");
        Config::SetDefault("ns3::EngineNetwork::WireExactRates", StringValue("auto"));
        // 10.48 ns each, then 0.6: all that was rounded up before is part of it.
        Expect("800Gbps",
               {1048, 1048, 1048, 1048, 60, 60},
               "1@1011 1@1021 1@1032 1@1042 1@1043 1@1044 ",
               "none");
        Expect("100Gbps", {1090, 1000, 43, 1048}, "1@1088 1@1168 1@1171 1@1255 ", "none");
        // The least and the most of Ethernet: 148.81 and 8.13 million frames a second at 100 Gb/s.
        Config::SetDefault("ns3::EngineNetwork::WirePreambleAndGap", StringValue("true"));
        Expect("100Gbps", {64, 1518}, "1@1007 1@1130 ", "none");
    }

    /**
     * \brief Send frames back to back from time 0 on.
     * \param rate data rate
     * \param sizes bytes of each
     * \param arrivals what is expected
     * \param faults the 2019 simulator's faults
     */
    void Expect(const std::string& rate,
                const std::vector<uint32_t>& sizes,
                const std::string& arrivals,
                const std::string& faults)
    {
        MakeCable(rate, faults);
        Simulator::ScheduleNow([this, sizes]() {
            for (const uint32_t size : sizes)
            {
                Send(m_left, size);
            }
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_arrivals.str(), arrivals, "frames of a link of " << rate);
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief A pause holds one priority back, a resume lets it go; the device tells of both.
 */
class PauseTest : public CableTest
{
  public:
    PauseTest()
        : CableTest("Pause stops one priority, resume restarts it")
    {
    }

  private:
    void DoRun() override
    {
        RunOnce();
    }

    /// Send a packet of priority 3, and one of 4, into a pause of 3, which ends at 10003.
    void RunOnce()
    {
        MakeCable("100Gbps");
        m_changes.str("");
        Ptr<QbbNetDevice> device = m_left->GetPort(0);
        device->TraceConnectWithoutContext("Pause", MakeCallback(&PauseTest::OnPause, this));
        Simulator::ScheduleNow([this]() { Pause(3, true); });
        for (const uint8_t priority : {3, 4})
        {
            m_network->AddFlow(0, 1, 1000, NanoSeconds(2000))
                ->SetAttribute("Priority", UintegerValue(priority));
        }
        Simulator::Schedule(NanoSeconds(5000), [this, device]() {
            NS_TEST_EXPECT_MSG_EQ(+device->GetPaused(), 8, "priority 3 alone is paused");
            NS_TEST_EXPECT_MSG_EQ(device->GetPausedTime(3),
                                  NanoSeconds(5000 - 1004),
                                  "a pause under way counts");
        });
        Simulator::Schedule(NanoSeconds(9000), [this]() { Pause(3, false); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_changes.str(),
                              "3+@1004 3-@10004 ",
                              "43 bytes and 1 us after each PFC frame");
        NS_TEST_EXPECT_MSG_EQ(m_arrivals.str().substr(0, 7), "4@3084 ", "4 leaves at once");
        NS_TEST_EXPECT_MSG_NE(m_arrivals.str().find(" 3@11088 "),
                              std::string::npos,
                              "3 leaves after the resume: " << m_arrivals.str());
        NS_TEST_EXPECT_MSG_EQ(device->GetPauses(), 1, "one pause, one resume");
        NS_TEST_EXPECT_MSG_EQ(device->GetPausedTime(3), NanoSeconds(9000), "from pause to resume");
        NS_TEST_EXPECT_MSG_EQ(device->GetPausedTime(4), NanoSeconds(0), "never paused");
        NS_TEST_EXPECT_MSG_EQ(device->GetQueuedBytes(), 0, "everything has left");
        Simulator::Destroy();
    }

    /**
     * \brief Note a pause or resume.
     * \param priority the priority
     * \param paused whether it is paused now
     */
    void OnPause(uint8_t priority, bool paused)
    {
        m_changes << +priority << (paused ? "+@" : "-@") << Simulator::Now().GetNanoSeconds()
                  << " ";
    }

    std::ostringstream m_changes; //!< pauses and resumes with their times
};

/**
 * \ingroup hpcc
 * \brief Random loss spares PFC frames, for a lost resume would pause a port for good; the
 * 2019 simulator's does not.
 */
class PfcLossTest : public CableTest
{
  public:
    PfcLossTest()
        : CableTest("PFC frames are not lost, in the 2019 simulator they are")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [faults, paused] : {std::pair("none", 8), std::pair("lossy_pfc", 0)})
        {
            MakeCable("100Gbps", faults, 1);
            Ptr<QbbNetDevice> device = m_left->GetPort(0);
            Simulator::ScheduleNow([this]() {
                Pause(3, true);
                Send(m_right, 1000);
            });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(+device->GetPaused(),
                                  paused,
                                  "paused priorities with " << faults);
            NS_TEST_EXPECT_MSG_EQ(m_arrivals.str(), "", "data is lost in any case");
            NS_TEST_EXPECT_MSG_EQ(device->GetLostFrames(),
                                  (paused ? 1 : 2),
                                  "frames lost with " << faults);
            Simulator::Destroy();
        }
    }
};

/**
 * \ingroup hpcc
 * \brief What a NetDevice is asked by the rest of ns-3.
 */
class NetDeviceInterfaceTest : public CableTest
{
  public:
    NetDeviceInterfaceTest()
        : CableTest("QbbNetDevice and QbbChannel as NetDevice and Channel")
    {
    }

  private:
    void DoRun() override
    {
        auto loose = CreateObject<QbbNetDevice>();
        NS_TEST_EXPECT_MSG_EQ(loose->IsLinkUp(), false, "no cable yet");
        MakeCable("100Gbps");
        Ptr<NetDevice> left = m_left->GetPort(0);
        Ptr<NetDevice> right = m_right->GetPort(0);
        NS_TEST_EXPECT_MSG_EQ(left->IsLinkUp(), true, "plugged in");
        NS_TEST_EXPECT_MSG_EQ(left->IsPointToPoint(), true, "a cable has two ends");
        const auto channel = DynamicCast<QbbChannel>(left->GetChannel());
        NS_TEST_EXPECT_MSG_EQ((right->GetChannel() == channel), true, "the cable");
        NS_TEST_EXPECT_MSG_EQ(channel->GetNDevices(), 2, "a cable has two ends");
        NS_TEST_EXPECT_MSG_EQ((channel->GetDevice(1) == right), true, "the far end");
        NS_TEST_EXPECT_MSG_EQ(channel->GetDelay(), MicroSeconds(1), "the delay");
        NS_TEST_EXPECT_MSG_NE(left->GetAddress(), right->GetAddress(), "addresses are unique");
        NS_TEST_EXPECT_MSG_EQ(left->Send(Create<Packet>(10), right->GetAddress(), 0x800),
                              false,
                              "packets of other protocols are refused");
        NS_TEST_EXPECT_MSG_EQ(loose->SetMtu(4096), true, "any MTU");
        NS_TEST_EXPECT_MSG_EQ(loose->GetMtu(), 4096, "the MTU that was set");
        left->Dispose();
        NS_TEST_EXPECT_MSG_EQ(left->IsLinkUp(), false, "unplugged");
    }
};

TestCases
MakeNetDeviceTests()
{
    return {new FrameTimingTest, new PauseTest, new PfcLossTest, new NetDeviceInterfaceTest};
}

} // namespace tests
} // namespace ns3
