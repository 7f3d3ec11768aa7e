// SPDX-License-Identifier: GPL-2.0-only
//! `control.csv` on a grid of equal steps: what congestion control made of flows.

use std::cmp::Reverse;
use std::collections::HashMap;

use anyhow::Result;
use bit_set::BitSet;
use hpcc_formats::results::control_csv::{self, ControlRow};
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::Grid;

/// What is recorded of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Sending rate, in Gb/s.
    Rate,
    /// Window, in kB.
    Window,
    /// Bytes in flight, in kB.
    InFlight,
    /// U of the busiest link.
    Utilisation,
    /// Which link that is: 0 for the one behind the path's first switch.
    Bottleneck,
    /// Newest round-trip time of a packet, in us.
    RoundTrip,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Quantity; 6] = [
        Quantity::Rate,
        Quantity::Window,
        Quantity::InFlight,
        Quantity::Utilisation,
        Quantity::Bottleneck,
        Quantity::RoundTrip,
    ];

    /// Name in the data of the page.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Rate => "rate",
            Quantity::Window => "window",
            Quantity::InFlight => "inFlight",
            Quantity::Utilisation => "u",
            Quantity::Bottleneck => "bottleneck",
            Quantity::RoundTrip => "rtt",
        }
    }

    /// With its unit, for an axis.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::Rate => "Rate (Gb/s)",
            Quantity::Window => "Window (kB)",
            Quantity::InFlight => "In flight (kB)",
            Quantity::Utilisation => "U of the busiest link",
            Quantity::Bottleneck => "Bottleneck (0: first switch)",
            Quantity::RoundTrip => "Round-trip time (us)",
        }
    }

    /// Its value in a row; nothing where the flow has none.
    fn of(self, row: &ControlRow) -> Option<f64> {
        match self {
            Quantity::Rate => Some(row.rate_bps as f64 / 1e9),
            Quantity::Window => Some(row.window_bytes as f64 / 1e3).filter(|window| *window > 0.0),
            Quantity::InFlight => Some(row.in_flight_bytes as f64 / 1e3),
            Quantity::Utilisation => row.utilisation,
            Quantity::Bottleneck => row.bottleneck.map(f64::from),
            Quantity::RoundTrip => row.rtt_ns.map(|ns| ns as f64 / 1e3),
        }
    }
}

/// The watched flows that sent most.
#[derive(Debug, Default)]
pub struct Watched {
    /// Each flow, with the values of each quantity in each step; NaN where there is none.
    pub flows: Vec<(Life, [Vec<f64>; Quantity::ALL.len()])>,
}

impl Watched {
    /// Whether a flow has a value of this quantity.
    pub fn has(&self, quantity: Quantity) -> bool {
        self.flows.iter().any(|(_, values)| values[quantity as usize].iter().any(|value| value.is_finite()))
    }
}

/// Whether the run watched flows.
pub fn is_recorded(results: &Results) -> bool {
    results.summary.files.get("control.csv").and_then(|file| file.rows).is_some_and(|rows| rows > 0)
}

/// Reads what was recorded of at most so many flows. A value holds until the next one, and the last until the flow's end.
///
/// # Errors
/// If `control.csv` cannot be read.
pub fn watched(results: &Results, grid: Grid, most: usize) -> Result<Watched> {
    if !is_recorded(results) {
        return Ok(Watched::default());
    }
    let file = results.dir.join("control.csv");
    let mut recorded = BitSet::new();
    for row in control_csv::rows(&file)? {
        recorded.insert(row?.flow as usize);
    }
    let lives = results.first_lives(most, |life| (!recorded.contains(life.flow as usize), Reverse(life.bytes)))?;
    let lives: Vec<Life> = lives.into_iter().filter(|life| recorded.contains(life.flow as usize)).collect();
    let mut rows: HashMap<u32, Vec<ControlRow>> = lives.iter().map(|life| (life.flow, Vec::new())).collect();
    for row in control_csv::rows(&file)? {
        let row = row?;
        if let Some(rows) = rows.get_mut(&row.flow) {
            rows.push(row);
        }
    }
    let values = |life: &Life| {
        let rows = rows.get(&life.flow).map(Vec::as_slice).unwrap_or_default();
        Quantity::ALL.map(|quantity| held(rows, quantity, life.end_ns, grid))
    };
    Ok(Watched { flows: lives.iter().map(|life| (*life, values(life))).collect() })
}

fn held(rows: &[ControlRow], quantity: Quantity, end_ns: u64, grid: Grid) -> Vec<f64> {
    let mut values = vec![f64::NAN; grid.steps];
    for (index, row) in rows.iter().enumerate() {
        let until = rows.get(index + 1).map_or(end_ns, |next| next.time_ns);
        if let Some(value) = quantity.of(row) {
            grid.overlaps(row.time_ns, until, |step, _| values[step] = value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_the_next_and_what_is_missing_stays_so() {
        let row = |time_ns, rate_bps, utilisation, rtt_ns| ControlRow {
            time_ns,
            flow: 0,
            rate_bps,
            window_bytes: 0,
            in_flight_bytes: 3_000,
            utilisation,
            bottleneck: Some(2),
            rtt_ns,
        };
        let rows = [row(100, 5_000_000_000, None, None), row(300, 9_000_000_000, Some(0.5), Some(8_500))];
        let grid = Grid { origin_ns: 0, step_ns: 100, steps: 5 };
        let of = |quantity| held(&rows, quantity, 400, grid);
        let text = |values: Vec<f64>| format!("{values:?}");
        assert_eq!(text(of(Quantity::Rate)), "[NaN, 5.0, 5.0, 9.0, NaN]");
        assert_eq!(text(of(Quantity::Utilisation)), "[NaN, NaN, NaN, 0.5, NaN]");
        assert_eq!(text(of(Quantity::Bottleneck)), "[NaN, 2.0, 2.0, 2.0, NaN]");
        assert_eq!(text(of(Quantity::RoundTrip)), "[NaN, NaN, NaN, 8.5, NaN]", "in us");
        assert_eq!(text(of(Quantity::Window)), "[NaN, NaN, NaN, NaN, NaN]", "0 stands for none");
    }
}
