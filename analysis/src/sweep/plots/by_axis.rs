// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-axis.svg` and the like: how results change along an axis, a line for each variant.

use hpcc_measures::quantity::Metric;

use super::super::axes::Line as Way;
use super::super::file::SweepFile;
use super::super::group::Group;
use super::super::keys::Variant;
use super::super::report::ByAxis;
use super::{of_seeds, suffix};
use crate::chart::{At, Axis, Chart, Line, highest};
use crate::human;
use crate::plot::Figure;

/// A figure for each way to go along an axis, each with its suffix.
pub fn figures(file: &SweepFile, groups: &[Group<'_>], what: ByAxis) -> Vec<(String, Figure)> {
    let lines = file.axes.lines();
    let several = file.axes.iter().count() > 1;
    let mut figures = Vec::new();
    for line in &lines {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| line.steps.contains(&group.step)).collect();
        if let Some(figure) = figure(file, line, &shown, what) {
            let axis = if several { format!(".{}", line.axis.name) } else { String::new() };
            let others = line.others.iter().map(|(name, value)| format!("{name}-{value}"));
            figures.push((axis + &suffix(others), figure));
        }
    }
    figures
}

fn figure(file: &SweepFile, line: &Way<'_>, groups: &[&Group<'_>], what: ByAxis) -> Option<Figure> {
    let shown = what.metrics().map(|name| Metric::of(name).expect("a name of the table"));
    let lines = shown.map(|metric| lines(file, line, groups, metric));
    if lines.iter().flatten().all(|line| line.values().next().is_none()) {
        return None;
    }
    let ticks: Vec<(f64, String)> =
        line.axis.values.iter().zip(0..).map(|((label, _), place)| (f64::from(place), label.clone())).collect();
    let x = Axis::labelled(&capital(&line.axis.name), -0.3..ticks.len() as f64 - 0.7, ticks);
    let y = |title: &str, top: f64| match what {
        ByAxis::Slowdown => Axis::slowdown(title, top.max(1.0)),
        ByAxis::Goodput | ByAxis::Queue | ByAxis::Job => Axis::value(title, top),
    };
    let at = At::Steps { first: 0.0, step: 1.0, steps: line.steps.len() };
    let chart = |(metric, mut lines): (&Metric, Vec<Line>)| {
        let mut title = metric.axis();
        if title.ends_with(" (us)") && highest(&lines) >= MILLIS_FROM {
            lines.iter_mut().for_each(|line| line.scale(1e-3));
            title = title.replace(" (us)", " (ms)");
        }
        let y = y(&title, highest(&lines));
        Chart { title, x: x.clone(), at: at.clone(), y, lines, stepped: false, points: true }
    };
    let charts = shown.into_iter().zip(lines).map(chart).collect();
    let (title, of) = match what {
        ByAxis::Slowdown => ("Slowdown", "all flows".to_owned()),
        ByAxis::Goodput => ("Goodput", format!("flows over {}", human::bytes(file.sizes.large_above))),
        ByAxis::Queue => ("Queue", "the port with the longest queue".to_owned()),
        ByAxis::Job => ("Time of the job", "the longest one".to_owned()),
    };
    let mut subtitle = format!("{}: {of}", file.title);
    line.others.iter().for_each(|(name, value)| subtitle += &format!(", {name} {value}"));
    subtitle += &of_seeds(file);
    Some(Figure { title: format!("{title} by {}", line.axis.name), subtitle, charts })
}

/// From so many microseconds on, an axis has milliseconds.
const MILLIS_FROM: f64 = 2e3;

/// With a capital letter, as labels of axes begin.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The mean over the runs that have the metric, a line for each variant.
fn lines(file: &SweepFile, way: &Way<'_>, groups: &[&Group<'_>], metric: &Metric) -> Vec<Line> {
    let scale = metric.quantity.def().unit.scale();
    let possible = metric.quantity.possible();
    let values = |variant: usize, step: &usize| -> Vec<Option<f64>> {
        let group = groups.iter().find(|group| group.index == variant && group.step == *step);
        group.map(|group| group.by_seed(metric.name)).unwrap_or_default()
    };
    let line = |(index, variant): (usize, &Variant)| {
        let places: Vec<Vec<Option<f64>>> = way.steps.iter().map(|step| values(index, step)).collect();
        let of_seed = |place: &Vec<Option<f64>>, seed| place.get(seed).copied().flatten().map(|value| value / scale);
        let seed = |seed: usize| places.iter().map(|place| of_seed(place, seed)).collect();
        let seeds: Vec<_> = (0..file.seeds.len().max(1)).map(seed).collect();
        Line::of_seeds(index, variant.label(), file.spread.of(&seeds, (possible.0 / scale, possible.1 / scale)))
    };
    file.variants.iter().enumerate().map(line).collect()
}
