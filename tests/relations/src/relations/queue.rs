// SPDX-License-Identifier: GPL-2.0-only
//! Links that work while something waits, seen by a trace of all packets.

use super::{Context, Second, Verdict, verdict};
use crate::document::Document;
use crate::draw::Draw;
use hpcc_model::results::packet_trace::{TraceEvent, TraceReader, TraceRecord};
use hpcc_model::scenario::Scenario;
use std::collections::BTreeMap;

/// Preamble and gap, and what a rounded time is off.
const MOST_GAP: u64 = 20;
const ROUNDED: u64 = 3;

/// Any scenario, traced at all nodes.
pub(super) fn draw(draw: Draw<'_>) -> Document {
    let mut document = draw.all();
    document.set("monitor", "trace_nodes", "all");
    document.remove("failures", "links");
    document.remove("failures", "degraded");
    document.remove("failures", "reboots");
    document
}

/// A port of a switch while the trace is read.
#[derive(Clone, Copy, Default)]
struct Port {
    /// Frames that wait, and until when the last one is on the link.
    waiting: i64,
    busy: u64,
}

pub(super) fn work_conserving(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return Verdict::Idle };
    let traced = document.get("monitor", "trace_nodes").and_then(toml::Value::as_str) == Some("all");
    let is_steady = scenario.degraded.is_empty() && scenario.link_failures.is_empty() && scenario.attacks.is_empty();
    if !traced || !is_steady {
        return Verdict::Idle;
    }
    let Ok(results) = context.bench.run(document) else { return Verdict::Idle };
    // A paused port may wait.
    let summary = &results.summary;
    if summary.pfc_pauses > 0 || summary.trims.is_some() || summary.source_pauses.is_some() {
        return Verdict::Idle;
    }
    let path = context.bench.path("packets.tr");
    if results.trace.as_ref().is_none_or(|trace| std::fs::write(&path, trace).is_err()) {
        return Verdict::Idle;
    }
    let Ok(records) = TraceReader::open(&path).and_then(|reader| reader.collect::<Result<Vec<_>, _>>()) else {
        return Verdict::Idle;
    };
    verdict(idle(&scenario, &records).or_else(|| lost(&scenario, &records, summary)), || Second::None)
}

/// A port that stood idle beside a queue.
fn idle(scenario: &Scenario, records: &[TraceRecord]) -> Option<String> {
    let ends = scenario.network.ports();
    let mut ports: BTreeMap<(u16, u8), Port> = BTreeMap::new();
    for record in records.iter().filter(|record| record.is_switch) {
        let link = ends.get(record.node as usize)?.get(record.port as usize - 1)?.link;
        let rate = scenario.network.links[link as usize].rate.0;
        let port = ports.entry((record.node, record.port)).or_default();
        match record.event {
            TraceEvent::Enqueue => port.waiting += 1,
            TraceEvent::Drop => port.waiting -= 1,
            TraceEvent::Dequeue => {
                let waited = port.waiting > 1 || port.waiting == 1 && port.busy > record.time_ns;
                if waited && port.busy > 0 && record.time_ns > port.busy + ROUNDED {
                    let (node, number) = (record.node, record.port);
                    return Some(format!(
                        "port {number} of node {node} is free from {} ns on and sends again at {} ns, with {} frames that wait",
                        port.busy, record.time_ns, port.waiting
                    ));
                }
                port.waiting -= 1;
                let bits = (u64::from(record.size_bytes) + MOST_GAP) * 8;
                let lasts = (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(rate.max(1))) as u64;
                port.busy = if port.waiting > 0 { record.time_ns + lasts } else { 0 };
            }
            TraceEvent::Receive => {}
        }
    }
    None
}

/// Frames that left a port and came nowhere.
fn lost(scenario: &Scenario, records: &[TraceRecord], summary: &hpcc_model::results::Summary) -> Option<String> {
    let last = records.last()?.time_ns;
    let slowest = scenario.network.links.iter().map(|link| link.delay.0).max().unwrap_or(0);
    // What is on its way at the end comes nowhere.
    let is_still = last + slowest + 1_000_000 < summary.simulated_ns;
    let count = |event: TraceEvent| records.iter().filter(|record| record.event == event).count() as u64;
    let (left, came) = (count(TraceEvent::Dequeue), count(TraceEvent::Receive));
    (is_still && left != came + summary.losses)
        .then(|| format!("{left} frames left ports, {came} came, {} were lost", summary.losses))
}
