// SPDX-License-Identifier: GPL-2.0-only
//! What pages show of runs: `./hpcc docs --runs` repeats the commands that they name.

mod command;
#[cfg(test)]
mod links;
#[cfg(test)]
mod named;
mod page;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod readable;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use command::Commands;
use hpcc_analysis::Outcome;
use hpcc_analysis::human;
use hpcc_analysis::save;
use page::{Mark, Shows};

/// Folders of the source tree with pages.
const FOLDERS: [&str; 3] = ["", "configs", "ns3-module/doc"];
/// Where results are kept, so that what has not changed need not run again.
const RESULTS: &str = "hpcc-out/pages";

/// What is repeated, and how.
#[derive(Args)]
pub struct Options {
    /// Renews output and plots that pages show, in place of settings, by repeating the commands that they name: all, or those
    /// that have a PART in their words or in the name of the page.
    #[arg(long, num_args = 0.., value_name = "PART")]
    runs: Option<Vec<String>>,
    /// Writes nothing: names what is not as its command gives it. Exit status 1 if there is anything.
    #[arg(long, requires = "runs")]
    check: bool,
    /// Where the results go [default: hpcc-out/pages of the source tree].
    #[arg(long, value_name = "DIR", requires = "runs")]
    out: Option<PathBuf>,
    /// Simulations at a time [default: all processors].
    #[arg(long, value_name = "N", requires = "runs", allow_hyphen_values = true, value_parser = hpcc_analysis::count::<NonZeroUsize, { hpcc_analysis::MOST_AT_A_TIME }>)]
    jobs: Option<NonZeroUsize>,
}

impl Options {
    /// Repeats what is chosen, on the pages of a source tree; nothing if none of this is asked for.
    ///
    /// # Errors
    /// If a page cannot be read, understood or written, or a command does not end well.
    pub fn repeat(&self, tree: &Path) -> Result<Option<Outcome>> {
        let Some(parts) = &self.runs else { return Ok(None) };
        self.out.as_deref().map_or(Ok(()), save::ensure_folder)?;
        let results = self.out.clone().unwrap_or_else(|| tree.join(RESULTS));
        let mut commands = Commands::new(tree, results, self.jobs)?;
        let mut outdated = false;
        for name in pages(tree)? {
            for (path, bytes) in
                renewed(&tree.join(&name), &name, parts, &mut commands).with_context(|| name.clone())?
            {
                if fs::read(&path).is_ok_and(|old| old == bytes) {
                    continue;
                }
                outdated = true;
                let name = shortened(path.strip_prefix(tree).unwrap_or(&path));
                if self.check {
                    tell(&name, &path, &bytes);
                } else {
                    save::replace(&path, &bytes)?;
                    human::tell(&format!("rewrote {}\n", name.display()))?;
                }
            }
        }
        ensure!(commands.any(), "--runs: no page shows a command with {}", parts.join(" or "));
        Ok(Some(if self.check && outdated { Outcome::Failed } else { Outcome::Good }))
    }
}

/// Says that a file is not what it should be, and of a page where.
fn tell(name: &Path, path: &Path, wanted: &[u8]) {
    let old = fs::read_to_string(path).unwrap_or_default();
    let is_page = path.extension().is_some_and(|extension| extension == "md");
    let new = str::from_utf8(wanted).ok().filter(|_| is_page);
    let (name, place) = (name.display(), new.and_then(|new| first_difference(&old, new)).unwrap_or_default());
    human::warn(format_args!("{name} does not show what its commands give{place}; ./hpcc docs --runs renews it"));
}

/// The first line that a text should have and has not.
fn first_difference(old: &str, new: &str) -> Option<String> {
    let mut old = old.lines();
    let (index, line) = new.lines().enumerate().find(|(_, line)| old.next() != Some(line))?;
    Some(format!(": line {} should be \"{}\"", index + 1, line.trim()))
}

/// The plots of a page and its text, as the chosen commands give them, each with its path.
fn renewed(page: &Path, name: &str, parts: &[String], commands: &mut Commands<'_>) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let old = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let chosen = |mark: &Mark<'_>| {
        parts.is_empty() || parts.iter().any(|part| name.contains(part) || mark.command.contains(part))
    };
    let marks: Vec<Mark<'_>> = page::marks(&old)?.into_iter().filter(chosen).collect();
    let mut files = Vec::new();
    for mark in &marks {
        let Shows::Figure { file, image } = &mark.shows else { continue };
        let plot = commands.results(mark.command)?.join(file);
        files.push((page.with_file_name(image), fs::read(&plot).with_context(|| plot.display().to_string())?));
    }
    let text = page::renewed(&old, &marks, |command| commands.output(command))?;
    files.push((page.to_owned(), text.into_bytes()));
    Ok(files)
}

/// A path without steps into a folder and out of it.
fn shortened(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        if part != Component::ParentDir || !short.pop() {
            short.push(part);
        }
    }
    short
}

/// The names of all pages of a source tree.
fn pages(tree: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(tree.join(folder)).with_context(|| folder.to_owned())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                names.push(if folder.is_empty() { name } else { format!("{folder}/{name}") });
            }
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of text or a plot of results that no command stands above would never be noticed when it is no longer true.
    #[test]
    fn every_block_of_results_names_its_command() {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut shown = 0;
        for name in pages(&tree).expect("pages") {
            let text = fs::read_to_string(tree.join(&name)).expect("a page");
            let marks = page::marks(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            for mark in &marks {
                let words = command::words(mark.command).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(tree.join(&words.file).is_file(), "{name}: {}", mark.command);
            }
            shown += marks.len();
        }
        assert!(shown > 0);
    }
}
