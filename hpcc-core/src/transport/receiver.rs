// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving end of a flow: in-order delivery, acknowledgements, go-back-N, selective repeat.

use super::packet_set::PacketSet;
use super::recovery::Sack;
use super::{CongestionNotification, TransportConfig, Trimmed};
use crate::recurrence::{Recurs, Walk, recurs};
use crate::units::Nanos;
use alloc::boxed::Box;

/// A data packet as it arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Data {
    /// Offset in the flow of its first payload byte.
    pub seq: u64,
    /// Bytes of payload, 1 to the MTU.
    pub payload: u32,
    /// Whether the sender asks for an acknowledgement.
    pub ack_requested: bool,
    /// Whether it carries a congestion mark.
    pub congestion_marked: bool,
}

/// What the receiver sends back for a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No answer is due.
    Silence,
    /// All bytes before this one have arrived.
    Ack(u64),
    /// This byte is missing.
    Nack(u64),
    /// Byte `missing` is missing, the packet from byte `arrived` on has arrived.
    SelectiveNack {
        /// First byte that has not arrived.
        missing: u64,
        /// First byte of the packet that has.
        arrived: u64,
    },
    /// All bytes before `missing` have arrived, and the packets of a bitmap.
    Sack {
        /// First byte that has not arrived.
        missing: u64,
        /// The packets behind it that have.
        sack: Sack,
    },
    /// Byte `missing` is missing, and so is this packet: its headers came alone.
    TrimmedNack {
        /// First byte that has not arrived.
        missing: u64,
        /// The packet.
        trimmed: Trimmed,
    },
}

/// A reply, and what becomes of the packet's congestion mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckDecision {
    /// What is acknowledged.
    pub reply: Reply,
    /// Whether the reply tells of a congestion mark, this packet's or one that has waited for it.
    pub congestion_echo: bool,
    /// Whether a congestion notification packet goes back besides.
    pub notify: bool,
    /// Whether the packet's mark is told with another one, which waits or was told less than an interval ago.
    pub merged: bool,
    /// Whether nothing will tell of the packet's mark: nothing goes back for it.
    pub untold: bool,
}

impl AckDecision {
    /// Nothing goes back.
    pub const NONE: AckDecision =
        AckDecision { reply: Reply::Silence, congestion_echo: false, notify: false, merged: false, untold: false };
}

/// State of a receiving queue pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Receiver {
    expected: u64,
    /// How many sequence numbers each packet takes; 0: as many as it has bytes.
    packet: u32,
    /// Whether a congestion mark waits for the next acknowledgement.
    marked: bool,
    /// Earliest time of the next congestion notification.
    notify_after: Nanos,
    /// `None` until a packet comes out of order.
    disorder: Option<Box<Disorder>>,
}

/// What a receiver knows of packets that are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Disorder {
    nack_after: Nanos,
    last_nacked: u64,
    /// Packets that arrived ahead of their turn, where they are kept, and the end of the furthest.
    ahead: PacketSet,
    ahead_end: u64,
}

impl Receiver {
    /// The receiving end of a queue pair that flows share, whose sender's packets have `mtu` bytes at most: behind a short
    /// packet, which ends a message, the next one's number is a multiple of `mtu` again.
    pub fn of_messages(mtu: u32) -> Receiver {
        Receiver { packet: mtu, ..Receiver::default() }
    }

    /// The sequence number behind a packet.
    #[inline]
    fn behind(&self, seq: u64, payload: u32) -> u64 {
        seq.saturating_add(if self.packet == 0 { payload } else { self.packet }.into())
    }

    /// The first byte that has not arrived in order.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// Takes in a packet and says what goes back; of congestion marks one is told in an `interval`.
    #[inline]
    pub fn answer(&mut self, config: &TransportConfig, now: Nanos, interval: Nanos, data: &Data) -> AckDecision {
        let reply = self.on_data(config, now, data);
        self.answer_with(reply, config, now, interval, data)
    }

    /// The same of a packet without its payload.
    pub fn answer_trimmed(
        &mut self,
        config: &TransportConfig,
        now: Nanos,
        interval: Nanos,
        data: &Data,
        at_last_hop: bool,
    ) -> AckDecision {
        let seq = data.seq;
        let has_come = seq < self.expected || self.has_kept(seq / u64::from(config.mtu.max(1)));
        let reply = match has_come {
            true => Reply::Ack(self.expected),
            false => Reply::TrimmedNack { missing: self.expected, trimmed: Trimmed { seq, at_last_hop } },
        };
        self.answer_with(reply, config, now, interval, data)
    }

    #[inline]
    fn answer_with(
        &mut self,
        reply: Reply,
        config: &TransportConfig,
        now: Nanos,
        interval: Nanos,
        data: &Data,
    ) -> AckDecision {
        let answer = AckDecision { reply, ..AckDecision::NONE };
        if data.congestion_marked | self.marked { self.tell(config, now, interval, data, answer) } else { answer }
    }

    /// Tells of a mark if something leaves that can, which alone begins an interval. Otherwise a mark waits where the sender asks
    /// for acknowledgements; in the 2019 simulator's way the mark of a packet without an answer is lost.
    fn tell(
        &mut self,
        config: &TransportConfig,
        now: Nanos,
        interval: Nanos,
        data: &Data,
        answer: AckDecision,
    ) -> AckDecision {
        let merged = data.congestion_marked && (self.marked || now < self.notify_after);
        let is_due = self.marked || data.congestion_marked && !merged;
        let is_echo = config.notification == CongestionNotification::Echo;
        let leaves = !is_echo || answer.reply != Reply::Silence;
        if is_due && leaves {
            self.notify_after = now + interval;
        }
        self.marked = is_due && !leaves && config.ack_every > 0;
        let untold = is_due && !leaves && !self.marked;
        AckDecision {
            congestion_echo: is_due && leaves && is_echo,
            notify: is_due && !is_echo,
            merged,
            untold,
            ..answer
        }
    }

    #[inline]
    fn on_data(&mut self, config: &TransportConfig, now: Nanos, data: &Data) -> Reply {
        let &Data { seq, payload, ack_requested, .. } = data;
        if seq < self.expected {
            // The acknowledgement was lost, or the sender timed out too early. The 2019 simulator stays silent.
            return if config.recovers() { Reply::Ack(self.expected) } else { Reply::Silence };
        }
        if seq > self.expected {
            return (config.recovery.on_early)(self, config, now, data);
        }
        self.expected = self.behind(seq, payload);
        if self.disorder.as_ref().is_some_and(|disorder| disorder.ahead_end > self.expected) {
            self.take_kept(config);
            return Reply::Ack(self.expected);
        }
        if config.ack_every > 0 {
            return if ack_requested { Reply::Ack(self.expected) } else { Reply::Silence };
        }
        if config.acknowledges(self.expected) { Reply::Ack(self.expected) } else { Reply::Silence }
    }

    /// Keeps a packet that arrived ahead of its turn. Returns whether it is kept.
    pub fn keep(&mut self, config: &TransportConfig, seq: u64, payload: u32) -> bool {
        let mtu = u64::from(config.mtu.max(1));
        if !seq.is_multiple_of(mtu) {
            return false;
        }
        let (first_missing, end) = (self.expected / mtu, self.behind(seq, payload));
        let disorder = self.disorder.get_or_insert_default();
        if disorder.ahead.insert(first_missing, seq / mtu) {
            disorder.ahead_end = disorder.ahead_end.max(end);
        }
        disorder.ahead.contains(seq / mtu)
    }

    /// Whether a packet was kept, by its number.
    pub fn has_kept(&self, packet: u64) -> bool {
        self.disorder.as_ref().is_some_and(|disorder| disorder.ahead.contains(packet))
    }

    /// Whether all bytes from `start` to `end` have arrived.
    pub fn has_arrived(&self, config: &TransportConfig, start: u64, end: u64) -> bool {
        let mtu = u64::from(config.mtu.max(1));
        end <= self.expected || (start.max(self.expected) / mtu..end.div_ceil(mtu)).all(|packet| self.has_kept(packet))
    }

    /// How many of the `size` bytes from `start` on have arrived.
    pub fn arrived(&self, config: &TransportConfig, start: u64, size: u64) -> u64 {
        let mtu = u64::from(config.mtu.max(1));
        let end = start.saturating_add(size);
        let in_order = self.expected.clamp(start, end) - start;
        let Some(disorder) = &self.disorder else { return in_order };
        // The last packet may be short.
        let tail = match (size - 1) % mtu + 1 {
            short if disorder.ahead.contains((end - 1) / mtu) && self.expected < end => mtu - short,
            _ => 0,
        };
        let kept = disorder.ahead.count(self.expected.max(start).div_ceil(mtu)..end.div_ceil(mtu));
        (in_order + (kept * mtu).saturating_sub(tail)).min(size)
    }

    /// Goes on behind the packets that were kept.
    fn take_kept(&mut self, config: &TransportConfig) {
        let mtu = u64::from(config.mtu.max(1));
        let Some(disorder) = &self.disorder else { return };
        let missing = disorder.ahead.first_absent(self.expected / mtu);
        // The last packet of a flow that has the queue pair to itself is shorter than the others.
        self.expected = self.expected.max(missing.saturating_mul(mtu).min(disorder.ahead_end));
    }

    /// Asks for the missing byte, but for the same one not more often than the interval allows.
    pub fn on_gap(&mut self, config: &TransportConfig, now: Nanos) -> Reply {
        let disorder = self.disorder.get_or_insert_default();
        if now < disorder.nack_after && disorder.last_nacked == self.expected {
            return Reply::Silence;
        }
        disorder.nack_after = now + config.nack_interval;
        disorder.last_nacked = self.expected;
        self.expected = config.resume_at(self.expected);
        Reply::Nack(self.expected)
    }
}

recurs! {
    Receiver { expected: sequence, packet: constant, marked: plain, notify_after: until, disorder: part, }
}

impl Recurs for Disorder {
    fn walk(&mut self, walk: &mut Walk) {
        let Disorder { nack_after, last_nacked, ahead, ahead_end } = self;
        walk.until(nack_after);
        walk.plain(last_nacked);
        walk.plain(ahead_end);
        if !ahead.is_empty() {
            walk.refuse("packets that came early");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Recovery;
    use alloc::vec::Vec;

    /// Packets of 1,000 bytes and a last one of 500: what waits for others has arrived as well, and counts once.
    #[test]
    fn what_has_arrived_is_counted_in_any_order() {
        let config = TransportConfig { recovery: Recovery::SelectiveRepeat, ..TransportConfig::default() };
        let mut receiver = Receiver::default();
        let mut arrived = Vec::new();
        for (seq, payload) in [(0, 1_000), (2_000, 1_000), (2_000, 1_000), (3_000, 500), (1_000, 1_000)] {
            on_data(&mut receiver, &config, Nanos(0), seq, payload);
            arrived.push(receiver.arrived(&config, 0, 3_500));
        }
        assert_eq!(arrived, [1_000, 2_000, 2_000, 2_500, 3_500]);
        assert_eq!(receiver.arrived(&config, 3_000, 500), 500, "a message of several");
        assert_eq!(receiver.arrived(&config, 4_000, 500), 0);
    }

    fn on_data(receiver: &mut Receiver, config: &TransportConfig, now: Nanos, seq: u64, payload: u32) -> Reply {
        let data = Data { seq, payload, ..Data::default() };
        receiver.answer(config, now, Nanos(0), &data).reply
    }

    /// Packets that are all marked, one each 10 us; what becomes of the marks of the first 20.
    fn told(config: &TransportConfig, asks_every: u64) -> (Vec<u64>, Vec<u64>, u64) {
        let mut receiver = Receiver::default();
        let (mut echoes, mut notifications, mut merged) = (Vec::new(), Vec::new(), 0);
        for n in 0..20 {
            let data = Data {
                seq: 1_000 * n,
                payload: 1_000,
                ack_requested: n % asks_every == asks_every - 1,
                congestion_marked: true,
            };
            let answer = receiver.answer(config, Nanos(10_000 * n), Nanos(50_000), &data);
            merged += u64::from(answer.merged);
            echoes.extend(answer.congestion_echo.then_some(10 * n));
            notifications.extend(answer.notify.then_some(10 * n));
        }
        (echoes, notifications, merged)
    }

    /// An answer that does not leave begins no interval.
    #[test]
    fn marks_are_told_once_in_an_interval_however_rare_answers_are() {
        let rare = |ack_every| TransportConfig { ack_every, ..TransportConfig::default() };
        assert_eq!(told(&rare(0), 1), ([0, 50, 100, 150].into(), Vec::new(), 16));
        assert_eq!(told(&rare(4_000), 4), ([30, 110, 190].into(), Vec::new(), 17), "with answers at 30, 70, 110, ...");
        for notification in [CongestionNotification::Packet, CongestionNotification::FastCnp] {
            for ack_every in [0, 4_000] {
                let packets = TransportConfig { notification, ..rare(ack_every) };
                assert_eq!(told(&packets, 4), (Vec::new(), [0, 50, 100, 150].into(), 16), "they need no answer");
            }
        }
    }

    /// A duplicate has no answer in the 2019 simulator's way.
    #[test]
    fn a_mark_without_an_answer_begins_no_interval() {
        let mut receiver = Receiver::default();
        let config = TransportConfig::default();
        let mut told = |seq, congestion_marked| {
            let data = Data { seq, payload: 1_000, ack_requested: false, congestion_marked };
            let answer = receiver.answer(&config, Nanos(0), Nanos(50_000), &data);
            (answer.congestion_echo, answer.merged)
        };
        let answers = [told(0, false), told(0, true), told(1_000, true), told(2_000, true)];
        assert_eq!(answers, [(false, false), (false, false), (true, false), (false, true)]);
    }

    #[test]
    fn small_flows_wait_for_the_interval_or_a_chunk() {
        let config = TransportConfig { ack_offset: 3000, chunk: 2000, ..TransportConfig::default() };
        let mut receiver = Receiver::default();
        let replies = [0, 1000, 2000, 3000].map(|seq| on_data(&mut receiver, &config, Nanos(0), seq, 1000));
        assert_eq!(replies, [Reply::Silence, Reply::Ack(2000), Reply::Ack(3000), Reply::Ack(4000)]);
    }

    /// A loss after any number of packets in order, and at any distance from the next.
    #[test]
    fn what_comes_early_is_kept_however_long_the_flow_is() {
        let config = TransportConfig { recovery: Recovery::SelectiveRepeat, ..TransportConfig::default() };
        for mut receiver in [Receiver::default(), Receiver::of_messages(1_000)] {
            for in_order in [0, 100, 70_000, 1 << 24, 1 << 33, 63] {
                receiver.expected += 1_000 * in_order;
                let first = receiver.expected;
                let mut arrives =
                    |packet: u64| on_data(&mut receiver, &config, Nanos(0), first + 1_000 * packet, 1_000);
                for early in [1, 3, 70_000] {
                    let nack = Reply::SelectiveNack { missing: first, arrived: first + 1_000 * early };
                    assert_eq!(arrives(early), nack, "packet {in_order} further on");
                }
                for (late, next) in [(0, 2), (2, 4)] {
                    assert_eq!(arrives(late), Reply::Ack(first + 1_000 * next));
                }
                for packet in 4..70_000 {
                    arrives(packet);
                }
                assert_eq!(receiver.expected(), first + 70_001_000);
            }
        }
    }

    #[test]
    fn packets_are_acknowledged_when_asked_and_marks_are_not_lost() {
        let config = TransportConfig { ack_every: 4000, ..TransportConfig::default() };
        let mut receiver = Receiver::default();
        let mut answer = |seq, ack_requested, congestion_marked| {
            let data = Data { seq, payload: 1000, ack_requested, congestion_marked };
            receiver.answer(&config, Nanos(0), Nanos(0), &data)
        };
        assert_eq!(answer(0, false, true), AckDecision::NONE);
        let told = AckDecision { reply: Reply::Ack(2000), congestion_echo: true, ..AckDecision::NONE };
        assert_eq!(answer(1000, true, false), told);
        assert_eq!(answer(2000, true, false), AckDecision { reply: Reply::Ack(3000), ..AckDecision::NONE });
    }
}
