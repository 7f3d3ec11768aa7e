// SPDX-License-Identifier: GPL-2.0-only
//! `[run]`, `[monitor]`, and the ECN thresholds of `[switch]`.

use super::buffer;
use super::document::Document;
use super::keys::{INTERVAL, List, Read, SHARE, Tables, keys};
use super::switch_profile;
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::NodeSettings;
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::units::{BitRate, Bytes, Nanos};
use hpcc_model::draft::Blame;
use hpcc_model::error::InputError;
use hpcc_model::flow::MOST_BYTES;
use hpcc_model::results::CaptureFormat;
use hpcc_model::scenario::{EventOrder, Legacy, Monitor, OnDeadlock, QueueHistogram, SkipMode};

keys! {
    Run {
        /// Seed of every random choice of the run. Change it to see the part of chance in results; the same seed gives
        /// the same run. ECMP does not follow it: switches hash addresses and ports, so listed flows take the same
        /// paths with each seed. Other hosts, another order or number of flows between two hosts, and with
        /// `wire.profile = "reference"` another `dport` move them.
        seed: u64 = 1;
        /// Which of several events of the same nanosecond runs first. Take `insertion`, the 2019 simulator's order, which
        /// needs a single process, to compare with its numbers.
        order: EventOrder = EventOrder::Canonical;
        /// Simulated time at which the run ends. Raise it where flows are listed as unfinished.
        stop: Nanos {INTERVAL};
        /// What a run does in a deadlock, in which switches wait for each other's resumes in a circle: it goes on, or ends.
        /// Choose `end` where nothing will break it.
        on_deadlock: OnDeadlock = OnDeadlock::GoOn;
        /// What a run leaves out: nothing, or, with `exact`, periods of traffic that repeats itself. All results are the same; `skipped`
        /// in `summary.json` says what it has saved. Try `exact` for long transfers and collectives without congestion, on a switch or
        /// on rails: `none`, `swift` and `dcqcn` can repeat themselves, HPCC and others with telemetry never do. `eager` looks for periods
        /// whatever that costs, for tests.
        skip: SkipMode = SkipMode::Off;
    }
    /// What `[switch]` holds besides plain settings, but for pools and profiles.
    SwitchThresholds {
        /// ECN thresholds for ports of each rate, as a list of `{ rate, kmin, kmax, pmax }`. Give it, in place of
        /// `ecn_kmin`, `ecn_kmax` and `ecn_pmax`, where thresholds should not grow in step with rates.
        ecn_thresholds: Option<Tables<Threshold>> {"{ rate = \"100Gbps\", kmin = 400000, kmax = 1600000, pmax = 0.2 }"};
    }
    Threshold {
        /// Data rate of the ports.
        rate: BitRate;
        /// Queue length in bytes up to which no frame is marked.
        kmin: Bytes {0..=MOST_BYTES};
        /// Queue length in bytes above which every frame is marked.
        kmax: Bytes {0..=MOST_BYTES};
        /// Probability that a frame is marked where the queue is `kmax`.
        pmax: f64 {SHARE};
    }
    Recorded {
        /// Time between two samples of every switch port's queue, in `queue.csv`; without it there are none. A shorter
        /// one shows shorter bursts and writes more.
        queue_interval: Option<Nanos> {INTERVAL};
        /// Time between two samples of every flow's progress, in `goodput.csv`; without it there are none. A shorter one
        /// shows shorter changes and writes more.
        goodput_interval: Option<Nanos> {INTERVAL};
        /// Time between two samples of what each port sends, of hosts too, in `sent.csv`; without it there are none. A
        /// shorter one shows shorter bursts and writes more.
        sent_interval: Option<Nanos> {INTERVAL};
        /// Time between two samples of flows' congestion control, in `control.csv`: rate, window, bytes in flight, U,
        /// bottleneck and round-trip time. Without it there are none.
        control_interval: Option<Nanos> {INTERVAL};
        /// Numbers of the flows of that series, counted from 0 in the order of their start; without it all. Give it where
        /// there are many.
        control_flows: Option<String>;
        /// Whether every pause by PFC goes into `pauses.csv`, with the pause that is its reason: who holds whom, from which
        /// root. Turn it on to find the cause of pauses.
        pauses: bool = false;
        /// Whether all that ranks of jobs send, receive and compute goes into `timeline.csv`, for the report's timeline and for
        /// `./hpcc report DIR --perfetto`. Each message is two rows.
        timeline: bool = false;
        /// Simulated time from which on the 2019 simulator's histogram of queues, `qlen.txt`, takes a sample each 100 ns.
        queue_histogram_start: Option<Nanos>;
        /// Simulated time at which that histogram ends, which is written at each multiple of 100 ms until then; without it
        /// there is none.
        queue_histogram_end: Option<Nanos>;
        /// The nodes whose packets go into `packets.tr`, for `./hpcc trace`. Give it to follow single packets; each frame
        /// is a record.
        trace_nodes: String = "none".into();
        /// The nodes whose frames go into `packets.pcap` as bytes, for `./hpcc dissect` and Wireshark; needs a `rocev2`
        /// profile, or TCP or UDP.
        capture_nodes: String = "none".into();
        /// Format of that file. With `pcapng`, `packets.pcapng`, each node is an interface with a name.
        capture_format: CaptureFormat = CaptureFormat::Pcap;
    }
}

keys! {
    /// What `[switch]` holds besides plain settings.
    SwitchLists { thresholds: SwitchThresholds, buffer: buffer::Lists, profile: switch_profile::Lists }
}

/// `[run]`.
pub(super) fn run(document: &mut Document<'_>) -> Result<Read<Run>, InputError> {
    Read::of("run", &document.required("run", "stop = \"10ms\"")?)
}

/// Thresholds of link rates, if there are any.
pub(super) fn thresholds(lists: &Read<SwitchLists>) -> Result<Option<Vec<EcnThreshold>>, InputError> {
    let Some(List(entries)) = &lists.thresholds.ecn_thresholds else { return Ok(None) };
    let mut thresholds: Vec<EcnThreshold> = Vec::new();
    for entry in entries {
        let refuse = |message: String| entry.origin.section().key_error("switch.ecn_thresholds", message);
        let &Threshold { rate, kmin, kmax, pmax } = &**entry;
        let threshold = EcnThreshold { rate, kmin: kmin.0, kmax: kmax.0, pmax };
        threshold.check().map_err(refuse)?;
        if thresholds.iter().any(|earlier| earlier.rate == threshold.rate) {
            return Err(refuse(format!("there are two entries for {}; expected one", threshold.rate)));
        }
        thresholds.push(threshold);
    }
    Ok(Some(thresholds))
}

/// Numbers and ranges with commas between; none without a text.
pub(super) fn numbers(text: &str) -> Option<Vec<u32>> {
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
    let keys: Read<Recorded> = Read::of_optional("monitor", section, document.file())?;
    let refuse = |key: &str, message: String| Err(keys.origin.error(&[key], message));
    let queue_histogram = match (keys.queue_histogram_start, keys.queue_histogram_end) {
        (None, None) => None,
        (start, Some(end)) => {
            let start = start.unwrap_or(Nanos(0));
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
    let nodes = |key: &str, nodes: &str| {
        let nodes = NodeSet::parse(nodes, network);
        nodes.map(|nodes| nodes.iter().collect()).map_err(|message| keys.origin.error(&[key], message))
    };
    let trace_nodes: Vec<u32> = nodes("trace_nodes", &keys.trace_nodes)?;
    let capture_nodes: Vec<u32> = nodes("capture_nodes", &keys.capture_nodes)?;
    let of_stack = settings.protocol.protocol.is_of_stack();
    if !trace_nodes.is_empty() && (of_stack || legacy.tcp().is_some()) {
        let message = "the 2019 simulator's packet trace has no TCP or UDP; expected none, or monitor.capture_nodes";
        return refuse("trace_nodes", message.into());
    }
    if keys.control_interval.is_some() && of_stack {
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
    let flows = keys.control_flows.as_deref().unwrap_or("none");
    let Some(control_flows) = numbers(flows) else {
        let message =
            format!("\"{flows}\" is no list of flows; expected numbers such as [0, 3], or ranges such as \"0-3, 6\"");
        return refuse("control_flows", message);
    };
    if keys.control_flows.is_some() && keys.control_interval.is_none() {
        let message = "no flow is watched without an interval; expected control_interval as well";
        return refuse("control_flows", message.into());
    }
    let monitor = Monitor {
        capture_format: keys.capture_format,
        queue_histogram,
        trace_nodes,
        capture_nodes,
        queue_interval: keys.queue_interval,
        control_interval: keys.control_interval,
        control_flows,
        goodput_interval: keys.goodput_interval,
        sent_interval: keys.sent_interval,
        pauses: keys.pauses,
        timeline: keys.timeline,
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
