// SPDX-License-Identifier: GPL-2.0-only
//! `queue.csv`: the queue length of a switch port, one row whenever a sample differs from the one before.
//!
//! Every port starts empty, so its first row is its first sample with a queue.

use serde::{Deserialize, Serialize};

use super::csv_row::csv_row;

csv_row! {
    /// A new queue length of a port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct QueueRow in "queue.csv" {
        /// When it was sampled, in ns.
        time_ns: u64,
        /// Number of the switch.
        node: u32,
        /// Number of its port, in the order of its links.
        port: u32,
        /// Bytes in the queue.
        qlen_bytes: u64,
    }
}
