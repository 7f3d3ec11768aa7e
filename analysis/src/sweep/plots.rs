// SPDX-License-Identifier: GPL-2.0-only
//! The figures of a sweep: one of each kind, or one for each value of the axis.

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
use crate::plot::{Look, Style};

/// A figure, and what it shows as CSV where the sweep's own data do not have it.
pub struct Drawn {
    svg: String,
    csv: Option<String>,
}

impl From<String> for Drawn {
    fn from(svg: String) -> Drawn {
        Drawn { svg, csv: None }
    }
}

/// Draws the plots that the file asks for, or the usual ones that there is something to draw for, and gives their names.
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
    let chosen = file.plots.as_deref().unwrap_or(&Plot::USUAL);
    let mut names = Vec::new();
    for plot in chosen {
        for (name, drawn) in draw(file, &look, *plot, groups, sizes)? {
            let svg = format!("{name}.svg");
            folder.write(&svg, &drawn.svg)?;
            names.push(svg);
            if let Some(csv) = drawn.csv {
                folder.write(&format!("{name}.csv"), &csv)?;
            }
        }
    }
    Ok(names)
}

/// The figures of one kind, each with its name.
fn draw(file: &SweepFile, look: &Look, plot: Plot, groups: &[Group<'_>], sizes: Sizes) -> Result<Vec<(String, Drawn)>> {
    let steps = file.axis.as_ref().map_or(1, |axis| axis.values.len());
    let mut figures = Vec::new();
    for step in 0..steps {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| group.step == step).collect();
        let drawn = match plot {
            Plot::SlowdownBySize => by_size::draw(file, look, &shown)?.map(Drawn::from),
            Plot::GoodputByVariant => goodput::draw(file, look, &shown, sizes)?.map(Drawn::from),
            Plot::QueueCdf => queues::draw(file, look, &shown)?.map(Drawn::from),
            Plot::SlowdownByRank => by_rank::draw(file, look, &shown)?,
            Plot::QueueOverTime => over_time::queue(file, look, &shown)?,
            Plot::GoodputOverTime => over_time::goodput(file, look, &shown)?,
            // One figure of all values.
            Plot::SlowdownByAxis => {
                let svg = by_axis::draw(file, look, groups)?;
                return Ok(svg.map(|svg| (plot.name().to_owned(), svg.into())).into_iter().collect());
            }
        };
        let name = match (&file.axis, file.axis_value(step)) {
            (Some(axis), Some(value)) => format!("{}.{}-{value}", plot.name(), axis.name),
            _ => plot.name().to_owned(),
        };
        figures.extend(drawn.map(|drawn| (name, drawn)));
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
