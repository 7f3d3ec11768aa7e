// SPDX-License-Identifier: GPL-2.0-only
//! What adds up within a run, and what nothing exceeds.

use super::{Context, Second, Verdict, verdict};
use crate::document::Document;
use crate::draw::Draw;
use crate::run::Results;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Value;
use hpcc_core::switch::BufferKind;
use hpcc_core::transport::QueuePairs;
use hpcc_core::units::Rounding;
use hpcc_model::scenario::Scenario;
use std::collections::BTreeMap;

type Row<'a> = BTreeMap<&'a str, &'a str>;

/// Any scenario, with series of all that happens.
pub(super) fn draw(draw: Draw<'_>) -> Document {
    let mut document = draw.all();
    for (key, value) in [("queue_interval", "1us"), ("goodput_interval", "5us")] {
        document.set("monitor", key, value);
    }
    document.set("monitor", "pauses", true);
    document
}

/// What one run is checked for: what is wrong, if anything is.
type Check = fn(&Scenario, &Results) -> Option<String>;

fn checked(document: &Document, context: &Context<'_>, check: Check) -> Verdict {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return Verdict::Idle };
    let Ok(results) = context.bench.run(document) else { return Verdict::Idle };
    verdict(check(&scenario, &results), || Second::None)
}

pub(super) fn sums(document: &Document, context: &Context<'_>) -> Verdict {
    checked(document, context, sums_of)
}

pub(super) fn ideal(document: &Document, context: &Context<'_>) -> Verdict {
    checked(document, context, early)
}

pub(super) fn pauses(document: &Document, context: &Context<'_>) -> Verdict {
    checked(document, context, pause_rows)
}

pub(super) fn goodput(document: &Document, context: &Context<'_>) -> Verdict {
    checked(document, context, goodput_of_links)
}

/// What does not add up in the results of a scenario, or exceeds what can be.
pub fn sums_of(scenario: &Scenario, results: &Results) -> Option<String> {
    let checks: [Check; 6] = [counts, late, marks, losses, goodput_sums, queues];
    checks.iter().find_map(|check| check(scenario, results))
}

fn number(row: &Row<'_>, column: &str) -> u64 {
    Results::number(row, column)
}

/// Every flow ends up in one of the files.
fn counts(scenario: &Scenario, results: &Results) -> Option<String> {
    if !scenario.flows.jobs.is_empty() {
        return None;
    }
    let rows = |name: &str| results.rows(name).len() as u64;
    let (finished, others) = (rows("fct.csv"), rows("unfinished.csv") + rows("endless.csv"));
    let summary = &results.summary;
    if finished != summary.flows_finished {
        return Some(format!("fct.csv has {finished} flows, and flows_finished is {}", summary.flows_finished));
    }
    if rows("endless.csv") == 0 && summary.flows_endless == 0 && finished + others != summary.flows_total {
        return Some(format!("{finished} and {others} flows of {}", summary.flows_total));
    }
    let beyond =
        results.rows("unfinished.csv").into_iter().find(|row| number(row, "acked_bytes") > number(row, "size_bytes"));
    beyond.map(|row| format!("more is acknowledged than there is: {row:?}"))
}

/// Exact rates take off one frame what rounding added to another, a nanosecond or two for each link.
const ROUNDED: u64 = 10;

/// No flow ends after the run.
fn late(_: &Scenario, results: &Results) -> Option<String> {
    let end = results.summary.simulated_ns;
    let late = results.rows("fct.csv").into_iter().find(|row| number(row, "start_ns") + number(row, "fct_ns") > end);
    late.map(|row| format!("ends after {end} ns: {row:?}"))
}

/// No flow is faster than alone.
fn early(scenario: &Scenario, results: &Results) -> Option<String> {
    // The ideal counts a message's first packet as one that collects telemetry; on a queue pair that others used it need not be.
    let samples = scenario.settings.get("telemetry", None, "sampling").is_some_and(|value| value.text() != "all");
    let is_true = scenario.attacks.is_empty()
        && scenario.faults() == ReferenceFaults::NONE
        && (!samples || scenario.flows.jobs.is_empty());
    let rows = results.rows("fct.csv");
    let early = rows.iter().find(|row| number(row, "fct_ns") + ROUNDED < number(row, "ideal_ns"));
    early
        .filter(|_| is_true)
        .map(|row| format!("flow {} has {} ns, and alone {}", row["flow"], row["fct_ns"], row["ideal_ns"]))
}

/// Whether links fail or become worse, someone attacks, or faults of the 2019 simulator are repeated.
fn is_disturbed(scenario: &Scenario) -> bool {
    !scenario.link_failures.is_empty()
        || !scenario.degraded.is_empty()
        || !scenario.storms.is_empty()
        || !scenario.attacks.is_empty()
        || scenario.faults() != ReferenceFaults::NONE
        || scenario.default_loss > 0.0
        || scenario.network.links.iter().any(|link| link.loss > 0.0)
}

/// Round-trip times of an idle network after which nothing of a flow that has finished is on its way.
const STILL: u64 = 100;

/// Each mark that switches made is heard of, told with others, or lost, once all is still.
fn marks(scenario: &Scenario, results: &Results) -> Option<String> {
    let summary = &results.summary;
    let last =
        results.rows("fct.csv").iter().map(|row| number(row, "start_ns") + number(row, "fct_ns")).max().unwrap_or(0);
    let waits = ["unfinished.csv", "endless.csv"].iter().any(|name| !results.rows(name).is_empty());
    let is_still =
        !waits && last + STILL * summary.base_rtt_ns <= summary.simulated_ns && scenario.flows.jobs.is_empty();
    let sum = summary.marks_heard + summary.marks_merged + summary.marks_lost;
    (is_still && !is_disturbed(scenario) && summary.marks != sum).then(|| {
        let (heard, merged, lost) = (summary.marks_heard, summary.marks_merged, summary.marks_lost);
        format!("{} marks: {heard} heard, {merged} merged, {lost} lost", summary.marks)
    })
}

/// Frames are dropped and lost only where something explains it.
fn losses(scenario: &Scenario, results: &Results) -> Option<String> {
    let watches = scenario.settings.get("switch", None, "pfc_watchdog").is_some_and(|now| now.text() == "drop");
    if is_disturbed(scenario) || watches {
        return None;
    }
    let (losses, drops) = (results.summary.losses, results.summary.dropped());
    if losses > 0 {
        return Some(format!("{losses} losses on links that lose nothing"));
    }
    let switch = &scenario.settings.switch;
    let has_room = switch.mode == BufferKind::Lossless && switch.headroom.is_none();
    (has_room && drops > 0).then(|| format!("{drops} drops with PFC"))
}

/// Each pause is a row.
/// A row begins when the pause is sent, and the summary counts it when it holds somebody: those of the end may be on their way.
fn pause_rows(scenario: &Scenario, results: &Results) -> Option<String> {
    let rows = results.rows("pauses.csv");
    let all = results.summary.pfc_pauses;
    let links = scenario.network.links.iter();
    let way = links.map(|link| link.delay.0 + link.rate.tx_time(FRAME, Rounding::Nearest).0).max().unwrap_or(0);
    let end = results.summary.simulated_ns;
    let on_way = rows.iter().filter(|row| number(row, "start_ns").saturating_add(way) >= end).count();
    // A port may be told to pause, and its link fail before it has sent that.
    let on_way = if scenario.link_failures.is_empty() { on_way } else { rows.len() };
    let held = (rows.len() - on_way) as u64..=rows.len() as u64;
    (results.files.contains_key("pauses.csv") && !held.contains(&all))
        .then(|| format!("pauses.csv has {} rows, {on_way} of them of the end, and pfc_pauses is {all}", rows.len()))
}

/// Bytes of a frame that a port may be sending when it is to send a pause.
const FRAME: u32 = 9_216;
/// Packets that may be told late, all at once.
const LUMP: u64 = 4;

/// No flow is faster than the links of its host.
fn goodput_of_links(scenario: &Scenario, results: &Results) -> Option<String> {
    let network = &scenario.network;
    let fastest = network.host_rates().map(|rate| rate.0).max().unwrap_or(0);
    let is_of_one_link = network.hosts().all(|host| network.ports()[host as usize].len() < 2);
    if !is_of_one_link || !scenario.attacks.is_empty() {
        return None;
    }
    let lump = u128::from(LUMP * u64::from(scenario.transport().mtu));
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for row in results.rows("goodput.csv") {
        let (flow, now, bytes) = (number(&row, "flow"), number(&row, "time_ns"), number(&row, "bytes"));
        let Some(before) = last.insert(flow, now) else { continue };
        let most = u128::from(fastest) * u128::from(now - before) / 8_000_000_000 + lump;
        if u128::from(bytes) > most {
            return Some(format!("{bytes} bytes of flow {flow} until {now} ns, and its link carries {most}"));
        }
    }
    None
}

/// Goodput adds up to the flows' sizes.
fn goodput_sums(scenario: &Scenario, results: &Results) -> Option<String> {
    if scenario.monitor.goodput_interval.is_none() || !scenario.flows.jobs.is_empty() || !scenario.attacks.is_empty() {
        return None;
    }
    let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
    for row in results.rows("goodput.csv") {
        *sums.entry(number(&row, "flow")).or_default() += number(&row, "bytes");
    }
    let sum = |row: &Row<'_>| sums.get(&number(row, "flow")).copied().unwrap_or(0);
    let short = results.rows("fct.csv").into_iter().find(|row| sum(row) != number(row, "size_bytes"));
    short.map(|row| format!("goodput.csv has {} of {} bytes of flow {}", sum(&row), row["size_bytes"], row["flow"]))
}

/// No switch holds more than its buffer.
fn queues(scenario: &Scenario, results: &Results) -> Option<String> {
    let buffer = scenario.settings.switch.buffer.0;
    let rows = results.rows("queue.csv");
    let longest = rows.iter().max_by_key(|row| number(row, "qlen_bytes"))?;
    (number(longest, "qlen_bytes") > buffer).then(|| format!("beyond {buffer} bytes: {longest:?}"))
}

/// Below this rate a packet may take a second.
const SLOW: u64 = 1_000_000;

/// Whether flows may take for ever: what was dropped is not repeated, the network is disturbed, flows may become slow, or a
/// note says so.
fn may_stall(scenario: &Scenario, results: &Results) -> bool {
    let is_noted = scenario.notes.iter().any(|note| note.contains("a timeout"));
    // The note does not look at messages of one queue pair.
    let transport = scenario.transport();
    let is_silent = transport.ack_offset > 1 && transport.queue_pairs == QueuePairs::PerPair;
    let line_rate = scenario.network.host_rates().min().unwrap_or_default();
    let paced = scenario.settings.get("transport", None, "paced_rate");
    let is_slow = scenario.algorithm().min_rate(line_rate).is_some_and(|rate| rate.0 < SLOW)
        || matches!(paced, Some(Value::Rate(rate)) if rate.0 < SLOW);
    // A queue that is too long with one packet cuts each.
    let cuts_all = scenario.settings.switch.trim_threshold.is_some_and(|most| most.0 < transport.mtu.into());
    let is_lossy = cuts_all || results.summary.dropped() > 0 && transport.timeout.is_none();
    is_noted || is_silent || is_slow || is_lossy || is_disturbed(scenario)
}

/// A time in which every flow makes progress.
const LONG: u64 = 1_000_000_000;

pub(super) fn progress(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return Verdict::Idle };
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let (before, is_endless) = (one.rows("unfinished.csv"), !one.rows("endless.csv").is_empty());
    if before.is_empty() || is_endless || may_stall(&scenario, &one) || one.summary.stopped.is_some() {
        return Verdict::Idle;
    }
    let mut long = document.clone();
    long.0.remove("monitor");
    long.set("run", "stop", crate::document::time(one.summary.simulated_ns + LONG));
    let Ok(other) = context.bench.run(&long) else { return Verdict::Idle };
    let after = other.rows("unfinished.csv");
    let is_the_same = |row: &&Row<'_>| {
        after.iter().any(|later| ["flow", "acked_bytes"].iter().all(|key| later.get(key) == row.get(key)))
    };
    let stuck = before.iter().find(is_the_same);
    let why = stuck.map(|row| {
        format!(
            "flow {} has {} of {} bytes, and a second later too",
            row["flow"], row["acked_bytes"], row["size_bytes"]
        )
    });
    verdict(why, || Second::File(long.text()))
}
