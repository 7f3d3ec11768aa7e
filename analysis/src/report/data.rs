// SPDX-License-Identifier: GPL-2.0-only
//! Everything that the page shows, as JSON.

use std::iter;

use anyhow::Result;
use hpcc_measures::series::{Grid, Queues};
use hpcc_measures::stats::{self, Extents, Tally};
use serde_json::{Value, json};

use super::entry::Entry;
use super::number::short;
use super::time::Steps;
use super::{cdf, config, flows, map, sizes, time};
use crate::table;

/// Steps of the time axis of all entries together, and of one at least and at most.
const STEPS: usize = 9_000;
const LEAST_STEPS: usize = 300;
const MOST_STEPS: usize = 3_000;

/// The data of a page.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn data(entries: &[Entry]) -> Result<Value> {
    let axes = Axes::of(entries);
    let steps = Steps::of(entries, (STEPS / entries.len().max(1)).clamp(LEAST_STEPS, MOST_STEPS));
    let mut shown = Vec::new();
    let mut queues = Vec::new();
    for entry in entries {
        let (value, queue) = entry_data(entry, entries.len(), &axes, steps)?;
        shown.push(value);
        queues.push(queue);
    }
    let queue_kb = add_queue_cdfs(entries, &queues, &mut shown);
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "sizes": axes.sizes,
        "rounding": table::rounding(entries.iter().map(Entry::finished).max().unwrap_or(0)),
        "fct_us": axes.fct_us,
        "slowdown": axes.slowdown,
        "queue_kb": queue_kb,
        "few": table::FEW,
        "time": { "states": time_axis(steps.states), "rates": time_axis(steps.rates) },
        "entries": shown,
    }))
}

fn time_axis(grid: Grid) -> Value {
    json!({ "step_us": grid.step_ns as f64 / 1e3, "steps": grid.steps })
}

/// What the entries share.
struct Axes {
    sizes: Vec<u64>,
    fct_us: Vec<f64>,
    slowdown: Vec<f64>,
}

impl Axes {
    fn of(entries: &[Entry]) -> Axes {
        let mut all = Extents::default();
        entries.iter().flat_map(|entry| &entry.runs).for_each(|run| all.merge(run.extents()));
        let axis = |low: f64, high: f64| if high > 0.0 { cdf::axis(low, high) } else { Vec::new() };
        Axes {
            sizes: all.sizes.size_bounds(entries.len() as u64),
            fct_us: axis(all.times_ns.low / 1e3, all.times_ns.high / 1e3),
            slowdown: axis(all.slowdowns.low, all.slowdowns.high),
        }
    }
}

fn entry_data(entry: &Entry, entries: usize, axes: &Axes, steps: Steps) -> Result<(Value, Queues)> {
    let first = entry.first();
    let (series, queues) = time::series(first, steps)?;
    let totals: Vec<Value> =
        table::total_lines(&first.summary).into_iter().map(|(name, text)| json!([name, text])).collect();
    let value = json!({
        "name": entry.name,
        "folder": first.dir.display().to_string(),
        "seeds": entry.runs.iter().map(|run| run.summary.seed).collect::<Vec<_>>(),
        "finished": entry.runs.iter().map(|run| run.summary.flows_finished).sum::<u64>(),
        "total": entry.runs.iter().map(|run| run.summary.flows_total).sum::<u64>(),
        "window": first.window.chosen.then(|| [
            short(first.window.from_ns as f64 / 1e3),
            short(first.window.until_ns as f64 / 1e3),
        ]),
        "versions": format!("hpcc {}, ns-3 {}", first.summary.versions.hpcc, first.summary.versions.ns3),
        "groups": first.summary.groups,
        "rows": table::rows(entry.runs.iter())?,
        "totals": totals,
        "config": config::flat(&first.summary.scenario),
        "selections": selections(entry, axes)?,
        "time": series,
        "pauses": time::pauses(first)?,
        "map": map::map(first)?,
        "flows": flows::columns(entry, entries)?,
    });
    Ok((value, queues))
}

/// Distributions of all flows, and by group if there are several.
fn selections(entry: &Entry, axes: &Axes) -> Result<Vec<Value>> {
    let groups = entry.first().groups();
    let groups = if groups.len() > 1 { groups } else { Vec::new() };
    let bins = axes.sizes.len();
    // Of each selection, a set for all sizes, and one for each bin.
    let tallies = stats::tally(entry.runs.iter(), (1 + groups.len()) * (1 + bins), |flow, add| {
        let group = groups.iter().position(|(number, _)| *number == flow.group);
        for selection in iter::once(0).chain(group.map(|group| 1 + group)) {
            let begin = selection * (1 + bins);
            add(begin);
            add(begin + 1 + stats::bin_of(&axes.sizes, flow));
        }
    })?;
    // Rounded, as a product may be a little less than the time that it stands for.
    let fct_ns: Vec<f64> = axes.fct_us.iter().map(|us| (us * 1e6).round() / 1e3).collect();
    let names = iter::once("all flows").chain(groups.iter().map(|(_, name)| *name));
    let selection = |(name, sets): (&str, &[Tally])| {
        json!({
            "name": name,
            "bySize": sizes::percentiles(&sets[1..].iter().map(Tally::stats).collect::<Vec<_>>()),
            "fct": cdf::share_up_to(&sets[0].times_ns, &fct_ns),
            "slowdown": cdf::share_up_to(&sets[0].slowdowns, &axes.slowdown),
        })
    };
    Ok(names.zip(tallies.chunks(1 + bins)).map(selection).collect())
}

/// Adds the share of time that queues were longer than so many kB to each entry, and returns the axis. Of the busiest
/// port, for averages over ports say more of their number than of queues.
fn add_queue_cdfs(entries: &[Entry], queues: &[Queues], shown: &mut [Value]) -> Vec<f64> {
    let longest = queues.iter().filter_map(|queues| queues.busiest.last()).map(|(bytes, _)| *bytes).max().unwrap_or(0);
    if longest == 0 {
        return Vec::new();
    }
    let shortest =
        queues.iter().filter_map(|queues| queues.busiest.first()).map(|(bytes, _)| *bytes).min().unwrap_or(1);
    let axis = cdf::axis(shortest as f64 / 1.01, longest as f64);
    for ((entry, queues), value) in entries.iter().zip(queues).zip(shown) {
        let span = entry.first().window.span_ns().max(1) as f64;
        value["queueAbove"] = json!(cdf::share_above(&queues.busiest, span, &axis));
    }
    axis.into_iter().map(|bytes| short(bytes / 1e3)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::units::{BitRate, Nanos};
    use hpcc_formats::results::control_csv::ControlRow;
    use hpcc_formats::results::{FctRecord, ResultWriter, RowPlace, Summary, UnfinishedFlow, Versions};
    use hpcc_measures::results::Results;
    use hpcc_measures::select::Selection;
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
                utilisation: None,
                bottleneck: Some(1),
                rtt_ns: Some(4_321),
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
                let entry = Entry { name: "a".into(), runs: vec![results], is_run: true };
                (rows, text, data(&[entry]).expect("own results"))
            });
            assert_eq!((kept.0, read_again.0), (60, 0));
            assert_eq!((kept.1, &kept.2), (read_again.1, &read_again.2));
            let entry = &kept.2["entries"][0];
            assert_eq!(entry["flows"]["of"], shown);
            for lines in [&entry["time"]["goodput"], &entry["time"]["jain"], &entry["time"]["control"]["bottleneck"]] {
                assert!(lines.as_array().is_some_and(|lines| !lines.is_empty()), "{entry}");
            }
        }
    }
}
