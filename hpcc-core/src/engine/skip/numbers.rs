// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows by numbers, under which both of their ends and their frames are known.

use crate::engine::state::Engine;
use crate::transport::place_of;
use alloc::vec::Vec;

/// The first number of each node's sending queue pairs, and the number of each receiving one's flow.
#[derive(Default)]
pub(super) struct Numbers {
    /// By node, and one behind the last.
    first_sending: Vec<usize>,
    first_receiving: Vec<usize>,
    /// By node and place.
    of_receiving: Vec<usize>,
}

impl Numbers {
    /// The flow of a place among a node's sending queue pairs.
    pub fn sending(&self, node: u32, place: usize) -> usize {
        self.first_sending[node as usize] + place
    }

    /// The flow of a place among a node's receiving queue pairs.
    pub fn receiving(&self, node: u32, place: usize) -> usize {
        self.of_receiving[self.first_receiving[node as usize] + place]
    }

    /// The flow of a frame, by its sender's node and queue pair.
    pub fn of_frame(&self, node: u32, queue_pair: u32) -> Option<usize> {
        let (&first, &end) = (self.first_sending.get(node as usize)?, self.first_sending.get(node as usize + 1)?);
        let flow = first.checked_add(place_of(queue_pair))?;
        (flow < end).then_some(flow)
    }
}

impl Engine {
    /// Gives all flows their numbers.
    pub(super) fn number_flows(&mut self) {
        let nodes = self.first_port.len() as u32;
        let numbers = &mut self.skip.numbers;
        let (mut sending, mut receiving) = (0, 0);
        numbers.first_sending.clear();
        numbers.first_receiving.clear();
        for node in 0..nodes {
            numbers.first_sending.push(sending);
            numbers.first_receiving.push(receiving);
            let (senders, receivers) = self.nodes.as_host(node).map_or((0, 0), |host| host.core.places());
            (sending, receiving) = (sending + senders, receiving + receivers);
        }
        numbers.first_sending.push(sending);
        numbers.first_receiving.push(receiving);
        numbers.of_receiving.clear();
        numbers.of_receiving.resize(receiving, sending);
        for node in 0..nodes {
            let Some(host) = self.nodes.as_host(node) else { continue };
            for (place, dst, receiver) in host.core.pairs() {
                let flow = numbers.first_sending[node as usize] + place;
                let first = numbers.first_receiving[dst as usize];
                let end = numbers.first_receiving[dst as usize + 1];
                if let Some(known) = numbers.of_receiving[first..end].get_mut(receiver) {
                    *known = flow;
                }
            }
        }
    }
}
