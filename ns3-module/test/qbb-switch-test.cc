/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

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
 * \brief Pauses and resumes that the reference simulator recorded for an incast with HPCC into a
 * buffer of 1 MiB.
 */
class ReferencePauseTest : public HpccTestCase
{
  public:
    ReferencePauseTest()
        : HpccTestCase("Pauses and resumes come at the reference simulator's nanosecond")
    {
    }

  private:
    /// Time in ns, host, and whether it is paused.
    using Change = std::tuple<int64_t, uint32_t, bool>;

    void DoRun() override
    {
        TestNetwork network("all");
        network.helper.SetSwitchAttribute("Buffer", UintegerValue(1 << 20));
        network.MakeStar(9);
        network.helper.Start();
        for (uint32_t sender = 0; sender < 8; ++sender)
        {
            m_flows.push_back(network.AddFlow(sender, 8, 500'000, Seconds(2)));
            network.GetHostDevice(sender)->TraceConnectWithoutContext(
                "Pause",
                MakeBoundCallback(&ReferencePauseTest::OnPause, &m_changes, sender));
        }
        Simulator::Run();
        ExpectChanges();
        const std::vector<int64_t>
            completions{378562, 375448, 366293, 342561, 330418, 354357, 337344, 332172};
        for (uint32_t sender = 0; sender < 8; ++sender)
        {
            NS_TEST_EXPECT_MSG_EQ(m_flows[sender]->GetFlow().completion,
                                  NanoSeconds(completions[sender]),
                                  "completion time of host " << sender);
        }
    }

    /// Compare the pauses and resumes.
    void ExpectChanges()
    {
        const int64_t start = 2'000'000'000;
        std::vector<Change> expected{{start + 6179, 7, true}};
        for (uint32_t sender = 0; sender < 7; ++sender)
        {
            expected.emplace_back(start + 6266, sender, true);
        }
        expected.emplace_back(start + 10355, 7, false);
        for (uint32_t sender = 0; sender < 7; ++sender)
        {
            expected.emplace_back(start + 10442 + 87 * sender, sender, false);
        }
        NS_TEST_EXPECT_MSG_EQ(m_changes.size(), expected.size(), "the number of PFC frames");
        NS_TEST_EXPECT_MSG_EQ((m_changes == expected), true, "a pause or resume differs");
    }

    /**
     * \brief Note a pause or resume.
     * \param changes where
     * \param sender whom it concerns
     * \param paused whether it is paused now
     */
    static void OnPause(std::vector<Change>* changes, uint32_t sender, uint8_t, bool paused)
    {
        changes->emplace_back(Simulator::Now().GetNanoSeconds(), sender, paused);
    }

    std::vector<Ptr<RdmaClient>> m_flows; //!< the flows
    std::vector<Change> m_changes;        //!< pauses and resumes
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
 * \brief Without the Ecn attribute nothing is marked.
 */
class NoEcnTest : public IncastTest
{
  public:
    NoEcnTest()
        : IncastTest("ECN can be switched off")
    {
    }

  private:
    void DoRun() override
    {
        m_network.helper.SetSwitchAttribute("Ecn", BooleanValue(false));
        m_network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(0));
        m_network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(0));
        MakeIncast(32 << 20);
        m_network.helper.Start();
        m_network.GetHostDevice(SENDERS)->TraceConnectWithoutContext(
            "RxEnd",
            Callback<void, const QbbFrame&>(
                [this](const QbbFrame& frame) { m_seen += frame.congestionMarked; }));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_seen, 0, "marks that nobody asked for");
    }

    uint32_t m_seen{0}; //!< frames that arrived with a mark
};

/**
 * \ingroup hpcc
 * \brief Two leaves, each with one host, and two spines.
 */
class LeafSpineTest : public HpccTestCase
{
  protected:
    using HpccTestCase::HpccTestCase;

    static constexpr uint32_t FLOWS = 16; //!< flows from host 0 to host 1

    /**
     * \brief Make the network and the flows, and note which spines each flow uses.
     * \param size bytes of each flow
     */
    void MakeFlows(uint64_t size)
    {
        MakeLeafSpine();
        for (const uint32_t spine : {2, 3})
        {
            const auto node = m_network.switches.Get(spine)->GetObject<QbbSwitch>();
            for (uint32_t port = 0; port < node->GetNPorts(); ++port)
            {
                node->GetPort(port)->TraceConnect("RxEnd",
                                                  std::to_string(spine),
                                                  MakeCallback(&LeafSpineTest::OnArrival, this));
            }
        }
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            m_flows.push_back(m_network.AddFlow(0, 1, size));
        }
    }

    std::vector<Ptr<RdmaClient>> m_flows;               //!< the flows
    TestNetwork m_network;                              //!< the network
    std::map<uint16_t, std::set<std::string>> m_spines; //!< spines of each flow, by source port

  private:
    /// Link host 0 to leaf 0, host 1 to leaf 1, and both leaves to spines 2 and 3.
    void MakeLeafSpine()
    {
        m_network.hosts.Create(2);
        m_network.switches.Create(4);
        m_network.helper.InstallHosts(m_network.hosts);
        m_network.helper.InstallSwitches(m_network.switches);
        for (const uint32_t leaf : {0, 1})
        {
            m_network.Link(m_network.hosts.Get(leaf), m_network.switches.Get(leaf));
            m_network.Link(m_network.switches.Get(leaf), m_network.switches.Get(2));
            m_network.Link(m_network.switches.Get(leaf), m_network.switches.Get(3));
        }
        m_network.helper.Start();
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
};

/**
 * \ingroup hpcc
 * \brief Flows spread over the spines, but each stays on its path.
 */
class EcmpTest : public LeafSpineTest
{
  public:
    EcmpTest()
        : LeafSpineTest("ECMP spreads flows over the spines and keeps each on one")
    {
    }

  private:
    void DoRun() override
    {
        MakeFlows(20'000);
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
};

/**
 * \ingroup hpcc
 * \brief A link between leaf and spine fails: its flows lose frames and go on over the other spine.
 */
class LinkFailureTest : public LeafSpineTest
{
  public:
    LinkFailureTest()
        : LeafSpineTest("Flows go round a link that fails")
    {
    }

  private:
    void DoRun() override
    {
        MakeFlows(200'000);
        const auto leaf = m_network.switches.Get(0)->GetObject<QbbSwitch>();
        const auto spine = m_network.switches.Get(2)->GetObject<QbbSwitch>();
        Simulator::Schedule(MicroSeconds(50), [this, leaf, spine]() {
            m_network.helper.TakeLinkDown(leaf->GetIndex(), spine->GetIndex());
            m_sent = leaf->GetPort(1)->GetTxFrames();
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(leaf->GetPort(1)->IsLinkUp(), false, "the leaf's end");
        NS_TEST_EXPECT_MSG_EQ(spine->GetPort(0)->IsLinkUp(), false, "the spine's end");
        NS_TEST_EXPECT_MSG_GT(m_sent, 0, "the link was in use");
        NS_TEST_EXPECT_MSG_EQ(leaf->GetPort(1)->GetTxFrames(),
                              m_sent,
                              "a broken cable carries nothing");
        NS_TEST_EXPECT_MSG_GT(spine->GetPort(0)->GetLostFrames(), 0, "what was on it is lost");
        uint32_t moved = 0;
        for (const auto& [sport, spines] : m_spines)
        {
            moved += spines.size() == 2;
            NS_TEST_EXPECT_MSG_EQ(spines.count("3"), 1, "every flow has crossed the other spine");
        }
        NS_TEST_EXPECT_MSG_GT(moved, 0, "no flow was moved");
        for (const auto& flow : m_flows)
        {
            NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "a flow has not finished");
        }
    }

    uint64_t m_sent{0}; //!< frames that the leaf's end had sent when it failed
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
        QbbFramePool pool;
        QbbFrame* frame = pool.Acquire();
        frame->kind = QbbFrame::Kind::DATA;
        frame->priority = 3;
        frame->size = 1090;
        frame->dst = unconnected;
        const auto aSwitch = network.switches.Get(0)->GetObject<QbbSwitch>();
        aSwitch->TraceConnectWithoutContext(
            "Drop",
            Callback<void, const QbbFrame&>(
                [this](const QbbFrame& frame) { m_drops += frame.size == 1090; }));
        Simulator::ScheduleNow([&network, frame]() {
            network.GetHostDevice(0)->Enqueue(frame, 0);
            network.GetHostDevice(0)->TrySend();
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(aSwitch->GetUnroutable(), 1, "the frame was not counted");
        NS_TEST_EXPECT_MSG_EQ(aSwitch->GetDrops(), 0, "the buffer is not to blame");
        NS_TEST_EXPECT_MSG_EQ(m_drops, 1, "the drop was not traced");
        Simulator::Destroy();
    }

    uint32_t m_drops{0}; //!< drops seen
};

/**
 * \ingroup hpcc
 * \brief A switch without PFC drops, and selective repeat brings back what it dropped.
 */
class LossySwitchTest : public HpccTestCase
{
  public:
    LossySwitchTest()
        : HpccTestCase("A lossy switch drops and never pauses, and all flows finish")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.helper.SetSwitchAttribute("Mode", StringValue("lossy"));
        network.helper.SetSwitchAttribute("Buffer", UintegerValue(200'000));
        network.SetControl("none");
        network.helper.SetHostAttribute("Recovery", StringValue("selective_repeat"));
        network.helper.SetHostAttribute("Timeout", TimeValue(MicroSeconds(100)));
        network.MakeStar(9);
        network.helper.Start();
        std::vector<Ptr<RdmaClient>> flows;
        for (uint32_t sender = 0; sender < 8; ++sender)
        {
            flows.push_back(network.AddFlow(sender, 8, 100'000));
        }
        const auto aSwitch = network.switches.Get(0)->GetObject<QbbSwitch>();
        aSwitch->TraceConnectWithoutContext(
            "Drop",
            Callback<void, const QbbFrame&>([this](const QbbFrame&) { ++m_traced; }));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(aSwitch->GetDrops(), 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(m_traced, aSwitch->GetDrops(), "each traced");
        for (const auto& flow : flows)
        {
            NS_TEST_EXPECT_MSG_GT(flow->GetFlow().completion, Time(0), "finished");
        }
        for (uint32_t sender = 0; sender < 8; ++sender)
        {
            NS_TEST_EXPECT_MSG_EQ(+network.GetHostDevice(sender)->GetPaused(), 0, "not paused");
        }
        Simulator::Destroy();
    }

    uint64_t m_traced{0}; //!< drops seen
};

/**
 * \ingroup hpcc
 * \brief Hosts send in all priorities to one that takes as much as one of them sends.
 */
class PrioritiesTest : public HpccTestCase
{
  public:
    PrioritiesTest()
        : HpccTestCase("A switch keeps memory for each priority, and holds no more than it has")
    {
    }

  private:
    /// Sending hosts.
    static constexpr uint32_t SENDERS = 16;
    /// Bytes of the switch: 17 ports keep 37,500 and 4096 for each of seven priorities.
    static constexpr uint32_t BUFFER = 5'000'000;

    void DoRun() override
    {
        const uint64_t held = Run("1,2,3,4,5,6,7", "none");
        NS_TEST_EXPECT_MSG_GT(held, BUFFER / 5, "senders are stopped by pauses alone");
        NS_TEST_EXPECT_MSG_LT(held, BUFFER, "no more than there is");
        NS_TEST_EXPECT_MSG_GT(Run("auto", "short_headroom"),
                              BUFFER,
                              "in the reference memory is kept for one priority");
    }

    /**
     * \param priorities attribute of the switch
     * \param faults of the reference
     * \return most bytes that waited
     */
    uint64_t Run(const std::string& priorities, const std::string& faults)
    {
        TestNetwork network(faults);
        network.SetControl("none");
        network.helper.SetHostAttribute("Window", BooleanValue(false));
        network.helper.SetSwitchAttribute("Buffer", UintegerValue(BUFFER));
        network.helper.SetSwitchAttribute("PfcPriorities", StringValue(priorities));
        network.MakeStar(SENDERS + 1);
        for (uint32_t flow = 0; flow < 7 * SENDERS; ++flow)
        {
            const auto client = network.AddFlow(flow % SENDERS, SENDERS, 100'000);
            client->SetAttribute("Priority", UintegerValue(1 + flow / SENDERS));
        }
        network.helper.Start();
        const auto center = network.switches.Get(0)->GetObject<QbbSwitch>();
        uint64_t held = 0;
        for (uint64_t micros = 1; micros < 900; ++micros)
        {
            Simulator::Schedule(MicroSeconds(micros), [&held, center]() {
                held = std::max<uint64_t>(held, center->GetQueuedBytes(SENDERS));
            });
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(center->GetDrops(), 0, "nothing is dropped");
        Simulator::Destroy();
        return held;
    }
};

TestCases
MakeSwitchTests()
{
    return {new LosslessIncastTest,
            new PrioritiesTest,
            new ReferencePauseTest,
            new HeadroomTest,
            new LossySwitchTest,
            new EcnTest,
            new NoEcnTest,
            new EcmpTest,
            new LinkFailureTest,
            new UnroutableTest};
}

} // namespace tests
} // namespace ns3
