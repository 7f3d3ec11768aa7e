// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of flows that forgets expired ones.

use crate::balance::FlowKey;
use crate::units::Nanos;
use alloc::collections::BTreeMap;

/// Flows remembered before expired ones are looked for.
const FEW: usize = 256;

/// Flows by key; expired ones are forgotten.
#[derive(Debug)]
pub struct Flows<T> {
    flows: BTreeMap<FlowKey, (Nanos, T)>,
    room: usize,
}

impl<T: Copy> Flows<T> {
    pub fn put(&mut self, key: FlowKey, now: Nanos, flow: T, expiry: Nanos) {
        if self.flows.len() >= self.room {
            self.flows.retain(|_, &mut (last, _)| (now - last).0 / 2 <= expiry.0);
            self.room = FEW.max(2 * self.flows.len());
        }
        self.flows.insert(key, (now, flow));
    }

    /// A flow and the time of its last packet.
    pub fn get(&self, key: &FlowKey) -> Option<(Nanos, T)> {
        self.flows.get(key).copied()
    }

    pub fn get_mut(&mut self, key: &FlowKey) -> Option<&mut T> {
        self.flows.get_mut(key).map(|(_, flow)| flow)
    }
}

impl<T> Default for Flows<T> {
    fn default() -> Self {
        Flows { flows: BTreeMap::new(), room: FEW }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows that are over take no memory, and what is left of one has no effect.
    #[test]
    fn what_is_over_is_forgotten() {
        let mut flows = Flows::default();
        for n in 0..10_000 {
            flows.put(FlowKey { src_address: n, ..FlowKey::default() }, Nanos(n.into()), (), Nanos(10));
        }
        assert!(flows.flows.len() <= FEW, "{}", flows.flows.len());
        assert!(flows.get(&FlowKey { src_address: 9_990, ..FlowKey::default() }).is_some());
    }
}
