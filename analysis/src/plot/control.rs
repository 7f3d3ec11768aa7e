// SPDX-License-Identifier: GPL-2.0-only
//! `control.svg`: what congestion control made of flows over time.

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_measures::series::Grid;

use super::look::Look;
use super::panels::{Panel, Panels};
use super::{time_axis, value_axis};
use crate::control::{self, Quantity};

/// Flows that can be told apart.
const FLOWS: usize = 8;
/// Steps of a line: there are up to three charts side by side.
const COLUMNS: usize = 400;

/// Draws the figure, if flows were watched.
///
/// # Errors
/// If `control.csv` cannot be read, or by the plotting library.
pub fn draw(results: &Results, look: &Look) -> Result<Option<String>> {
    let span_ns = results.window.span_ns();
    let grid = Grid::new(results.window.from_ns, span_ns, 1, COLUMNS);
    let watched = control::watched(results, grid, FLOWS)?;
    if watched.flows.is_empty() || span_ns == 0 {
        return Ok(None);
    }
    let bound = if watched.has(Quantity::Window) { Quantity::Window } else { Quantity::InFlight };
    let shown: Vec<Quantity> =
        [Quantity::Rate, bound, Quantity::Utilisation].into_iter().filter(|quantity| watched.has(*quantity)).collect();
    let panel = |quantity: Quantity| {
        let (x, unit_ns) = time_axis(span_ns as f64, shown.len());
        let at = |step: usize| (step as f64 + 0.5) * grid.step_ns as f64 / unit_ns;
        let points = |values: &[f64]| {
            values
                .iter()
                .enumerate()
                .filter(|(_, value)| value.is_finite())
                .map(|(step, value)| (at(step), *value))
                .collect()
        };
        let values = || watched.flows.iter().map(|(_, values)| values[quantity as usize].as_slice());
        let highest = values().flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let lines = values().map(points).collect();
        Panel { x, y: value_axis(quantity.title(), highest), lines, every_point: false }
    };
    let name = |(index, flow): (usize, u32), group: &str| (index, format!("{group}, {flow}"));
    let variants = watched.flows.iter().enumerate();
    let figure = Panels {
        title: "Congestion control per flow".to_owned(),
        subtitle: "of the watched flows that sent most; U is 1 where the bytes in flight equal capacity times T"
            .to_owned(),
        variants: variants
            .map(|(index, (life, _))| name((index, life.flow), results.summary.group_name(life.group)))
            .collect(),
        panels: shown.iter().copied().map(panel).collect(),
    };
    figure.render(look).map(Some)
}
