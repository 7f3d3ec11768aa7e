// SPDX-License-Identifier: GPL-2.0-only
//! `check`: what is wrong with scenarios, or worth saying of them, without a simulation.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::PossibleValuesParser;
use clap_complete::ArgValueCompleter;
use hpcc_model::lint::LINTS;

use crate::control;
use crate::outcome::Outcome;
use crate::{human, settings};

/// Denies all lints.
const ALL: &str = "all";

/// What to check, and what may not be found.
#[derive(clap::Args)]
pub struct Options {
    /// Scenarios, or config.txt files of the 2019 simulator.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Overrides a key of all files; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings::assignments))]
    set: Vec<String>,
    /// A lint whose findings are errors, or all; may be repeated.
    #[arg(long, value_name = "LINT", value_parser = PossibleValuesParser::new(names()))]
    deny: Vec<String>,
}

fn names() -> Vec<&'static str> {
    LINTS.iter().map(|lint| lint.id).chain([ALL]).collect()
}

/// Prints the findings in each file.
///
/// # Errors
/// If a file is no scenario that can run; the others are looked at first.
pub fn check(options: &Options) -> Result<Outcome> {
    let (mut text, mut errors, mut is_denied) = (String::new(), Vec::new(), false);
    for file in &options.files {
        let scenario = match hpcc_formats::load_with(file, &options.set, control::defaults()) {
            Ok(scenario) => scenario,
            Err(error) => {
                errors.push(error.to_string());
                continue;
            }
        };
        let name = file.display();
        for note in &scenario.notes {
            let Some(finding) = scenario.findings.iter().find(|finding| finding.message == *note) else {
                text += &format!("{name}: note: {note}\n");
                continue;
            };
            let denied = options.deny.iter().any(|id| [finding.id, ALL].contains(&id.as_str()));
            let level = if denied { "error" } else { finding.level.name() };
            text += &format!("{name}: {level}[{}]: {note}\n", finding.id);
            is_denied |= denied;
        }
    }
    human::print(&text)?;
    if !errors.is_empty() {
        bail!("{}", errors.join("\nhpcc: "));
    }
    Ok(if is_denied { Outcome::Failed } else { Outcome::Good })
}
