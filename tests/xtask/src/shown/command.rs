// SPDX-License-Identifier: GPL-2.0-only
//! The commands that pages name, each executed once.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use hpcc_measures::results::Results;

use hpcc_analysis::SWEEP_TABLE;
use hpcc_analysis::table;

/// A command line that pages may name.
#[derive(Debug, PartialEq)]
pub struct Words {
    does: Does,
    /// The scenario or the sweep, in the source tree.
    pub file: String,
    more: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Run,
    Sweep,
}

impl Does {
    fn name(self) -> &'static str {
        match self {
            Does::Run => "run",
            Does::Sweep => "sweep",
        }
    }
}

/// The words of a command line, with single quotes around what has spaces.
pub fn split(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match (letter, words.last_mut()) {
            ('\'', _) => quoted = !quoted,
            (' ', _) if !quoted => words.push(String::new()),
            (other, Some(word)) => word.push(other),
            (_, None) => {}
        }
    }
    words
}

/// A command line that gives results.
///
/// # Errors
/// If it is none.
pub fn words(line: &str) -> Result<Words> {
    let words = split(line);
    let does = match words.get(..2) {
        Some([_, does]) if does == "run" => Does::Run,
        Some([_, does]) if does == "sweep" => Does::Sweep,
        _ => bail!("{line}: expected ./hpcc run or ./hpcc sweep"),
    };
    let mut rest = words.into_iter().skip(2);
    let file = rest.next().with_context(|| format!("{line}: no file"))?;
    Ok(Words { does, file, more: rest.collect() })
}

/// Executes commands, in a source tree.
pub struct Commands<'a> {
    tree: &'a Path,
    results: PathBuf,
    jobs: Option<NonZeroUsize>,
    /// The folder of results of each command that was executed.
    done: BTreeMap<String, PathBuf>,
}

impl<'a> Commands<'a> {
    /// Results go into folders below `results`.
    ///
    /// # Errors
    /// If there is no working folder that `results` could be relative to.
    pub fn new(tree: &'a Path, results: PathBuf, jobs: Option<NonZeroUsize>) -> Result<Commands<'a>> {
        Ok(Commands { tree, results: std::path::absolute(results)?, jobs, done: BTreeMap::new() })
    }

    /// Whether any was executed.
    pub fn any(&self) -> bool {
        !self.done.is_empty()
    }

    /// The folder of a command's results. It is executed unless it was.
    ///
    /// # Errors
    /// If it does not end well; flows may be unfinished.
    pub fn results(&mut self, line: &str) -> Result<PathBuf> {
        if let Some(folder) = self.done.get(line) {
            return Ok(folder.clone());
        }
        let words = words(line)?;
        let folder = self.results.join(folder_name(&words));
        let mut command = Command::new(env::current_exe()?.with_file_name("hpcc"));
        command.args([words.does.name(), &words.file]).args(&words.more).arg("--out").arg(&folder);
        match (words.does, self.jobs) {
            // The file may have changed since.
            (Does::Run, _) => _ = command.arg("--force"),
            (Does::Sweep, Some(jobs)) => _ = command.args(["--jobs", &jobs.to_string()]),
            (Does::Sweep, None) => {}
        }
        let status = command.current_dir(self.tree).stdout(Stdio::null()).status().context("cannot start hpcc")?;
        if !matches!(status.code(), Some(0 | 3)) {
            bail!("{line} does not end well: {status}");
        }
        self.done.insert(line.to_owned(), folder.clone());
        Ok(folder)
    }

    /// What a command prints, without lines that differ from machine to machine.
    ///
    /// # Errors
    /// As [`results`](Self::results), and if these cannot be read.
    pub fn output(&mut self, line: &str) -> Result<String> {
        let folder = self.results(line)?;
        match words(line)?.does {
            Does::Run => table::lasting(&Results::load(&folder)?),
            Does::Sweep => {
                fs::read_to_string(folder.join(SWEEP_TABLE)).with_context(|| format!("{line}: no {SWEEP_TABLE}"))
            }
        }
    }
}

/// One for each command line.
fn folder_name(words: &Words) -> String {
    let line = [words.does.name(), &words.file].into_iter().chain(words.more.iter().map(String::as_str));
    let line = line.collect::<Vec<_>>().join(" ");
    line.replace(|letter: char| !letter.is_ascii_alphanumeric() && !"._=".contains(letter), "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_words_and_folders() {
        let set = words("./hpcc run configs/a.toml --set 'b.c=[1, 2]'").expect("a run");
        assert_eq!(
            (set.file.as_str(), set.more.as_slice()),
            ("configs/a.toml", &["--set".to_owned(), "b.c=[1, 2]".to_owned()][..])
        );
        assert_eq!(folder_name(&set), "run-configs-a.toml---set-b.c=-1--2-");
        assert_eq!(words("./hpcc sweep b.toml").expect("a sweep").does, Does::Sweep);
        for wrong in ["./hpcc test", "./hpcc", "./hpcc run"] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }
}
