/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "changes.h"

#include <vector>

namespace ns3
{
namespace byhand
{

Change
Control(const Attributes& attributes)
{
    return [attributes](Experiment& experiment) {
        for (const auto& [name, value] : attributes)
        {
            experiment.control[name] = value;
        }
    };
}

Change
OtherControl(const Attributes& attributes)
{
    return [attributes](Experiment& experiment) { experiment.control = attributes; };
}

Change
Telemetry(const std::string& layout)
{
    return [layout](Experiment& experiment) { experiment.telemetry = layout; };
}

Change
Telemetry(const std::string& layout, const std::string& hops)
{
    return [layout, hops](Experiment& experiment) {
        experiment.telemetry = layout;
        experiment.nodes = {{"TelemetryHops", hops}};
    };
}

Change
Hosts(const Attributes& attributes)
{
    return [attributes](Experiment& experiment) {
        for (const auto& [name, value] : attributes)
        {
            experiment.hosts[name] = value;
        }
    };
}

Change
Switches(const Attributes& attributes)
{
    return [attributes](Experiment& experiment) {
        for (const auto& [name, value] : attributes)
        {
            experiment.switches[name] = value;
        }
    };
}

Change
FastCnp(const Attributes& attributes)
{
    return [attributes](Experiment& experiment) {
        experiment.fastCnp = {{"Enabled", "true"}};
        experiment.fastCnpSwitches = attributes;
    };
}

Change
Nodes(const std::vector<uint32_t>& nodes, const Attributes& attributes)
{
    return [nodes, attributes](Experiment& experiment) {
        for (const uint32_t node : nodes)
        {
            experiment.others[node] = attributes;
        }
    };
}

Change
Fail(const std::vector<Failure>& failures)
{
    return [failures](Experiment& experiment) { experiment.failures = failures; };
}

Change
All(std::initializer_list<Change> changes)
{
    return [changes = std::vector<Change>(changes)](Experiment& experiment) {
        for (const Change& change : changes)
        {
            change(experiment);
        }
    };
}

Changes
Loads(std::initializer_list<std::string> loads)
{
    Changes steps;
    for (const std::string& load : loads)
    {
        steps["load-" + load] = AsItIs;
    }
    return steps;
}

Changes
Distances(std::initializer_list<std::string> distances)
{
    Changes steps;
    for (const std::string& distance : distances)
    {
        steps["one-way-" + distance] = [distance](Experiment& experiment) {
            experiment.topology = Dumbbell(4, 1, "100Gbps", distance);
        };
    }
    return steps;
}

void
AsItIs(Experiment&)
{
}

void
Dcqcn(Experiment& experiment)
{
    OtherControl({{"CongestionControl", "dcqcn"}, {"DcqcnAlphaInterval", "1us"}})(experiment);
}

void
DcqcnAlone(Experiment& experiment)
{
    All({Dcqcn, Hosts({{"CongestionNotification", "cnp"}}), Telemetry("none")})(experiment);
}

void
PaperDcqcn(Experiment& experiment)
{
    All({OtherControl({{"CongestionControl", "dcqcn"}, {"DcqcnAlphaInterval", "55us"}}), WithCnps})(
        experiment);
}

void
HpccPint(Experiment& experiment)
{
    OtherControl({{"CongestionControl", "hpcc_pint"}})(experiment);
}

void
Timely(Experiment& experiment)
{
    OtherControl({{"CongestionControl", "timely"}})(experiment);
}

void
Dctcp(Experiment& experiment)
{
    OtherControl({{"CongestionControl", "dctcp"}})(experiment);
}

void
WithWindow(Experiment& experiment)
{
    Hosts({{"Window", "true"}})(experiment);
}

void
WithCnps(Experiment& experiment)
{
    Hosts({{"CongestionNotification", "cnp"}})(experiment);
}

void
MaxStage0(Experiment& experiment)
{
    Control({{"HpccMaxStage", "0"}})(experiment);
}

void
NoTelemetry(Experiment& experiment)
{
    experiment.telemetry = "none";
    experiment.nodes.clear();
}

} // namespace byhand
} // namespace ns3
