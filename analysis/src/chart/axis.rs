// SPDX-License-Identifier: GPL-2.0-only
//! Axes that several charts have.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub ticks: Vec<(f64, String)>,
    /// Whether its places have names, and no scale.
    pub named: bool,
    /// The value that a tick labels with 1.
    #[serde(skip)]
    pub tick_unit: f64,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal distances for equal differences.
    Linear,
    /// Equal distances for equal ratios.
    Log,
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
    fn new(title: &str, log: bool, range: Range<f64>, ticks: Vec<(f64, String)>) -> Axis {
        let (title, unit) = (title.to_owned(), Unit::Number);
        Axis { title, unit, log, fixed: true, range, ticks, named: false, tick_unit: 1.0 }
    }

    fn linear(title: &str, range: Range<f64>) -> Axis {
        let ticks = ticks::linear(range.start, range.end).into_iter().map(|tick| (tick, ticks::label(tick))).collect();
        Axis::new(title, false, range, ticks)
    }

    /// With another scale and range, as far as they are given; the range is in the unit of the axis. A logarithmic axis begins at
    /// `lowest` where the range would begin at 0.
    pub fn rescaled(self, scale: Option<Scale>, range: Option<[f64; 2]>, lowest: f64) -> Axis {
        if self.named || (scale.is_none() && range.is_none()) {
            return self;
        }
        let log = scale.map_or(self.log, |scale| scale == Scale::Log);
        let unit = self.tick_unit;
        let [mut start, end] = range.map_or([self.range.start, self.range.end], |ends| ends.map(|end| end * unit));
        if log && start <= 0.0 {
            start = lowest / 1.2;
        } else if !log && self.log && range.is_none() {
            start = 0.0;
        }
        let values = if log { ticks::logarithmic(start, end) } else { ticks::linear(start / unit, end / unit) };
        let label = |value: f64| match (self.unit == Unit::Bytes, log) {
            (true, _) => (value, size_label(value)),
            (false, true) => (value, ticks::short(value / unit)),
            (false, false) => (value * unit, ticks::label(value)),
        };
        Axis { log, range: start..end, fixed: true, ticks: values.into_iter().map(label).collect(), ..self }
    }

    /// With this unit.
    pub fn unit(self, unit: Unit) -> Axis {
        Axis { unit, ..self }
    }

    /// A logarithmic axis of sizes in bytes.
    pub fn sizes(title: &str, sizes: Range<f64>) -> Axis {
        let range = sizes.start / 1.6..sizes.end * 1.6;
        let ticks = ticks::logarithmic(range.start, range.end).into_iter().map(|tick| (tick, size_label(tick)));
        let ticks = ticks.collect();
        Axis::new(title, true, range, ticks).unit(Unit::Bytes)
    }

    /// An axis of slowdowns up to `highest`.
    pub fn slowdown(title: &str, highest: f64) -> Axis {
        if highest >= LOG_FROM {
            let range = 0.9..highest * 1.2;
            let ticks = ticks::logarithmic(1.0, range.end).into_iter().map(|tick| (tick, ticks::label(tick)));
            let ticks = ticks.collect();
            return Axis::new(title, true, range, ticks);
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
    pub fn time(span_ns: f64, after_ns: u64, charts: usize) -> Axis {
        let (micros, unit) = if span_ns < 2e6 { (1.0, "µs") } else { (1e3, "ms") };
        let since = if charts > 1 { String::new() } else { format!(" since {}", Axis::origin(after_ns)) };
        let end = span_ns / 1e3;
        let ticks = ticks::linear(0.0, end / micros).into_iter().map(|tick| (tick * micros, ticks::label(tick)));
        let title = format!("Time{since} ({unit})");
        Axis { ticks: ticks.collect(), unit: Unit::Micros, tick_unit: micros, ..Axis::linear(&title, 0.0..end) }
    }

    /// The time that an axis of time counts from, so many ns after the first flow's start.
    pub fn origin(after_ns: u64) -> String {
        match after_ns {
            0 => "the first flow started".to_owned(),
            1..2_000_000 => format!("{} µs after the first flow started", ticks::label(after_ns as f64 / 1e3)),
            _ => format!("{} ms after the first flow started", ticks::label(after_ns as f64 / 1e6)),
        }
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
        Axis::new(title, true, 10f64.powi(low)..1.0, ticks)
    }

    /// With these labels.
    pub fn labelled(title: &str, range: Range<f64>, ticks: Vec<(f64, String)>) -> Axis {
        Axis { named: true, ..Axis::new(title, false, range, ticks) }
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
    fn an_axis_takes_another_scale_and_range() {
        let labels = |axis: &Axis| axis.ticks.iter().map(|(_, label)| label.clone()).collect::<Vec<_>>();
        let linear = Axis::sizes("Size", 1e3..1e6).rescaled(Some(Scale::Linear), None, 1e3);
        assert!(!linear.log && linear.range.start == 0.0 && labels(&linear)[1] == "200 kB", "{linear:?}");
        let log = Axis::value("Queue", 90.0).rescaled(Some(Scale::Log), None, 1.2);
        assert!(log.log && (log.range.start - 1.0).abs() < 1e-9 && labels(&log)[..2] == ["1", "2"], "{log:?}");
        let time = Axis::time(9e6, 0, 1).rescaled(None, Some([2.0, 4.0]), 1.0);
        assert_eq!((time.range.clone(), labels(&time)[0].as_str()), (2e3..4e3, "2"), "in ms, as its title says");
        let named = Axis::labelled("Load", 0.0..2.0, vec![(1.0, "0.5".into())]);
        assert_eq!(labels(&named.rescaled(Some(Scale::Log), Some([1.0, 2.0]), 1.0)), ["0.5"], "names have no scale");
    }

    #[test]
    fn time_says_where_it_begins() {
        let origins = [0, 500_000, 2_500_000].map(Axis::origin);
        let after =
            ["the first flow started", "500 µs after the first flow started", "2.5 ms after the first flow started"];
        assert_eq!(origins, after);
        assert_eq!(Axis::time(1e6, 500_000, 1).title, "Time since 500 µs after the first flow started (µs)");
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([500.0, 1e3, 2e4, 1e6, 5e9].map(size_label), ["500 B", "1 kB", "20 kB", "1 MB", "5 GB"]);
    }
}
