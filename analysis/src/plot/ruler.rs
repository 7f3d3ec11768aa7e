// SPDX-License-Identifier: GPL-2.0-only
//! A coordinate whose ticks were chosen by hand.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// A linear axis with given ticks. (The plotting library's own combinator cannot label numbers.)
#[derive(Clone)]
pub struct Ruler {
    /// From where to where.
    pub range: Range<f64>,
    /// Where the ticks are.
    pub ticks: Vec<f64>,
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}
