// SPDX-License-Identifier: GPL-2.0-only
//! `goodput.csv`: the bytes of a flow that have arrived since its previous row, or since its start, each counted once, and the
//! rate that this amounts to: never above that of its links, but by what one packet more makes of a short interval. Of TCP and UDP,
//! which a program's stack carries, the acknowledged ones count. Each flow has a last row when it completes or the run ends, so its bytes add up. One that
//! completes at the time of a sample has two rows of that time, which share the interval before it. Where nothing of any
//! flow arrived for a thousand samples, further ones have no rows, but for the last before something does.

use serde::{Deserialize, Serialize};

use super::csv_row::csv_row;

csv_row! {
    /// The rate of one flow over one interval.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct GoodputRow in "goodput.csv" {
        /// End of the interval, in ns.
        time_ns: u64,
        /// Number of the flow, in the order of the scenario.
        flow: u32,
        /// Payload that has arrived, in bits per second.
        goodput_bps: u64,
        /// Payload that has arrived, in bytes.
        bytes: u64,
    }
}
