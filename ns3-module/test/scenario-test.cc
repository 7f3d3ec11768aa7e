/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/system-path.h"

#include <fstream>
#include <iostream>
#include <sstream>

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
                              "a line as the reference simulator's, at exact rates");
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

TestCases
MakeScenarioTests()
{
    return {new ScenarioTest, new AfterScenarioTest, new ScenarioBesideProgramTest};
}

} // namespace tests
} // namespace ns3
