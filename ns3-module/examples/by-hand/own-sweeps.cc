/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "own-sweeps.h"

#include "attack-variants.h"

namespace ns3
{
namespace byhand
{

namespace
{

/**
 * \return what makes each variant of controllers.toml
 */
Changes
Controllers()
{
    return {
        {"hpcc", AsItIs},
        {"hpcc-pint", HpccPint},
        {"dcqcn-window", All({OtherControl({{"CongestionControl", "dcqcn"}}), WithWindow})},
        {"timely-window", All({Timely, WithWindow})},
        {"dctcp", Dctcp},
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
        {"every-packet", AsItIs},
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
        {"dcqcn", PaperDcqcn},
        {"dcqcn-fast-cnp", All({PaperDcqcn, FastCnp()})},
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

/**
 * \return what makes each variant of notifications-distance.toml
 */
Changes
NotificationsDistance()
{
    const Change rxHpcc = OtherControl({{"CongestionControl", "rx_hpcc"}});
    return {
        {"dcqcn", All({PaperDcqcn, NoTelemetry})},
        {"dcqcn-fast-cnp", All({PaperDcqcn, NoTelemetry, FastCnp()})},
        {"hpcc-plus", AsItIs},
        {"hpcc-plus-fast-cnp", FastCnp()},
        {"hpcc-plus-probes-fast-cnp", All({Hosts({{"TelemetryPackets", "probes"}}), FastCnp()})},
        {"rx-hpcc-fast-cnp", All({rxHpcc, FastCnp()})},
    };
}

/**
 * \return what makes each variant of paths.toml
 */
Changes
Paths()
{
    const Change dcqcn =
        All({OtherControl({{"CongestionControl", "dcqcn"}}), NoTelemetry, FastCnp()});
    const Change migrate = [](Experiment& experiment) {
        experiment.fastCnpHosts = {{"Migrate", "true"}, {"MigrateAfter", "2"}};
    };
    return {
        {"hpcc-plus", AsItIs},
        {"hpcc-plus-2-paths", Hosts({{"TelemetryPaths", "2"}})},
        {"hpcc-plus-4-paths", Hosts({{"TelemetryPaths", "4"}})},
        {"dcqcn", dcqcn},
        {"dcqcn-migrate", All({dcqcn, migrate})},
    };
}

/**
 * \return what makes each variant of slow-receivers.toml
 */
Changes
SlowReceivers()
{
    const auto control = [](const char* name) {
        return OtherControl({{"CongestionControl", name}});
    };
    const Change keepsUp = [](Experiment& experiment) { experiment.others.clear(); };
    return {
        {"hpcc", AsItIs},
        {"power-tcp", control("power_tcp")},
        {"swift", control("swift")},
        {"timely", control("timely")},
        {"dcqcn", control("dcqcn")},
        {"dctcp", control("dctcp")},
        {"window", control("none")},
        {"hpcc-keeps-up", keepsUp},
        {"dcqcn-keeps-up", All({control("dcqcn"), keepsUp})},
    };
}

/**
 * \return what makes each variant of link-failure.toml
 */
Changes
LinkFailures()
{
    const Time at = MilliSeconds(1);
    const Time until = MilliSeconds(2);
    return {
        {"intact", AsItIs},
        {"cut", Fail({{32, 36, at}, {32, 37, at}})},
        {"back-after-1ms", Fail({{32, 36, at, until}, {32, 37, at, until}})},
    };
}

/**
 * \return how many paths flows choose from in each step of link-failure.toml
 */
Changes
NumbersOfPaths()
{
    return {{"paths-1", AsItIs}, {"paths-4", Hosts({{"TelemetryPaths", "4"}})}};
}

/**
 * \return what makes each variant of deployment.toml
 */
Changes
Deployments()
{
    const Attributes blind{{"StampTelemetry", "false"}};
    const auto without = [](const char* control) {
        return Attributes{{"CongestionControl", control},
                          {"TelemetryPackets", "none"},
                          {"TelemetryAnswer", "none"}};
    };
    const std::vector<uint32_t> half{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27};
    return {
        {"all", AsItIs},
        {"blind-spines", Nodes({36, 37}, blind)},
        {"blind-leaves", Nodes({32, 33, 34, 35}, blind)},
        {"half-dcqcn", Nodes(half, without("dcqcn"))},
        {"half-dctcp", Nodes(half, without("dctcp"))},
        {"hidden", Switches({{"TelemetryHiddenFrom", "hosts"}})},
    };
}

/**
 * \return what makes each variant of reactions.toml
 */
Changes
Reactions()
{
    return {
        {"drafts", AsItIs},
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
        {"pint", All({HpccPint, noRecords})},
        {"paper", Telemetry("paper")},
        {"ioam-slim", Telemetry("ioam_slim", "3")},
        {"int-md", Telemetry("int_md")},
        {"ifa", Telemetry("ifa")},
        {"ioam-3", Telemetry("ioam", "3")},
        {"ioam-8", Telemetry("ioam", "8")},
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
Sweeps
QuickStarts()
{
    const Change insertion = [](Experiment& experiment) { experiment.isCanonical = false; };
    // Telemetry is of what the controller reads.
    const Change none = All({OtherControl({{"CongestionControl", "none"}}), Telemetry("")});
    const Change dcqcn = All({OtherControl({{"CongestionControl", "dcqcn"}}), Telemetry("")});
    return {
        {"quickstart-changes",
         {"quickstart",
          {{"as-it-is", AsItIs},
           {"none", none},
           {"dcqcn", dcqcn},
           {"eta-0.9", Control({{"HpccEta", "0.9"}})},
           {"increase-500Mbps", Control({{"HpccAdditiveIncrease", "500Mbps"}})}}}},
        {"reference-faults",
         {"quickstart",
          {{"correct", AsItIs},
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
 * \return the other sweeps
 */
Sweeps
ControlsAndTelemetry()
{
    return {
        {"attacks", {"attacked-rocev2", AttackVariants()}},
        {"controllers", {"leaf-spine-hadoop", Controllers()}},
        {"deployment", {"leaf-spine-rocev2", Deployments()}},
        {"hpcc-modes-fairness", {"fairness-rocev2", HpccModes()}},
        {"hpcc-modes-incast", {"incast-rocev2", HpccModes()}},
        {"hpcc-modes-websearch", {"leaf-spine-websearch", HpccModes()}},
        {"link-failure", {"paths-rocev2", LinkFailures(), NumbersOfPaths()}},
        {"notifications-distance",
         {"distance-rocev2",
          NotificationsDistance(),
          Distances({"1us", "10us", "100us", "1ms", "10ms"})}},
        {"notifications-incast", {"incast-rocev2", Notifications("3")}},
        {"notifications-leaf-spine", {"leaf-spine-incast-rocev2", Notifications("3")}},
        {"notifications-long-path", {"long-path-rocev2", NotificationsLongPath()}},
        {"paths", {"paths-rocev2", Paths()}},
        {"reactions", {"fairness-rocev2", Reactions()}},
        {"records", {"leaf-spine-websearch", Records()}},
        {"slow-receivers", {"slow-receiver", SlowReceivers()}},
        {"telemetry-formats",
         {"leaf-spine-rocev2", TelemetryFormats(), Loads({"0.3", "0.5", "0.7"})}},
    };
}

} // namespace

Sweeps
OwnSweeps()
{
    Sweeps all = QuickStarts();
    all.merge(ControlsAndTelemetry());
    return all;
}

} // namespace byhand
} // namespace ns3
