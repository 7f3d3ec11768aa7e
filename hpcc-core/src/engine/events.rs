// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens at a group of nodes within a window of time, in order.
//!
//! Which of several events of one nanosecond comes first decides results. In [`Order::Insertion`] it is the one that was added
//! first, as in ns-3 and the 2019 simulator. In [`Order::Canonical`] it depends on each node alone: what concerns no node, then
//! at each node frames that arrive, by port, then the rest as it was added; nodes cannot affect each other within a nanosecond.

use crate::ids::{AlarmId, ItemId, PortId};
use crate::units::Nanos;
use alloc::boxed::Box;
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
pub(super) enum EventKind {
    /// The first frame on its way to a port, by the port's place, arrives.
    Arrival(PortId),
    /// A port ends a transmission.
    End(PortId),
    /// The pacer of a host's port wakes up.
    Wake(PortId),
    /// An alarm, by its place, goes off.
    Alarm(AlarmId),
    /// Something that concerns no node.
    Agenda(ItemId),
}

/// An event in four bytes, by which it finds its place in a list: the kind in the lower two bits; alarms and the agenda share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event(u32);

/// None behind it.
const NONE: Event = Event(u32::MAX);

impl Event {
    #[inline]
    fn what(self) -> EventKind {
        let place = self.0 >> 2;
        match self.0 & 3 {
            0 => EventKind::Arrival(PortId(place)),
            1 => EventKind::End(PortId(place)),
            2 => EventKind::Wake(PortId(place)),
            _ if place & 1 == 0 => EventKind::Alarm(AlarmId(place >> 1)),
            _ => EventKind::Agenda(ItemId(place >> 1)),
        }
    }
}

impl From<EventKind> for Event {
    #[inline]
    fn from(what: EventKind) -> Event {
        Event(match what {
            EventKind::Arrival(port) => port.0 << 2,
            EventKind::End(port) => port.0 << 2 | 1,
            EventKind::Wake(port) => port.0 << 2 | 2,
            EventKind::Alarm(alarm) => alarm.0 << 3 | 3,
            EventKind::Agenda(item) => item.0 << 3 | 7,
        })
    }
}

/// An event of the present nanosecond that is still to come, and by what these are sorted.
#[derive(Clone, Copy, Debug)]
struct Coming {
    /// The node, from 1 on, where that counts; what concerns none is first.
    node: u32,
    key: u64,
    event: Event,
}

/// Where events are looked up to put those of a nanosecond in order.
pub(super) trait Keys {
    /// The node that an event concerns; [`u32::MAX`]: none.
    fn node(&self, what: EventKind) -> u32;
    /// Its place among all events, by the order in which they were added.
    fn rank(&self, what: EventKind) -> u64;
    /// The number of a port at its node.
    fn number(&self, port: PortId) -> u16;
}

/// Nanoseconds of the longest window.
pub(super) const SPAN: u64 = 4096;
const WORDS: usize = SPAN as usize / 64;
/// Rank of what is no arrival, in canonical order.
const NO_ARRIVAL: u64 = 1 << 63;

/// The events of a window, and the present. Each waits once at most, so that they are linked by their places.
pub(super) struct Events {
    order: Order,
    now: u64,
    /// How many were ever added, to any window.
    added: u64,
    start: u64,
    end: u64,
    /// The rank of the event that happens now; of a frame that arrives, in canonical order, 0.
    current: u64,
    /// The first of each nanosecond of the window.
    first: Box<[Event]>,
    occupied: [u64; WORDS],
    /// The words of `occupied` that are not 0.
    words: u64,
    /// Behind each event the one that was added before, for the same nanosecond.
    next: Vec<Event>,
    /// The others of the present nanosecond, once its first event has been taken; the next one is the last.
    coming: Vec<Coming>,
    /// Whether the events of this window concern several nodes, and these come one after the other.
    is_mixed: bool,
}

const _: () = assert!(WORDS <= 64);

impl Events {
    /// None yet.
    pub fn new(order: Order) -> Events {
        Events {
            order,
            now: 0,
            added: 0,
            start: 0,
            end: 0,
            current: 0,
            first: vec![NONE; SPAN as usize].into(),
            occupied: [0; WORDS],
            words: 0,
            next: Vec::new(),
            coming: Vec::new(),
            is_mixed: false,
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

    /// The rank of an event that is added now, or later.
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        self.added += 1;
        self.added
    }

    /// Begins a window, of [`SPAN`] nanoseconds at most, of one or `several` nodes; the last one is over.
    #[inline]
    pub fn open(&mut self, start: u64, end: u64, several: bool) {
        self.is_mixed = several && self.order == Order::Canonical;
        (self.start, self.end, self.now) = (start, end.min(start + SPAN), start);
    }

    /// Nothing of the present window is left.
    #[inline]
    pub fn close(&mut self) {
        self.end = 0;
    }

    /// Whether nothing of the present window is left to be done.
    pub fn are_over(&self) -> bool {
        self.words == 0 && self.coming.is_empty()
    }

    /// The time behind the window.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Something that concerns no node happens now.
    pub fn begin(&mut self, now: u64, rank: u64) {
        (self.now, self.current) = (now, if self.order == Order::Canonical { 0 } else { rank });
    }

    /// Adds an event of this window, which already has its rank. One of a time that has passed happens now.
    #[inline(always)]
    pub fn add(&mut self, at: u64, what: EventKind, keys: &impl Keys) {
        let slot = (at.max(self.now) - self.start) as usize;
        let event = Event::from(what);
        if !self.coming.is_empty() && self.start + slot as u64 == self.now {
            return self.add_now(event, keys);
        }
        let before = core::mem::replace(&mut self.first[slot], event);
        match self.next.get_mut(event.0 as usize) {
            Some(next) => *next = before,
            None => self.make_room(event, before),
        }
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words |= 1 << (slot / 64);
    }

    #[cold]
    fn make_room(&mut self, event: Event, before: Event) {
        self.next.resize(event.0 as usize + 1, NONE);
        self.next[event.0 as usize] = before;
    }

    /// Adds one to those of the present nanosecond that are still to come.
    #[inline(never)]
    fn add_now(&mut self, event: Event, keys: &impl Keys) {
        let added = self.coming(event, keys);
        let place = self.coming.partition_point(|other| (other.node, other.key) > (added.node, added.key));
        self.coming.insert(place, added);
    }

    #[inline]
    fn coming(&self, event: Event, keys: &impl Keys) -> Coming {
        let what = event.what();
        let node = if self.is_mixed { keys.node(what).wrapping_add(1) } else { 0 };
        Coming { node, key: self.key(what, keys), event }
    }

    /// Takes an event of this window back.
    pub fn remove(&mut self, at: u64, what: EventKind) {
        let event = Event::from(what);
        self.coming.retain(|coming| coming.event != event);
        let slot = (at - self.start) as usize;
        let mut place = self.first[slot];
        if place == event {
            return self.set_first(slot, self.next[event.0 as usize]);
        }
        while place != NONE {
            let next = self.next[place.0 as usize];
            if next == event {
                self.next[place.0 as usize] = self.next[event.0 as usize];
            }
            place = next;
        }
    }

    #[inline]
    fn set_first(&mut self, slot: usize, event: Event) {
        self.first[slot] = event;
        if event == NONE {
            let word = &mut self.occupied[slot / 64];
            *word &= !(1 << (slot % 64));
            if *word == 0 {
                self.words &= !(1 << (slot / 64));
            }
        }
    }

    /// Whether the end of a transmission at the node where something happens now, which need not be an event, would happen now,
    /// or would have happened.
    #[inline]
    pub fn has_passed(&self, at: u64, rank: u64) -> bool {
        if at != self.now {
            return at < self.now;
        }
        self.current >= self.late(rank)
    }

    /// The rank of an event that is no arrival.
    #[inline]
    fn late(&self, rank: u64) -> u64 {
        if self.order == Order::Canonical { rank | NO_ARRIVAL } else { rank }
    }

    /// By what events of a nanosecond are sorted, after their nodes in canonical order.
    #[inline]
    fn key(&self, what: EventKind, keys: &impl Keys) -> u64 {
        match (self.order, what) {
            (Order::Canonical, EventKind::Arrival(port)) => keys.number(port).into(),
            (Order::Canonical, EventKind::End(_) | EventKind::Wake(_) | EventKind::Alarm(_)) => {
                keys.rank(what) | NO_ARRIVAL
            }
            (Order::Canonical, EventKind::Agenda(_)) | (Order::Insertion, _) => keys.rank(what),
        }
    }

    /// The time of the next event of the window; `None` if there is none.
    #[inline]
    pub fn next_time(&self) -> Option<Nanos> {
        if !self.coming.is_empty() {
            return Some(Nanos(self.now));
        }
        (self.words != 0).then(|| Nanos(self.start + self.next_slot() as u64))
    }

    #[inline]
    fn next_slot(&self) -> usize {
        let word = self.words.trailing_zeros() as usize;
        word % WORDS * 64 + self.occupied[word % WORDS].trailing_zeros() as usize
    }

    /// An event with this key happens now.
    #[inline]
    fn begin_event(&mut self, key: u64) {
        let counts = self.order == Order::Insertion || key & NO_ARRIVAL != 0;
        self.current = if counts { key } else { 0 };
    }

    /// Takes the next event of the window.
    #[inline(always)]
    pub fn take(&mut self, keys: &impl Keys) -> Option<EventKind> {
        if !self.coming.is_empty() {
            return self.take_coming();
        }
        if self.words == 0 {
            return None;
        }
        let slot = self.next_slot();
        let event = self.first[slot];
        self.now = self.start + slot as u64;
        self.set_first(slot, NONE);
        if self.next[event.0 as usize] != NONE {
            self.sort(event, keys);
            return self.take_coming();
        }
        let what = event.what();
        let key = self.key(what, keys);
        self.begin_event(key);
        Some(what)
    }

    /// The event that was taken last happens later in its nanosecond, after what is added meanwhile.
    pub fn put_back(&mut self, what: EventKind, keys: &impl Keys) {
        let taken = self.coming(what.into(), keys);
        self.coming.push(taken);
        self.current = 0;
    }

    #[inline]
    fn take_coming(&mut self) -> Option<EventKind> {
        let Coming { key, event, .. } = self.coming.pop()?;
        self.begin_event(key);
        Some(event.what())
    }

    /// Puts the events of a nanosecond in order. They were mostly added in it.
    #[inline(never)]
    fn sort(&mut self, newest: Event, keys: &impl Keys) {
        let mut event = newest;
        while event != NONE {
            let coming = self.coming(event, keys);
            self.coming.push(coming);
            event = self.next[event.0 as usize];
        }
        self.coming.sort_unstable_by_key(|coming| Reverse((coming.node, coming.key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(n: u32) -> EventKind {
        EventKind::Arrival(PortId(n))
    }

    fn end(n: u32) -> EventKind {
        EventKind::End(PortId(n))
    }

    fn wake(n: u32) -> EventKind {
        EventKind::Wake(PortId(n))
    }

    fn alarm(n: u32) -> EventKind {
        EventKind::Alarm(AlarmId(n))
    }

    fn agenda(n: u32) -> EventKind {
        EventKind::Agenda(ItemId(n))
    }

    /// Events that were added in the order of their places.
    struct Numbered;

    impl Keys for Numbered {
        /// Odd places are of node 1.
        fn node(&self, what: EventKind) -> u32 {
            if matches!(what, EventKind::Agenda(_)) { u32::MAX } else { self.rank(what) as u32 % 2 }
        }

        fn rank(&self, what: EventKind) -> u64 {
            let (EventKind::Arrival(PortId(n))
            | EventKind::End(PortId(n))
            | EventKind::Wake(PortId(n))
            | EventKind::Alarm(AlarmId(n))
            | EventKind::Agenda(ItemId(n))) = what;
            n.into()
        }

        /// The ports are the other way round.
        fn number(&self, port: PortId) -> u16 {
            99 - port.0 as u16
        }
    }

    /// Takes all events.
    fn all(events: &mut Events) -> Vec<(u64, EventKind)> {
        core::iter::from_fn(|| events.take(&Numbered).map(|what| (events.now, what))).collect()
    }

    #[test]
    fn events_of_a_nanosecond_come_in_their_order() {
        for (order, expected) in [
            (Order::Insertion, [alarm(2), end(4), arrival(6), agenda(8), arrival(10), wake(12)]),
            (Order::Canonical, [agenda(8), arrival(10), arrival(6), alarm(2), end(4), wake(12)]),
        ] {
            let mut events = Events::new(order);
            events.open(1_000, 9_000, true);
            for what in [alarm(2), wake(12), arrival(6), agenda(8), arrival(10), end(4)] {
                events.add(1_007, what, &Numbered);
            }
            assert_eq!(all(&mut events), expected.map(|what| (1_007, what)), "{order:?}");
        }
    }

    #[test]
    fn times_come_in_order() {
        let mut events = Events::new(Order::Insertion);
        events.open(77, 77 + SPAN, true);
        let times: Vec<u64> = (0..3_000_u64).map(|n| 77 + n * n * 2_654_435_761 % SPAN).collect();
        for (&at, n) in times.iter().zip(0..) {
            events.add(at, alarm(n), &Numbered);
        }
        let mut sorted: Vec<(u64, EventKind)> = times.iter().zip(0..).map(|(&at, n)| (at, alarm(n))).collect();
        sorted.sort();
        for removed in [0, 7, 2_999] {
            let (at, what) = (times[removed], alarm(removed as u32));
            events.remove(at, what);
            sorted.retain(|&other| other != (at, what));
        }
        assert_eq!(events.next_time().map(|next| next.0), sorted.first().map(|&(at, _)| at));
        assert_eq!(all(&mut events), sorted);
    }

    /// Many of one nanosecond, added and taken by turns, and some taken back.
    #[test]
    fn many_events_of_a_nanosecond_come_in_their_order() {
        let mut events = Events::new(Order::Insertion);
        events.open(0, 100, true);
        let (mut waiting, mut taken) = (Vec::new(), Vec::new());
        for n in 0..1_000_u32 {
            let place = n * 7_919 % 1_009 + 1_009;
            events.add(9, alarm(place), &Numbered);
            waiting.push(place);
            if n % 3 == 2 {
                waiting.sort_unstable();
                assert_eq!(events.take(&Numbered), Some(alarm(waiting.remove(0))));
            }
            if n % 10 == 9 {
                let place = waiting.remove(waiting.len() / 2);
                events.remove(9, alarm(place));
                events.remove(9, alarm(5_000));
            }
        }
        waiting.sort_unstable();
        taken.extend(all(&mut events).into_iter().map(|(_, what)| what));
        assert_eq!(taken, waiting.into_iter().map(alarm).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_due_now_happens_before_time_goes_on() {
        let mut events = Events::new(Order::Canonical);
        events.open(0, 100, true);
        events.add(5, alarm(2), &Numbered);
        events.add(5, alarm(5), &Numbered);
        assert_eq!(events.take(&Numbered), Some(alarm(2)));
        assert_eq!(events.take(&Numbered), Some(alarm(5)));
        assert!(!events.has_passed(5, 7) && events.has_passed(5, 3));
        events.add(3, alarm(9), &Numbered);
        events.add(5, end(7), &Numbered);
        events.add(5, agenda(1), &Numbered);
        assert_eq!(events.take(&Numbered), Some(agenda(1)), "what concerns no node is first");
        assert_eq!(events.take(&Numbered), Some(end(7)), "it was reserved first");
        assert_eq!((events.take(&Numbered), events.now()), (Some(alarm(9)), Nanos(5)), "a time that has passed");
        assert!(events.has_passed(5, 9) && events.next_time().is_none());
    }
}
