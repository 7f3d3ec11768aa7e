// SPDX-License-Identifier: GPL-2.0-only
//! Lines over simulated time.

use anyhow::Result;

use super::axes::{time_axis, value_axis};
use super::figure::{self, Axis, LegendEntry, Sample};
use super::line_style::LineStyle;
use super::look::Look;
use super::staircase::Point;

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
        let (time, unit_ns) = time_axis(self.span_ns, 1);
        figure::render(look, &self.title, &self.subtitle, &self.legend(), |area| {
            let chart = figure::chart(look, area, &time, &self.value_axis())?;
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

    fn value_axis(&self) -> Axis {
        let values = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        value_axis(&self.y_title, values.fold(0.0, f64::max))
    }
}
