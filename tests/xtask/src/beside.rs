// SPDX-License-Identifier: GPL-2.0-only
//! `bench --reference`: the reference simulator and ours in turn, on the same files and the same machine.

use anyhow::{Context, Result, ensure};
use hpcc_measures::stats::median;
use std::fs::File;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::{Command, Stdio};
use wait4::Wait4;

use crate::bench::WORKLOADS;
use crate::parity::{Case, Data, Replay};
use hpcc_analysis::Outcome;
use hpcc_analysis::human;
use hpcc_analysis::save;
use hpcc_analysis::script::Parts;
use hpcc_analysis::simulator::{Simulator, existing};
use hpcc_analysis::table::table;

/// Runs each workload `runs` times with either program, by turns, and prints processor time and the ratio.
///
/// # Errors
/// If workloads or a program cannot be found, or a run fails.
pub fn beside(reference: &Path, runs: NonZeroU32, data: &Data) -> Result<Outcome> {
    let reference = existing(reference)?;
    let (golden, simulator) = (data.open()?, Simulator::find(Parts::default())?);
    let mut rows = Vec::new();
    for (scenario, name) in WORKLOADS {
        let run = golden.run(scenario, name).with_context(|| format!("there is no run {scenario}/{name}"))?;
        let case = golden.case(run)?;
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for repetition in 1..=runs.get() {
            human::show_step(&format!("{run}, {repetition} of {runs}"));
            theirs.push(cpu_s(&reference, &case)?);
            let summary = Replay::of(&case, &simulator)?.summary;
            ours.push(summary.setup_cpu_s + summary.run_cpu_s);
        }
        human::clear_step();
        let ratios: Vec<f64> = theirs.iter().zip(&ours).map(|(theirs, ours)| theirs / ours).collect();
        let [theirs, ours, ratios] = [&theirs, &ours, &ratios].map(|values| spread(values));
        rows.push(vec![run.to_string(), theirs, ours, ratios]);
    }
    let titles = ["whole job", "reference (CPU s)", "hpcc (CPU s)", "times as fast"];
    human::print(&format!("{}\n\n Median and range of {runs} runs each, in turn.\n", table(&titles, rows)))?;
    Ok(Outcome::Good)
}

/// Processor time of a run of the reference, in seconds.
fn cpu_s(reference: &Path, case: &Case) -> Result<f64> {
    let folder = save::temporary_folder()?;
    let config = case.unpack(folder.path())?;
    let log = folder.path().join("stderr.log");
    let mut command = Command::new(reference);
    command.arg(&config).current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command
        .stderr(File::create(&log).with_context(|| log.display().to_string())?)
        .spawn()
        .with_context(|| reference.display().to_string())?;
    let used = child.wait4()?;
    let said = || std::fs::read_to_string(&log).unwrap_or_default();
    ensure!(used.status.success(), "{} ended with {}: {}", reference.display(), used.status, said().trim());
    Ok((used.rusage.utime + used.rusage.stime).as_secs_f64())
}

/// Median, least and most.
pub fn spread(values: &[f64]) -> String {
    let (least, most) = values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
    format!("{:.2} ({least:.2} to {most:.2})", median(values))
}
