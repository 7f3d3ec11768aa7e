// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep leaves for [`report`](crate::report): names of files, and the list of its runs.

use std::path::PathBuf;

use hpcc_measures::select::Selection;
use serde::{Deserialize, Serialize};

/// The file in a sweep's folder that lists its runs.
pub const MANIFEST: &str = "sweep.json";
/// The data of a sweep that goes on, was ended, or failed.
pub const PARTIAL: &str = "sweep.csv.partial";
/// The page in an output folder.
pub const PAGE: &str = "report.html";

/// The runs of a sweep that ended well.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Heading.
    pub title: String,
    /// What the sweep measures.
    #[serde(default)]
    pub measured: Measured,
    /// By variant, then by value of the axis.
    pub entries: Vec<ManifestEntry>,
}

/// The part of its runs that a sweep measures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    groups: Vec<String>,
    warm_up_ns: Option<u64>,
    until_ns: Option<u64>,
}

impl Measured {
    /// What a sweep file selects, which has no single flows.
    pub fn new(selection: &Selection) -> Measured {
        let Selection { groups, flows: _, warm_up, until } = selection.clone();
        Measured { groups, warm_up_ns: warm_up, until_ns: until }
    }

    /// The same as a selection.
    pub fn selection(self) -> Selection {
        Selection { groups: self.groups, flows: Vec::new(), warm_up: self.warm_up_ns, until: self.until_ns }
    }
}

/// A variant at a value of the axis.
#[derive(Debug, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// `VARIANT`, or `VARIANT, AXIS VALUE`.
    pub name: String,
    /// One for each seed.
    pub runs: Vec<ManifestRun>,
}

/// A run of a sweep.
#[derive(Debug, Serialize, Deserialize)]
pub struct ManifestRun {
    /// Its folder, relative to the sweep's.
    pub folder: PathBuf,
}
