// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way of a flow's frames, found once: a hash and three tables less at each switch.

use super::Engine;
use crate::switch::FlowKey;

/// Ports of so many switches are remembered.
pub(super) const KNOWN: usize = 8;
/// A port that is not known.
pub(super) const UNKNOWN: u16 = u16::MAX;
/// The ports by which frames leave the first switches on their way.
pub(super) type Ports = [u16; KNOWN];

/// A way, as long as routes and the flow's ports stay as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    key: FlowKey,
    version: u32,
    ports: Ports,
}

impl Default for Way {
    /// None is known.
    fn default() -> Way {
        Way { key: FlowKey::default(), version: u32::MAX, ports: [UNKNOWN; KNOWN] }
    }
}

impl Way {
    /// The ports for frames with this key.
    #[inline]
    pub fn ports(&self, version: u32, key: &FlowKey) -> Option<Ports> {
        (self.version == version && self.key == *key).then_some(self.ports)
    }
}

impl Engine {
    /// The way of frames with this key from a host's port to node `dst`.
    #[cold]
    pub(super) fn find_way(&mut self, p: u32, dst: u32, key: &FlowKey) -> Way {
        let mut ports = [UNKNOWN; KNOWN];
        let mut node = self.ports[p as usize].peer;
        for port in &mut ports {
            if node == dst || !self.fabric.is_switch(node) {
                break;
            }
            let Some(egress) = self.nodes.switch(node).core.egress(dst, key) else { break };
            *port = egress;
            node = self.ports[self.place(node, egress) as usize].peer;
        }
        Way { key: *key, version: self.version, ports }
    }
}
