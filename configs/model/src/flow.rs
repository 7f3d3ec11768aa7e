// SPDX-License-Identifier: GPL-2.0-only
//! One flow.

use crate::error::InputError;
use crate::place::Place;
use hpcc_core::engine::{ENDLESS, FlowOptions};
use hpcc_core::units::Nanos;

/// One message from a host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending host.
    pub src: u32,
    /// Receiving host, another one than `src`.
    pub dst: u32,
    /// Priority (queue) of its packets, 1 to 7; 0 only with [`ReferenceFaults::data_in_queue_0`](hpcc_core::reference_faults::ReferenceFaults::data_in_queue_0).
    pub priority: u8,
    /// Destination port; by convention 100 for ordinary flows and 200 for incast.
    pub dport: u16,
    /// Payload bytes, at least 1, or [`ENDLESS`]; the 2019 simulator's flow files end at 2^32 - 1.
    pub size: u64,
    /// When the sender learns of it.
    pub start: Nanos,
    /// What it has for itself.
    pub options: FlowOptions,
}

/// Most bytes of a flow that has an end, and of a message: more take a year by the fastest link.
pub const MOST_BYTES: u64 = ENDLESS - 1;

impl Flow {
    /// Whether it has something for itself, or no end.
    pub fn is_own(&self) -> bool {
        self.size == ENDLESS || self.options != FlowOptions::NONE
    }

    /// Its payload bytes, as far as there is an end.
    pub fn bytes(&self) -> u64 {
        if self.size == ENDLESS { 0 } else { self.size }
    }
}

/// A flow and where it came from, or why there is none.
pub type Placed = Result<(Flow, Place), InputError>;
