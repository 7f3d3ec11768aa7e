// SPDX-License-Identifier: GPL-2.0-only
//! `reproduce`: the figures of the papers, each a sweep of `configs/paper` with claims.

mod figure;
mod list;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use hpcc_model::error::nearest;

use crate::outcome::Outcome;
use crate::sweep::{self, How, Only, VERDICTS, Verdicts};
use crate::{human, save, script};
use figure::Figure;
pub use pages::{rewrite, write};

/// The word for all figures.
const ALL: &str = "all";
/// The word for a table of them.
const LIST: &str = "list";
/// Where results go without another word.
const RESULTS: &str = "hpcc-out/paper";

/// What to reproduce, and how.
#[derive(Args)]
pub struct Options {
    /// Names of figures such as fig13, "all", or "list" for a table of figures and their cost.
    #[arg(required = true, value_name = "FIGURE|all|list")]
    names: Vec<String>,
    #[arg(long, value_name = "DIR", help = format!("Folder for the results, one in it for each figure and form [default: {RESULTS}]."))]
    out: Option<PathBuf>,
    /// Also puts figures, data and verdicts where the project keeps them: configs/paper/results.
    #[arg(long, conflicts_with = "list")]
    record: bool,
    #[command(flatten)]
    how: How,
}

/// Runs the figures one after the other, the runs of each side by side.
///
/// # Errors
/// If there is no such figure, or its files make no sense. What goes wrong with a run is reported on standard error and by the
/// outcome.
pub fn reproduce(options: &Options) -> Result<Outcome> {
    let folder = script::source_tree()?.join(figure::FOLDER);
    let figures = Figure::all(&folder)?;
    if options.names == [LIST] {
        human::print(&list::render(&folder, &figures)?)?;
        return Ok(Outcome::Good);
    }
    let chosen = choose(&figures, &options.names)?;
    let results = options.out.as_deref().unwrap_or(Path::new(RESULTS));
    if !options.how.only_lists() {
        save::ensure_folder(results)?;
    }
    let mut outcome = Outcome::Good;
    let mut done = Vec::new();
    for (figure, number) in chosen.iter().zip(1..) {
        human::tell(&format!("{} ({number} of {})\n\n", figure.name, chosen.len()))?;
        let out = results.join(figure.folder(options.how.form()));
        let ended = sweep::sweep(&figure.path, Some(out.clone()), &[], &options.how, &Only::default(), None)?;
        outcome = worse(outcome, ended);
        if ended == Outcome::Failed || options.how.only_lists() {
            continue;
        }
        let verdicts = Verdicts::read(&out.join(VERDICTS))?;
        if options.record {
            record(&out, &folder.join(figure::RESULTS).join(figure.folder(options.how.form())))?;
        }
        done.push((figure.name.as_str(), verdicts));
    }
    if chosen.len() > 1 && !options.how.only_lists() {
        human::tell(&list::summary(&done))?;
    }
    Ok(outcome)
}

/// The figures of these names, in the order of the list.
fn choose<'a>(figures: &'a [Figure], names: &[String]) -> Result<Vec<&'a Figure>> {
    let known: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    for name in names.iter().filter(|name| *name != ALL) {
        if !known.contains(&name.as_str()) {
            let hint = nearest(name, &known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            bail!("there is no figure \"{name}\"{hint} (./hpcc reproduce list names all)");
        }
    }
    let is_chosen = |figure: &&Figure| names.iter().any(|name| name == ALL || *name == figure.name);
    Ok(figures.iter().filter(is_chosen).collect())
}

fn worse(one: Outcome, other: Outcome) -> Outcome {
    let rank = |outcome| match outcome {
        Outcome::Good => 0,
        Outcome::Unfinished => 1,
        Outcome::BadInput => 2,
        Outcome::Failed => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// Copies figures, data and verdicts of a sweep over those of an earlier one, which stay until all is copied.
fn record(from: &Path, to: &Path) -> Result<()> {
    let fresh = to.with_extension("new");
    remove(&fresh)?;
    fs::create_dir_all(&fresh).with_context(|| fresh.display().to_string())?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let path = entry?.path();
        let kept = path.extension().is_some_and(|end| end == "svg" || end == "csv") || path.ends_with(VERDICTS);
        if let Some(name) = path.file_name().filter(|_| kept) {
            fs::copy(&path, fresh.join(name)).with_context(|| fresh.display().to_string())?;
        }
    }
    remove(to)?;
    fs::rename(&fresh, to).with_context(|| to.display().to_string())
}

/// Removes a folder, if there is one.
fn remove(folder: &Path) -> Result<()> {
    let is_there = folder.exists();
    if is_there { fs::remove_dir_all(folder).with_context(|| folder.display().to_string()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_compact_is_recorded_and_nothing_old_stays() {
        let root = tempfile::tempdir().expect("folder");
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("hpcc")).expect("run");
        fs::create_dir_all(&to).expect("earlier");
        fs::write(to.join("old.svg"), "").expect("earlier");
        for name in ["a.svg", "sweep.csv", "verdicts.json", "report.html", "sweep.json"] {
            fs::write(from.join(name), name).expect("file");
        }
        record(&from, &to).expect("recorded");
        let mut names: Vec<_> =
            fs::read_dir(&to).expect("folder").map(|entry| entry.expect("entry").file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.svg", "sweep.csv", "verdicts.json"]);
    }
}
