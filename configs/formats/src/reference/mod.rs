// SPDX-License-Identifier: GPL-2.0-only
//! The 2019 simulator's own inputs, read so that its experiments run unchanged - except that what it
//! would silently skip or turn into nonsense is an error here. Only what follows the flows, links or nodes that a file's
//! first line announces is skipped here, too, with a note: its authors' own files end so.
//!
//! All four files are streams of words separated by white space; line breaks carry no meaning except in
//! error messages.

mod algorithm;
mod config;
mod descendant;
mod ecn_map;
mod export;
mod keys;
mod nvlink;
mod settings;
mod topology;
mod trace;
mod write;

#[cfg(test)]
mod descendant_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod tests;

pub(crate) use config::read;
pub use config::{import, is_configuration};
pub use descendant::Remark;
pub(crate) use nvlink::Nvlink;
pub(crate) use topology::{TopologyFile, read as read_topology};
pub use write::{write_flow, write_network};

use hpcc_core::topology::Network;
use hpcc_core::transport::TransportSettings;
use hpcc_core::units::Rounding;
use hpcc_model::error::InputError;
use hpcc_model::flow::Flow;
use hpcc_model::flow_file::{FlowFile, FlowForm};
use std::path::Path;

/// Reads a topology file by itself: `N S L`, S switch ids, L times `a b rate delay loss`. Times are the decimal numbers that it has.
///
/// # Errors
/// Missing or malformed files, and links that make no sense.
pub fn network(path: &Path) -> Result<Network, InputError> {
    read_topology(path, Rounding::Nearest).map(|file| file.network)
}

/// Reads a flow file by itself: a count, then as many times `src dst priority dport size start`, by
/// ascending start in seconds, which are rounded down as the 2019 simulator does. Whether the hosts exist is up to
/// the caller.
///
/// # Errors
/// Missing or malformed files, and flows out of order.
pub fn flows(path: &Path) -> Result<Vec<Flow>, InputError> {
    let form = FlowForm { columns: None, mtu: TransportSettings::default().mtu, rounding: Rounding::Floored };
    let (file, _) = FlowFile::new(path, form)?;
    file.walk().map(|flow| flow.map(|(flow, _)| flow)).collect()
}
