// SPDX-License-Identifier: GPL-2.0-only
//! `sent.csv`: what each port has sent since the sample before, a row for each that sent something. The last rows are of the
//! end of the run, so that a port's bytes add up to those of `ports.csv`.

use serde::{Deserialize, Serialize};

use super::csv_row::csv_row;

csv_row! {
    /// The bytes of a port over one interval.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SentRow in "sent.csv" {
        /// End of the interval, in ns.
        time_ns: u64,
        /// Number of the node, a host or a switch.
        node: u32,
        /// Number of its port, counted from 1.
        port: u32,
        /// Bytes of the frames that began to leave, without preamble and gap.
        sent_bytes: u64,
    }
}
