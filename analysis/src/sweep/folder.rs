// SPDX-License-Identifier: GPL-2.0-only
//! The files of a sweep as a whole, beside the folders of its runs.
//!
//! `sweep.csv` comes last and says that the others are complete. Until then, and after a failure, there is
//! `sweep.csv.partial`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hpcc_formats::results::FolderLock;

use super::axes::Axes;
use super::claim;
use super::report::Plot;
use crate::report::{MANIFEST, PAGE};
use crate::save;

const DATA: &str = "sweep.csv";
/// The data of a sweep that goes on, was ended, or failed.
pub const PARTIAL: &str = "sweep.csv.partial";
/// What the sweep printed: its tables and verdicts.
pub const TABLE: &str = "sweep.txt";
/// The columns that the sweep's file asks for, as data.
pub const WIDE: &str = "columns.csv";
/// Columns of the data besides those of several axes.
pub const COLUMNS: [&str; 4] = ["variant", "seed", "metric", "value"];

/// A row of `sweep.csv`.
pub struct Row<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// The values on the axes; a single empty one without any.
    pub axes: Vec<&'a str>,
    /// The seed of the run.
    pub seed: u64,
    /// What is measured.
    pub metric: &'a str,
    /// How much that is.
    pub value: f64,
}

/// The columns of the data: those of several axes have their names, for which a single one has a constant word, so that
/// programs that read one sweep read another one.
pub fn header(axes: &Axes) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let names = if names.len() > 1 { names.join(",") } else { "axis".to_owned() };
    let [variant, rest @ ..] = COLUMNS;
    format!("{variant},{names},{}", rest.join(","))
}

/// The folder of a sweep.
pub struct SweepFolder {
    path: PathBuf,
    header: String,
    _lock: FolderLock,
}

impl SweepFolder {
    /// Takes possession of a folder, which may be absent, empty, or hold an earlier sweep. What that says as a
    /// whole is removed. The data are going to have this header.
    ///
    /// # Errors
    /// If the folder holds something else, or cannot be written to.
    pub fn create(path: &Path, header: String) -> Result<SweepFolder> {
        if !is_vacant(path).with_context(|| path.display().to_string())? && !is_ours(path) {
            bail!("{}: the folder holds files that are no sweep of hpcc; choose another --out", path.display());
        }
        let Some(lock) = FolderLock::try_take(path)? else {
            bail!("{}: another sweep or report uses the folder; choose another --out", path.display());
        };
        let folder = SweepFolder { path: path.to_owned(), header, _lock: lock };
        // The mark that the folder is ours comes first, so that an interrupted sweep can be repeated.
        folder.write(PARTIAL, &format!("{}\n", folder.header))?;
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
    pub fn finish(&self, table: &str, rows: &[Row<'_>], complete: bool) -> Result<&'static str> {
        self.write(PARTIAL, &csv(&self.header, rows)?)?;
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
            if [DATA, TABLE, WIDE, MANIFEST, PAGE, claim::FILE].contains(&name) || Plot::is_name_of_any(name) {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }
}

/// Tidy: one value in each row. Numbers have as many digits as tell them apart from their neighbours.
fn csv(header: &str, rows: &[Row<'_>]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header.split(','))?;
    for row in rows {
        let (seed, value) = (row.seed.to_string(), row.value.to_string());
        let begin = [row.variant].into_iter().chain(row.axes.iter().copied());
        writer.write_record(begin.chain([seed.as_str(), row.metric, &value]))?;
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

    fn row(value: f64) -> Row<'static> {
        Row { variant: "a", axes: vec![""], seed: 1, metric: "flows", value }
    }

    fn create(path: &Path) -> Result<SweepFolder> {
        SweepFolder::create(path, header(&Axes::default()))
    }

    #[test]
    fn data_is_complete_or_partial_but_never_both() {
        let root = tempfile::tempdir().expect("folder");
        let path = root.path().join("sweep");
        let folder = create(&path).expect("absent");
        assert_eq!(folder.finish("table\n", &[row(2.0)], true).expect("finish"), DATA);
        assert_eq!(
            fs::read_to_string(path.join(DATA)).expect("data"),
            "variant,axis,seed,metric,value\na,,1,flows,2\n"
        );
        assert!(path.join(TABLE).exists() && !path.join(PARTIAL).exists());

        assert!(create(&path).is_err(), "one sweep at a time");
        drop(folder);
        let folder = create(&path).expect("ours");
        assert!(!path.join(DATA).exists() && !path.join(TABLE).exists() && path.join(PARTIAL).exists());
        assert_eq!(folder.finish("table\n", &[row(0.5)], false).expect("finish"), PARTIAL);
        assert!(!path.join(DATA).exists() && !path.join(TABLE).exists());
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let root = tempfile::tempdir().expect("folder");
        let folder = create(&root.path().join("sweep")).expect("absent");
        fs::create_dir_all(folder.path().join(MANIFEST).join("in the way")).expect("folder");
        assert!(folder.write(MANIFEST, "{}").expect_err("a folder is there").to_string().contains(MANIFEST));
        assert!(!folder.path().join(format!("{MANIFEST}.new")).exists());
    }

    #[test]
    fn other_peoples_folders_are_refused_and_left_alone() {
        let root = tempfile::tempdir().expect("folder");
        fs::write(root.path().join("sweep.csv"), "my,own\n").expect("file");
        assert!(create(root.path()).is_err());
        assert_eq!(fs::read_dir(root.path()).expect("folder").count(), 1);
    }
}
