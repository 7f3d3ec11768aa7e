/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/rdma-traffic-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/system-path.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

namespace ns3
{
namespace tests
{

namespace
{

/// A scenario that takes no time: one flow on a star.
const char SCENARIO[] = R"(
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 2
rate = "100Gbps"
delay = "1us"
[congestion_control]
max_stage = 0
min_rate = "1Gbps"
[telemetry]
layout = "reference"
multiplier = 4
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = 20500
)";

/// Keeps what is written to std::cerr.
class CapturedErrors
{
  public:
    CapturedErrors()
        : m_usual(std::cerr.rdbuf(m_text.rdbuf()))
    {
    }

    ~CapturedErrors()
    {
        std::cerr.rdbuf(m_usual);
    }

    /// \return what was written
    std::string GetText() const
    {
        return m_text.str();
    }

  private:
    std::ostringstream m_text; //!< what was written
    std::streambuf* m_usual;   //!< where it usually goes
};

} // namespace

/**
 * \ingroup hpcc
 * \brief Scenario files: a good one runs and leaves results, a bad one is refused.
 */
class ScenarioTest : public HpccTestCase
{
  public:
    ScenarioTest()
        : HpccTestCase("Scenario files are run, or refused")
    {
    }

  private:
    void DoRun() override
    {
        ExpectRefusal("unknown.toml", std::string(SCENARIO) + "colour = \"red\"\n", "colour");
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.5));
        ExpectRefusal("default.toml", SCENARIO, "the default of the attribute ns3::RdmaHost::");
        Config::Reset();
        ExpectResults("good", {"run.seed=5"});
    }

    /**
     * \brief Load a file that cannot be run.
     * \param name the file's name
     * \param text what is in it
     * \param culprit what the message must name
     */
    void ExpectRefusal(const std::string& name, const std::string& text, const std::string& culprit)
    {
        const std::string config = Write(name, text);
        const CapturedErrors errors;
        HpccScenarioHelper scenario;
        NS_TEST_EXPECT_MSG_EQ(scenario.Load(config, {}), false, name << " was accepted");
        NS_TEST_EXPECT_MSG_NE(errors.GetText().find(culprit),
                              std::string::npos,
                              "the message: " << errors.GetText());
    }

    /**
     * \brief Run a file, and look at what it leaves.
     * \param folder the name of the folder for it
     * \param overrides settings in place of the file's
     */
    void ExpectResults(const std::string& folder, const std::vector<std::string>& overrides)
    {
        const std::string out = CreateTempDirFilename(folder);
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(Write("good.toml", SCENARIO), overrides),
                              true,
                              "refused");
        NS_TEST_ASSERT_MSG_EQ(scenario.Run(out),
                              HpccScenarioHelper::FINISHED,
                              "the flow has not finished");
        std::ifstream fct(SystemPath::Append(out, "fct.txt"));
        std::string line;
        std::getline(fct, line);
        NS_TEST_EXPECT_MSG_EQ(line,
                              "0b000001 0b000101 10000 100 20500 0 5896 5896",
                              "a line as the 2019 simulator's, at exact rates");
    }

    /**
     * \brief Write a file to the test's folder.
     * \param name its name
     * \param text what goes into it
     * \return its path
     */
    std::string Write(const std::string& name, const std::string& text)
    {
        const std::string path = CreateTempDirFilename(name);
        std::ofstream(path) << text;
        return path;
    }
};

/**
 * \ingroup hpcc
 * \brief What runs after a scenario runs as if there had been none.
 */
class AfterScenarioTest : public HpccTestCase
{
  public:
    AfterScenarioTest()
        : HpccTestCase("A scenario leaves the run number as it was")
    {
    }

  private:
    void DoRun() override
    {
        RngSeedManager::SetRun(3);
        const std::string config = CreateTempDirFilename("good.toml");
        std::ofstream(config) << SCENARIO;
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, {}), true, "refused");
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(CreateTempDirFilename("out")),
                              HpccScenarioHelper::FINISHED,
                              "the flow has not finished");
        NS_TEST_EXPECT_MSG_EQ(RngSeedManager::GetRun(), 3, "the program's run");
    }

    void DoTeardown() override
    {
        RngSeedManager::SetRun(1);
        HpccTestCase::DoTeardown();
    }
};

/**
 * \ingroup hpcc
 * \brief A program that has a simulation of its own in progress is to run a scenario.
 */
class ScenarioBesideProgramTest : public HpccTestCase
{
  public:
    ScenarioBesideProgramTest()
        : HpccTestCase("A scenario runs beside a simulation of the program")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 100'000);
        RunScenario();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "the program's own network goes on");
        Simulator::Destroy();
    }

    /// Run a scenario while the program's network is set up.
    void RunScenario()
    {
        const std::string config = CreateTempDirFilename("good.toml");
        std::ofstream(config) << SCENARIO;
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, {"run.order=\"insertion\""}), true, "refused");
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(CreateTempDirFilename("out")),
                              HpccScenarioHelper::FINISHED,
                              "the scenario's flow has not finished");
    }
};

/// A scenario with all that an engine does by itself: random flows, a job, and links that fail and
/// become slower.
const char VARIED[] = R"(
[run]
stop = "20ms"
seed = 3
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "25Gbps"
fabric_rate = "50Gbps"
delay = "1us"
loss = 0.0001
[congestion_control]
algorithm = "dcqcn"
[transport]
timeout = "200us"
[[traffic]]
kind = "poisson"
load = 0.4
sizes = "fb_hadoop"
duration = "500us"
[[traffic]]
kind = "incast"
receiver = 0
senders = [4, 5, 6, 7]
size = "200kB"
start = "100us"
[[traffic]]
kind = "collective"
operation = "all_reduce"
size = "1MB"
[[failures.links]]
a = 8
b = 10
time = "200us"
until = "800us"
[[failures.degraded]]
a = 9
b = 11
time = "300us"
until = "900us"
rate = "10Gbps"
[monitor]
queue_interval = "2us"
goodput_interval = "50us"
)";

/**
 * \ingroup hpcc
 * \brief A scenario that is opened as nodes gives the results that it gives without them; programs
 * see its flows, and add their own.
 */
class OpenScenarioTest : public HpccTestCase
{
  public:
    OpenScenarioTest()
        : HpccTestCase("A scenario is opened as a network of ns-3 nodes")
    {
    }

  private:
    /// Files that have to be equal.
    static constexpr const char* FILES[] = {"fct.csv",
                                            "unfinished.csv",
                                            "queue.csv",
                                            "goodput.csv",
                                            "ports.csv",
                                            "jobs.csv",
                                            "pfc.txt"};

    void DoRun() override
    {
        const std::string config = CreateTempDirFilename("varied.toml");
        std::ofstream(config) << VARIED;
        for (const std::string order : {"canonical", "insertion"})
        {
            const std::vector<std::string> overrides{"run.order=" + order};
            const std::string alone = CreateTempDirFilename("alone-" + order);
            HpccScenarioHelper closed;
            NS_TEST_ASSERT_MSG_EQ(closed.Load(config, overrides), true, "refused");
            NS_TEST_EXPECT_MSG_EQ(closed.Run(alone), HpccScenarioHelper::FINISHED, "unfinished");
            for (const bool hasSinks : {false, true})
            {
                const std::string out =
                    CreateTempDirFilename("open-" + order + (hasSinks ? "-sinks" : ""));
                RunOpen(config, overrides, out, hasSinks);
                for (const char* file : FILES)
                {
                    NS_TEST_EXPECT_MSG_EQ(Read(out, file), Read(alone, file), order << ' ' << file);
                }
            }
        }
        AddTraffic(config);
        AddAllTraffic();
        StopEarly();
    }

    /**
     * \brief Run the scenario as nodes.
     * \param config its file
     * \param overrides settings in place of the file's
     * \param out folder for the results
     * \param hasSinks whether something looks at it
     */
    void RunOpen(const std::string& config,
                 const std::vector<std::string>& overrides,
                 const std::string& out,
                 bool hasSinks)
    {
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, overrides), true, "refused");
        QbbHelper* const network = scenario.Open();
        NS_TEST_ASSERT_MSG_NE(network, nullptr, "not open");
        NS_TEST_EXPECT_MSG_EQ(NodeList::GetNNodes(), 12, "8 hosts, 4 switches");
        uint64_t begun = 0;
        std::vector<std::pair<uint64_t, int64_t>> finished;
        uint64_t frames = 0;
        if (hasSinks)
        {
            Config::ConnectWithoutContext(
                "/NodeList/*/$ns3::RdmaHost/FlowStart",
                Callback<void, const RdmaFlow&>([&](const RdmaFlow&) { ++begun; }));
            Config::ConnectWithoutContext(
                "/NodeList/*/$ns3::RdmaHost/FlowFinish",
                Callback<void, const RdmaFlow&>([&](const RdmaFlow& flow) {
                    finished.emplace_back(flow.size, flow.completion.GetNanoSeconds());
                }));
            Config::ConnectWithoutContext(
                "/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/RxEnd",
                Callback<void, const QbbFrame&>([&](const QbbFrame&) { ++frames; }));
        }
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, "unfinished");
        if (hasSinks)
        {
            NS_TEST_EXPECT_MSG_GT(frames, 10'000, "frames that arrived");
            NS_TEST_EXPECT_MSG_EQ(begun, finished.size(), "flows that have begun and finished");
            CompareFlows(Read(out, "fct.csv"), finished);
        }
        Simulator::Destroy();
    }

    /**
     * \brief Compare what sinks heard of flows with the results.
     * \param fct fct.csv
     * \param finished sizes and times, in the order of their ends
     */
    void CompareFlows(const std::string& fct, std::vector<std::pair<uint64_t, int64_t>> finished)
    {
        std::vector<std::pair<uint64_t, int64_t>> written;
        std::istringstream lines(fct);
        std::string line;
        std::getline(lines, line);
        while (std::getline(lines, line))
        {
            std::istringstream fields(line);
            std::vector<std::string> row;
            for (std::string field; std::getline(fields, field, ',');)
            {
                row.push_back(field);
            }
            written.emplace_back(std::stoull(row[6]), std::stoll(row[8]));
        }
        std::sort(written.begin(), written.end());
        std::sort(finished.begin(), finished.end());
        NS_TEST_EXPECT_MSG_EQ((written == finished), true, "sizes and times of flows");
    }

    /**
     * \brief Add a host, a link and a flow to the scenario.
     * \param config its file
     */
    void AddTraffic(const std::string& config)
    {
        const std::string out = CreateTempDirFilename("added");
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, {}), true, "refused");
        QbbHelper* const network = scenario.Open();
        const NodeContainer added(1);
        network->InstallHosts(added);
        network->Link(added.Get(0), 8, DataRate("25Gbps"), MicroSeconds(1));
        const auto client = CreateObject<RdmaClient>();
        client->SetPeer(network->GetHost(7)->GetObject<Node>());
        client->SetAttribute("Size", UintegerValue(300'000));
        client->SetStartTime(MicroSeconds(50));
        added.Get(0)->AddApplication(client);
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, "unfinished");
        NS_TEST_EXPECT_MSG_EQ(client->IsFinished(), true, "the program's own flow");
        const std::string fct = Read(out, "fct.csv");
        std::ostringstream row;
        row << "\n2147483648,12,7," << client->GetFlow().sport << ",100,3,300000,50000,"
            << client->GetFlow().completion.GetNanoSeconds() << ',';
        NS_TEST_EXPECT_MSG_NE(fct.find(row.str()), std::string::npos, row.str());
        NS_TEST_EXPECT_MSG_NE(Read(out, "summary.json").find("\"program\""),
                              std::string::npos,
                              "the group of the program's flows");
        Simulator::Destroy();
    }

    /// Run a file without flows, to which the program adds an incast late.
    void AddAllTraffic()
    {
        const std::string config = CreateTempDirFilename("empty.toml");
        std::ofstream(config)
            << "[run]\nstop = \"1ms\"\n"
               "[topology]\nkind = \"star\"\nhosts = 5\nrate = \"100Gbps\"\n"
               "delay = \"1us\"\n"
               "[monitor]\nqueue_interval = \"1us\"\ngoodput_interval = \"10us\"\n";
        const std::string out = CreateTempDirFilename("all");
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, {}), true, "refused");
        RdmaTrafficHelper traffic("incast");
        traffic.Set("receiver", 0);
        traffic.Set("sender_count", 4);
        traffic.Set("size", "200kB");
        traffic.Set("start", "300us");
        traffic.Install(*scenario.Open());
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, "unfinished");
        // Four flows of 200 kB take 64 us at least: a row of each flow each 10 us.
        const std::string goodput = Read(out, "goodput.csv");
        NS_TEST_EXPECT_MSG_GT(std::count(goodput.begin(), goodput.end(), '\n'), 24, goodput);
        const std::string queue = Read(out, "queue.csv");
        NS_TEST_EXPECT_MSG_GT(std::count(queue.begin(), queue.end(), '\n'), 20, queue);
        NS_TEST_EXPECT_MSG_EQ(Read(out, "summary.json").find("\"queue_max_bytes\": 0,"),
                              std::string::npos,
                              "the queue is looked at");
        Simulator::Destroy();
    }

    /// The program stops the simulator before the end of a file.
    void StopEarly()
    {
        const std::string config = CreateTempDirFilename("long.toml");
        std::ofstream(config)
            << "[run]\nstop = \"4ms\"\n"
               "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\n"
               "delay = \"1us\"\n"
               "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"endless\"\n";
        const std::string out = CreateTempDirFilename("stopped");
        HpccScenarioHelper scenario;
        NS_TEST_ASSERT_MSG_EQ(scenario.Load(config, {}), true, "refused");
        scenario.Open();
        Simulator::Schedule(MicroSeconds(650), [] { Simulator::Stop(); });
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::STOPPED, "ended early");
        const std::string summary = Read(out, "summary.json");
        NS_TEST_EXPECT_MSG_NE(summary.find("\"simulated_ns\": 650000,"),
                              std::string::npos,
                              summary);
        NS_TEST_EXPECT_MSG_NE(summary.find("Simulator::Stop()"), std::string::npos, "the reason");
        Simulator::Destroy();
    }

    /**
     * \param folder a folder of results
     * \param file a file in it
     * \return what the file holds
     */
    static std::string Read(const std::string& folder, const std::string& file)
    {
        std::ifstream stream(SystemPath::Append(folder, file));
        return {std::istreambuf_iterator<char>(stream), {}};
    }
};

TestCases
MakeScenarioTests()
{
    const auto setAttribute = [](const std::function<void(QbbHelper&)>& set) {
        return [set]() {
            std::ofstream("open.toml") << SCENARIO;
            HpccScenarioHelper scenario;
            scenario.Load("open.toml", {});
            set(*scenario.Open());
        };
    };
    const auto network = [](QbbHelper& helper) { helper.SetWireProfile("rocev2_ipv4"); };
    const auto node = [](QbbHelper&) {
        Config::Set("/NodeList/*/$ns3::RdmaHost/HpccEta", DoubleValue(0.5));
    };
    return {new ScenarioTest,
            new AfterScenarioTest,
            new ScenarioBesideProgramTest,
            new OpenScenarioTest,
            MakeMisuseTest("an attribute of a scenario's network",
                           setAttribute(network),
                           "attribute WireProfile of a network that was read from a scenario"),
            MakeMisuseTest("an attribute of a scenario's node",
                           setAttribute(node),
                           "it has been taken over")};
}

} // namespace tests
} // namespace ns3
