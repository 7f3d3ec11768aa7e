// SPDX-License-Identifier: GPL-2.0-only
//! `goodput-by-variant.svg`: how fast large flows are.

use anyhow::Result;
use hpcc_measures::quantity::Quantity;
use hpcc_measures::results::Results;
use hpcc_measures::series;
use hpcc_measures::stats::percentile;

use super::super::file::SweepFile;
use super::super::group::Group;
use super::{line, subtitle};
use crate::chart::{At, Axis, Chart, Line, highest};
use crate::human;
use crate::plot::Figure;

/// The figure, if there was a large flow: a chart for each percentile, with a place for each variant.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let sorted = |results: &Results| {
        let mut rates = series::flow_rates(results, |life| life.size > file.sizes.large_above)?;
        rates.sort_by(f64::total_cmp);
        Ok(rates)
    };
    let rates: Vec<Vec<Vec<f64>>> =
        groups.iter().map(|group| group.results().map(sorted).collect()).collect::<Result<_>>()?;
    if rates.iter().flatten().all(Vec::is_empty) {
        return Ok(None);
    }
    let percentiles = [("10th percentile (Gb/s)", 10), ("Median (Gb/s)", 50), ("90th percentile (Gb/s)", 90)];
    let lines = percentiles.map(|(_, percent)| -> Vec<Line> {
        let of_seed = |place: usize, rates: &Vec<f64>| {
            let value = (!rates.is_empty()).then(|| percentile(rates, percent));
            (0..groups.len()).map(|other| value.filter(|_| other == place)).collect()
        };
        let of_group = |(place, (group, seeds)): (usize, (&&Group<'_>, &Vec<Vec<f64>>))| {
            let seeds: Vec<Vec<Option<f64>>> = seeds.iter().map(|rates| of_seed(place, rates)).collect();
            line(file, group, Quantity::Goodput, &seeds)
        };
        groups.iter().zip(&rates).enumerate().map(of_group).collect()
    });
    // One scale, as they stand side by side.
    let top = lines.iter().map(|lines| highest(lines)).fold(0.0, f64::max);
    let charts = percentiles.iter().zip(lines).map(|((title, _), lines)| Chart {
        title: (*title).to_owned(),
        x: Axis::labelled("", -0.7..groups.len() as f64 - 0.3, Vec::new()),
        at: At::Steps { first: 0.0, step: 1.0, steps: groups.len() },
        y: Axis::value(title, top),
        lines,
        stepped: false,
        points: true,
    });
    Ok(Some(Figure {
        title: format!("Goodput of flows over {}", human::bytes(file.sizes.large_above)),
        subtitle: subtitle(file, "of single flows", groups),
        charts: charts.collect(),
    }))
}
