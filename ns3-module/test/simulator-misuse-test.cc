/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What programs must not do with the simulator.
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

namespace ns3
{
namespace tests
{

TestCases
MakeSimulatorMisuseTests()
{
    return {
        MakeMisuseTest(
            "another order of events when there are some",
            []() {
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                Simulator::Schedule(Time(0), []() {});
                Simulator::GetImplementation()->SetAttribute("CanonicalOrder", BooleanValue(true));
            },
            "the order of events is chosen before the first one is scheduled"),
        MakeMisuseTest(
            "the end of a simulation by one of its events",
            []() {
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                Simulator::Schedule(Time(0), &Simulator::Destroy);
                Simulator::Run();
            },
            "Simulator::Destroy() is called by an event"),
        MakeMisuseTest(
            "an event before the begin, in canonical order",
            []() {
                Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(true));
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                TestNetwork network;
                network.MakeStar(2);
                network.helper.Start();
                Simulator::ScheduleWithContext(0, NanoSeconds(-10), []() {});
                Simulator::Run();
            },
            "an event was scheduled for -10 ns, before the begin of the simulation"),
        MakeMisuseTest(
            "a scheduler for a simulator that has its own",
            []() {
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                GlobalValue::Bind("SchedulerType", StringValue("ns3::HeapScheduler"));
                Simulator::Now();
            },
            "it cannot use ns3::HeapScheduler"),
    };
}

} // namespace tests
} // namespace ns3
