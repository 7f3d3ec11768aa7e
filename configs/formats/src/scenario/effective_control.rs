// SPDX-License-Identifier: GPL-2.0-only
//! The echo of a scenario's controller and telemetry.

use hpcc_core::cc::hpcc_plus::AdditiveIncrease;
use hpcc_core::cc::{
    Algorithm, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, HpccPlusConfig, RxHpccConfig, TimelyConfig,
};
use hpcc_core::telemetry::Layout;
use hpcc_core::transport::feedback::{Answer, FeedbackConfig, Return};
use serde_json::{Value, json};

pub(super) fn congestion_control(algorithm: &Algorithm) -> Value {
    match algorithm {
        Algorithm::LineRate => json!({ "algorithm": "none" }),
        Algorithm::Hpcc(config) => hpcc(config),
        Algorithm::HpccPlus(config) => hpcc_plus(config),
        Algorithm::RxHpcc(config) => rx_hpcc(config),
        Algorithm::HpccPint(config) => hpcc_pint(config),
        Algorithm::Dcqcn(config) => dcqcn(config),
        Algorithm::Timely(config) => timely(config),
        Algorithm::Dctcp(config) => dctcp(config),
    }
}

fn hpcc(config: &HpccConfig) -> Value {
    json!({
        "algorithm": "hpcc",
        "eta": config.eta,
        "max_stage": config.max_stage,
        "additive_increase_bps": config.additive_increase.0,
        "min_rate_bps": config.min_rate.0,
        "fast_react": config.fast_react,
        "multi_rate": config.multi_rate,
        "sampled_feedback": config.sampled_feedback,
    })
}

fn rx_hpcc(config: &RxHpccConfig) -> Value {
    let mut value = hpcc_plus(&config.hpcc);
    value["algorithm"] = "rx_hpcc".into();
    value["count_flows"] = config.count_flows.into();
    value
}

fn hpcc_plus(config: &HpccPlusConfig) -> Value {
    let (key, step) = match config.law.additive_increase {
        AdditiveIncrease::Flows(flows) => ("expected_flows", u64::from(flows)),
        AdditiveIncrease::Bytes(bytes) => ("additive_increase_bytes", bytes),
    };
    json!({
        "algorithm": "hpcc_plus",
        "eta": config.law.eta,
        "max_stage": config.law.max_stage,
        key: step,
        "min_rate_bps": config.law.min_rate.0,
    })
}

fn hpcc_pint(config: &HpccPintConfig) -> Value {
    json!({
        "algorithm": "hpcc_pint",
        "eta": config.law.eta,
        "max_stage": config.law.max_stage,
        "additive_increase_bps": config.law.additive_increase.0,
        "min_rate_bps": config.law.min_rate.0,
        "sample_probability": config.sample_probability,
    })
}

fn dcqcn(config: &DcqcnConfig) -> Value {
    json!({
        "algorithm": "dcqcn",
        "gain": config.gain,
        "alpha_interval_ns": config.alpha_interval.0,
        "decrease_interval_ns": config.decrease_interval.0,
        "increase_interval_ns": config.increase_interval.0,
        "fast_recovery": config.fast_recovery,
        "additive_increase_bps": config.additive_increase.0,
        "hyper_increase_bps": config.hyper_increase.0,
        "clamp_target": config.clamp_target,
        "notification_interval_ns": config.notification_interval.0,
        "min_rate_bps": config.min_rate.0,
    })
}

fn timely(config: &TimelyConfig) -> Value {
    json!({
        "algorithm": "timely",
        "additive_increase_bps": config.additive_increase.0,
        "hyper_increase_bps": config.hyper_increase.0,
        "hyper_after": config.hyper_after,
        "min_rate_bps": config.min_rate.0,
        "weight": config.weight,
        "decrease": config.decrease,
        "low_ns": config.low.0,
        "high_ns": config.high.0,
        "min_rtt_ns": config.min_rtt.0,
    })
}

fn dctcp(config: &DctcpConfig) -> Value {
    json!({
        "algorithm": "dctcp",
        "gain": config.gain,
        "additive_increase_bps": config.additive_increase.0,
        "min_rate_bps": config.min_rate.0,
    })
}

pub(super) fn telemetry(layout: Layout, feedback: &FeedbackConfig) -> Value {
    let mut telemetry = layout_of(layout);
    let (packets, every) = feedback.sampling.name();
    telemetry["packets"] = packets.into();
    telemetry["every"] = (packets == "nth").then_some(every).into();
    telemetry["answer"] =
        Answer::NAMES.iter().find(|(_, answer)| *answer == feedback.answer).map(|&(name, _)| name).into();
    telemetry["feedback"] = Return::NAMES.iter().find(|(_, by)| *by == feedback.by).map(|&(name, _)| name).into();
    telemetry["guard"] = feedback.guard.into();
    telemetry["paths"] = feedback.paths.candidates.into();
    telemetry["seal"] = feedback.seal.is_some().into();
    telemetry
}

fn layout_of(layout: Layout) -> Value {
    let name = layout.name();
    match layout {
        Layout::Reference { multiplier } => json!({ "layout": name, "multiplier": multiplier }),
        Layout::IntMd { hops } | Layout::Ifa { hops } | Layout::Ioam { hops, .. } => {
            json!({ "layout": name, "hops": hops })
        }
        Layout::Pint { log_base, bytes } => json!({ "layout": name, "log_base": log_base, "section_bytes": bytes }),
        _ => json!({ "layout": name }),
    }
}
