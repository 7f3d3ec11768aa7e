/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "sweeps.h"

#include "scenarios.h"

#include "ns3/core-module.h"

#include <initializer_list>

namespace ns3
{
namespace byhand
{

namespace
{

/// What a run sets in another way than the scenario that it starts from.
using Change = std::function<void(Experiment&)>;
/// Changes by name.
using Changes = std::map<std::string, Change>;

/// A sweep.
struct Sweep
{
    std::string base; //!< the scenario that all runs start from
    Changes variants; //!< what makes each variant
    Changes steps{};  //!< what makes each step of the axis; none without an axis
    Change quick{};   //!< what makes the quick form; empty if there is none
};

/// As the scenario. Its flows may differ, which are not set here.
const Change AS_IT_IS = [](Experiment&) {};

/**
 * \brief Change nothing but attributes of the congestion control.
 * \param attributes what is set
 * \return the change
 */
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

/**
 * \brief Run another congestion control.
 * \param attributes its name, and what is set of it
 * \return the change
 */
Change
OtherControl(const Attributes& attributes)
{
    return [attributes](Experiment& experiment) { experiment.control = attributes; };
}

/**
 * \brief Use another layout of telemetry.
 * \param layout the layout
 * \return the change
 */
Change
Telemetry(const std::string& layout)
{
    return [layout](Experiment& experiment) { experiment.telemetry = layout; };
}

/**
 * \brief Use another layout of telemetry, with room for some hops.
 * \param layout the layout
 * \param hops how many
 * \return the change
 */
Change
Telemetry(const std::string& layout, const std::string& hops)
{
    return [layout, hops](Experiment& experiment) {
        experiment.telemetry = layout;
        experiment.nodes = {{"TelemetryHops", hops}};
    };
}

/**
 * \brief Set attributes of hosts.
 * \param attributes the attributes
 * \return the change
 */
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

/**
 * \brief Set attributes of switches.
 * \param attributes the attributes
 * \return the change
 */
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

/**
 * \brief Have switches notify senders.
 * \param attributes what they do in another way than by default
 * \return the change
 */
Change
FastCnp(const Attributes& attributes = {})
{
    return [attributes](Experiment& experiment) {
        experiment.fastCnp = {{"Enabled", "true"}};
        experiment.fastCnpSwitches = attributes;
    };
}

/**
 * \brief Make several changes, one after the other.
 * \param changes the changes
 * \return all of them
 */
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

// What several sweeps share.

/// The presets of the authors' simulator for DCQCN.
const Change DCQCN = OtherControl({{"CongestionControl", "dcqcn"}, {"DcqcnAlphaInterval", "1us"}});
/// DCQCN in place of HPCC++: marks come back in packets of their own, and nothing else does.
const Change DCQCN_ALONE =
    All({DCQCN, Hosts({{"CongestionNotification", "cnp"}}), Telemetry("none")});
/// DCQCN as in its paper.
const Change PAPER_DCQCN =
    All({OtherControl({{"CongestionControl", "dcqcn"}, {"DcqcnAlphaInterval", "55us"}}),
         Hosts({{"CongestionNotification", "cnp"}})});
const Change HPCC_PINT = OtherControl({{"CongestionControl", "hpcc_pint"}}); //!< HPCC-PINT
const Change TIMELY = OtherControl({{"CongestionControl", "timely"}});       //!< TIMELY
const Change DCTCP = OtherControl({{"CongestionControl", "dctcp"}});         //!< DCTCP
const Change WITH_WINDOW = Hosts({{"Window", "true"}});                      //!< with a window
const Change WITH_CNPS = Hosts({{"CongestionNotification", "cnp"}});         //!< with CNPs
/// Every update is multiplicative.
const Change MAX_STAGE_0 = Control({{"HpccMaxStage", "0"}});
/// What a lossy network needs for IRN.
const Change IRN =
    Hosts({{"Recovery", "selective_repeat"}, {"Timeout", "320us"}, {"TimeoutLow", "100us"}});
const Change LOSSY = Switches({{"Mode", "lossy"}}); //!< switches drop

/// Two pods of two racks with eight hosts each, in place of 320 hosts.
const Change SMALL_TREE = [](Experiment& experiment) {
    experiment.topology = FatTree({2, 2, 2, 2, 8}, "100Gbps", "400Gbps");
};
/// Four racks with eight hosts each, in place of 230 hosts.
const Change FOUR_RACKS = [](Experiment& experiment) {
    experiment.topology = LeafSpine(4, 2, 8, "25Gbps", "100Gbps");
};

/**
 * \brief Run with several loads, of which only flows know.
 * \param loads the loads
 * \return the steps
 */
Changes
Loads(std::initializer_list<std::string> loads)
{
    Changes steps;
    for (const std::string& load : loads)
    {
        steps["load-" + load] = AS_IT_IS;
    }
    return steps;
}

/**
 * \brief Run with cables of several lengths.
 * \param distances their delays
 * \return the steps
 */
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

// The sweeps of configs/, by the names of their files.

/**
 * \brief Have node 2, 3, 4 or 5 attack the flow of host 0.
 * \param kind what the attacker does
 * \param node the attacker
 * \param settings the rest
 * \return the change
 */
Change
Attacked(const std::string& kind, uint32_t node, const Attributes& settings)
{
    Attributes all{{"victims", "0"}};
    all.insert(settings.begin(), settings.end());
    return [attack = Attack{kind, node, all}](Experiment& experiment) {
        experiment.attacks = {attack};
    };
}

/**
 * \brief Alter what comes back from 100 us on.
 * \param kind what the attacker does
 * \param node the attacker
 * \param claim how loaded it says that links are
 * \return the change
 */
Change
Altered(const std::string& kind, uint32_t node, const std::string& claim)
{
    return Attacked(kind, node, {{"start", "100us"}, {"claim", claim}});
}

/**
 * \brief Forbid notifications.
 * \param experiment what a program sets
 */
void
ForbidFastCnp(Experiment& experiment)
{
    experiment.fastCnp = {{"Enabled", "false"}};
    experiment.fastCnpSwitches.clear();
}

/**
 * \return what makes each variant of attacks.toml
 */
Changes
Attacks()
{
    const Change calm = [](Experiment& experiment) { experiment.attacks.clear(); };
    const Attributes from100{{"start", "100us"}};
    const Attributes asSwitch{{"start", "100us"}, {"pretends", "4"}};
    const Change forged = Attacked("forged_fast_cnp", 2, asSwitch);
    Attributes withRecords = asSwitch;
    withRecords["records"] = "true";
    const Change forgedRecords = Attacked("forged_fast_cnp", 5, withRecords);
    Attributes fast = asSwitch;
    fast["rate"] = "100Gbps";
    const Change flooded = Attacked("flooded_fast_cnp", 2, fast);
    const Change replayed = Attacked("replayed_fast_cnp", 4, from100);
    const Change icmpv6 = Attacked("spoofed_icmpv6", 2, from100);
    const Change busy = Altered("tampered_feedback", 5, "busy");
    const Change idle = Altered("tampered_feedback", 5, "idle");
    const Change lying = Altered("lying_feedback", 3, "idle");
    const Change stripped = Attacked("stripped_feedback", 5, {});

    const Change interval = [](Experiment& experiment) {
        experiment.fastCnpHosts = {{"AcceptInterval", "1ms"}};
    };
    const Change border = [](Experiment& experiment) { experiment.borders = {{4, 2}}; };
    const Change guard = Hosts({{"TelemetryGuard", "true"}});
    const Change seal = Hosts({{"TelemetrySeal", "00112233445566778899aabbccddeeff"}});
    const Change plain = Telemetry("int_md", "3");
    const Change dcqcn = OtherControl({{"CongestionControl", "dcqcn"}});
    return {
        {"calm", calm},
        {"calm-interval", All({calm, interval})},
        {"calm-seal", All({calm, seal})},
        {"calm-guard", All({calm, guard})},
        {"forged-own-name", Attacked("forged_fast_cnp", 2, from100)},
        {"forged", forged},
        {"forged-interval", All({forged, interval})},
        {"forged-border", All({forged, border})},
        {"forged-records", forgedRecords},
        {"forged-records-guard", All({forgedRecords, guard})},
        {"forged-records-seal", All({forgedRecords, seal})},
        {"replayed-records", replayed},
        {"calm-plain", All({calm, plain})},
        {"replayed", All({replayed, plain})},
        {"replayed-interval", All({replayed, plain, interval})},
        {"flooded", flooded},
        {"flooded-interval", All({flooded, interval})},
        {"flooded-border", All({flooded, border})},
        {"icmpv6", icmpv6},
        {"calm-dcqcn", All({calm, dcqcn})},
        {"calm-dcqcn-interval", All({calm, dcqcn, interval})},
        {"icmpv6-dcqcn", All({icmpv6, dcqcn})},
        {"icmpv6-dcqcn-border", All({icmpv6, dcqcn, border})},
        {"busy", busy},
        {"busy-guard", All({busy, guard})},
        {"busy-seal", All({busy, seal})},
        {"calm-no-fast-cnp", All({calm, ForbidFastCnp})},
        {"idle", All({idle, ForbidFastCnp})},
        {"idle-guard", All({idle, ForbidFastCnp, guard})},
        {"idle-seal", All({idle, ForbidFastCnp, seal})},
        {"idle-fast-cnp", idle},
        {"lying", All({lying, ForbidFastCnp})},
        {"lying-guard", All({lying, ForbidFastCnp, guard})},
        {"lying-seal", All({lying, ForbidFastCnp, seal})},
        {"lying-fast-cnp", lying},
        {"stripped", All({stripped, ForbidFastCnp})},
        {"stripped-guard", All({stripped, ForbidFastCnp, guard})},
        {"stripped-seal", All({stripped, ForbidFastCnp, seal})},
        {"stripped-by-receiver", All({Attacked("stripped_feedback", 3, {}), ForbidFastCnp})},
        {"stripped-fast-cnp", stripped},
    };
}

/**
 * \return what makes each variant of controllers.toml
 */
Changes
Controllers()
{
    return {
        {"hpcc", AS_IT_IS},
        {"hpcc-pint", HPCC_PINT},
        {"dcqcn-window", All({OtherControl({{"CongestionControl", "dcqcn"}}), WITH_WINDOW})},
        {"timely-window", All({TIMELY, WITH_WINDOW})},
        {"dctcp", DCTCP},
    };
}

/**
 * \return what makes each variant of hpcc-modes-*.toml
 */
Changes
HpccModes()
{
    const Attributes receiver{{"CongestionControl", "rx_hpcc"}, {"RxHpccExpectedFlows", "100"}};
    Attributes counting = receiver;
    counting["RxHpccCountFlows"] = "true";
    return {
        {"every-packet", AS_IT_IS},
        {"delayed-acks", Hosts({{"AckEvery", "16KB"}})},
        {"notifications", Hosts({{"TelemetryFeedback", "notification"}})},
        {"every-8th", Hosts({{"TelemetryPackets", "nth"}, {"TelemetryEvery", "8"}})},
        {"on-congestion", Hosts({{"TelemetryPackets", "congestion"}})},
        {"once-per-rtt", Hosts({{"TelemetryPackets", "rtt"}})},
        {"probes", Hosts({{"TelemetryPackets", "probes"}})},
        {"probes-busiest-link",
         Hosts({{"TelemetryPackets", "probes"}, {"TelemetryAnswer", "busiest_link"}})},
        {"receiver", All({OtherControl(receiver), Telemetry("paper")})},
        {"receiver-counts", All({OtherControl(counting), Telemetry("paper")})},
    };
}

/**
 * \param hops room for how many hops telemetry has
 * \return what makes each variant of notifications-*.toml but for that of distance
 */
Changes
Notifications(const std::string& hops)
{
    const Change plus = Telemetry("ioam", hops);
    const Attributes byLoad{{"Trigger", "utilisation"}, {"Bound", "1.0"}};
    return {
        {"dcqcn", PAPER_DCQCN},
        {"dcqcn-fast-cnp", All({PAPER_DCQCN, FastCnp()})},
        {"hpcc-plus", plus},
        {"hpcc-plus-fast-cnp", All({plus, FastCnp()})},
        {"hpcc-plus-fast-cnp-u", All({plus, FastCnp(byLoad)})},
    };
}

/**
 * \return what makes each variant of notifications-long-path.toml
 */
Changes
NotificationsLongPath()
{
    Changes changes = Notifications("2");
    changes["hpcc-plus-fast-cnp-u-20us"] = All({
        changes["hpcc-plus"],
        FastCnp({{"Trigger", "utilisation"}, {"Bound", "1.0"}, {"LoadInterval", "20us"}}),
    });
    return changes;
}

/// Telemetry is off, its room as well.
const Change NO_TELEMETRY = [](Experiment& experiment) {
    experiment.telemetry = "none";
    experiment.nodes.clear();
};

/**
 * \return what makes each variant of notifications-distance.toml
 */
Changes
NotificationsDistance()
{
    const Change rxHpcc = OtherControl({{"CongestionControl", "rx_hpcc"}});
    return {
        {"dcqcn", All({PAPER_DCQCN, NO_TELEMETRY})},
        {"dcqcn-fast-cnp", All({PAPER_DCQCN, NO_TELEMETRY, FastCnp()})},
        {"hpcc-plus", AS_IT_IS},
        {"hpcc-plus-fast-cnp", FastCnp()},
        {"hpcc-plus-probes-fast-cnp", All({Hosts({{"TelemetryPackets", "probes"}}), FastCnp()})},
        {"rx-hpcc-fast-cnp", All({rxHpcc, FastCnp()})},
    };
}

/**
 * \return what makes each variant of reactions.toml
 */
Changes
Reactions()
{
    return {
        {"drafts", AS_IT_IS},
        {"once-per-rtt", Control({{"HpccPlusReact", "rtt"}})},
        {"every-ack-alone", Control({{"HpccPlusReact", "ack"}})},
        {"arrivals", Control({{"HpccPlusLinkRate", "rx"}})},
    };
}

/**
 * \return what makes each variant of records.toml
 */
Changes
Records()
{
    const Change intMd = Telemetry("int_md");
    const Change delayed = All({Telemetry("int_md", "5"), Hosts({{"AckEvery", "12KB"}})});
    return {
        {"all", intMd},
        {"switches-interval", All({intMd, Switches({{"TelemetryRecords", "interval"}})})},
        {"switches-congestion", All({intMd, Switches({{"TelemetryRecords", "congestion"}})})},
        {"every-8th", All({intMd, Hosts({{"TelemetryPackets", "nth"}, {"TelemetryEvery", "8"}})})},
        {"delayed-acks", delayed},
        {"delayed-acks-accumulated", All({delayed, Hosts({{"TelemetryRecordsPerAck", "12"}})})},
    };
}

/**
 * \return what makes each variant of telemetry-formats.toml
 */
Changes
TelemetryFormats()
{
    const Change noRecords = [](Experiment& experiment) { experiment.telemetry.clear(); };
    return {
        {"pint", All({HPCC_PINT, noRecords})},
        {"paper", Telemetry("paper")},
        {"ioam-slim", Telemetry("ioam_slim", "3")},
        {"int-md", Telemetry("int_md")},
        {"ifa", Telemetry("ifa")},
        {"ioam-3", Telemetry("ioam", "3")},
        {"ioam-8", Telemetry("ioam", "8")},
    };
}

// The sweeps of configs/paper/, by the names of their files.

/**
 * \return what makes each variant of fig11*.toml
 */
Changes
Schemes()
{
    return {
        {"DCQCN", DCQCN},
        {"TIMELY", TIMELY},
        {"DCQCN+win", All({DCQCN, WITH_WINDOW})},
        {"TIMELY+win", All({TIMELY, WITH_WINDOW})},
        {"DCTCP", DCTCP},
        {"HPCC", AS_IT_IS},
    };
}

/**
 * \return what makes each variant of fig12.toml
 */
Changes
LossRecovery()
{
    return {
        {"HPCC-PFC", AS_IT_IS},
        {"HPCC-GBN", LOSSY},
        {"HPCC-IRN", All({LOSSY, IRN})},
        {"DCQCN-PFC", DCQCN},
        {"DCQCN-GBN", All({DCQCN, LOSSY})},
        {"DCQCN-IRN", All({DCQCN, LOSSY, IRN})},
    };
}

/**
 * \brief Set the timers of DCQCN.
 * \param increase from increase to increase
 * \param decrease from decrease to decrease
 * \return the change
 */
Change
Timers(const std::string& increase, const std::string& decrease)
{
    return Control({{"DcqcnIncreaseInterval", increase}, {"DcqcnDecreaseInterval", decrease}});
}

const Change TI_55 = Timers("55us", "50us");                         //!< quick increases
const Change TI_900 = Timers("900us", "4us");                        //!< slow increases
const Change SLOW_ALPHA = Control({{"DcqcnAlphaInterval", "55us"}}); //!< a slower alpha
const Change LARGE_BUFFER = Switches({{"Buffer", "64MB"}});          //!< more memory

/**
 * \return what makes each variant of fig2*.toml
 */
Changes
TimersOfFigure2()
{
    return {
        {"Ti55-Td50", TI_55},
        {"Ti300-Td4", Timers("300us", "4us")},
        {"Ti900-Td4", TI_900},
    };
}

/**
 * \return what makes each variant of why-fig2a.toml
 */
Changes
WhyFigure2a()
{
    return {
        {"Ti55-presets", TI_55},
        {"Ti900-presets", TI_900},
        {"Ti55-alpha", All({TI_55, SLOW_ALPHA})},
        {"Ti900-alpha", All({TI_900, SLOW_ALPHA})},
        {"Ti55-CNP", All({TI_55, WITH_CNPS})},
        {"Ti900-CNP", All({TI_900, WITH_CNPS})},
        {"Ti55-alpha-CNP", All({TI_55, SLOW_ALPHA, WITH_CNPS})},
        {"Ti900-alpha-CNP", All({TI_900, SLOW_ALPHA, WITH_CNPS})},
    };
}

/**
 * \return what makes each variant of why-fig2b.toml
 */
Changes
WhyFigure2b()
{
    return {
        {"Ti55-alpha", All({TI_55, SLOW_ALPHA})},
        {"Ti900-alpha", All({TI_900, SLOW_ALPHA})},
        {"Ti55-alpha-CNP", All({TI_55, SLOW_ALPHA, WITH_CNPS})},
        {"Ti900-alpha-CNP", All({TI_900, SLOW_ALPHA, WITH_CNPS})},
        {"Ti55-presets-64MB", All({TI_55, LARGE_BUFFER})},
        {"Ti900-presets-64MB", All({TI_900, LARGE_BUFFER})},
    };
}

/**
 * \brief Set when switches mark.
 * \param kmin up to here never, at 100 Gb/s
 * \param kmax above that always, at 100 Gb/s
 * \return the change
 */
Change
Marks(const std::string& kmin, const std::string& kmax)
{
    return Switches({{"EcnKmin", kmin}, {"EcnKmax", kmax}});
}

const Change K_400 = Marks("1600KB", "6400KB"); //!< at 25 Gb/s 400 kB and 1600 kB
const Change K_12 = Marks("48KB", "200KB");     //!< at 25 Gb/s 12 kB and 50 kB

/**
 * \return what makes each variant of fig3.toml
 */
Changes
MarksOfFigure3()
{
    return {
        {"K-400-1600", K_400},
        {"K-100-400", Marks("400KB", "1600KB")},
        {"K-12-50", K_12},
    };
}

/**
 * \return what makes each variant of why-fig3.toml
 */
Changes
WhyFigure3()
{
    return {
        {"K400-presets", K_400},
        {"K12-presets", K_12},
        {"K400-presets-64MB", All({K_400, LARGE_BUFFER})},
        {"K12-presets-64MB", All({K_12, LARGE_BUFFER})},
        {"K400-alpha", All({K_400, SLOW_ALPHA})},
        {"K12-alpha", All({K_12, SLOW_ALPHA})},
        {"K400-alpha-CNP", All({K_400, SLOW_ALPHA, WITH_CNPS})},
        {"K12-alpha-CNP", All({K_12, SLOW_ALPHA, WITH_CNPS})},
    };
}

/**
 * \brief Add so much in a round.
 * \param bytes how much
 * \return the change
 */
Change
Adding(const std::string& bytes)
{
    return Control({{"HpccPlusAdditiveIncrease", bytes}});
}

/// DCQCN in the testbed of the paper.
const Change TESTBED_DCQCN = OtherControl({{"CongestionControl", "dcqcn"},
                                           {"DcqcnAlphaInterval", "1us"},
                                           {"DcqcnAdditiveIncrease", "20Mbps"}});

/**
 * \return what makes each variant of why-fig10.toml
 */
Changes
WhyFigure10()
{
    const Change onePort = [](Experiment& experiment) {
        experiment.topology = LeafSpine(4, 1, 8, "25Gbps", "100Gbps");
    };
    const Change calm = Control({{"DcqcnIncreaseInterval", "55us"},
                                 {"DcqcnDecreaseInterval", "50us"},
                                 {"DcqcnAlphaInterval", "55us"}});
    return {
        {"HPCC-maxStage0", MAX_STAGE_0},
        {"HPCC-maxStage0-one-port", All({MAX_STAGE_0, onePort})},
        {"DCQCN-CNP", All({TESTBED_DCQCN, WITH_CNPS})},
        {"DCQCN-alpha-CNP", All({TESTBED_DCQCN, calm, WITH_CNPS})},
    };
}

/**
 * \brief Aim at another utilisation.
 * \param eta the utilisation
 * \return the change
 */
Change
Eta(const std::string& eta)
{
    return Control({{"HpccMaxStage", "0"}, {"HpccEta", eta}});
}

/**
 * \brief HPCC-PINT that looks at some acknowledgements only.
 * \param probability how many
 * \return the change
 */
Change
SampledPint(const std::string& probability)
{
    return OtherControl(
        {{"CongestionControl", "hpcc_pint"}, {"HpccPintSampleProbability", probability}});
}

/// HPCC++ of a testbed, and DCQCN there.
const Changes HPCC_OR_DCQCN{{"HPCC", AS_IT_IS}, {"DCQCN", DCQCN_ALONE}};

/// Less memory for fewer hosts.
const Change FOUR_RACKS_4MB = All({FOUR_RACKS, Switches({{"Buffer", "4MB"}})});

/**
 * \return all sweeps of configs/
 */
std::map<std::string, Sweep>
OwnSweeps()
{
    return {
        {"attacks", {"attacked-rocev2", Attacks()}},
        {"controllers", {"leaf-spine-hadoop", Controllers()}},
        {"hpcc-modes-fairness", {"fairness-rocev2", HpccModes()}},
        {"hpcc-modes-incast", {"incast-rocev2", HpccModes()}},
        {"hpcc-modes-websearch", {"leaf-spine-websearch", HpccModes()}},
        {"notifications-distance",
         {"distance-rocev2",
          NotificationsDistance(),
          Distances({"1us", "10us", "100us", "1ms", "10ms"})}},
        {"notifications-incast", {"incast-rocev2", Notifications("3")}},
        {"notifications-leaf-spine", {"leaf-spine-incast-rocev2", Notifications("3")}},
        {"notifications-long-path", {"long-path-rocev2", NotificationsLongPath()}},
        {"reactions", {"fairness-rocev2", Reactions()}},
        {"records", {"leaf-spine-websearch", Records()}},
        {"telemetry-formats",
         {"leaf-spine-rocev2", TelemetryFormats(), Loads({"0.3", "0.5", "0.7"})}},
    };
}

/**
 * \return the sweeps of configs/paper/ at a single switch, or along a row of them
 */
std::map<std::string, Sweep>
SmallFigures()
{
    const Change stage0 = Control({{"HpccPlusMaxStage", "0"}});
    const Change stage5 = Control({{"HpccPlusMaxStage", "5"}});
    return {
        {"appendix-convergence",
         {"star-join",
          {{"join", AS_IT_IS}, {"burst", AS_IT_IS}, {"burst-maxStage-5", stage5}},
          {},
          AS_IT_IS}},
        {"appendix-equilibrium",
         {"star-incast",
          {{"Wai-25B", All({stage0, Adding("25B")})},
           {"Wai-100B", All({stage0, Adding("100B")})},
           {"Wai-150B", All({stage0, Adding("150B")})},
           {"Wai-300B", All({stage0, Adding("300B")})}},
          {},
          AS_IT_IS}},
        {"appendix-fairness",
         {"star-join",
          {{"Wai-25B", AS_IT_IS},
           {"Wai-50B", Adding("50B")},
           {"Wai-100B", Adding("100B")},
           {"Wai-200B", Adding("200B")},
           {"25B-packets-250B", Hosts({{"Mtu", "250B"}})},
           {"25B-packets-4000B", Hosts({{"Mtu", "4000B"}})},
           {"25B-INT-MD", Telemetry("int_md")}},
          {},
          AS_IT_IS}},
        {"draft-convergence",
         {"dumbbell-leave",
          {{"HPCC-plus", AS_IT_IS}, {"alone", AS_IT_IS}, {"DCQCN", DCQCN_ALONE}},
          {},
          AS_IT_IS}},
        {"draft-fast-cnp",
         {"distance-rocev2",
          {{"receiver", All({PAPER_DCQCN, NO_TELEMETRY})},
           {"switch", All({PAPER_DCQCN, NO_TELEMETRY, FastCnp()})}},
          Distances({"1us", "100us", "1ms"}),
          AS_IT_IS}},
        {"fig13",
         {"star-incast",
          {{"per-ACK", Control({{"HpccPlusReact", "ack"}})},
           {"per-RTT", Control({{"HpccPlusReact", "rtt"}})},
           {"HPCC", AS_IT_IS}},
          {},
          AS_IT_IS}},
        {"fig14",
         {"star-incast",
          {{"Wai-25B", AS_IT_IS},
           {"Wai-50B", Adding("50B")},
           {"Wai-100B", Adding("100B")},
           {"Wai-150B", Adding("150B")},
           {"Wai-200B", Adding("200B")},
           {"Wai-300B", Adding("300B")}},
          {},
          AS_IT_IS}},
        {"fig6",
         {"star-two",
          {{"txRate", AS_IT_IS}, {"rxRate", Control({{"HpccPlusLinkRate", "rx"}})}},
          {},
          AS_IT_IS}},
        {"fig9ab", {"testbed-star", HPCC_OR_DCQCN, {}, AS_IT_IS}},
        {"fig9cd", {"testbed-incast", HPCC_OR_DCQCN, {}, AS_IT_IS}},
        {"fig9ef", {"testbed-mice", HPCC_OR_DCQCN, {}, AS_IT_IS}},
        {"fig9gh", {"testbed-fairness", HPCC_OR_DCQCN, {}, AS_IT_IS}},
        {"int-overhead",
         {"long-path",
          {{"none", AS_IT_IS},
           {"HPCC-42B", Telemetry("reference")},
           {"HPCC-growing", Telemetry("paper")},
           {"INT-MD", Telemetry("int_md")},
           {"IFA", Telemetry("ifa")},
           {"PINT", Telemetry("pint")}},
          {},
          AS_IT_IS}},
    };
}

/**
 * \return the other sweeps of configs/paper/
 */
std::map<std::string, Sweep>
LargeFigures()
{
    return {
        {"eta",
         {"fat-tree",
          {{"eta-0.95", MAX_STAGE_0}, {"eta-0.99", Eta("0.99")}, {"eta-1.5", Eta("1.5")}},
          {},
          SMALL_TREE}},
        {"fig10",
         {"testbed-pod",
          {{"HPCC", AS_IT_IS}, {"DCQCN", TESTBED_DCQCN}},
          Loads({"0.3", "0.5"}),
          AS_IT_IS}},
        {"fig11ab", {"fat-tree-incast", Schemes(), {}, SMALL_TREE}},
        {"fig11cd", {"fat-tree", Schemes(), {}, SMALL_TREE}},
        {"fig12", {"fat-tree-incast", LossRecovery(), {}, SMALL_TREE}},
        {"fig2a", {"pod-230-quiet", TimersOfFigure2(), {}, FOUR_RACKS_4MB}},
        {"fig2b", {"pod-230", TimersOfFigure2(), {}, FOUR_RACKS_4MB}},
        {"fig3", {"pod-230-quiet", MarksOfFigure3(), Loads({"0.3", "0.5"}), FOUR_RACKS_4MB}},
        {"overhead-fct",
         {"fat-tree-64",
          {{"none", AS_IT_IS},
           {"32B", Telemetry("ioam_slim", "1")},
           {"48B", Telemetry("ioam_slim", "2")},
           {"96B", Telemetry("ioam_slim", "5")}},
          Loads({"0.3", "0.7"}),
          AS_IT_IS}},
        {"pint-goodput",
         {"fat-tree",
          {{"INT", MAX_STAGE_0}, {"PINT", HPCC_PINT}},
          Loads({"0.5", "0.7"}),
          SMALL_TREE}},
        {"pint",
         {"fat-tree",
          {{"INT", MAX_STAGE_0},
           {"PINT-p1", HPCC_PINT},
           {"PINT-p1-16", SampledPint("0.0625")},
           {"PINT-p1-256", SampledPint("0.00390625")}},
          {},
          SMALL_TREE}},
        {"why-eta",
         {"fat-tree",
          {{"eta-0.95", MAX_STAGE_0},
           {"eta-1.1", Eta("1.1")},
           {"eta-1.5", Eta("1.5")},
           {"DCTCP", DCTCP},
           {"DCQCN", DCQCN},
           {"TIMELY", TIMELY}},
          {},
          SMALL_TREE}},
        {"why-fig10-load",
         {"testbed-pod",
          {{"HPCC", AS_IT_IS}, {"DCQCN", TESTBED_DCQCN}},
          Loads({"0.6", "1.0"}),
          AS_IT_IS}},
        {"why-fig10", {"testbed-pod", WhyFigure10(), Loads({"0.3", "0.5"}), AS_IT_IS}},
        {"why-fig2a", {"pod-230-quiet", WhyFigure2a(), {}, FOUR_RACKS}},
        {"why-fig2b", {"pod-230", WhyFigure2b(), {}, FOUR_RACKS}},
        {"why-fig3", {"pod-230-quiet", WhyFigure3(), {}, FOUR_RACKS}},
    };
}

/**
 * \brief Repeat faults of the reference simulator.
 * \param names their names
 * \return the change
 */
Change
Faults(const std::string& names)
{
    return [names](Experiment& experiment) { experiment.faults = names; };
}

/**
 * \return the sweeps of the quick start
 */
std::map<std::string, Sweep>
QuickStarts()
{
    const Change insertion = [](Experiment& experiment) { experiment.isCanonical = false; };
    // Telemetry is of what the controller reads.
    const Change none = All({OtherControl({{"CongestionControl", "none"}}), Telemetry("")});
    const Change dcqcn = All({OtherControl({{"CongestionControl", "dcqcn"}}), Telemetry("")});
    return {
        {"quickstart-changes",
         {"quickstart",
          {{"as-it-is", AS_IT_IS},
           {"none", none},
           {"dcqcn", dcqcn},
           {"eta-0.9", Control({{"HpccEta", "0.9"}})},
           {"increase-500Mbps", Control({{"HpccAdditiveIncrease", "500Mbps"}})}}}},
        {"reference-faults",
         {"quickstart",
          {{"correct", AS_IT_IS},
           {"correct-insertion", insertion},
           {"floored-times", Faults("floored_times")},
           {"missed-wakeups", Faults("missed_wakeups")},
           {"payload-base-rtt", Faults("payload_base_rtt")},
           {"rough-ideal-fct", Faults("rough_ideal_fct")},
           {"all", Faults("all")},
           {"all-insertion", All({Faults("all"), insertion})},
           {"dcqcn", dcqcn},
           {"dcqcn-notify-every-mark", All({dcqcn, Faults("notify_every_mark")})}}}},
    };
}

/**
 * \return all sweeps
 */
std::map<std::string, Sweep>
AllSweeps()
{
    std::map<std::string, Sweep> all = OwnSweeps();
    all.merge(QuickStarts());
    all.merge(SmallFigures());
    all.merge(LargeFigures());
    return all;
}

/**
 * \brief Find a change by its name. The program ends if there is none.
 * \param changes the changes
 * \param name the name
 * \param what what is looked for
 * \return the change
 */
const Change&
Find(const Changes& changes, const std::string& name, const std::string& what)
{
    const auto found = changes.find(name);
    NS_ABORT_MSG_IF(found == changes.end(), "there is no " << what << " \"" << name << "\" here");
    return found->second;
}

} // namespace

Experiment
FindRun(const Run& run)
{
    const std::map<std::string, Sweep> sweeps = AllSweeps();
    const auto found = sweeps.find(run.sweep);
    NS_ABORT_MSG_IF(found == sweeps.end(), "there is no sweep \"" << run.sweep << "\" here");
    const Sweep& sweep = found->second;
    Experiment experiment = FindScenario(sweep.base);
    if (run.isQuick)
    {
        NS_ABORT_MSG_UNLESS(sweep.quick, "the sweep " << run.sweep << " has no quick form");
        sweep.quick(experiment);
    }
    Find(sweep.variants, run.variant, "variant")(experiment);
    const Changes noAxis{{"", AS_IT_IS}};
    Find(sweep.steps.empty() ? noAxis : sweep.steps, run.step, "step")(experiment);
    return experiment;
}

} // namespace byhand
} // namespace ns3
