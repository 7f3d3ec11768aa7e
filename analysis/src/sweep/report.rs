// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep can show.

use hpcc_measures::quantity::Series;
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
    /// Bytes of telemetry in a frame, and on all links.
    Overhead,
}

impl TableKind {
    /// All of them, in the order of printing.
    pub const ALL: [TableKind; 4] = [TableKind::Slowdown, TableKind::Goodput, TableKind::Queue, TableKind::Overhead];
}

/// The quantity of a plot along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByAxis {
    /// Of all flows.
    Slowdown,
    /// Of large flows.
    Goodput,
    /// Of the busiest port.
    Queue,
    /// Of jobs.
    Job,
}

impl ByAxis {
    /// The metrics of its two charts.
    pub fn metrics(self) -> [&'static str; 2] {
        match self {
            ByAxis::Slowdown => ["slowdown_p50", "slowdown_p99"],
            ByAxis::Goodput => ["goodput_large_p50_gbps", "goodput_large_jain"],
            ByAxis::Queue => ["queue_p99_bytes", "queue_max_bytes"],
            ByAxis::Job => ["job_time_ns", "busbw_gbytes"],
        }
    }
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
    /// Time of the longest job, and bus bandwidth of collectives, at each value of the axis.
    JobByAxis,
    /// 95th percentile of the slowdown, sizes at equal distances of their rank: the axes of HPCC's figure 11.
    SlowdownByRank,
    /// Queue of the busiest port over time, a line for each variant.
    QueueOverTime,
    /// Rate of each flow over time, a chart for each variant.
    GoodputOverTime,
}

/// Each plot, its name in a sweep file and of its file, its quantity along the axis, and its time series.
const PLOTS: [(Plot, &str, Option<ByAxis>, Option<Series>); 10] = [
    (Plot::SlowdownBySize, "slowdown-by-size", None, None),
    (Plot::GoodputByVariant, "goodput-by-variant", None, None),
    (Plot::QueueCdf, "queue-cdf", None, Some(Series::Queues)),
    (Plot::SlowdownByAxis, "slowdown-by-axis", Some(ByAxis::Slowdown), None),
    (Plot::GoodputByAxis, "goodput-by-axis", Some(ByAxis::Goodput), None),
    (Plot::QueueByAxis, "queue-by-axis", Some(ByAxis::Queue), None),
    (Plot::JobByAxis, "job-by-axis", Some(ByAxis::Job), None),
    (Plot::SlowdownByRank, "slowdown-by-rank", None, None),
    (Plot::QueueOverTime, "queue-over-time", None, Some(Series::Queues)),
    (Plot::GoodputOverTime, "goodput-over-time", None, Some(Series::Goodput)),
];

impl Plot {
    /// The plots of a file that does not choose.
    pub const USUAL: [Plot; 4] = [Plot::SlowdownBySize, Plot::GoodputByVariant, Plot::QueueCdf, Plot::SlowdownByAxis];

    /// Name in a sweep file, and of the file that is drawn.
    pub fn name(self) -> &'static str {
        PLOTS[self as usize].1
    }

    /// Its quantity along the axis, if it is such a plot.
    pub fn by_axis(self) -> Option<ByAxis> {
        PLOTS[self as usize].2
    }

    /// The time series that it is made from, if it is.
    pub fn series(self) -> Option<Series> {
        PLOTS[self as usize].3
    }

    /// Whether a file has the name of one.
    pub fn is_name_of_any(file: &str) -> bool {
        [".svg", ".png", ".pdf", ".csv", ".py"].iter().any(|end| file.ends_with(end))
            && PLOTS.iter().any(|(_, name, ..)| file.starts_with(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_in_the_order_of_their_names() {
        for (place, (plot, name, ..)) in PLOTS.iter().enumerate() {
            assert_eq!((*plot as usize, plot.name()), (place, *name));
        }
    }
}
