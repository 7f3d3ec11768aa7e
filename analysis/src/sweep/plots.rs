// SPDX-License-Identifier: GPL-2.0-only
//! The figures of a sweep: one of each kind, or one for each step of the axes.

mod by_axis;
mod by_rank;
mod by_size;
mod goodput;
mod over_time;
mod queues;

use anyhow::Result;

use super::file::SweepFile;
use super::folder::SweepFolder;
use super::group::Group;
use super::metrics::Sizes;
use super::report::Plot;
use crate::chart::Line;
use crate::human;
use crate::plot::{Drawing, Figure, Look};

/// A figure, and its data as CSV where the sweep's data lack them.
pub struct Drawn {
    figure: Figure,
    csv: Option<String>,
}

impl From<Figure> for Drawn {
    fn from(figure: Figure) -> Drawn {
        Drawn { figure, csv: None }
    }
}

/// Draws the plots that the file asks for, or the usual ones that there is something to draw for. Gives the names of the
/// files, and sentences on plots that there is nothing to draw for.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(
    file: &SweepFile,
    drawing: Drawing,
    folder: &SweepFolder,
    groups: &[Group<'_>],
    sizes: Sizes,
) -> Result<(Vec<String>, Vec<String>)> {
    let look = drawing.look();
    let chosen = file.plots.as_deref().unwrap_or(&Plot::USUAL);
    let (mut names, mut missing) = (Vec::new(), Vec::new());
    for plot in chosen {
        let figures = draw(file, &look, *plot, groups, sizes)?;
        if figures.is_empty() && (file.plots.is_some() || plot.by_axis().is_none()) {
            missing.push(format!("no {}: {}", plot.name(), why_not(*plot, groups, sizes)));
        }
        for (name, svg, csv) in figures {
            names.extend(drawing.write(&folder.path().join(format!("{name}.svg")), &svg)?);
            if let Some(csv) = csv {
                folder.write(&format!("{name}.csv"), &csv)?;
            }
        }
    }
    Ok((names, missing))
}

/// Why there is nothing to draw.
fn why_not(plot: Plot, groups: &[Group<'_>], sizes: Sizes) -> String {
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
            format!("no flow over {} has a rate", human::bytes(sizes.large_above))
        }
        Plot::GoodputOverTime => "no flow sent".to_owned(),
        Plot::QueueCdf | Plot::QueueOverTime | Plot::QueueByAxis => "no queue built up".to_owned(),
    }
}

/// A figure's name, the figure as SVG, and its data as CSV.
type Files = (String, String, Option<String>);

/// The figures of one kind, each with its name, and with its data as CSV where the sweep's data lack them.
fn draw(file: &SweepFile, look: &Look, plot: Plot, groups: &[Group<'_>], sizes: Sizes) -> Result<Vec<Files>> {
    let mut figures = Vec::new();
    if let Some(what) = plot.by_axis() {
        for (end, figure) in by_axis::figures(file, groups, what, sizes) {
            figures.push((format!("{}{end}", plot.name()), figure.render(look)?, None));
        }
        return Ok(figures);
    }
    for step in 0..file.axes.steps() {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| group.step == step).collect();
        let name = format!("{}{}", plot.name(), suffix(file.axes.folders(step)));
        if plot == Plot::GoodputByVariant {
            figures.extend(goodput::draw(file, look, &shown, sizes)?.map(|svg| (name, svg, None)));
            continue;
        }
        let drawn = match plot {
            Plot::SlowdownBySize => by_size::draw(file, &shown)?,
            Plot::QueueCdf => queues::draw(file, &shown)?,
            Plot::SlowdownByRank => by_rank::draw(file, &shown)?,
            Plot::QueueOverTime => over_time::queue(file, &shown)?,
            Plot::GoodputOverTime => over_time::goodput(file, &shown)?,
            // Drawn above.
            Plot::GoodputByVariant | Plot::SlowdownByAxis | Plot::GoodputByAxis | Plot::QueueByAxis => None,
        };
        if let Some(Drawn { figure, csv }) = drawn {
            figures.push((name, figure.render(look)?, csv));
        }
    }
    Ok(figures)
}

/// The part of a name that tells files of one kind apart: `.load-0.5.eta-0.95`.
fn suffix(parts: impl Iterator<Item = String>) -> String {
    parts.map(|part| format!(".{part}")).collect()
}

/// Which of several seeds' runs a plot shows.
#[derive(Clone, Copy)]
enum Seeds {
    All,
    First,
}

/// Second line of a heading: the quantity, and the runs.
fn subtitle(file: &SweepFile, what: &str, groups: &[&Group<'_>], seeds: Seeds) -> String {
    let mut text = format!("{}: {what}", file.title);
    if let Some(group) = groups.first().filter(|_| !file.axes.is_empty()) {
        text += &format!(", {}", file.axes.words(group.step));
    }
    text += &match (seeds, file.seeds.as_slice()) {
        (_, [] | [_]) => String::new(),
        (Seeds::All, several) => format!(", {} seeds", several.len()),
        (Seeds::First, [first, ..]) => format!(", seed {}", **first),
    };
    text
}

/// The line of a variant.
fn line(group: &Group<'_>, y: Vec<Option<f64>>) -> Line {
    Line::of_variant(group.index, group.variant, y)
}
