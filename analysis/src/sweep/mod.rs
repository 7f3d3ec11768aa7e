// SPDX-License-Identifier: GPL-2.0-only
//! `sweep`: variants of a scenario, simulated side by side and compared.

mod axes;
mod claim;
mod columns;
mod comparison;
mod elsewhere;
mod execute;
mod figures;
mod file;
mod flow_table;
mod folder;
mod group;
mod growth;
mod job;
mod keys;
mod metrics;
mod notes;
mod only;
mod placed;
mod plan;
mod plots;
mod program;
mod report;
mod run;
mod slurm;
mod verdict;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use hpcc_measures::quantity::{Def, METRICS, Metric};
use hpcc_measures::results::Results;

use crate::manifest::{FIGURES, MANIFEST, Manifest, ManifestEntry, ManifestRun, PAGE, Shown};
use crate::outcome::Outcome;
use crate::plot::Drawing;
use crate::report::{self as page, Entry};
use crate::table::Titled;
use crate::{human, save};
pub use elsewhere::Elsewhere;
use execute::Ended;
pub use file::Keys as SweepKeys;
pub use file::SweepFile;
pub use flow_table::FlowTable;
use folder::SweepFolder;
pub use folder::TABLE;
use group::{Group, Measured};
use job::Job;
pub use keys::Form;
pub use only::Only;
pub use plan::plan;
use plots::Plots;
use run::Run;
pub use verdict::{FILE as VERDICTS, Judged, Verdict, Verdicts};

/// How a sweep is run and shown.
#[derive(Args)]
pub struct How {
    /// Simulations at a time [default: all processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::count::<NonZeroUsize, { crate::MOST_AT_A_TIME }>)]
    jobs: Option<NonZeroUsize>,
    /// Repeats runs that an earlier sweep completed from the same inputs with the same program, too.
    #[arg(long)]
    fresh: bool,
    /// The smaller version that the section `[quick]` of the file describes.
    #[arg(long)]
    quick: bool,
    /// Checks the file and lists its runs, but runs nothing and writes nothing.
    #[arg(long, conflicts_with_all = ["jobs", "fresh", "style", "pdf", "png", "data"])]
    list: bool,
    #[command(flatten)]
    drawing: Drawing,
}

impl How {
    /// The form that is asked for.
    pub fn form(&self) -> Form {
        if self.quick { Form::Quick } else { Form::Full }
    }

    /// Whether nothing shall run.
    pub fn only_lists(&self) -> bool {
        self.list
    }
}

/// Runs what a sweep file lists, prints the comparison, and writes it with data, plots and page into `out`. Runs that an
/// earlier sweep completed from the same inputs are kept unless all shall be fresh. All flows go into the table, if there
/// shall be one. `only` chooses a part.
///
/// # Errors
/// If file or overrides make no sense or `out` holds something else: then nothing has run. Later, if the sweep's
/// own files cannot be written. What goes wrong with a run is reported on standard error and by the outcome.
pub fn sweep(
    file: &Path,
    out: Option<PathBuf>,
    set: &[String],
    how: &How,
    only: &Only,
    table: Option<&FlowTable>,
) -> Result<Outcome> {
    let out = out.map_or_else(|| save::default_out(file), Ok)?;
    let file = SweepFile::read_part(file, how.form(), only)?;
    let runs = if how.list { list(&file, set)? } else { plan(&file, set)? };
    if let Some(quick) = file.quick_form()? {
        plan(&quick, &[])?;
    }
    if how.list {
        return Ok(Outcome::Good);
    }
    table.map_or(Ok(()), |table| table.check())?;
    how.drawing.prepare()?;
    tell_ns3(&runs);
    if let Some(left_out) = &file.left_out {
        human::note(format_args!("--only: {}; left out: {left_out}", human::counted(runs.len() as u64, "run")));
    }
    let job = Job::new(&file, &out, &runs)?;
    let folder = SweepFolder::create(&out, &file.axes)?;
    let ended = execute::execute(&job, &runs, how.jobs, how.fresh)?;
    Ok(conclude(&file, how.drawing, &folder, &runs, ended, table))
}

/// Says what ns-3 simulates, if nobody has chosen that.
fn tell_ns3(runs: &[Run]) {
    let mut reasons: Vec<&str> = runs.iter().filter_map(|run| run.needs_ns3.as_deref()).collect();
    let count = reasons.len();
    reasons.sort_unstable();
    reasons.dedup();
    if !reasons.is_empty() {
        let all = human::counted(runs.len() as u64, "run");
        human::note(format_args!("ns-3 simulates {count} of {all}: {}", reasons.join(", ")));
    }
}

/// Prints the comparison of runs that have ended, and writes data, plots and page. The sweep was fine, so trouble with these is
/// not bad input.
fn conclude(
    file: &SweepFile,
    drawing: Drawing,
    folder: &SweepFolder,
    runs: &[Run],
    ended: Vec<Ended>,
    table: Option<&FlowTable>,
) -> Outcome {
    let shown = show(file, drawing, folder, runs, ended, table);
    shown.unwrap_or_else(|error| {
        human::warn(format_args!("the runs ended, but the sweep cannot be shown: {}", human::reason(&error)));
        Outcome::Failed
    })
}

fn show(
    file: &SweepFile,
    drawing: Drawing,
    folder: &SweepFolder,
    runs: &[Run],
    ended: Vec<Ended>,
    table: Option<&FlowTable>,
) -> Result<Outcome> {
    let outcome = report_on(file, drawing, folder, runs, &ended)?;
    match table {
        Some(_) if outcome == Outcome::Failed => human::warn("--table: it is not written, for runs are missing"),
        Some(table) => table.write(file, folder.path(), runs)?,
        None => {}
    }
    let entries = entries(file, runs, ended);
    if !entries.is_empty() {
        let file = folder.path().join(PAGE);
        page::write_page(&entries, Some(folder.path()), &file)?;
        human::tell(&page::opening_line(&file))?;
    }
    Ok(outcome)
}

/// Prints the folder of each run and its settings, as soon as it is checked: a sweep may have a million.
fn list(file: &SweepFile, set: &[String]) -> Result<Vec<Run>> {
    let mut printed = Ok(true);
    let runs = plan::plan_each(file, set, |run| {
        printed = human::print_to_reader(&format!("{}  {}\n", run.folder.display(), run.overrides.join(" ")));
        matches!(printed, Ok(true))
    });
    printed?;
    Ok(runs?)
}

/// The runs that ended well, by variant and step of the axes.
fn entries(file: &SweepFile, runs: &[Run], ended: Vec<Ended>) -> Vec<Entry> {
    let mut entries: Vec<((usize, usize), Entry)> = Vec::new();
    for (run, ended) in runs.iter().zip(ended) {
        let Ok(results) = ended.results else { continue };
        let key = (run.variant, run.step);
        match entries.last_mut().filter(|(last, _)| *last == key) {
            Some((_, entry)) => entry.runs.push(results),
            None => {
                let name = entry_name(file, run.variant, run.step);
                entries.push((key, Entry { name, runs: vec![results], is_run: false, shown: shown(file) }));
            }
        }
    }
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn described(metric: &Metric) -> (String, (String, String)) {
    let Def { unit, is, .. } = metric.quantity.def();
    (metric.name.to_owned(), (unit.in_files().to_owned(), (*is).to_owned()))
}

fn shown(file: &SweepFile) -> Shown {
    Shown { spread: file.spread, size_bins: file.size_bins.clone() }
}

fn entry_name(file: &SweepFile, variant: usize, step: usize) -> String {
    let name = file.variants[variant].label();
    if file.axes.is_empty() { name.to_owned() } else { format!("{name}, {}", file.axes.words(step)) }
}

/// The sweep's file for `report`.
fn manifest(file: &SweepFile, groups: &[Group<'_>], tables: Vec<Titled>, plots: Vec<String>) -> Manifest {
    let run = |measured: &&Measured<'_>| ManifestRun {
        folder: measured.run.folder.clone(),
        seed: measured.results.summary.seed,
    };
    let axes = || file.axes.iter().map(|axis| axis.name.clone());
    let entry = |group: &Group<'_>| ManifestEntry {
        name: entry_name(file, group.index, group.step),
        variant: group.variant.to_owned(),
        label: group.label.to_owned(),
        values: axes().zip(group.values.iter().map(|value| (*value).to_owned())).collect(),
        runs: group.runs.iter().map(run).collect(),
    };
    let entries = groups.iter().filter(|group| !group.runs.is_empty()).map(entry).collect();
    Manifest {
        title: file.title.clone(),
        measured: file.selection.clone(),
        metrics: METRICS.iter().map(described).collect(),
        shown: shown(file),
        tables,
        plots,
        entries,
    }
}

fn measure<'a>(file: &SweepFile, run: &'a Run, results: &'a Results) -> Result<Measured<'a>> {
    let of_groups = file.columns.iter().any(|column| column.group().is_some());
    let metrics = metrics::metrics(results, &run.facts, file.sizes, file.size_bins.as_deref(), of_groups)?;
    Ok(Measured { run, results, metrics })
}

fn report_on(
    file: &SweepFile,
    drawing: Drawing,
    folder: &SweepFolder,
    runs: &[Run],
    ended: &[Ended],
) -> Result<Outcome> {
    let good = runs.iter().zip(ended).filter_map(|(run, ended)| Some((run, ended.results.as_ref().ok()?)));
    let measured: Vec<Measured<'_>> = good.map(|(run, results)| measure(file, run, results)).collect::<Result<_>>()?;
    let groups = group(file, &measured);
    let outcome = tell_trouble(runs, ended);
    let notes = notes::notes(file, &groups);
    notes.iter().for_each(|note| human::note(format_args!("note: {note}")));
    if human::is_quiet() && !notes.is_empty() {
        let page = folder.path().join(PAGE);
        human::warn(format_args!("{}: see {}", human::counted(notes.len() as u64, "note"), page.display()));
    }
    let complete = outcome != Outcome::Failed;
    let verdicts = verdict::judge(file, &groups).filter(|_| complete);
    let tables = comparison::tables(file, &groups);
    let mut table = comparison::render(file, &groups, &tables);
    table += &verdicts.as_ref().map(verdict::render).unwrap_or_default();
    human::tell(&table)?;
    if let Some(verdicts) = &verdicts {
        folder.write(verdict::FILE, &(serde_json::to_string_pretty(verdicts)? + "\n"))?;
    }
    let plots = if complete { plots::draw_all(file, drawing, folder, &groups)? } else { Plots::default() };
    folder.write(FIGURES, &(serde_json::to_string(&plots.figures)? + "\n"))?;
    if complete && !file.columns.is_empty() {
        folder.write(folder::WIDE, &comparison::wide(file, &groups)?)?;
    }
    folder.write(
        MANIFEST,
        &(serde_json::to_string_pretty(&manifest(file, &groups, tables, plots.names.clone()))? + "\n"),
    )?;
    let data = folder.finish(&table, &folder::data(file, &measured)?, complete)?;
    let mut line = format!("\n results in {} ({data}", folder.path().display());
    if !plots.names.is_empty() {
        let ends = drawing.ends().join(", ");
        line += &format!("; plots: {}, as {ends}", kinds(&plots.names));
    }
    line += ")\n";
    plots.missing.iter().for_each(|sentence| line += &format!(" {sentence}\n"));
    human::tell(&line)?;
    Ok(outcome)
}

/// Plots by kind, and of how many steps of the axes.
fn kinds(plots: &[String]) -> String {
    let kind = |plot: &String| plot.split_once('.').map_or(plot.clone(), |(kind, _)| kind.to_owned());
    let words = |plots: &[String]| match plots {
        [one] => one.clone(),
        several => format!("{} ({})", kind(&several[0]), several.len()),
    };
    plots.chunk_by(|one, next| kind(one) == kind(next)).map(words).collect::<Vec<_>>().join(", ")
}

/// By variant, then by step of the axes; those without a good run, too.
fn group<'a>(file: &'a SweepFile, measured: &'a [Measured<'a>]) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for (index, variant) in file.variants.iter().enumerate() {
        for step in 0..file.axes.steps() {
            let belongs = |measured: &&Measured<'_>| (measured.run.variant, measured.run.step) == (index, step);
            groups.push(Group {
                index,
                variant: &variant.name,
                label: variant.label(),
                step,
                values: file.axes.values(step),
                runs: measured.iter().filter(belongs).collect(),
            });
        }
    }
    groups
}

/// Names every run that failed or left flows unfinished, with the end of its log.
fn tell_trouble(runs: &[Run], ended: &[Ended]) -> Outcome {
    let mut outcome = Outcome::Good;
    for (run, ended) in runs.iter().zip(ended) {
        let name = run.folder.display();
        let trouble = match &ended.results {
            Err(error) => {
                outcome = Outcome::Failed;
                format!("{name} {}", human::reason(error))
            }
            Ok(results) if results.summary.flows_finished < results.summary.flows_total => {
                outcome = if outcome == Outcome::Failed { outcome } else { Outcome::Unfinished };
                let left = results.summary.flows_total - results.summary.flows_finished;
                format!("{name} is incomplete: {} unfinished", human::counted(left, "flow"))
            }
            Ok(_) => continue,
        };
        human::warn(format_args!("{trouble}{}", execute::end_of(&ended.log)));
    }
    outcome
}
