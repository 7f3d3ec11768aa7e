// SPDX-License-Identifier: GPL-2.0-only
//! `export`: what a scenario configures, in the form of others.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap_complete::ArgValueCompleter;
use hpcc_formats::sonic;

use crate::{control, human, save, settings};

/// Which form.
#[derive(clap::Subcommand)]
pub enum Options {
    /// Writes tables of SONiC's config_db.json for a switch: ports, pools, profiles, marks, schedulers, maps, watchdog, trimming. Lists
    /// settings without a counterpart there.
    Sonic(Sonic),
}

/// Which switch of which scenario.
#[derive(clap::Args)]
pub struct Sonic {
    /// The scenario, or a config.txt of the 2019 simulator.
    file: PathBuf,
    /// Number of the switch [default: the first one].
    #[arg(long, value_name = "NODE", allow_hyphen_values = true, value_parser = crate::count::<u32, { u32::MAX as u64 }>)]
    switch: Option<u32>,
    /// Writes to this file, which must not be there yet, and not to standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overrides a key of the scenario; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings::assignments))]
    set: Vec<String>,
}

/// Writes it.
///
/// # Errors
/// If the scenario makes no sense or has no such switch, or the file cannot be written.
pub fn export(options: &Options) -> Result<()> {
    let Options::Sonic(Sonic { file, switch, out, set }) = options;
    out.as_deref().map_or(Ok(()), save::ensure_new)?;
    let scenario = hpcc_formats::load_with(file, set, control::defaults())?;
    let first = scenario.network.switches().next();
    let switch = switch.or(first).with_context(|| format!("{}: there is no switch", file.display()))?;
    let written = sonic::write(&scenario.settings, &scenario.network, switch);
    let written = written.map_err(|wrong| anyhow!("{}: --switch: {wrong}", file.display()))?;
    match out {
        Some(out) => save_new(out, &written.text)?,
        None => human::print(&written.text)?,
    }
    written.left_out.iter().for_each(human::note);
    Ok(())
}

fn save_new(out: &Path, text: &str) -> Result<()> {
    let mut draft = save::Draft::of(out)?;
    draft.fill(|file| file.write_all(text.as_bytes()))?;
    draft.keep()?;
    human::tell(&format!(" wrote {}\n", out.display()))
}
