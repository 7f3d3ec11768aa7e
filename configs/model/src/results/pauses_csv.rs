// SPDX-License-Identifier: GPL-2.0-only
//! `pauses.csv`: every pause by PFC, who sent it, and which other pause was the reason: a tree for each root.

use super::csv_row::csv_row;

csv_row! {
    /// A pause. Rows are in the order of their start.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PauseRow in "pauses.csv" {
        /// When it was sent, in ns.
        start_ns: u64,
        /// Until the resume was sent, or the run ended, in ns.
        duration_ns: u64,
        /// The node that sent it.
        node: u32,
        /// By which port, counted from 1.
        port: u32,
        /// The node at the other end, which may not send.
        paused: u32,
        /// The priority.
        priority: u8,
        /// The port by which most of the bytes would leave that are too many; nothing at a host.
        egress: Option<u32>,
        /// The row, counted from 0, of the pause that holds that port; nothing: this is a root.
        cause: Option<u64>,
        /// The row of the root.
        root: u64,
        /// How many pauses this one is away from its root.
        depth: u32,
    }
}
