/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "attack-variants.h"

namespace ns3
{
namespace byhand
{

namespace
{

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

} // namespace

Changes
AttackVariants()
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

} // namespace byhand
} // namespace ns3
