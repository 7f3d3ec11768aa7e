// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets at a fixed rate, whatever happens to them: load for tests. A message is over once all its packets have arrived.

use super::{Endpoint, HostSetup, HostTransport, Outbox, Packet, Post, Posted, Progress};
use crate::transport::Counters;
use crate::units::{BitRate, ExactNanos, Nanos, Rounding};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};

crate::settings! {
    /// Packets at a fixed rate.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Paced {
        /// Rate at which a host sends, headers included; its messages go one after the other.
        #[change = "Set it to the load that a test needs."]
        pub paced_rate: BitRate {BitRate(1)..=BitRate(1_000_000_000_000)} = BitRate::gbps(10) => kind = "paced";
    }
}

impl HostTransport for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }

    fn start(&self, host: &HostSetup<'_>) -> Option<Box<dyn Endpoint>> {
        let (rate, sizes, mtu) = (self.paced_rate, host.sizes, host.transport.mtu);
        let (gap, rounding) = (host.transport.frame_gap, host.transport.rounding());
        Some(Box::new(Pacer {
            rate,
            sizes,
            mtu,
            gap,
            rounding,
            keys: 0,
            sending: VecDeque::new(),
            unconfirmed: BTreeMap::new(),
            next: ExactNanos::default(),
            is_early: false,
            arrived: BTreeMap::new(),
            counters: Counters::default(),
        }))
    }
}

/// The first source port.
const FIRST_PORT: u16 = 10_000;

/// A host's.
#[derive(Debug)]
struct Pacer {
    rate: BitRate,
    sizes: FrameSizes,
    mtu: u32,
    /// Bytes for which a frame occupies its link besides its own.
    gap: u32,
    rounding: Rounding,
    keys: u32,
    /// Messages to send: key, place of the next byte.
    sending: VecDeque<(u32, Post, u64)>,
    /// Sent whole, or not yet.
    unconfirmed: BTreeMap<u32, u64>,
    /// When the next packet may leave, and whether one waits for that.
    next: ExactNanos,
    is_early: bool,
    /// Bytes that have arrived, by source and number.
    arrived: BTreeMap<(u32, u32), u64>,
    counters: Counters,
}

impl Endpoint for Pacer {
    fn post(&mut self, _: Nanos, message: &Post) -> Option<Posted> {
        let key = self.keys;
        self.keys = key.checked_add(1)?;
        self.sending.push_back((key, *message, 0));
        self.unconfirmed.insert(key, 0);
        Some(Posted { key, number: key, sport: FIRST_PORT + (key % 10_000) as u16 })
    }

    fn next(&mut self, now: Nanos, port: u16, paused: u8) -> Option<Packet> {
        let &mut (key, post, ref mut place) = self.sending.front_mut()?;
        self.is_early = now < self.next.nanos;
        if self.is_early || post.exits.usual != port || paused >> (post.priority & 7) & 1 != 0 {
            return None;
        }
        let (seq, payload) = (*place, (post.size - *place).min(self.mtu.into()) as u32);
        *place += u64::from(payload);
        self.unconfirmed.insert(key, *place);
        if *place == post.size {
            self.sending.pop_front();
        }
        let size = self.sizes.data(payload, false, 0);
        // As queue pairs keep their pace, from the first packet on.
        let is_kept = self.next != ExactNanos::default() && now.saturating_sub(self.next.nanos) <= Nanos(1);
        let since = if is_kept { self.next } else { now.into() };
        self.next = since.after(self.rate.tx_span(size + self.gap, self.rounding));
        let sport = FIRST_PORT + (key % 10_000) as u16;
        let Post { dst: peer, dport, priority, size: message, .. } = post;
        let packet = Packet { is_data: true, peer, connection: key, reply_to: key, sport, dport, ..Packet::default() };
        Some(Packet { priority, seq, payload, size, message, ..packet })
    }

    fn has_next(&self, _: u16) -> bool {
        !self.sending.is_empty() && !self.is_early
    }

    fn receive(&mut self, _: Nanos, packet: &Packet, out: &mut Outbox) {
        if !packet.is_data {
            self.unconfirmed.remove(&packet.connection);
            out.finished.push(packet.connection);
            return;
        }
        // Nobody is told of marks.
        self.counters.marks_untold += u64::from(packet.marked);
        let place = (packet.peer, packet.connection);
        let arrived = self.arrived.entry(place).or_default();
        *arrived += if packet.trimmed.is_none() { u64::from(packet.payload) } else { 0 };
        if *arrived == packet.message {
            out.arrived.push(place);
            let (connection, reply_to, size) = (packet.reply_to, packet.connection, self.sizes.ack(0));
            let answer = Packet { is_data: false, marked: false, priority: 0, payload: 0, ..*packet };
            out.packets.push(Packet { connection, reply_to, size, ..answer });
        }
    }

    fn poll_timeout(&self) -> Option<Nanos> {
        self.is_early.then_some(self.next.nanos)
    }

    fn on_timeout(&mut self, now: Nanos, _: &mut Outbox) {
        self.is_early &= now < self.next.nanos;
    }

    fn arrived(&self, source: u32, number: u32) -> Option<u64> {
        Some(self.arrived.get(&(source, number)).copied().unwrap_or(0))
    }

    fn progress(&self, key: u32) -> Option<Progress> {
        let sent = *self.unconfirmed.get(&key)?;
        Some(Progress { acked: 0, in_flight: sent, window: 0, rate: Some(self.rate) })
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_transport::Exits;
    use crate::telemetry::Layout;
    use crate::transport::TransportConfig;

    /// 1,048 bytes take 838 ns at 10 Gb/s, and the last 548 bytes of the first message 438 ns.
    #[test]
    fn packets_leave_at_the_rate_and_messages_end_with_their_last_byte() {
        let transport = TransportConfig::default();
        let setup = HostSetup {
            node: 1,
            ports: &[BitRate::gbps(100)],
            transport: &transport,
            sizes: FrameSizes::REFERENCE,
            network_rtt: Nanos(0),
            trims: false,
            layout: &Layout::none(),
        };
        let mut sender = Paced::default().start(&setup).expect("an endpoint");
        let mut receiver = Paced::default().start(&setup).expect("an endpoint");
        let post = Post {
            dst: 0,
            dport: 1,
            priority: 3,
            size: 1_500,
            exits: Exits { usual: 0, all: 1, are_apart: true },
            base_rtt: Nanos(0),
        };
        let first = sender.post(Nanos(0), &post).expect("room");
        sender.post(Nanos(0), &Post { size: 10, ..post }).expect("room");
        assert_eq!(sender.next(Nanos(0), 0, 1 << 3), None, "paused");
        let mut out = Outbox::default();
        let mut sent = alloc::vec::Vec::new();
        for now in [0, 10, 838, 839, 1_276] {
            if let Some(packet) = sender.next(Nanos(now), 0, 0) {
                sent.push((now, packet.payload));
                receiver.receive(Nanos(now), &Packet { peer: 1, ..packet }, &mut out);
            }
            assert_eq!(sender.poll_timeout().is_some(), now == 10 || now == 839, "{now}");
            sender.on_timeout(Nanos(now + 1_000), &mut Outbox::default());
        }
        assert_eq!(sent, [(0, 1_000), (838, 500), (1_276, 10)]);
        assert_eq!(out.arrived, [(1, 0), (1, 1)]);
        let answer = out.packets[0];
        sender.receive(Nanos(2_000), &answer, &mut out);
        assert_eq!((out.finished.as_slice(), sender.progress(first.key)), (&[first.key][..], None));
    }
}
