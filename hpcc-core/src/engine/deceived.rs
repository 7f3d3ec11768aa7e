// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows whose sender was told falsely that all has arrived, and has stopped. What it had sent is still on its way: such a flow
//! finishes with its receiver's own acknowledgement of the last byte, or never.

use super::state::Engine;
use super::traffic::Completion;
use alloc::vec::Vec;

/// Such a flow.
pub(super) struct Deceived {
    completion: Completion,
    /// The sending queue pair, and the sequence number behind the flow's last byte.
    queue_pair: u32,
    end: u64,
    /// The receiving one.
    receiver: u32,
    is_listed: bool,
    /// The sender has closed the queue pair.
    is_last: bool,
}

impl Engine {
    /// A sender believes that all of a flow has arrived.
    pub(super) fn deceive(
        &mut self,
        completion: Completion,
        (queue_pair, end): (u32, u64),
        receiver: u32,
        is_listed: bool,
    ) {
        let flow = Deceived { completion, queue_pair, end, receiver, is_listed, is_last: false };
        self.attackers.deceived.push(flow);
    }

    /// A sender closes a queue pair. Returns whether the receiving one stays open for what is on its way.
    pub(super) fn awaits_rest(&mut self, node: u32, receiver: u32) -> bool {
        let mut flows = self.attackers.deceived.iter_mut().rev();
        let last = flows.find(|flow| (flow.completion.request.dst, flow.receiver) == (node, receiver));
        last.map(|flow| flow.is_last = true).is_some()
    }

    /// An acknowledgement of all bytes before `seq` has come to a sender. A receiver's own tells of flows that have arrived.
    #[cold]
    pub(super) fn weigh_answer(&mut self, node: u32, queue_pair: u32, seq: u64, is_forged: bool) {
        self.attackers.is_deceiving = is_forged;
        if is_forged {
            return;
        }
        let now = self.events.now();
        let has_ended = |flow: &mut Deceived| {
            (flow.completion.request.src, flow.queue_pair) == (node, queue_pair) && flow.end <= seq
        };
        let ended: Vec<Deceived> = self.attackers.deceived.extract_if(.., has_ended).collect();
        for flow in ended {
            let request = flow.completion.request;
            self.complete(Completion { duration: now - request.start, ..flow.completion }, flow.is_listed);
            if flow.is_last {
                self.part_from(request.dst, flow.receiver);
            }
        }
    }

    /// The receiving queue pair of such a flow.
    pub(super) fn receiver_of_deceived(&self, flow: u32) -> Option<u32> {
        self.attackers.deceived.iter().find(|deceived| deceived.completion.request.id == flow).map(|flow| flow.receiver)
    }
}
