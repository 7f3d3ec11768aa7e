// SPDX-License-Identifier: GPL-2.0-only
//! Charts: what results look like, whoever draws them. [`plot`](crate::plot) makes SVG files of them, the page of
//! [`report`](crate::report) draws them in a browser.

mod axis;
pub mod cdf;
mod control;
pub mod number;
mod over_time;
mod queue_above;
mod seeds;
mod ticks;

pub use axis::{Axis, Scale, Unit};
pub use control::{Watched, control};
pub use over_time::{Steps, flow_name, goodput, queues, rates_of};
pub use queue_above::{lengths, queue_above};
pub use seeds::{Pooled, Spread, ends_words, mean_and_deviation};

use hpcc_measures::stats::{self, FctStats};
use serde::{Serialize, Serializer};

/// Lines over one axis.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Heading, where each chart has one.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// Where on it the values of each line are, ascending.
    pub at: At,
    /// The vertical axis.
    pub y: Axis,
    /// Its lines, the first on top.
    pub lines: Vec<Line>,
    /// Whether a value holds until the next one.
    pub stepped: bool,
    /// Whether each point is marked.
    pub points: bool,
}

impl Chart {
    /// The least distance between two places, as a share of the axis: lines may be drawn aside by a part of it.
    pub fn gap(&self) -> f64 {
        let scaled = |value: f64| if self.x.log { value.log10() } else { value };
        let places = self.lines.iter().map(|line| line.y.len()).max().unwrap_or(0);
        let gaps = (1..places).map(|place| scaled(self.at.place(place)) - scaled(self.at.place(place - 1)));
        gaps.fold(f64::INFINITY, f64::min) / (scaled(self.x.range.end) - scaled(self.x.range.start))
    }

    /// As a page holds it: with as many digits as a chart can show.
    pub fn shortened(mut self) -> Chart {
        let short = |value: &mut f64| *value = number::short(*value);
        for line in &mut self.lines {
            line.y.iter_mut().flatten().for_each(short);
            line.band.iter_mut().flatten().for_each(|(low, high)| [low, high].into_iter().for_each(short));
        }
        if let At::Each(places) = &mut self.at {
            places.iter_mut().for_each(short);
        }
        self
    }
}

/// Places on an axis.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum At {
    /// Each place.
    Each(Vec<f64>),
    /// Equidistant places.
    Steps {
        /// The first.
        first: f64,
        /// From one to the next.
        step: f64,
        /// How many there are.
        steps: usize,
    },
}

impl At {
    /// The place of this number.
    pub fn place(&self, index: usize) -> f64 {
        match self {
            At::Each(places) => places[index],
            At::Steps { first, step, .. } => first + index as f64 * step,
        }
    }
}

/// A line of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// A value for each place, as far as there are some.
    pub y: Vec<Option<f64>>,
    /// From where to where the seeds' values are, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<Option<(f64, f64)>>,
    /// Whether each value rests on few flows; empty if none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub few: Vec<bool>,
    /// How many seeds each value is of, where some have none; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<usize>,
    /// How it looks; pages need the number only.
    #[serde(rename = "number", serialize_with = "number_of")]
    pub look: LineLook,
    /// Number of the page's entry that it is of.
    pub entry: usize,
    /// The selection of flows that it is of, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// How a line looks in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineLook {
    /// Number of its colour in the colours of variants.
    pub color: usize,
    /// Number of its dashes.
    pub dash: usize,
    /// Its width in pixels of a screen's figure.
    pub width: u32,
    /// Its markers, if it has some.
    pub mark: Option<Mark>,
}

/// The mark of a line's points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Number of its shape.
    pub shape: usize,
    /// Its radius in pixels of a screen's figure.
    pub size: f64,
    /// Whether a white edge sets it off.
    pub edged: bool,
}

fn number_of<S: Serializer>(look: &LineLook, to: S) -> Result<S::Ok, S::Error> {
    look.color.serialize(to)
}

/// Width of lines.
pub const STROKE: u32 = 3;

impl LineLook {
    /// The line of a variant without markers: the first four are solid, and where a colour comes back its dashes are others,
    /// for 32 variants.
    pub fn plain(variant: usize, width: u32) -> LineLook {
        LineLook { color: variant, dash: variant / 4 + variant / 16, width, mark: None }
    }

    /// The line of a variant, with its markers.
    pub fn marked(variant: usize) -> LineLook {
        let mark = Mark { shape: variant, size: 6.5, edged: false };
        LineLook { mark: Some(mark), ..LineLook::plain(variant, STROKE) }
    }
}

impl Line {
    /// A line of a variant, with markers.
    pub fn of_variant(variant: usize, name: impl Into<String>, y: Vec<Option<f64>>) -> Line {
        let (band, few, seeds, look) = (Vec::new(), Vec::new(), Vec::new(), LineLook::marked(variant));
        Line { name: name.into(), y, band, few, seeds, look, entry: 0, of: None }
    }

    /// A line of a variant, of several seeds.
    pub fn of_seeds(variant: usize, name: impl Into<String>, Pooled { y, band, seeds }: Pooled) -> Line {
        Line { band, seeds, ..Line::of_variant(variant, name, y) }
    }

    /// Multiplies its values, and those of its seeds.
    pub fn scale(&mut self, by: f64) {
        self.y.iter_mut().flatten().for_each(|value| *value *= by);
        self.band.iter_mut().flatten().for_each(|(low, high)| (*low, *high) = (*low * by, *high * by));
    }

    /// All of its values.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.y.iter().flatten().copied()
    }
}

/// The highest value of some lines and of their bands; at least 0.
pub fn highest(lines: &[Line]) -> f64 {
    let bands = lines.iter().flat_map(|line| line.band.iter().flatten().map(|(_, high)| *high));
    lines.iter().flat_map(Line::values).chain(bands).fold(0.0, f64::max)
}

/// Values, of which some are no numbers.
pub fn finite(values: Vec<f64>) -> Vec<Option<f64>> {
    values.into_iter().map(|value| value.is_finite().then_some(value)).collect()
}

/// A figure of each bin of flow sizes; nothing where a bin has no flow.
pub fn of_bins(bins: &[FctStats], of: fn(&FctStats) -> f64) -> Vec<Option<f64>> {
    bins.iter().map(|stats| (stats.flows > 0).then(|| of(stats))).collect()
}

/// Whether a percentile of each bin rests on few flows, of all seeds together; empty if none does.
pub fn few_in_bins(seeds: &[Vec<FctStats>], percent: u64) -> Vec<bool> {
    let bins = seeds.iter().map(Vec::len).max().unwrap_or(0);
    let flows = |bin: usize| seeds.iter().map(|bins| bins[bin].flows).sum();
    let few: Vec<bool> = (0..bins).map(|bin| stats::rests_on_few(flows(bin), percent)).collect();
    if few.contains(&true) { few } else { Vec::new() }
}
