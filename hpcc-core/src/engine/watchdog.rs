// SPDX-License-Identifier: MIT OR Apache-2.0
//! NICs that pause without end, and what switches do about a pause that lasts too long.

use super::agenda::Item;
use super::alarms::Duty;
use super::holds::Queue;
use super::nodes::Held;
use super::observer::Sight;
use super::state::Engine;
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::recurrence::recurs;
use crate::switch::{WatchdogAction, WatchdogConfig};
use crate::units::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A pause that lasted too long, at a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Storm {
    /// What was paused.
    pub queue: Queue,
    /// When it was found.
    pub begin: Nanos,
    /// When the pause counted again; `None`: the run ended before.
    pub end: Option<Nanos>,
    /// Packets that were dropped meanwhile.
    pub packets: u64,
    /// Their bytes, as they are on links.
    pub bytes: u64,
}

/// What a watchdog knows of a priority at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    /// Since when the far end pauses it.
    since: Option<u64>,
    /// When the far end resumed.
    resumed: u64,
    /// The place of the storm that lasts.
    storm: Option<usize>,
}

/// All watchdogs.
#[derive(Debug, Default)]
pub(super) struct Watchdogs {
    watched: BTreeMap<(PortId, u8), Watched>,
    storms: Vec<Storm>,
}

impl WatchdogConfig {
    fn next_look(&self, at: Nanos) -> Nanos {
        if self.poll == Nanos(0) { at } else { Nanos(at.0.next_multiple_of(self.poll.0)) }
    }
}

impl Engine {
    /// The NICs of a host pause a priority from one time to another, whatever arrives. Where several such times overlap, they pause
    /// as long as one of them lasts.
    pub fn storm(&mut self, node: u32, priority: u8, from: Nanos, until: Option<Nanos>) {
        let ports = self.fabric.ports(node).len();
        let host = self.nodes.host(node);
        host.held.resize_with(ports, Held::default);
        for (at, pause) in [(Some(from), true), (until, false)] {
            if let Some(at) = at {
                self.agenda_at(at, Item::Storm { node, priority, pause });
            }
        }
    }

    pub(super) fn on_storm(&mut self, node: u32, priority: u8, pause: bool) {
        if !self.parts.is_own(node) {
            return;
        }
        for port in 0..self.fabric.ports(node).len() as u16 {
            let change = |held: &mut Held| {
                let storms = &mut held.storms[usize::from(priority)];
                *storms = if pause { storms.saturating_add(1) } else { storms.saturating_sub(1) };
            };
            self.change_pause(node, port, priority, change);
        }
    }

    /// Storms so far, of switches that run here.
    pub fn storms(&self) -> &[Storm] {
        &self.watchdogs.storms
    }

    fn watchdog(&self, p: PortId) -> Option<WatchdogConfig> {
        self.nodes.as_switch(self.all.ports[p].node)?.core.watchdog()
    }

    /// The far end of a port pauses or resumes; `false`: that counts for nothing as long as a storm lasts.
    pub(super) fn hear_watchdog(&mut self, p: PortId, priority: u8, pause: bool) -> bool {
        let Some(config) = self.watchdog(p) else { return true };
        let (now, node) = (self.events.now(), self.all.ports[p].node);
        let known = self.watchdogs.watched.entry((p, priority)).or_default();
        if !pause {
            (known.since, known.resumed) = (None, now.0);
        } else if known.since.is_none() {
            known.since = Some(now.0);
        }
        let lasts = known.storm.is_some();
        // While a storm lasts, the next look is at its end.
        if pause != lasts {
            let wait = if lasts { config.restore } else { config.after };
            self.schedule(node, Duty::Watchdog(p, priority), config.next_look(now + wait));
        }
        !lasts || config.action == WatchdogAction::Alert
    }

    /// A pause may have lasted too long, or a storm be over.
    pub(super) fn on_watchdog(&mut self, p: PortId, priority: u8) {
        let now = self.events.now();
        let Some((config, known)) = self.watchdog(p).zip(self.watchdogs.watched.get_mut(&(p, priority))) else {
            return;
        };
        match (known.storm, known.since) {
            (Some(storm), None) if now.0 >= known.resumed + config.restore.0 => {
                known.storm = None;
                self.watchdogs.storms[storm].end = Some(now);
                let port = &mut self.all.ports[p];
                port.dropping &= !(1 << priority);
                port.paused &= !(1 << priority);
                self.tell_pause(p);
                self.try_send(p);
            }
            (None, Some(since)) if now.0 >= since + config.after.0 => self.begin_storm(p, priority, config.action),
            _ => {}
        }
    }

    fn begin_storm(&mut self, p: PortId, priority: u8, action: WatchdogAction) {
        let port = &mut self.all.ports[p];
        let queue = Queue { node: port.node, port: port.number, priority };
        let storm = Storm { queue, begin: self.events.now(), end: None, packets: 0, bytes: 0 };
        let place = self.watchdogs.storms.len();
        self.watchdogs.storms.push(storm);
        self.watchdogs.watched.entry((p, priority)).or_default().storm = Some(place);
        match action {
            WatchdogAction::Off | WatchdogAction::Alert => {}
            WatchdogAction::Forward => {
                port.paused &= !(1 << priority);
                self.tell_pause(p);
                self.try_send(p);
            }
            WatchdogAction::Drop => self.drop_waiting(p, priority),
        }
    }

    fn drop_waiting(&mut self, p: PortId, priority: u8) {
        self.all.ports[p].dropping |= 1 << priority;
        while let Some(f) = self.all.ports[p].pop(&self.all.frames, priority) {
            self.count_drop(p, f);
            self.discard_queued(p, f, Sight::LinkDrop, true);
        }
    }

    fn count_drop(&mut self, p: PortId, f: FrameId) {
        let frame = self.all.frames.get(f);
        let storm = self.watchdogs.watched.get(&(p, frame.priority & 7)).and_then(|known| known.storm);
        if let Some(storm) = storm {
            let storm = &mut self.watchdogs.storms[storm];
            storm.packets += 1;
            storm.bytes += u64::from(frame.size);
        }
    }

    /// The link of a port has come up, upon which nothing is paused.
    pub(super) fn forget_pauses(&mut self, p: PortId) {
        let now = self.events.now();
        self.all.ports[p].dropping = 0;
        for priority in 0..8 {
            let known = self.watchdogs.watched.remove(&(p, priority));
            if let Some(storm) = known.and_then(|known| known.storm) {
                self.watchdogs.storms[storm].end = Some(now);
            }
        }
    }

    /// Whether a frame that comes by a port is dropped, as its priority there is stormed.
    pub(super) fn is_stormed(&mut self, p: PortId, f: FrameId) -> bool {
        let (port, frame) = (&self.all.ports[p], self.all.frames.get(f));
        let is_it = frame.kind != PacketKind::Pfc && (port.paused & port.dropping) >> (frame.priority & 7) & 1 != 0;
        if is_it {
            self.drop_in_storm(port.node, p, f);
        }
        is_it
    }

    /// A frame has come for a queue whose frames are dropped.
    pub(super) fn drop_in_storm(&mut self, node: u32, p: PortId, f: FrameId) {
        self.count_drop(p, f);
        self.drop_at_switch(node, f, |counts| &mut counts.overflows);
    }
}

recurs! { Watchdogs { watched: size, storms: size, } }
