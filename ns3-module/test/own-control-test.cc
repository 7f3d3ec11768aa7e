/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/qbb-node.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

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
                                              MakeDataRateChecker())
                                .AddAttribute("Noise",
                                              "An object, of which nothing is asked",
                                              StringValue("ns3::UniformRandomVariable"),
                                              MakePointerAccessor(&FixedPace::m_noise),
                                              MakePointerChecker<RandomVariableStream>());
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
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        const bool told = m_started && m_sent == feedback.sndNxt && feedback.rtt > 0 &&
                          feedback.acked > 0 && feedback.hops.size() == 1 &&
                          feedback.hops[0].rate == DataRate("100Gbps");
        return {!told, m_rate, 0};
    }

    Reads GetReads() const override
    {
        return Reads::RECORDS;
    }

  private:
    DataRate m_rate;                   //!< the pace
    Ptr<RandomVariableStream> m_noise; //!< an object
    bool m_started{false};             //!< whether Start() said the truth
    uint64_t m_sent{0};                //!< payload bytes that have left
};

NS_OBJECT_ENSURE_REGISTERED(FixedPace);

/**
 * \ingroup hpcc
 * \brief 10 Gb/s at first; 5 Gb/s from 1 ms after the first packet on, if the timers do what they
 * should, or after the flow has moved to another port.
 */
class TimedPace : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::TimedPace")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<TimedPace>()
                                .AddAttribute("Slower",
                                              "Whether time makes it slower",
                                              BooleanValue(true),
                                              MakeBooleanAccessor(&TimedPace::m_timed),
                                              MakeBooleanChecker());
        return tid;
    }

    void OnSent(const Sent& sent) override
    {
        if (m_timed && m_due == 0)
        {
            m_due = sent.now + 1'000'000;
            Arm(PAST, 0);
            Arm(SLOW, sent.now + 500);
            Arm(SLOW, m_due);
        }
    }

    Decision OnTimer(uint8_t timer, uint64_t now) override
    {
        m_past += timer == PAST;
        m_slow = m_slow || (timer == SLOW && now == m_due && m_past == 1);
        return Pace();
    }

    void OnPort(DataRate lineRate) override
    {
        m_slow = lineRate == DataRate("100Gbps");
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        // Whole paths have places -1, and the busiest of two links the second.
        m_digests = m_digests || feedback.busiestPlace >= 0;
        return Pace();
    }

    Reads GetReads() const override
    {
        return Reads::RECORDS;
    }

    bool TakesDigests() const override
    {
        return true;
    }

  private:
    /// Numbers of the timers.
    enum Timer : uint8_t
    {
        PAST,
        SLOW
    };

    /// \return 10 or 5 Gb/s; 2.5 with the record of one link instead of all
    Decision Pace() const
    {
        const uint64_t rate = m_slow ? 5'000'000'000 : 10'000'000'000;
        return {false, DataRate(m_digests ? rate / 2 : rate), 0};
    }

    bool m_timed{true};    //!< whether time makes it slower
    bool m_slow{false};    //!< whether it is slower
    bool m_digests{false}; //!< whether one record came instead of all
    uint64_t m_due{0};     //!< when it becomes slower, in ns
    uint32_t m_past{0};    //!< how often the timer for a time of the past has fired
};

NS_OBJECT_ENSURE_REGISTERED(TimedPace);

/**
 * \ingroup hpcc
 * \brief A congestion control that calls the host named "source" from inside one of its calls.
 */
class CallingControl : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::CallingControl")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<CallingControl>()
                                .AddAttribute("From",
                                              "The call from inside which it does so",
                                              StringValue("OnFeedback"),
                                              MakeStringAccessor(&CallingControl::m_from),
                                              MakeStringChecker())
                                .AddAttribute("Calls",
                                              "What it calls",
                                              StringValue("StartFlow"),
                                              MakeStringAccessor(&CallingControl::m_calls),
                                              MakeStringChecker());
        return tid;
    }

    void Start(const Limits&) override
    {
        Arm(0, Simulator::Now().GetNanoSeconds() + 500);
        CallFrom("Start");
    }

    void OnSent(const Sent&) override
    {
        CallFrom("OnSent");
    }

    Decision OnTimer(uint8_t, uint64_t) override
    {
        CallFrom("OnTimer");
        return {};
    }

    Decision OnFeedback(const Feedback&) override
    {
        CallFrom("OnFeedback");
        return {};
    }

  private:
    /// Start a flow of three packets, in the first 20 us.
    static void StartFlow()
    {
        if (Simulator::Now() < MicroSeconds(20))
        {
            RdmaFlow flow;
            flow.size = 3000;
            GetSource()->StartFlow(Names::Find<Node>("sink")->GetObject<RdmaHost>(),
                                   flow,
                                   RdmaHost::FlowCallback());
        }
    }

    /// \return the host
    static Ptr<RdmaHost> GetSource()
    {
        return Names::Find<Node>("source")->GetObject<RdmaHost>();
    }

    /**
     * \brief Call the host, once.
     * \param call the call from inside which this is
     */
    void CallFrom(const std::string& call)
    {
        if (call != m_from || std::exchange(m_hasCalled, true))
        {
            return;
        }
        if (m_calls == "StartFlow")
        {
            StartFlow();
        }
        else if (m_calls == "ScheduleNow")
        {
            Simulator::ScheduleNow(&CallingControl::StartFlow);
        }
        else if (m_calls == "GetRate")
        {
            GetSource()->GetRate(0);
        }
        else if (m_calls == "Resend")
        {
            GetSource()->TraceConnectWithoutContext("Resend",
                                                    Callback<void, const RdmaFlow&, uint64_t>());
        }
    }

    std::string m_from;      //!< the call from inside which it calls
    std::string m_calls;     //!< what it calls
    bool m_hasCalled{false}; //!< whether it has called
};

NS_OBJECT_ENSURE_REGISTERED(CallingControl);

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

/**
 * \brief Run a flow under CallingControl, and the flows that this starts.
 * \param from the call from inside which the host is called
 * \param calls what is called
 * \return flows that have started, and those that have finished
 */
std::pair<uint32_t, uint32_t>
RunCalling(const std::string& from, const std::string& calls)
{
    Config::SetDefault("ns3::tests::CallingControl::From", StringValue(from));
    Config::SetDefault("ns3::tests::CallingControl::Calls", StringValue(calls));
    TestNetwork network;
    network.SetControl("ns3::tests::CallingControl");
    network.MakeStar(2);
    Names::Add("source", network.hosts.Get(0));
    Names::Add("sink", network.hosts.Get(1));
    network.helper.Start();
    std::pair<uint32_t, uint32_t> flows;
    const Ptr<RdmaHost> source = network.helper.GetHost(0);
    source->TraceConnectWithoutContext(
        "FlowStart",
        Callback<void, const RdmaFlow&>([&flows](const RdmaFlow&) { ++flows.first; }));
    source->TraceConnectWithoutContext(
        "FlowFinish",
        Callback<void, const RdmaFlow&>([&flows](const RdmaFlow&) { ++flows.second; }));
    network.AddFlow(0, 1, 3000);
    Simulator::Stop(MilliSeconds(1));
    Simulator::Run();
    Simulator::Destroy();
    Names::Clear();
    return flows;
}

/**
 * \param from a call of a congestion control
 * \param calls what is called from inside it
 * \return a test that expects that to end the program
 */
TestCase*
RefuseCalling(const std::string& from, const std::string& calls)
{
    return MakeMisuseTest(
        calls + " from inside " + from,
        [from, calls]() { RunCalling(from, calls); },
        "host 0 cannot be called from inside a call of its congestion control");
}

/// Run a flow whose congestion control lets no time pass.
void
StandStill()
{
    TestNetwork network;
    network.SetControl("ns3::tests::RestlessControl");
    network.MakeStar(2);
    network.helper.Start();
    network.AddFlow(0, 1, 3000);
    Simulator::Run();
}

/// Run a flow whose congestion control decides on a rate of 0.
void
DecideOnNothing()
{
    Config::SetDefault("ns3::tests::FixedPace::Rate", DataRateValue(DataRate(0)));
    TestNetwork network;
    network.SetControl("ns3::tests::FixedPace");
    network.MakeStar(2);
    network.helper.Start();
    network.AddFlow(0, 1, 3000);
    Simulator::Run();
}

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
)";

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
        TestNetwork network;
        network.SetControl("ns3::tests::FixedPace");
        network.helper.SetTelemetry("paper");
        network.MakeStar(2);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, SIZE);
        Simulator::Stop(MilliSeconds(40));
        Simulator::Run();
        ExpectPace(10, flow->GetFlow().completion.GetNanoSeconds());
        Simulator::Destroy();

        const std::string fixed = "algorithm = \"ns3::tests::FixedPace\"\n";
        const std::string timed = "algorithm = \"ns3::tests::TimedPace\"\n";
        const std::string digests = "[telemetry]\nanswer = \"busiest_link\"\n";
        ExpectPace(10, RunFile(fixed));
        ExpectPace(5, RunFile(fixed + "Rate = \"5Gbps\"\n"));
        ExpectRefusal(fixed + "Rate = \"slow\"\n", "Rate");
        const std::string noise = "Noise = \"ns3::ConstantRandomVariable";
        ExpectPace(10, RunFile(fixed + noise + "[Constant=3]\"\n"));
        ExpectRefusal(fixed + noise + "[Constants=3]\"\n", "Noise");
        ExpectRefusal(fixed + noise + "s\"\n", "Noise");
        ExpectRefusal(fixed + "Noise = \"ns3::Node\"\n", "Noise");
        ExpectRefusal(fixed + "Pace = \"5Gbps\"\n", "Pace");
        ExpectRefusal(fixed + "eta = 0.9\n", "eta");
        ExpectRefusal(fixed + digests, "answer");
        ExpectEarlyEnd(fixed + "Rate = \"0bps\"\n", "FixedPace has decided on a rate of 0");

        // 1 ms at 10 Gb/s, the rest at half of it.
        const double whole = Duration(10);
        ExpectDuration(1e6 + 2 * (whole - 1e6), RunFile(timed));
        ExpectPace(10, RunFile(timed + "Slower = \"false\"\n"));
        ExpectPace(5, RunFile(timed + "Slower = \"false\"\n" + digests));

        // Over which of two links it goes is up to a hash: one of the two failures moves it, after
        // 1 ms.
        const double moved = 1e6 + 2 * (whole - 1e6);
        const double first = RunWithFailure(0);
        const double second = RunWithFailure(1);
        ExpectDuration(whole, std::min(first, second));
        ExpectDuration(moved, std::max(first, second));
    }

    /**
     * \brief Two hosts, each linked to two switches; one of the links fails.
     * \param which to which switch
     * \return duration of a flow in ns
     */
    double RunWithFailure(uint32_t which)
    {
        TestNetwork network;
        network.SetControl("ns3::tests::TimedPace");
        network.helper.SetTelemetry("paper");
        Config::SetDefault("ns3::tests::TimedPace::Slower", BooleanValue(false));
        network.hosts.Create(2);
        network.switches.Create(2);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        for (uint32_t host = 0; host < 2; ++host)
        {
            network.Link(network.hosts.Get(host), network.switches.Get(0));
            network.Link(network.hosts.Get(host), network.switches.Get(1));
        }
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, SIZE);
        const Ptr<QbbNode> source = network.hosts.Get(0)->GetObject<QbbNode>();
        const Ptr<QbbNode> failing = network.switches.Get(which)->GetObject<QbbNode>();
        Simulator::Schedule(MilliSeconds(1), [&network, source, failing]() {
            network.helper.TakeLinkDown(source->GetIndex(), failing->GetIndex());
        });
        Simulator::Stop(MilliSeconds(40));
        Simulator::Run();
        const double duration = flow->GetFlow().completion.GetNanoSeconds();
        Simulator::Destroy();
        Config::SetDefault("ns3::tests::TimedPace::Slower", BooleanValue(true));
        return duration;
    }

    /**
     * \brief All but the first round trip (0.5 % of the flow), which is at line rate, is sent at a
     * pace.
     * \param gigabits the pace in Gb/s
     * \param completion duration of the flow in ns
     */
    void ExpectPace(double gigabits, double completion)
    {
        ExpectDuration(Duration(gigabits), completion);
    }

    /**
     * \param gigabits a pace in Gb/s
     * \return how long the flow takes, in ns
     */
    static double Duration(double gigabits)
    {
        // Packets carry 1000 bytes of payload behind 48 bytes of headers and 2 of telemetry.
        return SIZE * 8 * 1.05 / gigabits;
    }

    /**
     * \param expected a duration in ns
     * \param found a duration in ns, that may differ by 1 %
     */
    void ExpectDuration(double expected, double found)
    {
        NS_TEST_EXPECT_MSG_LT(std::abs(found / expected - 1),
                              0.01,
                              found << " ns, not " << expected);
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
     * \brief A fault ends the run: what was simulated stays, and says why it is a part.
     * \param line what to add to the file
     * \param reason what is wrong
     */
    void ExpectEarlyEnd(const std::string& line, const std::string& reason)
    {
        const std::string out = CreateTempDirFilename("early");
        std::ostringstream errors;
        std::streambuf* usual = std::cerr.rdbuf(errors.rdbuf());
        HpccScenarioHelper scenario;
        const bool isStopped =
            scenario.Load(Write(line), {}) && scenario.Run(out) == HpccScenarioHelper::STOPPED;
        std::cerr.rdbuf(usual);
        NS_TEST_EXPECT_MSG_EQ(isStopped, true, line << errors.str());
        std::stringstream summary;
        summary << std::ifstream(out + "/summary.json").rdbuf();
        for (const std::string& text : {errors.str(), summary.str()})
        {
            NS_TEST_EXPECT_MSG_NE(text.find(reason), std::string::npos, text);
        }
        NS_TEST_EXPECT_MSG_NE(summary.str().find("\"stopped\": \""), std::string::npos, "a part");
        std::ifstream unfinished(out + "/unfinished.csv");
        std::string row;
        std::getline(unfinished, row);
        NS_TEST_EXPECT_MSG_EQ(std::getline(unfinished, row).good(), true, "the flow is listed");
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
        NS_TEST_EXPECT_MSG_NE(errors.str().find(culprit),
                              std::string::npos,
                              "the message: " << errors.str());
    }
};

/**
 * \ingroup hpcc
 * \brief What a congestion control schedules may call its host.
 */
class CallLaterTest : public HpccTestCase
{
  public:
    CallLaterTest()
        : HpccTestCase("Flows that a congestion control in C++ schedules")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string from : {"OnSent", "OnTimer", "OnFeedback"})
        {
            const auto [started, finished] = RunCalling(from, "ScheduleNow");
            NS_TEST_EXPECT_MSG_GT(started, 3, "each starts the next, from inside " << from);
            NS_TEST_EXPECT_MSG_EQ(finished, started, "and all finish");
        }
    }
};

TestCases
MakeOwnControlTests()
{
    return {new OwnControlTest,
            new CallLaterTest,
            RefuseCalling("Start", "StartFlow"),
            RefuseCalling("OnSent", "StartFlow"),
            RefuseCalling("OnTimer", "StartFlow"),
            RefuseCalling("OnFeedback", "StartFlow"),
            RefuseCalling("OnFeedback", "GetRate"),
            RefuseCalling("OnFeedback", "Resend"),
            MakeMisuseTest("a timer that is due again at once, for ever",
                           StandStill,
                           "ns3::tests::RestlessControl arms its timers at 0 ns for 0 ns again and "
                           "again"),
            MakeMisuseTest("a decision on a rate of 0",
                           DecideOnNothing,
                           "ns3::tests::FixedPace has decided on a rate of 0")};
}

} // namespace tests
} // namespace ns3
