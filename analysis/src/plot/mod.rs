// SPDX-License-Identifier: GPL-2.0-only
//! The plots of a run, as files in its output folder.

mod clip;
mod convert;
mod drawing;
mod figure;
mod look;
mod marker;
pub mod palette;
mod picture;
mod ruler;
mod runs;
mod slowdown;

pub use drawing::Drawing;
pub use figure::Figure;
pub use look::{Look, looks};

use anyhow::Result;
use hpcc_measures::results::Results;

use crate::save;

/// Draws every plot of a run that has data, removes plots of an earlier selection, and returns the names of the plots
/// and why others are missing.
///
/// # Errors
/// If a time series cannot be read or a plot cannot be written.
pub fn draw_all(results: &Results, drawing: Drawing) -> Result<(Vec<String>, Vec<String>)> {
    let look = drawing.look();
    let unrecorded = |key: &str, empty: &str| {
        let is_recorded = results.summary.scenario["monitor"][format!("{key}_ns")].is_number();
        Some(if is_recorded { empty.to_owned() } else { format!("the scenario has no monitor.{key}") })
    };
    let draw = |figure: Option<Figure>| figure.map(|figure| figure.render(&look)).transpose();
    let plots = [
        ("control.svg", draw(runs::control(results)?)?, None),
        ("queue.svg", draw(runs::queue(results)?)?, unrecorded("queue_interval", "no queue built up")),
        ("goodput.svg", draw(runs::goodput(results)?)?, unrecorded("goodput_interval", "no flow was measured")),
        ("slowdown.svg", slowdown::draw(results, &look)?, Some(no_slowdown(results).to_owned())),
    ];
    let (mut names, mut missing) = (Vec::new(), Vec::new());
    for (name, picture, why) in plots {
        let path = results.dir.join(name);
        match picture {
            Some(picture) => names.extend(drawing.write(&path, &picture)?),
            None => {
                save::remove(&path)?;
                drawing::beside(&path).iter().try_for_each(|file| save::remove(file))?;
                missing.extend(why.map(|why| format!("no {name}: {why}")));
            }
        }
    }
    Ok((names, missing))
}

/// Why no flow has a slowdown.
fn no_slowdown(results: &Results) -> &'static str {
    if results.is_part() {
        "no flow that is selected started in this part of the run and finished"
    } else {
        "no flow finished"
    }
}
