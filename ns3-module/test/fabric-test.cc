/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Helpers for shapes of networks and patterns of flows.
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/qbb-fabric-helper.h"
#include "ns3/rdma-traffic-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/system-path.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ns3
{
namespace tests
{

namespace
{

/// Source, destination, bytes, start and duration of a flow.
using Row = std::vector<int64_t>;
/// Keys and values of a section.
using Entries = std::vector<std::pair<std::string, std::string>>;

/**
 * \param entries keys and values; the first is the kind
 * \return their lines in a file
 */
std::string
Describe(const Entries& entries)
{
    std::string text;
    for (const auto& [key, value] : entries)
    {
        text += key + " = \"" + value + "\"\n";
    }
    return text;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief A program builds what a file describes.
 */
class FabricTest : public HpccTestCase
{
  public:
    FabricTest()
        : HpccTestCase("Fabrics and traffic of helpers have the results of the file that says the "
                       "same")
    {
    }

  private:
    void DoRun() override
    {
        const Entries rates{{"rate", "100Gbps"}, {"delay", "1us"}};
        const Entries poisson{{"kind", "poisson"},
                              {"load", "0.4"},
                              {"sizes", "websearch"},
                              {"duration", "200us"}};
        const Entries incast{{"kind", "incast"},
                             {"receiver", "0"},
                             {"sender_count", "5"},
                             {"size", "200kB"},
                             {"start", "20us"}};
        const Entries permutation{{"kind", "permutation"}, {"size", "300kB"}, {"rate", "40Gbps"}};
        Compare({{"kind", "leaf_spine"}, {"leaves", "2"}, {"spines", "2"}, {"hosts_per_leaf", "4"}},
                rates,
                {poisson, incast},
                {8, 2, 2});
        Compare({{"kind", "k_ary_fat_tree"}, {"k", "4"}}, rates, {poisson}, {16, 8, 8, 4});
        Compare({{"kind", "dumbbell"}, {"left", "3"}, {"right", "3"}},
                rates,
                {permutation},
                {6, 2});
        Compare({{"kind", "star"}, {"hosts", "7"}}, rates, {permutation, incast}, {7, 1});
    }

    /**
     * \brief Run both.
     * \param shape the fabric
     * \param rates rates and delays of its links
     * \param patterns the traffic
     * \param tiers how many hosts, and how many switches in each tier
     */
    void Compare(const Entries& shape,
                 const Entries& rates,
                 const std::vector<Entries>& patterns,
                 const std::vector<uint32_t>& tiers)
    {
        const std::string name = shape[0].second;
        QbbHelper network;
        network.SetNetworkAttribute("CanonicalOrder", BooleanValue(true));
        QbbFabricHelper helper(name);
        for (const Entries& entries : {Entries(shape.begin() + 1, shape.end()), rates})
        {
            for (const auto& [key, value] : entries)
            {
                helper.Set(key, value);
            }
        }
        const QbbFabric fabric = helper.Install(network);
        std::vector<uint32_t> found{fabric.hosts.GetN()};
        for (const NodeContainer& tier : fabric.tiers)
        {
            found.push_back(tier.GetN());
        }
        NS_TEST_EXPECT_MSG_EQ((found == tiers), true, "nodes of " << name);
        network.Start();
        std::vector<Row> program = RunProgram(network, patterns);
        Simulator::Destroy();
        std::string text =
            "[run]\nstop = \"20ms\"\nseed = 3\n[topology]\n" + Describe(shape) + Describe(rates);
        for (const Entries& pattern : patterns)
        {
            text += "[[traffic]]\n" + Describe(pattern);
        }
        std::vector<Row> file = RunFile(name, WithoutQuotes(text));
        std::sort(program.begin(), program.end());
        std::sort(file.begin(), file.end());
        NS_TEST_EXPECT_MSG_GT(file.size(), 4, "flows of " << name);
        NS_TEST_EXPECT_MSG_EQ((program == file), true, "flows of " << name);
    }

    /**
     * \brief Run traffic.
     * \param network a network that is started
     * \param patterns the traffic
     * \return its flows
     */
    static std::vector<Row> RunProgram(const QbbHelper& network,
                                       const std::vector<Entries>& patterns)
    {
        RngSeedManager::SetRun(3);
        RdmaTrafficHelper traffic(patterns[0][0].second);
        for (const Entries& pattern : patterns)
        {
            if (&pattern != &patterns[0])
            {
                traffic.Add(pattern[0].second);
            }
            for (auto entry = pattern.begin() + 1; entry != pattern.end(); ++entry)
            {
                traffic.Set(entry->first, entry->second);
            }
        }
        const ApplicationContainer clients = traffic.Install(network);
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        RngSeedManager::SetRun(1);
        std::vector<Row> rows;
        for (uint32_t place = 0; place < clients.GetN(); ++place)
        {
            const RdmaFlow& flow = DynamicCast<RdmaClient>(clients.Get(place))->GetFlow();
            rows.push_back({flow.src,
                            flow.dst,
                            static_cast<int64_t>(flow.size),
                            flow.start.GetNanoSeconds(),
                            flow.completion.GetNanoSeconds()});
        }
        return rows;
    }

    /**
     * \brief Take quotes from numbers.
     * \param text a file
     * \return the file
     */
    static std::string WithoutQuotes(const std::string& text)
    {
        std::istringstream lines(text);
        std::string all;
        for (std::string line; std::getline(lines, line);)
        {
            const auto isPlain =
                line.find_first_not_of("0123456789.\"", line.find('=') + 2) == std::string::npos;
            if (isPlain)
            {
                line.erase(std::remove(line.begin(), line.end(), '"'), line.end());
            }
            all += line + "\n";
        }
        return all;
    }

    /**
     * \brief Run a file.
     * \param name its name
     * \param text what is in it
     * \return its flows
     */
    std::vector<Row> RunFile(const std::string& name, const std::string& text)
    {
        const std::string config = CreateTempDirFilename(name + ".toml");
        std::ofstream(config) << text;
        const std::string out = CreateTempDirFilename(name);
        HpccScenarioHelper scenario;
        NS_TEST_EXPECT_MSG_EQ(scenario.Load(config, {}), true, text);
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, name);
        std::ifstream results(SystemPath::Append(out, "fct.csv"));
        std::vector<Row> rows;
        std::string line;
        std::getline(results, line);
        while (std::getline(results, line))
        {
            std::replace(line.begin(), line.end(), ',', ' ');
            std::istringstream words(line);
            Row numbers(9);
            for (int64_t& number : numbers)
            {
                words >> number;
            }
            rows.push_back({numbers[1], numbers[2], numbers[6], numbers[7], numbers[8]});
        }
        return rows;
    }
};

TestCases
MakeFabricTests()
{
    const auto shape = [](const std::string& key, const std::string& value) {
        return [key, value] {
            QbbHelper network;
            QbbFabricHelper helper("star");
            helper.Set("hosts", 4);
            helper.Set("rate", "100Gbps");
            helper.Set("delay", "1us");
            helper.Set(key, value);
            helper.Install(network);
        };
    };
    const auto traffic = [](const std::string& kind) {
        return [kind] {
            TestNetwork network;
            network.MakeStar(3);
            RdmaTrafficHelper helper(kind);
            helper.Set("operation", "all_reduce");
            helper.Set("size", "1MB");
            helper.Install(network.helper);
        };
    };
    return {new FabricTest,
            MakeMisuseTest("a key that a shape does not have", shape("leaves", "2"), "leaves"),
            MakeMisuseTest("losses of a shape", shape("loss", "0.01"), "QbbHelper::SetLoss()"),
            MakeMisuseTest("a job as traffic", traffic("collective"), "is a job")};
}

} // namespace tests
} // namespace ns3
