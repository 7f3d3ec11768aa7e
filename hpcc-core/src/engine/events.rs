// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens at a group of nodes within a window of time, in order.
//!
//! Which of several events of one nanosecond comes first decides results. In [`Order::Insertion`] it is the one that was added
//! first, as in ns-3 and the 2019 simulator. In [`Order::Canonical`] it depends on each node alone: what concerns no node, then
//! at each node frames that arrive, by port, then the rest as it was added; nodes cannot affect each other within a nanosecond.

use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

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
    /// The first frame on its way to a port, by the port's place, arrives.
    Arrival(u32),
    /// A port ends a transmission.
    End(u32),
    /// The pacer of a host's port wakes up.
    Wake(u32),
    /// An alarm, by its place, goes off.
    Alarm(u32),
    /// Something that concerns no node.
    Agenda(u32),
}

/// An event in four bytes, by which it finds its place in a list: the kind in the lower two bits; alarms and the agenda share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event(u32);

/// None behind it.
const NONE: Event = Event(u32::MAX);

impl Event {
    #[inline]
    fn what(self) -> What {
        let place = self.0 >> 2;
        match self.0 & 3 {
            0 => What::Arrival(place),
            1 => What::End(place),
            2 => What::Wake(place),
            _ if place & 1 == 0 => What::Alarm(place >> 1),
            _ => What::Agenda(place >> 1),
        }
    }
}

impl From<What> for Event {
    #[inline]
    fn from(what: What) -> Event {
        Event(match what {
            What::Arrival(place) => place << 2,
            What::End(place) => place << 2 | 1,
            What::Wake(place) => place << 2 | 2,
            What::Alarm(place) => place << 3 | 3,
            What::Agenda(place) => place << 3 | 7,
        })
    }
}

/// How an event stands among those of its nanosecond.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The first of those that it comes before.
    child: Event,
    /// The next that its parent comes before.
    next: Event,
}

impl Default for Link {
    fn default() -> Link {
        Link { child: NONE, next: NONE }
    }
}

/// Where events are looked up to put those of a nanosecond in order.
pub(super) trait Keys {
    /// The node that an event concerns.
    fn node(&self, what: What) -> u32;
    /// Its place among all events, by the order in which they were added.
    fn rank(&self, what: What) -> u64;
    /// The number of a port at its node.
    fn number(&self, port: u32) -> u16;
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
    /// Those of one nanosecond are a pairing heap: there may be many, for ports of a large switch often end together.
    links: Vec<Link>,
    /// Room for those that are added anew.
    others: Vec<Event>,
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
            links: Vec::new(),
            others: Vec::new(),
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

    /// Begins a window, of [`SPAN`] nanoseconds at most; the last one is over.
    #[inline]
    pub fn open(&mut self, start: u64, end: u64) {
        (self.start, self.end, self.now) = (start, end.min(start + SPAN), start);
    }

    /// Nothing of the present window is left.
    #[inline]
    pub fn close(&mut self) {
        self.end = 0;
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
    #[inline]
    pub fn add(&mut self, at: u64, what: What, keys: &impl Keys) {
        let slot = (at.max(self.now) - self.start) as usize;
        let event = Event::from(what);
        let first = self.first[slot];
        if first != NONE {
            return self.add_among(slot, event, keys);
        }
        self.first[slot] = event;
        self.set_link(event, Link::default());
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words |= 1 << (slot / 64);
    }

    /// Adds one to those of a nanosecond.
    #[inline(never)]
    fn add_among(&mut self, slot: usize, event: Event, keys: &impl Keys) {
        self.set_link(event, Link::default());
        self.first[slot] = self.meld(self.first[slot], event, keys);
    }

    /// Of two heaps one; its first event, whose `next` is left as it was.
    fn meld(&mut self, a: Event, b: Event, keys: &impl Keys) -> Event {
        let is_first = self.key(a.what(), keys) <= self.key(b.what(), keys);
        let (first, other) = if is_first { (a, b) } else { (b, a) };
        self.links[other.0 as usize].next = self.links[first.0 as usize].child;
        self.links[first.0 as usize].child = other;
        first
    }

    /// What remains of a heap without its first event: pairs of its children, melded from the last to the first.
    fn remainder(&mut self, first: Event, keys: &impl Keys) -> Event {
        let (mut rest, mut pairs) = (self.links[first.0 as usize].child, NONE);
        while rest != NONE {
            let (a, b) = (rest, self.links[rest.0 as usize].next);
            let pair = if b == NONE {
                rest = NONE;
                a
            } else {
                rest = self.links[b.0 as usize].next;
                self.meld(a, b, keys)
            };
            self.links[pair.0 as usize].next = pairs;
            pairs = pair;
        }
        let mut heap = NONE;
        while pairs != NONE {
            let next = self.links[pairs.0 as usize].next;
            self.links[pairs.0 as usize].next = NONE;
            heap = if heap == NONE { pairs } else { self.meld(heap, pairs, keys) };
            pairs = next;
        }
        heap
    }

    #[inline]
    fn set_link(&mut self, event: Event, link: Link) {
        match self.links.get_mut(event.0 as usize) {
            Some(known) => *known = link,
            None => self.make_room(event, link),
        }
    }

    #[cold]
    fn make_room(&mut self, event: Event, link: Link) {
        self.links.resize(event.0 as usize + 1, Link::default());
        self.links[event.0 as usize] = link;
    }

    /// Takes an event of this window back: the others of its nanosecond are added anew.
    pub fn remove(&mut self, at: u64, what: What, keys: &impl Keys) {
        let slot = (at - self.start) as usize;
        let event = Event::from(what);
        let mut others = core::mem::take(&mut self.others);
        others.push(self.first[slot]);
        self.set_first(slot, NONE);
        while let Some(next) = others.pop().filter(|&next| next != NONE) {
            let Link { child, next: behind } = self.links[next.0 as usize];
            others.extend([child, behind].into_iter().filter(|&other| other != NONE));
            if next != event {
                self.add(at, next.what(), keys);
            }
        }
        self.others = others;
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

    /// By what events of a nanosecond are sorted.
    fn key(&self, what: What, keys: &impl Keys) -> (u32, u64) {
        if self.order == Order::Insertion {
            return (0, keys.rank(what));
        }
        match what {
            What::Agenda(_) => (0, keys.rank(what)),
            What::Arrival(port) => (keys.node(what) + 1, keys.number(port).into()),
            What::End(_) | What::Wake(_) | What::Alarm(_) => (keys.node(what) + 1, keys.rank(what) | NO_ARRIVAL),
        }
    }

    /// The time of the next event of the window; `None` if there is none.
    #[inline]
    pub fn next_time(&self) -> Option<Nanos> {
        (self.words != 0).then(|| Nanos(self.start + self.next_slot() as u64))
    }

    #[inline]
    fn next_slot(&self) -> usize {
        let word = self.words.trailing_zeros() as usize;
        word % WORDS * 64 + self.occupied[word % WORDS].trailing_zeros() as usize
    }

    /// Takes the next event of the window.
    #[inline]
    pub fn take(&mut self, keys: &impl Keys) -> Option<What> {
        if self.words == 0 {
            return None;
        }
        let slot = self.next_slot();
        let event = self.first[slot];
        let what = event.what();
        self.now = self.start + slot as u64;
        self.current = match what {
            What::Arrival(_) | What::Agenda(_) if self.order == Order::Canonical => 0,
            What::Arrival(_) | What::Agenda(_) | What::End(_) | What::Wake(_) | What::Alarm(_) => {
                self.late(keys.rank(what))
            }
        };
        let rest = if self.links[event.0 as usize].child == NONE { NONE } else { self.remainder(event, keys) };
        self.set_first(slot, rest);
        Some(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use What::{Agenda, Alarm, Arrival, End, Wake};

    /// Events that were added in the order of their places.
    struct Numbered;

    impl Keys for Numbered {
        /// Odd places are of node 1.
        fn node(&self, what: What) -> u32 {
            self.rank(what) as u32 % 2
        }

        fn rank(&self, what: What) -> u64 {
            let (Arrival(place) | End(place) | Wake(place) | Alarm(place) | Agenda(place)) = what;
            place.into()
        }

        /// The ports are the other way round.
        fn number(&self, port: u32) -> u16 {
            99 - port as u16
        }
    }

    /// Takes all events.
    fn all(events: &mut Events) -> Vec<(u64, What)> {
        core::iter::from_fn(|| events.take(&Numbered).map(|what| (events.now, what))).collect()
    }

    #[test]
    fn events_of_a_nanosecond_come_in_their_order() {
        for (order, expected) in [
            (Order::Insertion, [Alarm(2), End(4), Arrival(6), Agenda(8), Arrival(10), Wake(12)]),
            (Order::Canonical, [Agenda(8), Arrival(10), Arrival(6), Alarm(2), End(4), Wake(12)]),
        ] {
            let mut events = Events::new(order);
            events.open(1_000, 9_000);
            for what in [Alarm(2), Wake(12), Arrival(6), Agenda(8), Arrival(10), End(4)] {
                events.add(1_007, what, &Numbered);
            }
            assert_eq!(all(&mut events), expected.map(|what| (1_007, what)), "{order:?}");
        }
    }

    #[test]
    fn times_come_in_order() {
        let mut events = Events::new(Order::Insertion);
        events.open(77, 77 + SPAN);
        let times: Vec<u64> = (0..3_000_u64).map(|n| 77 + n * n * 2_654_435_761 % SPAN).collect();
        for (&at, alarm) in times.iter().zip(0..) {
            events.add(at, Alarm(alarm), &Numbered);
        }
        let mut sorted: Vec<(u64, What)> = times.iter().zip(0..).map(|(&at, alarm)| (at, Alarm(alarm))).collect();
        sorted.sort();
        for removed in [0, 7, 2_999] {
            let (at, what) = (times[removed], Alarm(removed as u32));
            events.remove(at, what, &Numbered);
            sorted.retain(|&other| other != (at, what));
        }
        assert_eq!(events.next_time().map(|next| next.0), sorted.first().map(|&(at, _)| at));
        assert_eq!(all(&mut events), sorted);
    }

    /// Many of one nanosecond, added and taken by turns, and some taken back.
    #[test]
    fn many_events_of_a_nanosecond_come_in_their_order() {
        let mut events = Events::new(Order::Insertion);
        events.open(0, 100);
        let (mut waiting, mut taken) = (Vec::new(), Vec::new());
        for n in 0..1_000_u32 {
            let place = n * 7_919 % 1_009 + 1_009;
            events.add(9, Alarm(place), &Numbered);
            waiting.push(place);
            if n % 3 == 2 {
                waiting.sort_unstable();
                assert_eq!(events.take(&Numbered), Some(Alarm(waiting.remove(0))));
            }
            if n % 10 == 9 {
                let place = waiting.remove(waiting.len() / 2);
                events.remove(9, Alarm(place), &Numbered);
                events.remove(9, Alarm(5_000), &Numbered);
            }
        }
        waiting.sort_unstable();
        taken.extend(all(&mut events).into_iter().map(|(_, what)| what));
        assert_eq!(taken, waiting.into_iter().map(Alarm).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_due_now_happens_before_time_goes_on() {
        let mut events = Events::new(Order::Canonical);
        events.open(0, 100);
        events.add(5, Alarm(2), &Numbered);
        events.add(5, Alarm(5), &Numbered);
        assert_eq!(events.take(&Numbered), Some(Alarm(2)));
        assert_eq!(events.take(&Numbered), Some(Alarm(5)));
        assert!(!events.has_passed(5, 7) && events.has_passed(5, 3));
        events.add(3, Alarm(9), &Numbered);
        events.add(5, End(7), &Numbered);
        events.add(5, Agenda(1), &Numbered);
        assert_eq!(events.take(&Numbered), Some(Agenda(1)), "what concerns no node is first");
        assert_eq!(events.take(&Numbered), Some(End(7)), "it was reserved first");
        assert_eq!((events.take(&Numbered), events.now()), (Some(Alarm(9)), Nanos(5)), "a time that has passed");
        assert!(events.has_passed(5, 9) && events.next_time().is_none());
    }
}
