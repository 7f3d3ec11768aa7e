/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Why congestion control matters in a lossless network: a pause stops more than the flows that
// caused it.
//
// Hosts on the left switch send to one host on the right; a victim crosses the same trunk to
// another, idle host.
//
//     senders --+                  +-- receiver of the incast
//               |-- left -- right -|
//     victim  --+                  +-- receiver of the victim
//
// Without congestion control the right switch fills up and pauses the trunk, and the victim waits
// with the rest.
//
//   ./ns3 run hpcc-pfc-example
//
// runs with HPCC; add --ns3::RdmaHost::CongestionControl=none --ns3::RdmaHost::Window=false.

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <iomanip>
#include <iostream>

using namespace ns3;

/**
 * \brief Have one host send to another.
 * \param from the source
 * \param to the destination
 * \param size bytes
 * \return the flow
 */
static Ptr<RdmaClient>
AddFlow(Ptr<Node> from, Ptr<Node> to, uint64_t size)
{
    auto flow = CreateObject<RdmaClient>();
    flow->SetPeer(to);
    flow->SetAttribute("Size", UintegerValue(size));
    from->AddApplication(flow);
    return flow;
}

/**
 * \brief Print how often and how long a device was paused.
 * \param name what to call it
 * \param device the device
 */
static void
PrintPauses(const std::string& name, Ptr<NetDevice> device)
{
    const auto port = DynamicCast<QbbNetDevice>(device);
    std::cout << std::left << std::setw(16) << name << std::right << std::setw(8)
              << port->GetPauses() << std::setw(13) << port->GetPausedTime(3).GetNanoSeconds() / 1e3
              << "\n";
}

int
main(int argc, char* argv[])
{
    uint32_t senders = 8;
    uint64_t size = 1'000'000;
    uint32_t buffer = 2'000'000;

    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "hosts that send to one receiver", senders);
    cmd.AddValue("size", "bytes of each flow", size);
    cmd.AddValue("buffer", "bytes of each switch's buffer", buffer);
    cmd.Parse(argc, argv);

    NodeContainer left(senders + 1);
    NodeContainer right(2);
    NodeContainer switches(2);
    QbbHelper network;
    network.SetSwitchAttribute("Buffer", UintegerValue(buffer));
    network.InstallHosts(left);
    network.InstallHosts(right);
    network.InstallSwitches(switches);
    const DataRate rate("100Gbps");
    const Time delay = MicroSeconds(1);
    NetDeviceContainer nics;
    for (uint32_t host = 0; host < left.GetN(); ++host)
    {
        nics.Add(network.Link(left.Get(host), switches.Get(0), rate, delay).Get(0));
    }
    const NetDeviceContainer trunk =
        network.Link(switches.Get(0), switches.Get(1), DataRate("400Gbps"), delay);
    network.Link(right.Get(0), switches.Get(1), rate, delay);
    network.Link(right.Get(1), switches.Get(1), rate, delay);
    network.Start();

    for (uint32_t host = 0; host < senders; ++host)
    {
        AddFlow(left.Get(host), right.Get(0), size);
    }
    const auto victim = AddFlow(left.Get(senders), right.Get(1), size);
    Simulator::Run();

    std::cout << "device            pauses  paused (us)\n" << std::fixed << std::setprecision(1);
    PrintPauses("trunk", trunk.Get(0));
    PrintPauses("first sender", nics.Get(0));
    PrintPauses("victim", nics.Get(senders));
    // Hosts are numbered as they were installed: the idle one is the last.
    const Time alone = network.GetStandaloneFct(senders, senders + 2, size);
    std::cout << "The victim took " << victim->GetFlow().completion.GetNanoSeconds() / 1e3
              << " us; alone it takes " << alone.GetNanoSeconds() / 1e3 << " us." << std::endl;
    Simulator::Destroy();
}
