/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenarios.h"

#include "ns3/core-module.h"

namespace ns3
{
namespace byhand
{

namespace
{

/**
 * \brief Two hosts send to a third while a fourth one forges notifications of congestion.
 * \return what a program sets
 */
Experiment
AttackedRocev2()
{
    Experiment experiment;
    experiment.topology = Dumbbell(3, 1, "100Gbps", "1us");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "ioam";
    experiment.nodes = {{"TelemetryHops", "3"}};
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    experiment.fastCnp = {{"Enabled", "true"}};
    experiment.fastCnpSwitches = {{"Kmin", "20KB"}, {"Kmax", "80KB"}};
    experiment.attacks = {
        {"forged_fast_cnp", 2, {{"victims", "0"}, {"start", "100us"}, {"pretends", "4"}}}};
    return experiment;
}

/**
 * \brief Four hosts send to one over a long cable.
 * \return what a program sets
 */
Experiment
DistanceRocev2()
{
    Experiment experiment;
    experiment.topology = Dumbbell(4, 1, "100Gbps", "1ms");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "ioam";
    experiment.nodes = {{"TelemetryHops", "2"}};
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    experiment.switches = {{"Buffer", "1GB"}};
    return experiment;
}

/**
 * \brief HPCC++ over RoCEv2 with IPv6, for a hundred flows.
 * \param topology the network
 * \return what a program sets
 */
Experiment
PlainRocev2(const Topology& topology)
{
    Experiment experiment;
    experiment.topology = topology;
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "paper";
    experiment.control = {{"CongestionControl", "hpcc_plus"}, {"HpccPlusExpectedFlows", "100"}};
    experiment.hosts = {{"Mtu", "1024"}};
    return experiment;
}

/**
 * \brief Eight hosts begin to send to one, one after the other.
 * \return what a program sets
 */
Experiment
FairnessRocev2()
{
    return PlainRocev2(Star(9, "100Gbps"));
}

/**
 * \brief 32 hosts send to one.
 * \return what a program sets
 */
Experiment
IncastRocev2()
{
    return PlainRocev2(Star(33, "100Gbps"));
}

/**
 * \brief 32 hosts in four racks.
 * \return the network
 */
Topology
FourRacks()
{
    return LeafSpine(4, 2, 8, "100Gbps", "400Gbps");
}

/**
 * \brief Large flows in four racks, over four spines.
 * \return what a program sets
 */
Experiment
PathsRocev2()
{
    Experiment experiment;
    experiment.topology = LeafSpine(4, 4, 8, "100Gbps", "200Gbps");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "int_md";
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    return experiment;
}

/**
 * \brief Hadoop's flows in four racks, or those of web search.
 * \return what a program sets
 */
Experiment
LeafSpineRocev2()
{
    return PlainRocev2(FourRacks());
}

/**
 * \brief Hadoop's flows in four racks, with incasts.
 * \return what a program sets
 */
Experiment
LeafSpineHadoop()
{
    Experiment experiment;
    experiment.topology = FourRacks();
    experiment.control = {{"CongestionControl", "hpcc"}};
    return experiment;
}

/**
 * \brief The same flows over RoCEv2.
 * \return what a program sets
 */
Experiment
LeafSpineIncastRocev2()
{
    Experiment experiment;
    experiment.topology = FourRacks();
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "ioam";
    experiment.nodes = {{"TelemetryHops", "3"}};
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    experiment.hosts = {{"Mtu", "1024"}};
    return experiment;
}

/**
 * \brief Eight hosts send to one over a long cable.
 * \return what a program sets
 */
Experiment
LongPathRocev2()
{
    Experiment experiment;
    experiment.topology = Dumbbell(8, 1, "100Gbps", "500us");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "ioam";
    experiment.nodes = {{"TelemetryHops", "2"}};
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    experiment.hosts = {{"Mtu", "1024"}};
    experiment.switches = {{"Buffer", "128MiB"}};
    return experiment;
}

/**
 * \brief DCQCN with notifications by receivers, and by switches.
 * \return what a program sets
 */
Experiment
FastCnpCable()
{
    Experiment experiment;
    experiment.topology = Dumbbell(8, 1, "100Gbps", "10us");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.control = {{"CongestionControl", "dcqcn"}};
    experiment.hosts = {{"CongestionNotification", "cnp"}};
    experiment.fastCnp = {{"Enabled", "true"}};
    return experiment;
}

/// The fat tree of the reference simulator: 320 hosts.
constexpr TreeSize LARGE_TREE{5, 4, 4, 4, 16};

/**
 * \brief Web search in a fat tree.
 * \return what a program sets
 */
Experiment
FatTreeWebsearch()
{
    Experiment experiment;
    experiment.topology = FatTree(LARGE_TREE, "100Gbps", "400Gbps");
    experiment.control = {{"HpccMaxStage", "0"}, {"HpccMinRate", "1Gbps"}};
    return experiment;
}

/**
 * \brief An incast without congestion control at a switch that drops.
 * \return what a program sets
 */
Experiment
LossyIrn()
{
    Experiment experiment;
    experiment.topology = Star(33, "100Gbps");
    experiment.control = {{"CongestionControl", "none"}};
    experiment.hosts = {{"Recovery", "selective_repeat"},
                        {"Timeout", "320us"},
                        {"TimeoutLow", "100us"},
                        {"TimeoutLowPackets", "3"}};
    experiment.switches = {{"Mode", "lossy"}, {"Buffer", "1MB"}};
    return experiment;
}

/**
 * \brief Two hosts that know nothing of telemetry beside two that do, in classes of their own.
 * \return what a program sets
 */
Experiment
QosClasses()
{
    Experiment experiment;
    experiment.topology = Star(5, "100Gbps");
    experiment.telemetry = "paper";
    experiment.control = {{"CongestionControl", "hpcc_plus"}, {"HpccPlusExpectedFlows", "10"}};
    const Attributes legacy{{"CongestionControl", "none"},
                            {"TelemetryPackets", "none"},
                            {"TelemetryAnswer", "none"}};
    experiment.others = {{0, legacy}, {1, legacy}};
    experiment.switches = {{"PfcPriorities", "3, 4"},
                           {"TelemetryScope", "queue"},
                           {"Classes", "3:3000, 4:1000"}};
    return experiment;
}

/**
 * \brief Hosts of two racks, of which one takes what arrives slowly.
 * \return what a program sets
 */
Experiment
SlowReceiver()
{
    Experiment experiment;
    experiment.topology = LeafSpine(2, 2, 8, "100Gbps", "400Gbps");
    experiment.control = {{"CongestionControl", "hpcc"}};
    experiment.others = {
        {8, {{"ReceiveSlow", "hosts"}, {"ReceiveRate", "40Gbps"}, {"ReceiveBuffer", "300KB"}}}};
    experiment.switches = {{"Buffer", "6MB"}};
    return experiment;
}

/**
 * \brief Sixteen hosts answer one that others send to.
 * \return what a program sets
 */
Experiment
Quickstart()
{
    Experiment experiment;
    experiment.topology = Star(20, "100Gbps");
    experiment.telemetry = "reference";
    experiment.control = {{"CongestionControl", "hpcc"},
                          {"HpccEta", "0.95"},
                          {"HpccMaxStage", "5"},
                          {"HpccAdditiveIncrease", "50Mbps"}};
    experiment.switches = {{"Buffer", "32MiB"}};
    return experiment;
}

/**
 * \brief Two flows over RoCEv2, of which one ends.
 * \return what a program sets
 */
Experiment
DumbbellLeave()
{
    Experiment experiment;
    experiment.topology = Star(3, "100Gbps");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "ioam";
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    return experiment;
}

/**
 * \brief DCTCP in a small and slow fat tree.
 * \return what a program sets
 */
Experiment
FatTree64()
{
    Experiment experiment;
    experiment.topology = FatTree({4, 2, 2, 2, 8}, "10Gbps", "40Gbps");
    experiment.wireProfile = "rocev2_ipv6";
    experiment.telemetry = "none";
    experiment.control = {{"CongestionControl", "dctcp"},
                          {"DctcpAdditiveIncrease", "100Mbps"},
                          {"DctcpMinRate", "10Mbps"}};
    experiment.hosts = {{"Mtu", "1400B"}};
    experiment.switches = {{"Buffer", "8MB"}};
    return experiment;
}

/**
 * \brief HPCC in the paper's fat tree, with or without incasts.
 * \return what a program sets
 */
Experiment
PaperFatTree()
{
    Experiment experiment;
    experiment.topology = FatTree(LARGE_TREE, "100Gbps", "400Gbps");
    experiment.control = {{"CongestionControl", "hpcc"}};
    experiment.hosts = {{"BaseRtt", "13us"}};
    experiment.switches = {{"Buffer", "32MB"}};
    return experiment;
}

/**
 * \brief A flow along a row of switches.
 * \return what a program sets
 */
Experiment
LongPath()
{
    Experiment experiment;
    experiment.topology = ParkingLot(5, "25Gbps");
    experiment.telemetry = "none";
    experiment.control = {{"CongestionControl", "dctcp"}};
    experiment.hosts = {{"Mtu", "1000B"}};
    return experiment;
}

/**
 * \brief DCQCN at 230 hosts of a cluster, with or without incasts.
 * \return what a program sets
 */
Experiment
Pod230()
{
    Experiment experiment;
    experiment.topology = LeafSpine(10, 4, 23, "25Gbps", "100Gbps");
    experiment.control = {{"CongestionControl", "dcqcn"}, {"DcqcnAlphaInterval", "1us"}};
    experiment.switches = {{"Buffer", "16MB"}};
    return experiment;
}

/**
 * \brief HPCC++ with the parameters of the HPCC paper.
 * \param hosts how many
 * \param maxStage rounds of additive increase
 * \return what a program sets
 */
Experiment
PaperStar(uint32_t hosts, const std::string& maxStage)
{
    Experiment experiment;
    experiment.topology = Star(hosts, "100Gbps");
    experiment.telemetry = "paper";
    experiment.control = {{"CongestionControl", "hpcc_plus"},
                          {"HpccPlusEta", "0.95"},
                          {"HpccPlusMaxStage", maxStage}};
    return experiment;
}

/**
 * \brief Sixteen hosts send to one.
 * \return what a program sets
 */
Experiment
StarIncast()
{
    Experiment experiment = PaperStar(17, "5");
    experiment.control["HpccPlusAdditiveIncrease"] = "25B";
    experiment.hosts = {{"Mtu", "1KB"}};
    return experiment;
}

/**
 * \brief Three hosts join one that sends.
 * \return what a program sets
 */
Experiment
StarJoin()
{
    Experiment experiment = PaperStar(5, "0");
    experiment.control["HpccPlusAdditiveIncrease"] = "25B";
    experiment.hosts = {{"Mtu", "1000B"}};
    return experiment;
}

/**
 * \brief Two hosts send to one.
 * \return what a program sets
 */
Experiment
StarTwo()
{
    return PaperStar(3, "5");
}

/**
 * \brief Hosts of the paper's testbed at one switch.
 * \param hosts how many
 * \return what a program sets
 */
Experiment
Testbed(uint32_t hosts)
{
    Experiment experiment;
    experiment.topology = Star(hosts, "25Gbps");
    experiment.wireProfile = "rocev2_ipv4";
    experiment.telemetry = "paper";
    experiment.control = {{"CongestionControl", "hpcc_plus"}};
    experiment.hosts = {{"BaseRtt", "9us"}};
    return experiment;
}

/**
 * \brief The paper's testbed: hosts with two links.
 * \return what a program sets
 */
Experiment
TestbedPod()
{
    Experiment experiment;
    experiment.topology = DualHomed(2, 16, "25Gbps", "100Gbps");
    experiment.control = {{"CongestionControl", "hpcc"}, {"HpccAdditiveIncrease", "28Mbps"}};
    experiment.hosts = {{"BaseRtt", "9us"}};
    return experiment;
}

/// Makes what stands for a scenario.
using Maker = std::function<Experiment()>;

/// What stands for each scenario. Where the same stands for several, they differ in their flows.
const std::map<std::string, Maker> SCENARIOS{
    {"attacked-rocev2", AttackedRocev2},
    {"distance-rocev2", DistanceRocev2},
    {"fairness-rocev2", FairnessRocev2},
    {"fast-cnp-cable", FastCnpCable},
    {"fat-tree-websearch", FatTreeWebsearch},
    {"incast-rocev2", IncastRocev2},
    {"leaf-spine-hadoop", LeafSpineHadoop},
    {"leaf-spine-incast-rocev2", LeafSpineIncastRocev2},
    {"leaf-spine-rocev2", LeafSpineRocev2},
    {"leaf-spine-websearch", LeafSpineRocev2},
    {"long-path-rocev2", LongPathRocev2},
    {"lossy-irn", LossyIrn},
    {"paths-rocev2", PathsRocev2},
    {"qos-classes", QosClasses},
    {"quickstart", Quickstart},
    {"slow-receiver", SlowReceiver},
    {"dumbbell-leave", DumbbellLeave},
    {"fat-tree", PaperFatTree},
    {"fat-tree-64", FatTree64},
    {"fat-tree-incast", PaperFatTree},
    {"long-path", LongPath},
    {"pod-230", Pod230},
    {"pod-230-quiet", Pod230},
    {"star-incast", StarIncast},
    {"star-join", StarJoin},
    {"star-two", StarTwo},
    {"testbed-fairness", [] { return Testbed(5); }},
    {"testbed-incast", [] { return Testbed(9); }},
    {"testbed-mice", [] { return Testbed(4); }},
    {"testbed-pod", TestbedPod},
    {"testbed-star", [] { return Testbed(9); }},
};

} // namespace

Experiment
FindScenario(const std::string& name)
{
    const auto found = SCENARIOS.find(name);
    NS_ABORT_MSG_IF(found == SCENARIOS.end(), "there is no scenario \"" << name << "\" here");
    return found->second();
}

std::vector<std::string>
ListScenarios()
{
    std::vector<std::string> names;
    for (const auto& scenario : SCENARIOS)
    {
        names.push_back(scenario.first);
    }
    return names;
}

} // namespace byhand
} // namespace ns3
