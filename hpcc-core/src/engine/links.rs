// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links that fail, or become worse, and come back.

use super::agenda::{Change, Item};
use super::nodes::SwitchNode;
use super::observer::Sight;
use super::run::Stop;
use super::state::Engine;
use crate::ids::PortId;
use crate::node::{Located, NodeSettings};
use crate::units::{BitRate, Nanos};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// What a link is for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Rate of each direction; `None`: its own.
    pub rate: Option<BitRate>,
    /// Probability that a bit is wrong, 0 to 1. Frames with wrong bits are discarded where they arrive.
    pub bit_errors: f64,
}

/// Links that fail at once, and who notices it when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFailure {
    /// From when on what is on them, or is put on them, is lost.
    pub time: Nanos,
    /// When they come up again; `None`: never.
    pub until: Option<Nanos>,
    /// By their places in the network; not empty.
    pub links: Vec<u32>,
    /// How long the nodes at their ends do not know that they have failed, or are there again.
    pub detection: Nanos,
    /// How long after that routes stay as they were.
    pub convergence: Nanos,
    /// The switch that is off meanwhile, if that is why they fail.
    pub reboots: Option<u32>,
}

impl LinkFailure {
    /// From when to when the nodes at their ends know; `None`: they are there again before.
    pub fn noticed(&self) -> Option<(Nanos, Option<Nanos>)> {
        let from = self.time + self.detection;
        let is_over = self.until.is_some_and(|until| until <= from);
        (!is_over).then(|| (from, self.until.map(|until| until + self.detection)))
    }

    /// Until when it has a say at the ends of its links; `None`: for ever.
    pub fn known_until(&self) -> Option<Nanos> {
        self.noticed().map_or(self.until, |(_, until)| until)
    }

    /// What changes when, if the links themselves do at a time. Pauses that were lost meanwhile are repeated also where nobody has
    /// noticed, as NICs and switches refresh them.
    fn steps(&self, at: Nanos, up: bool) -> Vec<(Nanos, Scope)> {
        if self.noticed().is_none() {
            return vec![(at, Scope { wire: true, ends: up, routes: false })];
        }
        let ends = at + self.detection;
        let routes = ends + self.convergence;
        let mut times = vec![at, ends, routes];
        times.dedup();
        let of = |time| Scope { wire: time == at, ends: time == ends, routes: time == routes };
        times.into_iter().map(|time| (time, of(time))).collect()
    }
}

/// What of links changes at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Whether frames arrive.
    pub wire: bool,
    /// What the nodes at their ends know.
    pub ends: bool,
    /// The routes of all nodes.
    pub routes: bool,
}

impl Scope {
    pub const ALL: Scope = Scope { wire: true, ends: true, routes: true };
}

impl Change {
    /// All of these links changes.
    fn told(links: &[u32], up: bool, is_told: bool) -> Change {
        Change { links: links.into(), up, scope: Scope::ALL, reboots: None, is_told }
    }
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

    /// Links fail, or come up, at a time; all notice it at once.
    pub fn change_links(&mut self, at: Nanos, links: &[u32], up: bool) {
        self.change_links_in(at, Change::told(links, up, false));
    }

    fn change_links_in(&mut self, at: Nanos, change: Change) {
        self.make_room();
        self.flows.keeps_queue_pairs = true;
        self.agenda_at(at, Item::Links(change));
    }

    /// Links fail, and come up where that is before `stop`.
    pub fn fail_links(&mut self, failure: &LinkFailure, stop: Nanos) {
        let until = failure.until.filter(|&until| until < stop);
        for (up, at) in [(false, Some(failure.time)), (true, until)] {
            for (at, scope) in at.into_iter().flat_map(|at| failure.steps(at, up)) {
                let reboots = failure.reboots.filter(|_| scope.wire && !up);
                self.change_links_in(at, Change { scope, reboots, ..Change::told(&failure.links, up, false) });
            }
        }
    }

    /// Links fail now, or come up. Returns those that changed.
    pub fn set_links(&mut self, links: &[u32], up: bool) -> Vec<u32> {
        self.make_room();
        self.on_links(&Change::told(links, up, true))
    }

    /// Links are to change, which have this rank among events: once the caller has asked for what depends on routes.
    pub(super) fn on_change(&mut self, change: Change, rank: u64) {
        if change.is_told || !self.announces_links || !change.scope.routes {
            self.on_links(&change);
            return;
        }
        self.pause = Some(Stop::Routes);
        // It counts when it happens.
        self.events_run -= u64::from(!self.is_canonical());
        self.add_item(self.events.now(), rank, Item::Links(Change { is_told: true, ..change }));
    }

    pub(super) fn on_links(&mut self, change: &Change) -> Vec<u32> {
        let Change { ref links, up, scope, reboots, .. } = *change;
        let now = self.events.now();
        let changed = match scope.routes {
            true => Arc::make_mut(&mut self.fabric).set_links(now, links, up),
            false => links.clone(),
        };
        if changed.is_empty() {
            return changed;
        }
        let ends = self.ends(&changed);
        if scope.wire {
            self.checks_arrivals = true;
            ends.iter().for_each(|&p| self.all.ports[p].is_whole = up);
        }
        if scope.routes {
            self.version += 1;
            self.all.frames.forget_paths();
            self.parts.forget_paths();
        }
        reboots.into_iter().for_each(|node| self.switch_off(node));
        for &p in &ends {
            if scope.ends {
                self.set_end(p, up);
            } else if scope.routes && !self.all.ports[p].is_up && self.all.ports[p].is_host {
                self.drop_at_host_port(p);
            }
        }
        if scope.routes {
            self.reroute();
        }
        for p in ends.into_iter().filter(|_| scope.ends && up) {
            if self.all.ports[p].is_host { self.repeat_nic_pauses(p) } else { self.repeat_pauses(p) }
        }
        changed
    }

    /// A node knows that the link of its port has failed, or is there again.
    fn set_end(&mut self, p: PortId, up: bool) {
        self.all.ports[p].set_up(up);
        if !up {
            self.forget_retries(p);
            self.clear(p);
        }
        if up || !self.leaks(p) {
            self.resume_all(p);
        }
    }

    /// Whether the switch at a link leaks memory when that fails, as the reference's do: ports then stay paused until it is there again.
    fn leaks(&mut self, p: PortId) -> bool {
        let port = &self.all.ports[p];
        let node = if port.is_host { port.peer_node } else { port.node };
        self.fabric.is_switch(node) && self.nodes.switch(node).leaks_on_link_down
    }

    /// A port forgets what the far end has paused.
    fn resume_all(&mut self, p: PortId) {
        let port = &mut self.all.ports[p];
        let paused = port.paused_by_pfc();
        port.set_paused_by_pfc(0);
        self.forget_pauses(p);
        self.forget_quanta(p);
        self.tell_pause(p);
        (0..8).filter(|priority| paused >> priority & 1 != 0).for_each(|priority| self.show_pause(p, priority, false));
    }

    /// Switches and hosts go by the present routes. Switches first: a host may send at once, and they must know the way by then.
    fn reroute(&mut self) {
        let nodes = self.fabric.network().nodes.len() as u32;
        for node in (0..nodes).filter(|&node| self.fabric.is_switch(node)) {
            self.nodes.switch(node).core.set_routes(self.fabric.table(node));
        }
        for node in 0..nodes {
            if !self.fabric.is_switch(node) {
                self.reroute_host(node);
            }
        }
    }

    /// A switch with these settings will reboot, once for each call.
    ///
    /// # Errors
    /// As of [`Engine::new`].
    pub fn will_reboot(&mut self, node: u32, settings: &NodeSettings, borders: &[(u32, u32)]) -> Result<(), Located> {
        let anew = self.make_switch(node, settings, borders)?;
        self.spares.push((node, anew));
        Ok(())
    }

    /// A switch loses what waits there, and all that it knows but its routes.
    fn switch_off(&mut self, node: u32) {
        let ports = self.fabric.ports(node).len() as u16;
        for p in (0..ports).map(|port| self.port_id(node, port)).collect::<Vec<_>>() {
            self.all.ports[p].set_up(false);
            self.forget_retries(p);
            self.clear_switch_port(p, true);
            self.resume_all(p);
        }
        let Some(place) = self.spares.iter().position(|&(of, _)| of == node) else { return };
        let (_, SwitchNode { mut core, extras, .. }) = self.spares.remove(place);
        core.set_routes(self.fabric.table(node));
        for port in 0..ports {
            core.set_rate(port, self.all.ports[self.port_id(node, port)].rate);
        }
        let switch = self.nodes.switch(node);
        (switch.core, switch.extras) = (core, extras);
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
            return self.clear_switch_port(p, false);
        }
        self.drop_at_host_port(p);
        let port = &self.all.ports[p];
        self.forget_held(port.node, port.number);
    }

    fn drop_at_host_port(&mut self, p: PortId) {
        while let Some(f) = self.all.ports[p].dequeue_any(&self.all.frames) {
            self.show(Sight::LinkDrop, p, f);
            self.all.frames.release(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_routes_follow_a_link_and_what_is_over_in_time_is_never_noticed() {
        let failure = LinkFailure {
            time: Nanos(100),
            until: Some(Nanos(500)),
            detection: Nanos(50),
            convergence: Nanos(7),
            ..LinkFailure::default()
        };
        let steps = |failure: &LinkFailure, up| {
            let at = if up { Nanos(500) } else { Nanos(100) };
            let told = |(at, Scope { wire, ends, routes }): (Nanos, Scope)| (at.0, [wire, ends, routes]);
            failure.steps(at, up).into_iter().map(told).collect::<Vec<_>>()
        };
        let [wire, ends, routes] = [[true, false, false], [false, true, false], [false, false, true]];
        assert_eq!(steps(&failure, false), [(100, wire), (150, ends), (157, routes)]);
        assert_eq!(steps(&failure, true), [(500, wire), (550, ends), (557, routes)]);
        let at_once = LinkFailure { detection: Nanos(0), convergence: Nanos(0), ..failure.clone() };
        assert_eq!(steps(&at_once, false), [(100, [true; 3])]);
        let slow = LinkFailure { detection: Nanos(400), ..failure.clone() };
        assert_eq!((slow.noticed(), slow.known_until()), (None, Some(Nanos(500))));
        assert_eq!(steps(&slow, false), [(100, wire)]);
        assert_eq!(steps(&slow, true), [(500, [true, true, false])], "pauses are refreshed");
        assert_eq!(LinkFailure { detection: Nanos(399), ..failure }.known_until(), Some(Nanos(899)));
    }
}
