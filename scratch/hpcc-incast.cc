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
#include <vector>

using namespace ns3;

/// The switch has queued a frame to the receiver.
static void
NoteQueue(uint64_t* longest, Ptr<QbbNetDevice> port, const QbbFrame&)
{
    *longest = std::max(*longest, port->GetQueuedBytes());
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
    // Gives what ns-3's own simulator gives, sooner.
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));

    // A star: the senders, then the receiver, all linked to one switch.
    NodeContainer hosts(senders + 1);
    NodeContainer center(1);
    QbbHelper network;
    network.InstallHosts(hosts);
    network.InstallSwitches(center);
    NetDeviceContainer ports;
    NetDeviceContainer nics;
    for (uint32_t host = 0; host <= senders; ++host)
    {
        const auto ends = network.Link(hosts.Get(host), center.Get(0), rate, MicroSeconds(1));
        nics.Add(ends.Get(0));
        ports.Add(ends.Get(1));
    }
    network.Start();

    std::vector<Ptr<RdmaClient>> answers;
    for (uint32_t host = 0; host < senders; ++host)
    {
        answers.push_back(CreateObject<RdmaClient>());
        answers.back()->SetPeer(hosts.Get(senders));
        answers.back()->SetAttribute("Size", UintegerValue(size));
        hosts.Get(host)->AddApplication(answers.back());
    }

    uint64_t longest = 0;
    uint32_t pauses = 0;
    const auto port = DynamicCast<QbbNetDevice>(ports.Get(senders));
    port->TraceConnectWithoutContext("Enqueue", MakeBoundCallback(&NoteQueue, &longest, port));
    const auto count = MakeBoundCallback(&CountPause, &pauses);
    for (uint32_t host = 0; host < senders; ++host)
    {
        nics.Get(host)->TraceConnectWithoutContext("Pause", count);
    }
    Simulator::Run();

    std::cout << "sender   completion (us)   slowdown\n" << std::fixed << std::setprecision(1);
    for (uint32_t host = 0; host < senders; ++host)
    {
        const double fct = answers[host]->GetFlow().completion.GetMicroSeconds();
        const double alone = network.GetStandaloneFct(host, senders, size).GetMicroSeconds();
        std::cout << std::setw(6) << host << std::setw(18) << fct << std::setw(11) << fct / alone
                  << "\n";
    }
    std::cout << "longest queue " << longest / 1e3 << " kB, pauses " << pauses << ", drops "
              << center.Get(0)->GetObject<QbbSwitch>()->GetDrops() << std::endl;
    Simulator::Destroy();
}
