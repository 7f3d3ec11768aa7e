/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"

#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/qbb-channel.h"
#include "ns3/qbb-node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \ingroup hpcc
 * \brief A node that sends what it is told to, and notes when it arrives.
 */
class ProbeNode : public QbbNode
{
  public:
    /**
     * \brief Send a frame, or queue it.
     * \param size bytes
     * \param queue the queue, which is the priority too
     */
    void Send(uint32_t size, uint8_t queue)
    {
        QbbFrame* frame = m_pool->Acquire();
        frame->kind = QbbFrame::Kind::DATA;
        frame->priority = queue;
        frame->size = size;
        m_ports[0]->Enqueue(frame, queue);
        m_ports[0]->TrySend();
    }

    /**
     * \brief Pause or resume what the far end sends.
     * \param priority the priority
     * \param pause whether to pause
     */
    void Pause(uint8_t priority, bool pause)
    {
        SendPfc(*m_ports[0], priority, pause);
    }

    /// \return priority and time in ns of each arrival
    std::string GetArrivals() const
    {
        return m_arrivals.str();
    }

    bool IsSwitch() const override
    {
        return false;
    }

    void Start(const std::shared_ptr<hpcc::Network>&) override
    {
    }

    void OnLinkDown(QbbNetDevice&) override
    {
    }

    void OnNewRoutes() override
    {
    }

    void Receive(QbbNetDevice&, QbbFrame* frame) override
    {
        m_arrivals << +frame->priority << "@" << Simulator::Now().GetNanoSeconds() << " ";
        frame->Release();
    }

    QbbFrame* NextFrame(QbbNetDevice& out) override
    {
        return out.Dequeue();
    }

  private:
    std::ostringstream m_arrivals; //!< what has arrived
};

} // namespace

/**
 * \ingroup hpcc
 * \brief Two probes at the ends of a cable of 1 us.
 */
class CableTest : public HpccTestCase
{
  protected:
    using HpccTestCase::HpccTestCase;

    /**
     * \brief Make the two nodes and the cable.
     * \param rate data rate of both ends
     * \param faults the reference simulator's faults that both ends repeat
     */
    void MakeCable(const std::string& rate, const std::string& faults = "none")
    {
        m_left = MakeEnd(rate, faults);
        m_right = MakeEnd(rate, faults);
        m_channel = CreateObject<QbbChannel>();
        m_channel->Connect(m_left->GetPort(0), m_right->GetPort(0));
    }

    void DoTeardown() override
    {
        m_left = nullptr;
        m_right = nullptr;
        m_channel = nullptr;
        HpccTestCase::DoTeardown();
    }

    Ptr<ProbeNode> m_left;     //!< one end
    Ptr<ProbeNode> m_right;    //!< the other end
    Ptr<QbbChannel> m_channel; //!< the cable

  private:
    /**
     * \param rate its data rate
     * \param faults the reference simulator's faults that it repeats
     * \return a node with one device
     */
    static Ptr<ProbeNode> MakeEnd(const std::string& rate, const std::string& faults)
    {
        auto node = CreateObject<Node>();
        auto probe = CreateObject<ProbeNode>();
        auto device = CreateObject<QbbNetDevice>();
        device->SetAttribute("DataRate", DataRateValue(DataRate(rate)));
        probe->SetAttribute("ReferenceFaults", StringValue(faults));
        node->AggregateObject(probe);
        node->AddDevice(device);
        probe->AddPort(device);
        return probe;
    }
};

/**
 * \ingroup hpcc
 * \brief Frames take their time to the nearest nanosecond, or with the reference simulator's
 * rounding.
 */
class FrameTimingTest : public CableTest
{
  public:
    FrameTimingTest()
        : CableTest("Frames arrive at the nearest nanosecond, or at the reference simulator's")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            // 87.2, 80.0 (79 in 64.64 fixed point), 3.44 and 83.84 ns.
            const std::string fault = "floored_times";
            Expect("100Gbps", {1090, 1000, 43, 1048}, "1@1087 1@1166 1@1169 1@1252 ", fault);
            Expect("400Gbps", {1090, 1000, 60}, "1@1021 1@1040 1@1041 ", fault);
            Expect("25Gbps", {1090, 1000}, "1@1348 1@1667 ", fault);
            Expect("100Gbps", {1090, 1000, 43, 1048}, "1@1087 1@1167 1@1170 1@1254 ", "none");
            Expect("25Gbps", {1090, 1000}, "1@1349 1@1669 ", "none");
        }
        Config::SetDefault("ns3::QbbNode::WireExactRates", BooleanValue(true));
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            // 10.48 ns each, then 0.6: all that was rounded up before is part of it.
            Expect("800Gbps",
                   {1048, 1048, 1048, 1048, 60, 60},
                   "1@1011 1@1021 1@1032 1@1042 1@1043 1@1044 ",
                   "none");
            Expect("100Gbps", {1090, 1000, 43, 1048}, "1@1088 1@1168 1@1171 1@1255 ", "none");
        }
        Config::SetDefault("ns3::QbbNode::WireExactRates", BooleanValue(false));
        // The least and the most of Ethernet: 148.81 and 8.13 million frames a second at 100 Gb/s.
        Config::SetDefault("ns3::QbbNode::WirePreambleAndGap", StringValue("true"));
        Expect("100Gbps", {64, 1518}, "1@1007 1@1130 ", "none");
    }

    /**
     * \brief Send frames back to back from time 0 on.
     * \param rate data rate
     * \param sizes bytes of each
     * \param arrivals what is expected
     * \param faults the reference simulator's faults
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
                m_left->Send(size, 1);
            }
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_right->GetArrivals(), arrivals, "frames of a link of " << rate);
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief Queue 0 leaves first, the others in turn.
 */
class ServiceOrderTest : public CableTest
{
  public:
    ServiceOrderTest()
        : CableTest("Queue 0 first, then round robin")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            MakeCable("100Gbps");
            m_order.str("");
            m_left->GetPort(0)->TraceConnectWithoutContext(
                "TxBegin",
                MakeCallback(&ServiceOrderTest::OnTxBegin, this));
            Simulator::ScheduleNow([this]() {
                for (const uint8_t queue : {7, 3, 3, 3, 5, 5, 0, 0, 1})
                {
                    m_left->Send(1000, queue);
                }
            });
            Simulator::Run();
            // The first finds the device idle and leaves at once; the turn goes on behind it.
            NS_TEST_EXPECT_MSG_EQ(m_order.str(), "700135353", "the order of priorities");
        }
    }

    /**
     * \brief Note a frame.
     * \param frame the frame
     */
    void OnTxBegin(const QbbFrame& frame)
    {
        m_order << +frame.priority;
    }

    std::ostringstream m_order; //!< priorities in the order of their transmission
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
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            RunOnce();
        }
    }

    /// Send frames of priorities 0, 3 and 4 into a pause of 3, which ends at 10003.
    void RunOnce()
    {
        MakeCable("100Gbps");
        m_changes.str("");
        Ptr<QbbNetDevice> device = m_left->GetPort(0);
        device->TraceConnectWithoutContext("Pause", MakeCallback(&PauseTest::OnPause, this));
        Simulator::ScheduleNow([this]() { m_right->Pause(3, true); });
        Simulator::Schedule(NanoSeconds(2000), [this, device]() {
            for (const uint8_t priority : {3, 4, 0, 3})
            {
                m_left->Send(1090, priority);
            }
            NS_TEST_EXPECT_MSG_EQ(+device->GetPaused(), 8, "priority 3 alone is paused");
            NS_TEST_EXPECT_MSG_EQ(device->GetQueuedBytes(), 3 * 1090, "4 left at once");
        });
        Simulator::Schedule(NanoSeconds(5000), [this, device]() {
            NS_TEST_EXPECT_MSG_EQ(device->GetPausedTime(3),
                                  NanoSeconds(5000 - 1003),
                                  "a pause under way counts");
        });
        Simulator::Schedule(NanoSeconds(9000), [this]() { m_right->Pause(3, false); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_changes.str(),
                              "3+@1003 3-@10003 ",
                              "43 bytes and 1 us after each PFC frame");
        NS_TEST_EXPECT_MSG_EQ(m_right->GetArrivals(),
                              "4@3087 0@3174 3@11090 3@11177 ",
                              "3 leaves after the resume");
        NS_TEST_EXPECT_MSG_EQ(device->GetPauses(), 1, "one pause, one resume");
        NS_TEST_EXPECT_MSG_EQ(device->GetPausedTime(3), NanoSeconds(9000), "from pause to resume");
        NS_TEST_EXPECT_MSG_EQ(device->GetPausedTime(4), NanoSeconds(0), "never paused");
        NS_TEST_EXPECT_MSG_EQ(device->GetQueuedBytes(), 0, "everything has left");
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
 * reference simulator's does not.
 */
class PfcLossTest : public CableTest
{
  public:
    PfcLossTest()
        : CableTest("PFC frames are not lost, in the reference simulator they are")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [faults, paused] : {std::pair("none", 8), std::pair("lossy_pfc", 0)})
        {
            MakeCable("100Gbps", faults);
            Ptr<QbbNetDevice> device = m_left->GetPort(0);
            device->SetLoss(std::shared_ptr<hpcc::Loss>(hpcc::new_loss(1, 1, 1).into_raw(),
                                                        CoreDelete<hpcc::Loss>()));
            Simulator::ScheduleNow([this]() {
                m_right->Pause(3, true);
                m_right->Send(1000, 1);
            });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(+device->GetPaused(),
                                  paused,
                                  "paused priorities with " << faults);
            NS_TEST_EXPECT_MSG_EQ(m_left->GetArrivals(), "", "data is lost in any case");
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
        NS_TEST_EXPECT_MSG_EQ((left->GetChannel() == m_channel), true, "the cable");
        NS_TEST_EXPECT_MSG_EQ(m_channel->GetNDevices(), 2, "a cable has two ends");
        NS_TEST_EXPECT_MSG_EQ((m_channel->GetDevice(1) == right), true, "the far end");
        NS_TEST_EXPECT_MSG_EQ(m_channel->GetDelay(), MicroSeconds(1), "the default delay");
        NS_TEST_EXPECT_MSG_NE(left->GetAddress(), right->GetAddress(), "addresses are unique");
        NS_TEST_EXPECT_MSG_EQ(left->Send(Create<Packet>(10), right->GetAddress(), 0x800),
                              false,
                              "packets of other protocols are refused");
        NS_TEST_EXPECT_MSG_EQ(left->SetMtu(4096), true, "any MTU");
        NS_TEST_EXPECT_MSG_EQ(left->GetMtu(), 4096, "the MTU that was set");
        left->Dispose();
        NS_TEST_EXPECT_MSG_EQ(left->IsLinkUp(), false, "unplugged");
    }
};

/**
 * \ingroup hpcc
 * \brief Frames are used again: a long flow makes no more of them than are in progress at a time.
 */
class FramePoolTest : public HpccTestCase
{
  public:
    FramePoolTest()
        : HpccTestCase("Frames are recycled")
    {
    }

  private:
    void DoRun() override
    {
        QbbFramePool pool;
        QbbFrame* frame = pool.Acquire();
        NS_TEST_EXPECT_MSG_NE(pool.Acquire(), frame, "a frame has one owner");
        frame->Release();
        NS_TEST_EXPECT_MSG_EQ(pool.Acquire(), frame, "the frame released last comes back first");

        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        for (const uint32_t host : {0, 1})
        {
            network.GetHostDevice(host)->TraceConnectWithoutContext(
                "TxBegin",
                MakeCallback(&FramePoolTest::OnTxBegin, this));
        }
        network.AddFlow(0, 1, 2'000'000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_sent, 4000, "2000 packets and their acknowledgements");
        // A window is 52 packets; an acknowledgement is the frame of its packet.
        NS_TEST_EXPECT_MSG_LT_OR_EQ(m_frames.size(), 53, "frames are not used again");
        NS_TEST_EXPECT_MSG_EQ(m_late, 0, "the pool grows in steady state");
    }

    /**
     * \brief Note which frame is used.
     * \param used the frame
     */
    void OnTxBegin(const QbbFrame& used)
    {
        const bool isNew = m_frames.insert(&used).second;
        m_late += isNew && m_sent > 1000;
        ++m_sent;
    }

    std::set<const QbbFrame*> m_frames; //!< frames seen
    uint32_t m_sent{0};                 //!< transmissions
    uint32_t m_late{0};                 //!< frames first seen late
};

/**
 * \ingroup hpcc
 * \brief Frames stand in blocks, each with room of its own, and remain as long as somebody holds
 * them: a simulator may drop its events after the nodes.
 */
class FrameBlocksTest : public HpccTestCase
{
  public:
    FrameBlocksTest()
        : HpccTestCase("Frames of a pool do not overlap, and outlive it")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::size_t room : {std::size_t{0}, std::size_t{41}, QbbFrame::MAX_TELEMETRY})
        {
            // More than a block has.
            constexpr uint64_t FRAMES = 20'000;
            std::vector<Ptr<QbbFrame>> held;
            auto pool = std::make_unique<QbbFramePool>(room);
            std::set<std::uintptr_t> lines;
            for (uint64_t i = 0; i < FRAMES; ++i)
            {
                QbbFrame* const frame = pool->Acquire();
                const auto address = reinterpret_cast<std::uintptr_t>(frame);
                NS_TEST_ASSERT_MSG_EQ(address % alignof(QbbFrame), 0, "begins with a line");
                lines.insert(address);
                frame->seq = i;
                std::fill_n(frame->GetTelemetry(), frame->GetRoom(), static_cast<uint8_t>(i));
                if (i % 300 == 0 || i + 1 == FRAMES)
                {
                    held.emplace_back(frame);
                }
            }
            NS_TEST_EXPECT_MSG_EQ(lines.size(), FRAMES, "a frame has one owner");
            pool.reset();
            for (std::size_t i = 0; i < held.size(); ++i)
            {
                const uint64_t number = i + 1 == held.size() ? FRAMES - 1 : 300 * i;
                const QbbFrame& frame = *held[i];
                NS_TEST_ASSERT_MSG_GT_OR_EQ(frame.GetRoom(), room, "room for telemetry");
                NS_TEST_EXPECT_MSG_EQ(frame.seq, number, "as it was left");
                NS_TEST_EXPECT_MSG_EQ(std::count(frame.GetTelemetry(),
                                                 frame.GetTelemetry() + frame.GetRoom(),
                                                 static_cast<uint8_t>(number)),
                                      static_cast<std::ptrdiff_t>(frame.GetRoom()),
                                      "its telemetry, too");
            }
        }
    }
};

TestCases
MakeNetDeviceTests()
{
    return {new FrameBlocksTest,
            new FrameTimingTest,
            new ServiceOrderTest,
            new PauseTest,
            new PfcLossTest,
            new NetDeviceInterfaceTest,
            new FramePoolTest};
}

} // namespace tests
} // namespace ns3
