/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "paper-sweeps.h"

namespace ns3
{
namespace byhand
{

namespace
{

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
 * \return what makes each variant of fig11*.toml
 */
Changes
Schemes()
{
    return {
        {"DCQCN", Dcqcn},
        {"TIMELY", Timely},
        {"DCQCN+win", All({Dcqcn, WithWindow})},
        {"TIMELY+win", All({Timely, WithWindow})},
        {"DCTCP", Dctcp},
        {"HPCC", AsItIs},
    };
}

/**
 * \return what makes each variant of fig12.toml
 */
Changes
LossRecovery()
{
    return {
        {"HPCC-PFC", AsItIs},
        {"HPCC-GBN", LOSSY},
        {"HPCC-IRN", All({LOSSY, IRN})},
        {"DCQCN-PFC", Dcqcn},
        {"DCQCN-GBN", All({Dcqcn, LOSSY})},
        {"DCQCN-IRN", All({Dcqcn, LOSSY, IRN})},
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
        {"Ti55-CNP", All({TI_55, WithCnps})},
        {"Ti900-CNP", All({TI_900, WithCnps})},
        {"Ti55-alpha-CNP", All({TI_55, SLOW_ALPHA, WithCnps})},
        {"Ti900-alpha-CNP", All({TI_900, SLOW_ALPHA, WithCnps})},
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
        {"Ti55-alpha-CNP", All({TI_55, SLOW_ALPHA, WithCnps})},
        {"Ti900-alpha-CNP", All({TI_900, SLOW_ALPHA, WithCnps})},
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
        {"K400-alpha-CNP", All({K_400, SLOW_ALPHA, WithCnps})},
        {"K12-alpha-CNP", All({K_12, SLOW_ALPHA, WithCnps})},
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
        {"HPCC-maxStage0", MaxStage0},
        {"HPCC-maxStage0-one-port", All({MaxStage0, onePort})},
        {"DCQCN-CNP", All({TESTBED_DCQCN, WithCnps})},
        {"DCQCN-alpha-CNP", All({TESTBED_DCQCN, calm, WithCnps})},
    };
}

/**
 * \return what makes each variant of why-fig11cd.toml
 */
Changes
WhyFigure11cd()
{
    return {
        {"HPCC", AsItIs},
        {"HPCC-eta1", Control({{"HpccEta", "1"}})},
        {"HPCC-maxStage0", MaxStage0},
        {"HPCC-Wai-500Mbps", Control({{"HpccAdditiveIncrease", "500Mbps"}})},
        {"DCQCN", Dcqcn},
        {"DCQCN-42B", All({Dcqcn, Telemetry("reference")})},
        {"DCQCN-alpha", All({Dcqcn, SLOW_ALPHA})},
        {"DCTCP", Dctcp},
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
const Changes HPCC_OR_DCQCN{{"HPCC", AsItIs}, {"DCQCN", DcqcnAlone}};

/// Less memory for fewer hosts.
const Change FOUR_RACKS_4MB = All({FOUR_RACKS, Switches({{"Buffer", "4MB"}})});

/**
 * \return the sweeps of configs/paper/ at a single switch, or along a row of them
 */
Sweeps
SmallFigures()
{
    const Change stage0 = Control({{"HpccPlusMaxStage", "0"}});
    const Change stage5 = Control({{"HpccPlusMaxStage", "5"}});
    return {
        {"appendix-convergence",
         {"star-join",
          {{"join", AsItIs}, {"burst", AsItIs}, {"burst-maxStage-5", stage5}},
          {},
          AsItIs}},
        {"appendix-equilibrium",
         {"star-incast",
          {{"Wai-25B", All({stage0, Adding("25B")})},
           {"Wai-100B", All({stage0, Adding("100B")})},
           {"Wai-150B", All({stage0, Adding("150B")})},
           {"Wai-300B", All({stage0, Adding("300B")})}},
          {},
          AsItIs}},
        {"appendix-fairness",
         {"star-join",
          {{"Wai-25B", AsItIs},
           {"Wai-50B", Adding("50B")},
           {"Wai-100B", Adding("100B")},
           {"Wai-200B", Adding("200B")},
           {"25B-packets-250B", Hosts({{"Mtu", "250B"}})},
           {"25B-packets-4000B", Hosts({{"Mtu", "4000B"}})},
           {"25B-INT-MD", Telemetry("int_md")}},
          {},
          AsItIs}},
        {"draft-convergence",
         {"dumbbell-leave",
          {{"HPCC-plus", AsItIs}, {"alone", AsItIs}, {"DCQCN", DcqcnAlone}},
          {},
          AsItIs}},
        {"draft-fast-cnp",
         {"distance-rocev2",
          {{"receiver", All({PaperDcqcn, NoTelemetry})},
           {"switch", All({PaperDcqcn, NoTelemetry, FastCnp()})}},
          Distances({"1us", "100us", "1ms"}),
          AsItIs}},
        {"fig13",
         {"star-incast",
          {{"per-ACK", Control({{"HpccPlusReact", "ack"}})},
           {"per-RTT", Control({{"HpccPlusReact", "rtt"}})},
           {"HPCC", AsItIs}},
          {},
          AsItIs}},
        {"fig14",
         {"star-incast",
          {{"Wai-25B", AsItIs},
           {"Wai-50B", Adding("50B")},
           {"Wai-100B", Adding("100B")},
           {"Wai-150B", Adding("150B")},
           {"Wai-200B", Adding("200B")},
           {"Wai-300B", Adding("300B")}},
          {},
          AsItIs}},
        {"fig6",
         {"star-two",
          {{"txRate", AsItIs}, {"rxRate", Control({{"HpccPlusLinkRate", "rx"}})}},
          {},
          AsItIs}},
        {"fig9ab", {"testbed-star", HPCC_OR_DCQCN, {}, AsItIs}},
        {"fig9cd", {"testbed-incast", HPCC_OR_DCQCN, {}, AsItIs}},
        {"fig9ef", {"testbed-mice", HPCC_OR_DCQCN, {}, AsItIs}},
        {"fig9gh", {"testbed-fairness", HPCC_OR_DCQCN, {}, AsItIs}},
        {"int-overhead",
         {"long-path",
          {{"none", AsItIs},
           {"HPCC-42B", Telemetry("reference")},
           {"HPCC-growing", Telemetry("paper")},
           {"INT-MD", Telemetry("int_md")},
           {"IFA", Telemetry("ifa")},
           {"PINT", Telemetry("pint")}},
          {},
          AsItIs}},
    };
}

/**
 * \return the other sweeps of configs/paper/
 */
Sweeps
LargeFigures()
{
    return {
        {"eta",
         {"fat-tree",
          {{"eta-0.95", MaxStage0}, {"eta-0.99", Eta("0.99")}, {"eta-1.5", Eta("1.5")}},
          {},
          SMALL_TREE}},
        {"fig10",
         {"testbed-pod",
          {{"HPCC", AsItIs}, {"DCQCN", TESTBED_DCQCN}},
          Loads({"0.3", "0.5"}),
          AsItIs}},
        {"fig11ab", {"fat-tree-incast", Schemes(), {}, SMALL_TREE}},
        {"fig11cd", {"fat-tree", Schemes(), {}, SMALL_TREE}},
        {"fig12", {"fat-tree-incast", LossRecovery(), {}, SMALL_TREE}},
        {"fig2a", {"pod-230-quiet", TimersOfFigure2(), {}, FOUR_RACKS_4MB}},
        {"fig2b", {"pod-230", TimersOfFigure2(), {}, FOUR_RACKS_4MB}},
        {"fig3", {"pod-230-quiet", MarksOfFigure3(), Loads({"0.3", "0.5"}), FOUR_RACKS_4MB}},
        {"overhead-fct",
         {"fat-tree-64",
          {{"none", AsItIs},
           {"32B", Telemetry("ioam_slim", "1")},
           {"48B", Telemetry("ioam_slim", "2")},
           {"96B", Telemetry("ioam_slim", "5")}},
          Loads({"0.3", "0.7"}),
          AsItIs}},
        {"pint-goodput",
         {"fat-tree", {{"INT", MaxStage0}, {"PINT", HpccPint}}, Loads({"0.5", "0.7"}), SMALL_TREE}},
        {"pint",
         {"fat-tree",
          {{"INT", MaxStage0},
           {"PINT-p1", HpccPint},
           {"PINT-p1-16", SampledPint("0.0625")},
           {"PINT-p1-256", SampledPint("0.00390625")}},
          {},
          SMALL_TREE}},
        {"why-eta",
         {"fat-tree",
          {{"eta-0.95", MaxStage0},
           {"eta-1.1", Eta("1.1")},
           {"eta-1.5", Eta("1.5")},
           {"DCTCP", Dctcp},
           {"DCQCN", Dcqcn},
           {"TIMELY", Timely}},
          {},
          SMALL_TREE}},
        {"why-fig10-load",
         {"testbed-pod",
          {{"HPCC", AsItIs}, {"DCQCN", TESTBED_DCQCN}},
          Loads({"0.6", "1.0"}),
          AsItIs}},
        {"why-fig10", {"testbed-pod", WhyFigure10(), Loads({"0.3", "0.5"}), AsItIs}},
        {"why-fig11cd", {"fat-tree", WhyFigure11cd(), {}, SMALL_TREE}},
        {"why-fig2a", {"pod-230-quiet", WhyFigure2a(), {}, FOUR_RACKS}},
        {"why-fig2b", {"pod-230", WhyFigure2b(), {}, FOUR_RACKS}},
        {"why-fig3", {"pod-230-quiet", WhyFigure3(), {}, FOUR_RACKS}},
    };
}

} // namespace

Sweeps
PaperSweeps()
{
    Sweeps all = SmallFigures();
    all.merge(LargeFigures());
    return all;
}

} // namespace byhand
} // namespace ns3
