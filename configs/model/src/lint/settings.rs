// SPDX-License-Identifier: GPL-2.0-only
//! Settings that work, but not as one may think.

use super::Pass;
use crate::scenario::{QueueHistogram, Scenario};
use hpcc_core::cc::Reads;
use hpcc_core::settings::Named;
use hpcc_core::switch::{BufferKind, Reported};
use hpcc_core::telemetry::Csig;
use hpcc_core::topology::paths::{PathIdentity, PathName};
use hpcc_core::transport::feedback::FeedbackContent;
use hpcc_core::transport::{Entropy, Protocol};
use hpcc_core::units::{BitRate, Rounding};

/// Why packets of a flow take several paths, if no link fails.
fn spread(scenario: &Scenario) -> Option<&'static str> {
    if scenario.settings.fast_cnp.enabled && scenario.settings.fast_cnp_host.migrate {
        Some("flows move to other paths (fast_cnp.migrate)")
    } else if scenario.settings.feedback.paths > 1 {
        Some("flows look for better paths (telemetry.paths)")
    } else if !scenario.settings.load_balancing.keeps() {
        Some("packets of a flow take several paths (load_balancing.scheme)")
    } else {
        let spreads = scenario.transport().entropy != Entropy::Flow;
        spreads.then_some("packets of a flow take several paths (transport.entropy)")
    }
}

/// Flows may change their path, and the records that they go by do not tell.
pub(super) fn unseen_path_changes(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let layout = scenario.layout();
    let fails = Some("links fail").filter(|_| !scenario.link_failures.is_empty());
    let Some(why) = fails.or_else(|| spread(scenario)) else { return Vec::new() };
    let Some(name) = layout.path_name().filter(|_| scenario.settings.needs().reads == Reads::Records) else {
        return Vec::new();
    };
    let (ways, settings) = (scenario.ways(), &scenario.settings);
    // The 2019 simulator's HPCC does not even look at the number of hops.
    let complaint = if name == PathName::Length && scenario.faults().blind_to_paths {
        Some("do not say which path they are of".to_owned())
    } else {
        ways.tell_by(name, settings.layout.ids()).complaint()
    };
    let note = |complaint| {
        let tells = |name| ways.tell(name).complaint().is_none();
        let able = settings.layout.able(Reads::Records, settings.wire.profile);
        let able = able.filter(|layout| layout.path_name().is_some_and(tells));
        format!(
            "{why}, and records of layout = \"{}\" {complaint}. A flow then compares those of different links, and may fall to its \
             lowest rate; expected layout = {}",
            layout.name(),
            able.map(|layout| layout.name()).collect::<Vec<_>>().join(" or ")
        )
    };
    complaint.map(note).into_iter().collect()
}

/// Who sends each packet of a flow by a path of its own, if somebody does.
fn scatters(scenario: &Scenario) -> Option<String> {
    let (balancing, transport) = (&scenario.settings.load_balancing, scenario.transport());
    let is_of_queue_pairs =
        scenario.settings.protocol.protocol == Protocol::Rdma && scenario.settings.host_transport.is_queue_pairs();
    let is_ordered = balancing.keeps() || balancing.chosen().keeps_order();
    let who = || match is_ordered {
        true => format!("transport.entropy = \"{}\"", transport.entropy.name()),
        false => format!("scheme = \"{}\"", balancing.chosen().name()),
    };
    (is_of_queue_pairs && !(is_ordered && transport.entropy == Entropy::Flow)).then(who)
}

/// A flow goes by records that two packets in a row have in common, where packets take several paths.
pub(super) fn scattered_records(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let settings = &scenario.settings;
    let Some(who) = scatters(scenario) else { return Vec::new() };
    if settings.needs().reads != Reads::Records
        || settings.switch.telemetry_records != Reported::All
        || scenario.ways().tell(PathName::Length) == PathIdentity::Apart(None)
    {
        return Vec::new();
    }
    vec![format!(
        "with {who} a flow of {} throws away records of another path than the last: it hears little of its links, and its window may stay \
         as it began; expected \"hpcc_plus\" with telemetry.layout = \"int_md\" and switch.telemetry_records = \"interval\", which follows each link",
        scenario.algorithm().name()
    )]
}

/// Receivers average the loads of one path, and begin anew with each other one.
pub(super) fn restarted_averages(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let averages = scenario.settings.feedback.content == FeedbackContent::Loads;
    let Some(why) =
        spread(scenario).filter(|_| averages && scenario.ways().tell(PathName::Length) != PathIdentity::Apart(None))
    else {
        return Vec::new();
    };
    vec![format!(
        "{why}, and receivers average loads (telemetry.content = \"loads\") along one path: with each change of it they begin at U = 1 \
         again, so that flows leave a part of their links unused; expected content = \"records\""
    )]
}

/// Packets overtake each other, and count as lost.
pub(super) fn late_packets(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let transport = scenario.transport();
    let has_one_path = || scenario.ways().tell(PathName::Length) == PathIdentity::Apart(None);
    let Some(who) = scatters(scenario).filter(|_| transport.reorder_window == 0 && !has_one_path()) else {
        return Vec::new();
    };
    vec![format!(
        "with {who} packets overtake each other, and recovery = \"{}\" takes the late ones for lost and sends again; \
         expected \"selective_repeat\" with a transport.reorder_window",
        transport.recovery.name()
    )]
}

/// Packets that are lost may stay lost.
pub(super) fn loss_without_timeout(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let switch = &scenario.settings.switch;
    let why = if switch.mode == BufferKind::Lossy {
        "switches drop packets"
    } else if scenario.default_loss > 0.0 || scenario.network.links.iter().any(|link| link.loss > 0.0) {
        "links lose packets"
    } else if scenario.degraded.iter().any(|degraded| degraded.quality.bit_errors > 0.0) {
        "links spoil packets (failures.degraded)"
    } else if !scenario.link_failures.is_empty() {
        "packets on links that fail are lost"
    } else {
        return Vec::new();
    };
    let stays_lost = scenario.transport().timeout.is_none() && scenario.stack().is_none();
    let note = || format!("{why}, and without a timeout a flow may never finish");
    stays_lost.then(note).into_iter().collect()
}

/// The network tells what the algorithm does not read.
pub(super) fn unread_signal(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let needs = scenario.algorithm().needs();
    let (layout, settings) = (scenario.layout(), &scenario.settings);
    let Some(csig) = layout.codec::<Csig>() else { return Vec::new() };
    if needs.reads != Reads::Nothing || settings.needs().reads != Reads::Nothing {
        return Vec::new();
    }
    let expected = if needs.also == Reads::Delay { "; expected csig_signal = \"delay\" or \"queue\"" } else { "" };
    vec![format!(
        "packets carry CSIG with csig_signal = \"{}\", which {} does not read{expected}",
        csig.csig_signal.name(),
        scenario.algorithm().name()
    )]
}

/// Switches take the telemetry off on the way to hosts that should send it back.
pub(super) fn stripped_telemetry(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let settings = &scenario.settings;
    // Checked: the text names nodes.
    let Ok(stripped) = settings.stripped(&scenario.network) else { return Vec::new() };
    let hosts: Vec<u32> = stripped.iter().filter(|&node| scenario.network.is_host(node)).collect();
    let Some(first) = hosts.first().filter(|_| settings.needs().reads != Reads::Nothing) else { return Vec::new() };
    let more = if hosts.len() > 1 { format!(" and {} others", hosts.len() - 1) } else { String::new() };
    vec![format!(
        "telemetry.csig_strip takes telemetry off what goes to host {first}{more}: {} hears nothing of the network in flows to them",
        scenario.algorithm().name()
    )]
}

/// Acknowledgements or CNPs are in a class that may have to wait for others.
pub(super) fn held_up_acks(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let transport = scenario.transport();
    let Some(classes) = *scenario.settings.switch.classes else { return Vec::new() };
    let answers = [("acknowledgements", Some(transport.ack_priority)), ("CNPs", transport.cnp_priority)];
    let waits = |&(_, priority): &(&str, u8)| priority > 0 && !classes.has_guaranteed_share(priority);
    let note = |(what, priority)| {
        format!("{what} travel in priority {priority}, which is sure of nothing of a link: others may hold them up")
    };
    answers.into_iter().filter_map(|(what, priority)| Some((what, priority?))).filter(waits).map(note).collect()
}

/// Telemetry may see no byte between two frames that follow each other.
pub(super) fn coarse_telemetry(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let frame = u64::from(scenario.settings.full_frame());
    let reads_records = scenario.settings.needs().reads == Reads::Records;
    let unit =
        scenario.layout().records().and_then(|records| records.tx_unit).filter(|&unit| unit > frame && reads_records);
    let note = |unit| {
        format!(
            "telemetry counts sent bytes in units of {unit} (telemetry.multiplier), more than the {frame} of a full packet: where \
             no unit is counted between two packets, \"{}\" keeps the utilisation of those before, so that it reads too high \
             and flows leave a part of their links unused",
            scenario.algorithm().name()
        )
    };
    unit.map(note).into_iter().collect()
}

/// Above this share of a frame's time its rounding is worth a note.
const ROUNDING: f64 = 0.001;

/// Whole nanoseconds are far from the rate of a link. That the 2019 simulator's faults floor them is theirs.
pub(super) fn rounded_times(scenario: &Scenario, _: &Pass) -> Vec<String> {
    match scenario.transport().rounding() {
        Rounding::Nearest => {}
        Rounding::Floored | Rounding::Exact => return Vec::new(),
    }
    let wire = scenario.settings.full_frame() + scenario.settings.wire.frame_gap();
    let exact = |rate: BitRate| f64::from(wire) * 8e9 / rate.0 as f64;
    let error = |rate: BitRate| exact(rate) / rate.tx_time(wire, Rounding::Nearest).0 as f64 - 1.0;
    let rates = scenario.network.links.iter().map(|link| link.rate);
    let worst = rates.max_by(|&a, &b| error(a).abs().total_cmp(&error(b).abs()));
    let note = |rate: BitRate| {
        let (time, than) =
            (rate.tx_time(wire, Rounding::Nearest).0, if error(rate) > 0.0 { "faster" } else { "slower" });
        format!(
            "times are whole nanoseconds: at {rate} the {wire} bytes of a full packet take {time} ns, not {:.2}, so that such \
             links, and ideal times over them, are {:.1} % {than} than their rate; wire.exact_rates = true keeps it",
            exact(rate),
            100.0 * error(rate).abs()
        )
    };
    worst.filter(|&rate| error(rate).abs() > ROUNDING).map(note).into_iter().collect()
}

/// Samples of the 2019 simulator's histogram that nobody sees.
pub(super) fn empty_histogram(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let Some(QueueHistogram { start, end }) = scenario.monitor.queue_histogram else { return Vec::new() };
    let (end, interval) = (end.min(scenario.stop), QueueHistogram::PRINT_INTERVAL);
    if end <= start || end.0 / interval.0 * interval.0 >= start.0 {
        return Vec::new();
    }
    vec![format!(
        "the queue histogram from {start} to {end} stays empty: it is written at multiples of {interval} only"
    )]
}
