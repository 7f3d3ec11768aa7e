// SPDX-License-Identifier: GPL-2.0-only
//! The plots of a run, as SVG files in its output folder.

mod axes;
mod decimate;
mod figure;
mod goodput;
mod marker;
mod palette;
mod queue;
mod ruler;
mod slowdown;
mod ticks;
mod time_chart;

pub mod dot_rows;
pub mod panels;

pub use axes::{size_axis, slowdown_axis, slowdown_scale};
pub use figure::Axis;
pub use ruler::Ruler;
pub use ticks::power_of_ten;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::results::Results;

/// For whom plots are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// For a screen: with headings.
    #[default]
    Screen,
    /// For a column of a paper: 88 mm wide, without headings, as a caption says what they would.
    Paper,
    /// For both columns of a paper: 181 mm wide.
    PaperWide,
}

/// Draws every plot that there is something to draw for, and gives the names of the files.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(results: &Results, style: Style) -> Result<Vec<&'static str>> {
    let plots = [
        ("queue.svg", queue::draw(results)?),
        ("goodput.svg", goodput::draw(results)?),
        ("slowdown.svg", slowdown::draw(results)?),
    ];
    let mut drawn = Vec::new();
    for (name, svg) in plots {
        let Some(svg) = svg else { continue };
        write(&results.dir.join(name), &svg)?;
        drawn.push(name);
    }
    Ok(drawn)
}

fn write(path: &Path, svg: &str) -> Result<()> {
    fs::write(path, svg).with_context(|| path.display().to_string())
}
