// SPDX-License-Identifier: GPL-2.0-only
//! The figures of a sweep: one of each kind, or one for each value of the axis.

mod by_axis;
mod by_size;
mod goodput;
mod queues;

use anyhow::Result;

use super::file::SweepFile;
use super::folder::SweepFolder;
use super::group::Group;
use super::metrics::Sizes;
use super::report::Plot;
use crate::plot::{Look, Style};

/// Draws the plots that the file asks for, or all that there is something to draw for, and gives their names.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(
    file: &SweepFile,
    style: Style,
    folder: &SweepFolder,
    groups: &[Group<'_>],
    sizes: Sizes,
) -> Result<Vec<String>> {
    let look = style.look();
    let chosen = file.plots.as_deref().unwrap_or(&Plot::ALL);
    let mut drawn = Vec::new();
    for plot in chosen {
        for (name, svg) in draw(file, &look, *plot, groups, sizes)? {
            folder.write(&name, &svg)?;
            drawn.push(name);
        }
    }
    Ok(drawn)
}

/// The figures of one kind, each with the name of its file.
fn draw(
    file: &SweepFile,
    look: &Look,
    plot: Plot,
    groups: &[Group<'_>],
    sizes: Sizes,
) -> Result<Vec<(String, String)>> {
    if plot == Plot::SlowdownByAxis {
        let svg = by_axis::draw(file, look, groups)?;
        return Ok(svg.map(|svg| (format!("{}.svg", plot.name()), svg)).into_iter().collect());
    }
    let steps = file.axis.as_ref().map_or(1, |axis| axis.values.len());
    let mut figures = Vec::new();
    for step in 0..steps {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| group.step == step).collect();
        let svg = match plot {
            Plot::SlowdownBySize => by_size::draw(file, look, &shown)?,
            Plot::GoodputByVariant => goodput::draw(file, look, &shown, sizes)?,
            Plot::QueueCdf | Plot::SlowdownByAxis => queues::draw(file, look, &shown)?,
        };
        let name = match (&file.axis, file.axis_value(step)) {
            (Some(axis), Some(value)) => format!("{}.{}-{value}.svg", plot.name(), axis.name),
            _ => format!("{}.svg", plot.name()),
        };
        figures.extend(svg.map(|svg| (name, svg)));
    }
    Ok(figures)
}

/// Second line of a heading: what is shown, and of which runs.
fn subtitle(file: &SweepFile, what: &str, groups: &[&Group<'_>]) -> String {
    let mut text = format!("{}: {what}", file.title);
    if let (Some(axis), Some(value)) = (&file.axis, groups.first().and_then(|group| group.axis)) {
        text += &format!(", {} {value}", axis.name);
    }
    if file.seeds.len() > 1 {
        text += &format!(", {} seeds", file.seeds.len());
    }
    text
}

/// Number and name of each variant.
fn names(groups: &[&Group<'_>]) -> Vec<(usize, String)> {
    groups.iter().map(|group| (group.index, group.variant.to_owned())).collect()
}
