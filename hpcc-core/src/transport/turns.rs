// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which of a port's many queue pairs are worth asking.
//!
//! A port with a few queue pairs asks all of them for each packet. Among many most wait for an acknowledgement, or for their
//! pacer: they are asked again when something has happened to them, or when their time has come.

use crate::recurrence::{Recurs, Walk};
use crate::units::Nanos;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// What a queue pair answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It has to be asked again: it may send, or only a pause holds it back, or it is over.
    Ask,
    /// It may send from then on.
    At(Nanos),
    /// It waits until something happens to it.
    Never,
}

/// The queue pairs of a port by their seats: their places among its members.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// One bit a seat: to be asked.
    asked: Vec<u64>,
    /// Times from which on those may send that wait for their pacer. What has changed since is asked again and says so.
    paced: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// How many members have seats. Whoever has left may still name the seat that it had.
    count: u32,
    /// Members have come or gone: seats are not what they were.
    is_stale: bool,
    /// Priorities of those that wait behind the members until their turn comes for the first time.
    pub waiting: u8,
    /// How many members are over.
    pub over: u32,
}

impl Turns {
    /// Members have come or gone.
    pub fn unsettle(&mut self) {
        self.is_stale = true;
    }

    /// Whether seats are not what they were.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// A member comes, behind all others.
    pub fn join(&mut self) {
        if self.is_stale {
            return;
        }
        let seat = self.count;
        self.count += 1;
        self.asked.resize(self.count.div_ceil(64) as usize, 0);
        self.ask(seat);
    }

    /// All of `count` members are to be asked.
    pub fn settle(&mut self, count: usize) {
        self.is_stale = false;
        self.count = count as u32;
        self.paced.clear();
        self.asked.clear();
        self.asked.resize(count.div_ceil(64), u64::MAX);
        if let Some(last) = self.asked.last_mut().filter(|_| !count.is_multiple_of(64)) {
            *last = (1 << (count % 64)) - 1;
        }
    }

    /// Something has happened to a queue pair.
    #[inline]
    pub fn ask(&mut self, seat: u32) {
        if seat < self.count {
            self.asked[seat as usize / 64] |= 1 << (seat % 64);
        }
    }

    /// Those whose time has come by `now` are to be asked.
    #[inline]
    pub fn wake(&mut self, now: Nanos) {
        while let Some(&Reverse((at, seat))) = self.paced.peek()
            && at <= now
        {
            self.paced.pop();
            self.ask(seat);
        }
    }

    /// The first to be asked at `seat` or behind it.
    #[inline]
    pub fn next_from(&self, seat: usize) -> Option<usize> {
        let first = seat / 64;
        let mut word = self.asked.get(first)? & u64::MAX << (seat % 64);
        let mut place = first;
        while word == 0 {
            place += 1;
            word = *self.asked.get(place)?;
        }
        Some(place * 64 + word.trailing_zeros() as usize)
    }

    /// A queue pair has answered.
    #[inline]
    pub fn answer(&mut self, seat: usize, turn: Readiness) {
        if let Readiness::At(at) = turn {
            self.paced.push(Reverse((at, seat as u32)));
        }
        if turn != Readiness::Ask {
            self.asked[seat / 64] &= !(1 << (seat % 64));
        }
    }

    /// The first time at which one may send, of those that wait for their pacer; `holds` says whether that of a seat is still so.
    pub fn first_at(&mut self, holds: impl Fn(u32, Nanos) -> bool) -> Option<Nanos> {
        loop {
            let &Reverse((at, seat)) = self.paced.peek()?;
            let is_asked = self.asked[seat as usize / 64] >> (seat % 64) & 1 != 0;
            if !is_asked && holds(seat, at) {
                return Some(at);
            }
            self.paced.pop();
        }
    }
}

impl Recurs for Turns {
    fn walk(&mut self, walk: &mut Walk) {
        let Turns { asked, paced, count, is_stale, waiting, over } = self;
        walk.plain(asked);
        walk.plain(count);
        walk.plain(is_stale);
        walk.plain(waiting);
        walk.plain(over);
        let mut turns = core::mem::take(paced).into_sorted_vec();
        walk.plain(&turns.len());
        for Reverse((at, seat)) in &mut turns {
            walk.past(at);
            walk.plain(seat);
        }
        *paced = turns.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(turns: &Turns) -> Vec<usize> {
        let mut seats = Vec::new();
        let mut next = 0;
        while let Some(seat) = turns.next_from(next) {
            seats.push(seat);
            next = seat + 1;
        }
        seats
    }

    #[test]
    fn only_those_are_asked_to_which_something_has_happened_or_whose_time_has_come() {
        let mut turns = Turns::default();
        turns.settle(130);
        assert_eq!(asked(&turns), (0..130).collect::<Vec<_>>());
        for seat in 0..130 {
            turns.answer(seat, if seat < 100 { Readiness::Never } else { Readiness::At(Nanos(seat as u64)) });
        }
        assert_eq!((asked(&turns), turns.first_at(|_, _| true)), (Vec::new(), Some(Nanos(100))));
        turns.ask(3);
        turns.wake(Nanos(101));
        assert_eq!(asked(&turns), [3, 100, 101]);
        turns.answer(100, Readiness::Ask);
        turns.answer(101, Readiness::Never);
        assert_eq!((asked(&turns), turns.first_at(|seat, _| seat > 110)), ([3, 100].into(), Some(Nanos(111))));
        turns.settle(2);
        turns.ask(2);
        turns.ask(63);
        assert_eq!(asked(&turns), [0, 1], "who has left has no seat");
        turns.settle(63);
        (0..63).for_each(|seat| turns.answer(seat, Readiness::Never));
        turns.join();
        turns.join();
        assert_eq!(asked(&turns), [63, 64], "who comes is asked");
    }
}
