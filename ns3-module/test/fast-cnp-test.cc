/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Senders, all to the host behind them.
constexpr uint32_t SENDERS = 4;
/// The switch.
constexpr uint32_t SWITCH = SENDERS + 1;
/// Bytes of a flow.
constexpr uint64_t SIZE = 500'000;

/// A frame that a test has seen.
struct Seen
{
    Time at;                      //!< when
    QbbFrame::Kind kind;          //!< what it is for
    uint32_t src;                 //!< index of its source
    uint32_t dst;                 //!< index of its destination
    uint32_t srcAddress;          //!< address of its source
    uint32_t queuePair;           //!< queue pair that it is for
    uint16_t sport;               //!< UDP source port
    bool marked;                  //!< whether it is marked
    bool echoes;                  //!< whether it echoes a mark
    std::vector<uint8_t> section; //!< what stands in the place of telemetry
};

/// Frames by kind.
using Frames = std::map<QbbFrame::Kind, std::vector<Seen>>;

/**
 * \brief Record what a device sends.
 * \param device the device
 * \param frames where
 */
void
Watch(Ptr<QbbNetDevice> device, Frames& frames)
{
    device->TraceConnectWithoutContext(
        "TxBegin",
        Callback<void, const QbbFrame&>([&frames](const QbbFrame& frame) {
            frames[frame.kind].push_back(
                {Simulator::Now(),
                 frame.kind,
                 frame.src,
                 frame.dst,
                 frame.srcAddress,
                 frame.queuePair,
                 frame.sport,
                 frame.congestionMarked,
                 frame.kind == QbbFrame::Kind::ACK && frame.congestionEchoed,
                 {frame.GetTelemetry(), frame.GetTelemetry() + frame.telemetryBytes}});
        }));
}

/**
 * \param frames frames
 * \return how many of them are marked
 */
std::size_t
CountMarked(const std::vector<Seen>& frames)
{
    return std::count_if(frames.begin(), frames.end(), [](const Seen& frame) {
        return frame.marked;
    });
}

/**
 * \param frames frames
 * \param queuePair a queue pair
 * \return how many of them are for it
 */
std::size_t
CountFor(const std::vector<Seen>& frames, uint32_t queuePair)
{
    return std::count_if(frames.begin(), frames.end(), [queuePair](const Seen& frame) {
        return frame.queuePair == queuePair;
    });
}

/**
 * \param frames frames
 * \return when the first and the last were sent; never, if there is none
 */
std::pair<Time, Time>
SpanOf(const std::vector<Seen>& frames)
{
    return frames.empty() ? std::pair(Time::Max(), Time::Max())
                          : std::pair(frames.front().at, frames.back().at);
}

/**
 * \param frames frames
 * \param node a node
 * \return those to the node
 */
std::vector<Seen>
To(const std::vector<Seen>& frames, uint32_t node)
{
    std::vector<Seen> chosen;
    std::copy_if(frames.begin(),
                 frames.end(),
                 std::back_inserter(chosen),
                 [node](const Seen& frame) { return frame.dst == node; });
    return chosen;
}

/**
 * \brief A star over IPv6 in which all hosts but one send to that one, by DCQCN, and a switch that
 * finds a queue of 30 kB too long.
 */
class Congested
{
  public:
    Congested()
    {
        network.helper.SetWireProfile("rocev2_ipv6");
        network.helper.SetTelemetry("none");
        network.helper.SetHostAttribute("CongestionControl", StringValue("dcqcn"));
        network.helper.SetHostAttribute("AckPriority", UintegerValue(0));
        network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(30'000));
        network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(30'000));
        network.helper.SetSwitchAttribute("EcnPmax", DoubleValue(1));
    }

    /// Switch Fast CNP on at all nodes. \return this
    Congested& Enable()
    {
        network.helper.SetFastCnpHostAttribute("Enabled", BooleanValue(true));
        network.helper.SetFastCnpSwitchAttribute("Enabled", BooleanValue(true));
        return *this;
    }

    /// Link the nodes.
    void Build()
    {
        network.MakeStar(SENDERS + 1);
        Agent()->TraceConnectWithoutContext(
            "Withheld",
            Callback<void, const QbbFrame&, const std::string&>(
                [this](const QbbFrame&, const std::string& reason) { ++withheld[reason]; }));
    }

    /// Run, and record what the switch sends, and the receiver.
    void Run()
    {
        network.helper.Start();
        const auto bottleneck = network.helper.GetNode(SWITCH);
        for (uint32_t port = 0; port < bottleneck->GetNPorts(); ++port)
        {
            Watch(bottleneck->GetPort(port), bySwitch);
        }
        Watch(network.GetHostDevice(SENDERS), byReceiver);
        Watch(network.GetHostDevice(0), bySender);
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            flows.push_back(network.AddFlow(sender, SENDERS, SIZE));
        }
        Simulator::Schedule(MicroSeconds(25), [this]() {
            rate = DynamicCast<RdmaHost>(network.helper.GetNode(1))->GetRate(0);
        });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        sent = Agent()->GetSent();
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            accepted += HostAgent(sender)->GetAccepted();
        }
        reports = HostAgent(0)->GetReports();
        migrations = HostAgent(0)->GetMigrations();
        finished = std::count_if(flows.begin(), flows.end(), [](const Ptr<RdmaClient>& flow) {
            return flow->GetFlow().completion > Time(0);
        });
        Simulator::Destroy();
    }

    /// \return the switch's part of Fast CNP
    Ptr<FastCnpSwitch> Agent() const
    {
        return network.helper.GetNode(SWITCH)->GetObject<FastCnpSwitch>();
    }

    /// \param host a host \return its part
    Ptr<FastCnpHost> HostAgent(uint32_t host) const
    {
        return network.helper.GetNode(host)->GetObject<FastCnpHost>();
    }

    TestNetwork network;                         //!< the network
    std::vector<Ptr<RdmaClient>> flows;          //!< the flows
    Frames bySwitch;                             //!< what the switch sent
    Frames byReceiver;                           //!< what the receiver sent
    Frames bySender;                             //!< what the first sender sent
    DataRate rate{0};                            //!< rate of the second sender's flow after 25 us
    uint64_t sent{0};                            //!< notifications that the switch sent
    std::map<std::string, std::size_t> withheld; //!< those that it withheld, by reason
    uint64_t accepted{0};                        //!< notifications that the senders believed
    uint64_t reports{0};                         //!< ICMPv6 packets of the first sender
    uint64_t migrations{0};                      //!< migrations of its flow
    int64_t finished{0};                         //!< flows that finished
};

/// Destination options of a notification about a packet to the receiver of the star: option 1.
constexpr std::array<uint8_t, 24> OPTION_1{0x11, 2, 0x9e, 16, 0x20, 1, 0x0d, 0xb8, 0, 0, 0,    0,
                                           0,    0, 0,    0,  11,   0, 4,    1,    1, 2, 0x00, 0};

} // namespace

/**
 * \ingroup hpcc
 * \brief REQ-33, REQ-34: receivers answer marks with congestion notification packets, if they are
 * told to.
 */
class ReceiverCnpTest : public HpccTestCase
{
  public:
    ReceiverCnpTest()
        : HpccTestCase("A marked packet makes the receiver notify the sender's queue pair")
    {
    }

  private:
    void DoRun() override
    {
        Congested echoed;
        echoed.Build();
        echoed.Run();
        NS_TEST_EXPECT_MSG_EQ(echoed.byReceiver.count(QbbFrame::Kind::CNP),
                              0,
                              "none unless asked for");
        Congested run;
        run.network.helper.SetHostAttribute("CongestionNotification", StringValue("cnp"));
        run.network.helper.SetHostAttribute("DcqcnNotificationInterval",
                                            TimeValue(MicroSeconds(20)));
        run.Build();
        run.Run();
        const std::vector<Seen>& cnps = run.byReceiver[QbbFrame::Kind::CNP];
        NS_TEST_EXPECT_MSG_GT(cnps.size(), SENDERS, "notifications");
        for (uint32_t sender = 0; sender < SENDERS; ++sender)
        {
            const std::vector<Seen> own = To(cnps, sender);
            NS_TEST_EXPECT_MSG_GT(own.size(), 0, "each sender is notified");
            NS_TEST_EXPECT_MSG_EQ(CountFor(own, 0), own.size(), "at its own queue pair");
            for (std::size_t n = 1; n < own.size(); ++n)
            {
                NS_TEST_EXPECT_MSG_GT_OR_EQ(own[n].at - own[n - 1].at,
                                            MicroSeconds(20),
                                            "once in an interval");
            }
        }
        const std::vector<Seen>& acks = run.byReceiver[QbbFrame::Kind::ACK];
        NS_TEST_EXPECT_MSG_EQ(
            std::any_of(acks.begin(), acks.end(), [](const Seen& ack) { return ack.echoes; }),
            false,
            "no acknowledgement echoes a mark");
        NS_TEST_EXPECT_MSG_LT(run.rate, DataRate("60Gbps"), "the flows slow down");
        NS_TEST_EXPECT_MSG_EQ(run.finished, SENDERS, "and finish");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-36, REQ-37, REQ-38, REQ-40, REQ-41, REQ-42, REQ-44: a congested switch notifies
 * senders, who slow down; no packet is marked that a notification is sent for, and every other one.
 */
class SwitchNotifiesTest : public HpccTestCase
{
  public:
    SwitchNotifiesTest()
        : HpccTestCase("A congested switch notifies the senders, and they slow down")
    {
    }

  private:
    void DoRun() override
    {
        Congested run;
        run.Enable().Build();
        run.Run();
        const std::vector<Seen>& sent = run.bySwitch[QbbFrame::Kind::FAST_CNP];
        NS_TEST_EXPECT_MSG_GT(sent.size(), SENDERS, "notifications");
        NS_TEST_EXPECT_MSG_EQ(run.sent, sent.size(), "all counted");
        NS_TEST_EXPECT_MSG_EQ(run.accepted, sent.size(), "all believed");
        std::map<uint32_t, uint32_t> receivers;
        for (const Seen& data : run.bySwitch[QbbFrame::Kind::DATA])
        {
            receivers[data.src] = data.queuePair;
        }
        for (const Seen& frame : sent)
        {
            NS_TEST_EXPECT_MSG_EQ(frame.src, SWITCH, "from the switch");
            NS_TEST_EXPECT_MSG_EQ(frame.srcAddress,
                                  0x0b000001 + (SWITCH << 8),
                                  "by its own address");
            NS_TEST_EXPECT_MSG_EQ(receivers.count(frame.dst), 1, "to a sender");
            NS_TEST_EXPECT_MSG_EQ(frame.queuePair,
                                  receivers[frame.dst],
                                  "with the data packet's queue pair");
            NS_TEST_EXPECT_MSG_EQ(std::equal(frame.section.begin(),
                                             frame.section.end(),
                                             OPTION_1.begin(),
                                             OPTION_1.end()),
                                  true,
                                  "option 1 with the receiver's address, and nothing else");
        }
        NS_TEST_EXPECT_MSG_LT(SpanOf(sent).first, MicroSeconds(8), "as soon as there is a queue");
        NS_TEST_EXPECT_MSG_LT(run.rate, DataRate("60Gbps"), "the flows slow down");
        const std::size_t marked = CountMarked(run.bySwitch[QbbFrame::Kind::DATA]);
        NS_TEST_EXPECT_MSG_GT(marked, 0, "what is sent between two notifications is marked");
        NS_TEST_EXPECT_MSG_EQ(marked, run.withheld["flow_interval"], "and nothing else");
        NS_TEST_EXPECT_MSG_EQ(run.finished, SENDERS, "and finish");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-52, REQ-53: off unless switched on.
 */
class OffByDefaultTest : public HpccTestCase
{
  public:
    OffByDefaultTest()
        : HpccTestCase("Nobody is notified unless Fast CNP is switched on")
    {
    }

  private:
    void DoRun() override
    {
        Congested run;
        run.Build();
        run.Run();
        NS_TEST_EXPECT_MSG_EQ(run.bySwitch.count(QbbFrame::Kind::FAST_CNP), 0, "no notification");
        NS_TEST_EXPECT_MSG_EQ(run.sent + run.accepted, 0, "none counted");
        NS_TEST_EXPECT_MSG_GT(CountMarked(run.bySwitch[QbbFrame::Kind::DATA]),
                              0,
                              "though there is congestion");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-35, REQ-47, REQ-48: unknown senders are marked as well, others outside the domain not
 * notified, and no port notifies more than it may.
 */
class SenderKindsTest : public HpccTestCase
{
  public:
    SenderKindsTest()
        : HpccTestCase("Whom a switch notifies, and how often, is bounded; who may not understand "
                       "is marked as well")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool marks : {true, false})
        {
            Congested unknown;
            unknown.network.helper.SetFastCnpSwitchAttribute("Capable", StringValue("none"));
            unknown.network.helper.SetFastCnpSwitchAttribute("MarkUnknown", BooleanValue(marks));
            unknown.Enable().Build();
            unknown.Run();
            NS_TEST_EXPECT_MSG_GT(unknown.sent, 0, "who may not understand is notified");
            const std::size_t instead = unknown.withheld["flow_interval"];
            NS_TEST_EXPECT_MSG_EQ(CountMarked(unknown.bySwitch[QbbFrame::Kind::DATA]),
                                  instead + (marks ? unknown.sent : 0),
                                  "and marked as well");
        }
        Congested domain;
        domain.network.helper.SetFastCnpSwitchAttribute("Domain", StringValue("1-2"));
        domain.Enable().Build();
        domain.Run();
        const std::vector<Seen>& sent = domain.bySwitch[QbbFrame::Kind::FAST_CNP];
        NS_TEST_EXPECT_MSG_EQ(To(sent, 1).size() + To(sent, 2).size(),
                              sent.size(),
                              "inside the domain only");
        NS_TEST_EXPECT_MSG_GT(sent.size(), 0, "and there");
        std::size_t outside = 0;
        for (const Seen& data : domain.bySwitch[QbbFrame::Kind::DATA])
        {
            outside += data.marked && (data.src == 0 || data.src == 3);
        }
        NS_TEST_EXPECT_MSG_GT(outside, 0, "the others are marked");
        NS_TEST_EXPECT_MSG_EQ(outside, domain.withheld["outside_domain"], "each of their packets");
        Congested limited;
        limited.network.helper.SetFastCnpSwitchAttribute("PortInterval",
                                                         TimeValue(MicroSeconds(10)));
        limited.network.helper.SetFastCnpSwitchAttribute("PortBurst", UintegerValue(1));
        limited.Enable().Build();
        limited.Run();
        const std::vector<Seen>& few = limited.bySwitch[QbbFrame::Kind::FAST_CNP];
        NS_TEST_EXPECT_MSG_GT(few.size(), 2, "some");
        const Time span = SpanOf(few).second - SpanOf(few).first;
        NS_TEST_EXPECT_MSG_LT_OR_EQ(few.size(),
                                    static_cast<uint64_t>(span.GetMicroSeconds()) / 10 + 2,
                                    "one in 10 us");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-54: a host that does not know the option answers with ICMPv6, and the switch stops.
 */
class IncapableHostTest : public HpccTestCase
{
  public:
    IncapableHostTest()
        : HpccTestCase("A host without Fast CNP answers with ICMPv6; the switch then marks instead")
    {
    }

  private:
    void DoRun() override
    {
        Congested run;
        run.Enable().Build();
        run.HostAgent(0)->SetAttribute("Enabled", BooleanValue(false));
        std::vector<uint32_t> learnt;
        run.Agent()->TraceConnectWithoutContext(
            "Learnt",
            Callback<void, uint32_t>([&learnt](uint32_t node) { learnt.push_back(node); }));
        run.Run();
        const std::vector<Seen>& answers = run.bySender[QbbFrame::Kind::ICMPV6];
        NS_TEST_EXPECT_MSG_EQ(answers.size(), run.reports, "answers");
        NS_TEST_EXPECT_MSG_EQ(answers.size(), 1, "one is enough");
        for (const Seen& answer : answers)
        {
            ExpectComplaint(answer);
        }
        NS_TEST_EXPECT_MSG_EQ((learnt == std::vector<uint32_t>{0}),
                              true,
                              "the switch learns who it is");
        const std::vector<Seen> told = To(run.bySwitch[QbbFrame::Kind::FAST_CNP], 0);
        NS_TEST_EXPECT_MSG_EQ(told.size(), 1, "the switch stops");
        std::size_t marked = 0;
        for (const Seen& data : run.bySwitch[QbbFrame::Kind::DATA])
        {
            marked += data.marked && data.src == 0;
        }
        NS_TEST_EXPECT_MSG_GT_OR_EQ(marked, run.withheld["incapable"], "it marks instead");
        NS_TEST_EXPECT_MSG_GT(run.withheld["incapable"], 0, "every packet");
        NS_TEST_EXPECT_MSG_GT(run.accepted, SENDERS - 1, "the others are notified");
        NS_TEST_EXPECT_MSG_EQ(run.finished, SENDERS, "all finish");
    }

    /**
     * \brief Expect a parameter problem whose pointer leads to our option in the packet that it
     * quotes.
     * \param answer the frame
     */
    void ExpectComplaint(const Seen& answer)
    {
        NS_TEST_EXPECT_MSG_EQ(answer.dst, SWITCH, "to the switch");
        // IPv6 40, then type 4, code 2, checksum, and the pointer: 42 bytes from the start of the
        // quoted packet.
        std::vector<uint8_t> packet = answer.section;
        NS_TEST_EXPECT_MSG_GT(packet.size(), 90, "it quotes the notification");
        packet.resize(std::max<std::size_t>(packet.size(), 91));
        NS_TEST_EXPECT_MSG_EQ(+packet[6], 58, "ICMPv6");
        NS_TEST_EXPECT_MSG_EQ(+packet[40], 4, "a parameter problem:");
        NS_TEST_EXPECT_MSG_EQ(+packet[41], 2, "an option that is not known,");
        NS_TEST_EXPECT_MSG_EQ(+packet[47], 42, "there");
        NS_TEST_EXPECT_MSG_EQ(+packet[48 + 42], 0x9e, "ours");
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-50, REQ-51: no notification crosses a border, in neither direction.
 */
class BorderTest : public HpccTestCase
{
  public:
    BorderTest()
        : HpccTestCase("A border drops notifications on their way in and on their way out")
    {
    }

  private:
    /// What a run showed.
    struct Result
    {
        uint64_t near;  //!< notifications that the near sender believed
        uint64_t far;   //!< notifications that the far sender believed
        uint64_t drops; //!< notifications dropped
        bool inbound;   //!< the way of the last
    };

    /**
     * \brief Hosts 0 behind switch 3, hosts 1 and 2 behind switch 4. Both send to host 2, and
     * switch 4 is congested.
     * \param border the switch that is a border to the other; 0 for none
     * \return what happened
     */
    static Result RunWith(uint32_t border)
    {
        Congested run;
        run.Enable();
        TestNetwork& network = run.network;
        network.hosts.Create(3);
        network.switches.Create(2);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        network.Link(network.hosts.Get(0), network.switches.Get(0));
        network.Link(network.hosts.Get(1), network.switches.Get(1));
        network.Link(network.hosts.Get(2), network.switches.Get(1));
        network.Link(network.switches.Get(0), network.switches.Get(1));
        Result result{};
        Ptr<FastCnpSwitch> agent;
        if (border)
        {
            network.helper.SetFastCnpBorder(border, border == 3 ? 4 : 3);
            agent = network.helper.GetNode(border)->GetObject<FastCnpSwitch>();
            agent->TraceConnectWithoutContext(
                "BorderDrop",
                Callback<void, const QbbFrame&, bool>(
                    [&result](const QbbFrame&, bool inbound) { result.inbound = inbound; }));
        }
        network.helper.Start();
        network.AddFlow(0, 2, SIZE);
        network.AddFlow(1, 2, SIZE);
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        result.far = run.HostAgent(0)->GetAccepted();
        result.near = run.HostAgent(1)->GetAccepted();
        result.drops = agent ? agent->GetBorderDrops() : 0;
        Simulator::Destroy();
        return result;
    }

    void DoRun() override
    {
        const Result open = RunWith(0);
        NS_TEST_EXPECT_MSG_GT(open.far, 0, "without a border it crosses");
        for (const uint32_t border : {3U, 4U})
        {
            const Result closed = RunWith(border);
            NS_TEST_EXPECT_MSG_EQ(closed.far, 0, "nothing crosses");
            NS_TEST_EXPECT_MSG_GT(closed.near, 0, "inside the domain it works");
            NS_TEST_EXPECT_MSG_GT(closed.drops, 0, "what was dropped is counted");
            NS_TEST_EXPECT_MSG_EQ(closed.inbound, (border == 3), "by its direction");
        }
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-45, REQ-49: forged notifications slow nobody, and true ones no more than once in an
 * interval.
 */
class ForgeryTest : public HpccTestCase
{
  public:
    ForgeryTest()
        : HpccTestCase("A million forged notifications slow nobody down")
    {
    }

  private:
    /// A flow of the first sender alone, and what is done to it.
    struct Attack
    {
        uint32_t srcAddress; //!< address of who is said to notify
        uint32_t queuePair;  //!< beside the receiver's own
        uint32_t count;      //!< how often, once in 10 ns
    };

    /**
     * \brief Let a flow run alone under an attack, from 20 us on.
     * \param run the network
     * \param attack the attack
     * \return the lowest rate of the flow, in bit/s
     */
    static uint64_t Lowest(Congested& run, const Attack& attack)
    {
        run.network.helper.Start();
        QbbFramePool pool;
        run.network.AddFlow(0, SENDERS, 500'000'000);
        const auto victim = DynamicCast<RdmaHost>(run.network.helper.GetNode(0));
        const auto device = run.network.GetHostDevice(0);
        uint64_t lowest = UINT64_MAX;
        uint32_t left = attack.count;
        std::function<void()> strike = [&]() {
            for (uint32_t n = 0; n < 100 && left > 0; ++n, --left)
            {
                QbbFrame* frame = pool.Acquire();
                frame->kind = QbbFrame::Kind::FAST_CNP;
                frame->receiver = PeekPointer(device);
                frame->src = SWITCH;
                frame->srcAddress = attack.srcAddress;
                frame->dst = 0;
                frame->queuePair = attack.queuePair;
                frame->size = 122;
                frame->telemetryBytes = OPTION_1.size();
                std::copy(OPTION_1.begin(), OPTION_1.end(), frame->GetTelemetry());
                victim->Receive(*device, frame);
            }
            lowest = std::min(lowest, victim->GetRate(0).GetBitRate());
            if (left > 0)
            {
                Simulator::Schedule(MicroSeconds(1), strike);
            }
        };
        Simulator::Schedule(MicroSeconds(20), strike);
        Simulator::Stop(MicroSeconds(30 + attack.count / 100));
        Simulator::Run();
        return lowest;
    }

    void DoRun() override
    {
        const uint32_t loopback = 0x0b000001 + (SWITCH << 8);
        const uint32_t stranger = 0x0b000001 + (2 << 8);
        for (const auto& [attack, reason] :
             {std::pair(Attack{stranger, 0, 500'000}, "source"),
              std::pair(Attack{loopback, 99, 500'000}, "unknown_flow")})
        {
            Congested run;
            run.Enable().Build();
            uint32_t refused = 0;
            run.HostAgent(0)->TraceConnectWithoutContext(
                "Refused",
                Callback<void, const QbbFrame&, const std::string&>(
                    [&refused, reason = std::string(reason)](const QbbFrame&,
                                                             const std::string& why) {
                        refused += why == reason;
                    }));
            NS_TEST_EXPECT_MSG_EQ(Lowest(run, attack),
                                  100'000'000'000,
                                  reason << ": nobody slows down");
            NS_TEST_EXPECT_MSG_EQ(run.HostAgent(0)->GetRefused(reason),
                                  attack.count,
                                  reason << ": all are counted");
            NS_TEST_EXPECT_MSG_EQ(refused, attack.count, reason << ": and traced");
            NS_TEST_EXPECT_MSG_EQ(run.HostAgent(0)->GetAccepted(),
                                  0,
                                  reason << ": none is believed");
            Simulator::Destroy();
        }
        Congested replayed;
        replayed.Enable().Build();
        NS_TEST_EXPECT_MSG_LT(Lowest(replayed, {loopback, 0, 100'000}),
                              100'000'000'000,
                              "a true one slows it down");
        const uint64_t accepted = replayed.HostAgent(0)->GetAccepted();
        NS_TEST_EXPECT_MSG_EQ(accepted, 100, "once in 10 us for 1 ms");
        NS_TEST_EXPECT_MSG_EQ(replayed.HostAgent(0)->GetRefused("too_soon"),
                              100'000 - accepted,
                              "not by the others");
        Simulator::Destroy();
        ExpectReceiversToCauseNoMigration();
    }

    /// A notification by the receiver is told from one by the network, which alone makes flows
    /// move.
    void ExpectReceiversToCauseNoMigration()
    {
        const uint32_t receiver = 0x0b000001 + (SENDERS << 8);
        const uint32_t loopback = 0x0b000001 + (SWITCH << 8);
        for (const uint32_t origin : {receiver, loopback})
        {
            Congested run;
            run.network.helper.SetFastCnpHostAttribute("AcceptFrom", StringValue("all"));
            run.network.helper.SetFastCnpHostAttribute("Migrate", BooleanValue(true));
            run.Enable().Build();
            Lowest(run, {origin, 0, 20'000});
            NS_TEST_EXPECT_MSG_EQ(run.HostAgent(0)->GetAccepted(), 20, "both are believed");
            NS_TEST_EXPECT_MSG_EQ((run.HostAgent(0)->GetMigrations() > 0),
                                  (origin == loopback),
                                  "the network moves flows");
            Simulator::Destroy();
        }
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-46: a flow that one switch keeps complaining about takes another source port.
 */
class MigrationTest : public HpccTestCase
{
  public:
    MigrationTest()
        : HpccTestCase("A flow that is notified again and again takes another source port")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool migration : {false, true})
        {
            Congested run;
            run.network.helper.SetFastCnpHostAttribute("Migrate", BooleanValue(migration));
            run.network.helper.SetFastCnpHostAttribute("MigrateAfter", UintegerValue(2));
            run.Enable().Build();
            std::vector<std::pair<uint32_t, uint16_t>> moves;
            run.HostAgent(0)->TraceConnectWithoutContext(
                "Migrated",
                Callback<void, uint32_t, uint16_t>([&moves](uint32_t queuePair, uint16_t sport) {
                    moves.emplace_back(queuePair, sport);
                }));
            run.Run();
            const std::vector<Seen>& data = run.bySender[QbbFrame::Kind::DATA];
            NS_TEST_EXPECT_MSG_EQ(data.front().sport, 10'000, "the first port");
            NS_TEST_EXPECT_MSG_EQ((data.back().sport != 10'000),
                                  migration,
                                  "another port, if at all");
            NS_TEST_EXPECT_MSG_EQ((run.migrations > 0), migration, "counted");
            NS_TEST_EXPECT_MSG_EQ(moves.size(), run.migrations, "traced");
            if (!moves.empty())
            {
                NS_TEST_EXPECT_MSG_EQ(data.back().sport,
                                      moves.back().second,
                                      "the one that was said");
            }
            NS_TEST_EXPECT_MSG_EQ(run.finished, SENDERS, "all finish");
        }
    }
};

/**
 * \ingroup hpcc
 * \brief REQ-39, REQ-43: over IOAM the notification brings the data packet's trace, and HPCC++
 * hears of it.
 */
class CopiedTraceTest : public HpccTestCase
{
  public:
    CopiedTraceTest()
        : HpccTestCase("A notification copies the IOAM trace of the packet that met congestion")
    {
    }

  private:
    void DoRun() override
    {
        Congested run;
        run.network.helper.SetTelemetry("ioam");
        run.network.helper.SetHostAttribute("CongestionControl", StringValue("hpcc_plus"));
        run.network.helper.SetFastCnpSwitchAttribute("Trigger", StringValue("utilisation"));
        run.network.helper.SetFastCnpSwitchAttribute("Bound", DoubleValue(1.5));
        run.Enable().Build();
        run.Run();
        const std::vector<Seen>& sent = run.bySwitch[QbbFrame::Kind::FAST_CNP];
        NS_TEST_EXPECT_MSG_GT(sent.size(), 0, "notifications");
        NS_TEST_EXPECT_MSG_EQ(run.accepted, sent.size(), "all believed");
        for (const Seen& frame : sent)
        {
            NS_TEST_EXPECT_MSG_GT(frame.section.size(), OPTION_1.size(), "option 2");
            if (frame.section.size() <= OPTION_1.size())
            {
                return;
            }
            NS_TEST_EXPECT_MSG_EQ(+frame.section[4], 0x9e, "behind two bytes of padding");
            ExpectTrace(frame.section, run.bySwitch[QbbFrame::Kind::DATA]);
        }
        NS_TEST_EXPECT_MSG_EQ(run.finished, SENDERS, "all finish");
    }

    /**
     * \brief Expect that some packet left with the trace that a notification has.
     * \param options the notification's options: trace data from byte 8 on, and the address behind
     * them
     * \param data the packets that left: trace data from byte 8 of the hop-by-hop header on
     */
    void ExpectTrace(const std::vector<uint8_t>& options, const std::vector<Seen>& data)
    {
        const std::size_t length = options[5] - 2 - 16;
        const bool found = std::any_of(data.begin(), data.end(), [&](const Seen& packet) {
            return packet.section.size() >= 8 + length && std::equal(options.begin() + 8,
                                                                     options.begin() + 8 + length,
                                                                     packet.section.begin() + 8);
        });
        NS_TEST_EXPECT_MSG_EQ(found, true, "byte for byte");
    }
};

TestCases
MakeFastCnpTests()
{
    return {new ReceiverCnpTest,
            new SwitchNotifiesTest,
            new OffByDefaultTest,
            new SenderKindsTest,
            new IncapableHostTest,
            new BorderTest,
            new ForgeryTest,
            new MigrationTest,
            new CopiedTraceTest};
}

} // namespace tests
} // namespace ns3
