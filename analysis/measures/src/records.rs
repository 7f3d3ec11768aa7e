// SPDX-License-Identifier: GPL-2.0-only
//! The flows of a file: kept in memory if they are few, and otherwise read again whenever somebody asks for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use hpcc_model::results::{CsvRow, Rows};

/// Files with more flows are not kept.
pub const KEPT: usize = 1 << 20;

/// The rows of a CSV file.
#[derive(Clone, Debug)]
pub enum Records<T> {
    /// In memory, shared by those that look at parts of them.
    Kept(Arc<Vec<T>>),
    /// In this file.
    InFile(PathBuf),
}

impl<T: CsvRow> Records<T> {
    /// Reads a file, and keeps its rows if there are at most `most`.
    ///
    /// # Errors
    /// If it cannot be read, or with the line that does not follow the format.
    pub fn open(path: &Path, most: usize) -> Result<Records<T>> {
        let mut kept = Vec::new();
        for row in Rows::open(path)? {
            if kept.len() == most {
                return Ok(Records::InFile(path.to_owned()));
            }
            kept.push(row?);
        }
        Ok(Records::Kept(Arc::new(kept)))
    }

    /// Hands `see` each row, in the order of the file.
    ///
    /// # Errors
    /// Those of `see`, and as [`Records::open`].
    pub fn each(&self, mut see: impl FnMut(&T) -> Result<()>) -> Result<()> {
        match self {
            Records::Kept(rows) => rows.iter().try_for_each(see),
            Records::InFile(path) => Rows::open(path)?.try_for_each(|row| see(&row?)),
        }
    }

    /// How many rows are in memory.
    pub fn kept(&self) -> usize {
        match self {
            Records::Kept(rows) => rows.len(),
            Records::InFile(_) => 0,
        }
    }
}
