/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// A flow has a link for itself until another joins; later it is alone again. How do they share?
//
//   ./ns3 run hpcc-two-flows
//   ./ns3 run "hpcc-two-flows --join=50us --ns3::RdmaHost::HpccAdditiveIncrease=500Mbps"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <array>
#include <iomanip>
#include <iostream>

using namespace ns3;

/// Payload bytes that each flow has delivered since the last line of the table.
using Delivered = std::array<uint64_t, 2>;

/// The receiver has a packet; its source is host 0 or host 1.
static void
CountPayload(Delivered* delivered, const QbbFrame& frame)
{
    delivered->at(frame.src) += frame.payload;
}

/// Print a line of the table, and the next one later.
static void
PrintLine(Delivered* delivered, Ptr<QbbNetDevice> bottleneck, Time interval)
{
    std::cout << std::setw(9) << Simulator::Now().GetMicroSeconds();
    for (uint64_t& bytes : *delivered)
    {
        std::cout << std::setw(15) << bytes * 8.0 / interval.GetNanoSeconds();
        bytes = 0;
    }
    std::cout << std::setw(13) << bottleneck->GetQueuedBytes() / 1e3 << "\n";
    Simulator::Schedule(interval, &PrintLine, delivered, bottleneck, interval);
}

int
main(int argc, char* argv[])
{
    uint64_t size = 4'000'000;
    Time join = MicroSeconds(100);
    Time interval = MicroSeconds(25);
    Time stop = MicroSeconds(600);

    CommandLine cmd(__FILE__);
    cmd.AddValue("size", "bytes of the first flow; the second has half as many", size);
    cmd.AddValue("join", "when the second flow starts", join);
    cmd.AddValue("interval", "time between two lines of the table", interval);
    cmd.AddValue("stop", "end of the simulation", stop);
    cmd.Parse(argc, argv);

    // Hosts 0 and 1 send to host 2 through one switch.
    NodeContainer hosts(3);
    NodeContainer center(1);
    QbbHelper network;
    network.InstallHosts(hosts);
    network.InstallSwitches(center);
    NetDeviceContainer last;
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        last = network.Link(center.Get(0), hosts.Get(host), DataRate("100Gbps"), MicroSeconds(1));
    }
    network.Start();

    for (uint32_t host : {0, 1})
    {
        auto flow = CreateObject<RdmaClient>();
        flow->SetPeer(hosts.Get(2));
        flow->SetAttribute("Size", UintegerValue(host == 0 ? size : size / 2));
        flow->SetStartTime(host == 0 ? Time(0) : join);
        hosts.Get(host)->AddApplication(flow);
    }

    Delivered delivered{};
    last.Get(1)->TraceConnectWithoutContext("RxEnd", MakeBoundCallback(&CountPayload, &delivered));
    Simulator::Schedule(interval,
                        &PrintLine,
                        &delivered,
                        DynamicCast<QbbNetDevice>(last.Get(0)),
                        interval);
    std::cout << "time (us)   flow 0 (Gb/s)  flow 1 (Gb/s)   queue (kB)\n"
              << std::fixed << std::setprecision(1);
    Simulator::Stop(stop);
    Simulator::Run();
    Simulator::Destroy();
}
