// SPDX-License-Identifier: GPL-2.0-only
//! `queue-cdf.svg`: how often queues are longer than so many bytes.
//!
//! Most ports are empty most of the time, so the figure shows what is left of 1: the complement of the
//! distribution, over all switch ports and the time that all runs have in common.

use std::collections::BTreeMap;

use anyhow::Result;
use hpcc_formats::results::queue_csv;

use super::super::file::SweepFile;
use super::super::group::{Group, Measured};
use super::super::report::Series;
use super::{line, subtitle};
use crate::chart::{At, Axis, Chart, Line};
use crate::plot::Figure;

/// Points of a line.
const POINTS: u32 = 160;
/// Shares below this are not shown, nor below the rarest that occurred.
const RAREST: f64 = 1e-7;
/// Shorter queues are single frames.
const SHORTEST: f64 = 1e3;

/// How long queues had which length: port-nanoseconds by bytes.
type Durations = BTreeMap<u64, u64>;

/// Draws the figure, if queues were recorded and some built up.
///
/// # Errors
/// If a `queue.csv` cannot be read, or by the plotting library.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let runs = || groups.iter().flat_map(|group| group.runs.iter().copied());
    let span = |run: &Measured<'_>| run.results.last_end_ns().saturating_sub(run.results.first_start_ns());
    let common_ns = runs().map(span).min().unwrap_or(0);
    if common_ns == 0 || !runs().all(|run| run.run.facts.records(Series::Queues)) {
        return Ok(None);
    }
    let of_group = |group: &&Group<'_>| group.runs.iter().map(|run| share_above(run, common_ns)).collect();
    let shares: Vec<Vec<Vec<(f64, f64)>>> = groups.iter().map(of_group).collect::<Result<_>>()?;
    let all = || shares.iter().flatten().flatten();
    let longest = all().map(|(bytes, _)| *bytes).fold(0.0, f64::max);
    if longest <= SHORTEST {
        return Ok(None);
    }
    let rarest = all().map(|(_, share)| *share).fold(1.0, f64::min).max(RAREST);
    let at: Vec<f64> = lengths(longest).collect();
    let x = Axis::sizes("Queue length", SHORTEST * 1.6..longest);
    let chart = Chart {
        title: "Queue length".to_owned(),
        y: Axis::share("Fraction of time with a longer queue", rarest),
        lines: groups.iter().zip(&shares).map(|(group, seeds)| line_of(file, group, seeds, &at, rarest)).collect(),
        x,
        at: At::Each(at),
        stepped: false,
        points: false,
    };
    let what = format!("time of all switch ports, first {:.2} ms", common_ns as f64 / 1e6);
    let subtitle = subtitle(file, &what, groups);
    Ok(Some(Figure { title: "Queue length".to_owned(), subtitle, charts: vec![chart] }))
}

/// Each length that a queue had, ascending, and the share of ports and time that had a longer one or this one.
fn share_above(run: &Measured<'_>, span_ns: u64) -> Result<Vec<(f64, f64)>> {
    let durations = durations(run, span_ns)?;
    let whole = run.run.facts.switch_ports as f64 * span_ns as f64;
    let mut above = 0;
    let descending = durations.iter().rev().map(|(bytes, duration)| {
        above += duration;
        (*bytes as f64, above as f64 / whole)
    });
    let mut shares: Vec<(f64, f64)> = descending.collect();
    shares.reverse();
    Ok(shares)
}

/// The line of a variant. Where only some seeds had such a queue, the others count as 0.
fn line_of(file: &SweepFile, group: &Group<'_>, seeds: &[Vec<(f64, f64)>], at: &[f64], rarest: f64) -> Line {
    let mut values: Vec<Vec<Option<f64>>> = seeds.iter().map(|shares| above(shares, at)).collect();
    for place in 0..at.len() {
        if values.iter().any(|seed| seed[place].is_some()) {
            values.iter_mut().for_each(|seed| seed[place] = seed[place].or(Some(0.0)));
        }
    }
    let shown = |share: f64| share.max(rarest);
    let mut line = line(file, group, &values);
    line.y.iter_mut().flatten().for_each(|share| *share = shown(*share));
    line.band.iter_mut().flatten().for_each(|(low, high)| (*low, *high) = (shown(*low), shown(*high)));
    line
}

/// From the run's first start on. An empty queue needs no entry.
fn durations(run: &Measured<'_>, span_ns: u64) -> Result<Durations> {
    let mut durations = Durations::new();
    let start = run.results.first_start_ns();
    let end = start + span_ns;
    let mut last: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    let mut add = |(since, bytes): (u64, u64), until: u64| {
        let (from, to) = (since.clamp(start, end), until.clamp(start, end));
        if bytes > 0 && to > from {
            *durations.entry(bytes).or_default() += to - from;
        }
    };
    for row in queue_csv::rows(&run.results.dir.join("queue.csv"))? {
        let row = row?;
        if let Some(state) = last.insert((row.node, row.port), (row.time_ns, row.qlen_bytes)) {
            add(state, row.time_ns);
        }
    }
    last.into_values().for_each(|state| add(state, end));
    Ok(durations)
}

/// Lengths at equal distances of their logarithms.
fn lengths(longest: f64) -> impl Iterator<Item = f64> {
    let (from, to) = (SHORTEST.log10(), longest.log10());
    (0..=POINTS).map(move |step| 10f64.powf(from + (to - from) * f64::from(step) / f64::from(POINTS)))
}

/// The share above each length.
fn above(shares: &[(f64, f64)], lengths: &[f64]) -> Vec<Option<f64>> {
    let share = |length: &f64| {
        let next = shares.partition_point(|(bytes, _)| bytes.log10() < length.log10() - 1e-9);
        shares.get(next).map(|(_, share)| *share)
    };
    lengths.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_falls_and_ends_at_the_longest_queue() {
        let lengths: Vec<f64> = lengths(100_000.0).collect();
        let line = above(&[(2_000.0, 0.1), (50_000.0, 0.01)], &lengths);
        let values: Vec<f64> = line.iter().copied().flatten().collect();
        assert!(values.is_sorted_by(|a, b| a >= b) && values[0] == 0.1 && values[values.len() - 1] == 0.01);
        assert!(lengths[values.len() - 1] <= 50_001.0 && line[values.len()..].iter().all(Option::is_none));
    }
}
