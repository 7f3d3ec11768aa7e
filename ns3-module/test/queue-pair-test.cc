/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \brief Make a star of hosts whose flows to the same peer may share a queue pair. Does not start
 * it.
 * \param network the network
 * \param hosts how many
 * \param queuePairs the attribute QueuePairs
 */
void
MakeSharingStar(TestNetwork& network, uint32_t hosts, const std::string& queuePairs)
{
    network.helper.SetHostAttribute("QueuePairs", StringValue(queuePairs));
    network.MakeStar(hosts);
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Applications to one peer post on one queue pair: their messages leave one after the other.
 */
class QueuePairOrderTest : public HpccTestCase
{
  public:
    QueuePairOrderTest()
        : HpccTestCase("Two applications to one peer may share a queue pair")
    {
    }

  private:
    void DoRun() override
    {
        const Time first = FctOf(20'000);
        const Time both = FctOf(50'000);
        NS_TEST_EXPECT_MSG_EQ(Run("per_pair").first, first, "the first has the link to itself");
        NS_TEST_EXPECT_MSG_EQ(Run("per_pair").second, both, "the second waits for it");
        NS_TEST_EXPECT_MSG_GT(Run("per_flow").first, first, "flows of their own take turns");
        ExpectIdentity();
    }

    /**
     * \param size bytes
     * \return completion time of one flow alone
     */
    static Time FctOf(uint64_t size)
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, size);
        Simulator::Run();
        const Time completion = flow->GetFlow().completion;
        Simulator::Destroy();
        return completion;
    }

    /**
     * \param queuePairs the attribute QueuePairs
     * \return completion times of two flows that begin together
     */
    static std::pair<Time, Time> Run(const std::string& queuePairs)
    {
        TestNetwork network;
        MakeSharingStar(network, 2, queuePairs);
        network.helper.Start();
        const auto one = network.AddFlow(0, 1, 20'000);
        const auto two = network.AddFlow(0, 1, 30'000);
        Simulator::Run();
        const auto completions =
            std::make_pair(one->GetFlow().completion, two->GetFlow().completion);
        Simulator::Destroy();
        return completions;
    }

    /// Which flows share, and what tells them apart.
    void ExpectIdentity()
    {
        TestNetwork network;
        network.helper.SetSwitchAttribute("PfcPriorities", StringValue("3, 4"));
        MakeSharingStar(network, 3, "per_pair");
        network.helper.Start();
        const auto one = network.AddFlow(0, 1, 20'500);
        const auto two = network.AddFlow(0, 1, 30'000);
        const auto elsewhere = network.AddFlow(0, 2, 30'000);
        const auto urgent = network.AddFlow(0, 1, 30'000);
        urgent->SetAttribute("Priority", UintegerValue(4));
        const auto other = network.AddFlow(0, 1, 30'000);
        other->SetAttribute("DestinationPort", UintegerValue(101));
        const auto host = network.hosts.Get(0)->GetObject<RdmaHost>();
        Simulator::Stop(MicroSeconds(5));
        Simulator::Run();
        const uint32_t queuePair = one->GetQueuePair();
        NS_TEST_EXPECT_MSG_EQ(two->GetQueuePair(), queuePair, "the same queue pair");
        NS_TEST_EXPECT_MSG_EQ(two->GetFlow().sport, one->GetFlow().sport, "and source port");
        for (const auto& client : {elsewhere, urgent, other})
        {
            NS_TEST_EXPECT_MSG_NE(client->GetQueuePair(), queuePair, "another queue pair");
        }
        const uint64_t firstSeq = two->GetFlow().firstSeq;
        NS_TEST_EXPECT_MSG_EQ(firstSeq, 21'000, "numbers count whole packets");
        NS_TEST_EXPECT_MSG_EQ(host->FindFlow(queuePair, 20'400)->size, 20'500, "a byte's flow");
        NS_TEST_EXPECT_MSG_EQ(host->FindFlow(queuePair, 21'000)->size, 30'000, "a byte's flow");
        NS_TEST_EXPECT_MSG_GT(host->GetAckedBytes(queuePair), 0, "some of the first");
        NS_TEST_EXPECT_MSG_EQ(host->GetAckedBytes(queuePair, firstSeq), 0, "none of the second");
        std::ostringstream unfinished;
        NS_TEST_EXPECT_MSG_EQ(network.helper.PrintUnfinished(unfinished), 5, "all under way");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(two->IsFinished() && other->IsFinished(), true, "in the end");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief The second message begins with what congestion control has learnt from the first.
 */
class QueuePairStateTest : public HpccTestCase
{
  public:
    QueuePairStateTest()
        : HpccTestCase("A message begins at the rate that the one before has ended with")
    {
    }

  private:
    void DoRun() override
    {
        Expect("per_pair", true);
        Expect("per_flow", false);
    }

    /**
     * \brief Host 0 sends two messages to host 2 while host 1 sends there all the time.
     * \param queuePairs the attribute QueuePairs
     * \param isWarm whether the second is to begin at the rate of the first
     */
    void Expect(const std::string& queuePairs, bool isWarm)
    {
        TestNetwork network;
        MakeSharingStar(network, 3, queuePairs);
        network.helper.Start();
        network.AddFlow(1, 2, 3'000'000);
        const auto first = network.AddFlow(0, 2, 500'000);
        const auto second = network.AddFlow(0, 2, 500'000, MicroSeconds(150));
        const auto host = network.hosts.Get(0)->GetObject<RdmaHost>();
        DataRate before;
        DataRate at;
        host->TraceConnectWithoutContext("Control",
                                         Callback<void, const RdmaFlow&, const RdmaControl&>(
                                             [&](const RdmaFlow&, const RdmaControl& control) {
                                                 before =
                                                     first->IsFinished() ? before : control.rate;
                                             }));
        Simulator::Schedule(NanoSeconds(150'001), [&]() {
            NS_TEST_EXPECT_MSG_EQ(first->IsFinished(), true, "the first is over");
            at = host->GetRate(second->GetQueuePair());
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(second->IsFinished(), true, "both finish");
        NS_TEST_EXPECT_MSG_LT(before, DataRate("60Gbps"), "the first shares the link");
        const DataRate expected = isWarm ? before : DataRate("100Gbps");
        NS_TEST_EXPECT_MSG_EQ(at, expected, "where the second begins");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief Losses at the border of two messages cost neither of them a byte.
 */
class QueuePairLossTest : public HpccTestCase
{
  public:
    QueuePairLossTest()
        : HpccTestCase("Messages of a queue pair recover their losses")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string recovery : {"go_back_n", "selective_repeat"})
        {
            TestNetwork network;
            network.helper.SetHostAttribute("Recovery", StringValue(recovery));
            network.helper.SetHostAttribute("Timeout", TimeValue(MicroSeconds(200)));
            MakeSharingStar(network, 2, "per_pair");
            for (const auto& link : network.links)
            {
                network.helper.SetLoss(link, 0.02, 7);
            }
            network.helper.Start();
            std::vector<Ptr<RdmaClient>> messages;
            for (uint32_t n = 0; n < 200; ++n)
            {
                messages.push_back(network.AddFlow(0, 1, 1 + 37 * n, MicroSeconds(n / 20)));
            }
            uint64_t resent = 0;
            uint64_t rtts = 0;
            const auto host = network.hosts.Get(0)->GetObject<RdmaHost>();
            host->TraceConnectWithoutContext(
                "Resend",
                Callback<void, const RdmaFlow&, uint64_t>([&](const RdmaFlow& flow, uint64_t seq) {
                    ++resent;
                    NS_TEST_EXPECT_MSG_LT(seq, flow.size, "a byte of the flow");
                }));
            host->TraceConnectWithoutContext(
                "Rtt",
                Callback<void, const RdmaFlow&, Time>([&](const RdmaFlow&, Time) { ++rtts; }));
            Simulator::Run();
            Time last;
            for (const auto& message : messages)
            {
                const RdmaFlow& flow = message->GetFlow();
                NS_TEST_EXPECT_MSG_EQ(message->IsFinished(), true, "finished by " << recovery);
                NS_TEST_EXPECT_MSG_GT_OR_EQ(flow.start + flow.completion, last, "in order");
                last = flow.start + flow.completion;
            }
            NS_TEST_EXPECT_MSG_EQ(resent, host->GetCounters().resent, "each told of once");
            NS_TEST_EXPECT_MSG_GT(resent, 5, "there were losses");
            NS_TEST_EXPECT_MSG_GT(rtts, 100, "round-trip times of packets sent once");
            Simulator::Destroy();
        }
    }
};

TestCases
MakeQueuePairTests()
{
    return {new QueuePairOrderTest, new QueuePairStateTest, new QueuePairLossTest};
}

} // namespace tests
} // namespace ns3
