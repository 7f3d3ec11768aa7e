// SPDX-License-Identifier: GPL-2.0-only
//! What must be true of a run, whatever its settings.

use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Value;
use hpcc_core::switch::BufferKind;
use hpcc_core::transport::{Protocol, QueuePairs};
use hpcc_formats::results::{CsvRow, FctRecord, ResultError, Rows, Summary, UnfinishedFlow};
use hpcc_formats::results::{fct_csv, goodput_csv, queue_csv, unfinished_csv};
use hpcc_formats::scenario::Scenario;
use hpcc_tests::{Bench, ProcessOutput};
use std::collections::BTreeMap;

/// Words by which programs say that they broke, whatever their exit code.
const BROKEN: &[&str] =
    &["panicked", "Sanitizer", "runtime error", "ASSERT", "NS_FATAL", "overflow", "terminate called"];

/// The results of a run.
pub struct Results {
    pub summary: Summary,
    pub finished: Vec<FctRecord>,
    pub unfinished: Vec<UnfinishedFlow>,
}

/// Whether a program says that it broke.
pub fn is_broken(output: &ProcessOutput) -> bool {
    BROKEN.iter().any(|word| output.err.contains(word))
}

/// Checks how a run in the folder `out` ended and what it left.
///
/// # Errors
/// With what is wrong.
pub fn all(bench: &Bench, scenario: &Scenario, output: &ProcessOutput) -> Result<Results, String> {
    expect(!is_broken(output) && matches!(output.code, Some(0 | 3)), || {
        format!("ends with {:?}: {}", output.code, output.err)
    })?;
    let text = |error: ResultError| error.to_string();
    let summary = Summary::read(&bench.path("out/summary.json")).map_err(text)?;
    let (finished, unfinished) = flows(bench, "out")?;
    let results = Results { summary, finished, unfinished };
    counts(&results, output)?;
    times(scenario, &results)?;
    losses(scenario, &results)?;
    marks(scenario, &results)?;
    if scenario.monitor.goodput_interval.is_some() {
        goodput(bench, &results)?;
    }
    queues(bench, scenario)?;
    Ok(results)
}

/// The flows that ended, and those that did not, in a folder of results.
///
/// # Errors
/// If the files cannot be read.
pub fn flows(bench: &Bench, out: &str) -> Result<(Vec<FctRecord>, Vec<UnfinishedFlow>), String> {
    let text = |error: ResultError| error.to_string();
    let finished = fct_csv::read(&bench.path(&format!("{out}/fct.csv"))).map_err(text)?;
    Ok((finished, unfinished_csv::read(&bench.path(&format!("{out}/unfinished.csv"))).map_err(text)?))
}

fn expect(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    holds.then_some(()).ok_or_else(why)
}

/// Every flow ends up in one of two files, and the exit code says in which.
fn counts(Results { summary, finished, unfinished }: &Results, output: &ProcessOutput) -> Result<(), String> {
    let rows = (finished.len() as u64, unfinished.len() as u64);
    let as_summed = rows.0 == summary.flows_finished && rows.0 + rows.1 == summary.flows_total;
    expect(as_summed, || format!("{rows:?} flows of {}, {}", summary.flows_total, summary.flows_finished))?;
    expect((output.code == Some(0)) == (rows.1 == 0), || format!("exit {:?} with {rows:?} flows", output.code))?;
    let beyond = unfinished.iter().find(|flow| flow.acked_bytes > flow.size);
    expect(beyond.is_none(), || format!("more than all is acknowledged: {beyond:?}"))
}

/// No flow ends after the run, or is faster than alone.
fn times(scenario: &Scenario, Results { summary, finished, .. }: &Results) -> Result<(), String> {
    let late = finished.iter().find(|flow| flow.start_ns + flow.fct_ns > summary.simulated_ns);
    expect(late.is_none(), || format!("ends after {} ns: {late:?}", summary.simulated_ns))?;
    // Exact rates take off one frame what rounding added to another, a nanosecond or two for each link.
    let rounding = if scenario.transport().exact_rates { 10 } else { 0 };
    let early = finished.iter().find(|flow| flow.fct_ns + rounding < flow.ideal_ns);
    expect(early.is_none() || has_other_ideal(scenario), || format!("faster than ideal: {early:?}"))
}

/// Whether flows may be faster than the ideal time, as documented.
fn has_other_ideal(scenario: &Scenario) -> bool {
    let is = |section, key, value| scenario.settings.get(section, None, key).is_some_and(|now| now.text() == value);
    !is("switch", "telemetry_records", "all")
        || is("transport", "queue_pairs", "per_pair")
        || is("fast_cnp", "migrate", "true")
        || !is("load_balancing", "scheme", "ecmp")
        || !is("transport", "entropy", "flow")
        || is("transport", "kind", "uec")
        || !is("load_balancing", "ecmp_seed", "switch")
        || is("load_balancing", "ecmp_weighted", "true")
        || !is("telemetry", "paths", "1")
        || !is("telemetry", "csig_strip", "none")
        || is_disturbed(scenario)
}

/// Frames are dropped and lost only where something explains it.
fn losses(scenario: &Scenario, Results { summary, .. }: &Results) -> Result<(), String> {
    let watches = scenario.settings.get("switch", None, "pfc_watchdog").is_some_and(|now| now.text() == "drop");
    let explained = is_disturbed(scenario) || watches;
    expect(explained || summary.losses == 0, || format!("{} losses on links that lose nothing", summary.losses))?;
    let switch = &scenario.settings.switch;
    // Hosts with a stack drop what exceeds the queue of their own port.
    let is_rdma = scenario.settings.protocol.protocol == Protocol::Rdma;
    let has_room = is_rdma && switch.mode == BufferKind::Lossless && switch.headroom.is_none();
    let drops = summary.dropped();
    expect(explained || !has_room || drops == 0, || format!("{drops} drops with PFC"))
}

/// Round-trip times of an idle network after which nothing of a flow that has finished is on its way.
const STILL: u64 = 100;

/// Each mark that switches made is heard of, told with others, or lost, once all is still.
fn marks(scenario: &Scenario, Results { summary, finished, unfinished }: &Results) -> Result<(), String> {
    let last = finished.iter().map(|flow| flow.start_ns + flow.fct_ns).max().unwrap_or(0);
    let is_still = unfinished.is_empty() && last + STILL * summary.base_rtt_ns <= summary.simulated_ns;
    let Summary { marks, marks_heard, marks_merged, marks_lost, .. } = *summary;
    let holds = marks == marks_heard + marks_merged + marks_lost;
    expect(holds || !is_still || is_disturbed(scenario), || {
        format!("{marks} marks: {marks_heard} heard, {marks_merged} merged, {marks_lost} lost")
    })
}

/// Whether links fail or become worse, someone attacks, or faults of the reference are repeated.
fn is_disturbed(scenario: &Scenario) -> bool {
    !scenario.link_failures.is_empty()
        || !scenario.degraded.is_empty()
        || !scenario.attacks.is_empty()
        || scenario.faults() != ReferenceFaults::NONE
}

/// Below this rate a packet may take a second.
const SLOW: u64 = 1_000_000;

/// Whether flows may take for ever: what was dropped is not repeated, the network is disturbed, flows may become slow, or a
/// note says so.
pub fn may_stall(scenario: &Scenario, Results { summary, .. }: &Results) -> bool {
    let is_noted = scenario.notes.iter().any(|note| note.contains("a timeout"));
    // The note does not look at messages of one queue pair.
    let transport = scenario.transport();
    let is_silent = transport.ack_offset > 1 && transport.queue_pairs == QueuePairs::PerPair;
    let line_rate = scenario.network.host_rates().min().unwrap_or_default();
    let paced = scenario.settings.get("transport", None, "paced_rate");
    let is_slow = scenario.algorithm().min_rate(line_rate).is_some_and(|rate| rate.0 < SLOW)
        || matches!(paced, Some(Value::Rate(rate)) if rate.0 < SLOW);
    let repeats = transport.timeout.is_some() && scenario.settings.protocol.protocol != Protocol::Udp;
    // A queue that is too long with one packet cuts each.
    let cuts_all = scenario.settings.switch.trim_threshold.is_some_and(|most| most.0 < transport.mtu.into());
    let is_lossy = cuts_all || summary.dropped() > 0 && !repeats;
    is_noted || is_silent || is_slow || is_lossy || is_disturbed(scenario)
}

fn all_rows<T: CsvRow>(rows: Result<Rows<T>, ResultError>) -> Result<Vec<T>, String> {
    rows.and_then(Iterator::collect).map_err(|error| error.to_string())
}

/// Acknowledged bytes over time add up to the flows' sizes, and to the bytes of unfinished ones.
fn goodput(bench: &Bench, Results { finished, unfinished, .. }: &Results) -> Result<(), String> {
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for row in all_rows(goodput_csv::rows(&bench.path("out/goodput.csv")))? {
        *sums.entry(row.flow).or_default() += row.bytes;
    }
    let sum = |flow: u32| sums.get(&flow).copied().unwrap_or(0);
    let short = finished.iter().find(|flow| sum(flow.flow) != flow.size);
    expect(short.is_none(), || format!("{:?} bytes in goodput.csv of {short:?}", short.map(|flow| sum(flow.flow))))?;
    let other = unfinished.iter().find(|flow| sum(flow.flow) > flow.size);
    expect(other.is_none(), || format!("{:?} bytes in goodput.csv of {other:?}", other.map(|flow| sum(flow.flow))))
}

/// No switch holds more than its buffer.
fn queues(bench: &Bench, scenario: &Scenario) -> Result<(), String> {
    let buffer = scenario.settings.switch.buffer.0;
    let rows = all_rows(queue_csv::rows(&bench.path("out/queue.csv")))?;
    let longest = rows.iter().max_by_key(|row| row.qlen_bytes);
    expect(longest.is_none_or(|row| row.qlen_bytes <= buffer), || format!("beyond {buffer} bytes: {longest:?}"))
}
