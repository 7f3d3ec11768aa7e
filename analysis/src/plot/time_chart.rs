// SPDX-License-Identifier: GPL-2.0-only
//! Lines over simulated time.

use anyhow::Result;

use super::figure::{self, Axis, LegendEntry, Sample};
use super::line_style::LineStyle;
use super::look::Look;
use super::ruler::Ruler;
use super::staircase::Point;
use super::ticks;

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
    /// The lines, first to be drawn last: on top.
    pub lines: Vec<Line>,
}

/// A line of a [`TimeChart`].
pub struct Line {
    /// For the legend, in which lines of one name have one entry.
    pub name: String,
    /// How it is drawn.
    pub style: LineStyle,
    /// Time in ns since the first flow's start, and value.
    pub points: Vec<Point>,
}

impl TimeChart {
    /// Renders the figure as SVG.
    ///
    /// # Errors
    /// Those of the plotting library.
    pub fn render(&self, look: &Look) -> Result<String> {
        let (unit_ns, unit) = time_unit(self.span_ns);
        figure::render(look, &self.title, &self.subtitle, &self.legend(), |area| {
            let chart = figure::chart(look, area, &self.time_axis(unit_ns, unit), &self.value_axis())?;
            for line in self.lines.iter().rev() {
                let points = line.points.iter().map(|(time, value)| (time / unit_ns, *value));
                figure::draw_line(look, area, &chart, line.style, points)?;
            }
            Ok(())
        })
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for line in &self.lines {
            if entries.iter().all(|entry| entry.text != line.name) {
                entries.push(LegendEntry { text: line.name.clone(), sample: Sample::Line(line.style) });
            }
        }
        entries
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

/// Microseconds, or milliseconds for spans of two and more of them.
fn time_unit(span_ns: f64) -> (f64, &'static str) {
    if span_ns < 2e6 { (1e3, "µs") } else { (1e6, "ms") }
}
