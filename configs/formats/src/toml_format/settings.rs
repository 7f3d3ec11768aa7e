// SPDX-License-Identifier: GPL-2.0-only
//! The sections that concern the run as a whole, and the lists of `[switch]`.

use super::classes::{self, ClassKeys};
use super::document::Document;
use super::values::{Interval, Probability, Rate, Size, Time};
use crate::error::InputError;
use crate::place::Place;
use crate::scenario::{Blame, EventOrder, Monitor, QueueHistogram};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::NodeSettings;
use hpcc_core::units::Nanos;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunKeys {
    /// What every random choice of the run follows from. Change it to see how far results are a matter of chance; the
    /// same seed gives the same run. ECMP does not follow it: switches hash addresses and ports. So flows that are listed
    /// take the same paths with each seed; what moves them are other hosts, another order or number of flows between two hosts,
    /// whose source ports count from 10000, and with `wire.profile = "reference"` their `dport`.
    #[serde(default = "one")]
    seed: u64,
    /// Which of several events of the same nanosecond runs first. Take `insertion`, the 2019 simulator's order, which
    /// needs a single process, to compare with its numbers.
    #[serde(default)]
    order: EventOrder,
    /// Simulated time at which the run ends. Raise it where flows are listed as unfinished.
    #[schemars(with = "Interval")]
    stop: Spanned<Interval>,
}

fn one() -> u64 {
    1
}

/// `[run]`.
pub(super) struct Run {
    pub seed: u64,
    pub order: EventOrder,
    pub stop: Nanos,
    pub stop_place: Place,
}

pub(super) fn run(document: &mut Document<'_>) -> Result<Run, InputError> {
    let (keys, _) = document.required::<RunKeys>("run", "stop = \"10ms\"")?;
    let stop_place = document.place(keys.stop.span());
    Ok(Run { seed: keys.seed, order: keys.order, stop: keys.stop.into_inner().0, stop_place })
}

/// What `[switch]` holds besides plain settings.
pub(super) const SWITCH_LISTS: &[&str] = &["ecn_thresholds", "classes"];

#[derive(Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SwitchLists {
    /// ECN thresholds for ports of each rate, as a list of `{ rate, kmin, kmax, pmax }`. Give it, in place of
    /// `ecn_kmin`, `ecn_kmax` and `ecn_pmax`, where thresholds should not grow in step with rates.
    #[schemars(with = "Option<Vec<ThresholdKeys>>")]
    ecn_thresholds: Option<Spanned<Vec<Spanned<ThresholdKeys>>>>,
    /// The same as a list.
    #[schemars(with = "Option<Vec<ClassKeys>>")]
    classes: Option<Vec<Spanned<ClassKeys>>>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "thresholds such as { rate = \"100Gbps\", kmin = 400000, kmax = 1600000, pmax = 0.2 }"
)]
struct ThresholdKeys {
    /// Data rate of the ports.
    rate: Rate,
    /// Queue length in bytes up to which no frame is marked.
    kmin: Size,
    /// Queue length in bytes above which every frame is marked.
    kmax: Size,
    /// Probability that a frame is marked where the queue is `kmax`.
    pmax: Probability,
}

/// What `[transport]` holds besides plain settings.
pub(super) const TRANSPORT_LISTS: &[&str] = &["classes"];

#[derive(Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TransportLists {
    /// The same as a list.
    #[schemars(with = "Option<Vec<ClassKeys>>")]
    classes: Option<Vec<Spanned<ClassKeys>>>,
}

/// The lists of `[transport]`: classes of service. Returns where each priority is.
pub(super) fn transport_lists(
    document: &mut Document<'_>,
    settings: &mut NodeSettings,
) -> Result<Vec<(u8, Place)>, InputError> {
    let (lists, _) = document.optional::<TransportLists>("transport")?;
    let Some(list) = lists.classes else { return Ok(Vec::new()) };
    let places = classes::places(document, &list);
    settings.transport.classes = classes::text(document, "transport", list)?;
    Ok(places)
}

/// The lists of `[switch]`: thresholds of link rates, and classes of service. Returns where the thresholds are; if there
/// are none, the section.
pub(super) fn switch_lists(document: &mut Document<'_>, settings: &mut NodeSettings) -> Result<Place, InputError> {
    let (lists, mut place) = document.optional::<SwitchLists>("switch")?;
    if let Some(list) = lists.ecn_thresholds {
        place = document.place(list.get_ref().first().map_or_else(|| list.span(), Spanned::span));
        settings.ecn_thresholds = Some(thresholds(document, list.into_inner())?);
    }
    if let Some(list) = lists.classes {
        settings.switch.classes = classes::text(document, "switch", list)?;
    }
    Ok(place)
}

fn thresholds(document: &Document<'_>, list: Vec<Spanned<ThresholdKeys>>) -> Result<Vec<EcnThreshold>, InputError> {
    let mut thresholds: Vec<EcnThreshold> = Vec::new();
    for entry in list {
        let place = document.place(entry.span());
        let entry = entry.into_inner();
        let rate = entry.rate.0;
        let threshold = EcnThreshold { rate, kmin: entry.kmin.0, kmax: entry.kmax.0, pmax: entry.pmax.0 };
        threshold.check().map_err(|message| place.key_error("switch.ecn_thresholds", message))?;
        if thresholds.iter().any(|earlier| earlier.rate == rate) {
            let message = format!("there are two entries for {rate}; expected one");
            return Err(place.key_error("switch.ecn_thresholds", message));
        }
        thresholds.push(threshold);
    }
    Ok(thresholds)
}

#[derive(Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct MonitorKeys {
    /// Time between two samples of every switch port's queue, in `queue.csv`; without it there are none. A shorter
    /// one shows shorter bursts and writes more.
    queue_interval: Option<Interval>,
    /// Time between two samples of every flow's progress, in `goodput.csv`; without it there are none. A shorter one
    /// shows shorter changes and writes more.
    goodput_interval: Option<Interval>,
    /// Time between two samples of what congestion control makes of flows, in `control.csv`: rate, window, bytes in
    /// flight, U, bottleneck and round-trip time. Without it there are none.
    control_interval: Option<Interval>,
    /// Numbers of the flows of that series, counted from 0 in the order of their start; without it all. Give it where
    /// there are many.
    #[schemars(with = "Vec<u32>")]
    control_flows: Option<Spanned<Vec<u32>>>,
    /// Simulated time from which on the 2019 simulator's histogram of queues, `qlen.txt`, takes a sample each 100 ns.
    queue_histogram_start: Option<Time>,
    /// Simulated time at which that histogram ends, which is written at each multiple of 100 ms until then; without it
    /// there is none.
    #[schemars(with = "Option<Time>")]
    queue_histogram_end: Option<Spanned<Time>>,
    /// Numbers of the nodes whose packets go into `packets.tr`, for `./hpcc trace`. Give it to follow single packets;
    /// each frame is a record.
    #[schemars(with = "Vec<u32>")]
    trace_nodes: Vec<Spanned<u32>>,
    /// Numbers of the nodes whose frames go into `packets.pcap` as bytes, for `./hpcc dissect` and Wireshark; needs a
    /// `rocev2` profile, or TCP or UDP.
    #[schemars(with = "Vec<u32>")]
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
        let message =
            format!("{key} names node {}; expected nodes from 0 to {}", node.get_ref(), nodes.saturating_sub(1));
        return Err(document.place(node.span()).key_error(format!("monitor.{key}"), message));
    }
    Ok(list.into_iter().map(Spanned::into_inner).collect())
}

/// `[monitor]`, and where it names flows.
pub(super) fn monitor(
    document: &mut Document<'_>,
    nodes: usize,
    settings: &NodeSettings,
) -> Result<(Monitor, Blame), InputError> {
    let (keys, place) = document.optional::<MonitorKeys>("monitor")?;
    let queue_histogram = match (keys.queue_histogram_start, keys.queue_histogram_end) {
        (None, None) => None,
        (start, Some(end)) => {
            let place = document.place(end.span());
            let (start, end) = (start.unwrap_or_default().0, end.into_inner().0);
            if end <= start {
                let message =
                    format!("the histogram ends at {end}, not after its start, {start}; expected a later time");
                return Err(place.key_error("monitor.queue_histogram_end", message));
            }
            Some(QueueHistogram { start, end })
        }
        (Some(_), None) => {
            let message = "queue_histogram_end is missing from [monitor]; expected it beside queue_histogram_start";
            return Err(place.key_error("monitor.queue_histogram_end", message));
        }
    };
    let of_stack = settings.protocol.protocol.is_of_stack();
    if let Some(node) = keys.trace_nodes.first().filter(|_| of_stack) {
        let message = "the reference's packet trace has no TCP or UDP; expected none, or monitor.capture_nodes";
        return Err(document.place(node.span()).key_error("monitor.trace_nodes", message));
    }
    if keys.control_interval.is_some() && of_stack {
        let message =
            "hosts of TCP or UDP keep their congestion control in ns-3's sockets, which have traces; expected none";
        return Err(place.key_error("monitor.control_interval", message));
    }
    let flows_place = keys.control_flows.as_ref().map_or_else(|| place.clone(), |flows| document.place(flows.span()));
    if keys.control_flows.is_some() && keys.control_interval.is_none() {
        let message = "no flow is watched without an interval; expected control_interval as well";
        return Err(flows_place.key_error("monitor.control_flows", message));
    }
    let trace_nodes = node_list(document, "trace_nodes", keys.trace_nodes, nodes)?;
    let has_bytes = of_stack || settings.wire.profile.is_real();
    if let Some(node) = keys.capture_nodes.first().filter(|_| !has_bytes) {
        let message = "frames of wire.profile = \"reference\" have no bytes to capture; expected a rocev2 profile";
        return Err(document.place(node.span()).key_error("monitor.capture_nodes", message));
    }
    let capture_nodes = node_list(document, "capture_nodes", keys.capture_nodes, nodes)?;
    let monitor = Monitor {
        queue_histogram,
        trace_nodes,
        capture_nodes,
        queue_interval: keys.queue_interval.map(|interval| interval.0),
        control_interval: keys.control_interval.map(|interval| interval.0),
        control_flows: keys.control_flows.map(Spanned::into_inner).unwrap_or_default(),
        goodput_interval: keys.goodput_interval.map(|interval| interval.0),
    };
    Ok((monitor, Blame::new(flows_place, "monitor.control_flows")))
}
