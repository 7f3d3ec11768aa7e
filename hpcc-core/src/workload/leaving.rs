// SPDX-License-Identifier: MIT OR Apache-2.0
//! By which links of its host a message leaves, and in how many parts.

use alloc::collections::BTreeMap;

/// By which links of its host a message leaves, where several lead to its destination. A link that does not lead there leaves the
/// choice to a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaving {
    /// By one that a hash of its queue pair chooses.
    #[default]
    Hashed,
    /// By all of the first so many, at least 1, in a part for each: of equal bytes, at least one.
    Striped(u8),
    /// By one of the first so many, at least 1: the next one for each channel.
    ByChannel(u8),
}

impl Leaving {
    /// Into how many parts it divides a message.
    pub fn parts(self) -> u8 {
        if let Leaving::Striped(parts) = self { parts.max(1) } else { 1 }
    }

    /// The link of a part, by the number of its queue pair in the job: parts of a channel are behind each other.
    fn link(self, number: u16) -> Option<u8> {
        match self {
            Leaving::Hashed => None,
            Leaving::Striped(links) | Leaving::ByChannel(links) => Some((number % u16::from(links.max(1))) as u8),
        }
    }
}

/// The numbers in a job of the queue pairs of a channel, one for each part of a message, and the link of each.
pub(super) fn queue_pairs(leaving: Leaving, channel: u16) -> impl Iterator<Item = (u16, Option<u8>)> {
    let parts = u16::from(leaving.parts());
    let first = channel.wrapping_mul(parts);
    (0..parts).map(move |part| {
        let number = first.wrapping_add(part);
        (number, leaving.link(number))
    })
}

/// How many parts of each message are over, by the number of its first part, while others are not.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<u32, u8>);

impl Parts {
    /// Another part of so many is over; returns whether that was the last.
    pub fn count(&mut self, first: u32, parts: u8) -> bool {
        if parts == 1 {
            return true;
        }
        let over = self.0.entry(first).or_default();
        *over += 1;
        let is_last = *over == parts;
        if is_last {
            self.0.remove(&first);
        }
        is_last
    }
}
