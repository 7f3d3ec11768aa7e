/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Congestion controls of single flows, and paths of Config to them.
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/object-map.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traced-value.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief A pace that may change at any time.
 */
class SetPace : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::SetPace")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<SetPace>()
                                .AddAttribute("Rate",
                                              "The pace",
                                              DataRateValue(DataRate("20Gbps")),
                                              MakeDataRateAccessor(&SetPace::m_rate),
                                              MakeDataRateChecker())
                                .AddTraceSource("Acks",
                                                "Acknowledgements so far",
                                                MakeTraceSourceAccessor(&SetPace::m_acks),
                                                "ns3::TracedValueCallback::Uint32");
        return tid;
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        ++m_acks;
        m_isLate = m_isLate || Simulator::Now().GetNanoSeconds() != int64_t(feedback.now);
        return {m_isLate, m_rate, 0};
    }

  private:
    DataRate m_rate;                 //!< attribute
    TracedValue<uint32_t> m_acks{0}; //!< trace source
    bool m_isLate{false};            //!< whether the clock was wrong once
};

NS_OBJECT_ENSURE_REGISTERED(SetPace);

namespace
{

/// Bytes of each flow.
constexpr uint64_t SIZE = 2'000'000;

/**
 * \brief Run flows from two hosts to two others.
 * \param ofHosts the congestion control of all hosts
 * \param ofFirst that of the first flow; empty: its host's
 * \return durations in ns, of the first flow and of the second
 */
std::pair<int64_t, int64_t>
RunFlows(const std::string& ofHosts, const std::string& ofFirst)
{
    TestNetwork network;
    network.SetControl(ofHosts);
    network.MakeStar(4);
    network.helper.Start();
    const auto first = network.AddFlow(0, 2, SIZE);
    const auto second = network.AddFlow(1, 3, SIZE);
    if (!ofFirst.empty())
    {
        first->SetAttribute("CongestionControl", StringValue(ofFirst));
    }
    Simulator::Stop(MilliSeconds(40));
    Simulator::Run();
    const std::pair<int64_t, int64_t> times{first->GetFlow().completion.GetNanoSeconds(),
                                            second->GetFlow().completion.GetNanoSeconds()};
    Simulator::Destroy();
    return times;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief A flow has its own congestion control.
 */
class FlowControlTest : public HpccTestCase
{
  public:
    FlowControlTest()
        : HpccTestCase("A flow has the congestion control that its application names")
    {
    }

  private:
    void DoRun() override
    {
        const auto [usual, other] = RunFlows("hpcc", "");
        const auto [class1, unchanged] = RunFlows("hpcc", "ns3::tests::SetPace");
        NS_TEST_EXPECT_MSG_EQ(class1,
                              RunFlows("ns3::tests::SetPace", "").first,
                              "as if its host had it");
        NS_TEST_EXPECT_MSG_EQ(unchanged, other, "a flow that shares nothing with it");
        const auto [slow, dcqcn] = RunFlows("dcqcn", "ns3::tests::SetPace[Rate=10Gbps]");
        // Packets carry 1000 bytes of payload behind 90 bytes of headers and telemetry.
        NS_TEST_EXPECT_MSG_LT(std::abs(slow / (SIZE * 8 * 1.09 / 10) - 1), 0.02, "its pace");
        NS_TEST_EXPECT_MSG_LT(dcqcn, usual * 1.1, "of the other flow");
        NS_TEST_EXPECT_MSG_EQ(RunFlows("hpcc", "dcqcn").first,
                              RunFlows("dcqcn", "").first,
                              "of the core, with the window of its host");
    }
};

/**
 * \ingroup hpcc
 * \brief Paths of Config lead to controllers.
 */
class ControllerPathTest : public HpccTestCase
{
  public:
    ControllerPathTest()
        : HpccTestCase("Config reaches the controllers of flows in progress")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(3);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 2, SIZE);
        flow->SetAttribute("CongestionControl", StringValue("ns3::tests::SetPace"));
        network.AddFlow(1, 2, 1000);
        uint32_t acks = 0;
        Simulator::Schedule(MicroSeconds(1), [&] {
            const std::string path = "/NodeList/*/$ns3::RdmaHost/ControllerList/*/$"
                                     "ns3::tests::SetPace/";
            NS_TEST_EXPECT_MSG_EQ(Config::LookupMatches(path).GetN(), 1, "of hpcc none");
            Config::ConnectWithoutContext(
                path + "Acks",
                Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t now) { acks = now; }));
            Config::Set(path + "Rate", DataRateValue(DataRate("10Gbps")));
            const auto host = network.helper.GetHost(0);
            const auto control = host->GetController(flow->GetQueuePair());
            NS_TEST_EXPECT_MSG_NE(DynamicCast<SetPace>(control), nullptr, "the object");
            ObjectMapValue list;
            host->GetAttribute("ControllerList", list);
            NS_TEST_EXPECT_MSG_EQ(list.Get(flow->GetQueuePair()), control, "by its queue pair");
        });
        Simulator::Stop(MilliSeconds(40));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(acks, SIZE / 1000, "an acknowledgement of each packet");
        const double expected = SIZE * 8 * 1.09 / 10;
        const double found = flow->GetFlow().completion.GetNanoSeconds();
        NS_TEST_EXPECT_MSG_LT(std::abs(found / expected - 1), 0.03, found);
        NS_TEST_EXPECT_MSG_EQ(network.helper.GetHost(0)->GetControlled().size(), 0, "it is over");
    }
};

TestCases
MakeFlowControlTests()
{
    const auto ofFlow = [](const std::string& control) {
        return [control] { RunFlows("dcqcn", control); };
    };
    return {new FlowControlTest,
            new ControllerPathTest,
            MakeMisuseTest("a flow's congestion control that is none",
                           ofFlow("hpccc"),
                           "there is no congestion control \"hpccc\"; expected one of \"hpcc\""),
            MakeMisuseTest("a parameter that a flow's congestion control does not have",
                           ofFlow("ns3::tests::SetPace[Pace=1Gbps]"),
                           "ns3::tests::SetPace has no attribute Pace"),
            MakeMisuseTest("a flow whose congestion control reads other telemetry",
                           ofFlow("timely"),
                           "TelemetryLayout")};
}

} // namespace tests
} // namespace ns3
