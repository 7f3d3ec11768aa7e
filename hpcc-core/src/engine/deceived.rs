// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows whose sender was told falsely that all has arrived, and has stopped. What it had sent is still on its way: such a flow
//! finishes when its last byte arrives, or never.

use super::state::Engine;
use super::traffic::{Completion, FlowRequest};
use alloc::vec::Vec;

/// Such a flow.
pub(super) struct Deceived {
    completion: Completion,
    /// The receiving queue pair, and the sequence number of the flow's first byte there.
    receiver: u32,
    first_seq: u64,
    is_listed: bool,
    /// The sender has closed the queue pair.
    is_last: bool,
}

impl Engine {
    /// Whether a flow's receiver has all that its sender believes it has.
    pub(super) fn has_all(&mut self, flow: &FlowRequest, receiver: u32, first_seq: u64) -> bool {
        let end = first_seq + flow.size;
        !self.attackers.forge_acks || self.nodes.host(flow.dst).core.has_arrived(receiver, first_seq, end)
    }

    /// A sender believes that all of a flow has arrived.
    pub(super) fn deceive(&mut self, completion: Completion, (receiver, first_seq): (u32, u64), is_listed: bool) {
        self.attackers.deceived.push(Deceived { completion, receiver, first_seq, is_listed, is_last: false });
    }

    /// A sender closes a queue pair. Returns whether the receiving one stays open for what is on its way.
    pub(super) fn awaits_rest(&mut self, node: u32, receiver: u32) -> bool {
        let mut flows = self.attackers.deceived.iter_mut().rev();
        let last = flows.find(|flow| (flow.completion.request.dst, flow.receiver) == (node, receiver));
        last.map(|flow| flow.is_last = true).is_some()
    }

    /// More has arrived at a queue pair: perhaps the last byte of such flows.
    #[cold]
    pub(super) fn take_rest(&mut self, node: u32, receiver: u32) {
        let now = self.events.now();
        let core = &self.nodes.host(node).core;
        let has_ended = |flow: &mut Deceived| {
            let FlowRequest { dst, size, .. } = flow.completion.request;
            (dst, flow.receiver) == (node, receiver)
                && core.has_arrived(receiver, flow.first_seq, flow.first_seq + size)
        };
        let ended: Vec<Deceived> = self.attackers.deceived.extract_if(.., has_ended).collect();
        for flow in ended {
            let duration = now - flow.completion.request.start;
            self.complete(Completion { duration, ..flow.completion }, flow.is_listed);
            if flow.is_last {
                self.part_from(node, receiver);
            }
        }
    }

    /// The receiving queue pair of such a flow.
    pub(super) fn receiver_of_deceived(&self, flow: u32) -> Option<u32> {
        self.attackers.deceived.iter().find(|deceived| deceived.completion.request.id == flow).map(|flow| flow.receiver)
    }
}
