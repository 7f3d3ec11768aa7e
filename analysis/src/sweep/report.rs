// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep can show.

use schemars::JsonSchema;
use serde::Deserialize;

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
    /// 95th percentile of the slowdown, sizes at equal distances of their rank: the axes of HPCC's figure 11.
    SlowdownByRank,
    /// Queue of the busiest port over time, a line for each variant.
    QueueOverTime,
    /// Rate of each flow over time, a chart for each variant.
    GoodputOverTime,
}

impl Plot {
    /// All of them.
    pub const ALL: [Plot; 7] = [
        Plot::SlowdownBySize,
        Plot::GoodputByVariant,
        Plot::QueueCdf,
        Plot::SlowdownByAxis,
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
            Plot::SlowdownByRank => "slowdown-by-rank",
            Plot::QueueOverTime => "queue-over-time",
            Plot::GoodputOverTime => "goodput-over-time",
        }
    }

    /// Whether a file has the name of one.
    pub fn is_name_of_any(file: &str) -> bool {
        [".svg", ".csv"].iter().any(|end| file.ends_with(end))
            && Plot::ALL.iter().any(|plot| file.starts_with(plot.name()))
    }
}
