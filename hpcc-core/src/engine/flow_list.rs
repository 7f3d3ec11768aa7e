// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows of a network, from those that are to begin to those that have finished.

use super::state::Engine;
use super::traffic::{Completion, FlowRequest, Started};
use crate::cc::FlowLimits;
use crate::recurrence::recurs;
use crate::units::Nanos;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Flows, and what is told about them.
#[derive(Default)]
pub(super) struct Flows {
    /// Those that are to begin, by start.
    pub requests: VecDeque<FlowRequest>,
    /// How many were to begin, and how many of these have finished.
    pub added: u64,
    pub finished: u64,
    /// How often one has begun, or finished.
    pub turns: u64,
    pub started: Vec<Started>,
    pub completed: Vec<Completion>,
    /// Those that could not begin.
    pub refused: Vec<FlowRequest>,
    /// What controllers of flows were given lately.
    pub limits: Vec<Arc<FlowLimits>>,
    /// The newest round-trip time of each, if they are measured.
    pub rtts: Option<BTreeMap<u32, Nanos>>,
    /// Queue pairs that flows share stay when their last message has finished: something may come for them still.
    pub keeps_queue_pairs: bool,
    /// As the 2019 simulator's fault `wrapping_ports` has it.
    pub wraps_ports: bool,
    /// Receivers to close when the window ends: their hosts and keys.
    pub closings: Vec<(u32, u32)>,
}

impl Flows {
    /// None yet.
    pub fn new(keeps_queue_pairs: bool, wraps_ports: bool) -> Flows {
        Flows { keeps_queue_pairs, wraps_ports, ..Flows::default() }
    }
}

impl Engine {
    /// Flows that have begun since the last call.
    pub fn take_started(&mut self) -> Vec<Started> {
        core::mem::take(&mut self.flows.started)
    }

    /// Flows that could not begin, since the last call.
    pub fn take_refused(&mut self) -> Vec<FlowRequest> {
        core::mem::take(&mut self.flows.refused)
    }

    /// Flows that are still to begin.
    pub fn waiting(&self) -> impl Iterator<Item = &FlowRequest> {
        self.flows.requests.iter()
    }

    /// Flows that have finished since the last call, by time and source.
    pub fn take_completed(&mut self) -> Vec<Completion> {
        let mut completed = core::mem::take(&mut self.flows.completed);
        if self.is_canonical() {
            completed.sort_by_key(|flow| (flow.request.start + flow.duration, flow.request.src));
        }
        completed
    }
}

// What runs take out between two cuts is counted besides, by `turns`.
recurs! {
    Flows {
        requests: size,
        added: steady,
        finished: steady,
        turns: steady,
        started: constant,
        completed: constant,
        refused: constant,
        limits: constant,
        rtts: absent,
        keeps_queue_pairs: constant,
        wraps_ports: constant,
        closings: absent,
    }
}
