// SPDX-License-Identifier: GPL-2.0-only
//! Axes that several figures have.

use std::ops::Range;

use super::figure::Axis;
use super::ruler::Ruler;
use super::ticks;

/// From this slowdown on, the axis is logarithmic.
const LOG_FROM: f64 = 20.0;

/// A logarithmic axis of sizes in bytes: values are to be given as their logarithms.
pub fn size_axis(sizes: Range<f64>) -> Axis {
    let (smallest, largest) = (sizes.start / 1.6, sizes.end * 1.6);
    let ticks = ticks::logarithmic(smallest, largest).into_iter().map(f64::log10).collect();
    let ruler = Ruler { range: smallest.log10()..largest.log10(), ticks };
    Axis { title: "Flow size".to_owned(), ruler, label: Box::new(size_label) }
}

/// An axis of slowdowns up to `highest`: values are to be put through [`slowdown_scale`].
pub fn slowdown_axis(title: &str, highest: f64) -> Axis {
    let title = title.to_owned();
    if highest >= LOG_FROM {
        let end = highest * 1.2;
        let ticks = ticks::logarithmic(1.0, end).into_iter().map(f64::log10).collect();
        let ruler = Ruler { range: 0.9f64.log10()..end.log10(), ticks };
        return Axis { title, ruler, label: Box::new(|value| ticks::label(10f64.powf(value))) };
    }
    // A little room below 1, where many markers lie.
    let span = (highest - 1.0).max(0.2);
    let (low, high) = (1.0 - 0.06 * span, 1.0 + 1.1 * span);
    // Steps of 2 or 5 miss the 1, the best that a flow can do.
    let mut ticks = ticks::linear(1.0, high);
    ticks.retain(|tick| *tick > 1.0);
    ticks.insert(0, 1.0);
    Axis { title, ruler: Ruler { range: low..high, ticks }, label: Box::new(ticks::label) }
}

/// Where a slowdown lies on [`slowdown_axis`].
pub fn slowdown_scale(highest: f64) -> fn(f64) -> f64 {
    if highest >= LOG_FROM { f64::log10 } else { |value| value }
}

/// An axis of simulated time, and its unit in ns: microseconds, or milliseconds for spans of two and more of them. Of
/// several charts side by side none has room for the whole title.
pub fn time_axis(span_ns: f64, charts: usize) -> (Axis, f64) {
    let (unit_ns, unit) = if span_ns < 2e6 { (1e3, "µs") } else { (1e6, "ms") };
    let since = if charts > 1 { "" } else { " since the first flow started" };
    let end = span_ns / unit_ns;
    let axis = Axis {
        title: format!("Time{since} ({unit})"),
        ruler: Ruler { range: 0.0..end, ticks: ticks::linear(0.0, end) },
        label: Box::new(ticks::label),
    };
    (axis, unit_ns)
}

/// A linear axis of values from 0 to a little more than the highest.
pub fn value_axis(title: &str, highest: f64) -> Axis {
    let end = if highest > 0.0 { 1.06 * highest } else { 1.0 };
    let ruler = Ruler { range: 0.0..end, ticks: ticks::linear(0.0, end) };
    Axis { title: title.to_owned(), ruler, label: Box::new(ticks::label) }
}

/// What is written at the logarithm of a size.
fn size_label(exponent: f64) -> String {
    let bytes = 10f64.powf(exponent);
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
        let labels = [500.0, 1e3, 2e4, 1e6, 5e9].map(|bytes: f64| size_label(bytes.log10()));
        assert_eq!(labels, ["500 B", "1 kB", "20 kB", "1 MB", "5 GB"]);
    }
}
