// SPDX-License-Identifier: GPL-2.0-only
//! How a sweep's file wants its figures.

use std::collections::BTreeMap;

use hpcc_model::error::InputError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::keys::Variant;
use super::placed::{Placed, Source};
use super::report::Plot;
use crate::chart::{Axis, Chart, Line, Scale};
use crate::human;
use crate::plot::{Figure, Look};

/// Longer words do not fit into a figure.
const LONGEST: usize = 120;

/// Wishes for figures.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureKeys {
    /// The plot that they are for; without the key they are for all.
    plot: Option<Plot>,
    /// Only this chart of those side by side, from 1.
    panel: Option<Placed<usize>>,
    /// Heading in place of the plot's own; figures on paper have none.
    title: Option<Placed<String>>,
    /// Label of the horizontal axis, with its unit.
    x_label: Option<Placed<String>>,
    /// Label of the vertical axis, with its unit; of charts side by side with `panel`.
    y_label: Option<Placed<String>>,
    /// Words of the legend: for the name of a variant, or of another line, what the legend calls it.
    legend: BTreeMap<String, Placed<String>>,
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
        let labels = [("title", &self.title), ("x_label", &self.x_label), ("y_label", &self.y_label)];
        let labels = labels.into_iter().filter_map(|(key, words)| Some((key, words.as_ref()?)));
        for (key, words) in labels.chain(self.legend.values().map(|words| ("legend", words))) {
            if words.trim().is_empty() || words.chars().count() > LONGEST || words.contains(char::is_control) {
                return Err(text.error(
                    words.at(),
                    format!("{key} is \"{}\"; expected up to {LONGEST} letters in a line", **words),
                ));
            }
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

    /// Changes charts, whose lines are named as variants, of which some may be left out. If a range leaves nothing to draw, says so.
    ///
    /// # Errors
    /// If there is no chart of this number, a range has no place on an axis, or no line has a name of the legend.
    pub fn change(
        &self,
        figure: &mut Figure,
        variants: (&[Variant], &[String]),
        text: &Source,
    ) -> Result<Option<InputError>, InputError> {
        if let Some(panel) = &self.panel {
            let count = figure.charts.len();
            if **panel > count {
                let message = format!("panel is {}, and \"{}\" has {count}", **panel, figure.title);
                return Err(text.error(panel.at(), message));
            }
            figure.charts = vec![figure.charts.swap_remove(**panel - 1)];
        }
        self.name(figure, variants, text)?;
        let (x, y) =
            (extent(figure, places), extent(figure, |chart| chart.lines.iter().flat_map(Line::values).collect()));
        for chart in &mut figure.charts {
            self.check_range("x_range", self.x_range.as_ref(), &chart.x, text)?;
            self.check_range("y_range", self.y_range.as_ref(), &chart.y, text)?;
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
        let outside = || {
            let ranges = [("x_range", &self.x_range, x), ("y_range", &self.y_range, y)];
            let given = ranges.into_iter().filter_map(|(key, range, data)| Some((key, range.as_ref()?, data)));
            let misses =
                |(_, range, (low, high)): &(&str, &Placed<[f64; 2]>, (f64, f64))| range[0] > *high || range[1] < *low;
            given.clone().find(misses).or_else(|| given.clone().next())
        };
        Ok(outside().filter(|_| figure.is_empty()).map(|(key, range, (low, high))| {
            let [from, to] = **range;
            let (low, high) = (human::three_digits(low), human::three_digits(high));
            let message = format!(
                "{key} [{from}, {to}] leaves nothing of \"{}\", whose values are from {low} to {high}",
                figure.title
            );
            text.error(range.at(), message)
        }))
    }

    /// Gives heading, axes and lines their names.
    fn name(
        &self,
        figure: &mut Figure,
        (variants, left_out): (&[Variant], &[String]),
        text: &Source,
    ) -> Result<(), InputError> {
        if let Some(label) = self.y_label.as_ref().filter(|_| figure.charts.len() > 1) {
            let message =
                format!("y_label: \"{}\" has {} charts; expected panel beside it", figure.title, figure.charts.len());
            return Err(text.error(label.at(), message));
        }
        if let Some(title) = &self.title {
            figure.title.clone_from(title);
        }
        for chart in &mut figure.charts {
            for (axis, label) in [(&mut chart.x, &self.x_label), (&mut chart.y, &self.y_label)] {
                axis.title = label.as_ref().map_or(std::mem::take(&mut axis.title), |label| label.to_string());
            }
        }
        for (name, words) in &self.legend {
            let variant = variants.iter().find(|variant| *variant.name == *name);
            let shown = variant.map_or(name.as_str(), Variant::label);
            let lines: Vec<&mut Line> =
                figure.charts.iter_mut().flat_map(|chart| &mut chart.lines).filter(|line| line.name == shown).collect();
            if lines.is_empty() && variant.is_none() && !left_out.contains(name) {
                let message = format!(
                    "legend: \"{}\" has no line \"{name}\"; expected the name of a variant or line",
                    figure.title
                );
                return Err(text.error(words.at(), message));
            }
            lines.into_iter().for_each(|line| line.name.clone_from(words));
        }
        Ok(())
    }

    /// Refuses a range on an axis whose places have names, if that is the axis of the plot that it is for.
    fn check_range(
        &self,
        key: &str,
        range: Option<&Placed<[f64; 2]>>,
        axis: &Axis,
        text: &Source,
    ) -> Result<(), InputError> {
        let Some(range) = range.filter(|_| axis.named && self.plot.is_some()) else { return Ok(()) };
        let message =
            format!("{key}: places on the axis \"{}\" have names; expected a plot with numbers on it", axis.title);
        Err(text.error(range.at(), message))
    }
}

/// From where to where values of all charts are, in the unit of the axis.
fn extent(figure: &Figure, values: fn(&Chart) -> Vec<f64>) -> (f64, f64) {
    let values = || figure.charts.iter().flat_map(values);
    (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
}

/// The places that have values, in the unit of the axis.
fn places(chart: &Chart) -> Vec<f64> {
    let has = |place: &usize| chart.lines.iter().any(|line| line.y.get(*place).is_some_and(Option::is_some));
    let count = chart.lines.iter().map(|line| line.y.len()).max().unwrap_or(0);
    (0..count).filter(has).map(|place| chart.at.place(place) / chart.x.tick_unit).collect()
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
