// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which keys the receivers of a host have, for a process that does not simulate the host.

use super::slab::Slab;

/// The keys of a host's receivers, without the receivers: those that [`Host::open_receiver`](super::Host::open_receiver) gives
/// if it is called, and receivers are closed, in the same order.
#[derive(Clone, Debug, Default)]
pub struct ReceiverKeys(Slab<()>);

impl ReceiverKeys {
    /// The key of the next receiver; `None` if the host has no room for another.
    pub fn open(&mut self) -> Option<u32> {
        self.0.insert(())
    }

    /// The receiver with this key is closed.
    pub fn close(&mut self, receiver: u32) {
        self.0.remove(receiver);
    }
}
