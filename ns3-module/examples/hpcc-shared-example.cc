/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// One simulation, several processes: two racks of hosts, whose switches are linked. Each host sends
// to one of the other rack, and all to the first.
//
//   ./ns3 run hpcc-shared-example
//   mpirun -n 2 build/contrib/hpcc/examples/ns3.37-hpcc-shared-example-optimized --shared
//
// print the same lines: each process those of its own nodes.

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t perRack = 4;
    bool isShared = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("hosts", "hosts of each rack", perRack);
    cmd.AddValue("shared",
                 "whether the processes that mpirun has started share the simulation",
                 isShared);
    cmd.Parse(argc, argv);

    // Before the first use of the simulator.
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(true));

    NodeContainer hosts(2 * perRack);
    NodeContainer switches(2);
    QbbHelper network;
    network.InstallHosts(hosts);
    network.InstallSwitches(switches);
    const DataRate rate("100Gbps");
    const Time delay = MicroSeconds(1);
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        network.Link(hosts.Get(host), switches.Get(host / perRack), rate, delay);
    }
    network.Link(switches.Get(0), switches.Get(1), rate, delay);
    if (isShared)
    {
        const auto ranks = RankExchange::Begin();
        NS_ABORT_MSG_UNLESS(ranks, "no MPI");
        network.ShareAmong(ranks);
    }
    network.Start();

    // Every process starts all flows.
    ApplicationContainer flows;
    RdmaClientHelper toFirst(hosts.Get(0));
    toFirst.SetAttribute("Size", UintegerValue(100'000));
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        RdmaClientHelper across(hosts.Get((host + perRack) % hosts.GetN()));
        across.SetAttribute("Size", UintegerValue(500'000));
        flows.Add(across.Install(hosts.Get(host)));
        if (host > 0)
        {
            flows.Add(toFirst.Install(hosts.Get(host)));
        }
    }
    Simulator::Stop(MilliSeconds(10));
    Simulator::Run();
    for (auto application = flows.Begin(); application != flows.End(); ++application)
    {
        const auto flow = DynamicCast<RdmaClient>(*application);
        const RdmaFlow& result = flow->GetFlow();
        if (flow->IsFinished())
        {
            std::cout << result.src << " to " << result.dst << ", " << result.size
                      << " bytes: " << result.completion.As(Time::NS) << std::endl;
        }
    }
    Simulator::Destroy();
    return 0;
}
