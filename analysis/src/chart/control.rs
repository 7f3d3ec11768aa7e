// SPDX-License-Identifier: GPL-2.0-only
//! `control.csv` on a grid of equal steps: what congestion control made of flows.

use std::cmp::Reverse;
use std::collections::HashMap;

use anyhow::Result;
use bit_set::BitSet;
use hpcc_measures::results::{Life, Results};
use hpcc_measures::series::Grid;
use hpcc_model::results::control_csv::{self, ControlRow};

use super::{Line, flow_name};

/// A recorded quantity of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
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

impl Watched {
    /// All of them.
    pub const ALL: [Watched; 6] = [
        Watched::Rate,
        Watched::Window,
        Watched::InFlight,
        Watched::Utilisation,
        Watched::Bottleneck,
        Watched::RoundTrip,
    ];

    /// With its unit, for an axis.
    pub fn title(self) -> &'static str {
        match self {
            Watched::Rate => "Rate (Gb/s)",
            Watched::Window => "Window (kB)",
            Watched::InFlight => "In flight (kB)",
            Watched::Utilisation => "U of the busiest link",
            Watched::Bottleneck => "Bottleneck (0: first switch)",
            Watched::RoundTrip => "Round-trip time (us)",
        }
    }

    /// Its value in a row; nothing where the flow has none.
    fn of(self, row: &ControlRow) -> Option<f64> {
        match self {
            Watched::Rate => Some(row.rate_bps as f64 / 1e9),
            Watched::Window => Some(row.window_bytes as f64 / 1e3).filter(|window| *window > 0.0),
            Watched::InFlight => Some(row.in_flight_bytes as f64 / 1e3),
            Watched::Utilisation => row.utilisation,
            Watched::Bottleneck => row.bottleneck.map(f64::from),
            Watched::RoundTrip => row.rtt_ns.map(|ns| ns as f64 / 1e3),
        }
    }
}

/// The records of watched flows, of the largest if there are more than so many: each quantity that has values, with a
/// line for each flow. A value holds until the next one, and the last until the flow's end.
///
/// # Errors
/// If `control.csv` cannot be read.
pub fn control(results: &Results, grid: Grid, most: usize) -> Result<Vec<(Watched, Vec<Line>)>> {
    if results.summary.files.get("control.csv").and_then(|file| file.rows).is_none_or(|rows| rows == 0) {
        return Ok(Vec::new());
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
    let line = |quantity: Watched| {
        let rows = &rows;
        move |(variant, life): (usize, &Life)| {
            let rows = rows.get(&life.flow).map(Vec::as_slice).unwrap_or_default();
            Line::of_variant(variant, flow_name(results, life), held(rows, quantity, life.end_ns, grid))
        }
    };
    let lines = Watched::ALL.map(|quantity| (quantity, lives.iter().enumerate().map(line(quantity)).collect()));
    let has_value = |(_, lines): &(Watched, Vec<Line>)| lines.iter().any(|line| line.values().next().is_some());
    Ok(lines.into_iter().filter(has_value).collect())
}

fn held(rows: &[ControlRow], quantity: Watched, end_ns: u64, grid: Grid) -> Vec<Option<f64>> {
    let mut values = vec![None; grid.steps];
    for (index, row) in rows.iter().enumerate() {
        let until = rows.get(index + 1).map_or(end_ns, |next| next.time_ns);
        if let Some(value) = quantity.of(row) {
            grid.overlaps(row.time_ns, until, |step, _| values[step] = Some(value));
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
            rate_bps,
            in_flight_bytes: 3_000,
            utilisation,
            bottleneck: Some(2),
            rtt_ns,
            ..ControlRow::default()
        };
        let rows = [row(100, 5_000_000_000, None, None), row(300, 9_000_000_000, Some(0.5), Some(8_500))];
        let grid = Grid { origin_ns: 0, step_ns: 100, steps: 5 };
        let of = |quantity| held(&rows, quantity, 400, grid);
        assert_eq!(of(Watched::Rate), [None, Some(5.0), Some(5.0), Some(9.0), None]);
        assert_eq!(of(Watched::Utilisation), [None, None, None, Some(0.5), None]);
        assert_eq!(of(Watched::Bottleneck), [None, Some(2.0), Some(2.0), Some(2.0), None]);
        assert_eq!(of(Watched::RoundTrip), [None, None, None, Some(8.5), None], "in us");
        assert_eq!(of(Watched::Window), [None; 5], "0 stands for none");
    }
}
