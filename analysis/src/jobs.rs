// SPDX-License-Identifier: GPL-2.0-only
//! The jobs of a run as text: collectives in the columns that nccl-tests have, and how long each job took.

use anyhow::Result;
use hpcc_core::units::Nanos;
use hpcc_measures::results::Results;
use hpcc_model::results::collectives_csv::{self, CollectiveRow};
use hpcc_model::results::jobs_csv;
use hpcc_model::results::requests_csv::RequestRow;
use hpcc_model::results::{CsvRow, Rows};
use std::collections::BTreeMap;
use std::path::Path;

use crate::busiest::{Busiest, busiest};
use crate::human;
use crate::table::table;

/// Figures of all jobs of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Time of the longest, if there are jobs and all are over.
    pub time_ns: Option<f64>,
    /// Bus bandwidth of all collectives, by their time, in GB/s, if there are any.
    pub busbw: Option<f64>,
}

/// Figures of all jobs in a folder of results.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn totals(dir: &Path) -> Result<Totals> {
    let jobs = dir.join("jobs.csv");
    if !jobs.exists() {
        return Ok(Totals::default());
    }
    let times: Option<Vec<u64>> = jobs_csv::read(&jobs)?.iter().map(|job| job.time_ns).collect();
    let (mut time, mut moved) = (0.0, 0.0);
    for row in collectives_csv::read(&dir.join("collectives.csv"))? {
        time += row.time_ns as f64;
        moved += row.busbw * row.time_ns as f64;
    }
    let longest = times.and_then(|times| times.into_iter().max());
    Ok(Totals { time_ns: longest.map(|time| time as f64), busbw: (time > 0.0).then(|| moved / time) })
}

/// The tables of a run's jobs; nothing if there are none.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn render(results: &Results) -> Result<String> {
    let (jobs, collectives) = (results.dir.join("jobs.csv"), results.dir.join("collectives.csv"));
    if !jobs.exists() {
        return Ok(String::new());
    }
    let name = |group: u32| results.summary.groups.get(group as usize).cloned().unwrap_or_default();
    let rows = jobs_csv::read(&jobs)?.into_iter().map(|job| {
        let time = job.time_ns.map_or_else(|| format!("{} ranks are not over", job.ranks - job.finished), microseconds);
        let share = |ns: u64| job.time_ns.map_or_else(|| "-".into(), |time| percent(ns, time));
        vec![
            name(job.group),
            human::count(job.ranks.into()),
            time,
            share(job.compute_ns),
            share(job.exposed_ns),
            job.time_ns
                .zip(job.ideal_ns)
                .map_or_else(|| "-".into(), |(time, ideal)| percent(time.saturating_sub(ideal), time)),
            format!("{} by {}", job.slowest, microseconds(job.spread_ns)),
            human::count(job.messages),
            human::bytes(job.bytes),
        ]
    });
    let header =
        ["job", "ranks", "time (us)", "computing", "exposed", "lost", "last rank, by (us)", "messages", "bytes"];
    let mut text = table(&header, rows) + "\n";
    let collectives = collectives_csv::read(&collectives)?;
    if !collectives.is_empty() {
        let mut kinds = BTreeMap::<_, Vec<&CollectiveRow>>::new();
        for row in &collectives {
            kinds
                .entry((row.group, (&row.operation, &row.algorithm, &row.protocol, row.channels), row.ranks, row.size))
                .or_default()
                .push(row);
        }
        let times =
            |rows: &Vec<&CollectiveRow>| rows.iter().map(|row| (row.start_ns, row.start_ns + row.time_ns)).collect();
        let links = busiest(results, kinds.values().map(times).collect())?;
        let rows = kinds.values().zip(0..).map(|(rows, place): (_, usize)| {
            let mut cells = row(&name(rows[0].group), rows);
            cells.extend(links.iter().flat_map(|links| of_link(links[place])));
            cells
        });
        let mut header = vec![
            "job",
            "operation",
            "algorithm",
            "protocol",
            "channels",
            "ranks",
            "size (B)",
            "times",
            "time (us)",
            "shortest",
            "longest",
            "algbw (GB/s)",
            "busbw (GB/s)",
        ];
        header.extend(links.iter().flat_map(|_| ["busiest link", "used"]));
        text += &(table(&header, rows) + "\n");
    }
    Ok(text + &requests(results, name)?)
}

/// The times of requests by percentile; nothing if there are none.
///
/// # Errors
/// If the file cannot be read.
fn requests(results: &Results, name: impl Fn(u32) -> String) -> Result<String> {
    let file = results.dir.join(RequestRow::FILE);
    if !file.exists() {
        return Ok(String::new());
    }
    let mut by_job = BTreeMap::<u32, Vec<RequestRow>>::new();
    for row in Rows::<RequestRow>::open(&file)? {
        let row = row?;
        by_job.entry(row.group).or_default().push(row);
    }
    let lines = by_job.iter().flat_map(|(&group, rows)| {
        let name = name(group);
        let over = rows.iter().filter(|row| row.end_ns.is_some()).count();
        let figures: [(&str, Figure); 2] =
            [("first token (TTFT)", |row| row.ttft_ns), ("further token (TPOT)", |row| row.tpot_ns)];
        figures.map(|(what, time)| {
            let mut times: Vec<u64> = rows.iter().filter_map(time).collect();
            times.sort_unstable();
            // The least time that so many percent do not exceed.
            let at = |percent: usize| {
                (times.len() * percent).div_ceil(100).checked_sub(1).and_then(|place| times.get(place))
            };
            let cell = |time: Option<u64>| time.map_or_else(|| "-".into(), microseconds);
            let mean = times.iter().sum::<u64>().checked_div(times.len() as u64);
            let [p50, p90, p99] = [50, 90, 99].map(|percent| cell(at(percent).copied()));
            let count = format!("{} of {}", human::count(over as u64), human::count(rows.len() as u64));
            vec![name.clone(), count, what.to_owned(), cell(mean), p50, p90, p99, cell(times.last().copied())]
        })
    });
    let header = ["job", "requests over", "time (us) to", "mean", "p50", "p90", "p99", "longest"];
    Ok(table(&header, lines) + "\n")
}

/// A port, where its link leads, and how much of that is used.
fn of_link(busiest: Option<Busiest>) -> [String; 2] {
    busiest.map_or_else(Default::default, |Busiest { node, port, peer, utilisation }| {
        [format!("{node} port {port} to {peer}"), format!("{:.1} %", 100.0 * utilisation)]
    })
}

/// A time of a request.
type Figure = fn(&RequestRow) -> Option<u64>;

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn microseconds(ns: u64) -> String {
    format!("{:.2}", Nanos(ns).0 as f64 / 1e3)
}

/// All iterations of one kind of collective; bandwidths are those of the mean time.
fn row(job: &str, rows: &[&CollectiveRow]) -> Vec<String> {
    let first = rows[0];
    let mean = rows.iter().map(|row| row.time_ns).sum::<u64>() as f64 / rows.len() as f64;
    let algbw = first.size as f64 / mean.max(1.0);
    let factor = if first.algbw > 0.0 { first.busbw / first.algbw } else { 1.0 };
    let times = || rows.iter().map(|row| row.time_ns);
    vec![
        job.to_owned(),
        first.operation.clone(),
        first.algorithm.clone(),
        first.protocol.clone(),
        human::count(first.channels.into()),
        human::count(first.ranks.into()),
        human::count(first.size),
        human::count(rows.len() as u64),
        format!("{:.2}", mean / 1e3),
        microseconds(times().min().unwrap_or_default()),
        microseconds(times().max().unwrap_or_default()),
        format!("{algbw:.2}"),
        format!("{:.2}", algbw * factor),
    ]
}
