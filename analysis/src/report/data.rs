// SPDX-License-Identifier: GPL-2.0-only
//! Everything that the page shows, as JSON.

use std::cmp::Reverse;

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_model::results::Note;
use hpcc_model::results::ports_csv::{self, PortRow};
use serde_json::{Value, json};

use super::entry::Entry;
use super::{charts, config, flows, map, timelines};
use crate::chart::number::short;
use crate::{plot, table};

/// The data of a page.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn data(entries: &[Entry]) -> Result<Value> {
    let shown: Vec<Value> = entries.iter().map(|entry| entry_data(entry, entries.len())).collect::<Result<_>>()?;
    let (charts, bins) = charts::charts(entries)?;
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "rounding": table::rounding(entries.iter().map(Entry::finished).max().unwrap_or(0)),
        "looks": plot::looks(),
        "few": table::FEW,
        "spread": entries[0].shown.spread.words(),
        "leftOut": entries.iter().flat_map(|entry| &entry.runs).any(|run| run.unfinished() > 0).then_some(table::LEFT_OUT),
        "charts": charts,
        "bins": bins,
        "entries": shown,
    }))
}

fn entry_data(entry: &Entry, entries: usize) -> Result<Value> {
    let first = entry.first();
    let totals: Vec<Value> =
        table::total_lines(&first.summary).into_iter().map(|(name, text)| json!([name, text])).collect();
    let window = [first.window.from_ns, first.window.until_ns].map(|ns| short(ns as f64 / 1e3));
    Ok(json!({
        "name": entry.name,
        "seeds": entry.runs.iter().map(|run| run.summary.seed).collect::<Vec<_>>(),
        "finished": entry.runs.iter().map(|run| run.summary.flows_finished).sum::<u64>(),
        "total": entry.runs.iter().map(|run| run.summary.flows_total).sum::<u64>(),
        "window": first.window.chosen.then_some(window),
        "versions": format!("hpcc {}, ns-3 {}", first.summary.versions.hpcc, first.summary.versions.ns3),
        "groups": first.summary.groups,
        "rows": table::rows(entry.runs.iter(), entry.shown.spread)?,
        "totals": totals,
        "notes": notes(entry),
        "assumed": first.summary.assumed.iter().map(|one| json!([one.key, one.value, one.reason])).collect::<Vec<_>>(),
        "config": config::flat(&first.summary.scenario),
        "selections": charts::selection_names(entry),
        "pauses": pauses(first)?,
        "trees": crate::pauses::trees(&first.dir)?,
        "map": map::map(first)?,
        "timelines": timelines::timelines(first)?,
        "flows": flows::columns(entry, entries)?,
    }))
}

/// Each note of its runs once, of how many if not of all, and whether others say the same with other numbers.
fn notes(entry: &Entry) -> Vec<String> {
    let words = |text: &str| text.replace(|letter: char| letter.is_ascii_digit() || ".,".contains(letter), "");
    // With the run that said it last: what one run says twice is two notes.
    let mut found: Vec<(&str, usize, bool, usize)> = Vec::new();
    for (run, results) in entry.runs.iter().enumerate() {
        for Note { text, .. } in &results.summary.notes {
            match found.iter_mut().find(|(known, .., last)| *last != run && words(known) == words(text)) {
                Some((known, runs, differs, last)) => {
                    (*runs, *differs, *last) = (*runs + 1, *differs || known != text, run);
                }
                None => found.push((text, 1, false, run)),
            }
        }
    }
    let runs = entry.runs.len();
    let told = |(text, of, differs, _): (&str, usize, bool, usize)| match (of < runs, differs) {
        (false, false) => text.into(),
        (true, false) => format!("{text} ({of} of {runs} seeds)"),
        (_, true) => format!("{text} ({of} of {runs} seeds, others with other numbers)"),
    };
    found.into_iter().map(told).collect()
}

/// The ports that PFC paused, the longest-paused first: where the pause took effect, for how long, and as a share of the
/// time that flows were sending.
fn pauses(results: &Results) -> Result<Vec<Value>> {
    let ports = ports_csv::read(&results.dir.join("ports.csv"))?;
    let mut paused: Vec<PortRow> = ports.into_iter().filter(|port| port.paused_ns > 0).collect();
    paused.sort_by_key(|port| (Reverse(port.paused_ns), port.node, port.port));
    let span = results.last_end_ns().saturating_sub(results.first_start_ns()).max(1);
    let kind = |is_switch: u8| if is_switch == 1 { "switch" } else { "host" };
    let row = |port: &PortRow| {
        json!({
            "link": format!("{} {} → {}", kind(port.is_switch), port.node, port.peer),
            "us": short(port.paused_ns as f64 / 1e3),
            "share": short((port.paused_ns as f64 / span as f64).min(1.0)),
        })
    };
    Ok(paused.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Shown;
    use hpcc_core::units::{BitRate, Nanos};
    use hpcc_measures::results::Results;
    use hpcc_measures::select::Selection;
    use hpcc_model::results::control_csv::ControlRow;
    use hpcc_model::results::{FctRecord, ResultWriter, RowPlace, Summary, UnfinishedFlow, Versions};
    use std::path::{Path, PathBuf};

    /// Sixty flows of two groups, each watched, the last ten of which do not end.
    fn run(root: &Path) -> PathBuf {
        let dir = root.join("out");
        let mut writer = ResultWriter::create(&dir).expect("create");
        writer.begin_control();
        for flow in 0..60u32 {
            let (group, dst, start_ns) = (flow % 2, 100 + flow % 7, u64::from(1_000 + 40 * flow));
            let (size, end_ns) = (u64::from(1_000 + 137 * flow), start_ns + 900 + u64::from(10 * flow));
            let middle_ns = start_ns.midpoint(end_ns);
            for (time_ns, bytes) in [(middle_ns, size / 3), (end_ns, size - size / 3)] {
                writer.goodput(RowPlace::of_sample(time_ns, flow), Nanos(time_ns), flow, BitRate(0), bytes);
            }
            writer.control(&ControlRow {
                time_ns: middle_ns,
                flow,
                rate_bps: size,
                window_bytes: 9,
                in_flight_bytes: 1,
                bottleneck: Some(1),
                rtt_ns: Some(4_321),
                ..ControlRow::default()
            });
            if flow < 50 {
                let fct_ns = end_ns - start_ns;
                let ideal_ns = u64::from(100 + flow);
                let flow = FctRecord { flow, group, dst, size, start_ns, fct_ns, ideal_ns, ..FctRecord::default() };
                writer.flow_finished(&flow);
            } else {
                let flow = UnfinishedFlow { flow, group, dst, size, start_ns, ..UnfinishedFlow::default() };
                writer.flow_unfinished(flow.flow.into(), &flow);
            }
        }
        let versions = Versions { hpcc: "0.1.0".into(), ns3: "3.37".into() };
        let groups = vec!["a".to_owned(), "b".to_owned()];
        let (flows_total, flows_finished, simulated_ns) = (60, 50, 9_000);
        let summary = Summary { versions, groups, flows_total, flows_finished, simulated_ns, ..Summary::default() };
        writer.finish(&summary).expect("finish");
        dir
    }

    #[test]
    fn flows_that_are_not_kept_make_the_same_page() {
        let root = tempfile::tempdir().expect("folder");
        let dir = run(root.path());
        let part =
            Selection { groups: vec!["b".into()], warm_up: Some(500), until: Some(2_100), ..Selection::default() };
        for (selection, shown) in [(Selection::default(), 60), (part, 20)] {
            let [kept, read_again] = [60, 9].map(|most| {
                let mut results = Results::load_keeping(&dir, most).expect("own results");
                selection.apply(&mut results).expect("some flows");
                let (rows, text) = (results.kept(), table::render(&results).expect("own results"));
                let entry = Entry { name: "a".into(), runs: vec![results], is_run: true, shown: Shown::default() };
                (rows, text, data(&[entry]).expect("own results"))
            });
            assert_eq!((kept.0, read_again.0), (60, 0));
            assert_eq!((kept.1, &kept.2), (read_again.1, &read_again.2));
            let entry = &kept.2["entries"][0];
            assert_eq!(entry["flows"]["of"], shown);
            let charts = kept.2["charts"].as_array().expect("charts");
            let lines = |slot: &Value| {
                slot["charts"].as_array().expect("charts").iter().all(|chart| chart["lines"] != json!([]))
            };
            assert_eq!(charts.iter().filter(|slot| lines(slot)).count(), 8, "all but those of queues and ports");
        }
    }
}
