/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-network.h"

#include "ns3/boolean.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

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

TestCases
MakeFastCnpRefusalTests()
{
    return {new IncapableHostTest, new BorderTest, new ForgeryTest};
}

} // namespace tests
} // namespace ns3
