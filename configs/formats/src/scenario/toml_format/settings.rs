// SPDX-License-Identifier: GPL-2.0-only
//! The sections that hold plain settings. What is left out has the value of the
//! reference's preset for the algorithm.

use super::classes::{self, ClassKeys};
use super::document::Document;
use super::values::{Between, Bounded, Bytes32, Interval, Probability, Rate, Size, Time};
use crate::error::{InputError, suggestion};
use crate::place::Place;
use crate::scenario::{Monitor, QueueHistogram};
use hpcc_core::cc::Algorithm;
use hpcc_core::quirks::Quirks;
use hpcc_core::switch::{BufferMode, EcnThreshold, SwitchConfig};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::{CongestionNotification, Recovery, TimeoutConfig, TransportConfig};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::wire::{PREAMBLE_AND_GAP, WireProfile};
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

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WireKeys {
    profile: Option<Spanned<String>>,
    preamble_and_gap: Option<bool>,
}

/// `[wire]`.
pub(super) struct Wire {
    pub profile: WireProfile,
    pub frame_gap: u32,
}

/// Real frames have a preamble and a gap between them, unless that is turned off; the reference's have none.
pub(super) fn wire(document: &mut Document<'_>) -> Result<Wire, InputError> {
    let (keys, _) = document.optional::<WireKeys>("wire")?;
    let profile = keys.profile.map_or(Ok(WireProfile::default()), |name| wire_profile(document, &name))?;
    let spaced = keys.preamble_and_gap.unwrap_or(profile.is_real());
    Ok(Wire { profile, frame_gap: if spaced { PREAMBLE_AND_GAP } else { 0 } })
}

fn wire_profile(document: &Document<'_>, name: &Spanned<String>) -> Result<WireProfile, InputError> {
    WireProfile::from_name(name.get_ref()).ok_or_else(|| {
        let known = WireProfile::NAMES.map(|(known, _)| known);
        let message = format!("unknown profile \"{}\"{}", name.get_ref(), suggestion(name.get_ref(), &known));
        document.place(name.span()).key_error("wire.profile", message)
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecoveryName {
    GoBackN,
    GoBackZero,
    SelectiveRepeat,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TransportKeys {
    mtu: Option<Bounded<1, 9000>>,
    recovery: Option<RecoveryName>,
    chunk: Option<Bytes32>,
    ack_interval: Option<Bytes32>,
    ack_every: Option<Spanned<Bytes32>>,
    nack_interval: Option<Time>,
    timeout: Option<Time>,
    timeout_low: Option<Spanned<Interval>>,
    timeout_low_packets: Option<Bounded<0, { u32::MAX }>>,
    timeout_back_off: Option<bool>,
    window: Option<Spanned<bool>>,
    variable_window: Option<bool>,
    global_rtt: Option<bool>,
    rate_bound: Option<bool>,
    ack_high_priority: Option<bool>,
    congestion_notification: Option<Spanned<String>>,
}

/// The reference's presets run DCQCN and TIMELY without a window, and their acknowledgements ahead of data.
fn transport_preset(algorithm: &Algorithm) -> TransportConfig {
    match algorithm {
        Algorithm::Dcqcn(_) | Algorithm::Timely(_) => {
            TransportConfig { window: false, ack_priority: 0, ..TransportConfig::default() }
        }
        _ => TransportConfig::default(),
    }
}

/// Base round-trip times added to a timeout that nobody set.
const TIMEOUT_BASE_RTTS: u32 = 3;
/// IRN's RTO_low and the packets in flight up to which it holds.
const TIMEOUT_LOW: (Nanos, u32) = (Nanos(100_000), 3);

/// The time that the slowest host link takes to drain a whole switch buffer: no packet waits longer at a switch
/// unless PFC pauses it.
fn longest_wait(network: &Network, buffer_bytes: u64) -> Nanos {
    let is_host = |node: u32| network.nodes[node as usize] == NodeKind::Host;
    let at_host = network.links.iter().filter(|link| is_host(link.a) || is_host(link.b));
    let slowest = at_host.map(|link| link.rate.0).min().unwrap_or(0).max(1);
    let nanos = u128::from(buffer_bytes) * 8 * 1_000_000_000 / u128::from(slowest);
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The retransmission timeout: on, unless it is set to 0.
fn timeout(
    document: &Document<'_>,
    keys: &TransportKeys,
    selective: bool,
    longest_wait: Nanos,
) -> Result<Option<TimeoutConfig>, InputError> {
    let (high, base_rtts) = match keys.timeout {
        Some(Time(high)) => (high, 0),
        None => (longest_wait, TIMEOUT_BASE_RTTS),
    };
    let low = keys.timeout_low.as_ref().map_or(TIMEOUT_LOW.0, |low| low.get_ref().0);
    if let Some(place) = keys.timeout_low.as_ref().map(|low| document.place(low.span()))
        && low > high
    {
        let message = format!("timeout_low is {low}, more than timeout, {high}; expected at most that");
        return Err(place.key_error("transport.timeout_low", message));
    }
    let given = keys.timeout_low.is_some();
    let few = keys.timeout_low_packets.map_or(if selective || given { TIMEOUT_LOW.1 } else { 0 }, |few| few.0);
    let back_off = keys.timeout_back_off.unwrap_or(true);
    let config = TimeoutConfig { high, low: low.min(high), few, base_rtts, back_off };
    Ok(Some(config).filter(|config| config.high > Nanos(0)))
}

/// In what marks come back. DCTCP counts those of all packets, so that one notification in an interval is too little.
fn congestion_notification(
    document: &Document<'_>,
    name: Option<&Spanned<String>>,
    algorithm: &Algorithm,
) -> Result<CongestionNotification, InputError> {
    let Some(name) = name else { return Ok(CongestionNotification::default()) };
    let refuse =
        |message: String| Err(document.place(name.span()).key_error("transport.congestion_notification", message));
    let names = CongestionNotification::NAMES.map(|(name, _)| name);
    match CongestionNotification::NAMES.iter().find(|(known, _)| known == name.get_ref()) {
        None => refuse(format!("unknown notification \"{}\"{}", name.get_ref(), suggestion(name.get_ref(), &names))),
        Some((_, CongestionNotification::Packet)) if matches!(algorithm, Algorithm::Dctcp(_)) => {
            refuse("dctcp counts the marks that acknowledgements echo; expected \"ack\"".into())
        }
        Some(&(_, notification)) => Ok(notification),
    }
}

/// `[transport]`. A timeout that is not set follows from the switches' buffer.
pub(super) fn transport(
    document: &mut Document<'_>,
    algorithm: &Algorithm,
    network: &Network,
    switch: &SwitchConfig,
) -> Result<TransportConfig, InputError> {
    let (keys, _) = document.optional::<TransportKeys>("transport")?;
    let default = transport_preset(algorithm);
    let selective = matches!(keys.recovery, Some(RecoveryName::SelectiveRepeat));
    let timeout = timeout(document, &keys, selective, longest_wait(network, switch.buffer_bytes))?;
    if let (Some(every), Some(_)) = (&keys.ack_every, &keys.ack_interval) {
        let message = "ack_every and ack_interval exclude each other";
        return Err(document.place(every.span()).key_error("transport.ack_every", message));
    }
    let missing = keys.window.as_ref().filter(|window| !window.get_ref() && switch.quirks.windowless_hpcc);
    if let (Algorithm::Hpcc(_), Some(window)) = (algorithm, missing) {
        let place = document.place(window.span());
        return Err(place.key_error(
            "transport.window",
            "window is false, but HPCC divides by it with windowless_hpcc; expected true",
        ));
    }
    let notification = congestion_notification(document, keys.congestion_notification.as_ref(), algorithm)?;
    Ok(TransportConfig {
        mtu: keys.mtu.map_or(default.mtu, |mtu| mtu.0),
        recovery: match keys.recovery {
            None => default.recovery,
            Some(RecoveryName::GoBackN) => Recovery::GoBackN,
            Some(RecoveryName::GoBackZero) => Recovery::GoBackZero,
            Some(RecoveryName::SelectiveRepeat) => Recovery::SelectiveRepeat,
        },
        chunk: keys.chunk.map_or(default.chunk, |chunk| chunk.0),
        ack_interval: keys.ack_interval.map_or(default.ack_interval, |interval| interval.0),
        ack_every: keys.ack_every.map_or(default.ack_every, |every| every.into_inner().0),
        timeout,
        nack_interval: keys.nack_interval.map_or(default.nack_interval, |interval| interval.0),
        window: keys.window.map_or(default.window, Spanned::into_inner),
        variable_window: keys.variable_window.unwrap_or(default.variable_window),
        global_rtt: keys.global_rtt.unwrap_or(default.global_rtt),
        rate_bound: keys.rate_bound.unwrap_or(default.rate_bound),
        ack_priority: match keys.ack_high_priority {
            None => default.ack_priority,
            Some(true) => 0,
            Some(false) => TransportConfig::default().ack_priority,
        },
        notification,
        quirks: switch.quirks,
    })
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeName {
    #[default]
    Lossless,
    Lossy,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SwitchKeys {
    mode: ModeName,
    alpha: Option<Spanned<Between<1, 1_000_000>>>,
    buffer: Option<Spanned<Size>>,
    ecn: Option<bool>,
    ecn_thresholds: Option<Spanned<Vec<Spanned<ThresholdKeys>>>>,
    classes: Vec<Spanned<ClassKeys>>,
    telemetry_scope: Option<Spanned<String>>,
    telemetry_queue: Option<Spanned<String>>,
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
    pub scope_place: Place,
}

pub(super) fn switch(
    document: &mut Document<'_>,
    network: &Network,
    algorithm: &Algorithm,
    quirks: Quirks,
) -> Result<Switch, InputError> {
    let (keys, place) = document.optional::<SwitchKeys>("switch")?;
    let buffer_place = keys.buffer.as_ref().map_or(place.clone(), |buffer| document.place(buffer.span()));
    let scope_place = keys.telemetry_scope.as_ref().map_or(place.clone(), |scope| document.place(scope.span()));
    let ecn_place = keys.ecn_thresholds.as_ref().map_or(place, |list| document.place(list.span()));
    let ecn_thresholds = match keys.ecn_thresholds {
        Some(list) => thresholds(document, list.into_inner())?,
        None => default_thresholds(network, algorithm),
    };
    let mode = match (keys.mode, keys.alpha) {
        (ModeName::Lossy, alpha) => BufferMode::Lossy { alpha: alpha.map_or(1.0, |alpha| alpha.into_inner().0) },
        (ModeName::Lossless, None) => BufferMode::Lossless,
        (ModeName::Lossless, Some(alpha)) => {
            let place = document.place(alpha.span());
            return Err(place.key_error("switch.alpha", "alpha belongs to mode = \"lossy\""));
        }
    };
    let buffer_bytes = keys.buffer.map_or(DEFAULT_BUFFER, |buffer| buffer.into_inner().0);
    let classes = classes::classes(document, keys.classes)?;
    let report = classes::report(document, keys.telemetry_scope, keys.telemetry_queue, classes.is_some())?;
    let ecn = keys.ecn.unwrap_or(true);
    let config = SwitchConfig { buffer_bytes, mode, ecn, ecn_thresholds, classes, report, quirks };
    Ok(Switch { config, buffer_place, ecn_place, scope_place })
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

/// 400 kB, 1600 kB and 0.2 at 100 Gb/s; a step at 300 kB for DCTCP. The queue lengths scale with the rate.
fn default_thresholds(network: &Network, algorithm: &Algorithm) -> Vec<EcnThreshold> {
    let mut rates: Vec<BitRate> = network.links.iter().map(|link| link.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let scaled = |bytes: u128, rate: BitRate| (bytes * u128::from(rate.0) / u128::from(BitRate::gbps(100).0)) as u64;
    let (kmin, kmax, pmax) = match algorithm {
        Algorithm::Dctcp(_) => (300_000, 300_000, 1.0),
        _ => (400_000, 1_600_000, 0.2),
    };
    let threshold = |rate| EcnThreshold { rate, kmin: scaled(kmin, rate), kmax: scaled(kmax, rate), pmax };
    rates.into_iter().map(threshold).collect()
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MonitorKeys {
    queue_interval: Option<Interval>,
    goodput_interval: Option<Interval>,
    queue_histogram_start: Option<Time>,
    queue_histogram_end: Option<Spanned<Time>>,
    trace_nodes: Vec<Spanned<u32>>,
    capture_nodes: Vec<Spanned<u32>>,
}

/// The nodes that a key of `[monitor]` lists, all of which must be there.
fn node_list(
    document: &Document<'_>,
    key: &str,
    list: Vec<Spanned<u32>>,
    nodes: usize,
) -> Result<Vec<u32>, InputError> {
    if let Some(node) = list.iter().find(|node| *node.get_ref() as usize >= nodes) {
        let message = format!("{key} names node {}, but there are nodes 0 to {}", node.get_ref(), nodes - 1);
        return Err(document.place(node.span()).key_error(format!("monitor.{key}"), message));
    }
    Ok(list.into_iter().map(Spanned::into_inner).collect())
}

/// `[monitor]`.
pub(super) fn monitor(document: &mut Document<'_>, nodes: usize, wire: WireProfile) -> Result<Monitor, InputError> {
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
    let trace_nodes = node_list(document, "trace_nodes", keys.trace_nodes, nodes)?;
    if let Some(node) = keys.capture_nodes.first().filter(|_| !wire.is_real()) {
        let message = "frames of wire.profile = \"reference\" have no bytes to capture; expected a rocev2 profile";
        return Err(document.place(node.span()).key_error("monitor.capture_nodes", message));
    }
    let capture_nodes = node_list(document, "capture_nodes", keys.capture_nodes, nodes)?;
    Ok(Monitor {
        queue_histogram,
        trace_nodes,
        capture_nodes,
        queue_interval: keys.queue_interval.map(|interval| interval.0),
        goodput_interval: keys.goodput_interval.map(|interval| interval.0),
    })
}
