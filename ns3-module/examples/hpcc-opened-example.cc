/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// A scenario file as a network of ns-3 nodes: sinks look at it, and an application sends beside its
// flows. At the end the folder has the results of the file's flows and of the application's.
//
//   ./ns3 run "hpcc-opened-example --config=FILE.toml"
//
// Without a file it writes one, an incast. Without the application results are as by ./hpcc run:
//
//   ./ns3 run "hpcc-opened-example --size=0"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <fstream>
#include <iostream>

using namespace ns3;

/// Four hosts send to a fifth.
static const char INCAST[] = R"([run]
stop = "2ms"
[topology]
kind = "star"
hosts = 5
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "incast"
receiver = 4
sender_count = 4
size = "500kB"
)";

int
main(int argc, char* argv[])
{
    std::string config;
    std::string out = "hpcc-out/open";
    uint64_t size = 1'000'000;

    CommandLine cmd(__FILE__);
    cmd.AddValue("config", "the scenario file", config);
    cmd.AddValue("out", "folder for the results", out);
    cmd.AddValue("size", "bytes that host 0 sends to host 1 from 100 us on; 0: none", size);
    cmd.Parse(argc, argv);
    if (config.empty())
    {
        config = "hpcc-opened-example.toml";
        std::ofstream(config) << INCAST;
    }

    HpccScenarioHelper scenario;
    if (!scenario.Load(config, {}))
    {
        return HpccScenarioHelper::BAD_INPUT;
    }
    QbbHelper* const network = scenario.Open();
    if (!network)
    {
        return HpccScenarioHelper::BAD_INPUT;
    }

    // All that ns-3 has for nodes works: paths of Config, sinks, captures.
    uint64_t pauses = 0;
    uint64_t longest = 0;
    Config::ConnectWithoutContext(
        "/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/Pause",
        Callback<void, uint8_t, bool>([&](uint8_t, bool pause) { pauses += pause; }));
    Config::ConnectWithoutContext(
        "/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/QueuedBytes",
        Callback<void, uint8_t, uint64_t, uint64_t>(
            [&](uint8_t, uint64_t, uint64_t now) { longest = std::max(longest, now); }));

    if (size > 0)
    {
        RdmaClientHelper client(network->GetHost(1)->GetObject<Node>());
        client.SetAttribute("Size", UintegerValue(size));
        client.Install(network->GetHost(0)->GetObject<Node>()).Start(MicroSeconds(100));
    }

    const HpccScenarioHelper::Outcome outcome = scenario.Run(out);
    std::cout << pauses << " pauses, longest queue " << longest << " bytes, results in " << out
              << std::endl;
    Simulator::Destroy();
    return outcome;
}
