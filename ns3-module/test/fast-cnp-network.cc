/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-network.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace tests
{

void
Watch(Ptr<QbbNetDevice> device, Frames& frames)
{
    device->TraceConnectWithoutContext(
        "TxBegin",
        Callback<void, const QbbFrame&>([&frames](const QbbFrame& frame) {
            frames[frame.kind].push_back(
                {Simulator::Now(),
                 frame.kind,
                 frame.src,
                 frame.dst,
                 frame.srcAddress,
                 frame.queuePair,
                 frame.sport,
                 frame.congestionMarked,
                 frame.kind == QbbFrame::Kind::ACK && frame.congestionEchoed,
                 {frame.GetTelemetry(), frame.GetTelemetry() + frame.telemetryBytes}});
        }));
}

std::size_t
CountMarked(const std::vector<Seen>& frames)
{
    return std::count_if(frames.begin(), frames.end(), [](const Seen& frame) {
        return frame.marked;
    });
}

std::size_t
CountFor(const std::vector<Seen>& frames, uint32_t queuePair)
{
    return std::count_if(frames.begin(), frames.end(), [queuePair](const Seen& frame) {
        return frame.queuePair == queuePair;
    });
}

std::pair<Time, Time>
SpanOf(const std::vector<Seen>& frames)
{
    return frames.empty() ? std::pair(Time::Max(), Time::Max())
                          : std::pair(frames.front().at, frames.back().at);
}

std::vector<Seen>
To(const std::vector<Seen>& frames, uint32_t node)
{
    std::vector<Seen> chosen;
    std::copy_if(frames.begin(),
                 frames.end(),
                 std::back_inserter(chosen),
                 [node](const Seen& frame) { return frame.dst == node; });
    return chosen;
}

Congested::Congested()
{
    network.helper.SetWireProfile("rocev2_ipv6");
    network.helper.SetTelemetry("none");
    network.SetControl("dcqcn");
    network.helper.SetHostAttribute("AckPriority", UintegerValue(0));
    network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(30'000));
    network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(30'000));
    network.helper.SetSwitchAttribute("EcnPmax", DoubleValue(1));
}

Congested&
Congested::Enable()
{
    network.helper.SetFastCnpHostAttribute("Enabled", BooleanValue(true));
    network.helper.SetFastCnpSwitchAttribute("Enabled", BooleanValue(true));
    return *this;
}

void
Congested::Build()
{
    network.MakeStar(SENDERS + 1);
    Agent()->TraceConnectWithoutContext(
        "Withheld",
        Callback<void, const QbbFrame&, const std::string&>(
            [this](const QbbFrame&, const std::string& reason) { ++withheld[reason]; }));
}

void
Congested::Run()
{
    network.helper.Start();
    const auto bottleneck = network.helper.GetNode(SWITCH);
    for (uint32_t port = 0; port < bottleneck->GetNPorts(); ++port)
    {
        Watch(bottleneck->GetPort(port), bySwitch);
    }
    Watch(network.GetHostDevice(SENDERS), byReceiver);
    Watch(network.GetHostDevice(0), bySender);
    for (uint32_t sender = 0; sender < SENDERS; ++sender)
    {
        flows.push_back(network.AddFlow(sender, SENDERS, SIZE));
    }
    Simulator::Schedule(MicroSeconds(25), [this]() {
        rate = DynamicCast<RdmaHost>(network.helper.GetNode(1))->GetRate(0);
    });
    Simulator::Stop(MilliSeconds(20));
    Simulator::Run();
    sent = Agent()->GetSent();
    for (uint32_t sender = 0; sender < SENDERS; ++sender)
    {
        accepted += HostAgent(sender)->GetAccepted();
    }
    reports = HostAgent(0)->GetReports();
    migrations = HostAgent(0)->GetMigrations();
    finished = std::count_if(flows.begin(), flows.end(), [](const Ptr<RdmaClient>& flow) {
        return flow->GetFlow().completion > Time(0);
    });
    Simulator::Destroy();
}

} // namespace tests
} // namespace ns3
