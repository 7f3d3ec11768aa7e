// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equally long paths of a network, and whether records of telemetry tell them apart.
//!
//! A controller compares the records of a packet with those of the one before. Where packets of a flow take several paths, records
//! have to say which one they are of; else a flow compares counters of different links, and starves on an idle network. The
//! number of hops tells paths of different length, so only equally long ones matter here.

mod flow_paths;
mod ids;
#[cfg(test)]
mod tests;

pub use flow_paths::{Alike, FlowPaths};

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

/// What records name of a path, besides how many hops it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathName {
    /// Nothing.
    Length,
    /// The exclusive or of the ids of its switches, of so many bits, at most 16.
    Xor(u32),
    /// Each of its switches, but not the link between two of them.
    Switches,
    /// Each of its links.
    Links,
}

/// Whether the paths of a network can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathIdentity {
    /// They can, where switches have these ids, one for each node; `None`: by their numbers.
    Apart(Option<Arc<[u16]>>),
    /// These two cannot.
    Alike(Alike),
    /// The search was given up: there are too many.
    Unknown,
}

impl PathIdentity {
    /// What records of that kind fail to tell, as a sentence goes on that begins with them.
    pub fn complaint(&self) -> Option<String> {
        match self {
            PathIdentity::Apart(_) => None,
            PathIdentity::Alike(alike) => {
                Some(format!("do not tell apart two ways that packets of one flow may go: {alike}"))
            }
            PathIdentity::Unknown => {
                Some("may not tell apart all ways that packets of one flow may go: there are too many".into())
            }
        }
    }
}
