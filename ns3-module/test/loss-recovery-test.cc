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

#include <string>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Lost packets are sent again, and nothing arrives out of order.
 */
class LossRecoveryTest : public HpccTestCase
{
  public:
    LossRecoveryTest()
        : HpccTestCase("Go-back-N recovers lost packets")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.SetLoss(NetDeviceContainer(network.GetHostDevice(1)), 0.01, 1);
        network.helper.Start();
        const auto receiver = network.GetHostDevice(1);
        receiver->TraceConnectWithoutContext("RxDrop",
                                             MakeCallback(&LossRecoveryTest::OnLoss, this));
        receiver->TraceConnectWithoutContext("RxEnd",
                                             MakeCallback(&LossRecoveryTest::OnData, this));
        network.GetHostDevice(0)->TraceConnectWithoutContext(
            "RxEnd",
            MakeCallback(&LossRecoveryTest::OnReply, this));
        const auto flow = network.AddFlow(0, 1, 500'000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "the flow has not finished");
        NS_TEST_EXPECT_MSG_GT(m_losses, 0, "nothing was lost");
        NS_TEST_EXPECT_MSG_EQ(receiver->GetLostFrames(),
                              m_losses,
                              "losses are counted as they are traced");
        NS_TEST_EXPECT_MSG_GT(m_nacks, 0, "the receiver did not ask");
        NS_TEST_EXPECT_MSG_EQ(m_expected, 500'000, "the receiver has every byte");
        NS_TEST_EXPECT_MSG_GT(flow->GetFlow().completion,
                              network.helper.GetStandaloneFct(0, 1, 500'000),
                              "losses cost time");
    }

    /**
     * \brief A packet is lost.
     * \param frame the packet
     */
    void OnLoss(const QbbFrame& frame)
    {
        m_losses += frame.kind == QbbFrame::Kind::DATA;
    }

    /**
     * \brief A packet arrives: the receiver accepts it if it is the next.
     * \param frame the packet
     */
    void OnData(const QbbFrame& frame)
    {
        if (frame.seq == m_expected)
        {
            m_expected += frame.payload;
        }
    }

    /**
     * \brief An answer arrives at the sender: it asks for no byte that is not next.
     * \param frame the answer
     */
    void OnReply(const QbbFrame& frame)
    {
        m_nacks += frame.kind == QbbFrame::Kind::NACK;
        NS_TEST_EXPECT_MSG_LT_OR_EQ(frame.seq,
                                    m_expected,
                                    "acknowledged, though it did not arrive in order");
    }

    uint64_t m_expected{0}; //!< next byte that the receiver can accept
    uint64_t m_losses{0};   //!< packets lost
    uint64_t m_nacks{0};    //!< negative acknowledgements
};

/**
 * \ingroup hpcc
 * \brief What is lost is sent again: after a NACK, selectively, or after the timeout.
 */
class RecoveryTest : public HpccTestCase
{
  public:
    RecoveryTest()
        : HpccTestCase("Timeout and selective repeat recover losses")
    {
    }

  private:
    void DoRun() override
    {
        const Outcome goBackN = Run("go_back_n", 0.01);
        const Outcome selective = Run("selective_repeat", 0.01);
        NS_TEST_EXPECT_MSG_GT(goBackN.resent, 4 * selective.resent, "go-back-N sends more again");
        NS_TEST_EXPECT_MSG_GT(goBackN.completion, selective.completion, "and takes longer");
        // Data and acknowledgements alike are lost: without a timeout such a flow stalls.
        for (const std::string recovery : {"go_back_n", "selective_repeat"})
        {
            const Outcome outcome = Run(recovery, 0.3);
            NS_TEST_EXPECT_MSG_GT(outcome.completion, Time(0), "finished by " << recovery);
            NS_TEST_EXPECT_MSG_GT(outcome.timeouts, 0, "with timeouts, by " << recovery);
        }
    }

    /// What became of a flow.
    struct Outcome
    {
        Time completion;   //!< duration, 0 if it did not finish
        uint64_t resent;   //!< packets that were sent again
        uint64_t timeouts; //!< timeouts
    };

    /**
     * \brief One flow over two links with losses.
     * \param recovery kind of recovery
     * \param loss probability of a loss
     * \return what became of it
     */
    static Outcome Run(const std::string& recovery, double loss)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Recovery", StringValue(recovery));
        network.helper.SetHostAttribute("Timeout", TimeValue(MicroSeconds(200)));
        network.MakeStar(2);
        for (const auto& link : network.links)
        {
            network.helper.SetLoss(link, loss, 7);
        }
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 1'000'000);
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        const auto host = network.hosts.Get(0)->GetObject<RdmaHost>();
        const Outcome outcome{flow->GetFlow().completion,
                              host->GetCounters().resent,
                              host->GetCounters().timeouts};
        Simulator::Destroy();
        return outcome;
    }
};

/**
 * \ingroup hpcc
 * \brief Fewer acknowledgements, and no flow that waits for one in vain.
 */
class AckEveryTest : public HpccTestCase
{
  public:
    AckEveryTest()
        : HpccTestCase("Acknowledgements come when they are asked for")
    {
    }

  private:
    void DoRun() override
    {
        const Outcome every = Run(0);
        const Outcome few = Run(8'000);
        NS_TEST_EXPECT_MSG_EQ(every.answers, 1'000, "one for each packet");
        NS_TEST_EXPECT_MSG_EQ(few.answers, few.asked, "one for each packet that asks for it");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(few.asked, 125, "which is one of eight");
        NS_TEST_EXPECT_MSG_EQ(few.early, 0, "or one behind which the window has no room");
        NS_TEST_EXPECT_MSG_LT(few.time, every.time * 1.1, "as fast");
        const Outcome huge = Run(100'000'000);
        NS_TEST_EXPECT_MSG_GT(huge.time, Time(0), "an interval larger than window and flow");
        NS_TEST_EXPECT_MSG_LT(huge.time, every.time * 1.5, "does not stall it");
    }

    /// What became of a flow.
    struct Outcome
    {
        Time time;           //!< its duration
        uint64_t answers{0}; //!< frames of its receiver
        uint64_t asked{0};   //!< packets that asked for an acknowledgement
        uint64_t early{0};   //!< of those: packets that had no reason to
    };

    static constexpr uint64_t SIZE = 1'000'000; //!< bytes of the flow

    /**
     * \brief A packet asks for an acknowledgement once in an interval, where the window ends, and
     * at the end of the flow.
     * \param frame a frame of the sender
     */
    void OnSent(const QbbFrame& frame)
    {
        if (!frame.ackRequested)
        {
            return;
        }
        const uint64_t end = frame.seq + frame.payload;
        const uint64_t inFlight = end - m_host->GetAckedBytes(frame.replyQueuePair);
        ++m_outcome.asked;
        m_outcome.early += end < m_lastAsked + m_every && end < SIZE &&
                           inFlight < m_host->GetWindow(frame.replyQueuePair);
        m_lastAsked = end;
    }

    /**
     * \brief One flow of a thousand packets.
     * \param every the interval between acknowledgements in bytes
     * \return what became of it
     */
    Outcome Run(uint32_t every)
    {
        m_outcome = {};
        m_every = every;
        m_lastAsked = 0;
        TestNetwork network;
        network.helper.SetHostAttribute("AckEvery", UintegerValue(every));
        network.MakeStar(2);
        network.helper.Start();
        m_host = network.hosts.Get(0)->GetObject<RdmaHost>();
        network.GetHostDevice(0)->TraceConnectWithoutContext(
            "TxBegin",
            MakeCallback(&AckEveryTest::OnSent, this));
        const auto flow = network.AddFlow(0, 1, SIZE);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        m_outcome.time = flow->GetFlow().completion;
        m_outcome.answers = network.GetHostDevice(1)->GetTxFrames();
        m_host = nullptr;
        Simulator::Destroy();
        return m_outcome;
    }

    Outcome m_outcome;       //!< of the present flow
    uint64_t m_every{0};     //!< its interval
    uint64_t m_lastAsked{0}; //!< end of the last packet that asked
    Ptr<RdmaHost> m_host;    //!< its sender
};

TestCases
MakeRecoveryTests()
{
    return {new LossRecoveryTest, new RecoveryTest, new AckEveryTest};
}

} // namespace tests
} // namespace ns3
