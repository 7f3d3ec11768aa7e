// SPDX-License-Identifier: GPL-2.0-only
//! The sections that hold plain settings. What is left out has the value of the reference's HPCC preset.

use super::document::Document;
use super::values::{Bounded, Bytes32, Fraction, Interval, Probability, Rate, Size, Time};
use crate::error::InputError;
use crate::place::Place;
use crate::scenario::{Monitor, QueueHistogram};
use hpcc_core::cc::{Algorithm, HpccConfig};
use hpcc_core::switch::{EcnThreshold, SwitchConfig};
use hpcc_core::telemetry::Layout;
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::{Recovery, TransportConfig};
use hpcc_core::units::{BitRate, Nanos};
use serde::Deserialize;
use toml::Spanned;

const DEFAULT_BUFFER: u64 = 32 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunKeys {
    #[serde(default = "one")]
    seed: u64,
    stop: Spanned<Interval>,
}

fn one() -> u64 {
    1
}

/// `[run]`.
pub(super) struct Run {
    pub seed: u64,
    pub stop: Nanos,
    pub stop_place: Place,
}

pub(super) fn run(document: &mut Document<'_>) -> Result<Run, InputError> {
    let (keys, _) = document.required::<RunKeys>("run")?;
    let stop_place = document.place(keys.stop.span());
    Ok(Run { seed: keys.seed, stop: keys.stop.into_inner().0, stop_place })
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    #[default]
    Hpcc,
    None,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ControlKeys {
    algorithm: Name,
    eta: Option<Fraction<4>>,
    max_stage: Option<u32>,
    additive_increase: Option<Rate>,
    min_rate: Option<Spanned<Rate>>,
    fast_react: Option<bool>,
    multi_rate: Option<bool>,
    sampled_feedback: Option<bool>,
}

/// `[congestion_control]`.
pub(super) struct Control {
    pub algorithm: Algorithm,
    pub min_rate_place: Place,
    /// Set if parameters of HPCC are given, but HPCC is not used.
    pub note: Option<String>,
}

pub(super) fn congestion_control(document: &mut Document<'_>) -> Result<Control, InputError> {
    let (keys, place) = document.optional::<ControlKeys>("congestion_control")?;
    let min_rate_place = keys.min_rate.as_ref().map_or(place, |rate| document.place(rate.span()));
    let default = HpccConfig::default();
    let note = unused(&keys);
    let algorithm = match keys.algorithm {
        Name::None => Algorithm::LineRate,
        Name::Hpcc => Algorithm::Hpcc(HpccConfig {
            eta: keys.eta.map_or(default.eta, |eta| eta.0),
            max_stage: keys.max_stage.unwrap_or(default.max_stage),
            additive_increase: keys.additive_increase.map_or(default.additive_increase, |rate| rate.0),
            min_rate: keys.min_rate.map_or(default.min_rate, |rate| rate.into_inner().0),
            fast_react: keys.fast_react.unwrap_or(default.fast_react),
            multi_rate: keys.multi_rate.unwrap_or(default.multi_rate),
            sampled_feedback: keys.sampled_feedback.unwrap_or(default.sampled_feedback),
        }),
    };
    Ok(Control { algorithm, min_rate_place, note })
}

/// Comparing runs with `--set congestion_control.algorithm=none` should not need another file, so these are
/// no errors.
fn unused(keys: &ControlKeys) -> Option<String> {
    let given = [
        ("eta", keys.eta.is_some()),
        ("max_stage", keys.max_stage.is_some()),
        ("additive_increase", keys.additive_increase.is_some()),
        ("min_rate", keys.min_rate.is_some()),
        ("fast_react", keys.fast_react.is_some()),
        ("multi_rate", keys.multi_rate.is_some()),
        ("sampled_feedback", keys.sampled_feedback.is_some()),
    ];
    let names: Vec<&str> = given.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
    let is_unused = keys.algorithm == Name::None && !names.is_empty();
    is_unused.then(|| format!("algorithm = \"none\" has no use for {}", names.join(", ")))
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LayoutName {
    #[default]
    Reference,
    Paper,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TelemetryKeys {
    layout: LayoutName,
    multiplier: Option<Spanned<Bounded<1, { u32::MAX }>>>,
}

/// `[telemetry]`. The multiplier grows with the fastest host link, 1 for each 25 Gb/s, so that the counters
/// wrap after the same time.
///
/// Without an algorithm that reads it, frames carry no telemetry.
pub(super) fn layout(
    document: &mut Document<'_>,
    network: &Network,
    algorithm: &Algorithm,
) -> Result<Layout, InputError> {
    let (keys, _) = document.optional::<TelemetryKeys>("telemetry")?;
    if *algorithm == Algorithm::LineRate {
        return Ok(Layout::None);
    }
    if let (LayoutName::Paper, Some(multiplier)) = (&keys.layout, &keys.multiplier) {
        let place = document.place(multiplier.span());
        return Err(place.key_error("telemetry.multiplier", "multiplier belongs to layout = \"reference\""));
    }
    if keys.layout == LayoutName::Paper {
        return Ok(Layout::Paper);
    }
    let is_host = |node: u32| network.nodes[node as usize] == NodeKind::Host;
    let at_host = network.links.iter().filter(|link| is_host(link.a) || is_host(link.b));
    let fastest = at_host.map(|link| link.rate.0).max().unwrap_or(0);
    let default = u32::try_from(fastest / BitRate::gbps(25).0).unwrap_or(u32::MAX).max(1);
    Ok(Layout::Reference { multiplier: keys.multiplier.map_or(default, |value| value.into_inner().0) })
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecoveryName {
    GoBackN,
    GoBackZero,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TransportKeys {
    mtu: Option<Bounded<1, 9000>>,
    recovery: Option<RecoveryName>,
    chunk: Option<Bytes32>,
    ack_interval: Option<Bytes32>,
    nack_interval: Option<Time>,
    window: Option<Spanned<bool>>,
    variable_window: Option<bool>,
    global_rtt: Option<bool>,
    rate_bound: Option<bool>,
    ack_high_priority: Option<bool>,
}

/// `[transport]`.
pub(super) fn transport(document: &mut Document<'_>, algorithm: &Algorithm) -> Result<TransportConfig, InputError> {
    let (keys, _) = document.optional::<TransportKeys>("transport")?;
    let default = TransportConfig::default();
    if let (Algorithm::Hpcc(_), Some(window)) = (algorithm, keys.window.as_ref().filter(|window| !window.get_ref())) {
        let place = document.place(window.span());
        return Err(
            place.key_error("transport.window", "window is false, but HPCC divides by its window; expected true")
        );
    }
    Ok(TransportConfig {
        mtu: keys.mtu.map_or(default.mtu, |mtu| mtu.0),
        recovery: match keys.recovery {
            None => default.recovery,
            Some(RecoveryName::GoBackN) => Recovery::GoBackN,
            Some(RecoveryName::GoBackZero) => Recovery::GoBackZero,
        },
        chunk: keys.chunk.map_or(default.chunk, |chunk| chunk.0),
        ack_interval: keys.ack_interval.map_or(default.ack_interval, |interval| interval.0),
        nack_interval: keys.nack_interval.map_or(default.nack_interval, |interval| interval.0),
        window: keys.window.map_or(default.window, Spanned::into_inner),
        variable_window: keys.variable_window.unwrap_or(default.variable_window),
        global_rtt: keys.global_rtt.unwrap_or(default.global_rtt),
        rate_bound: keys.rate_bound.unwrap_or(default.rate_bound),
        ack_priority: if keys.ack_high_priority == Some(true) { 0 } else { default.ack_priority },
    })
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SwitchKeys {
    buffer: Option<Spanned<Size>>,
    ecn: Option<bool>,
    ecn_thresholds: Option<Spanned<Vec<Spanned<ThresholdKeys>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThresholdKeys {
    rate: Rate,
    kmin: Size,
    kmax: Size,
    pmax: Probability,
}

/// `[switch]`.
pub(super) struct Switch {
    pub config: SwitchConfig,
    pub buffer_place: Place,
    pub ecn_place: Place,
}

pub(super) fn switch(document: &mut Document<'_>, network: &Network) -> Result<Switch, InputError> {
    let (keys, place) = document.optional::<SwitchKeys>("switch")?;
    let buffer_place = keys.buffer.as_ref().map_or(place.clone(), |buffer| document.place(buffer.span()));
    let ecn_place = keys.ecn_thresholds.as_ref().map_or(place, |list| document.place(list.span()));
    let ecn_thresholds = match keys.ecn_thresholds {
        Some(list) => thresholds(document, list.into_inner())?,
        None => default_thresholds(network),
    };
    let buffer_bytes = keys.buffer.map_or(DEFAULT_BUFFER, |buffer| buffer.into_inner().0);
    let config = SwitchConfig { buffer_bytes, ecn: keys.ecn.unwrap_or(true), ecn_thresholds };
    Ok(Switch { config, buffer_place, ecn_place })
}

fn thresholds(document: &Document<'_>, list: Vec<Spanned<ThresholdKeys>>) -> Result<Vec<EcnThreshold>, InputError> {
    let mut thresholds: Vec<EcnThreshold> = Vec::new();
    for entry in list {
        let place = document.place(entry.span());
        let entry = entry.into_inner();
        let (rate, kmin, kmax) = (entry.rate.0, entry.kmin.0, entry.kmax.0);
        if kmin > kmax {
            let message = format!("kmin is {kmin} bytes, more than kmax, {kmax}; expected at most that");
            return Err(place.key_error("switch.ecn_thresholds", message));
        }
        if thresholds.iter().any(|earlier| earlier.rate == rate) {
            let message = format!("there are two entries for {rate}; expected one");
            return Err(place.key_error("switch.ecn_thresholds", message));
        }
        thresholds.push(EcnThreshold { rate, kmin, kmax, pmax: entry.pmax.0 });
    }
    Ok(thresholds)
}

/// 400 kB, 1600 kB and 0.2 at 100 Gb/s; the queue lengths scale with the rate.
fn default_thresholds(network: &Network) -> Vec<EcnThreshold> {
    let mut rates: Vec<BitRate> = network.links.iter().map(|link| link.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let scaled = |bytes: u128, rate: BitRate| (bytes * u128::from(rate.0) / u128::from(BitRate::gbps(100).0)) as u64;
    let threshold = |rate| EcnThreshold { rate, kmin: scaled(400_000, rate), kmax: scaled(1_600_000, rate), pmax: 0.2 };
    rates.into_iter().map(threshold).collect()
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MonitorKeys {
    queue_interval: Option<Interval>,
    goodput_interval: Option<Interval>,
    queue_histogram_start: Option<Time>,
    queue_histogram_end: Option<Spanned<Time>>,
    #[serde(default)]
    trace_nodes: Vec<Spanned<u32>>,
}

/// `[monitor]`.
pub(super) fn monitor(document: &mut Document<'_>, nodes: usize) -> Result<Monitor, InputError> {
    let (keys, place) = document.optional::<MonitorKeys>("monitor")?;
    let queue_histogram = match (keys.queue_histogram_start, keys.queue_histogram_end) {
        (None, None) => None,
        (start, Some(end)) => {
            let place = document.place(end.span());
            let (start, end) = (start.unwrap_or_default().0, end.into_inner().0);
            if end <= start {
                let message = format!("the histogram ends at {end}, not after its start, {start}");
                return Err(place.key_error("monitor.queue_histogram_end", message));
            }
            Some(QueueHistogram { start, end })
        }
        (Some(_), None) => {
            let message = "queue_histogram_end is missing from [monitor], which has queue_histogram_start";
            return Err(place.key_error("monitor.queue_histogram_end", message));
        }
    };
    for node in &keys.trace_nodes {
        if *node.get_ref() as usize >= nodes {
            let message = format!("trace_nodes names node {}, but there are nodes 0 to {}", node.get_ref(), nodes - 1);
            return Err(document.place(node.span()).key_error("monitor.trace_nodes", message));
        }
    }
    Ok(Monitor {
        queue_histogram,
        trace_nodes: keys.trace_nodes.into_iter().map(Spanned::into_inner).collect(),
        queue_interval: keys.queue_interval.map(|interval| interval.0),
        goodput_interval: keys.goodput_interval.map(|interval| interval.0),
    })
}
