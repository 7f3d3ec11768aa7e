// SPDX-License-Identifier: GPL-2.0-only
//! `storms.csv`: every pause that a switch's watchdog found to last too long.

use super::csv_row::csv_row;

csv_row! {
    /// A storm.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct StormRow in "storms.csv" {
        /// The switch.
        node: u32,
        /// Its port, counted from 1.
        port: u32,
        /// The priority that was paused.
        priority: u8,
        /// When the watchdog found it, in ns.
        begin_ns: u64,
        /// When pauses counted again, in ns; nothing if the run ended before.
        end_ns: Option<u64>,
        /// Packets that were dropped meanwhile.
        packets: u64,
        /// Their bytes.
        bytes: u64,
    }
}
