// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-axis.svg` and the like: how results change along an axis, a line for each variant.

use anyhow::Result;

use super::super::axes::{Axis, Line};
use super::super::file::SweepFile;
use super::super::group::Group;
use super::super::metrics::Sizes;
use super::super::report::ByAxis;
use super::{names, suffix};
use crate::human;
use crate::plot::panels::{Panel, Panels};
use crate::plot::{self, Look, slowdown_axis, slowdown_scale, value_axis};

/// A chart: the title of its axis, its metric, and the metric's value that is 1 in the chart.
type Chart = (String, &'static str, f64);

/// A figure for each way to go along an axis, each with what tells it from the others.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(
    file: &SweepFile,
    look: &Look,
    groups: &[Group<'_>],
    what: ByAxis,
    sizes: Sizes,
) -> Result<Vec<(String, String)>> {
    let lines = file.axes.lines();
    let several = file.axes.iter().count() > 1;
    let mut figures = Vec::new();
    for line in &lines {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| line.steps.contains(&group.step)).collect();
        if let Some(svg) = draw_one(file, look, line, &shown, what, sizes)? {
            let axis = if several { format!(".{}", line.axis.name) } else { String::new() };
            let others = line.others.iter().map(|(name, value)| format!("{name}-{value}"));
            figures.push((axis + &suffix(others), svg));
        }
    }
    Ok(figures)
}

fn draw_one(
    file: &SweepFile,
    look: &Look,
    line: &Line<'_>,
    groups: &[&Group<'_>],
    what: ByAxis,
    sizes: Sizes,
) -> Result<Option<String>> {
    let charts = charts(what, sizes);
    if charts.iter().all(|(_, metric, _)| groups.iter().all(|group| mean(group, metric).is_none())) {
        return Ok(None);
    }
    let highest = charts.each_ref().map(|chart| highest(groups, chart));
    // What has one unit has one scale, as it stands side by side.
    let highest = if what == ByAxis::Goodput { highest } else { [highest[0].max(highest[1]); 2] };
    let panels = charts.iter().zip(highest).map(|(chart, highest)| panel(file, line, groups, what, chart, highest));
    let firsts: Vec<&Group<'_>> = groups.iter().copied().filter(|group| group.step == line.steps[0]).collect();
    let (title, of) = match what {
        ByAxis::Slowdown => ("Slowdown", "all flows".to_owned()),
        ByAxis::Goodput => ("Goodput", format!("flows over {}", human::bytes(sizes.large_above))),
        ByAxis::Queue => ("Queue", "the port with the longest queue".to_owned()),
    };
    let mut subtitle = format!("{}: {of}", file.title);
    line.others.iter().for_each(|(name, value)| subtitle += &format!(", {name} {value}"));
    if file.seeds.len() > 1 {
        subtitle += &format!(", mean of {} seeds", file.seeds.len());
    }
    let title = format!("{title} by {}", line.axis.name);
    Panels { title, subtitle, variants: names(&firsts), panels: panels.collect() }.render(look).map(Some)
}

fn charts(what: ByAxis, sizes: Sizes) -> [Chart; 2] {
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
    }
}

/// The mean over the runs that have the metric.
fn mean(group: &Group<'_>, metric: &str) -> Option<f64> {
    let values = group.metric(metric);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What is drawn of a group.
fn value(group: &Group<'_>, (_, metric, unit): &Chart) -> Option<f64> {
    mean(group, metric).map(|value| value / unit)
}

fn highest(groups: &[&Group<'_>], chart: &Chart) -> f64 {
    groups.iter().filter_map(|group| value(group, chart)).fold(0.0, f64::max)
}

fn panel(file: &SweepFile, line: &Line<'_>, groups: &[&Group<'_>], what: ByAxis, chart: &Chart, highest: f64) -> Panel {
    let title = &chart.0;
    let (y, scale): (plot::Axis, fn(f64) -> f64) = match what {
        ByAxis::Slowdown => {
            let highest = highest.max(1.0);
            (slowdown_axis(title, highest), slowdown_scale(highest))
        }
        ByAxis::Goodput | ByAxis::Queue => (value_axis(title, highest), |value| value),
    };
    let points = |variant: usize| {
        let at = |step: &usize| groups.iter().find(|group| group.index == variant && group.step == *step);
        let value_at = |step: &usize| at(step).and_then(|group| value(group, chart)).map(scale);
        (0..).zip(&line.steps).filter_map(|(place, step)| Some((f64::from(place), value_at(step)?))).collect()
    };
    let lines = (0..file.variants.len()).map(points).collect();
    Panel { x: steps(line.axis), y, lines, every_point: true }
}

/// Values at equal distances, for they may be words.
fn steps(axis: &Axis) -> plot::Axis {
    let labels: Vec<String> = axis.values.iter().map(|(label, _)| label.clone()).collect();
    let ticks = (0..labels.len()).map(|step| step as f64).collect();
    let ruler = plot::Ruler { range: -0.3..labels.len() as f64 - 0.7, ticks };
    let label = move |step: f64| labels.get(step.round() as usize).cloned().unwrap_or_default();
    plot::Axis { title: axis.name.clone(), ruler, label: Box::new(label) }
}
