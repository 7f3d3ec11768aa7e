/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-network.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

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
            if (migration)
            {
                run.network.helper.SetFastCnpHostAttribute("MigrateAfter", UintegerValue(2));
            }
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
        run.network.SetControl("hpcc_plus");
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
            new MigrationTest,
            new CopiedTraceTest};
}

} // namespace tests
} // namespace ns3
