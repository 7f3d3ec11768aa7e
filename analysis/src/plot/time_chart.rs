// SPDX-License-Identifier: GPL-2.0-only
//! Lines over simulated time.

use anyhow::Result;
use plotters::prelude::*;

use super::decimate::Point;
use super::figure::{self, Axis, LegendEntry, Mark};
use super::ruler::Ruler;
use super::{palette, ticks};

/// More lines than this get no legend: nobody could follow it.
const LEGEND_LIMIT: usize = 12;
/// About the width of the chart in pixels.
pub const COLUMNS: usize = 1_000;

/// A figure of lines over time.
pub struct TimeChart {
    /// Heading.
    pub title: String,
    /// Second line of the heading.
    pub subtitle: String,
    /// What the lines show, with the unit.
    pub y_title: String,
    /// End of the time axis, in ns since the first flow's start.
    pub span_ns: f64,
    /// Width of the lines.
    pub stroke: u32,
    /// The lines, first to be drawn last: on top.
    pub lines: Vec<Line>,
}

/// A line of a [`TimeChart`].
pub struct Line {
    /// For the legend.
    pub name: String,
    /// Time in ns since the first flow's start, and value.
    pub points: Vec<Point>,
}

impl TimeChart {
    /// Renders the figure as SVG.
    ///
    /// # Errors
    /// Those of the plotting library.
    pub fn render(&self) -> Result<String> {
        let count = self.lines.len();
        let color = |index| palette::line(index, count);
        let legend: Vec<LegendEntry> = match count {
            0..=LEGEND_LIMIT => self.lines.iter().enumerate().map(|(index, line)| entry(line, color(index))).collect(),
            _ => Vec::new(),
        };
        let (unit_ns, unit) = time_unit(self.span_ns);
        figure::render(&self.title, &self.subtitle, &legend, |area| {
            let mut chart = figure::chart(area, &self.time_axis(unit_ns, unit), &self.value_axis())?;
            for (index, line) in self.lines.iter().enumerate().rev() {
                let points = line.points.iter().map(|(time, value)| (time / unit_ns, *value));
                chart.draw_series(LineSeries::new(points, color(index).stroke_width(self.stroke)))?;
            }
            Ok(())
        })
    }

    fn time_axis(&self, unit_ns: f64, unit: &str) -> Axis {
        let end = self.span_ns / unit_ns;
        Axis {
            title: format!("Time since the first flow started ({unit})"),
            ruler: Ruler { range: 0.0..end, ticks: ticks::linear(0.0, end) },
            label: Box::new(ticks::label),
        }
    }

    fn value_axis(&self) -> Axis {
        let values = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let highest = values.fold(0.0, f64::max);
        let end = if highest > 0.0 { 1.06 * highest } else { 1.0 };
        let ruler = Ruler { range: 0.0..end, ticks: ticks::linear(0.0, end) };
        Axis { title: self.y_title.clone(), ruler, label: Box::new(ticks::label) }
    }
}

fn entry(line: &Line, color: RGBColor) -> LegendEntry {
    LegendEntry { text: line.name.clone(), color, mark: Mark::Line }
}

/// Microseconds, or milliseconds for spans of ten and more of them.
fn time_unit(span_ns: f64) -> (f64, &'static str) {
    if span_ns < 1e7 { (1e3, "µs") } else { (1e6, "ms") }
}
