// SPDX-License-Identifier: GPL-2.0-only
//! How often queues are longer than so many bytes. Most queues are short most of the time, so that the chart shows what is left
//! of 1. It is of the port with the longest queue, as all figures of queues are, for averages over ports say more of their number
//! than of queues.

use anyhow::Result;
use hpcc_measures::quantity::Quantity;
use hpcc_measures::results::Results;
use hpcc_measures::window;

use super::{At, Axis, Chart, Line, Spread, cdf};

/// Rarer is not shown.
const RAREST: f64 = 1e-7;

/// How long a run's queue had which length, in ns, and how long that run was.
type Lengths = (Vec<(u64, u64)>, u64);

/// The lengths in each run.
///
/// # Errors
/// If a `queue.csv` cannot be read.
pub fn lengths<'a>(runs: impl Iterator<Item = &'a Results>) -> Result<Vec<Lengths>> {
    runs.map(window::queue_lengths).collect()
}

/// The chart of some lines: of each its seeds' lengths. Without any queue it has no line.
pub fn queue_above(lines: &[Vec<Lengths>], spread: Spread, line: impl Fn(usize, super::Pooled) -> Line) -> Chart {
    let bytes = || lines.iter().flatten().flat_map(|(lengths, _)| lengths).map(|(bytes, _)| *bytes as f64);
    let longest = bytes().fold(0.0, f64::max);
    let shortest = bytes().fold(longest, f64::min) / 1.01;
    let at = cdf::axis(shortest, longest);
    let of_line = |(place, seeds): (usize, &Vec<Lengths>)| line(place, spread.of(&above(seeds, &at), (0.0, 1.0)));
    let some = lines.iter().enumerate().filter(|(_, seeds)| seeds.iter().any(|(lengths, _)| !lengths.is_empty()));
    let lines: Vec<Line> = some.map(of_line).collect();
    let rarest = lines.iter().flat_map(Line::values).filter(|share| *share > 0.0).fold(1.0, f64::min).max(RAREST);
    Chart {
        title: Quantity::Queue.def().title.to_owned(),
        x: Axis::sizes("Queue length", shortest.max(1.0)..longest.max(1.0)),
        at: At::Each(at),
        y: Axis::share("Fraction of time with a longer queue", rarest),
        lines,
        stepped: false,
        points: false,
    }
}

/// The share of time above each length in each seed. Where only some seeds had such a queue, the others count as 0.
fn above(seeds: &[Lengths], at: &[f64]) -> Vec<Vec<Option<f64>>> {
    let share = |(lengths, span_ns): &Lengths| cdf::share_above(lengths, *span_ns as f64, at);
    let mut shares: Vec<Vec<Option<f64>>> = seeds.iter().map(share).collect();
    for place in 0..at.len() {
        if shares.iter().any(|seed| seed[place].is_some()) {
            shares.iter_mut().for_each(|seed| seed[place] = seed[place].or(Some(0.0)));
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one seed 1 % of 1,000 ns with 9 kB, in the other none: half a percent.
    #[test]
    fn seeds_without_a_queue_count_as_none() {
        let seeds = vec![(vec![(1_000, 90), (9_000, 10)], 1_000), (Vec::new(), 500)];
        let chart = queue_above(&[seeds, Vec::new()], Spread::None, |place, pooled| Line::of_seeds(place, "a", pooled));
        let values: Vec<f64> = chart.lines[0].values().collect();
        assert_eq!((chart.lines.len(), values[0], values[values.len() - 1]), (1, 0.05, 0.005));
        assert!(values.is_sorted_by(|a, b| a >= b) && chart.y.range == (1e-3..1.0), "{chart:?}");
    }
}
