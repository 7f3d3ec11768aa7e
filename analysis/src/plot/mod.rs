// SPDX-License-Identifier: GPL-2.0-only
//! The plots of a run, as SVG files in its output folder.

mod axes;
mod figure;
mod goodput;
mod line_style;
mod look;
mod marker;
mod palette;
mod queue;
mod ruler;
mod slowdown;
mod staircase;
mod ticks;
mod time_chart;

pub mod dot_rows;
pub mod panels;

pub use axes::{size_axis, slowdown_axis, slowdown_scale, time_axis, value_axis};
pub use figure::Axis;
pub use look::{Look, Style};
pub use ruler::Ruler;
pub use ticks::power_of_ten;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::results::Results;

/// Draws every plot that there is something to draw for, and gives the names of the files.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(results: &Results, style: Style) -> Result<Vec<&'static str>> {
    let look = style.look();
    let plots = [
        ("queue.svg", queue::draw(results, &look)?),
        ("goodput.svg", goodput::draw(results, &look)?),
        ("slowdown.svg", slowdown::draw(results, &look)?),
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
