// SPDX-License-Identifier: GPL-2.0-only
//! `bench --first`: what whoever tries hpcc waits for, as README.md states it.

use std::process::Command;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use duct::cmd;
use hpcc_analysis::script::source_tree;
use hpcc_analysis::{human, save};
use wait4::Wait4;

/// The first command of README.md.
const FIRST: [&str; 2] = ["run", "configs/quickstart.toml"];

/// Times the first command in a new clone of the last commit, crates fetched before, and prints elapsed and processor time.
///
/// # Errors
/// If there is no repository or no network for crates, or the command fails.
pub fn measure() -> Result<()> {
    let (tree, folder) = (source_tree()?, save::temporary_folder()?);
    let clone = folder.path().join("hpcc");
    cmd!("git", "clone", "--quiet", &tree, &clone).run().context("git clone")?;
    cmd!("cargo", "fetch", "--quiet", "--locked").dir(&clone).run().context("cargo fetch")?;
    human::show_step("the first command in a new clone");
    let begin = Instant::now();
    let mut command = Command::new(clone.join("hpcc"));
    // Nothing that was built before, and no checkout but the clone.
    let kept = ["CARGO_TARGET_DIR", "HPCC_SCRIPT", "HPCC_SKIPPED"];
    kept.iter().for_each(|name| _ = command.env_remove(name));
    let mut child = command.args(FIRST).current_dir(&clone).spawn().with_context(|| clone.display().to_string())?;
    let used = child.wait4()?;
    human::clear_step();
    ensure!(used.status.success(), "{} ended with {}", FIRST.join(" "), used.status);
    let processor = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    let cores = available_parallelism()?;
    human::print(&format!(
        "\n from clone to figure: {:.0} s on {cores} processors, {processor:.0} s of processor time, crates fetched before\n",
        begin.elapsed().as_secs_f64()
    ))
}
