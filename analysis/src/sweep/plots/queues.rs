// SPDX-License-Identifier: GPL-2.0-only
//! `queue-cdf.svg`: how often queues are longer than so many bytes.

use anyhow::Result;
use hpcc_measures::quantity::Series;

use super::super::file::SweepFile;
use super::super::group::Group;
use super::subtitle;
use crate::chart::{self, Line};
use crate::plot::Figure;

/// The figure, if queues were recorded and some built up.
///
/// # Errors
/// If a `queue.csv` cannot be read.
pub fn draw(file: &SweepFile, groups: &[&Group<'_>]) -> Result<Option<Figure>> {
    if !groups.iter().flat_map(|group| &group.runs).all(|run| run.run.facts.records(Series::Queues)) {
        return Ok(None);
    }
    let lengths = groups.iter().map(|group| chart::lengths(group.results())).collect::<Result<Vec<_>>>()?;
    let line = |place: usize, pooled| Line::of_seeds(groups[place].index, groups[place].label, pooled);
    let chart = chart::queue_above(&lengths, file.spread, line);
    if chart.lines.is_empty() {
        return Ok(None);
    }
    let subtitle = subtitle(file, "time of the port with the longest queue", groups);
    Ok(Some(Figure { title: "Queue length".to_owned(), subtitle, charts: vec![chart] }))
}
