// SPDX-License-Identifier: GPL-2.0-only
//! `import`: a configuration of the 2019 simulator, or of a descendant of it, or a job, as a scenario in TOML.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf, absolute};

use anyhow::{Result, bail, ensure};
use hpcc_formats::alone;
use hpcc_formats::kind::{FileKind, kind};
use hpcc_formats::reference::{Remark, import as read};

use crate::human;
use crate::save::{Draft, ensure_new};

/// Folders within a folder in which configurations are looked for.
const DEPTH: usize = 4;

/// What the scenario of a job says of its network, which the job's file does not have.
const GUESSED_NETWORK: &str =
    "[topology], for the file has no network: a star of 400 Gb/s with 500 ns a link. Replace it with yours";

/// What to read, and where to write.
#[derive(clap::Args)]
pub struct Options {
    /// A config.txt of the 2019 simulator or of a descendant, or a folder with some; or a job of another simulator
    /// (GOAL, .cm, SimAI), whose scenario names it.
    file: PathBuf,
    /// The scenario to write; it must not be there yet [default: beside the file, with the ending .toml].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overrides a key of the file; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Writes a scenario for each configuration, and says what was made of its keys.
pub fn import(options: &Options) -> Result<()> {
    if !options.file.is_dir() {
        return one(&options.file, options.out.as_deref(), &options.set);
    }
    ensure!(
        options.out.is_none(),
        "--out: {} is a folder, whose scenarios are written beside its files",
        options.file.display()
    );
    let found = configurations(&options.file, DEPTH);
    ensure!(!found.is_empty(), "{}: no configuration of the 2019 simulator in there", options.file.display());
    let refused: Vec<bool> = found
        .iter()
        .map(|file| one(file, None, &options.set).map_err(|error| human::warn(human::reason(&error))).is_err())
        .collect();
    let count = refused.iter().filter(|refused| **refused).count();
    ensure!(count == 0, "{count} of {} configurations were not imported", found.len());
    Ok(())
}

/// The configurations in a folder.
fn configurations(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let within = |path: PathBuf| match path.is_dir() {
        true if depth > 0 => configurations(&path, depth - 1),
        false if hpcc_formats::reference::is_configuration(&path) => vec![path],
        _ => Vec::new(),
    };
    entries.into_iter().flat_map(within).collect()
}

fn one(file: &Path, out: Option<&Path>, set: &[String]) -> Result<()> {
    let kind = kind(file)?;
    if matches!(kind, FileKind::Scenario | FileKind::Sweep) {
        bail!("{}: this is TOML, which ./hpcc run takes as it is", file.display());
    }
    let out = out.map_or_else(|| file.with_extension("toml"), Path::to_owned);
    ensure_new(&out)?;
    let folder = out.parent().unwrap_or(Path::new(""));
    let (text, remarks) = match alone::named(file, &seen_from(folder, file)) {
        Some(_) if !set.is_empty() => bail!("{}: a job has no keys that --set could override", file.display()),
        Some(text) => (text, vec![(Remark::Guessed, GUESSED_NETWORK.to_owned())]),
        None => read(file, set, |path| seen_from(folder, path))?,
    };
    let mut head = format!("# {} as ./hpcc import reads it.\n", file.display());
    for (kind, name) in [
        (Remark::Taken, "taken"),
        (Remark::Guessed, "guessed"),
        (Remark::Dropped, "dropped"),
        (Remark::Idle, "makes no difference"),
    ] {
        for (_, remark) in remarks.iter().filter(|(known, _)| *known == kind) {
            writeln!(head, "# {name}: {}", remark.replace('\n', " "))?;
        }
    }
    let mut draft = Draft::of(&out)?;
    draft.fill(|file| write!(file, "{head}\n{text}"))?;
    let trouble = hpcc_formats::load(draft.path(), &[]).err().map(|error| error.without_place());
    draft.keep()?;
    human::print(&(head.replace("# ", " ") + &format!(" wrote {}\n", out.display())))?;
    if let Some(trouble) = trouble {
        human::warn(format_args!("{}: it does not run yet: {trouble}", out.display()));
    }
    Ok(())
}

/// A file as one names it in a folder: without the path of the folder, if the file is in it or below the folder's parent.
fn seen_from(folder: &Path, file: &Path) -> PathBuf {
    let (Ok(folder), Ok(file)) = (absolute(Path::new(".").join(folder)), absolute(file)) else {
        return file.to_owned();
    };
    let (folder, file) = (normal(&folder), normal(&file));
    let within = |folder: &Path| file.strip_prefix(folder).ok().map(Path::to_owned);
    let above = folder.parent().and_then(|parent| Some(Path::new("..").join(within(parent)?)));
    within(&folder).or(above).unwrap_or(file)
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(part);
        }
    }
    normal
}
