/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Two hosts send to a third through one switch, which notifies senders of congestion (Fast CNP).
// From 500 us on a fourth host forges such notifications about the flow of the first one, in the
// name of the switch. How much of the link is left to it?
//
//   ./ns3 run hpcc-attack-example
//
// The switch drops notifications that come from that host:
//
//   ./ns3 run "hpcc-attack-example --border"
//
// Another attack:
//
//   ./ns3 run "hpcc-attack-example --kind=flooded_fast_cnp --rate=100Gbps"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string kind = "forged_fast_cnp";
    std::string rate = "100Mbps";
    bool border = false;
    Time stop = MilliSeconds(2);

    CommandLine cmd(__FILE__);
    cmd.AddValue("kind", "what the attacker does, as in [[attack]] of a file", kind);
    cmd.AddValue("rate", "of its frames", rate);
    cmd.AddValue("border", "whether the switch takes no notifications from it", border);
    cmd.AddValue("stop", "end of the simulation, beyond 500 us", stop);
    cmd.Parse(argc, argv);
    const Time begin = MicroSeconds(500);
    NS_ABORT_MSG_UNLESS(stop > begin, "the simulation ends before the attack begins");

    NodeContainer hosts(4);
    NodeContainer center(1);
    QbbHelper network;
    network.SetWireProfile("rocev2_ipv6");
    network.SetTelemetry("ioam");
    network.SetHostAttribute("CongestionControl", StringValue("hpcc_plus"));
    network.SetNetworkAttribute("FastCnpEnabled", BooleanValue(true));
    network.InstallHosts(hosts);
    network.InstallSwitches(center);
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        network.Link(hosts.Get(host), center.Get(0), DataRate("100Gbps"), MicroSeconds(1));
    }
    // Nodes have the numbers in which they were installed: the switch is 4.
    if (border)
    {
        network.SetFastCnpBorder(4, 3);
    }
    network.Start();

    std::vector<uint32_t> queuePairs;
    for (const uint32_t host : {0, 1})
    {
        RdmaFlow flow;
        flow.size = 1'000'000'000;
        queuePairs.push_back(
            network.GetHost(host)->StartFlow(network.GetHost(2), flow, RdmaHost::FlowCallback()));
    }
    const auto acked = [&](uint32_t host) {
        return network.GetHost(host)->GetAckedBytes(queuePairs[host]);
    };

    AttackHelper attack(kind);
    attack.Set("victims", "0");
    attack.Set("start", "500us");
    attack.Set("rate", rate);
    attack.Set("spoofed_source", "4");
    const auto attacker = attack.Install(hosts.Get(3), network);

    std::vector<uint64_t> before(2);
    Simulator::Schedule(begin, [&]() { before = {acked(0), acked(1)}; });
    Simulator::Stop(stop);
    Simulator::Run();
    for (const uint32_t host : {0, 1})
    {
        const double seconds = (stop - begin).GetSeconds();
        std::cout << "host " << host << ": " << before[host] * 8 / begin.GetSeconds() / 1e9
                  << " Gb/s before the attack, " << (acked(host) - before[host]) * 8 / seconds / 1e9
                  << " Gb/s during it\n";
    }
    std::cout << "frames of the attacker: " << attacker->GetSent() << "\n";
    Simulator::Destroy();
}
