// SPDX-License-Identifier: GPL-2.0-only
//! `unfinished.csv`: one row per flow that had not completed at the end. Only a header in a good run.

use serde::{Deserialize, Serialize};

use super::csv_row::csv_row;

csv_row! {
    /// A flow that had not completed when the simulation ended.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct UnfinishedFlow in "unfinished.csv" {
        /// Number of the flow, in the order of the scenario.
        flow: u32,
        /// Sending node.
        src: u32,
        /// Receiving node.
        dst: u32,
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
        /// Priority group, 0 to 7.
        priority: u8,
        /// Payload in bytes.
        size as size_bytes: u64,
        /// When the flow started or was to start, in ns.
        start_ns: u64,
        /// Bytes that the receiver had acknowledged at the end.
        acked_bytes: u64,
        /// Number of its group in the list of the summary.
        group: u32,
    }
}
