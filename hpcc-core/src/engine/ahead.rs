// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the next events need is loaded together. In a large network a frame has left the caches by the time it arrives, and one
//! event after the other would wait for memory.

use super::events::{Event, What};
use super::state::Engine;
use core::hint::black_box;

/// Up to so many frames stay in the caches.
const FEW: usize = 8_192;

impl Engine {
    /// Loads what the next events need, once for every few of them.
    #[inline]
    pub(super) fn look_ahead(&self) {
        let ahead = self.events.ahead();
        if ahead.len() > 1 && self.frames.count() > FEW {
            self.load(ahead);
        }
    }

    /// First what an event names, then what stands there: loads of one step do not wait for each other.
    #[inline(never)]
    fn load(&self, ahead: &[Event]) {
        let mut sum = 0;
        for event in ahead {
            sum ^= match event.what {
                What::Arrival(f) => self.frames.load(f),
                What::End(p) => self.ports[p as usize].load(),
                What::Alarm(_) | What::Agenda(_) => 0,
            };
        }
        black_box(sum);
        for event in ahead {
            sum ^= match event.what {
                What::Arrival(f) => self.load_way(f),
                What::End(p) => self.ports[p as usize].head().map_or(0, |head| self.frames.load(head)),
                What::Alarm(_) | What::Agenda(_) => 0,
            };
        }
        black_box(sum);
    }

    /// Where a frame arrives, and where it goes from there if that is known.
    #[inline]
    fn load_way(&self, f: u32) -> u32 {
        let frame = self.frames.get(f);
        let arrives = self.ports[self.place(frame.node, frame.in_port) as usize].load();
        let Some(egress) = frame.next_port() else { return arrives };
        let place = self.place(frame.node, egress) as usize;
        arrives ^ self.ports.get(place).map_or(0, |port| port.load())
    }
}
