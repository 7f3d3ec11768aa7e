/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/hpcc-scenario-helper.h"
#include "ns3/rdma-congestion-ops.h"
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

/**
 * \ingroup hpcc
 * \brief A fixed pace, but only for a flow that was told all it should know.
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
        m_started = limits.lineRate == DataRate("100Gbps") && limits.mtu == 1000 && limits.hops == 2;
    }

    void OnSent(const Sent& sent) override
    {
        m_sent += sent.bytes;
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        const bool told = m_started && m_sent == feedback.sndNxt && feedback.rtt > 0 && feedback.acked > 0 &&
                          feedback.hops.size() == 1 && feedback.hops[0].rate == DataRate("100Gbps");
        return {!told, m_rate, 0};
    }

    bool ReadsTelemetry() const override
    {
        return true;
    }

  private:
    DataRate m_rate;       //!< the pace
    bool m_started{false}; //!< whether Start() said the truth
    uint64_t m_sent{0};    //!< payload bytes that have left
};

NS_OBJECT_ENSURE_REGISTERED(FixedPace);

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

} // namespace

/**
 * \ingroup hpcc
 * \brief A congestion control that a program brings is chosen by attribute and by file, and paces its flow.
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
        TestNetwork network;
        network.helper.SetHostAttribute("CongestionControl", StringValue("ns3::tests::FixedPace"));
        network.MakeStar(2);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, SIZE);
        Simulator::Stop(MilliSeconds(40));
        Simulator::Run();
        ExpectPace(10, flow->GetFlow().completion.GetNanoSeconds());
        Simulator::Destroy();

        ExpectPace(10, RunFile(""));
        ExpectPace(5, RunFile("Rate = \"5Gbps\"\n"));
        ExpectRefusal("Rate = \"slow\"\n", "Rate");
        ExpectRefusal("Pace = \"5Gbps\"\n", "Pace");
        ExpectRefusal("eta = 0.9\n", "eta");
    }

    /**
     * \brief All but the first round trip (0.5 % of the flow), which is at line rate, is sent at a pace.
     * \param gigabits the pace in Gb/s
     * \param completion duration of the flow in ns
     */
    void ExpectPace(double gigabits, double completion)
    {
        // Packets carry 1000 bytes of payload behind 48 bytes of headers and 42 of telemetry.
        const double expected = SIZE * 8 * 1.09 / gigabits;
        NS_TEST_EXPECT_MSG_LT(std::abs(completion / expected - 1), 0.01, completion << " ns at " << gigabits << " Gb/s");
    }

    /**
     * \param line what to add to the file
     * \return its path
     */
    std::string Write(const std::string& line)
    {
        const std::string path = CreateTempDirFilename("own.toml");
        std::ofstream(path) << SCENARIO << line;
        return path;
    }

    /**
     * \param line what to add to the file
     * \return duration of the flow in ns
     */
    double RunFile(const std::string& line)
    {
        const std::string out = CreateTempDirFilename("own");
        HpccScenarioHelper scenario;
        if (!scenario.Load(Write(line), {}) || scenario.Run(out) != HpccScenarioHelper::FINISHED)
        {
            return 0;
        }
        // src dst sport dport size start duration ideal
        std::ifstream results(out + "/fct.txt");
        std::string word;
        for (int column = 0; column < 7; ++column)
        {
            results >> word;
        }
        return std::stod(word);
    }

    /**
     * \param line what to add to the file
     * \param culprit what the message must name
     */
    void ExpectRefusal(const std::string& line, const std::string& culprit)
    {
        std::ostringstream errors;
        std::streambuf* usual = std::cerr.rdbuf(errors.rdbuf());
        HpccScenarioHelper scenario;
        const bool accepted = scenario.Load(Write(line), {});
        std::cerr.rdbuf(usual);
        NS_TEST_EXPECT_MSG_EQ(accepted, false, line << " was accepted");
        NS_TEST_EXPECT_MSG_NE(errors.str().find(culprit), std::string::npos, "the message: " << errors.str());
    }
};

TestCases
MakeOwnControlTests()
{
    return {new OwnControlTest};
}

} // namespace tests
} // namespace ns3
