// SPDX-License-Identifier: GPL-2.0-only
//! The plots of a run, as files in its output folder.

mod drawing;
mod figure;
mod look;
mod marker;
mod palette;
mod png;
mod ruler;
mod runs;
mod slowdown;

pub mod dot_rows;

pub use drawing::Drawing;
pub use figure::Figure;
pub use look::Look;

use std::path::PathBuf;

use anyhow::Result;
use hpcc_measures::results::Results;

use crate::save::{self, Draft};

/// The plots of a run, drawn, which do not have their names yet.
pub struct Plots {
    drafts: Vec<Draft>,
    /// All that there may be of an earlier selection.
    old: Vec<PathBuf>,
    /// Why others are not there.
    pub missing: Vec<String>,
}

impl Plots {
    /// Draws every plot that there is something to draw for.
    ///
    /// # Errors
    /// If a time series cannot be read or a plot cannot be written.
    pub fn of(results: &Results, drawing: Drawing) -> Result<Plots> {
        let look = drawing.look();
        let unrecorded = |name: &str, key: &str, empty: &str| {
            let why =
                if is_recorded(results, key) { empty.to_owned() } else { format!("the scenario has no monitor.{key}") };
            Some(format!("no {name}: {why}"))
        };
        let draw = |figure: Option<Figure>| figure.map(|figure| figure.render(&look)).transpose();
        let plots = [
            ("control.svg", draw(runs::control(results)?)?, None),
            ("queue.svg", draw(runs::queue(results)?)?, unrecorded("queue.svg", "queue_interval", "no queue built up")),
            (
                "goodput.svg",
                draw(runs::goodput(results)?)?,
                unrecorded("goodput.svg", "goodput_interval", "no flow was measured"),
            ),
            (
                "slowdown.svg",
                slowdown::draw(results, &look)?,
                Some(format!("no slowdown.svg: {}", no_slowdown(results))),
            ),
        ];
        let mut made = Plots { drafts: Vec::new(), old: Vec::new(), missing: Vec::new() };
        for (name, svg, why) in plots {
            let path = results.dir.join(name);
            match svg {
                Some(svg) => made.drafts.extend(drawing.drafts(&path, &svg)?),
                None => made.missing.extend(why),
            }
            made.old.push(png::beside(&path));
            made.old.push(path);
        }
        Ok(made)
    }

    /// Puts them in place of all others, and returns their names. Those go first: whoever ends this in the middle leaves no plots
    /// of two selections.
    ///
    /// # Errors
    /// Those of the system.
    pub fn put(self) -> Result<Vec<String>> {
        self.old.iter().try_for_each(|old| save::remove(old))?;
        let names = self.drafts.iter().map(Draft::name).collect();
        self.drafts.into_iter().try_for_each(Draft::replace)?;
        Ok(names)
    }
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
