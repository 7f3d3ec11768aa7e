/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/attack-helper.h"
#include "ns3/boolean.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief A program's attackers do what those of a file do.
 */
class AttackHelperTest : public HpccTestCase
{
  public:
    AttackHelperTest()
        : HpccTestCase(
              "Attackers of a program: forged notifications, and feedback that is taken out")
    {
    }

  private:
    /// Bytes that the first of two hosts and the second one had acknowledged, and what the attacker
    /// did.
    struct Outcome
    {
        uint64_t victim;  //!< bytes of the victim
        uint64_t other;   //!< bytes of the other
        uint64_t sent;    //!< frames that the attacker sent
        uint64_t altered; //!< frames that the attacker changed
    };

    /**
     * \brief Hosts 0 and 1 send to host 2 through switch 4 for 2 ms, while an attacker acts on the
     * flow of host 0.
     * \param kind what it does; empty for nothing
     * \param from the attacker
     * \param border whether the switch takes no notifications from host 3
     * \param until when the attacker goes; by default behind the end
     * \param withNode whether its node goes then, in its place
     * \return what came of it
     */
    static Outcome Run(const std::string& kind,
                       uint32_t from,
                       bool border,
                       Time until = MilliSeconds(3),
                       bool withNode = false)
    {
        NodeContainer nodes(5);
        QbbHelper network;
        network.SetWireProfile("rocev2_ipv6");
        network.SetTelemetry("ioam");
        network.SetHostAttribute("CongestionControl", StringValue("hpcc_plus"));
        network.SetFastCnpHostAttribute("Enabled", BooleanValue(true));
        network.SetFastCnpSwitchAttribute("Enabled", BooleanValue(true));
        for (uint32_t host = 0; host < 4; ++host)
        {
            network.InstallHosts(NodeContainer(nodes.Get(host)));
        }
        network.InstallSwitches(NodeContainer(nodes.Get(4)));
        for (uint32_t host = 0; host < 4; ++host)
        {
            network.Link(nodes.Get(host), nodes.Get(4), DataRate("100Gbps"), MicroSeconds(1));
        }
        if (border)
        {
            network.SetFastCnpBorder(4, 3);
        }
        network.Start();
        std::vector<uint32_t> queuePairs;
        for (const uint32_t host : {0, 1})
        {
            RdmaFlow flow;
            flow.size = 1'000'000'000;
            queuePairs.push_back(network.GetHost(host)->StartFlow(network.GetHost(2),
                                                                  flow,
                                                                  RdmaHost::FlowCallback()));
        }
        std::unique_ptr<Attacker> attacker;
        if (!kind.empty())
        {
            AttackHelper attack(kind);
            if (kind != "forged_pfc")
            {
                attack.Set("victims", "0");
            }
            if (kind == "forged_fast_cnp")
            {
                attack.Set("pretends", "4");
            }
            attacker = attack.Install(nodes.Get(from), network);
        }
        Simulator::Schedule(until, [&, from, withNode]() {
            if (withNode)
            {
                nodes.Get(from)->Dispose();
            }
            else
            {
                attacker.reset();
            }
        });
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        const Outcome outcome{network.GetHost(0)->GetAckedBytes(queuePairs[0]),
                              network.GetHost(1)->GetAckedBytes(queuePairs[1]),
                              attacker ? attacker->GetSent() : 0,
                              attacker ? attacker->GetAltered() : 0};
        Simulator::Destroy();
        return outcome;
    }

    void DoRun() override
    {
        const Outcome calm = Run("", 0, false);
        NS_TEST_EXPECT_MSG_GT(calm.victim,
                              9'000'000,
                              "without an attack each has its share of 25 MB");
        const Outcome forged = Run("forged_fast_cnp", 3, false);
        NS_TEST_EXPECT_MSG_GT(forged.sent, 100, "100 Mb/s of notifications");
        NS_TEST_EXPECT_MSG_LT(forged.victim, calm.victim / 4, "stop the victim");
        const Outcome brief = Run("forged_fast_cnp", 3, false, Time(0));
        NS_TEST_EXPECT_MSG_GT(brief.victim, 2 * forged.victim, "an attack ends with its attacker");
        const Outcome ended = Run("forged_fast_cnp", 3, false, MicroSeconds(100), true);
        NS_TEST_EXPECT_MSG_GT(ended.sent, 0, "an attack begins");
        NS_TEST_EXPECT_MSG_LT(ended.sent, forged.sent / 10, "and ends with the attacker's node");
        const Outcome replayed = Run("replayed_fast_cnp", 4, false, MicroSeconds(100), true);
        NS_TEST_EXPECT_MSG_LT(replayed.victim, calm.victim / 4, "likewise with a switch");
        const Outcome closed = Run("forged_fast_cnp", 3, true);
        NS_TEST_EXPECT_MSG_EQ(closed.sent, forged.sent, "the attacker does not notice the border");
        NS_TEST_EXPECT_MSG_GT(closed.victim, calm.victim * 9 / 10, "which drops them");
        const Outcome stripped = Run("stripped_feedback", 4, false);
        NS_TEST_EXPECT_MSG_EQ(stripped.sent, 0, "who takes out feedback sends nothing");
        NS_TEST_EXPECT_MSG_GT(stripped.altered,
                              1'000,
                              "each acknowledgement of the victim comes without");
        const Outcome acknowledged = Run("forged_ack", 3, false);
        NS_TEST_EXPECT_MSG_GT(acknowledged.sent, 100, "acknowledgements of all that is to be sent");
        NS_TEST_EXPECT_MSG_GT(acknowledged.victim, calm.victim * 9 / 10, "do not stop the flow");
        NS_TEST_EXPECT_MSG_LT(acknowledged.victim, calm.victim * 11 / 10, "nor finish it");
        const Outcome notified = Run("forged_cnp", 3, false);
        NS_TEST_EXPECT_MSG_GT(notified.victim, calm.victim * 9 / 10, "nobody asked for CNPs");
        const Outcome again = Run("forged_nack", 3, false);
        NS_TEST_EXPECT_MSG_LT(again.victim, calm.victim * 9 / 10, "what is sent again takes time");
        const Outcome paused = Run("forged_pfc", 4, false);
        NS_TEST_EXPECT_MSG_EQ(paused.altered, 0, "who pauses changes nothing");
        NS_TEST_EXPECT_MSG_LT(paused.victim + paused.other, calm.victim / 10, "all stand still");
        const Outcome spared = Run("stripped_feedback", 4, false, Time(0));
        NS_TEST_EXPECT_MSG_EQ(spared.victim, calm.victim, "nobody is there to take it out");
    }
};

TestCases
MakeAttackTests()
{
    return {new AttackHelperTest};
}

} // namespace tests
} // namespace ns3
