// SPDX-License-Identifier: GPL-2.0-only
//! The plots of a run, as files in its output folder.

mod axes;
mod control;
mod drawing;
mod figure;
mod goodput;
mod line_style;
mod look;
mod marker;
mod palette;
mod png;
mod queue;
mod ruler;
mod slowdown;
mod staircase;
mod ticks;
mod time_chart;

pub mod dot_rows;
pub mod panels;

pub use axes::{size_axis, slowdown_axis, slowdown_scale, time_axis, value_axis};
pub use drawing::Drawing;
pub use figure::Axis;
pub use look::Look;
pub use ruler::Ruler;
pub use ticks::power_of_ten;

use std::path::Path;

use anyhow::Result;
use hpcc_measures::results::Results;

use crate::save;

/// Draws every plot that there is something to draw for, and removes the others of an earlier selection. Gives the names of
/// the files, and of each other plot why it is not there.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(results: &Results, drawing: Drawing) -> Result<(Vec<String>, Vec<String>)> {
    let look = drawing.look();
    let plots = [
        ("queue.svg", queue::draw(results, &look)?, Some("queue_interval"), "no queue built up"),
        ("goodput.svg", goodput::draw(results, &look)?, Some("goodput_interval"), "no flow was measured"),
        ("slowdown.svg", slowdown::draw(results, &look)?, None, no_slowdown(results)),
    ];
    let (mut drawn, mut missing) = (Vec::new(), Vec::new());
    if let Some(svg) = control::draw(results, &look)? {
        drawn.extend(write(&results.dir.join("control.svg"), &svg, drawing)?);
    } else {
        drawing.remove(&results.dir.join("control.svg"))?;
    }
    for (name, svg, key, empty) in plots {
        if let Some(svg) = svg {
            drawn.extend(write(&results.dir.join(name), &svg, drawing)?);
            continue;
        }
        drawing.remove(&results.dir.join(name))?;
        if let Some(key) = key.filter(|key| !is_recorded(results, key)) {
            missing.push(format!("no {name}: the scenario has no monitor.{key}"));
        } else {
            missing.push(format!("no {name}: {empty}"));
        }
    }
    Ok((drawn, missing))
}

/// Why no flow has a slowdown.
fn no_slowdown(results: &Results) -> &'static str {
    if results.is_part() {
        "no flow that is selected started in this part of the run and finished"
    } else {
        "no flow finished"
    }
}

/// Whether the run recorded a time series.
fn is_recorded(results: &Results, key: &str) -> bool {
    results.summary.scenario["monitor"][format!("{key}_ns")].is_number()
}

/// Returns the names of the files.
fn write(path: &Path, svg: &str, drawing: Drawing) -> Result<Vec<String>> {
    save::replace(path, svg)?;
    drawing.complete(path)
}
