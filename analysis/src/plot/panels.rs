// SPDX-License-Identifier: GPL-2.0-only
//! Figures with a line for each variant, in one chart or in several side by side.

use anyhow::Result;

use super::figure::{self, Axis, LegendEntry, STROKE, Sample};
use super::line_style::LineStyle;
use super::look::{Area, Look};
use super::marker::marker;
use super::staircase::Point;

/// Radius of markers on lines.
const MARKER: f64 = 6.5;

/// A figure.
pub struct Panels {
    /// Heading.
    pub title: String,
    /// Second line of the heading.
    pub subtitle: String,
    /// Number and name of each variant, in the order of the legend.
    pub variants: Vec<(usize, String)>,
    /// The charts from left to right.
    pub panels: Vec<Panel>,
}

/// A chart of the figure.
pub struct Panel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// A line for each variant of the figure.
    pub lines: Vec<Vec<Point>>,
    /// Whether each point is marked; else only some are.
    pub every_point: bool,
}

impl Panels {
    /// Renders the figure as SVG.
    ///
    /// # Errors
    /// Those of the plotting library.
    pub fn render(&self, look: &Look) -> Result<String> {
        let entry = |(index, name): &(usize, String)| LegendEntry {
            text: name.clone(),
            sample: Sample::Marked(LineStyle::of_variant(*index, STROKE), *index),
        };
        let legend: Vec<LegendEntry> = self.variants.iter().map(entry).collect();
        figure::render(look, &self.title, &self.subtitle, &legend, |area| {
            for (panel, area) in self.panels.iter().zip(area.split_evenly((1, self.panels.len()))) {
                self.draw(look, panel, &area)?;
            }
            Ok(())
        })
    }

    fn draw(&self, look: &Look, panel: &Panel, area: &Area<'_>) -> Result<()> {
        let chart = figure::chart(look, area, &panel.x, &panel.y)?;
        for ((index, _), points) in self.variants.iter().zip(&panel.lines).rev() {
            let style = LineStyle::of_variant(*index, STROKE);
            figure::draw_line(look, area, &chart, style, points.iter().copied())?;
            let every = if panel.every_point { 1 } else { (points.len() / 6).max(1) };
            // Lines that coincide show all their markers if those do not coincide, too.
            let marked = points.iter().skip(if panel.every_point { 0 } else { index * every / 8 }).step_by(every);
            for point in marked {
                let at = figure::pixel(area, &chart, *point);
                area.draw(&marker(*index, at, look.scale * MARKER, style.color))?;
            }
        }
        Ok(())
    }
}
