/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/attack-helper.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <set>
#include <string>

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

/**
 * \brief Install a star over IPv6 whose switch finds a queue of 30 kB too long, and notifies.
 * \param network the network, which is not started
 */
void
MakeCongested(TestNetwork& network)
{
    network.helper.SetWireProfile("rocev2_ipv6");
    network.helper.SetTelemetry("none");
    network.SetControl("dcqcn");
    network.helper.SetHostAttribute("AckPriority", UintegerValue(0));
    network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(30'000));
    network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(30'000));
    network.helper.SetSwitchAttribute("EcnPmax", DoubleValue(1));
    network.helper.SetNetworkAttribute("FastCnpEnabled", BooleanValue(true));
    network.helper.SetFastCnpHostAttribute("Migrate", BooleanValue(true));
    network.helper.SetFastCnpHostAttribute("MigrateAfter", UintegerValue(2));
    network.MakeStar(SENDERS + 1);
}

} // namespace

/**
 * \ingroup hpcc
 * \brief A congested switch notifies senders; one of them does not know what that is.
 */
class FastCnpTest : public HpccTestCase
{
  public:
    FastCnpTest()
        : HpccTestCase("A congested switch notifies senders, who slow down; trace sources of both "
                       "tell of all")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        MakeCongested(network);
        network.helper.SetNetworkAttribute("FastCnpIncapable", StringValue("0"));
        const auto notifier = network.helper.GetNode(SWITCH)->GetObject<FastCnpSwitch>();
        notifier->SetAttribute("Capable", StringValue("hosts"));
        network.helper.Start();
        Follow(*notifier);
        uint64_t accepted = 0;
        for (uint32_t host = 0; host < SENDERS; ++host)
        {
            Follow(*GetAgent(network, host));
            network.AddFlow(host, SENDERS, 500'000);
        }
        DataRate rate;
        Simulator::Schedule(MicroSeconds(25),
                            [&]() { rate = network.helper.GetHost(1)->GetRate(0); });
        Simulator::Schedule(MicroSeconds(30), [&]() { Forge(network); });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        uint64_t migrations = 0;
        for (uint32_t host = 0; host < SENDERS; ++host)
        {
            accepted += GetAgent(network, host)->GetAccepted();
            migrations += GetAgent(network, host)->GetMigrations();
        }
        NS_TEST_EXPECT_MSG_LT(rate, DataRate("60Gbps"), "the flows slow down");
        NS_TEST_EXPECT_MSG_GT(m_told["Sent"], SENDERS, "notifications");
        NS_TEST_EXPECT_MSG_EQ(m_told["Sent"], notifier->GetSent(), "all counted");
        NS_TEST_EXPECT_MSG_EQ(m_told["Accepted"], accepted, "all believed");
        NS_TEST_EXPECT_MSG_EQ(accepted + 1, notifier->GetSent(), "but for one");
        NS_TEST_EXPECT_MSG_EQ(GetAgent(network, 0)->GetReports(), 1, "which is answered by ICMPv6");
        NS_TEST_EXPECT_MSG_EQ(m_told["Learnt"], 1, "the switch learns who does not understand");
        NS_TEST_EXPECT_MSG_EQ(m_reasons.count("incapable"), 1, "and is silent");
        NS_TEST_EXPECT_MSG_GT(m_told["Migrated"], 0, "flows move");
        NS_TEST_EXPECT_MSG_EQ(m_told["Migrated"], migrations, "as often as is counted");
        NS_TEST_EXPECT_MSG_EQ(m_told["Refused"], 1, "a stranger is not believed");
        NS_TEST_EXPECT_MSG_EQ(GetAgent(network, 1)->GetRefused("source"), 1, "for this reason");
        NS_TEST_EXPECT_MSG_EQ(m_reasons.count("source"), 1, "of which the trace source tells");
        Simulator::Destroy();
    }

    /**
     * \param network the network
     * \param host a host
     * \return its part of Fast CNP
     */
    static Ptr<FastCnpHost> GetAgent(const TestNetwork& network, uint32_t host)
    {
        return network.hosts.Get(host)->GetObject<FastCnpHost>();
    }

    /**
     * \brief Connect to the trace sources of a switch.
     * \param agent its part of Fast CNP
     */
    void Follow(FastCnpSwitch& agent)
    {
        agent.TraceConnectWithoutContext(
            "Sent",
            Callback<void, const QbbFrame&>([this](const QbbFrame&) { ++m_told["Sent"]; }));
        agent.TraceConnectWithoutContext("Withheld", MakeCallback(&FastCnpTest::OnReason, this));
        agent.TraceConnectWithoutContext("Learnt", Callback<void, uint32_t>([this](uint32_t host) {
                                             m_told["Learnt"] += host == 0;
                                         }));
    }

    /**
     * \brief Connect to the trace sources of a host.
     * \param agent its part of Fast CNP
     */
    void Follow(FastCnpHost& agent)
    {
        agent.TraceConnectWithoutContext(
            "Accepted",
            Callback<void, const QbbFrame&, uint32_t>(
                [this](const QbbFrame&, uint32_t) { ++m_told["Accepted"]; }));
        agent.TraceConnectWithoutContext("Refused",
                                         Callback<void, const QbbFrame&, const std::string&>(
                                             [this](const QbbFrame& frame, const std::string& why) {
                                                 m_told["Refused"] += why == "source";
                                                 OnReason(frame, why);
                                             }));
        agent.TraceConnectWithoutContext(
            "Migrated",
            Callback<void, uint32_t, uint16_t>(
                [this](uint32_t, uint16_t sport) { m_told["Migrated"] += sport != 10'000; }));
    }

    /**
     * \brief Give host 1 a notification in the name of host 2.
     * \param network the network
     */
    void Forge(TestNetwork& network)
    {
        QbbFrame frame;
        frame.kind = QbbFrame::Kind::FAST_CNP;
        frame.src = 2;
        frame.dst = 1;
        frame.size = 122;
        network.helper.GetHost(2)->Send(frame);
    }

    /**
     * \brief A notification is withheld, or not believed.
     * \param reason why
     */
    void OnReason(const QbbFrame&, const std::string& reason)
    {
        m_reasons.insert(reason);
    }

    std::map<std::string, uint64_t> m_told; //!< how often each trace source fired
    std::set<std::string> m_reasons;        //!< why notifications were withheld or refused
};

/**
 * \ingroup hpcc
 * \brief A program's attacker, and a border that keeps its notifications out.
 */
class AttackHelperTest : public HpccTestCase
{
  public:
    AttackHelperTest()
        : HpccTestCase("An attacker of a program slows its victim down until it goes, unless a "
                       "border drops what it sends")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t attacked = Run(false, false);
        NS_TEST_EXPECT_MSG_GT(m_sent, 100, "100 Mb/s of notifications");
        const uint64_t sent = m_sent;
        NS_TEST_EXPECT_MSG_GT(Run(false, true), 4 * attacked, "an attack ends with its attacker");
        NS_TEST_EXPECT_MSG_EQ(m_drops, 0, "there is no border");
        NS_TEST_EXPECT_MSG_GT(Run(true, false), 4 * attacked, "a border drops notifications");
        NS_TEST_EXPECT_MSG_EQ(m_sent, sent, "the attacker does not notice");
        NS_TEST_EXPECT_MSG_EQ(m_drops, sent, "each is told of");
    }

    /**
     * \brief Hosts 0 and 1 send to host 4 for 2 ms while host 3 forges notifications for host 0.
     * \param border whether the switch takes no notifications from host 3
     * \param brief whether the attacker goes at once
     * \return bytes of host 0 that were acknowledged
     */
    uint64_t Run(bool border, bool brief)
    {
        TestNetwork network;
        MakeCongested(network);
        if (border)
        {
            network.helper.SetFastCnpBorder(SWITCH, 3);
        }
        network.helper.Start();
        m_drops = 0;
        const auto notifier = network.helper.GetNode(SWITCH)->GetObject<FastCnpSwitch>();
        notifier->TraceConnectWithoutContext(
            "BorderDrop",
            Callback<void, const QbbFrame&, bool>(
                [this](const QbbFrame&, bool inbound) { m_drops += inbound; }));
        network.AddFlow(0, SENDERS, 1'000'000'000);
        network.AddFlow(1, SENDERS, 1'000'000'000);
        AttackHelper attack("forged_fast_cnp");
        attack.Set("victims", "0");
        attack.Set("spoofed_source", std::to_string(SWITCH));
        auto attacker = attack.Install(network.hosts.Get(3), network.helper);
        if (brief)
        {
            attacker.reset();
        }
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        m_sent = attacker ? attacker->GetSent() : 0;
        const uint64_t acked = network.helper.GetHost(0)->GetAckedBytes(0);
        Simulator::Destroy();
        return acked;
    }

    uint64_t m_sent{0};  //!< frames that the attacker sent
    uint64_t m_drops{0}; //!< of these: traced by the border
};

TestCases
MakeFastCnpTests()
{
    return {new FastCnpTest, new AttackHelperTest};
}

} // namespace tests
} // namespace ns3
