// SPDX-License-Identifier: GPL-2.0-only
//! `goodput-by-variant.svg`: how fast large flows are.

use anyhow::Result;
use hpcc_measures::series;
use hpcc_measures::stats::percentile;

use super::super::file::SweepFile;
use super::super::group::Group;
use super::super::metrics::Sizes;
use super::{Seeds, subtitle};
use crate::human;
use crate::plot::Look;
use crate::plot::dot_rows::{DotRows, Row};

/// Draws the figure, if there was a large flow.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, look: &Look, groups: &[&Group<'_>], sizes: Sizes) -> Result<Option<String>> {
    let mut rows = Vec::new();
    for group in groups {
        let mut rates = Vec::new();
        for run in &group.runs {
            rates.extend(series::flow_rates(run.results, |life| life.size > sizes.large_above)?);
        }
        rates.sort_by(f64::total_cmp);
        if !rates.is_empty() {
            rows.push(Row {
                variant: group.index,
                name: group.variant.to_owned(),
                low: percentile(&rates, 10),
                middle: percentile(&rates, 50),
                high: percentile(&rates, 90),
            });
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let figure = DotRows {
        title: format!("Goodput of flows over {}", human::bytes(sizes.large_above)),
        subtitle: subtitle(file, "median, 10th to 90th percentile", groups, Seeds::All),
        x_title: "Goodput (Gb/s)".to_owned(),
        rows,
    };
    figure.render(look).map(Some)
}
