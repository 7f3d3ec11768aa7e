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

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Two senders, and the host that both send to.
constexpr uint32_t RECEIVER = 2;
/// The switch.
constexpr uint32_t SWITCH = 3;
/// Priorities of the senders.
constexpr std::array<uint8_t, 2> PRIORITIES_OF{3, 4};

/// What a run showed of the two senders.
struct Shares
{
    std::array<double, 2> gbps{};   //!< acknowledged payload
    std::array<uint64_t, 2> rate{}; //!< sending rate at the end in bit/s
    uint64_t queue{0};              //!< mean length of the second sender's queue in bytes
};

/**
 * \brief Run two endless flows of different priorities to one host.
 * \param classes of the switch
 * \param scope whose bytes telemetry reports
 * \param wait what it reports for a queue
 * \param controls congestion control of the senders
 * \return what it showed in the second half of a millisecond
 */
Shares
Measure(const std::string& classes,
        const std::string& scope,
        const std::string& wait,
        const std::array<std::string, 2>& controls)
{
    TestNetwork network;
    network.SetControl("hpcc_plus");
    network.helper.SetTelemetry("paper");
    network.helper.SetSwitchAttribute("PfcPriorities", StringValue("3, 4"));
    network.helper.SetSwitchAttribute("Classes", StringValue(classes));
    network.helper.SetSwitchAttribute("TelemetryScope", StringValue(scope));
    network.helper.SetSwitchAttribute("TelemetryQueue", StringValue(wait));
    network.MakeStar(3);
    std::array<Ptr<RdmaHost>, 2> hosts;
    std::array<Ptr<RdmaClient>, 2> flows;
    for (uint32_t sender = 0; sender < 2; ++sender)
    {
        hosts[sender] = DynamicCast<RdmaHost>(network.helper.GetNode(sender));
        hosts[sender]->SetAttribute("CongestionControl", StringValue(controls[sender]));
        flows[sender] = network.AddFlow(sender, RECEIVER, uint64_t{1} << 30);
        flows[sender]->SetAttribute("Priority", UintegerValue(PRIORITIES_OF[sender]));
    }
    network.helper.Start();
    Shares shares;
    std::array<uint64_t, 2> acked{};
    constexpr uint64_t HALF = 500;
    const auto bottleneck =
        DynamicCast<QbbSwitch>(network.helper.GetNode(SWITCH))->GetPort(RECEIVER);
    for (uint64_t micros = HALF; micros < 2 * HALF; ++micros)
    {
        Simulator::Schedule(MicroSeconds(micros), [&shares, bottleneck]() {
            shares.queue += bottleneck->GetQueuedBytes(PRIORITIES_OF[1]);
        });
    }
    for (const uint64_t micros : {HALF, 2 * HALF})
    {
        Simulator::Schedule(MicroSeconds(micros), [&]() {
            for (std::size_t sender = 0; sender < 2; ++sender)
            {
                const uint64_t now = hosts[sender]->GetAckedBytes(flows[sender]->GetQueuePair());
                shares.gbps[sender] = static_cast<double>(now - acked[sender]) * 8 / (HALF * 1000);
                acked[sender] = now;
                shares.rate[sender] =
                    hosts[sender]->GetRate(flows[sender]->GetQueuePair()).GetBitRate();
            }
        });
    }
    Simulator::Stop(MicroSeconds(2 * HALF) + NanoSeconds(1));
    Simulator::Run();
    Simulator::Destroy();
    shares.queue /= HALF;
    return shares;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Deficit round robin and strict priority on a port.
 */
class ClassesTest : public HpccTestCase
{
  public:
    ClassesTest()
        : HpccTestCase("Classes share a port by their quanta, strict ones go first")
    {
    }

  private:
    void DoRun() override
    {
        const std::array<std::string, 2> greedy{"none", "none"};
        const Shares equal = Measure("", "port", "length", greedy);
        NS_TEST_EXPECT_MSG_EQ_TOL(equal.gbps[0] / equal.gbps[1], 1, 0.02, "in turn");
        const Shares weighted = Measure("3:3000,4:1000", "port", "length", greedy);
        NS_TEST_EXPECT_MSG_EQ_TOL(weighted.gbps[0] / weighted.gbps[1], 3, 0.05, "three to one");
        const Shares strict = Measure("3:1000,4:strict", "port", "length", greedy);
        NS_TEST_EXPECT_MSG_GT(strict.gbps[1], 90, "the strict class has the link");
        NS_TEST_EXPECT_MSG_LT(strict.gbps[0], 3, "the other what it leaves");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-29: the classes of a host's port.
 */
class HostClassesTest : public HpccTestCase
{
  public:
    HostClassesTest()
        : HpccTestCase("A host's port serves its flows by their classes")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(Ratio(""), 1, 0.02, "in turn");
        NS_TEST_EXPECT_MSG_EQ_TOL(Ratio("3:3000,4:1000"), 3, 0.05, "three to one");
        NS_TEST_EXPECT_MSG_EQ_TOL(Ratio("3:1000,4:3000"), 1.0 / 3, 0.02, "one to three");
    }

    /**
     * \brief Run two endless flows from one host to two others for 200 us.
     * \param classes of the host
     * \return acknowledged bytes of the first, as a part of the second's
     */
    double Ratio(const std::string& classes)
    {
        TestNetwork network;
        network.SetControl("none");
        network.helper.SetHostAttribute("Classes", StringValue(classes));
        network.helper.SetSwitchAttribute("PfcPriorities", StringValue("3, 4"));
        network.MakeStar(3);
        std::array<Ptr<RdmaClient>, 2> flows;
        for (uint32_t flow = 0; flow < 2; ++flow)
        {
            flows[flow] = network.AddFlow(0, 1 + flow, uint64_t{1} << 30);
            flows[flow]->SetAttribute("Priority", UintegerValue(PRIORITIES_OF[flow]));
        }
        network.helper.Start();
        Simulator::Stop(MicroSeconds(200));
        Simulator::Run();
        const auto host = DynamicCast<RdmaHost>(network.helper.GetNode(0));
        const auto acked = [&](uint32_t flow) {
            return static_cast<double>(host->GetAckedBytes(flows[flow]->GetQueuePair()));
        };
        const double ratio = acked(0) / acked(1);
        Simulator::Destroy();
        return ratio;
    }
};

/**
 * \ingroup hpcc
 * \brief The order of frames on a port that two classes want all of.
 */
class ClassOrderTest : public HpccTestCase
{
  public:
    ClassOrderTest()
        : HpccTestCase(
              "Classes are served to the frame, and a pause of one does not hold back the other")
    {
    }

  private:
    /// Bytes of a frame, headers and telemetry included, at most.
    static constexpr int64_t FRAME = 1100;

    void DoRun() override
    {
        // Three turns' worth of bytes for one; each side may be ahead by a turn, and a frame of
        // either.
        Run("3:3000,4:1000", {});
        NS_TEST_EXPECT_MSG_GT(m_sent[1], 100'000, "the second class was served");
        NS_TEST_EXPECT_MSG_LT(m_farthest, 3000 + 4 * FRAME, "three to one, at every frame");

        // The strict class comes in as fast as it may leave: only a pause makes it wait.
        Run("3:strict,4:1000", {{10, true}, {25, false}});
        NS_TEST_EXPECT_MSG_GT(m_sent[0], 500'000, "the strict class was served");
        NS_TEST_EXPECT_MSG_EQ(m_sent[1], 0, "nobody overtakes a strict class that has frames");

        Run("3:3000,4:1000", {{30, true}, {45, false}});
        NS_TEST_EXPECT_MSG_EQ(m_sentInPause[0], 0, "a paused class sends nothing");
        // 15 us at 100 Gb/s.
        NS_TEST_EXPECT_MSG_GT(m_sentInPause[1], 187'500 - 2 * FRAME, "the other has the link");
        NS_TEST_EXPECT_MSG_LT(m_farthest, 3000 + 4 * FRAME, "three to one before and after");
    }

    /**
     * \brief Let both classes send at line rate to one port and watch it while both wait there.
     * \param classes of the switch
     * \param pauses of the first class: time in us, and whether it is paused from then on
     */
    void Run(const std::string& classes, const std::vector<std::pair<uint64_t, bool>>& pauses)
    {
        m_sent = {};
        m_sentInPause = {};
        m_farthest = 0;
        TestNetwork network;
        network.SetControl("none");
        network.helper.SetHostAttribute("Window", BooleanValue(false));
        network.helper.SetSwitchAttribute("PfcPriorities", StringValue("3, 4"));
        network.helper.SetSwitchAttribute("Classes", StringValue(classes));
        network.MakeStar(3);
        for (uint32_t sender = 0; sender < 2; ++sender)
        {
            const auto flow = network.AddFlow(sender, RECEIVER, 1'000'000);
            flow->SetAttribute("Priority", UintegerValue(PRIORITIES_OF[sender]));
        }
        network.helper.Start();
        m_port = DynamicCast<QbbSwitch>(network.helper.GetNode(SWITCH))->GetPort(RECEIVER);
        m_port->TraceConnectWithoutContext("TxBegin", MakeCallback(&ClassOrderTest::OnSend, this));
        for (const auto& [micros, pause] : pauses)
        {
            Simulator::Schedule(MicroSeconds(micros), [this, pause = pause]() { Pause(pause); });
        }
        Simulator::Stop(MicroSeconds(70));
        Simulator::Run();
        m_port = nullptr;
        Simulator::Destroy();
    }

    /**
     * \brief The far end of the port pauses or resumes the first class.
     * \param pause whether it pauses
     */
    void Pause(bool pause)
    {
        QbbFrame* frame = m_frames.Acquire();
        frame->kind = QbbFrame::Kind::PFC;
        frame->priority = PRIORITIES_OF[0];
        frame->pause = pause;
        m_port->Receive(frame);
    }

    /**
     * \brief A frame leaves the port.
     * \param frame the frame
     */
    void OnSend(const QbbFrame& frame)
    {
        const bool bothWait =
            m_port->GetQueuedBytes(PRIORITIES_OF[0]) && m_port->GetQueuedBytes(PRIORITIES_OF[1]);
        if (frame.kind != QbbFrame::Kind::DATA || !bothWait)
        {
            return;
        }
        const std::size_t sender = frame.priority == PRIORITIES_OF[0] ? 0 : 1;
        if (m_port->GetPaused())
        {
            m_sentInPause[sender] += frame.size;
            return;
        }
        m_sent[sender] += frame.size;
        m_farthest = std::max(m_farthest, std::abs(m_sent[0] - 3 * m_sent[1]));
    }

    QbbFramePool m_frames;                  //!< for pauses
    Ptr<QbbNetDevice> m_port;               //!< the port
    std::array<int64_t, 2> m_sent{};        //!< bytes of each class while both waited
    std::array<int64_t, 2> m_sentInPause{}; //!< the same while the first was paused
    /// Farthest that they were from three to one, in bytes of the first class.
    int64_t m_farthest{0};
};

/**
 * \ingroup hpcc
 * \brief REQ-28, REQ-29: HPCC++ beside a class that nothing controls.
 */
class ClassTelemetryTest : public HpccTestCase
{
  public:
    ClassTelemetryTest()
        : HpccTestCase("HPCC++ keeps the share of its class where telemetry reports its queue")
    {
    }

  private:
    void DoRun() override
    {
        const std::string classes = "3:3000,4:1000";
        const std::array<std::string, 2> beside{"none", "hpcc_plus"};
        // A quarter of 100 Gb/s, 95 % of it, and the payload's part of a frame: 1000 of 1058.
        const double share = 25 * 0.95 * 1000 / 1058;
        // A frame that waits for its queue's turn spends time in the switch, with nobody before it.
        for (const auto& [wait, tolerance] :
             {std::pair<std::string, double>{"length", 0.05}, {"sojourn", 0.1}})
        {
            const Shares own = Measure(classes, "queue", wait, beside);
            NS_TEST_EXPECT_MSG_EQ_TOL(own.gbps[1],
                                      share,
                                      share * tolerance,
                                      wait << ": the share of the class");
            NS_TEST_EXPECT_MSG_LT(own.queue, 10'000, wait << ": its own queue");
        }
        // The port is full, whatever this flow does: it gives way until it has next to nothing.
        const Shares port = Measure(classes, "port", "length", beside);
        NS_TEST_EXPECT_MSG_LT(port.gbps[1], share / 4, "measured against the link");
        // Alone on the port, the time in the switch tells what the queue does.
        const std::array<std::string, 2> both{"hpcc_plus", "hpcc_plus"};
        const Shares sojourn = Measure("", "port", "sojourn", both);
        const double all = 100 * 0.95 * 1000 / 1058;
        NS_TEST_EXPECT_MSG_EQ_TOL(sojourn.gbps[0] + sojourn.gbps[1],
                                  all,
                                  all * 0.03,
                                  "the link, at 95 %");
        NS_TEST_EXPECT_MSG_LT(sojourn.queue, 5'000, "short queues");
    }
};

TestCases
MakeQosTests()
{
    return {new ClassesTest, new HostClassesTest, new ClassOrderTest, new ClassTelemetryTest};
}

} // namespace tests
} // namespace ns3
