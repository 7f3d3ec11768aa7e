// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links that fail, or become worse, and come back.

use super::agenda::{Change, Item};
use super::observer::Sight;
use super::run::Stop;
use super::state::Engine;
use crate::ids::PortId;
use crate::units::{BitRate, Nanos};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What a link is for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Rate of each direction; `None`: its own.
    pub rate: Option<BitRate>,
    /// Probability that a bit is wrong, 0 to 1. Frames with wrong bits are discarded where they arrive.
    pub bit_errors: f64,
}

impl Engine {
    /// Links become worse at a time, or are as they were before.
    pub fn change_quality(&mut self, at: Nanos, links: &[u32], quality: Quality) {
        self.agenda_at(at, Item::Quality(links.into(), quality));
    }

    /// Links become worse now, or are as they were before.
    pub fn set_quality(&mut self, links: &[u32], quality: Quality) {
        self.on_quality(links, quality);
    }

    /// Switches tell the new rate in records, and balance by it. All else that follows from rates stays.
    pub(super) fn on_quality(&mut self, links: &[u32], quality: Quality) {
        for p in self.ends(links) {
            let port = &mut self.all.ports[p];
            let (node, number) = (port.node, port.number);
            let link = self.fabric.ports(node)[usize::from(number)].link;
            let rate = quality.rate.unwrap_or(self.fabric.network().links[link as usize].rate);
            port.set_rate(rate);
            self.checks_arrivals |= self.chance.set_bit_errors(port, quality.bit_errors);
            if self.fabric.is_switch(node) {
                self.nodes.switch(node).core.set_rate(number, rate);
            }
        }
    }

    /// Frames may pass more switches than the longest path has.
    pub(super) fn make_room(&mut self) {
        if self.all.frames.room() < self.most_room {
            self.all.frames.widen(self.most_room);
        }
    }

    /// Pauses before links change from now on: for who asks of what has finished until then, and depends on routes.
    pub fn announce_links(&mut self) {
        self.announces_links = true;
    }

    /// Links fail, or come up, at a time.
    pub fn change_links(&mut self, at: Nanos, links: &[u32], up: bool) {
        self.make_room();
        self.flows.keeps_queue_pairs = true;
        self.agenda_at(at, Item::Links(Change { links: links.into(), up, is_told: false }));
    }

    /// Links fail now, or come up. Returns those that changed.
    pub fn set_links(&mut self, links: &[u32], up: bool) -> Vec<u32> {
        self.make_room();
        self.on_links(&Change { links: links.into(), up, is_told: true })
    }

    /// Links are to change, which have this rank among events: once the caller has asked for what depends on routes.
    pub(super) fn on_change(&mut self, change: Change, rank: u64) {
        if change.is_told || !self.announces_links {
            self.on_links(&change);
            return;
        }
        self.pause = Some(Stop::Routes);
        // It counts when it happens.
        self.events_run -= u64::from(!self.is_canonical());
        self.add_item(self.events.now(), rank, Item::Links(Change { is_told: true, ..change }));
    }

    pub(super) fn on_links(&mut self, change: &Change) -> Vec<u32> {
        let now = self.events.now();
        let changed = Arc::make_mut(&mut self.fabric).set_links(now, &change.links, change.up);
        if changed.is_empty() {
            return changed;
        }
        self.version += 1;
        self.checks_arrivals = true;
        self.all.frames.forget_paths();
        self.parts.forget_paths();
        let ends = self.ends(&changed);
        for &p in &ends {
            self.all.ports[p].is_up = change.up;
            if change.up {
                let paused = core::mem::take(&mut self.all.ports[p].paused);
                self.forget_pauses(p);
                self.tell_pause(p);
                (0..8)
                    .filter(|priority| paused >> priority & 1 != 0)
                    .for_each(|priority| self.show_pause(p, priority, false));
            } else {
                self.clear(p);
            }
        }
        // Switches first: a host may send at once, and they must know the way by then.
        let nodes = self.fabric.network().nodes.len() as u32;
        for node in (0..nodes).filter(|&node| self.fabric.is_switch(node)) {
            self.nodes.switch(node).core.set_routes(self.fabric.table(node));
        }
        for node in 0..nodes {
            if !self.fabric.is_switch(node) {
                self.reroute_host(node);
            }
        }
        for p in ends.into_iter().filter(|_| change.up) {
            if self.all.ports[p].is_host { self.repeat_nic_pauses(p) } else { self.repeat_pauses(p) }
        }
        changed
    }

    /// The ports at both ends of links.
    fn ends(&self, links: &[u32]) -> Vec<PortId> {
        let network = self.fabric.network();
        let at = |node: u32, link: u32| {
            let number = self.fabric.ports(node).iter().position(|port| port.link == link);
            number.map(|number| self.port_id(node, number as u16))
        };
        let of_link = |&link: &u32| {
            let ends = network.links.get(link as usize);
            ends.into_iter().flat_map(move |ends| [ends.a, ends.b]).filter_map(move |node| at(node, link))
        };
        links.iter().flat_map(of_link).collect()
    }

    /// What waits for a link that has failed is dropped.
    fn clear(&mut self, p: PortId) {
        if !self.all.ports[p].is_host {
            return self.clear_switch_port(p);
        }
        while let Some(f) = self.all.ports[p].dequeue_any(&self.all.frames) {
            self.show(Sight::LinkDrop, p, f);
            self.all.frames.release(f);
        }
        let port = &self.all.ports[p];
        self.forget_held(port.node, port.number);
    }
}
