// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network whose parts run side by side, each by an engine of its own.
//!
//! Each engine knows the whole network and runs the nodes that are its own. What concerns no node - flows that begin, links that
//! fail, samples - happens in all engines alike. Between two windows they meet: frames that leave one part go to the other, and
//! all hear which queue pairs are closed.

use super::frames::Crossings;
use super::run::Stop;
use super::state::Engine;
use super::work::Incoming;
use crate::units::Nanos;
use alloc::vec::Vec;

/// What one part tells another between two windows. It is emptied where it arrives, to be used again.
#[derive(Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parcel {
    pub(super) frames: Crossings,
    /// Receiving queue pairs that are to be closed, by host.
    pub(super) closings: Vec<(u32, u32)>,
    /// Messages of jobs that will arrive, by receiving queue pair.
    pub(super) messages: Vec<(u32, (u32, u64), Incoming)>,
}

impl Parcel {
    /// How many frames are in it.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.frames() == 0 && self.closings.is_empty() && self.messages.is_empty()
    }
}

/// What a part, or all of them, have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartState {
    /// When the next event is; `None` if there is none.
    pub next: Option<Nanos>,
    /// Whether somebody cannot go on.
    pub is_faulty: bool,
}

impl PartState {
    /// What two parts have to do.
    pub fn and(self, other: PartState) -> PartState {
        let next = self.next.into_iter().chain(other.next).min();
        PartState { next, is_faulty: self.is_faulty || other.is_faulty }
    }
}

/// The other parts.
pub trait Peers {
    /// Waits until all parts are here. `parcels[n]` goes to part n, and becomes what part n has for this one. Returns what all
    /// parts have to do.
    fn meet(&mut self, state: PartState, parcels: &mut [Parcel]) -> PartState;
}

/// There are none.
struct Nobody;

impl Peers for Nobody {
    fn meet(&mut self, state: PartState, _: &mut [Parcel]) -> PartState {
        state
    }
}

/// Which nodes are of which part.
#[derive(Default)]
pub(super) struct Parts {
    /// By node; nothing if there is one part.
    of_node: Vec<u32>,
    own: u32,
    /// The shortest delay of a link that leads from one part to another.
    delay: Nanos,
    /// Before this time nothing comes from others.
    quiet_until: Nanos,
    /// For each other part.
    parcels: Vec<Parcel>,
}

impl Parts {
    /// Whether a node is run here.
    #[inline]
    pub fn is_own(&self, node: u32) -> bool {
        self.of_node.get(node as usize).is_none_or(|&part| part == self.own)
    }

    /// What goes to the part of a node.
    #[inline]
    pub fn parcel_to(&mut self, node: u32) -> &mut Crossings {
        &mut self.parcels[self.of_node[node as usize] as usize].frames
    }

    /// Whether others run other parts.
    pub fn are_several(&self) -> bool {
        !self.of_node.is_empty()
    }

    /// When the first frame arrives that leaves this part.
    pub fn next_time(&self) -> Option<Nanos> {
        self.parcels.iter().filter_map(|parcel| parcel.frames.first_at()).min()
    }

    /// Routes have changed: frames on their way to others are routed anew.
    pub fn forget_paths(&mut self) {
        self.parcels.iter_mut().for_each(|parcel| parcel.frames.forget_paths());
    }

    /// The part of a host will hear that a message is on its way there.
    pub fn tell_message(&mut self, host: u32, place: (u32, u64), incoming: Incoming) {
        self.parcels[self.of_node[host as usize] as usize].messages.push((host, place, incoming));
    }

    /// All other parts will hear that a receiving queue pair is closed.
    pub fn tell_closing(&mut self, host: u32, receiver: u32) {
        let own = self.own;
        let others = (0..).zip(&mut self.parcels).filter(|&(part, _)| part != own);
        others.for_each(|(_, parcel)| parcel.closings.push((host, receiver)));
    }
}

impl Engine {
    /// Runs the nodes of one part only: `of_node` says of which part each node is. Other engines, with the same network, flows and
    /// link failures, run the others. Returns whether that is possible: not in insertion order.
    pub fn run_part(&mut self, of_node: &[u32], own: u32) -> bool {
        if !self.is_canonical() {
            return false;
        }
        let count = of_node.iter().max().map_or(1, |&last| last + 1);
        let parcels = (0..count).map(|_| Parcel::default()).collect();
        let part = |node: u32| of_node.get(node as usize);
        let cut = self.fabric.network().links.iter().filter(|link| part(link.a) != part(link.b));
        let delay = cut.map(|link| link.delay).min().unwrap_or(Nanos(u64::MAX));
        self.parts = Parts { of_node: of_node.into(), own, delay, quiet_until: Nanos(0), parcels };
        for (flight, port) in self.all.flights.iter_mut().zip(self.all.ports.iter()) {
            flight.has_rules |= !self.parts.is_own(port.node);
        }
        true
    }

    /// Runs all events before `end`, unless something comes in between.
    pub fn run_until(&mut self, end: Nanos) -> Stop {
        if self.skips() {
            return self.run_skipping(end);
        }
        self.run_beside(&mut Nobody, end)
    }

    /// The same as one part of several.
    pub fn run_beside(&mut self, peers: &mut dyn Peers, end: Nanos) -> Stop {
        loop {
            let state = self.part_state();
            let all = peers.meet(state, self.parcels());
            if let Some(stop) = self.run_window(all, end) {
                return stop;
            }
        }
    }

    /// What this part has to do.
    pub fn part_state(&mut self) -> PartState {
        PartState { next: self.next_time(), is_faulty: self.fault.is_some() }
    }

    /// What it has for other parts, by number: at a meeting this becomes what they have for it.
    pub fn parcels(&mut self) -> &mut [Parcel] {
        &mut self.parts.parcels
    }

    /// Runs from one meeting, where `all` is what all parts have to do, to the next. Returns why it stops before, if it does: all
    /// parts stop alike.
    pub fn run_window(&mut self, all: PartState, end: Nanos) -> Option<Stop> {
        self.unpack();
        if all.is_faulty {
            return Some(Stop::Fault);
        }
        let Some(mut next) = all.next.filter(|&next| next < end) else { return Some(Stop::Time) };
        self.begin_window(next);
        loop {
            self.step(next, end);
            if let Some(stop) = self.pause.take() {
                return Some(stop);
            }
            if !self.parts.are_several() {
                return None;
            }
            let own = self.next_time().unwrap_or(end).min(end);
            if own >= self.parts.quiet_until {
                return None;
            }
            if own == end {
                return Some(Stop::Time);
            }
            next = own;
        }
    }

    /// All parts begin at a time, before which they have met.
    fn begin_window(&mut self, next: Nanos) {
        if next >= self.windows.end() {
            self.end_window(next);
        }
        self.parts.quiet_until = self.windows.end().min(Nanos(next.0.saturating_add(self.parts.delay.0)));
    }

    /// Until when events may run that are before `end`: not where others may still tell of some.
    pub(super) fn limit_of(&self, end: Nanos) -> Nanos {
        let quiet = if self.parts.are_several() { self.parts.quiet_until } else { self.windows.end() };
        end.min(quiet)
    }

    /// Takes in what other parts have for this one.
    fn unpack(&mut self) {
        let mut parcels = core::mem::take(&mut self.parts.parcels);
        for parcel in &mut parcels {
            self.flows.closings.append(&mut parcel.closings);
            for (host, place, incoming) in parcel.messages.drain(..) {
                self.expect_message(host, place, incoming);
            }
            parcel.frames.unload(&mut self.all.frames, |port, frame| {
                let flight = &mut self.all.flights[port];
                if flight.push(frame) {
                    self.groups.note_port(self.groups.of(self.all.ports[port].node), port, frame.at);
                }
            });
        }
        self.parts.parcels = parcels;
    }
}

const _: () = {
    const fn can_move_to_another_thread<T: Send>() {}
    can_move_to_another_thread::<Engine>();
};
