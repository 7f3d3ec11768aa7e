// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-axis.svg` and the like: how results change along an axis, a line for each variant.

use super::super::axes::Line as Way;
use super::super::file::SweepFile;
use super::super::group::Group;
use super::super::keys::Variant;
use super::super::metrics::Sizes;
use super::super::report::ByAxis;
use super::{of_seeds, suffix};
use crate::chart::{At, Axis, Chart, Line, highest};
use crate::human;
use crate::plot::Figure;

/// The title of a chart's axis, its metric, and the metric's value that is 1 in the chart.
type Shown = (String, &'static str, f64);

/// A figure for each way to go along an axis, each with its suffix.
pub fn figures(file: &SweepFile, groups: &[Group<'_>], what: ByAxis, sizes: Sizes) -> Vec<(String, Figure)> {
    let lines = file.axes.lines();
    let several = file.axes.iter().count() > 1;
    let mut figures = Vec::new();
    for line in &lines {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| line.steps.contains(&group.step)).collect();
        if let Some(figure) = figure(file, line, &shown, what, sizes) {
            let axis = if several { format!(".{}", line.axis.name) } else { String::new() };
            let others = line.others.iter().map(|(name, value)| format!("{name}-{value}"));
            figures.push((axis + &suffix(others), figure));
        }
    }
    figures
}

fn figure(file: &SweepFile, line: &Way<'_>, groups: &[&Group<'_>], what: ByAxis, sizes: Sizes) -> Option<Figure> {
    let shown = shown(what, sizes);
    let lines = shown.each_ref().map(|(_, metric, unit)| lines(file, line, groups, metric, *unit));
    if lines.iter().flatten().all(|line| line.values().next().is_none()) {
        return None;
    }
    let mut tops = lines.each_ref().map(|lines| highest(lines));
    // Charts of one unit stand side by side with one scale.
    if matches!(what, ByAxis::Slowdown | ByAxis::Queue) {
        tops = [tops[0].max(tops[1]); 2];
    }
    let ticks: Vec<(f64, String)> =
        line.axis.values.iter().zip(0..).map(|((label, _), place)| (f64::from(place), label.clone())).collect();
    let x = Axis::labelled(&line.axis.name, -0.3..ticks.len() as f64 - 0.7, ticks);
    let y = |title: &str, top: f64| match what {
        ByAxis::Slowdown => Axis::slowdown(title, top.max(1.0)),
        ByAxis::Goodput | ByAxis::Queue | ByAxis::Job => Axis::value(title, top),
    };
    let at = At::Steps { first: 0.0, step: 1.0, steps: line.steps.len() };
    let chart = |(((title, ..), top), lines): ((&Shown, f64), Vec<Line>)| {
        let (title, y) = (title.clone(), y(title, top));
        Chart { title, x: x.clone(), at: at.clone(), y, lines, stepped: false, points: true }
    };
    let charts = shown.iter().zip(tops).zip(lines).map(chart).collect();
    let (title, of) = match what {
        ByAxis::Slowdown => ("Slowdown", "all flows".to_owned()),
        ByAxis::Goodput => ("Goodput", format!("flows over {}", human::bytes(sizes.large_above))),
        ByAxis::Queue => ("Queue", "the port with the longest queue".to_owned()),
        ByAxis::Job => ("Time of the job", "the longest one".to_owned()),
    };
    let mut subtitle = format!("{}: {of}", file.title);
    line.others.iter().for_each(|(name, value)| subtitle += &format!(", {name} {value}"));
    subtitle += &of_seeds(file);
    Some(Figure { title: format!("{title} by {}", line.axis.name), subtitle, charts })
}

/// The mean over the runs that have the metric, a line for each variant.
fn lines(file: &SweepFile, way: &Way<'_>, groups: &[&Group<'_>], metric: &str, unit: f64) -> Vec<Line> {
    let values = |variant: usize, step: &usize| -> Vec<f64> {
        let group = groups.iter().find(|group| group.index == variant && group.step == *step);
        group.map(|group| group.metric(metric)).unwrap_or_default()
    };
    let line = |(index, variant): (usize, &Variant)| {
        let places: Vec<Vec<f64>> = way.steps.iter().map(|step| values(index, step)).collect();
        let seeds = places.iter().map(Vec::len).max().unwrap_or(0);
        let seed = |seed: usize| places.iter().map(|values| values.get(seed).map(|value| value / unit)).collect();
        let (y, band) = file.spread.of(&(0..seeds).map(seed).collect::<Vec<_>>());
        Line { band, ..Line::of_variant(index, variant.label(), y) }
    };
    file.variants.iter().enumerate().map(line).collect()
}

fn shown(what: ByAxis, sizes: Sizes) -> [Shown; 2] {
    let large = human::bytes(sizes.large_above);
    match what {
        ByAxis::Slowdown => [
            ("Median slowdown".to_owned(), "slowdown_p50", 1.0),
            ("99th percentile of the slowdown".to_owned(), "slowdown_p99", 1.0),
        ],
        ByAxis::Goodput => [
            (format!("Median goodput over {large} (Gb/s)"), "goodput_large_p50_gbps", 1.0),
            ("Jain's index of these rates".to_owned(), "goodput_large_jain", 1.0),
        ],
        ByAxis::Queue => [
            ("99th percentile of the queue (kB)".to_owned(), "queue_p99_bytes", 1e3),
            ("Longest queue (kB)".to_owned(), "queue_max_bytes", 1e3),
        ],
        ByAxis::Job => [
            ("Time of the longest job (us)".to_owned(), "job_time_ns", 1e3),
            ("Bus bandwidth of collectives (GB/s)".to_owned(), "busbw_gbytes", 1.0),
        ],
    }
}
