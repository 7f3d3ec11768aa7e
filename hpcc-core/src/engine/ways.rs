// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way of a flow's frames, found once: a hash and three tables less at each switch.

use crate::switch::FlowKey;

/// Ports of so many switches are remembered.
pub(super) const KNOWN: usize = 8;
/// A port that is not known, or beyond those that a byte names.
pub(super) const UNKNOWN: u8 = u8::MAX;
/// The ports by which frames leave the first switches on their way.
pub(super) type Ports = [u8; KNOWN];

/// A way, as long as routes and the flow's ports stay as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub key: FlowKey,
    pub version: u32,
    pub ports: Ports,
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
