// SPDX-License-Identifier: MIT OR Apache-2.0
//! What waits for its time: a timing wheel for the next microseconds, a heap behind it.
//!
//! Which of several events of one nanosecond comes first decides results. In [`Order::Insertion`] it is the one that was added
//! first, as in ns-3 and the 2019 simulator. In [`Order::Canonical`] it depends on each node alone: what concerns no node, then
//! at each node frames that arrive, by port, then the rest as it was added; nodes cannot affect each other within a nanosecond.

use crate::units::Nanos;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

crate::named! {
    /// Which of several events of the same nanosecond comes first.
    #[derive(Default)]
    pub enum Order {
        /// Each node's by port and by time of addition, whatever happens elsewhere.
        #[default]
        Canonical = "canonical",
        /// The one that was added first.
        Insertion = "insertion",
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A frame, by its place, arrives.
    Arrival(u32),
    /// A port, by its place, ends a transmission.
    End(u32),
    /// An alarm, by its place, goes off.
    Alarm(u32),
    /// Something that concerns no node.
    Agenda(u32),
}

/// An event, whose time is known from where it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// The node that it concerns; no node comes before all.
    node: u32,
    /// Its place among those of its time and node.
    rank: u64,
    pub what: What,
}

/// No node: its events come first in canonical order.
const NOBODY: u32 = 0;
/// Rank of what is no arrival, in canonical order.
const NO_ARRIVAL: u64 = 1 << 63;
/// Nanoseconds that the wheel spans.
const SPAN: usize = 4096;
/// Events that are looked at together.
const AHEAD: usize = 8;
const WORDS: usize = SPAN / 64;
/// A slot without events.
const NO_LIST: u32 = u32::MAX;

/// Events by time, and the present.
pub(super) struct Events {
    order: Order,
    now: u64,
    /// How many were added.
    added: u64,
    /// Those of the present time, of which `taken` are over.
    present: Vec<Event>,
    taken: usize,
    /// Whether the rest of the present ones are sorted.
    is_sorted: bool,
    /// The event that happens now.
    current: Event,
    /// For each time of the span, which of `lists` has its events.
    slots: Vec<u32>,
    occupied: [u64; WORDS],
    lists: Vec<Vec<Event>>,
    /// Lists without events, the one that was emptied last at the end: it is in the cache.
    spare: Vec<u32>,
    far: BinaryHeap<Reverse<(u64, Event)>>,
    /// When each node was last seen in canonical order, to sort only where it matters.
    seen: Vec<u64>,
}

impl Events {
    /// No events, for nodes 0 to `nodes` - 1.
    pub fn new(order: Order, nodes: usize) -> Events {
        Events {
            order,
            now: 0,
            added: 0,
            present: Vec::new(),
            taken: 0,
            is_sorted: true,
            current: Event { node: NOBODY, rank: 0, what: What::Agenda(0) },
            slots: vec![NO_LIST; SPAN],
            occupied: [0; WORDS],
            lists: Vec::new(),
            spare: Vec::new(),
            far: BinaryHeap::new(),
            seen: vec![u64::MAX; nodes + 1],
        }
    }

    /// The present time.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    pub fn order(&self) -> Order {
        self.order
    }

    /// Reserves a place among the events of a time for [`add_reserved`](Events::add_reserved).
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        self.added += 1;
        self.added
    }

    /// Adds the arrival of a frame at a port.
    #[inline]
    pub fn add_arrival(&mut self, at: u64, node: u32, port: u16, frame: u32) {
        let added = self.reserve();
        let rank = if self.order == Order::Canonical { port.into() } else { added };
        self.add(at, Event { node: node + 1, rank, what: What::Arrival(frame) });
    }

    /// Adds an event of a node; of one that has passed, the time is now.
    #[inline]
    pub fn add_alarm(&mut self, at: u64, node: u32, alarm: u32) {
        let rank = self.reserve();
        self.add(at.max(self.now), Event { node: node + 1, rank: self.late(rank), what: What::Alarm(alarm) });
    }

    /// Adds an event that concerns no node.
    pub fn add_agenda(&mut self, at: u64, item: u32) {
        let rank = self.reserve();
        self.add(at.max(self.now), Event { node: NOBODY, rank, what: What::Agenda(item) });
    }

    /// Adds an event that concerns no node, whose place was reserved.
    pub fn add_agenda_reserved(&mut self, at: u64, rank: u64, item: u32) {
        self.add_in_order(at, Event { node: NOBODY, rank, what: What::Agenda(item) });
    }

    /// Adds the end of a port's transmission, whose place was reserved, before that has passed.
    #[inline]
    pub fn add_reserved(&mut self, at: u64, rank: u64, node: u32, port: u32) {
        self.add_in_order(at, Event { node: node + 1, rank: self.late(rank), what: What::End(port) });
    }

    /// Whether an event with a reserved place would happen now, or would have happened.
    #[inline]
    pub fn has_passed(&self, at: u64, rank: u64, node: u32) -> bool {
        if at != self.now {
            return at < self.now;
        }
        let event = Event { node: node + 1, rank: self.late(rank), what: What::End(0) };
        self.key(&self.current) >= self.key(&event)
    }

    /// The rank of an event that is no arrival.
    #[inline]
    fn late(&self, rank: u64) -> u64 {
        if self.order == Order::Canonical { rank | NO_ARRIVAL } else { rank }
    }

    #[inline]
    fn key(&self, event: &Event) -> (u32, u64) {
        (if self.order == Order::Canonical { event.node } else { NOBODY }, event.rank)
    }

    #[inline]
    fn add(&mut self, at: u64, event: Event) {
        // What is added comes last, but in canonical order.
        if at == self.now {
            return self.add_now(event);
        }
        match self.list_of(at) {
            Some(list) => list.push(event),
            None => self.far.push(Reverse((at, event))),
        }
    }

    #[inline]
    fn add_in_order(&mut self, at: u64, event: Event) {
        if self.order == Order::Canonical || at == self.now {
            return self.add(at, event);
        }
        match self.list_of(at) {
            Some(list) => {
                let behind = list.iter().rposition(|other| other.rank < event.rank).map_or(0, |place| place + 1);
                list.insert(behind, event);
            }
            None => self.far.push(Reverse((at, event))),
        }
    }

    /// The list of a time behind the present one; `None` if that is beyond the wheel.
    #[inline]
    fn list_of(&mut self, at: u64) -> Option<&mut Vec<Event>> {
        if at - self.now >= SPAN as u64 {
            return None;
        }
        let place = at as usize % SPAN;
        if self.slots[place] == NO_LIST {
            self.slots[place] = self.spare.pop().unwrap_or_else(|| {
                self.lists.push(Vec::new());
                self.lists.len() as u32 - 1
            });
            self.occupied[place / 64] |= 1 << (place % 64);
        }
        self.lists.get_mut(self.slots[place] as usize)
    }

    #[cold]
    fn add_now(&mut self, event: Event) {
        if !self.is_sorted {
            self.sort();
        }
        let key = self.key(&event);
        let rest = &self.present[self.taken..];
        let place = self.taken + rest.partition_point(|other| self.key(other) <= key);
        self.present.insert(place, event);
    }

    fn sort(&mut self) {
        let is_canonical = self.order == Order::Canonical;
        let key = |event: &Event| (if is_canonical { event.node } else { NOBODY }, event.rank);
        self.present[self.taken..].sort_unstable_by_key(key);
        self.is_sorted = true;
    }

    /// The time of the next event; `None` if there is none.
    pub fn next_time(&self) -> Option<Nanos> {
        if self.taken < self.present.len() {
            return Some(self.now());
        }
        let far = self.far.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        let next = self.near().unwrap_or(u64::MAX).min(far);
        (next < u64::MAX).then_some(Nanos(next))
    }

    /// Takes the next event before a time.
    #[inline]
    pub fn next_before(&mut self, limit: Nanos) -> Option<What> {
        if self.taken == self.present.len() {
            let next = self.next_time().filter(|&next| next < limit)?;
            self.turn_to(next.0);
        }
        let event = *self.present.get(self.taken)?;
        self.current = event;
        self.taken += 1;
        Some(event.what)
    }

    /// The present one of every few events and those behind it.
    #[inline]
    pub fn ahead(&self) -> &[Event] {
        let taken = self.taken.wrapping_sub(1);
        if !taken.is_multiple_of(AHEAD) {
            return &[];
        }
        self.present.get(taken..(taken + AHEAD).min(self.present.len())).unwrap_or_default()
    }

    /// The next time that has events in the wheel.
    #[inline]
    fn near(&self) -> Option<u64> {
        let first = (self.now + 1) as usize % SPAN;
        let (word, bit) = (first / 64, first % 64);
        let mut steps = 0;
        let mut bits = self.occupied[word] >> bit;
        let mut step = 64 - bit;
        for next in word + 1..=word + WORDS {
            if bits != 0 {
                break;
            }
            steps += step;
            step = 64;
            bits = self.occupied[next % WORDS];
        }
        (bits != 0).then(|| self.now + 1 + (steps + bits.trailing_zeros() as usize) as u64)
    }

    /// The present becomes `time`, at which there are events.
    #[inline]
    fn turn_to(&mut self, time: u64) {
        self.now = time;
        self.present.clear();
        self.taken = 0;
        let place = time as usize % SPAN;
        let list = core::mem::replace(&mut self.slots[place], NO_LIST);
        if list != NO_LIST {
            self.occupied[place / 64] &= !(1 << (place % 64));
            core::mem::swap(&mut self.present, &mut self.lists[list as usize]);
            self.spare.push(list);
        }
        let has_far = self.take_far(time);
        self.is_sorted = self.order == Order::Insertion && !has_far;
        if !self.is_sorted && (has_far || self.has_several_of_a_node()) {
            self.sort();
        }
    }

    #[inline]
    fn take_far(&mut self, time: u64) -> bool {
        let mut any = false;
        while let Some(&Reverse((at, event))) = self.far.peek()
            && at == time
        {
            self.far.pop();
            self.present.push(event);
            any = true;
        }
        any
    }

    #[inline]
    fn has_several_of_a_node(&mut self) -> bool {
        let now = self.now;
        let seen = &mut self.seen;
        let mut several = false;
        for event in &self.present {
            several |= event.node == NOBODY || core::mem::replace(&mut seen[event.node as usize], now) == now;
        }
        several
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes all events.
    fn all(mut events: Events) -> Vec<(u64, What)> {
        let mut taken = Vec::new();
        while let Some(what) = events.next_before(Nanos(u64::MAX)) {
            taken.push((events.now().0, what));
        }
        taken
    }

    #[test]
    fn events_of_a_nanosecond_come_in_their_order() {
        use What::{Agenda, Alarm, Arrival, End};
        for (order, expected) in [
            (Order::Insertion, [Alarm(1), End(2), Arrival(3), Agenda(4), Arrival(5)]),
            (Order::Canonical, [Agenda(4), Arrival(5), Arrival(3), Alarm(1), End(2)]),
        ] {
            for at in [7, 100_000] {
                let mut events = Events::new(order, 1);
                events.add_alarm(at, 0, 1);
                let reserved = events.reserve();
                events.add_arrival(at, 0, 1, 3);
                events.add_agenda(at, 4);
                events.add_arrival(at, 0, 0, 5);
                events.add_reserved(at, reserved, 0, 2);
                assert_eq!(all(events), expected.map(|what| (at, what)), "{order:?} at {at}");
            }
        }
    }

    /// Times near and far, one after the other and at once, come as a sorted list has them.
    #[test]
    fn times_come_in_order_over_the_wheels_end() {
        let mut events = Events::new(Order::Canonical, 1);
        let times: Vec<u64> = (0..3_000_u64).map(|n| n * n * 2_654_435_761 % 40_000 + 1).collect();
        for (&at, alarm) in times.iter().zip(0..) {
            events.add_alarm(at, 0, alarm);
        }
        let mut sorted: Vec<(u64, What)> = times.iter().zip(0..).map(|(&at, alarm)| (at, What::Alarm(alarm))).collect();
        sorted.sort();
        assert_eq!(all(events), sorted);
    }

    #[test]
    fn what_is_due_now_happens_before_time_goes_on() {
        let mut events = Events::new(Order::Canonical, 2);
        events.add_alarm(5, 0, 1);
        events.add_alarm(5, 1, 2);
        assert_eq!(events.next_before(Nanos(6)), Some(What::Alarm(1)));
        assert_eq!(events.next_before(Nanos(5)), Some(What::Alarm(2)), "the rest of the present time");
        let reserved = events.reserve();
        assert!(!events.has_passed(5, reserved, 1));
        events.add_alarm(3, 1, 4);
        events.add_reserved(5, reserved, 1, 3);
        assert_eq!(events.next_before(Nanos(6)), Some(What::End(3)), "it was reserved first");
        assert_eq!(
            (events.next_before(Nanos(6)), events.now()),
            (Some(What::Alarm(4)), Nanos(5)),
            "a time that has passed"
        );
        assert!(events.has_passed(5, reserved, 1) && events.next_time().is_none());
    }
}
