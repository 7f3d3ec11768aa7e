// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pauses that end by themselves: each holds for so many quanta, and whoever pauses repeats it half-way as long as it is needed.

use super::alarms::Duty;
use super::port::Port;
use super::state::Engine;
use crate::ids::PortId;
use crate::recurrence::recurs;
use crate::units::{Nanos, Rounding};
use alloc::collections::BTreeMap;

/// Bytes of a quantum of 512 bit times.
const QUANTUM: u32 = 64;

/// What ports have to know of pauses that end.
#[derive(Debug, Default)]
pub(super) struct Quanta {
    /// For how many quanta a pause holds; `None`: until the resume.
    pub of_pause: Option<u32>,
    /// When a port repeats its pause of a priority.
    repeats: BTreeMap<(PortId, u8), Nanos>,
    /// When the pause of a priority is over that a port has heard.
    ends: BTreeMap<(PortId, u8), Nanos>,
}

impl Quanta {
    pub fn new(of_pause: Option<u32>) -> Quanta {
        Quanta { of_pause, ..Quanta::default() }
    }
}

impl Engine {
    /// For how long a pause holds the far end of a port.
    fn pause_time(&self, p: PortId) -> Option<Nanos> {
        let quanta = self.quanta.of_pause?;
        Some(self.all.ports[p].rate.tx_time(QUANTUM.saturating_mul(quanta), Rounding::Nearest))
    }

    /// A port sends a pause or a resume.
    pub(super) fn note_sent_pause(&mut self, p: PortId, priority: u8, pause: bool) {
        self.totals.pauses_sent += u64::from(pause);
        let Some(time) = self.pause_time(p) else { return };
        if !pause {
            self.quanta.repeats.remove(&(p, priority));
            return;
        }
        let at = self.events.now() + Nanos((time.0 / 2).max(1));
        self.quanta.repeats.insert((p, priority), at);
        self.schedule(self.all.ports[p].node, Duty::RepeatPause(p, priority), at);
    }

    /// A port repeats its pause, if that is needed still.
    pub(super) fn on_repeat_pause(&mut self, p: PortId, priority: u8) {
        if self.quanta.repeats.get(&(p, priority)) != Some(&self.events.now()) {
            return;
        }
        self.quanta.repeats.remove(&(p, priority));
        let &Port { node, number, is_host, is_up, .. } = &self.all.ports[p];
        if !is_up {
            return;
        }
        if is_host {
            let pauses = |held: &super::nodes::Held| held.pauses(priority);
            if self.nodes.host(node).held.get(usize::from(number)).is_some_and(pauses) {
                self.put_nic_pfc(p, priority, true);
            }
        } else if self.nodes.switch(node).core.paused(number) >> priority & 1 != 0 {
            self.put_pfc(p, priority, true);
        }
    }

    /// A port hears a pause or a resume.
    pub(super) fn note_heard_pause(&mut self, p: PortId, priority: u8, pause: bool) {
        let Some(time) = self.pause_time(p) else { return };
        if !pause {
            self.quanta.ends.remove(&(p, priority));
            return;
        }
        let at = self.events.now() + time;
        self.quanta.ends.insert((p, priority), at);
        self.schedule(self.all.ports[p].node, Duty::EndPause(p, priority), at);
    }

    /// The pause that a port has heard is over, unless another one has come since.
    pub(super) fn on_end_pause(&mut self, p: PortId, priority: u8) {
        if self.quanta.ends.get(&(p, priority)) == Some(&self.events.now()) {
            self.quanta.ends.remove(&(p, priority));
            self.hear_pfc(p, priority, false);
        }
    }

    /// The link of a port has come up.
    pub(super) fn forget_quanta(&mut self, p: PortId) {
        (0..8).for_each(|priority| _ = self.quanta.ends.remove(&(p, priority)));
    }
}

recurs! { Quanta { of_pause: constant, repeats: size, ends: size, } }
