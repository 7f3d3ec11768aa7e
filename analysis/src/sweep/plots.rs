// SPDX-License-Identifier: GPL-2.0-only
//! The figures of a sweep: one of each kind, or one for each step of the axes.

mod by_axis;
mod by_rank;
mod by_size;
mod goodput;
mod over_time;
mod queues;

use std::iter;

use anyhow::Result;
use hpcc_measures::quantity::Quantity;
use hpcc_measures::stats::{self, FctStats};

use serde_json::{Value, json};

use super::file::SweepFile;
use super::folder::SweepFolder;
use super::group::Group;
use super::report::Plot;
use crate::chart::{Chart, Line, few_in_bins, of_bins};
use crate::human;
use crate::plot::{Drawing, Figure};

/// The plots of a sweep.
#[derive(Default)]
pub struct Plots {
    /// Their names.
    pub names: Vec<String>,
    /// Sentences on plots that there is nothing to draw for.
    pub missing: Vec<String>,
    /// For the page.
    pub figures: Vec<Value>,
}

/// Draws the plots that the file asks for, or the usual ones that there is something to draw for.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(file: &SweepFile, drawing: Drawing, folder: &SweepFolder, groups: &[Group<'_>]) -> Result<Plots> {
    let chosen = file.plots.as_deref().unwrap_or(&Plot::USUAL);
    let mut plots = Plots::default();
    for plot in chosen {
        let look = file.look(*plot, drawing.look());
        let figures = draw(file, *plot, groups)?;
        if figures.is_empty() && (file.plots.is_some() || plot.by_axis().is_none()) {
            plots.missing.push(format!("no {}: {}", plot.name(), why_not(file, *plot, groups)));
        }
        for (name, mut figure) in figures {
            if let Some(why) = file.change(*plot, &mut figure)? {
                human::warn(format_args!("{why}: no {name}"));
                continue;
            }
            if figure.charts.iter().flat_map(|chart| &chart.lines).any(|line| !line.seeds.is_empty()) {
                figure.subtitle += ", of fewer where a number stands";
            }
            let drawing = drawing.with_data();
            drawing.write(&folder.path().join(format!("{name}.svg")), &figure.render(&look)?)?;
            let Figure { title, subtitle, charts } = figure;
            let charts: Vec<Chart> = charts.into_iter().map(Chart::shortened).collect();
            plots.figures.push(json!({ "name": name, "title": title, "subtitle": subtitle, "charts": charts }));
            plots.names.push(name);
        }
    }
    Ok(plots)
}

/// Why there is nothing to draw.
fn why_not(file: &SweepFile, plot: Plot, groups: &[Group<'_>]) -> String {
    let runs = || groups.iter().flat_map(|group| &group.runs);
    if let Some(series) = plot.series()
        && runs().any(|run| !run.run.facts.records(series))
    {
        return format!("the scenario has no {}", series.key());
    }
    match plot {
        Plot::SlowdownBySize | Plot::SlowdownByAxis | Plot::SlowdownByRank => {
            let part = runs().any(|run| run.results.window.chosen);
            if part { "no flow started in the measured part and finished" } else { "no flow finished" }.to_owned()
        }
        Plot::GoodputByVariant | Plot::GoodputByAxis => {
            format!("no flow over {} has a rate", human::bytes(file.sizes.large_above))
        }
        Plot::GoodputOverTime => "no flow sent".to_owned(),
        Plot::JobByAxis => "no job is over".to_owned(),
        Plot::QueueCdf | Plot::QueueOverTime | Plot::QueueByAxis => {
            let is_fluid = runs().all(|run| run.results.summary.is_fluid());
            if is_fluid { "fluid runs have no queues" } else { "no queue built up" }.to_owned()
        }
    }
}

/// The figures of one kind, each with its name.
fn draw(file: &SweepFile, plot: Plot, groups: &[Group<'_>]) -> Result<Vec<(String, Figure)>> {
    let mut figures = Vec::new();
    if let Some(what) = plot.by_axis() {
        for (end, figure) in by_axis::figures(file, groups, what) {
            figures.push((format!("{}{end}", plot.name()), figure));
        }
        return Ok(figures);
    }
    for step in 0..file.axes.steps() {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| group.step == step).collect();
        let name = format!("{}{}", plot.name(), suffix(file.axes.folders(step)));
        let drawn = match plot {
            Plot::SlowdownBySize => by_size::draw(file, &shown)?,
            Plot::QueueCdf => queues::draw(file, &shown)?,
            Plot::SlowdownByRank => by_rank::draw(file, &shown)?,
            Plot::QueueOverTime => over_time::queue(file, &shown)?,
            Plot::GoodputOverTime => over_time::goodput(file, &shown)?,
            // Drawn above.
            Plot::GoodputByVariant => goodput::draw(file, &shown)?,
            Plot::SlowdownByAxis | Plot::GoodputByAxis | Plot::QueueByAxis | Plot::JobByAxis => None,
        };
        figures.extend(drawn.map(|figure| (name, figure)));
    }
    Ok(figures)
}

/// The part of a name that tells files of one kind apart: `.load-0.5.eta-0.95`.
fn suffix(parts: impl Iterator<Item = String>) -> String {
    parts.map(|part| format!(".{part}")).collect()
}

/// Second line of a heading: the quantity, the runs, and what is shown of several seeds.
fn subtitle(file: &SweepFile, what: &str, groups: &[&Group<'_>]) -> String {
    let mut text = format!("{}: {what}", file.title);
    if let Some(group) = groups.first().filter(|_| !file.axes.is_empty()) {
        text += &format!(", {}", file.axes.words(group.step));
    }
    text + &of_seeds(file)
}

/// What is shown of several seeds.
fn of_seeds(file: &SweepFile) -> String {
    match file.seeds.len() {
        0 | 1 => String::new(),
        several => format!(", mean of {several} seeds{}", file.spread.words()),
    }
}

/// The line of a variant, of the values that each seed has of a quantity.
fn line(file: &SweepFile, group: &Group<'_>, quantity: Quantity, seeds: &[Vec<Option<f64>>]) -> Line {
    Line::of_seeds(group.index, group.label, file.spread.of(seeds, quantity.possible()))
}

/// The line of a variant, of a percentile of the slowdown of the flows of each size.
fn line_of_bins(file: &SweepFile, group: &Group<'_>, seeds: &[Vec<FctStats>], (percent, of): Percentile) -> Line {
    let values: Vec<_> = seeds.iter().map(|bins| of_bins(bins, of)).collect();
    Line { few: few_in_bins(seeds, percent), ..line(file, group, Quantity::Slowdown, &values) }
}

/// A percentile of the slowdown: in percent, and its value in a bin.
type Percentile = (u64, fn(&FctStats) -> f64);

/// The figures of each seed's flows, by size.
fn by_size(group: &Group<'_>, bounds: &[u64]) -> Result<Vec<Vec<FctStats>>> {
    group.results().map(|results| stats::by_size(iter::once(results), bounds)).collect()
}
