// SPDX-License-Identifier: GPL-2.0-only
//! Jobs in the files of other simulators: what each rank does, as a graph of operations.

pub(crate) mod goal;
mod goal_binary;
mod goal_text;
pub mod ideal;
mod matching;

use hpcc_core::workload::Graph;
use hpcc_core::workload::collective::Plan;

/// What a file says.
#[derive(Debug)]
pub(crate) struct JobFile {
    /// By rank.
    pub graphs: Vec<Graph>,
    /// Collectives in them, by number.
    pub collectives: Vec<Plan>,
    /// Hash of the file, and of what else the graphs follow from.
    pub digest: String,
}

/// Hash of what graphs follow from.
fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = blake3::Hasher::new();
    parts.into_iter().for_each(|part| _ = hash.update(part));
    hash.finalize().to_hex().to_string()
}
