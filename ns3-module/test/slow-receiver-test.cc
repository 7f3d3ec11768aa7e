/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Hosts that take what arrives more slowly than their link brings it.
#include "hpcc-tests.h"

#include "ns3/node.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <functional>

namespace ns3
{
namespace tests
{

namespace
{

constexpr uint32_t SLOW = 1; //!< the host that is slow

/**
 * \brief Make a star whose host SLOW takes 40 Gb/s of 100, and start it.
 * \param network the network
 */
void
StartWithSlowHost(TestNetwork& network)
{
    network.helper.SetHostAttribute("Timeout", StringValue("500us"));
    network.MakeStar(4);
    const auto slow = network.hosts.Get(SLOW)->GetObject<RdmaHost>();
    slow->SetAttribute("ReceiveSlow", StringValue("hosts"));
    slow->SetAttribute("ReceiveRate", StringValue("40Gbps"));
    slow->SetAttribute("ReceiveBuffer", StringValue("60KB"));
    network.helper.Start();
}

} // namespace

/**
 * \ingroup hpcc
 * \brief One slow host among others.
 */
class SlowHostTest : public HpccTestCase
{
  public:
    SlowHostTest()
        : HpccTestCase("A slow host takes frames at its rate, and its NIC pauses the switch")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            TestNetwork network;
            StartWithSlowHost(network);
            network.AddFlow(0, SLOW, 2'000'000);
            network.AddFlow(2, 3, 2'000'000);
            int64_t toSlow = 0;
            int64_t toOther = 0;
            const auto note = [&](uint32_t src, int64_t& nanos) {
                const std::function<void(const RdmaFlow&)> told = [&nanos](const RdmaFlow&) {
                    nanos = Simulator::Now().GetNanoSeconds();
                };
                network.hosts.Get(src)->GetObject<RdmaHost>()->TraceConnectWithoutContext(
                    "FlowFinish",
                    Callback<void, const RdmaFlow&>(told));
            };
            note(0, toSlow);
            note(2, toOther);
            Simulator::Run();
            // 2,000 frames of 1,090 bytes with HPCC's telemetry, at 40 Gb/s, and a round trip.
            NS_TEST_EXPECT_MSG_GT(toSlow, 436'000, "time of what the slow host takes");
            NS_TEST_EXPECT_MSG_LT(toSlow, 445'000, "time of what the slow host takes");
            NS_TEST_EXPECT_MSG_LT(toOther, 200'000, "time of what another one takes");
            const auto counters = network.hosts.Get(SLOW)->GetObject<RdmaHost>()->GetCounters();
            NS_TEST_EXPECT_MSG_GT(counters.receivePauses, 0, "pauses of the slow host");
            NS_TEST_EXPECT_MSG_EQ(counters.receiveDropped, 0, "frames that it had no room for");
            const auto forwarding = network.switches.Get(0)->GetObject<QbbSwitch>();
            NS_TEST_EXPECT_MSG_EQ(forwarding->GetPort(SLOW)->GetPauses(),
                                  counters.receivePauses,
                                  "pauses that the switch received");
            NS_TEST_EXPECT_MSG_EQ(forwarding->GetPort(SLOW)->GetPaused(), 0, "paused at the end");
            NS_TEST_EXPECT_MSG_EQ(forwarding->GetPort(3)->GetPauses(), 0, "pauses of another one");
            Simulator::Destroy();
        }
    }
};

/**
 * \ingroup hpcc
 * \brief A slow host whose link fails while the switch is paused.
 */
class SlowHostLinkTest : public HpccTestCase
{
  public:
    SlowHostLinkTest()
        : HpccTestCase("After a link of a slow host failed it is paused and resumed anew")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        StartWithSlowHost(network);
        const auto flow = network.AddFlow(0, SLOW, 2'000'000);
        const auto slow = network.hosts.Get(SLOW)->GetObject<RdmaHost>();
        uint64_t before = 0;
        Simulator::Schedule(MicroSeconds(100), [&]() {
            before = slow->GetCounters().receivePauses;
            network.helper.TakeLinkDown(SLOW, 4);
        });
        Simulator::Schedule(MicroSeconds(150), [&]() { network.helper.SetLinkUp(SLOW, 4); });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "the flow");
        NS_TEST_EXPECT_MSG_GT(before, 0, "pauses before the failure");
        NS_TEST_EXPECT_MSG_GT(slow->GetCounters().receivePauses, before, "pauses after it");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief A slow host that a program disposes of while its NIC holds frames, or as a pause leaves.
 */
class SlowHostDisposeTest : public HpccTestCase
{
  public:
    SlowHostDisposeTest()
        : HpccTestCase("A slow host may be disposed of while its NIC holds frames, and pauses")
    {
    }

  private:
    void DoRun() override
    {
        Run([](Ptr<Node> slow, Ptr<QbbNetDevice>) {
            Simulator::Schedule(MicroSeconds(100), &Node::Dispose, slow);
        });
        for (const bool ofPauses : {true, false})
        {
            Run([ofPauses](Ptr<Node> slow, Ptr<QbbNetDevice> device) {
                const std::function<void(const QbbFrame&)> told =
                    [ofPauses, kept = PeekPointer(slow)](const QbbFrame& frame) {
                        if (frame.kind == QbbFrame::Kind::PFC && frame.pause == ofPauses)
                        {
                            kept->Dispose();
                        }
                    };
                device->TraceConnectWithoutContext("TxBegin",
                                                   Callback<void, const QbbFrame&>(told));
            });
        }
    }

    /**
     * \brief Run a flow to a slow host that goes, beside another one.
     * \param dispose plans the end of the host; it has a device
     */
    void Run(const std::function<void(Ptr<Node>, Ptr<QbbNetDevice>)>& dispose)
    {
        TestNetwork network;
        StartWithSlowHost(network);
        const auto flow = network.AddFlow(0, SLOW, 2'000'000);
        const auto other = network.AddFlow(2, 3, 2'000'000);
        dispose(network.hosts.Get(SLOW), network.GetHostDevice(SLOW));
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), false, "the flow without its receiver");
        NS_TEST_EXPECT_MSG_EQ(other->IsFinished(), true, "the other flow");
        Simulator::Destroy();
    }
};

TestCases
MakeSlowReceiverTests()
{
    return {new SlowHostTest, new SlowHostLinkTest, new SlowHostDisposeTest};
}

} // namespace tests
} // namespace ns3
