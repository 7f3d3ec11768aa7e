/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-test-network.h"

#include "ns3/hpcc-scenario-helper.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

/// Two flows of DCTCP meet at a port; lines for [congestion_control] are to follow.
const char SCENARIO[] = R"(
[run]
stop = "20ms"
[topology]
kind = "star"
hosts = 3
rate = "25Gbps"
delay = "1us"
[transport]
protocol = "tcp"
mtu = "1448B"
[[traffic]]
kind = "incast"
receiver = 2
senders = [0, 1]
size = "1MB"
[congestion_control]
algorithm = "ns3::TcpDctcp"
)";

} // namespace

/**
 * \ingroup hpcc
 * \brief Parameters of a file's TCP count for that file alone.
 */
class ScenarioTcpTest : public TcpTestCase
{
  public:
    ScenarioTcpTest()
        : TcpTestCase("Attributes of TCP in a scenario count for that scenario")
    {
    }

  private:
    void DoRun() override
    {
        const std::string before = Run("before", "");
        const std::string changed = Run("changed", "DctcpShiftG = \"0.9\"\n");
        NS_TEST_EXPECT_MSG_NE(before, "", "no flow has finished");
        NS_TEST_EXPECT_MSG_NE(changed, before, "another DCTCP");
        NS_TEST_EXPECT_MSG_EQ(Run("after", ""), before, "as it was");
    }

    /**
     * \param name name of the run
     * \param lines what to add to the file
     * \return the table of its flows
     */
    std::string Run(const std::string& name, const std::string& lines)
    {
        const std::string out = CreateTempDirFilename(name);
        const std::string config = out + ".toml";
        std::ofstream(config) << SCENARIO << lines;
        HpccScenarioHelper scenario;
        NS_TEST_EXPECT_MSG_EQ(scenario.Load(config, {}), true, "refused");
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, "not finished");
        std::ostringstream flows;
        flows << std::ifstream(out + "/fct.csv").rdbuf();
        return flows.str();
    }
};

std::vector<TestCase*>
MakeScenarioTcpTests()
{
    return {new ScenarioTcpTest};
}

} // namespace tests
} // namespace ns3
