// SPDX-License-Identifier: GPL-2.0-only
//! The files of a sweep as a whole, beside the folders of its runs.
//!
//! `sweep.csv` comes last and says that the others are complete. Until then, and after a failure, there is
//! `sweep.csv.partial`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hpcc_model::results::FolderLock;
use hpcc_model::visible;

use super::axes::Axes;
use super::file::SweepFile;
use super::group::Measured;
use super::report::Plot;
use super::verdict;
use crate::manifest::{FIGURES, MANIFEST, PAGE, PARTIAL};
use crate::save;

const DATA: &str = "sweep.csv";
/// What the sweep printed: its tables and verdicts.
pub const TABLE: &str = "sweep.txt";
/// The columns that the sweep's file asks for, as data.
pub const WIDE: &str = "columns.csv";
/// Columns of the data besides the columns of several axes.
const COLUMNS: [&str; 4] = ["variant", "seed", "metric", "value"];

/// The columns of the data. Each of several axes has a column of its name; a single axis has a constant word, so that a
/// program can read several sweeps.
fn header(axes: &Axes) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let names = if names.len() > 1 { names.join(",") } else { "axis".to_owned() };
    let [variant, rest @ ..] = COLUMNS;
    format!("{variant},{names},{}", rest.join(","))
}

/// The folder of a sweep.
pub struct SweepFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl SweepFolder {
    /// Takes possession of a folder, which may be absent, empty, or hold an earlier sweep. What that says as a
    /// whole is removed.
    ///
    /// # Errors
    /// If the folder holds something else, or cannot be written to.
    pub fn create(path: &Path, axes: &Axes) -> Result<SweepFolder> {
        if !is_vacant(path).with_context(|| path.display().to_string())? && !is_ours(path) {
            bail!("{}: the folder holds files that are no sweep of hpcc; choose another --out", path.display());
        }
        let Some(lock) = FolderLock::try_take(path)? else {
            bail!("{}: another sweep or report uses the folder; choose another --out", path.display());
        };
        let folder = SweepFolder { path: path.to_owned(), _lock: lock };
        // The mark that the folder is ours comes first, so that an interrupted sweep can be repeated.
        folder.write(PARTIAL, &format!("{}\n", header(axes)))?;
        folder.remove_whole()?;
        Ok(folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file; a reader never sees a part of it.
    ///
    /// # Errors
    /// Those of the system, with the file's name.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        save::replace(&self.path.join(name), text)
    }

    /// Writes table and data, the latter as `sweep.csv` if the sweep is complete. Returns the name of the data.
    ///
    /// # Errors
    /// Those of the system, with the file's name.
    pub fn finish(&self, table: &str, data: &str, complete: bool) -> Result<&'static str> {
        self.write(PARTIAL, data)?;
        if !complete {
            return Ok(PARTIAL);
        }
        self.write(TABLE, table)?;
        let target = self.path.join(DATA);
        fs::rename(self.path.join(PARTIAL), &target).with_context(|| target.display().to_string())?;
        Ok(DATA)
    }

    fn remove_whole(&self) -> Result<()> {
        for entry in fs::read_dir(&self.path).with_context(|| self.path.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if [DATA, TABLE, WIDE, MANIFEST, FIGURES, PAGE, verdict::FILE].contains(&name) || Plot::is_name_of_any(name)
            {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }
}

/// Tidy: one value in each row. Numbers have as many digits as tell them apart from their neighbours.
///
/// # Errors
/// Never: it is written to memory.
pub fn data(file: &SweepFile, measured: &[Measured<'_>]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header(&file.axes).split(','))?;
    for Measured { run, results, metrics } in measured {
        let mut begin = vec![visible::cell(&file.variants[run.variant].name)];
        begin.extend(file.axes.values(run.step).into_iter().map(visible::cell));
        begin.extend(file.axes.is_empty().then_some("").map(visible::cell));
        let seed = run.seed.unwrap_or(results.summary.seed).to_string();
        for (metric, value) in metrics {
            writer.write_record(begin.iter().map(AsRef::as_ref).chain([seed.as_str(), metric, &value.to_string()]))?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn is_vacant(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(cause) => Err(cause),
    }
}

/// Refuses a folder in which no sweep was begun.
///
/// # Errors
/// If it is none.
pub fn expect_sweep(folder: &Path) -> Result<()> {
    if !is_ours(folder) {
        bail!("{}: no sweep was begun in this folder; --engine print or slurm does so", folder.display());
    }
    Ok(())
}

fn is_ours(folder: &Path) -> bool {
    let [variant, rest @ ..] = COLUMNS;
    let (begin, end) = (format!("{variant},"), format!(",{}", rest.join(",")));
    let is_header = |line: &str| line.starts_with(&begin) && line.ends_with(&end);
    let begins_well = |name| {
        let text = fs::read_to_string(folder.join(name));
        text.is_ok_and(|text| text.lines().next().is_some_and(is_header))
    };
    begins_well(DATA) || begins_well(PARTIAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA_ROWS: &str = "variant,axis,seed,metric,value\na,,1,flows,2\n";

    fn create(path: &Path) -> Result<SweepFolder> {
        SweepFolder::create(path, &Axes::default())
    }

    #[test]
    fn data_is_complete_or_partial_but_never_both() {
        let root = tempfile::tempdir().expect("folder");
        let path = root.path().join("sweep");
        let folder = create(&path).expect("absent");
        assert_eq!(folder.finish("table\n", DATA_ROWS, true).expect("finish"), DATA);
        assert_eq!(fs::read_to_string(path.join(DATA)).expect("data"), DATA_ROWS);
        assert!(path.join(TABLE).exists() && !path.join(PARTIAL).exists());

        assert!(create(&path).is_err(), "one sweep at a time");
        drop(folder);
        let folder = create(&path).expect("ours");
        assert!(!path.join(DATA).exists() && !path.join(TABLE).exists() && path.join(PARTIAL).exists());
        assert_eq!(folder.finish("table\n", DATA_ROWS, false).expect("finish"), PARTIAL);
        assert!(!path.join(DATA).exists() && !path.join(TABLE).exists());
    }
}
