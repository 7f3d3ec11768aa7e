// SPDX-License-Identifier: GPL-2.0-only
//! `pauses.csv`: every pause by PFC, who sent it, and which other pause was the reason: a tree for each root.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CsvRow, ResultError, csv_file};

/// A pause. Rows are in the order of their start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRow {
    /// When it was sent, in ns.
    pub start_ns: u64,
    /// Until the resume was sent, or the run ended, in ns.
    pub duration_ns: u64,
    /// The node that sent it.
    pub node: u32,
    /// By which port, counted from 1.
    pub port: u32,
    /// The node at the other end, which may not send.
    pub paused: u32,
    /// The priority.
    pub priority: u8,
    /// The port by which most of the bytes would leave that are too many; nothing at a host.
    pub egress: Option<u32>,
    /// The row, counted from 0, of the pause that holds that port; nothing: this is a root.
    pub cause: Option<u64>,
    /// The row of the root.
    pub root: u64,
    /// How many pauses this one is away from its root.
    pub depth: u32,
}

impl CsvRow for PauseRow {
    const HEADER: &'static str = "start_ns,duration_ns,node,port,paused,priority,egress,cause,root,depth";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let PauseRow { start_ns, duration_ns, node, port, paused, priority, egress, cause, root, depth } = *self;
        let [egress, cause] =
            [egress.map(u64::from), cause].map(|some| some.map_or_else(String::new, |n| n.to_string()));
        writeln!(out, "{start_ns},{duration_ns},{node},{port},{paused},{priority},{egress},{cause},{root},{depth}")
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<PauseRow>, ResultError> {
    csv_file::read(path)
}
