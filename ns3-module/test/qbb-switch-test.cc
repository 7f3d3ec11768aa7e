/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/network.rs.h"

#include "ns3/boolean.h"
#include "ns3/engine-network.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Eight hosts send to a ninth at line rate, without congestion control and without window.
 */
class IncastTest : public HpccTestCase
{
  protected:
    using HpccTestCase::HpccTestCase;

    static constexpr uint32_t SENDERS = 8;    //!< sending hosts
    static constexpr uint64_t SIZE = 200'000; //!< bytes of each flow

    /**
     * \brief Make the network and the flows.
     * \param buffer bytes of the switch
     */
    void MakeIncast(uint64_t buffer)
    {
        m_network.SetControl("none");
        m_network.helper.SetHostAttribute("Window", BooleanValue(false));
        m_network.helper.SetSwitchAttribute("Buffer", UintegerValue(buffer));
        m_network.MakeStar(SENDERS + 1);
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            m_flows.push_back(m_network.AddFlow(sender, SENDERS, SIZE));
        }
    }

    /// \return the switch
    Ptr<QbbSwitch> GetSwitch() const
    {
        return m_network.switches.Get(0)->GetObject<QbbSwitch>();
    }

    /// \return the number of flows that have finished
    uint32_t CountFinished() const
    {
        uint32_t finished = 0;
        for (const auto& flow : m_flows)
        {
            finished += flow->IsFinished();
        }
        return finished;
    }

    TestNetwork m_network;                //!< the network
    std::vector<Ptr<RdmaClient>> m_flows; //!< the flows
};

/**
 * \ingroup hpcc
 * \brief A buffer that an incast overflows pauses the senders, resumes them, and loses nothing.
 */
class LosslessIncastTest : public IncastTest
{
  public:
    LosslessIncastTest()
        : IncastTest("An incast pauses and resumes its senders and loses nothing")
    {
    }

  private:
    void DoRun() override
    {
        MakeIncast(1 << 20);
        m_network.helper.Start();
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            m_network.GetHostDevice(sender)->TraceConnect(
                "Pause",
                std::to_string(sender),
                MakeCallback(&LosslessIncastTest::OnPause, this));
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(CountFinished(), SENDERS, "a flow has not finished");
        NS_TEST_EXPECT_MSG_EQ(GetSwitch()->GetDrops(), 0, "PFC must prevent drops");
        NS_TEST_EXPECT_MSG_EQ(m_paused.size(), SENDERS, "every sender is paused");
        NS_TEST_EXPECT_MSG_EQ(m_resumes, m_pauses, "every pause ends");
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            const auto device = m_network.GetHostDevice(sender);
            NS_TEST_EXPECT_MSG_EQ(+device->GetPaused(),
                                  0,
                                  "sender " << sender << " is paused for ever");
            NS_TEST_EXPECT_MSG_GT(device->GetPausedTime(3),
                                  Time(0),
                                  "sender " << sender << " was never paused");
        }
        const auto receiver = m_network.GetHostDevice(SENDERS);
        NS_TEST_EXPECT_MSG_EQ(receiver->GetPauses(), 0, "acknowledgements congest nothing");
    }

    /**
     * \brief Note a pause or resume; they alternate.
     * \param sender whom it concerns
     * \param priority the priority
     * \param paused whether it is paused now
     */
    void OnPause(std::string sender, uint8_t priority, bool paused)
    {
        NS_TEST_EXPECT_MSG_EQ(+priority, 3, "only the flows' priority is paused");
        NS_TEST_EXPECT_MSG_NE(m_now[sender], paused, "pauses and resumes alternate");
        m_now[sender] = paused;
        m_paused.insert(sender);
        ++(paused ? m_pauses : m_resumes);
    }

    std::map<std::string, bool> m_now; //!< whether each sender is paused now
    std::set<std::string> m_paused;    //!< senders that were paused
    uint32_t m_pauses{0};              //!< pauses seen
    uint32_t m_resumes{0};             //!< resumes seen
};

/**
 * \ingroup hpcc
 * \brief Senders that never hear a pause overrun the headroom: the switch drops, counts, and tells.
 */
class HeadroomTest : public IncastTest
{
  public:
    HeadroomTest()
        : IncastTest("Frames beyond the headroom are dropped, counted and traced")
    {
    }

  private:
    void DoRun() override
    {
        m_network.helper.SetReferenceFaults("lossy_pfc");
        MakeIncast(1 << 20);
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            m_network.helper.SetLoss(NetDeviceContainer(m_network.GetHostDevice(sender)), 1.0, 1);
        }
        m_network.helper.Start();
        GetSwitch()->TraceConnectWithoutContext(
            "Drop",
            Callback<void, const QbbFrame&>([this](const QbbFrame& frame) {
                m_dropped += frame.kind == QbbFrame::Kind::DATA;
            }));
        m_network.GetHostDevice(SENDERS)->TraceConnectWithoutContext(
            "RxEnd",
            Callback<void, const QbbFrame&>([this](const QbbFrame& frame) {
                m_arrived += frame.kind == QbbFrame::Kind::DATA;
            }));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(m_dropped, 0, "the headroom holds everything");
        NS_TEST_EXPECT_MSG_EQ(GetSwitch()->GetDrops(),
                              m_dropped,
                              "drops are counted as they are traced");
        NS_TEST_EXPECT_MSG_EQ(GetSwitch()->GetUnroutable(), 0, "all destinations are known");
        NS_TEST_EXPECT_MSG_EQ(m_dropped + m_arrived,
                              SENDERS * SIZE / 1000,
                              "a frame arrives or is dropped");
        NS_TEST_EXPECT_MSG_EQ(CountFinished(), 0, "no acknowledgement arrives");
    }

    uint64_t m_dropped{0}; //!< data frames dropped
    uint64_t m_arrived{0}; //!< data frames at the receiver
};

/**
 * \ingroup hpcc
 * \brief Frames are marked only where more than kmin waits, and all of them above kmax.
 */
class EcnTest : public IncastTest
{
  public:
    EcnTest()
        : IncastTest("ECN marks follow the queue")
    {
    }

  private:
    static constexpr uint64_t KMIN = 100'000; //!< bytes without marks
    static constexpr uint64_t KMAX = 300'000; //!< bytes from which on all are marked

    void DoRun() override
    {
        m_network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(KMIN));
        m_network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(KMAX));
        MakeIncast(32 << 20);
        m_network.helper.Start();
        GetSwitch()->GetPort(SENDERS)->TraceConnectWithoutContext(
            "TxBegin",
            MakeCallback(&EcnTest::OnDeparture, this));
        m_network.GetHostDevice(SENDERS)->TraceConnectWithoutContext(
            "RxEnd",
            Callback<void, const QbbFrame&>(
                [this](const QbbFrame& frame) { m_seen += frame.congestionMarked; }));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(m_between, 0, "some are marked between the thresholds");
        NS_TEST_EXPECT_MSG_GT(m_spared, m_between, "most are not, for pmax is 0.2");
        NS_TEST_EXPECT_MSG_EQ(m_seen, m_marked, "the receiver sees the marks");
        NS_TEST_EXPECT_MSG_EQ(CountFinished(), SENDERS, "marks hurt nobody");
    }

    /**
     * \brief A frame leaves the switch.
     * \param frame the frame
     */
    void OnDeparture(const QbbFrame& frame)
    {
        const uint64_t queue = GetSwitch()->GetQueuedBytes(SENDERS);
        m_marked += frame.congestionMarked;
        if (queue <= KMIN)
        {
            NS_TEST_EXPECT_MSG_EQ(frame.congestionMarked,
                                  false,
                                  "marked though only " << queue << " bytes wait");
        }
        else if (queue > KMAX)
        {
            NS_TEST_EXPECT_MSG_EQ(frame.congestionMarked,
                                  true,
                                  "not marked though " << queue << " bytes wait");
        }
        else
        {
            ++(frame.congestionMarked ? m_between : m_spared);
        }
    }

    uint32_t m_marked{0};  //!< frames that left with a mark
    uint32_t m_between{0}; //!< of these, with a queue between the thresholds
    uint32_t m_spared{0};  //!< frames without a mark, with such a queue
    uint32_t m_seen{0};    //!< frames that arrived with a mark
};

/**
 * \ingroup hpcc
 * \brief Flows between two leaves spread over two spines, but each stays on its path.
 */
class EcmpTest : public HpccTestCase
{
  public:
    EcmpTest()
        : HpccTestCase("ECMP spreads flows over the spines and keeps each on one")
    {
    }

  private:
    static constexpr uint32_t FLOWS = 16; //!< flows from host 0 to host 1

    void DoRun() override
    {
        TestNetwork network;
        network.hosts.Create(2);
        network.switches.Create(4);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        for (const uint32_t leaf : {0, 1})
        {
            network.Link(network.hosts.Get(leaf), network.switches.Get(leaf));
            for (const uint32_t spine : {2, 3})
            {
                network.Link(network.switches.Get(leaf), network.switches.Get(spine))
                    .Get(1)
                    ->TraceConnect("RxEnd",
                                   std::to_string(spine),
                                   MakeCallback(&EcmpTest::OnArrival, this));
            }
        }
        network.helper.Start();
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            network.AddFlow(0, 1, 20'000);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_spines.size(), FLOWS, "a flow crossed no spine");
        std::set<std::string> used;
        for (const auto& [sport, spines] : m_spines)
        {
            NS_TEST_EXPECT_MSG_EQ(spines.size(),
                                  1,
                                  "flow from port " << sport << " changed its path");
            used.insert(*spines.begin());
        }
        NS_TEST_EXPECT_MSG_EQ(used.size(), 2, "a spine is idle");
    }

    /**
     * \brief A frame arrives at a spine.
     * \param spine the spine
     * \param frame the frame
     */
    void OnArrival(std::string spine, const QbbFrame& frame)
    {
        if (frame.kind == QbbFrame::Kind::DATA)
        {
            m_spines[frame.sport].insert(spine);
        }
    }

    std::map<uint16_t, std::set<std::string>> m_spines; //!< spines of each flow, by source port
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
    static constexpr uint32_t SENDERS = 2; //!< all to the host behind them
    static constexpr uint8_t FIRST = 3;    //!< priority of the first; the second has the next
    /// Bytes of a frame, headers and telemetry included, at most.
    static constexpr int64_t FRAME = 1100;

    void DoRun() override
    {
        Run();
        NS_TEST_EXPECT_MSG_EQ(m_sentInPause[0], 0, "a paused class sends nothing");
        // 15 us at 100 Gb/s.
        NS_TEST_EXPECT_MSG_GT(m_sentInPause[1], 187'500 - 2 * FRAME, "the other has the link");
        // Three turns' worth of bytes for one; each side may be ahead by a turn, and a frame of
        // either.
        NS_TEST_EXPECT_MSG_GT(m_sent[1], 100'000, "the second class was served");
        NS_TEST_EXPECT_MSG_LT(m_farthest, 3000 + 4 * FRAME, "three to one before and after");
    }

    /// Let both classes send at line rate to one port, pause the first of them for a while, and
    /// watch the port while both wait there.
    void Run()
    {
        TestNetwork network;
        network.SetControl("none");
        network.helper.SetHostAttribute("Window", BooleanValue(false));
        network.helper.SetNetworkAttribute("PfcPriorities", StringValue("3, 4"));
        network.helper.SetSwitchAttribute("Classes", StringValue("3:3000,4:1000"));
        network.MakeStar(3);
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            const auto flow = network.AddFlow(sender, SENDERS, 1'000'000);
            flow->SetAttribute("Priority", UintegerValue(FIRST + sender));
        }
        network.helper.Start();
        m_port = DynamicCast<QbbSwitch>(network.helper.GetNode(SENDERS + 1))->GetPort(SENDERS);
        m_port->TraceConnectWithoutContext("TxBegin", MakeCallback(&ClassOrderTest::OnSend, this));
        // Pauses need a microsecond to the switch.
        Simulator::Schedule(MicroSeconds(29), &ClassOrderTest::Pause, this, true);
        Simulator::Schedule(MicroSeconds(44), &ClassOrderTest::Pause, this, false);
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
        const QbbNetDevice& peer = m_port->GetPeer();
        peer.GetOwner().SendPfc(peer, FIRST, pause);
    }

    /**
     * \brief A frame leaves the port.
     * \param frame the frame
     */
    void OnSend(const QbbFrame& frame)
    {
        const bool bothWait = m_port->GetQueuedBytes(FIRST) && m_port->GetQueuedBytes(FIRST + 1);
        if (frame.kind != QbbFrame::Kind::DATA || !bothWait)
        {
            return;
        }
        const std::size_t sender = frame.priority == FIRST ? 0 : 1;
        if (m_port->GetPaused())
        {
            m_sentInPause[sender] += frame.size;
            return;
        }
        m_sent[sender] += frame.size;
        m_farthest = std::max(m_farthest, std::abs(m_sent[0] - 3 * m_sent[1]));
    }

    Ptr<QbbNetDevice> m_port;               //!< the port
    std::array<int64_t, 2> m_sent{};        //!< bytes of each class while both waited
    std::array<int64_t, 2> m_sentInPause{}; //!< the same while the first was paused
    /// Farthest that they were from three to one, in bytes of the first class.
    int64_t m_farthest{0};
};

/**
 * \ingroup hpcc
 * \brief A frame to a host that is not connected is dropped, and counted apart from overflow.
 */
class UnroutableTest : public HpccTestCase
{
  public:
    UnroutableTest()
        : HpccTestCase("Frames without a route are counted")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.InstallHosts(NodeContainer(CreateObject<Node>()));
        network.helper.Start();
        const uint32_t unconnected = network.helper.GetNNodes() - 1;

        // RdmaHost refuses such a flow, so the frame is made by hand.
        QbbFrame frame;
        frame.priority = 3;
        frame.size = 1090;
        frame.dst = unconnected;
        const auto aSwitch = network.switches.Get(0)->GetObject<QbbSwitch>();
        aSwitch->TraceConnectWithoutContext(
            "Drop",
            Callback<void, const QbbFrame&>(
                [this](const QbbFrame& frame) { m_drops += frame.size == 1090; }));
        Simulator::ScheduleNow([&network, frame]() {
            EngineNetwork& engine = network.helper.GetHost(0)->GetNetwork();
            engine.Enter().send_frame(0, 0, 0, frame.ToCore(), {});
            engine.Settle();
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(aSwitch->GetUnroutable(), 1, "the frame was not counted");
        NS_TEST_EXPECT_MSG_EQ(aSwitch->GetDrops(), 0, "the buffer is not to blame");
        NS_TEST_EXPECT_MSG_EQ(m_drops, 1, "the drop was not traced");
        Simulator::Destroy();
    }

    uint32_t m_drops{0}; //!< drops seen
};

TestCases
MakeSwitchTests()
{
    return {new LosslessIncastTest,
            new HeadroomTest,
            new EcnTest,
            new EcmpTest,
            new ClassOrderTest,
            new UnroutableTest};
}

} // namespace tests
} // namespace ns3
