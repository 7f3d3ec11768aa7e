// SPDX-License-Identifier: GPL-2.0-only
//! `control.csv`: what congestion control has made of flows, sampled at an interval.

use serde::{Deserialize, Serialize};

use super::csv_row::csv_row;

csv_row! {
    /// The state of one flow at one time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct ControlRow in "control.csv" {
        /// When, in ns.
        time_ns: u64,
        /// Number of the flow, in the order of the scenario.
        flow: u32,
        /// Sending rate in bits per second.
        rate_bps: u64,
        /// Window in bytes, 0 where the flow has none.
        window_bytes: u64,
        /// Bytes that were sent and not acknowledged.
        in_flight_bytes: u64,
        /// U of the busiest link as the sender reckons it; nothing where the algorithm knows none.
        utilisation: Option<f64>,
        /// Place on the path of the link that U was last moved by, 0 for the first switch's; nothing where it is not known.
        bottleneck: Option<u8>,
        /// Newest round-trip time of a packet in ns, from its first bit to its acknowledgement; nothing before the first.
        rtt_ns: Option<u64>,
    }
}
