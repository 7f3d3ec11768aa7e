/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Many hosts answer one receiver at the same moment. How long does its queue get, and when does the
// last answer arrive?
//
//   ./ns3 run "hpcc-incast --senders=32"
//   ./ns3 run "hpcc-incast --ns3::RdmaHost::CongestionControl=none --ns3::RdmaHost::Window=false"
//
// Any attribute can be set so; --PrintAttributes=ns3::RdmaHost lists a type's.

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

using namespace ns3;

/// A queue of the switch to the receiver has changed.
static void
NoteQueue(uint64_t* longest, uint8_t, uint64_t, uint64_t now)
{
    *longest = std::max(*longest, now);
}

/// A sender has been paused or resumed.
static void
CountPause(uint32_t* pauses, uint8_t, bool paused)
{
    *pauses += paused;
}

int
main(int argc, char* argv[])
{
    uint32_t senders = 16;
    uint64_t size = 500'000;
    DataRate rate("100Gbps");

    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "hosts that answer", senders);
    cmd.AddValue("size", "bytes of each answer", size);
    cmd.AddValue("rate", "rate of every link", rate);
    cmd.Parse(argc, argv);

    // A star: the senders, then the receiver, all linked to one switch.
    NodeContainer hosts(senders + 1);
    NodeContainer center(1);
    QbbHelper network;
    network.InstallHosts(hosts);
    network.InstallSwitches(center);
    const NetDeviceContainer ends = network.LinkAll(hosts, center.Get(0), rate, MicroSeconds(1));
    network.Start();

    RdmaClientHelper answer(hosts.Get(senders));
    answer.SetAttribute("Size", UintegerValue(size));
    uint64_t longest = 0;
    uint32_t pauses = 0;
    for (uint32_t host = 0; host < senders; ++host)
    {
        answer.Install(hosts.Get(host));
        ends.Get(2 * host)->TraceConnectWithoutContext("Pause",
                                                       MakeBoundCallback(&CountPause, &pauses));
    }
    // The last end is the switch's port to the receiver.
    ends.Get(2 * senders + 1)
        ->TraceConnectWithoutContext("QueuedBytes", MakeBoundCallback(&NoteQueue, &longest));
    RdmaFlowResults results(network);
    Simulator::Run();

    std::cout << "sender   completion (us)   slowdown\n" << std::fixed << std::setprecision(1);
    for (const auto& [flow, slowdown] : results.GetFinished())
    {
        std::cout << std::setw(6) << flow.src << std::setw(18) << flow.completion.ToDouble(Time::US)
                  << std::setw(11) << slowdown << "\n";
    }
    std::cout << "longest queue " << longest / 1e3 << " kB, pauses " << pauses << ", drops "
              << center.Get(0)->GetObject<QbbSwitch>()->GetDrops() << std::endl;
    const uint64_t unfinished = network.PrintUnfinished(std::cerr);
    Simulator::Destroy();
    return unfinished ? 3 : 0;
}
