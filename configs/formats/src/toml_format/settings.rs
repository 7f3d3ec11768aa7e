// SPDX-License-Identifier: GPL-2.0-only
//! `[run]`, `[monitor]`, and the ECN thresholds of `[switch]`.

use super::document::Document;
use super::keys::{Form, INTERVAL, Need, RATE, SHARE, SIZE, TEXT, TIME, Values, keys, whole};
use crate::draft::Blame;
use crate::error::InputError;
use crate::place::Place;
use crate::results::CaptureFormat;
use crate::scenario::{EventOrder, Legacy, Monitor, OnDeadlock, QueueHistogram};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Kind, Named};
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::units::Nanos;

keys! {
    RUN {
        /// Seed of every random choice of the run. Change it to see the part of chance in results; the same seed gives
        /// the same run. ECMP does not follow it: switches hash addresses and ports, so listed flows take the same
        /// paths with each seed. Other hosts, another order or number of flows between two hosts, and with
        /// `wire.profile = "reference"` another `dport` move them.
        seed: whole(0, u64::MAX) => Need::Else("1");
        /// Which of several events of the same nanosecond runs first. Take `insertion`, the 2019 simulator's order, which
        /// needs a single process, to compare with its numbers.
        order: Form::Word(EventOrder::NAMES) => Need::Else("canonical");
        /// Simulated time at which the run ends. Raise it where flows are listed as unfinished.
        stop: INTERVAL;
        /// What a run does in a deadlock, in which switches wait for each other's resumes in a circle: it goes on, or ends.
        /// Choose `end` where nothing will break it.
        on_deadlock: Form::Word(OnDeadlock::NAMES) => Need::Else("go_on");
    }
    /// What `[switch]` holds besides plain settings.
    SWITCH {
        /// ECN thresholds for ports of each rate, as a list of `{ rate, kmin, kmax, pmax }`. Give it, in place of
        /// `ecn_kmin`, `ecn_kmax` and `ecn_pmax`, where thresholds should not grow in step with rates.
        ecn_thresholds: Form::Tables(THRESHOLD, "{ rate = \"100Gbps\", kmin = 400000, kmax = 1600000, pmax = 0.2 }") => Need::Optional;
    }
    THRESHOLD {
        /// Data rate of the ports.
        rate: RATE;
        /// Queue length in bytes up to which no frame is marked.
        kmin: SIZE;
        /// Queue length in bytes above which every frame is marked.
        kmax: SIZE;
        /// Probability that a frame is marked where the queue is `kmax`.
        pmax: SHARE;
    }
    MONITOR {
        /// Time between two samples of every switch port's queue, in `queue.csv`; without it there are none. A shorter
        /// one shows shorter bursts and writes more.
        queue_interval: INTERVAL => Need::Optional;
        /// Time between two samples of every flow's progress, in `goodput.csv`; without it there are none. A shorter one
        /// shows shorter changes and writes more.
        goodput_interval: INTERVAL => Need::Optional;
        /// Time between two samples of flows' congestion control, in `control.csv`: rate, window, bytes in flight, U,
        /// bottleneck and round-trip time. Without it there are none.
        control_interval: INTERVAL => Need::Optional;
        /// Numbers of the flows of that series, counted from 0 in the order of their start; without it all. Give it where
        /// there are many.
        control_flows: TEXT => Need::Optional;
        /// Whether every pause by PFC goes into `pauses.csv`, with the pause that is its reason: who holds whom, from which
        /// root. Turn it on to find the cause of pauses.
        pauses: Form::One(Kind::Switch) => Need::Else("false");
        /// Whether all that ranks of jobs send, receive and compute goes into `timeline.csv`, for the report's timeline and for
        /// `./hpcc report DIR --perfetto`. Each message is two rows.
        timeline: Form::One(Kind::Switch) => Need::Else("false");
        /// Simulated time from which on the 2019 simulator's histogram of queues, `qlen.txt`, takes a sample each 100 ns.
        queue_histogram_start: TIME => Need::Optional;
        /// Simulated time at which that histogram ends, which is written at each multiple of 100 ms until then; without it
        /// there is none.
        queue_histogram_end: TIME => Need::Optional;
        /// The nodes whose packets go into `packets.tr`, for `./hpcc trace`. Give it to follow single packets; each frame
        /// is a record.
        trace_nodes: TEXT => Need::Else("none");
        /// The nodes whose frames go into `packets.pcap` as bytes, for `./hpcc dissect` and Wireshark; needs a `rocev2`
        /// profile, or TCP or UDP.
        capture_nodes: TEXT => Need::Else("none");
        /// Format of that file. With `pcapng`, `packets.pcapng`, each node is an interface with a name.
        capture_format: Form::Word(CaptureFormat::NAMES) => Need::Else("pcap");
    }
}

/// `[run]`.
pub(super) struct Run {
    pub seed: u64,
    pub order: EventOrder,
    pub on_deadlock: OnDeadlock,
    pub stop: Nanos,
    pub stop_place: Place,
}

pub(super) fn run(document: &mut Document<'_>) -> Result<Run, InputError> {
    let keys = Values::of("run", &document.required("run", "stop = \"10ms\"")?, RUN)?;
    let order = keys.get::<String>("order").and_then(|name| EventOrder::from_name(&name)).unwrap_or_default();
    let on_deadlock =
        keys.get::<String>("on_deadlock").and_then(|name| OnDeadlock::from_name(&name)).unwrap_or_default();
    Ok(Run {
        seed: keys.the("seed"),
        order,
        on_deadlock,
        stop: keys.the("stop"),
        stop_place: keys.origin.place(&["stop"]),
    })
}

/// Thresholds of link rates, if there are any.
pub(super) fn thresholds(lists: &Values<'_>) -> Result<Option<Vec<EcnThreshold>>, InputError> {
    let mut thresholds: Vec<EcnThreshold> = Vec::new();
    for entry in lists.tables("switch.ecn_thresholds", THRESHOLD, "ecn_thresholds")? {
        let refuse = |message: String| entry.origin.section().key_error("switch.ecn_thresholds", message);
        let threshold = EcnThreshold {
            rate: entry.the("rate"),
            kmin: entry.the("kmin"),
            kmax: entry.the("kmax"),
            pmax: entry.the("pmax"),
        };
        threshold.check().map_err(refuse)?;
        if thresholds.iter().any(|earlier| earlier.rate == threshold.rate) {
            return Err(refuse(format!("there are two entries for {}; expected one", threshold.rate)));
        }
        thresholds.push(threshold);
    }
    Ok(lists.has("ecn_thresholds").then_some(thresholds))
}

/// Numbers and ranges with commas between; none without a text.
fn numbers(text: &str) -> Option<Vec<u32>> {
    /// More are a mistake.
    const MOST: usize = 1_000_000;
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|_| !["", "none"].contains(&text.trim())) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        numbers.extend((first..=last).take(MOST));
        if first > last || numbers.len() >= MOST {
            return None;
        }
    }
    Some(numbers)
}

/// `[monitor]`, and where it names flows.
pub(super) fn monitor(
    document: &mut Document<'_>,
    network: &Network,
    settings: &NodeSettings,
    legacy: &Legacy,
) -> Result<(Monitor, Blame), InputError> {
    let section = document.section("monitor");
    let keys = Values::of_optional("monitor", section, document.file(), MONITOR)?;
    let refuse = |key: &str, message: String| Err(keys.origin.error(&[key], message));
    let queue_histogram = match (keys.get("queue_histogram_start"), keys.get("queue_histogram_end")) {
        (None, None) => None,
        (start, Some(end)) => {
            let start = start.unwrap_or_default();
            if end <= start {
                let message =
                    format!("the histogram ends at {end}, not after its start, {start}; expected a later time");
                return refuse("queue_histogram_end", message);
            }
            Some(QueueHistogram { start, end })
        }
        (Some(_), None) => {
            let message = "queue_histogram_end is missing from [monitor]; expected it beside queue_histogram_start";
            return refuse("queue_histogram_end", message.into());
        }
    };
    let nodes = |key: &str| {
        let nodes = NodeSet::parse(&keys.the::<String>(key), network);
        nodes.map(|nodes| nodes.iter().collect()).map_err(|message| keys.origin.error(&[key], message))
    };
    let (trace_nodes, capture_nodes): (Vec<u32>, Vec<u32>) = (nodes("trace_nodes")?, nodes("capture_nodes")?);
    let of_stack = settings.protocol.protocol.is_of_stack();
    if !trace_nodes.is_empty() && (of_stack || legacy.tcp().is_some()) {
        let message = "the reference's packet trace has no TCP or UDP; expected none, or monitor.capture_nodes";
        return refuse("trace_nodes", message.into());
    }
    if keys.has("control_interval") && of_stack {
        let message =
            "hosts of TCP or UDP keep their congestion control in ns-3's sockets, which have traces; expected none";
        return refuse("control_interval", message.into());
    }
    let transport = &settings.host_transport;
    if !capture_nodes.is_empty() && !transport.is_queue_pairs() {
        let name = transport.chosen().name();
        let message = format!("frames of transport.kind = \"{name}\" have no bytes to capture; expected none");
        return refuse("capture_nodes", message);
    }
    if !capture_nodes.is_empty() && !of_stack && !settings.wire.profile.is_real() {
        let message = "frames of wire.profile = \"reference\" have no bytes to capture; expected a rocev2 profile";
        return refuse("capture_nodes", message.into());
    }
    let flows = keys.get::<String>("control_flows").unwrap_or_default();
    let Some(control_flows) = numbers(&flows) else {
        let message =
            format!("\"{flows}\" is no list of flows; expected numbers such as [0, 3], or ranges such as \"0-3, 6\"");
        return refuse("control_flows", message);
    };
    if keys.has("control_flows") && !keys.has("control_interval") {
        let message = "no flow is watched without an interval; expected control_interval as well";
        return refuse("control_flows", message.into());
    }
    let capture_format = keys.get::<String>("capture_format");
    let monitor = Monitor {
        capture_format: capture_format.and_then(|name| CaptureFormat::from_name(&name)).unwrap_or_default(),
        queue_histogram,
        trace_nodes,
        capture_nodes,
        queue_interval: keys.get("queue_interval"),
        control_interval: keys.get("control_interval"),
        control_flows,
        goodput_interval: keys.get("goodput_interval"),
        pauses: keys.the("pauses"),
        timeline: keys.the("timeline"),
    };
    Ok((monitor, Blame::new(keys.origin.place(&["control_flows"]), "monitor.control_flows")))
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn flows_are_named_by_numbers_and_ranges() {
        assert_eq!(numbers("0-2, 8"), Some(vec![0, 1, 2, 8]));
        assert_eq!((numbers(""), numbers("none")), (Some(vec![]), Some(vec![])));
        for wrong in ["3-1", "x", "1,", "0-4294967295"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
