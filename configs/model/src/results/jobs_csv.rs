// SPDX-License-Identifier: GPL-2.0-only
//! `jobs.csv`: how long each job took.

use super::csv_row::csv_row;

csv_row! {
    /// A job.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct JobRow in "jobs.csv" {
        /// Number of its group among those of the summary.
        group: u32,
        /// How many ranks it has.
        ranks: u32,
        /// How many of them were over by the end of the run.
        finished: u32,
        /// When it began, in ns.
        start_ns: u64,
        /// From then to the end of its last rank, in ns; nothing if the run ended before.
        time_ns: Option<u64>,
        /// Messages between hosts that have finished.
        messages: u64,
        /// Their bytes.
        bytes: u64,
        /// Of them, those between hosts of one leaf switch.
        leaf_bytes: u64,
        /// Those that go by a spine.
        spine_bytes: u64,
        /// Those that go higher.
        core_bytes: u64,
        /// The least time that the links of its hosts allow, in ns: no order of messages is faster; nothing if it is not over.
        ideal_ns: Option<u64>,
        /// For how long a rank has computed, in ns: the mean of those that are over.
        compute_ns: u64,
        /// For how long a rank that was not over has not computed, in ns, likewise: communication that no computation hides.
        exposed_ns: u64,
        /// The rank that ended last.
        slowest: u32,
        /// From the end of the first rank to the end of the last one, in ns.
        spread_ns: u64,
    }
}
