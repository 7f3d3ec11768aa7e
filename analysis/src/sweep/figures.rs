// SPDX-License-Identifier: GPL-2.0-only
//! How a sweep's file wants its figures.

use hpcc_model::error::InputError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::placed::{Placed, Source};
use super::report::Plot;
use crate::chart::{Chart, Scale};
use crate::plot::{Figure, Look};

/// Wishes for figures.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureKeys {
    /// The plot that they are for; without the key they are for all.
    plot: Option<Plot>,
    /// Only this chart of those side by side, from 1.
    panel: Option<Placed<usize>>,
    /// Width on paper in mm, which leaves out headings.
    width_mm: Option<Placed<u32>>,
    /// Height on paper in mm.
    height_mm: Option<Placed<u32>>,
    /// Family of the font, such as "Times New Roman".
    font: Option<Placed<String>>,
    /// Size of the type at ticks, in points.
    font_pt: Option<Placed<f64>>,
    /// Where the horizontal axis begins and ends, in its unit; sizes in bytes.
    x_range: Option<Placed<[f64; 2]>>,
    /// Where the vertical axis begins and ends, in its unit.
    y_range: Option<Placed<[f64; 2]>>,
    /// The scale of the horizontal axis.
    x_scale: Option<Scale>,
    /// The scale of the vertical axis.
    y_scale: Option<Scale>,
}

impl FigureKeys {
    /// Refuses what cannot be drawn.
    ///
    /// # Errors
    /// With the line of the key.
    pub fn check(&self, text: &Source) -> Result<(), InputError> {
        let lengths = [("width_mm", &self.width_mm), ("height_mm", &self.height_mm)];
        for (key, value) in lengths.iter().filter_map(|(key, length)| Some((key, length.as_ref()?))) {
            if !(20..=1_000).contains(&**value) {
                return Err(text.error(value.at(), format!("{key} is {}; expected 20 to 1000", **value)));
            }
        }
        if let (Some(height), None) = (&self.height_mm, &self.width_mm) {
            return Err(text.error(height.at(), "height_mm alone has no meaning; expected width_mm beside it"));
        }
        if let Some(points) = self.font_pt.as_ref().filter(|points| !(3.0..=40.0).contains(&***points)) {
            return Err(text.error(points.at(), format!("font_pt is {}; expected 3 to 40", **points)));
        }
        let is_name = |font: &str| font.chars().all(|letter| letter.is_alphanumeric() || " ,-".contains(letter));
        if let Some(font) = self.font.as_ref().filter(|font| font.is_empty() || !is_name(font)) {
            return Err(text.error(font.at(), format!("font is \"{}\"; expected the name of a family", **font)));
        }
        if let Some(panel) = self.panel.as_ref().filter(|panel| ***panel == 0) {
            return Err(text.error(panel.at(), "panel is 0; charts count from 1"));
        }
        let ranges = [("x_range", &self.x_range, self.x_scale), ("y_range", &self.y_range, self.y_scale)];
        for (key, range, scale) in ranges {
            let Some(range) = range else { continue };
            let [low, high] = **range;
            let least = if scale == Some(Scale::Log) { f64::MIN_POSITIVE } else { f64::MIN };
            if !(low >= least && low < high && high.is_finite()) {
                let what = if scale == Some(Scale::Log) { ", and above 0 on a logarithmic axis" } else { "" };
                let message = format!("{key} is [{low}, {high}]; expected the lower end first{what}");
                return Err(text.error(range.at(), message));
            }
        }
        Ok(())
    }

    /// Whether they are for a plot.
    pub fn are_for(&self, plot: Plot) -> bool {
        self.plot.is_none_or(|own| own == plot)
    }

    /// A look with these wishes.
    pub fn look(&self, look: Look) -> Look {
        let mut look = look;
        if let Some(width) = &self.width_mm {
            let height = self.height_mm.as_ref().map_or(0.625, |height| f64::from(**height) / f64::from(**width));
            look = look.on_paper(**width, height);
        }
        if let Some(points) = &self.font_pt {
            look = look.with_type(**points);
        }
        if let Some(font) = &self.font {
            look.font.clone_from(font);
        }
        look
    }

    /// Changes charts.
    ///
    /// # Errors
    /// If there is no chart of this number, or a range has no place on an axis.
    pub fn change(&self, figure: &mut Figure, text: &Source) -> Result<(), InputError> {
        if let Some(panel) = &self.panel {
            let count = figure.charts.len();
            if **panel > count {
                let message = format!("panel is {}, and \"{}\" has {count}", **panel, figure.title);
                return Err(text.error(panel.at(), message));
            }
            figure.charts = vec![figure.charts.swap_remove(**panel - 1)];
        }
        for chart in &mut figure.charts {
            let (x, y) = (lowest_place(chart), lowest_value(chart));
            for (axis, scale, range, lowest) in
                [(&mut chart.x, self.x_scale, &self.x_range, x), (&mut chart.y, self.y_scale, &self.y_range, y)]
            {
                let ends = range.as_ref().map(|range| **range);
                let log = scale.map_or(axis.log, |scale| scale == Scale::Log);
                if let Some(range) = range.as_ref().filter(|range| log && range[0] <= 0.0) {
                    let message = format!("the axis \"{}\" is logarithmic; expected a range above 0", axis.title);
                    return Err(text.error(range.at(), message));
                }
                *axis = axis.clone().rescaled(scale, ends, lowest);
            }
        }
        Ok(())
    }
}

/// The lowest place above 0.
fn lowest_place(chart: &Chart) -> f64 {
    let places = chart.lines.iter().map(|line| line.y.len()).max().unwrap_or(0);
    least((0..places).map(|place| chart.at.place(place)))
}

/// The lowest value above 0.
fn lowest_value(chart: &Chart) -> f64 {
    least(chart.lines.iter().flat_map(|line| line.values()))
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    let least = values.filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}
