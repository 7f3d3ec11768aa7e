// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep can show.

use schemars::JsonSchema;
use serde::Deserialize;

use super::claim::Series;

/// A table with a row for each variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableKind {
    /// Completion times relative to the ideal: all, small and large flows.
    Slowdown,
    /// Rate of large flows.
    Goodput,
    /// Queues, pauses, drops, packets sent again.
    Queue,
    /// Bytes of telemetry in a frame, and what all of it took.
    Overhead,
}

impl TableKind {
    /// All of them, in the order of printing.
    pub const ALL: [TableKind; 4] = [TableKind::Slowdown, TableKind::Goodput, TableKind::Queue, TableKind::Overhead];
}

/// What a plot can show along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByAxis {
    /// Of all flows.
    Slowdown,
    /// Of large flows.
    Goodput,
    /// Of the busiest port.
    Queue,
}

/// A plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Plot {
    /// Median and 99th percentile of the slowdown by flow size, a line for each variant.
    SlowdownBySize,
    /// Rate of large flows: median and spread of each variant.
    GoodputByVariant,
    /// How often queues are longer than so many bytes, a line for each variant.
    QueueCdf,
    /// Median and 99th percentile of the slowdown at each value of the axis, a line for each variant.
    SlowdownByAxis,
    /// Median rate of large flows, and Jain's index of their rates, at each value of the axis.
    GoodputByAxis,
    /// 99th percentile and maximum of the busiest port's queue at each value of the axis.
    QueueByAxis,
    /// 95th percentile of the slowdown, sizes at equal distances of their rank: the axes of HPCC's figure 11.
    SlowdownByRank,
    /// Queue of the busiest port over time, a line for each variant.
    QueueOverTime,
    /// Rate of each flow over time, a chart for each variant.
    GoodputOverTime,
}

impl Plot {
    /// All of them.
    pub const ALL: [Plot; 9] = [
        Plot::SlowdownBySize,
        Plot::GoodputByVariant,
        Plot::QueueCdf,
        Plot::SlowdownByAxis,
        Plot::GoodputByAxis,
        Plot::QueueByAxis,
        Plot::SlowdownByRank,
        Plot::QueueOverTime,
        Plot::GoodputOverTime,
    ];
    /// Those that are drawn where a file does not choose.
    pub const USUAL: [Plot; 4] = [Plot::SlowdownBySize, Plot::GoodputByVariant, Plot::QueueCdf, Plot::SlowdownByAxis];

    /// Name in a sweep file, and of the file that is drawn.
    pub fn name(self) -> &'static str {
        match self {
            Plot::SlowdownBySize => "slowdown-by-size",
            Plot::GoodputByVariant => "goodput-by-variant",
            Plot::QueueCdf => "queue-cdf",
            Plot::SlowdownByAxis => "slowdown-by-axis",
            Plot::GoodputByAxis => "goodput-by-axis",
            Plot::QueueByAxis => "queue-by-axis",
            Plot::SlowdownByRank => "slowdown-by-rank",
            Plot::QueueOverTime => "queue-over-time",
            Plot::GoodputOverTime => "goodput-over-time",
        }
    }

    /// What it shows along the axis, if that is what it does.
    pub fn measure_by_axis(self) -> Option<ByAxis> {
        match self {
            Plot::SlowdownByAxis => Some(ByAxis::Slowdown),
            Plot::GoodputByAxis => Some(ByAxis::Goodput),
            Plot::QueueByAxis => Some(ByAxis::Queue),
            Plot::SlowdownBySize
            | Plot::GoodputByVariant
            | Plot::QueueCdf
            | Plot::SlowdownByRank
            | Plot::QueueOverTime
            | Plot::GoodputOverTime => None,
        }
    }

    /// The time series that it is made from, if it is.
    pub fn series(self) -> Option<Series> {
        match self {
            Plot::QueueCdf | Plot::QueueOverTime => Some(Series::Queues),
            Plot::GoodputOverTime => Some(Series::Goodput),
            Plot::SlowdownBySize
            | Plot::GoodputByVariant
            | Plot::SlowdownByAxis
            | Plot::GoodputByAxis
            | Plot::QueueByAxis
            | Plot::SlowdownByRank => None,
        }
    }

    /// Whether a file has the name of one.
    pub fn is_name_of_any(file: &str) -> bool {
        [".svg", ".png", ".csv"].iter().any(|end| file.ends_with(end))
            && Plot::ALL.iter().any(|plot| file.starts_with(plot.name()))
    }
}
