// SPDX-License-Identifier: GPL-2.0-only
//! `sweep`: variants of a scenario, simulated side by side and compared.

mod comparison;
mod execute;
mod file;
mod folder;
mod group;
mod growth;
mod metrics;
mod plan;
mod plots;
mod report;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::outcome::Outcome;
use crate::simulator::Simulator;
use crate::{human, run};
use execute::Ended;
pub use file::Keys as SweepKeys;
use file::SweepFile;
use folder::{Row, SweepFolder};
use group::{Group, Measured};
use metrics::Sizes;
use plan::Run;

/// Runs what a sweep file lists, prints the comparison, and writes it with data and plots into `out`.
///
/// # Errors
/// If file or overrides make no sense or `out` holds something else: then nothing has run. Later, if the sweep's
/// own files cannot be written. What goes wrong with a run is told on standard error and by the outcome.
pub fn sweep(file: &Path, out: Option<PathBuf>, jobs: Option<NonZeroUsize>, set: &[String]) -> Result<Outcome> {
    let out = out.map_or_else(|| run::default_out(file), Ok)?;
    let file = SweepFile::read(file)?;
    let runs = plan::plan(&file, set)?;
    let simulator = Simulator::find()?;
    let folder = SweepFolder::create(&out)?;
    let ended = execute::execute(&simulator, &file.base, &out, &runs, jobs)?;
    report_on(&file, &folder, &runs, &ended)
}

fn report_on(file: &SweepFile, folder: &SweepFolder, runs: &[Run], ended: &[Ended]) -> Result<Outcome> {
    let sizes = Sizes::new(file.size_bins.as_deref());
    let measured: Vec<Measured<'_>> = runs
        .iter()
        .zip(ended)
        .filter_map(|(run, ended)| {
            let results = ended.results.as_ref().ok()?;
            let mut metrics = metrics::metrics(results, &run.facts, sizes);
            if run.facts.records_queues {
                match growth::growth_ns(&results.dir) {
                    Ok(grew) => metrics.extend(grew.map(|grew| ("queue_growth_ns".to_owned(), grew as f64))),
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(Measured { run, results, metrics }))
        })
        .collect::<Result<_>>()?;
    let groups = group(file, &measured);
    let table = comparison::render(file, &groups, sizes);
    human::print(&table)?;

    let outcome = tell_trouble(runs, ended);
    let complete = outcome != Outcome::Failed;
    let plots = if complete { plots::draw_all(file, folder, &groups, sizes)? } else { Vec::new() };
    let data = folder.finish(&table, &rows(file, &measured), complete)?;
    let mut line = format!("\n results in {} ({data}", folder.path().display());
    if !plots.is_empty() {
        line += &format!("; plots: {}", plots.join(", "));
    }
    human::print(&(line + ")\n"))?;
    Ok(outcome)
}

/// By variant, then by value of the axis; those without a good run, too.
fn group<'a>(file: &'a SweepFile, measured: &'a [Measured<'a>]) -> Vec<Group<'a>> {
    let steps = file.axis.as_ref().map_or(1, |axis| axis.values.len());
    let mut groups = Vec::new();
    for (index, variant) in file.variants.iter().enumerate() {
        for step in 0..steps {
            let belongs = |measured: &&Measured<'_>| (measured.run.variant, measured.run.step) == (index, step);
            groups.push(Group {
                index,
                variant: &variant.name.value,
                step,
                axis: file.axis_value(step),
                runs: measured.iter().filter(belongs).collect(),
            });
        }
    }
    groups
}

fn rows<'a>(file: &'a SweepFile, measured: &'a [Measured<'a>]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for Measured { run, results, metrics } in measured {
        rows.extend(metrics.iter().map(|(metric, value)| Row {
            variant: &file.variants[run.variant].name.value,
            axis: file.axis_value(run.step).unwrap_or_default(),
            seed: run.seed.unwrap_or(results.summary.seed),
            metric,
            value: *value,
        }));
    }
    rows
}

/// Names every run that failed or left flows unfinished, with the end of its log.
fn tell_trouble(runs: &[Run], ended: &[Ended]) -> Outcome {
    let mut outcome = Outcome::Good;
    for (run, ended) in runs.iter().zip(ended) {
        let name = run.folder.display();
        let trouble = match &ended.results {
            Err(error) => {
                outcome = Outcome::Failed;
                format!("{name} failed: {error:#}")
            }
            Ok(results) if results.summary.flows_finished < results.summary.flows_total => {
                outcome = if outcome == Outcome::Failed { outcome } else { Outcome::Unfinished };
                let left = results.summary.flows_total - results.summary.flows_finished;
                format!("{name} is incomplete: {} unfinished", human::counted(left, "flow"))
            }
            Ok(_) => continue,
        };
        human::warn(format_args!("{trouble}; {} ends with\n{}", ended.log.display(), execute::tail(&ended.log)));
    }
    outcome
}
