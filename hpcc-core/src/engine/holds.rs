// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which priorities nodes pause by PFC, what their frames wait for meanwhile, and circles of nodes that wait for each other.

use super::state::Engine;
use crate::units::Nanos;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// A priority at a port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Queue {
    /// The node.
    pub node: u32,
    /// The port, counted from 0.
    pub port: u16,
    /// The priority.
    pub priority: u8,
}

/// A node pauses or resumes the far end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hold {
    /// The present time.
    pub now: Nanos,
    /// What came in there is more than the node takes.
    pub queue: Queue,
    /// Pauses, or resumes.
    pub pause: bool,
    /// Where most of that would leave; `None` at a host.
    pub egress: Option<u16>,
    /// That port may not send, for the far end pauses this one.
    pub because: Option<Queue>,
}

/// What came in somewhere that a switch pauses waits for the resumes of these; `None`: for a port that may send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wait {
    /// Where it came in.
    pub queue: Queue,
    /// By each port that it would leave by.
    pub resumes: Vec<Option<Queue>>,
}

/// Queues each of which waits for the next, and the last for the first: a deadlock. Nothing, if some of all that wait can go on.
pub fn circle(waits: &[Wait]) -> Vec<Queue> {
    let mut stuck: BTreeMap<Queue, &Wait> = waits.iter().map(|wait| (wait.queue, wait)).collect();
    loop {
        let can_go_on = |wait: &&Wait| {
            wait.resumes.is_empty()
                || wait.resumes.iter().any(|next| next.is_none_or(|next| !stuck.contains_key(&next)))
        };
        let free: BTreeSet<Queue> = stuck.values().filter(|wait| can_go_on(wait)).map(|wait| wait.queue).collect();
        if free.is_empty() {
            break;
        }
        stuck.retain(|queue, _| !free.contains(queue));
    }
    let mut walk: Vec<Queue> = Vec::new();
    let mut at = stuck.keys().next().copied();
    while let Some(queue) = at {
        if let Some(first) = walk.iter().position(|&other| other == queue) {
            return walk.split_off(first);
        }
        walk.push(queue);
        at = stuck[&queue].resumes.iter().flatten().next().copied();
    }
    walk
}

impl Engine {
    /// Tells the observer of pauses by those who send them, too.
    pub fn watch_holds(&mut self) {
        self.watchers.tells_holds = true;
    }

    /// A node pauses or resumes.
    pub(super) fn hold(&mut self, node: u32, port: u16, priority: u8, pause: bool) {
        self.watchers.has_held = true;
        if !self.watchers.tells_holds {
            return;
        }
        let queue = Queue { node, port, priority };
        let most = self.egresses(queue).max_by_key(|&(egress, bytes)| (bytes, u16::MAX - egress));
        let egress = most.filter(|_| pause).map(|(egress, _)| egress);
        let because = egress.and_then(|egress| self.paused_by(node, egress, priority));
        let hold = Hold { now: self.events.now(), queue, pause, egress, because };
        if let Some(observer) = &mut self.watchers.observer {
            observer.on_hold(&hold);
        }
    }

    /// Where bytes leave a switch that came in there, and how many wait; nothing at a host.
    fn egresses(&self, queue: Queue) -> impl Iterator<Item = (u16, u64)> + '_ {
        let ports = self.nodes.as_switch(queue.node).map_or(0, |switch| switch.core.ports());
        (0..ports).filter_map(move |egress| {
            let port = &self.all.ports[self.port_id(queue.node, egress)];
            let bytes = port.bytes_from(&self.all.frames, queue.priority, queue.port);
            (bytes > 0).then_some((egress, bytes))
        })
    }

    /// Who pauses a port's priority, if somebody does.
    fn paused_by(&self, node: u32, port: u16, priority: u8) -> Option<Queue> {
        let port = &self.all.ports[self.port_id(node, port)];
        let far = &self.all.ports[port.peer];
        (port.paused >> priority & 1 != 0).then_some(Queue { node: far.node, port: far.number, priority })
    }

    /// What waits at switches that pause others and are paused themselves. A network is in a deadlock if it has a [circle] of
    /// these.
    pub fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for node in (0..self.first_port.len() as u32).filter(|&node| self.watchers.has_held && self.parts.is_own(node))
        {
            let Some(switch) = self.nodes.as_switch(node) else { continue };
            let ports = switch.core.ports();
            let pauses = (0..ports).fold(0, |bits, port| bits | switch.core.stops(port));
            let paused = (0..ports).fold(0, |bits, port| bits | self.all.ports[self.port_id(node, port)].paused);
            for priority in (0..8).filter(|priority| (pauses & paused) >> priority & 1 != 0) {
                self.waits_of(node, priority, &mut waits);
            }
        }
        waits.sort_by_key(|wait: &Wait| wait.queue);
        waits
    }

    /// What waits at a switch of one priority: each frame is looked at once.
    fn waits_of(&self, node: u32, priority: u8, waits: &mut Vec<Wait>) {
        let Some(switch) = self.nodes.as_switch(node) else { return };
        let ports = switch.core.ports();
        let mut resumes: Vec<Vec<Option<Queue>>> = alloc::vec![Vec::new(); ports.into()];
        // The last egress, counted from 1, by which something of an ingress leaves.
        let mut newest = alloc::vec![0; ports.into()];
        for egress in 0..ports {
            let resume = self.paused_by(node, egress, priority);
            let port = &self.all.ports[self.port_id(node, egress)];
            for ingress in port.ingresses(&self.all.frames, priority).map(usize::from) {
                if newest.get(ingress).is_some_and(|&newest| newest != egress + 1) {
                    newest[ingress] = egress + 1;
                    resumes[ingress].push(resume);
                }
            }
        }
        let is_paused = |&(port, _): &(u16, Vec<_>)| switch.core.stops(port) >> priority & 1 != 0;
        let wait = |(port, resumes)| Wait { queue: Queue { node, port, priority }, resumes };
        waits.extend((0..).zip(resumes).filter(is_paused).map(wait));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(node: u32) -> Queue {
        Queue { node, port: 0, priority: 3 }
    }

    fn waits(of: &[(u32, &[Option<u32>])]) -> Vec<Wait> {
        let wait = |&(node, next): &(u32, &[Option<u32>])| Wait {
            queue: queue(node),
            resumes: next.iter().map(|next| next.map(queue)).collect(),
        };
        of.iter().map(wait).collect()
    }

    #[test]
    fn only_those_that_all_wait_for_each_other_are_stuck() {
        let tail: (u32, &[Option<u32>]) = (9, &[Some(1)]);
        let stuck = waits(&[tail, (1, &[Some(2)]), (2, &[Some(3)]), (3, &[Some(1)])]);
        assert_eq!(circle(&stuck), [1, 2, 3].map(queue), "who waits for a circle is not part of it");
        for (free, why) in [
            (&[None, Some(1_u32)][..], "a port may send"),
            (&[Some(7), Some(1)], "somebody else will resume"),
            (&[], "nothing waits"),
        ] {
            assert_eq!(circle(&waits(&[tail, (1, &[Some(2)]), (2, &[Some(3)]), (3, free)])), [], "{why}");
        }
    }
}
