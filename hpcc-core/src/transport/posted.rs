// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages (work requests) that flows post on a queue pair that they share.
//!
//! Sequence numbers go on from message to message. As PSNs do, they count whole packets: a message begins at a multiple of
//! the MTU, and numbers behind a short last packet stand for no byte. So a packet belongs to one message alone, and its
//! number tells which packet of the queue pair it is.

use super::message;
use crate::recurrence::recurs;
use alloc::collections::VecDeque;

/// A message on a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Sequence number of its first byte.
    pub start: u64,
    /// Bytes; at least 1.
    pub size: u64,
    /// Packets of the messages before it.
    pub earlier_packets: u32,
    /// RDMA WRITEs of the messages before it: a long one is [several](message).
    pub earlier_writes: u32,
    /// Sequence numbers before its start that stand for no byte.
    gaps: u64,
}

impl Message {
    /// The only message of a queue pair.
    pub const fn alone(size: u64) -> Message {
        Message { start: 0, size, earlier_packets: 0, earlier_writes: 0, gaps: 0 }
    }

    /// The sequence number behind its last byte.
    pub fn end(&self) -> u64 {
        self.start + self.size
    }

    /// The message of `size` bytes that follows; `None` if sequence numbers do not reach to its end.
    fn next(&self, size: u64, mtu: u32) -> Option<Message> {
        let start = self.end().checked_next_multiple_of(mtu.into())?;
        // There must also be sequence numbers for the gap behind it.
        start.checked_add(size)?.checked_next_multiple_of(mtu.into())?;
        let writes = message::completed(self.size, self.size, mtu) as u32;
        Some(Message {
            start,
            size,
            earlier_packets: (start / u64::from(mtu)) as u32,
            earlier_writes: self.earlier_writes.wrapping_add(writes),
            gaps: self.gaps + (start - self.end()),
        })
    }
}

/// The messages of a queue pair that have not finished, in the order in which they were posted.
#[derive(Clone, Debug)]
pub struct Posted {
    waiting: VecDeque<Message>,
    /// The one posted last, finished or not.
    last: Message,
    mtu: u32,
}

impl Posted {
    /// A queue pair's first message, of `size` bytes.
    pub fn new(size: u64, mtu: u32) -> Posted {
        let last = Message::alone(size);
        Posted { waiting: [last].into(), last, mtu: mtu.max(1) }
    }

    /// Another message; `None` if sequence numbers do not reach to its end.
    pub fn post(&mut self, size: u64) -> Option<Message> {
        self.last = self.last.next(size, self.mtu)?;
        self.waiting.push_back(self.last);
        Some(self.last)
    }

    /// The message posted last, finished or not.
    pub fn last(&self) -> &Message {
        &self.last
    }

    /// The first message that ends behind `seq`; `None` if all end before.
    pub fn at(&self, seq: u64) -> Option<&Message> {
        self.waiting.get(self.waiting.partition_point(|message| message.end() <= seq))
    }

    /// All bytes before `seq` have arrived. Returns how many messages that finishes.
    pub fn finish(&mut self, seq: u64) -> u32 {
        let mut finished = 0;
        while self.waiting.front().is_some_and(|message| message.end() <= seq) {
            self.waiting.pop_front();
            finished += 1;
        }
        if self.waiting.is_empty() {
            // Most queue pairs of a job are idle at any time.
            self.waiting = VecDeque::new();
        }
        finished
    }

    /// Where the first message begins that has not finished, or would begin if it were posted.
    pub fn first_start(&self) -> u64 {
        self.waiting.front().map_or(self.last.end().next_multiple_of(self.mtu.into()), |first| first.start)
    }

    /// Sequence numbers before [`Posted::first_start`] that stand for no byte.
    pub fn first_gaps(&self) -> u64 {
        let after_last = || self.last.gaps + (self.first_start() - self.last.end());
        self.waiting.front().map_or_else(after_last, |first| first.gaps)
    }

    /// Those between it and `seq`, which is sent next.
    pub fn gaps_until(&self, seq: u64) -> u64 {
        self.at(seq).unwrap_or(&self.last).gaps.saturating_sub(self.first_gaps())
    }
}

recurs! { Posted { waiting: size, last: constant, mtu: constant, } }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_a_packet() {
        let mut posted = Posted::new(2_500, 1_000);
        let second = posted.post(1).expect("room");
        let third = posted.post(3_000).expect("room");
        assert_eq!((second.start, second.end(), second.earlier_writes, second.gaps), (3_000, 3_001, 1, 500));
        assert_eq!((third.start, third.end(), third.earlier_packets, third.gaps), (4_000, 7_000, 4, 1_499));
        let starts =
            [0, 2_499, 2_500, 3_000, 3_001, 6_999, 7_000].map(|seq| posted.at(seq).map(|message| message.start));
        assert_eq!(starts, [Some(0), Some(0), Some(3_000), Some(3_000), Some(4_000), Some(4_000), None]);
        assert_eq!([0, 3_000, 4_000, 7_000].map(|seq| posted.gaps_until(seq)), [0, 500, 1_499, 1_499]);
    }

    #[test]
    fn what_has_arrived_finishes_messages_in_their_order() {
        let mut posted = Posted::new(2_500, 1_000);
        posted.post(1).expect("room");
        assert_eq!((posted.finish(2_499), posted.first_start(), posted.first_gaps()), (0, 0, 0));
        assert_eq!((posted.finish(3_000), posted.first_start(), posted.first_gaps()), (1, 3_000, 500));
        assert_eq!((posted.finish(4_000), posted.first_start(), posted.first_gaps()), (1, 4_000, 1_499));
        let later = posted.post(7).expect("room");
        assert_eq!((later.start, later.earlier_writes, posted.gaps_until(4_000)), (4_000, 2, 0));
    }

    #[test]
    fn numbers_end() {
        let mut posted = Posted::new(u64::MAX - 5_000, 1_000);
        assert_eq!(posted.post(9_000), None);
        let last = posted.post(1_000).expect("room");
        assert_eq!((posted.post(9_000), posted.last()), (None, &last));
    }
}
