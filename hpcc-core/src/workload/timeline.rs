// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ranks had under way and when, and what each of them began after.

use super::Operation;
use crate::units::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// An operation of a rank, from its begin to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// Number of the job.
    pub job: u32,
    /// The rank.
    pub rank: u32,
    /// How many operations the rank has begun before.
    pub number: u32,
    /// The program's token.
    pub token: u64,
    /// What it is.
    pub operation: Operation,
    /// When it began.
    pub begin: Nanos,
    /// When it was over.
    pub end: Nanos,
    /// The number of the rank's operation at whose end it began; `None`: it began with the job.
    pub cause: Option<u32>,
    /// The number of the message, which its two ends have in common.
    pub message: Option<u32>,
}

impl Span {
    /// One that begins now, of which nothing else is known.
    pub(super) fn at(now: Nanos) -> Span {
        let operation = Operation::Wait(Nanos(0));
        Span { job: 0, rank: 0, number: 0, token: 0, operation, begin: now, end: now, cause: None, message: None }
    }
}

/// What an operation under way is known by at its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The number of a message that it sends.
    Send(u32),
    /// The number of a receive.
    Receive(u64),
    /// The token of a time that passes.
    Wait(u64),
}

/// The spans of all ranks.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    under_way: BTreeMap<(u32, Key), Span>,
    /// How many operations each rank has begun.
    begun: BTreeMap<u32, u32>,
    pub over: Vec<Span>,
}

impl Timeline {
    /// An operation of a rank begins.
    pub fn begin(&mut self, seat: u32, key: Key, span: Span) {
        let begun = self.begun.entry(seat).or_default();
        self.under_way.insert((seat, key), Span { number: *begun, ..span });
        *begun += 1;
    }

    /// It is over. Returns its number.
    pub fn end(&mut self, seat: u32, key: Key, message: Option<u32>, end: Nanos) -> Option<u32> {
        let span = self.under_way.remove(&(seat, key))?;
        self.over.push(Span { end, message, ..span });
        Some(span.number)
    }
}
