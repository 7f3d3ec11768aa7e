// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving end of a message: what has arrived, and when to say so.

use super::header::{Cause, HEADERS, Sack, UecHeader};
use super::pacer::Demand;
use crate::host_transport::Packet;
use crate::transport::PacketSet;

/// Packets in a bitmap.
const BITS: u64 = 64;

/// A message being received.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// First packet seen of the message; answers are addressed by it.
    pub first: Packet,
    /// What its sender asks for.
    pub demand: Demand,
    /// Packets of the message.
    count: u64,
    expected: u64,
    ahead: PacketSet,
    out_of_order: u32,
    /// Bytes since the last acknowledgement, and in all, headers included.
    unacknowledged: u64,
    received: u64,
    /// Whether to acknowledge as soon as no packet is out of order.
    is_asked: bool,
}

/// Outcome of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What to answer, if anything.
    pub answer: Option<Sack>,
    /// Whether this packet completes the message.
    pub is_whole: bool,
}

impl Receiver {
    /// A message of `count` packets, `first` seen first.
    pub fn new(first: &Packet, count: u64) -> Receiver {
        Receiver {
            first: *first,
            demand: Demand::default(),
            count,
            expected: 0,
            ahead: PacketSet::default(),
            out_of_order: 0,
            unacknowledged: 0,
            received: 0,
            is_asked: false,
        }
    }

    /// Whether all packets have arrived.
    pub fn is_whole(&self) -> bool {
        self.expected == self.count
    }

    /// Bytes that have arrived, without headers.
    pub fn payload(&self) -> u64 {
        let packets = self.expected + u64::from(self.out_of_order);
        self.received.saturating_sub(packets * u64::from(HEADERS))
    }

    /// Whether a packet has arrived before.
    pub fn has(&self, packet: u64) -> bool {
        packet < self.expected || self.ahead.contains(packet)
    }

    /// A packet has arrived with its payload. An acknowledgement is due for `every` so many bytes.
    pub fn on_data(&mut self, packet: &Packet, ack_requested: bool, again: bool, every: u64) -> Taken {
        let &Packet { seq, marked, size, .. } = packet;
        self.unacknowledged += u64::from(size);
        if self.has(seq) {
            let base = if marked { seq } else { self.base(seq) };
            return Taken { answer: Some(self.sack(base, Cause::Data, marked, again)), is_whole: false };
        }
        let mut is_due = self.received == 0 || ack_requested || marked;
        self.received += u64::from(size);
        self.is_asked |= ack_requested;
        if seq == self.expected {
            let next = self.ahead.first_absent(seq + 1);
            self.out_of_order -= (next - seq - 1) as u32;
            self.expected = next;
            if self.out_of_order == 0 {
                is_due |= core::mem::take(&mut self.is_asked);
            }
        } else if self.ahead.insert(self.expected, seq) {
            self.out_of_order += 1;
        }
        is_due |= self.unacknowledged >= every;
        let base = if marked || ack_requested { seq } else { self.base(seq) };
        let answer = is_due.then(|| self.sack(base, Cause::Data, marked, again));
        Taken { answer, is_whole: self.is_whole() }
    }

    /// The answer to a trimmed packet.
    pub fn on_trimmed(&mut self, packet: &Packet, again: bool, at_last_hop: bool) -> UecHeader {
        if self.has(packet.seq) {
            let unacknowledged = self.unacknowledged;
            let answer = UecHeader::Ack(self.sack(self.base(packet.seq), Cause::Data, false, again));
            self.unacknowledged = unacknowledged;
            return answer;
        }
        UecHeader::Nack { at_last_hop }
    }

    /// An acknowledgement that no data packet caused.
    pub fn answer(&mut self, seq: u64, cause: Cause, marked: bool) -> Sack {
        self.sack(self.base(seq), cause, marked, false)
    }

    /// The first packet of a bitmap about a packet and those before it.
    fn base(&self, seq: u64) -> u64 {
        (seq + 1).saturating_sub(BITS).max(self.expected + 1)
    }

    fn sack(&mut self, base: u64, cause: Cause, marked: bool, again: bool) -> Sack {
        self.unacknowledged = 0;
        let bit = |n: u64| u64::from(base + n > self.expected && self.ahead.contains(base + n)) << n;
        let bitmap = if self.out_of_order == 0 { 0 } else { (0..BITS).map(bit).sum() };
        let &mut Receiver { expected, received, out_of_order, .. } = self;
        Sack { before: expected, base, bitmap, received, out_of_order, cause, marked, again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(seq: u64) -> Packet {
        Packet { is_data: true, seq, size: 4_150, ..Packet::default() }
    }

    fn receiver() -> Receiver {
        Receiver::new(&packet(0), 100)
    }

    /// The packets that are acknowledged of those that arrive.
    fn acknowledged(receiver: &mut Receiver, packets: &[u64]) -> Vec<u64> {
        let mut answered = |seq: &u64| receiver.on_data(&packet(*seq), false, false, 16_384).answer.is_some();
        packets.iter().copied().filter(|seq| answered(seq)).collect()
    }

    use alloc::vec::Vec;

    #[test]
    fn the_first_packet_and_each_fourth_are_acknowledged() {
        let all: Vec<u64> = (0..13).collect();
        assert_eq!(acknowledged(&mut receiver(), &all), [0, 4, 8, 12]);
    }

    #[test]
    fn marks_and_requests_are_answered_at_once() {
        let mut own = receiver();
        acknowledged(&mut own, &[0, 1]);
        let marked = own.on_data(&Packet { marked: true, ..packet(2) }, false, false, 16_384).answer.expect("at once");
        assert_eq!((marked.before, marked.base, marked.bitmap, marked.marked), (3, 2, 0, true));
        assert_eq!(marked.received, 3 * 4_150);
        let asked = own.on_data(&packet(5), true, false, 16_384).answer.expect("at once");
        assert_eq!((asked.before, asked.base, asked.bitmap, asked.out_of_order), (3, 5, 1, 1));
        // And again when nothing waits any more.
        assert_eq!(own.on_data(&packet(3), false, false, 1 << 20).answer, None);
        let drained = own.on_data(&packet(4), false, false, 1 << 20).answer.expect("asked for");
        assert_eq!((drained.before, drained.out_of_order), (6, 0));
    }

    #[test]
    fn a_bitmap_tells_of_64_packets_up_to_the_newest() {
        let mut own = receiver();
        acknowledged(&mut own, &[0]);
        let mut sack = Sack::default();
        for seq in (2..80).filter(|seq| seq % 2 == 0) {
            sack = own.on_data(&packet(seq), false, false, 0).answer.expect("all");
        }
        assert_eq!((sack.before, sack.base, sack.out_of_order), (1, 78 - 63, 39));
        assert_eq!(sack.bitmap, 0xaaaa_aaaa_aaaa_aaaa);
        let taken = own.on_data(&packet(2), false, false, 1 << 20);
        assert_eq!(taken.answer.map(|sack| (sack.base, sack.received)), Some((2, 40 * 4_150)), "a duplicate");
    }

    #[test]
    fn a_trimmed_packet_is_asked_for_unless_it_is_there() {
        let mut own = receiver();
        acknowledged(&mut own, &[0, 2]);
        assert_eq!(own.on_trimmed(&packet(1), false, true), UecHeader::Nack { at_last_hop: true });
        assert!(matches!(
            own.on_trimmed(&packet(2), false, true),
            UecHeader::Ack(Sack { before: 1, base: 2, bitmap: 1, .. })
        ));
    }

    #[test]
    fn the_last_packet_makes_it_whole_in_any_order() {
        let mut own = Receiver::new(&packet(0), 3);
        let whole = [2, 0, 0, 1, 1].map(|seq| own.on_data(&packet(seq), false, false, 1 << 20).is_whole);
        assert_eq!((whole, own.is_whole()), ([false, false, false, true, false], true));
    }
}
