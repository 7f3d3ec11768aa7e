// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a network does the same again and again, and what it is like after many times.
//!
//! A cut is a state between two nanoseconds. Two cuts are a period apart if the second is the first, moved in time: then what
//! follows the second is what followed the first, and the state after any number of periods is known without running them.
//! [`Walk`] goes over all that changes, number by number and always in the same order: it notes the first cut, compares the second
//! with it, and moves the second on. A later cut may be recognised: it is what was noted, moved in time and in each flow's sequence
//! numbers, so that the same period follows.
//!
//! Each number has a rule by which it may differ between the cuts:
//!
//! | method | rule |
//! | --- | --- |
//! | [`Walk::plain`] | it is the same |
//! | [`Walk::moves`] | a time that moves with the network |
//! | [`Walk::until`] | the same, or a time to which alone the present is compared: one that has passed stays passed, one to come ends the periods |
//! | [`Walk::since_rtt`] | the same, or a time longer ago than any round trip, which nobody has looked at |
//! | [`Walk::sequence`] | a sequence number of the present flow: all of a flow move alike |
//! | [`Walk::count`] | a count that decides nothing: it grows by as much in each period |
//! | [`Walk::steady`], [`Walk::size`] | the same in a period, for it changes where flows begin or end, or something is lost; others in a period that is recognised |
//! | [`Walk::past`] | a time that moves, or one that has passed |
//! | [`Walk::wake`] | a time that moves; `u64::MAX` is never |
//! | [`Walk::due`] | the same as `until`, where a time that much ahead of the present is compared with it as well: nearer ones are left as they are |
//! | [`Walk::stays`] | a time to come that does not move, and ends the periods |
//! | [`Walk::constant`] | nothing changes it while flows neither begin nor end |
//! | [`Walk::derived`] | it follows from the rest, or decides nothing |
//! | [`Walk::absent`] | there is none; with one nothing recurs |
//! | [`Walk::part`] | a structure with fields of its own |
//! | [`Walk::controller`], [`Walk::repair`] | the same, if it says that it recurs |
//! | [`Walk::elsewhere`] | whoever holds the structure walks over it, with what that needs besides |
//!
//! `recurs!` lists the fields of a structure with their rules. It takes the structure apart, so that a field without a rule does not
//! compile.

mod words;

pub use words::{Absent, Counts, Plain, Size, Times};

use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What has fields that a [`Walk`] goes over.
pub trait Recurs {
    /// Shows all that changes, each number by its rule; as many and in the same order for states that may be a period apart.
    fn walk(&mut self, walk: &mut Walk);
}

impl<T: Recurs + ?Sized> Recurs for Box<T> {
    fn walk(&mut self, walk: &mut Walk) {
        (**self).walk(walk);
    }
}

impl<T: Recurs> Recurs for Option<T> {
    fn walk(&mut self, walk: &mut Walk) {
        walk.plain(&self.is_some());
        self.iter_mut().for_each(|part| walk.part(part));
    }
}

impl<T: Recurs> Recurs for [T] {
    fn walk(&mut self, walk: &mut Walk) {
        walk.plain(&self.len());
        self.iter_mut().for_each(|part| walk.part(part));
    }
}

/// Implements [`Recurs`]: each field of a structure with the method of [`Walk`] that is its rule.
macro_rules! recurs {
    ($type:ty { $($field:ident: $rule:ident,)* }) => {
        impl $crate::recurrence::Recurs for $type {
            fn walk(&mut self, walk: &mut $crate::recurrence::Walk) {
                let Self { $($field),* } = self;
                _ = &*walk;
                $(walk.$rule($field);)*
            }
        }
    };
}
pub(crate) use recurs;

/// How a number may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Plain,
    Steady,
    Moves,
    Until,
    Past,
    Wake,
    Due,
    Stays,
    SinceRtt,
    Sequence,
    Count,
}

/// What a walk is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Purpose {
    /// It notes the first cut.
    #[default]
    Note,
    /// It compares the second cut with the first.
    Compare,
    /// It compares a later cut with what was noted.
    Recognise,
    /// It moves the present cut on, by so many periods.
    Move(u64),
}

/// A number of the first cut, and by how much it moved in the period.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    value: u64,
    moved: u64,
}

/// A time that does not come.
const NEVER: u64 = u64::MAX;

/// It is not known by how much a flow has moved.
const UNKNOWN: u64 = u64::MAX;

/// Goes over the state of a network.
#[derive(Debug, Default)]
pub struct Walk {
    purpose: Purpose,
    words: Vec<Word>,
    /// Place of the next number.
    next: usize,
    /// The time of the first cut, and from it to the second, in ns.
    first: u64,
    period: u64,
    /// The time of the present cut, in ns.
    present: u64,
    flow: usize,
    /// By how many sequence numbers each flow moves in a period, and by how many it has moved until it was recognised.
    moves: Vec<u64>,
    shifts: Vec<u64>,
    /// The first time that ends the periods, in ns.
    end: u64,
    /// The longest time that a packet of the present flow has been under way at the cut, in ns.
    oldest: u64,
    is_different: bool,
    refusal: Option<&'static str>,
}

impl Walk {
    /// Forgets what was noted: the next walk notes a cut at this time.
    pub fn note(&mut self, at: Nanos) {
        self.begin(Purpose::Note, at);
        self.words.clear();
        (self.first, self.period) = (at.0, 0);
    }

    /// The next walk compares a cut at this time, behind that of the first.
    pub fn compare(&mut self, at: Nanos) {
        self.begin(Purpose::Compare, at);
        self.period = at.0 - self.first;
        self.moves.clear();
    }

    /// The next walk compares a cut at this time with one that is known to begin a period.
    pub fn recognise(&mut self, at: Nanos) {
        self.begin(Purpose::Recognise, at);
        self.shifts.clear();
    }

    /// The next walk moves the present cut on, by so many periods.
    pub fn move_on(&mut self, periods: u64) {
        self.begin(Purpose::Move(periods), Nanos(self.present));
    }

    fn begin(&mut self, purpose: Purpose, at: Nanos) {
        (self.purpose, self.present, self.next, self.flow, self.oldest) = (purpose, at.0, 0, 0, 0);
        (self.end, self.is_different, self.refusal) = (u64::MAX, false, None);
    }

    /// How many numbers the last walk has looked at.
    pub fn len(&self) -> usize {
        if self.purpose == Purpose::Note { self.words.len() } else { self.next }
    }

    /// Whether it has looked at none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When the first cut was.
    pub fn first(&self) -> Nanos {
        Nanos(self.first)
    }

    /// From the first cut to the second.
    pub fn period(&self) -> Nanos {
        Nanos(self.period)
    }

    /// Whether the two cuts are a period apart, or the later one is recognised.
    pub fn is_period(&self) -> bool {
        !self.is_over() && self.next == self.words.len()
    }

    /// Whether the rest of a walk decides nothing.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_different || self.refusal.is_some()
    }

    /// Why nothing recurs, if that is known.
    pub fn refusal(&self) -> Option<&'static str> {
        self.refusal
    }

    /// The first time that is no part of the periods, as far as those tell that [`Walk::until`] was shown.
    pub fn end(&self) -> Nanos {
        Nanos(self.end)
    }

    /// Whether the walk is over a cut of a period that is known: it recognises it, or moves it on.
    pub fn knows_period(&self) -> bool {
        matches!(self.purpose, Purpose::Recognise | Purpose::Move(_))
    }

    /// The periods end at this time, if not before.
    pub fn end_at(&mut self, time: Nanos) {
        self.end = self.end.min(time.0);
    }

    /// The numbers that are left neither move nor count.
    pub fn leave_rest(&mut self) {
        self.next = self.words.len();
    }

    /// By how many sequence numbers a flow moves in a period.
    pub fn flow_moves(&self, flow: usize) -> u64 {
        self.moves.get(flow).copied().filter(|&moves| moves != UNKNOWN).unwrap_or(0)
    }

    /// Sequence numbers that follow are of this flow.
    pub fn flow(&mut self, flow: usize) {
        (self.flow, self.oldest) = (flow, 0);
    }

    /// The time of the cut.
    pub fn now(&self) -> Nanos {
        Nanos(self.present)
    }

    /// A packet of the present flow that waits for its acknowledgement left at this time.
    pub fn under_way_since(&mut self, left: Nanos) {
        self.oldest = self.oldest.max(self.now().0.saturating_sub(left.0));
    }

    /// Something is not known to recur.
    pub fn refuse(&mut self, why: &'static str) {
        self.refusal.get_or_insert(why);
    }

    /// The cuts are not a period apart.
    pub fn differ(&mut self) {
        self.is_different = true;
    }

    /// What is the same.
    #[inline]
    pub fn plain<T: Plain + ?Sized>(&mut self, value: &T) {
        value.words(&mut |word| {
            self.word(Rule::Plain, word);
        });
    }

    /// Times that move.
    pub fn moves<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::Moves, times);
    }

    /// Times to which alone the present is compared.
    pub fn until<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::Until, times);
    }

    /// Times from which less than a round trip counts.
    pub fn since_rtt<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::SinceRtt, times);
    }

    #[inline]
    fn times<T: Times>(&mut self, rule: Rule, times: &mut T) {
        self.plain(&times.count());
        times.each(&mut |time| *time = self.word(rule, *time));
    }

    /// A sequence number of the present flow; `u64::MAX` stands for none.
    #[inline]
    pub fn sequence(&mut self, number: &mut u64) {
        *number = self.word(Rule::Sequence, *number);
    }

    /// Counts that decide nothing.
    pub fn count<T: Counts>(&mut self, counts: &mut T) {
        counts.each(&mut |count| *count = self.word(Rule::Count, *count));
    }

    /// What is the same in a period, and may be another in one that is recognised.
    pub fn steady<T: Plain + ?Sized>(&mut self, value: &T) {
        value.words(&mut |word| {
            self.word(Rule::Steady, word);
        });
    }

    /// Things that change where flows begin or end.
    pub fn size<T: Size>(&mut self, things: &T) {
        self.steady(&things.size());
    }

    /// Times that move, or have passed.
    pub fn past<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::Past, times);
    }

    /// Times that move, or never come.
    pub fn wake<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::Wake, times);
    }

    /// Times that are put forward where they are too far ahead of the present.
    pub fn due<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::Due, times);
    }

    /// Times to come that do not move.
    pub fn stays<T: Times>(&mut self, times: &mut T) {
        self.times(Rule::Stays, times);
    }

    /// What nothing changes while flows neither begin nor end.
    #[inline]
    pub fn constant<T: ?Sized>(&mut self, _: &T) {}

    /// What follows from the rest, or decides nothing.
    #[inline]
    pub fn derived<T: ?Sized>(&mut self, _: &T) {}

    /// What is shown by whoever holds the structure.
    #[inline]
    pub fn elsewhere<T: ?Sized>(&mut self, _: &T) {}

    /// What there is none of.
    #[inline]
    pub fn absent<T: Absent + ?Sized>(&mut self, what: &T) {
        if !what.is_absent() {
            self.refuse(T::NAME);
        }
    }

    /// A structure.
    #[inline]
    pub fn part<T: Recurs + ?Sized>(&mut self, part: &mut T) {
        if !self.is_over() {
            part.walk(self);
        }
    }

    #[inline]
    fn word(&mut self, rule: Rule, value: u64) -> u64 {
        if self.purpose == Purpose::Note {
            self.words.push(Word { value, moved: 0 });
            return value;
        }
        let Some(&known) = self.words.get(self.next) else {
            self.differ();
            return value;
        };
        self.next += 1;
        match self.purpose {
            Purpose::Move(periods) => value.wrapping_add(periods.wrapping_mul(known.moved)),
            Purpose::Recognise => {
                self.is_different |= !self.is_known(rule, known, value);
                value
            }
            Purpose::Compare | Purpose::Note => {
                self.words[self.next - 1].moved = value.wrapping_sub(known.value);
                self.is_different |= !self.is_alike(rule, known.value, value);
                value
            }
        }
    }

    /// Whether a number may be the same a period later.
    #[inline]
    fn is_alike(&mut self, rule: Rule, before: u64, now: u64) -> bool {
        let moved = now.wrapping_sub(before);
        match rule {
            Rule::Plain | Rule::Steady => moved == 0,
            Rule::Moves => moved == self.period,
            Rule::Until | Rule::Due => moved == self.period || moved == 0 && self.is_over_or_ends(now),
            Rule::Past => moved == self.period || moved == 0 && now <= self.first,
            Rule::Wake => moved == self.period && now != NEVER || moved == 0 && now == NEVER,
            Rule::Stays => moved == 0 && self.ends_at(now),
            Rule::SinceRtt => moved == self.period || moved == 0 && self.is_longer_ago_than_rtt(now, self.first),
            Rule::Sequence => moves_alike(&mut self.moves, self.flow, before, now),
            Rule::Count => now >= before,
        }
    }

    /// Whether a number of a later cut may be that of the first one.
    fn is_known(&mut self, rule: Rule, known: Word, now: u64) -> bool {
        let elapsed = self.present - self.first;
        let has_moved = now.wrapping_sub(known.value) == elapsed;
        match rule {
            Rule::Plain => now == known.value,
            Rule::Steady | Rule::Count => true,
            Rule::Moves => has_moved,
            // What does not move is over still, or to come still.
            Rule::Until if known.moved == 0 => match known.value <= self.first {
                true => now <= self.present,
                false => self.ends_at(now),
            },
            // One that is farther ahead than was known might be put forward.
            Rule::Due if known.moved == 0 => match known.value <= self.first {
                true => now <= self.present,
                false => self.ends_at(now) && now - self.present <= known.value - self.first,
            },
            Rule::Past if known.moved == 0 => now <= self.present,
            Rule::Wake if known.value == NEVER => now == NEVER,
            Rule::Until | Rule::Due | Rule::Past | Rule::Wake => has_moved,
            Rule::Stays => self.ends_at(now),
            Rule::SinceRtt if known.moved == 0 => self.is_longer_ago_than_rtt(now, self.present),
            Rule::SinceRtt => has_moved,
            Rule::Sequence => moves_alike(&mut self.shifts, self.flow, known.value, now),
        }
    }

    /// Whether a time may stay as it is: it had passed before the period, or ends it.
    fn is_over_or_ends(&mut self, time: u64) -> bool {
        time <= self.first || self.ends_at(time)
    }

    /// Whether a time is to come. It ends the periods.
    fn ends_at(&mut self, time: u64) -> bool {
        self.end = self.end.min(time);
        time > self.present
    }

    /// Whether a time was longer ago when a period began than any packet takes that is acknowledged in it: those left a period
    /// and the oldest packet's time before its end at the earliest.
    fn is_longer_ago_than_rtt(&self, time: u64, begin: u64) -> bool {
        time.saturating_add(self.oldest).saturating_add(self.period) <= begin
    }
}

/// Whether a sequence number of a flow has moved as its others have.
fn moves_alike(moves: &mut Vec<u64>, flow: usize, before: u64, now: u64) -> bool {
    if before == u64::MAX || now == u64::MAX {
        return before == now;
    }
    if moves.len() <= flow {
        moves.resize(flow + 1, UNKNOWN);
    }
    let (known, moved) = (&mut moves[flow], now.wrapping_sub(before));
    if *known == UNKNOWN {
        *known = moved;
    }
    *known == moved && now >= before
}

#[cfg(test)]
mod tests;
