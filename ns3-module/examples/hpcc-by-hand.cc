/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Any scenario of configs/, and any run of any sweep, as a program of its own that reads no such
// file: networks of plain loops, settings by attributes, flows by RdmaClient. Only the list of
// flows is read, from the results of the same run by its file; the program prints how long each
// takes here, which is what it took there, to the nanosecond:
//
//   ./hpcc run configs/quickstart.toml --out out
//   cd ~/.cache/hpcc/ns-3
//   ./ns3 run "hpcc-by-hand --scenario=quickstart --flows=OUT --stop=4ms"
//
// A run with another seed, "--set run.seed=2", is "--RngRun=2" here. "--list" tells all scenarios
// and runs of sweeps, as the program is told of them.
//
// by-hand/networks.cc has the networks, by-hand/scenarios.cc what each scenario sets,
// by-hand/own-sweeps.cc and by-hand/paper-sweeps.cc what each variant sets in another way.

#include "by-hand/experiment.h"
#include "by-hand/flows.h"
#include "by-hand/scenarios.h"
#include "by-hand/sweeps.h"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

/**
 * \brief Add an application for each flow.
 * \param flows the flows
 * \param nodes the nodes of the network
 */
static void
AddClients(const std::vector<byhand::Flow>& flows, const NodeContainer& nodes)
{
    for (const byhand::Flow& flow : flows)
    {
        RdmaClientHelper helper(nodes.Get(flow.dst));
        helper.SetAttribute("Size", UintegerValue(flow.size));
        helper.SetAttribute("Priority", UintegerValue(flow.priority));
        helper.SetAttribute("DestinationPort", UintegerValue(flow.dport));
        ApplicationContainer client = helper.Install(nodes.Get(flow.src));
        client.Start(flow.start);
        client.Get(0)->TraceConnectWithoutContext(
            "Finish",
            Callback<void, const RdmaFlow&>([number = flow.number](const RdmaFlow& finished) {
                byhand::PrintFinished(number, finished.completion);
            }));
    }
}

/// Print what the program is told for each scenario, and for each run of each sweep.
static void
List()
{
    for (const std::string& name : byhand::ListScenarios())
    {
        std::cout << "--scenario=" << name << std::endl;
    }
    for (const byhand::Run& run : byhand::ListRuns())
    {
        std::cout << "--sweep=" << run.sweep << " --variant=" << run.variant
                  << (run.step.empty() ? "" : " --step=") << run.step
                  << (run.isQuick ? " --quick" : "") << std::endl;
    }
}

int
main(int argc, char* argv[])
{
    std::string scenario;
    byhand::Run run{};
    std::string flows;
    Time stop;
    bool list = false;

    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario", "a scenario of configs/, by the name of its file", scenario);
    cmd.AddValue("sweep", "a sweep of configs/, in place of a scenario", run.sweep);
    cmd.AddValue("variant", "the variant of the sweep", run.variant);
    cmd.AddValue("step", "the axis of the sweep with its value, such as load-0.5", run.step);
    cmd.AddValue("quick", "whether it is the quick form of the sweep", run.isQuick);
    cmd.AddValue("flows", "results of the run by its file", flows);
    cmd.AddValue("stop", "end of the simulation", stop);
    cmd.AddValue("list", "list all scenarios and runs of sweeps, and do no more", list);
    cmd.Parse(argc, argv);
    if (list)
    {
        List();
        return 0;
    }
    NS_ABORT_MSG_UNLESS(scenario.empty() != run.sweep.empty(),
                        "expected --scenario or --sweep, and one of them");

    const byhand::Experiment experiment =
        scenario.empty() ? byhand::FindRun(run) : byhand::FindScenario(scenario);
    // As files run. Before the first use of the simulator.
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder",
                       BooleanValue(experiment.isCanonical));

    QbbHelper network;
    const NodeContainer nodes = byhand::Build(experiment, network);
    AddClients(byhand::ReadFlows(flows, stop), nodes);
    byhand::PrintHead();
    byhand::ScheduleFailures(experiment, network);
    const auto attackers = byhand::BeginAttacks(experiment, network, nodes);
    Simulator::Stop(stop);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
