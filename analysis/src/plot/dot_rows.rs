// SPDX-License-Identifier: GPL-2.0-only
//! A row for each variant: a dot for the median, a bar for the spread around it.

use anyhow::Result;
use plotters::prelude::*;

use super::look::{Area, Look};
use super::marker::{self, marker};
use super::{figure, palette};
use crate::chart::Axis;

/// A figure.
pub struct DotRows {
    /// Heading.
    pub title: String,
    /// Second line of the heading.
    pub subtitle: String,
    /// The quantity of the rows, with its unit.
    pub x_title: String,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// A row of the figure.
pub struct Row {
    /// Number of the variant.
    pub variant: usize,
    /// Its name.
    pub name: String,
    /// Lower end of the bar.
    pub low: f64,
    /// Where the dot is.
    pub middle: f64,
    /// Upper end of the bar.
    pub high: f64,
}

impl DotRows {
    /// Renders the figure as SVG.
    ///
    /// # Errors
    /// Those of the plotting library.
    pub fn render(&self, look: &Look) -> Result<String> {
        figure::render(look, &self.title, &self.subtitle, &[], |area| self.draw(look, area))
    }

    fn draw(&self, look: &Look, area: &Area<'_>) -> Result<()> {
        let highest = self.rows.iter().map(|row| row.high).fold(0.0, f64::max);
        let x = Axis::up_to(&self.x_title, if highest > 0.0 { 1.05 * highest } else { 1.0 });
        let lines = (0..self.rows.len()).map(|row| (row as f64 + 0.5, String::new())).collect();
        let y = Axis::labelled("", 0.0..self.rows.len() as f64, lines);
        let mut chart = figure::axes(look, area, &x, &y)?;
        for (row, position) in self.rows.iter().rev().zip(0..) {
            let height = f64::from(position) + 0.5;
            let color = palette::variant(row.variant);
            let bar = PathElement::new([(row.low, height), (row.high, height)], color.stroke_width(look.px(6)));
            chart.draw_series([bar])?;
            let dot = figure::pixel(area, &chart, (row.middle, height));
            area.draw(&marker(row.variant, dot, 1.3 * look.scale * marker::SIZE, color))?;
            area.draw(&figure::note(look, &row.name, figure::pixel(area, &chart, (0.0, height))))?;
        }
        Ok(())
    }
}
