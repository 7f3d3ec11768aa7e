/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// ns-3's models of errors at the devices.
#include "hpcc-tests.h"

#include "ns3/error-model.h"
#include "ns3/pointer.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Spoils some of the frames that it is asked about, by their number, and notes when that is.
class CountingErrorModel : public ErrorModel
{
  public:
    std::vector<int64_t> asked; //!< times in ns
    std::vector<uint32_t> size; //!< bytes of the frames

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        asked.push_back(Simulator::Now().GetNanoSeconds());
        size.push_back(packet->GetSize());
        return asked.size() == 6 || asked.size() == 18;
    }

    void DoReset() override
    {
        asked.clear();
    }
};

} // namespace

/**
 * \ingroup hpcc
 * \brief A model of errors is asked about each frame at its time, and decides; sinks change
 * nothing.
 */
class ErrorModelTest : public HpccTestCase
{
  public:
    ErrorModelTest()
        : HpccTestCase("Error models of ns-3 decide what arrives")
    {
    }

  private:
    void DoRun() override
    {
        const auto without = Run(false);
        const auto with = Run(true);
        NS_TEST_EXPECT_MSG_EQ((without == with), true, "sinks change nothing");
    }

    /**
     * \param hasSinks whether something looks at frames
     * \return when the model was asked, and when the flow finished
     */
    std::pair<std::vector<int64_t>, Time> Run(bool hasSinks)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        network.MakeStar(2);
        const auto model = CreateObject<CountingErrorModel>();
        const auto receiver = network.GetHostDevice(1);
        receiver->SetAttribute("ReceiveErrorModel", PointerValue(model));
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 40'000);
        std::vector<int64_t> arrivals;
        std::vector<int64_t> losses;
        if (hasSinks)
        {
            receiver->TraceConnectWithoutContext(
                "RxEnd",
                Callback<void, const QbbFrame&>([&](const QbbFrame&) {
                    arrivals.push_back(Simulator::Now().GetNanoSeconds());
                }));
            receiver->TraceConnectWithoutContext(
                "RxDrop",
                Callback<void, const QbbFrame&>(
                    [&](const QbbFrame&) { losses.push_back(Simulator::Now().GetNanoSeconds()); }));
        }
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "what was lost is sent again");
        NS_TEST_EXPECT_MSG_EQ(receiver->GetLostFrames(), 2, "two are spoilt");
        NS_TEST_EXPECT_MSG_GT(model->asked.size(), 41, "40 packets, and some again");
        NS_TEST_EXPECT_MSG_GT(model->size.front(), 1000, "bytes with headers");
        if (hasSinks)
        {
            const std::vector<int64_t> spoilt{model->asked[5], model->asked[17]};
            NS_TEST_EXPECT_MSG_EQ((losses == spoilt),
                                  true,
                                  "sinks hear of the sixth and eighteenth");
            NS_TEST_EXPECT_MSG_EQ(arrivals.size() + losses.size(), model->asked.size(), "frames");
            NS_TEST_EXPECT_MSG_EQ(arrivals.front(), model->asked.front(), "at their times");
        }
        const auto result = std::make_pair(model->asked, flow->GetFlow().completion);
        Simulator::Destroy();
        return result;
    }
};

TestCases
MakeErrorModelTests()
{
    return {new ErrorModelTest,
            MakeMisuseTest(
                "an error model after the start",
                []() {
                    TestNetwork network;
                    network.MakeStar(2);
                    network.helper.Start();
                    network.GetHostDevice(0)->SetAttribute(
                        "ReceiveErrorModel",
                        PointerValue(CreateObject<RateErrorModel>()));
                },
                "host 0 port 0 has no ReceiveErrorModel: set it before QbbHelper::Start()")};
}

} // namespace tests
} // namespace ns3
