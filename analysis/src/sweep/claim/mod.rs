// SPDX-License-Identifier: GPL-2.0-only
//! Claims: what the results of a sweep should show, such as what a paper says of a figure, each to get a verdict.

mod keys;
mod measure;

pub use keys::{ClaimKeys, check};
pub use measure::Measure;
use schemars::JsonSchema;
use serde::Deserialize;

use super::keys::Places;
use super::placed::At;

/// A statement about the results.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The statement, as a sentence.
    pub text: String,
    /// The expected value: the number or words of a source, or of whoever wrote the claim.
    pub expected: String,
    /// What is measured.
    pub measure: Measure,
    /// The runs in which it is measured.
    pub of: Cell,
    /// The runs whose value it is divided by, if any.
    pub over: Option<Cell>,
    /// Values with which the claim holds.
    pub holds: Range,
    /// Values with which at least its direction is right.
    pub direction: Option<Range>,
    /// Why the claim does not hold, if that is known.
    pub reason: Option<String>,
    /// Where it is in the sweep file.
    pub at: At,
    /// Where it chooses what it is of.
    pub places: Places,
}

impl Claim {
    /// Whether it is about the runs of a cell.
    pub fn is_about(&self, cell: Cell) -> bool {
        self.of == cell || self.over == Some(cell)
    }
}

/// The runs that differ in nothing but their seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Index of the variant.
    pub variant: usize,
    /// Number of the combination of the axes' values; 0 without axes.
    pub step: usize,
}

/// Values between two bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RangeKeys", description = "")]
pub struct Range {
    /// The least value.
    pub at_least: Option<f64>,
    /// The greatest value.
    pub at_most: Option<f64>,
}

impl Range {
    /// Whether a value is within.
    pub fn contains(self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least) && self.at_most.is_none_or(|most| value <= most)
    }

    /// In words: `at most 4`, `1.1 to 1.4`.
    pub fn words(self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => "any".to_owned(),
        }
    }
}
