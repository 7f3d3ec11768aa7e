// SPDX-License-Identifier: GPL-2.0-only
//! Axes that several charts have.

use std::ops::Range;

use serde::Serialize;

use super::ticks;

/// From this slowdown on, the axis is logarithmic.
const LOG_FROM: f64 = 20.0;

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// Its title, with a unit unless values have one.
    pub title: String,
    /// The unit of values.
    pub unit: Unit,
    /// Whether it is logarithmic.
    pub log: bool,
    /// From where to where.
    pub range: Range<f64>,
    /// Whether the range stays if somebody zooms.
    pub fixed: bool,
    /// Values that are labelled, ascending, unless who draws it does better.
    #[serde(skip)]
    pub ticks: Vec<(f64, String)>,
}

/// The kind of an axis's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Numbers that the title explains.
    Number,
    /// Bytes.
    Bytes,
    /// Thousands of bytes.
    Kilobytes,
    /// Microseconds.
    Micros,
}

impl Axis {
    fn linear(title: &str, range: Range<f64>) -> Axis {
        let ticks = ticks::linear(range.start, range.end).into_iter().map(|tick| (tick, ticks::label(tick))).collect();
        Axis { title: title.to_owned(), unit: Unit::Number, log: false, fixed: true, range, ticks }
    }

    /// With this unit.
    pub fn unit(self, unit: Unit) -> Axis {
        Axis { unit, ..self }
    }

    /// A logarithmic axis of sizes in bytes.
    pub fn sizes(title: &str, sizes: Range<f64>) -> Axis {
        let range = sizes.start / 1.6..sizes.end * 1.6;
        let ticks = ticks::logarithmic(range.start, range.end).into_iter().map(|tick| (tick, size_label(tick)));
        Axis { title: title.to_owned(), unit: Unit::Bytes, log: true, fixed: true, ticks: ticks.collect(), range }
    }

    /// An axis of slowdowns up to `highest`.
    pub fn slowdown(title: &str, highest: f64) -> Axis {
        if highest >= LOG_FROM {
            let range = 0.9..highest * 1.2;
            let ticks = ticks::logarithmic(1.0, range.end).into_iter().map(|tick| (tick, ticks::label(tick)));
            return Axis {
                title: title.to_owned(),
                unit: Unit::Number,
                log: true,
                fixed: true,
                ticks: ticks.collect(),
                range,
            };
        }
        // A little room below 1, where many markers lie.
        let span = (highest - 1.0).max(0.2);
        let range = 1.0 - 0.06 * span..1.0 + 1.1 * span;
        // Steps of 2 or 5 miss the 1, the best that a flow can do.
        let mut ticks = ticks::linear(1.0, range.end);
        ticks.retain(|tick| *tick > 1.0);
        ticks.insert(0, 1.0);
        let ticks = ticks.into_iter().map(|tick| (tick, ticks::label(tick))).collect();
        Axis { ticks, ..Axis::linear(title, range) }
    }

    /// An axis of simulated time in microseconds, labelled in milliseconds for spans of two and more of them. Of several charts
    /// side by side none has room for the whole title.
    pub fn time(span_ns: f64, charts: usize) -> Axis {
        let (micros, unit) = if span_ns < 2e6 { (1.0, "µs") } else { (1e3, "ms") };
        let since = if charts > 1 { "" } else { " since the first flow started" };
        let end = span_ns / 1e3;
        let ticks = ticks::linear(0.0, end / micros).into_iter().map(|tick| (tick * micros, ticks::label(tick)));
        let title = format!("Time{since} ({unit})");
        Axis { ticks: ticks.collect(), unit: Unit::Micros, ..Axis::linear(&title, 0.0..end) }
    }

    /// A linear axis of values from 0 to a little more than the highest.
    pub fn value(title: &str, highest: f64) -> Axis {
        Axis { fixed: false, ..Axis::up_to(title, if highest > 0.0 { 1.06 * highest } else { 1.0 }) }
    }

    /// A linear axis of values from 0 on.
    pub fn up_to(title: &str, end: f64) -> Axis {
        Axis::linear(title, 0.0..end)
    }

    /// A logarithmic axis of shares up to 1, with powers of ten.
    pub fn share(title: &str, rarest: f64) -> Axis {
        let low = rarest.log10().floor() as i32;
        let ticks = (low..=0).map(|power| (10f64.powi(power), ticks::power_of_ten(power))).collect();
        Axis { title: title.to_owned(), unit: Unit::Number, log: true, fixed: true, range: 10f64.powi(low)..1.0, ticks }
    }

    /// With these labels.
    pub fn labelled(title: &str, range: Range<f64>, ticks: Vec<(f64, String)>) -> Axis {
        Axis { title: title.to_owned(), unit: Unit::Number, log: false, fixed: true, range, ticks }
    }
}

/// A size as ticks have it.
fn size_label(bytes: f64) -> String {
    match bytes {
        b if b < 999.0 => format!("{} B", ticks::label(b)),
        b if b < 999e3 => format!("{} kB", ticks::label(b / 1e3)),
        b if b < 999e6 => format!("{} MB", ticks::label(b / 1e6)),
        b => format!("{} GB", ticks::label(b / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!([500.0, 1e3, 2e4, 1e6, 5e9].map(size_label), ["500 B", "1 kB", "20 kB", "1 MB", "5 GB"]);
    }
}
