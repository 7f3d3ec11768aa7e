// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-size.svg`: median and 99th percentile by flow size.

use anyhow::Result;
use hpcc_measures::stats::{FctStats, SizeCensus};

use super::super::file::SweepFile;
use super::super::group::Group;
use super::{Percentile, by_size, line_of_bins, subtitle};
use crate::chart::{At, Axis, Chart, Line, highest};
use crate::plot::Figure;

/// Draws the figure, if a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    let mut sizes = SizeCensus::default();
    groups.iter().flat_map(|group| group.results()).for_each(|run| sizes.merge(&run.extents().sizes));
    if sizes.largest() == 0 {
        return Ok(None);
    }
    let bounds = sizes.bounds(file.size_bins.as_deref(), groups.len() as u64);
    let mut binned: Vec<Vec<Vec<FctStats>>> = Vec::new();
    for group in groups {
        binned.push(by_size(group, &bounds)?);
    }
    let percentiles: [(&str, Percentile); 2] = [
        ("Median slowdown", (50, |stats| stats.slowdown_p50)),
        ("99th percentile of the slowdown", (99, |stats| stats.slowdown_p99)),
    ];
    let lines = percentiles.map(|(_, of)| -> Vec<Line> {
        groups.iter().zip(&binned).map(|(group, seeds)| line_of_bins(file, group, seeds, of)).collect()
    });
    let at = At::Each(bounds.iter().map(|bound| *bound as f64).collect());
    let charts = percentiles.iter().zip(lines).map(|((title, _), lines)| Chart {
        title: (*title).to_owned(),
        x: Axis::sizes("Flow size", bounds.first().map_or(1.0, |size| *size as f64)..sizes.largest() as f64),
        at: at.clone(),
        y: Axis::slowdown(title, highest(&lines).max(1.0)),
        lines,
        stepped: false,
        points: true,
    });
    let figure = Figure {
        title: "Slowdown by flow size".to_owned(),
        subtitle: subtitle(
            file,
            &format!("completion time relative to an empty network{}", sizes.note(&bounds)),
            groups,
        ),
        charts: charts.collect(),
    };
    Ok(Some(figure))
}
