// SPDX-License-Identifier: GPL-2.0-only
//! `report`: the summary and the plots of an output folder.

use std::path::Path;

use anyhow::Result;

use crate::outcome::Outcome;
use crate::results::Results;
use crate::{human, plot, table};

/// Prints the summary of a folder, draws its plots into it, and says whether all flows finished.
///
/// # Errors
/// If the folder is not a complete output folder, is damaged, or cannot be written to.
pub fn report(dir: &Path) -> Result<Outcome> {
    let results = Results::load(dir)?;
    human::print(&table::render(&results))?;
    let plots = plot::draw_all(&results)?;
    let mut line = format!("\n results in {}", dir.display());
    if !plots.is_empty() {
        line += &format!(" (plots: {})", plots.join(", "));
    }
    human::print(&(line + "\n"))?;
    let finished = results.unfinished.is_empty() && results.summary.flows_finished >= results.summary.flows_total;
    Ok(if finished { Outcome::Good } else { Outcome::Unfinished })
}
