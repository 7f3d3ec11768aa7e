// SPDX-License-Identifier: GPL-2.0-only
//! `collectives.csv`: each iteration of each collective that all its ranks have ended, with the bandwidths of nccl-tests.

use super::csv_row::csv_row;

csv_row! {
    /// One iteration of a collective.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CollectiveRow in "collectives.csv" {
        /// Number of the job's group among those of the summary.
        group: u32,
        /// Number of the collective in its job.
        collective: u32,
        /// What it does.
        operation: String,
        /// By which algorithm.
        algorithm: String,
        /// How data became messages: simple, ll or ll128.
        protocol: String,
        /// In how many channels.
        channels: u16,
        /// Among how many ranks.
        ranks: u32,
        /// Bytes, as nccl-tests count them.
        size: u64,
        /// Which iteration, counted from 0.
        iteration: u32,
        /// When the first rank began, in ns.
        start_ns: u64,
        /// From then to the end of the last rank, in ns.
        time_ns: u64,
        /// Bandwidth of the algorithm, size over time, in bytes per nanosecond, which is GB/s.
        algbw: f64 = 4,
        /// Bandwidth of the bus: that of the algorithm times nccl-tests' factor, in GB/s.
        busbw: f64 = 4,
        /// The rank that ended last.
        slowest: u32,
    }
}
