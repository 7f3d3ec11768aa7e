// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path of a flow's frames, looked up once: saves a hash and three tables at each switch.

use super::state::Engine;
use crate::ids::{FrameId, PortId};
use crate::switch::{Arriving, FlowKey};

/// Ports of so many switches are remembered.
pub(super) const KNOWN: usize = 8;
/// A port that is not known, or beyond those that a byte names.
pub(super) const UNKNOWN: u8 = u8::MAX;
/// Egress ports at the first switches of a path.
pub(super) type Ports = [u8; KNOWN];

/// The path of frames with one key; valid as long as routes keep their `version`.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownPath {
    pub key: FlowKey,
    pub version: u32,
    pub ports: Ports,
}

impl Default for KnownPath {
    /// None is known.
    fn default() -> KnownPath {
        KnownPath { key: FlowKey::default(), version: u32::MAX, ports: [UNKNOWN; KNOWN] }
    }
}

impl KnownPath {
    /// The ports for frames with this key.
    #[inline]
    pub fn ports(&self, version: u32, key: &FlowKey) -> Option<Ports> {
        (self.version == version && self.key == *key).then_some(self.ports)
    }
}

impl Engine {
    /// Writes the path of its queue pair into a data frame.
    #[inline]
    pub(super) fn route_data(&mut self, p: PortId, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (queue_pair, dst, key) = (frame.reply_queue_pair, frame.dst, frame.key());
        let Some(&mut path) = self.nodes.host(node).traffic.path(queue_pair) else { return };
        let ports = path.ports(self.version, &key).unwrap_or_else(|| {
            let path = self.find_path(p, dst, &key, true);
            if let Some(known) = self.nodes.host(node).traffic.path(queue_pair) {
                *known = path;
            }
            path.ports(self.version, &key).unwrap_or([UNKNOWN; KNOWN])
        });
        self.all.frames.get_mut(f).ports = ports;
    }

    /// Writes the path back into the answer of a receiving queue pair, which leaves by a port.
    #[inline]
    pub(super) fn route_answer(&mut self, node: u32, port: u16, receiver: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (dst, key) = (frame.dst, frame.key());
        let path = *self.nodes.host(node).traffic.path_back(receiver);
        let ports = path.ports(self.version, &key).unwrap_or_else(|| {
            let path = self.find_path(self.port_id(node, port), dst, &key, false);
            *self.nodes.host(node).traffic.path_back(receiver) = path;
            path.ports(self.version, &key).unwrap_or([UNKNOWN; KNOWN])
        });
        self.all.frames.get_mut(f).ports = ports;
    }

    /// The path of frames with this key from a host's port to node `dst`, up to the first switch that may choose for each packet.
    #[cold]
    fn find_path(&mut self, p: PortId, dst: u32, key: &FlowKey, is_data: bool) -> KnownPath {
        let frame = Arriving { dst, key: *key, is_data, ..Arriving::default() };
        let mut ports = [UNKNOWN; KNOWN];
        let mut node = self.all.ports[p].peer_node;
        for port in &mut ports {
            if node == dst || !self.fabric.is_switch(node) {
                break;
            }
            // A choice that is kept draws nothing.
            let rng = self.chance.rngs.arriving(p);
            let Some(egress) = self.nodes.switch(node).core.kept_egress(&frame, rng) else { break };
            *port = u8::try_from(egress).unwrap_or(UNKNOWN);
            node = self.all.ports[self.port_id(node, egress)].peer_node;
        }
        KnownPath { key: *key, version: self.version, ports }
    }
}
