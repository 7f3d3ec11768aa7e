// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep leaves for [`report`](crate::report): names of files, and the list of its runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hpcc_measures::select::Selection;
use serde::{Deserialize, Serialize};

use crate::chart::Spread;
use crate::table::Titled;

/// The file in a sweep's folder that lists its runs.
pub const MANIFEST: &str = "sweep.json";
/// The file in a sweep's folder that has its figures for the page.
pub const FIGURES: &str = "figures.json";
/// The data of a sweep that goes on, was ended, or failed.
pub const PARTIAL: &str = "sweep.csv.partial";
/// The page in an output folder.
pub const PAGE: &str = "report.html";

/// The runs of a sweep that ended well.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Heading.
    pub title: String,
    /// The sweep's selection.
    #[serde(default)]
    pub measured: Selection,
    /// How it is shown.
    #[serde(default)]
    pub shown: Shown,
    /// What each metric is, without brackets: its unit and its definition.
    #[serde(default)]
    pub metrics: BTreeMap<String, (String, String)>,
    /// What the sweep printed.
    #[serde(default)]
    pub tables: Vec<Titled>,
    /// Names of its plots.
    #[serde(default)]
    pub plots: Vec<String>,
    /// By variant, then by value of the axis.
    pub entries: Vec<ManifestEntry>,
}

/// How several seeds and sizes are shown, in tables, claims, figures and charts alike.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Shown {
    /// Beside the mean of several seeds.
    pub spread: Spread,
    /// Upper bounds of flow sizes, in bytes, if they are given.
    pub size_bins: Option<Vec<u64>>,
}

/// A variant at a value of the axis.
#[derive(Debug, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// `VARIANT`, or `VARIANT, AXIS VALUE`.
    pub name: String,
    /// Name of the variant.
    #[serde(default)]
    pub variant: String,
    /// What readers see of it.
    #[serde(default)]
    pub label: String,
    /// Values of the axes by name.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// One for each seed.
    pub runs: Vec<ManifestRun>,
}

/// A run of a sweep.
#[derive(Debug, Serialize, Deserialize)]
pub struct ManifestRun {
    /// Its folder, relative to the sweep's.
    pub folder: PathBuf,
    /// Its seed.
    #[serde(default)]
    pub seed: u64,
}
