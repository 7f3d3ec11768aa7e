/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/data-rate.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>

namespace ns3
{
namespace tests
{

namespace
{

/// The host that FixedPace calls, as StartFlow() has it; none unless a test sets it.
Ptr<RdmaHost> g_called;

} // namespace

/**
 * \ingroup hpcc
 * \brief A fixed pace, half of it from 1 ms after the first packet on, but only for a flow that was
 * told all it should know.
 */
class FixedPace : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::FixedPace")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<FixedPace>()
                                .AddAttribute("Rate",
                                              "The pace",
                                              DataRateValue(DataRate("10Gbps")),
                                              MakeDataRateAccessor(&FixedPace::m_rate),
                                              MakeDataRateChecker());
        return tid;
    }

    void Start(const Limits& limits) override
    {
        m_started =
            limits.lineRate == DataRate("100Gbps") && limits.mtu == 1000 && limits.hops == 2;
    }

    void OnSent(const Sent& sent) override
    {
        m_sent += sent.bytes;
        if (m_due == 0)
        {
            m_due = sent.now + 1'000'000;
            Arm(PAST, 0);
            Arm(SLOW, m_due);
        }
    }

    Decision OnTimer(uint8_t timer, uint64_t now) override
    {
        m_past += timer == PAST;
        m_slow = m_slow || (timer == SLOW && now == m_due && m_past == 1);
        return Pace();
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        m_told = m_started && m_sent == feedback.sndNxt && feedback.rtt > 0 && feedback.acked > 0 &&
                 feedback.hops.size() == 1 && feedback.hops[0].rate == DataRate("100Gbps");
        if (g_called)
        {
            RdmaFlow flow;
            flow.size = 1000;
            g_called->StartFlow(g_called, flow, RdmaHost::FlowCallback());
        }
        return Pace();
    }

    Reads GetReads() const override
    {
        return Reads::RECORDS;
    }

  private:
    /// Numbers of the timers.
    enum Timer : uint8_t
    {
        PAST,
        SLOW
    };

    /// \return the pace
    Decision Pace() const
    {
        return {!m_told, DataRate(m_rate.GetBitRate() / (m_slow ? 2 : 1)), 0};
    }

    DataRate m_rate;       //!< the pace
    bool m_started{false}; //!< whether Start() said the truth
    bool m_told{false};    //!< whether OnFeedback() did
    bool m_slow{false};    //!< whether the time has come to be slower
    uint64_t m_sent{0};    //!< payload bytes that have left
    uint64_t m_due{0};     //!< when it becomes slower, in ns
    uint32_t m_past{0};    //!< how often the timer for a time of the past has fired
};

NS_OBJECT_ENSURE_REGISTERED(FixedPace);

/**
 * \ingroup hpcc
 * \brief A congestion control whose timer, whenever it is due, is to be due again at once.
 */
class RestlessControl : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::RestlessControl")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<RestlessControl>();
        return tid;
    }

    void Start(const Limits&) override
    {
        Arm(0, 0);
    }

    Decision OnTimer(uint8_t timer, uint64_t now) override
    {
        Arm(timer, now);
        return {};
    }

    Decision OnFeedback(const Feedback&) override
    {
        return {};
    }
};

NS_OBJECT_ENSURE_REGISTERED(RestlessControl);

namespace
{

/// Bytes of the flow.
constexpr uint64_t SIZE = 10'000'000;

/// A flow of SIZE bytes on a star; a line for [congestion_control] is to follow.
const char SCENARIO[] = R"(
[run]
stop = "40ms"
[topology]
kind = "star"
hosts = 2
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "10MB"
[congestion_control]
algorithm = "ns3::tests::FixedPace"
)";

/**
 * \brief Run a flow whose sender a program controls.
 * \param control name of the class
 * \param isCalled whether it calls its own host
 * \return duration of the flow
 */
Time
RunProgram(const std::string& control, bool isCalled = false)
{
    TestNetwork network;
    network.SetControl(control);
    network.helper.SetTelemetry("paper");
    network.MakeStar(2);
    network.helper.Start();
    g_called = isCalled ? network.helper.GetHost(0) : nullptr;
    const auto flow = network.AddFlow(0, 1, SIZE);
    Simulator::Stop(MilliSeconds(40));
    Simulator::Run();
    const Time duration = flow->GetFlow().completion;
    Simulator::Destroy();
    return duration;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief A congestion control that a program brings is chosen by attribute and by file, and paces
 * its flow.
 */
class OwnControlTest : public HpccTestCase
{
  public:
    OwnControlTest()
        : HpccTestCase("A congestion control in C++ paces its flow")
    {
    }

  private:
    void DoRun() override
    {
        ExpectPace(10, RunProgram("ns3::tests::FixedPace").GetNanoSeconds());
        ExpectPace(10, RunFile(""));
        ExpectPace(5, RunFile("Rate = \"5Gbps\"\n"));
        for (const std::string line : {"Rate = \"slow\"\n", "Pace = \"5Gbps\"\n", "eta = 0.9\n"})
        {
            NS_TEST_EXPECT_MSG_EQ(RunFile(line), 0, line);
            NS_TEST_EXPECT_MSG_NE(m_said.find(line.substr(0, line.find(' '))),
                                  std::string::npos,
                                  "the message: " << m_said);
        }
        // A fault ends the run: what was simulated stays, and says why it is a part.
        const std::string reason = "FixedPace has decided on a rate of 0";
        NS_TEST_EXPECT_MSG_EQ(RunFile("Rate = \"0bps\"\n"), 0, "no end");
        std::stringstream summary;
        summary << std::ifstream(CreateTempDirFilename("own") + "/summary.json").rdbuf();
        NS_TEST_EXPECT_MSG_NE(summary.str().find(reason), std::string::npos, summary.str());
    }

    /**
     * \brief The first millisecond is sent at a pace, the rest at half of it; all but the first
     * round trip (0.5 % of the flow), which is at line rate.
     * \param gigabits the pace in Gb/s
     * \param found duration of the flow in ns
     */
    void ExpectPace(double gigabits, double found)
    {
        // Packets carry 1000 bytes of payload behind 48 bytes of headers and 2 of telemetry.
        const double expected = 2 * (SIZE * 8 * 1.05 / gigabits) - 1e6;
        NS_TEST_EXPECT_MSG_LT(std::abs(found / expected - 1),
                              0.01,
                              found << " ns, not " << expected);
    }

    /**
     * \brief Run a file, and note what it says.
     * \param line what to add to the file
     * \return duration of the flow in ns; 0 if it has not finished
     */
    double RunFile(const std::string& line)
    {
        const std::string path = CreateTempDirFilename("own.toml");
        std::ofstream(path) << SCENARIO << line;
        const std::string out = CreateTempDirFilename("own");
        std::ostringstream said;
        std::streambuf* usual = std::cerr.rdbuf(said.rdbuf());
        HpccScenarioHelper scenario;
        const bool isDone =
            scenario.Load(path, {}) && scenario.Run(out) == HpccScenarioHelper::FINISHED;
        std::cerr.rdbuf(usual);
        m_said = said.str();
        // src dst sport dport size start duration ideal
        std::ifstream results(out + "/fct.txt");
        std::string word;
        for (int column = 0; isDone && column < 7; ++column)
        {
            results >> word;
        }
        return isDone ? std::stod(word) : 0;
    }

    std::string m_said; //!< what was said on standard error
};

TestCases
MakeOwnControlTests()
{
    return {new OwnControlTest,
            MakeMisuseTest(
                "a flow that a congestion control starts from inside a call",
                []() { RunProgram("ns3::tests::FixedPace", true); },
                "host 0 cannot be called from inside a call of a congestion control"),
            MakeMisuseTest(
                "a timer that is due again at once, for ever",
                []() { RunProgram("ns3::tests::RestlessControl"); },
                "ns3::tests::RestlessControl arms its timers at 0 ns for 0 ns again and again")};
}

} // namespace tests
} // namespace ns3
