// SPDX-License-Identifier: GPL-2.0-only
//! `report`: the summary and the plots of output folders, and one page of them all.

mod charts;
mod config;
mod data;
mod entry;
mod flows;
mod map;
mod page;
mod swept;
mod timelines;

pub use config::flat;
pub use entry::Entry;
pub use page::write as write_page;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use hpcc_measures::results::Results;
use hpcc_measures::select::Selection;

use crate::manifest::{MANIFEST, PAGE};
use crate::outcome::Outcome;
use crate::plot::{self, Drawing};
use crate::save::Draft;
use crate::{human, table, timeline};

/// What to report on.
#[derive(Args, Debug)]
pub struct Options {
    /// Output folders of runs and sweeps; several are shown side by side.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// The page [default: report.html in DIR, or in hpcc-out if there are several].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Writes the timeline of each run's jobs to timeline.json in DIR, for ui.perfetto.dev or chrome://tracing; needs
    /// monitor.timeline.
    #[arg(long)]
    perfetto: bool,
    #[command(flatten)]
    drawing: Drawing,
    #[command(flatten)]
    selection: Selection,
}

impl Options {
    /// Whether the page goes elsewhere, and nothing is asked of plots in DIR.
    fn can_do_without_plots(&self) -> bool {
        (self.out.is_some() || self.dirs.len() > 1) && self.drawing.is_usual()
    }
}

/// Prints the summary of each run, draws its plots into its folder, makes the page, and says whether all flows finished.
///
/// # Errors
/// If a folder is not a complete output folder, is damaged or of another version; if it cannot be written to, and the page
/// goes there, or plots are asked for; if the page cannot be written.
pub fn report(options: &Options) -> Result<Outcome> {
    let page = match (&options.out, options.dirs.as_slice()) {
        (Some(file), _) => file.clone(),
        (None, [dir]) => dir.join(PAGE),
        (None, _) => Path::new("hpcc-out").join(PAGE),
    };
    // Of what is no folder its reader says more.
    if options.dirs.iter().all(|dir| dir.is_dir()) {
        page::OWN.ensure(&page)?;
    }
    let mut entries = Vec::new();
    for dir in &options.dirs {
        let loaded = entry::load(dir, &options.selection)?;
        if !options.drawing.is_usual() && loaded.iter().any(|entry| !entry.is_run) {
            bail!(
                "{} is of a sweep, whose plots compare variants: `./hpcc sweep FILE --out DIR` draws them anew with --style, --pdf, \
                 --png and --data, from the runs that it finds; expected folders of runs",
                dir.display()
            );
        }
        entries.extend(loaded);
    }
    options.drawing.prepare()?;
    entry::tell_apart(&mut entries);
    let mut outcome = Outcome::Good;
    for entry in &entries {
        for results in &entry.runs {
            if entry.is_run || (entries.len() == 1 && entry.runs.len() == 1) {
                human::tell(&table::render(results)?)?;
            }
            if entry.is_run && options.can_do_without_plots() && !takes_files(&results.dir) {
                human::tell(&no_plots(&results.dir))?;
            } else if entry.is_run {
                let (plots, missing) = plot::draw_all(results, options.drawing)?;
                human::tell(&folder_lines(&results.dir, &plots, &missing))?;
            }
            if options.perfetto {
                human::tell(&perfetto(results)?)?;
            }
            if !is_finished(results) {
                outcome = Outcome::Unfinished;
            }
        }
    }
    // Its tables are of the sweep's own selection.
    let swept = match options.dirs.as_slice() {
        [dir] if options.selection == Selection::default() && dir.join(MANIFEST).exists() => Some(dir.as_path()),
        _ => None,
    };
    page::write(&entries, swept, &page)?;
    human::tell(&opening_line(&page))?;
    Ok(outcome)
}

/// Writes the timeline of a run as a trace, and says where.
fn perfetto(results: &Results) -> Result<String> {
    let file = results.dir.join("timeline.json");
    let Some(rows) = timeline::rows(results)? else {
        bail!("{}: no timeline; expected a run of jobs with --set monitor.timeline=true", results.dir.display());
    };
    let mut draft = Draft::of(&file)?;
    draft.fill(|out| {
        let jobs = timeline::by_job(&rows).map(|job| (timeline::name(results, job), job));
        timeline::write_perfetto(jobs, out)
    })?;
    draft.replace()?;
    Ok(format!(" timeline in {}: open it in ui.perfetto.dev\n", human::quoted(&file)))
}

/// Whether files can be made in a folder.
fn takes_files(dir: &Path) -> bool {
    Draft::of(&dir.join(PAGE)).is_ok()
}

/// Says that there are no plots, for example of somebody else's run.
fn no_plots(dir: &Path) -> String {
    format!("\n results in {}, which cannot be written to: no plots, only the page\n", dir.display())
}

/// As [`report`], for a run that has just ended.
///
/// # Errors
/// As [`report`].
pub fn report_on(dir: &Path, drawing: Drawing) -> Result<Outcome> {
    report(&Options {
        dirs: vec![dir.to_owned()],
        out: None,
        perfetto: false,
        drawing,
        selection: Selection::default(),
    })
}

/// The last line of a command that made a page.
pub fn opening_line(page: &Path) -> String {
    format!(" look at it with: xdg-open {}\n", human::quoted(page))
}

fn folder_lines(dir: &Path, plots: &[String], missing: &[String]) -> String {
    let plots = if plots.is_empty() { String::new() } else { format!(" (plots: {})", plots.join(", ")) };
    let missing: String = missing.iter().map(|sentence| format!(" {sentence}\n")).collect();
    format!("\n results in {}{plots}\n{missing}", dir.display())
}

fn is_finished(results: &Results) -> bool {
    results.unfinished() == 0 && results.summary.flows_finished >= results.summary.flows_total
}
