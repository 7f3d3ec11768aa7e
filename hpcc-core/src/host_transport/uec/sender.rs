// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end of a message: which packet may leave, and what answers change.

use super::credit::Credit;
use super::header::{Cause, HEADERS, Sack, UecHeader};
use super::nscc::{AckInfo, Nscc, NsccConfig};
use super::sleek::Sleek;
use crate::host_transport::{Packet, Post, Progress};
use crate::transport::{Counters, Entropies};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};

/// What all messages by one port have in common.
#[derive(Clone, Copy, Debug)]
pub struct SenderRules {
    /// Most payload of a packet.
    pub payload: u32,
    /// Parameters of the window; `None`: nothing bounds it.
    pub nscc: Option<NsccConfig>,
    /// T of the longest path.
    pub network_rtt: Nanos,
    /// Whether losses are found without trimming.
    pub finds_losses: bool,
    /// After this time a packet without an answer is taken as lost.
    pub timeout: Nanos,
}

impl SenderRules {
    /// Bytes of a full packet.
    pub fn mtu(&self) -> u32 {
        self.payload + HEADERS
    }

    /// Packets of a message.
    pub fn packets(&self, message: u64) -> u64 {
        message.div_ceil(self.payload.into()).max(1)
    }
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    state: State,
    /// Time of the last transmission.
    at: Nanos,
    /// Retransmissions so far.
    repeats: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    /// To be retransmitted.
    Lost,
    Arrived,
}

/// A message being sent.
#[derive(Debug)]
pub struct Sender {
    pub post: Post,
    /// Ports by which it leaves; bits.
    pub ports: u64,
    /// Number by which the receiver knows it.
    pub number: u32,
    pub sport: u16,
    /// Ports in whose `turns` it is; bits.
    pub listed: u64,
    /// Time of its earliest alarm.
    pub alarm: Option<Nanos>,
    rules: SenderRules,
    window: Option<Nscc>,
    credit: Option<Credit>,
    entropies: Option<Box<Entropies>>,
    count: u64,
    /// All packets before this one have arrived.
    before: u64,
    /// The packets sent, from `before` on.
    sent: VecDeque<Sent>,
    /// Send times and numbers, oldest first, of packets that may be answered.
    by_time: VecDeque<(Nanos, u64)>,
    lost: BTreeSet<u64>,
    /// Received bytes as last reported.
    received: u64,
    in_flight: i64,
    /// When a request to send left, and whether it waits for an answer.
    requested: Option<Nanos>,
    awaits_answer: bool,
    /// Time of the last packet sent or received.
    active: Nanos,
    sleek: Option<Sleek>,
}

impl Sender {
    /// A message that begins.
    pub fn new(
        now: Nanos,
        post: &Post,
        ports: u64,
        (number, sport): (u32, u16),
        rules: SenderRules,
        (window, credit): (Option<Nscc>, Option<Credit>),
        entropies: Option<Box<Entropies>>,
    ) -> Sender {
        Sender {
            post: *post,
            ports,
            number,
            sport,
            listed: 0,
            alarm: None,
            rules,
            window,
            credit,
            entropies,
            count: rules.packets(post.size),
            before: 0,
            sent: VecDeque::new(),
            by_time: VecDeque::new(),
            lost: BTreeSet::new(),
            received: 0,
            in_flight: 0,
            requested: None,
            awaits_answer: false,
            active: now,
            sleek: (rules.finds_losses && rules.nscc.is_some()).then(Sleek::default),
        }
    }

    /// Whether all packets are acknowledged.
    pub fn is_finished(&self) -> bool {
        self.before == self.count
    }

    /// Its progress.
    pub fn progress(&self) -> Progress {
        Progress {
            acked: (self.before * u64::from(self.rules.payload)).min(self.post.size),
            in_flight: self.in_flight.max(0) as u64,
            window: self.window.as_ref().map_or(0, |window| window.window() as u64),
            rate: None,
        }
    }

    fn payload(&self, packet: u64) -> u32 {
        let start = packet * u64::from(self.rules.payload);
        (self.post.size - start).min(self.rules.payload.into()) as u32
    }

    fn bytes(&self, packet: u64) -> u32 {
        self.payload(packet) + HEADERS
    }

    /// The first packet that was never sent.
    fn fresh(&self) -> u64 {
        self.before + self.sent.len() as u64
    }

    /// The packet that leaves next: what was lost first.
    fn next(&self) -> Option<u64> {
        self.lost.first().copied().or_else(|| Some(self.fresh()).filter(|&fresh| fresh < self.count))
    }

    /// Bytes that are to be sent, headers included.
    fn backlog(&self) -> i64 {
        let fresh = self.fresh();
        let left = self.post.size.saturating_sub(fresh * u64::from(self.rules.payload));
        let lost: i64 = self.lost.iter().map(|&packet| i64::from(self.bytes(packet))).sum();
        (left + (self.count - fresh) * u64::from(HEADERS)) as i64 + lost
    }

    /// Whether window and credit let a packet leave, if there is one.
    pub fn may_send(&self) -> bool {
        let Some(next) = self.next() else { return false };
        let bytes = f64::from(self.bytes(next));
        let goes_ahead = !self.lost.is_empty() && self.sleek.is_some_and(|sleek| sleek.is_recovering());
        // One packet may always be on its way: without its answer no window would grow.
        let fits = |window: &Nscc| self.in_flight <= 0 || window.window() >= self.in_flight as f64 + bytes;
        self.credit.is_none_or(|credit| credit.may_send()) && (goes_ahead || self.window.as_ref().is_none_or(fits))
    }

    /// The next packet, which [may leave](Sender::may_send), of one of `senders` of its port.
    pub fn send(&mut self, now: Nanos, senders: usize, counters: &mut Counters) -> Option<Packet> {
        let seq = self.next()?;
        self.active = now;
        let (payload, size) = (self.payload(seq), self.bytes(seq));
        let again = self.lost.remove(&seq);
        counters.resent += u64::from(again);
        if again {
            let sent = &mut self.sent[(seq - self.before) as usize];
            *sent = Sent { state: State::InFlight, at: now, repeats: sent.repeats + 1 };
        } else {
            self.sent.push_back(Sent { state: State::InFlight, at: now, repeats: 0 });
        }
        self.by_time.push_back((now, seq));
        self.in_flight += i64::from(size);
        if let Some(credit) = &mut self.credit {
            credit.spend(size);
        }
        let stops = self.fresh() == self.count
            || self.credit.is_some_and(|credit| !credit.may_send())
            || self.window.as_ref().is_some_and(|window| self.in_flight as f64 + f64::from(size) >= window.window());
        let say = UecHeader::Data { ack_requested: again || stops, again, pull_target: self.pull_target(senders) };
        let sport = self.entropies.as_mut().map_or(self.sport, |entropies| entropies.next_port(now));
        Some(Packet { is_data: true, sport, seq, payload, priority: self.post.priority, ..self.packet(say, size) })
    }

    /// A packet of this connection.
    fn packet(&self, say: UecHeader, size: u32) -> Packet {
        let Post { dst, dport, size: message, .. } = self.post;
        let (connection, sport) = (self.number, self.sport);
        Packet { peer: dst, connection, sport, dport, size, message, header: say.encode(), ..Packet::default() }
    }

    fn pull_target(&self, senders: usize) -> i64 {
        let Some(credit) = &self.credit else { return 0 };
        let mtu = self.rules.mtu();
        let cap = self.window.as_ref().map(|window| window.window() as i64 + i64::from(mtu));
        credit.target(self.backlog(), cap, mtu, senders)
    }

    /// The receiver has acknowledged packets, by an answer with this number and source port.
    /// Its tag may have told the queuing delay.
    pub fn on_ack(&mut self, now: Nanos, seq: u64, sport: u16, sack: &Sack, told: Option<Nanos>) {
        self.active = now;
        let newly = sack.received.saturating_sub(self.received);
        self.received += newly;
        self.in_flight -= newly as i64;
        let rtt = self.round_trip(now, seq, sack);
        while self.before < sack.before.min(self.count) && !self.sent.is_empty() {
            self.arrived(self.before);
            self.sent.pop_front();
            self.before += 1;
        }
        let mut bitmap = sack.bitmap;
        while bitmap != 0 {
            self.arrived(sack.base + u64::from(bitmap.trailing_zeros()));
            bitmap &= bitmap - 1;
        }
        if let Some(entropies) = &mut self.entropies {
            entropies.on_ack(sport, sack.marked);
        }
        if let (Some(window), Some(config)) = (&mut self.window, &self.rules.nscc) {
            let (received, in_flight) = (newly as f64, self.in_flight as f64);
            let delay = window.on_ack(config, &AckInfo { now, marked: sack.marked, received, rtt, told, in_flight });
            let is_quick = sack.cause == Cause::Probe && delay < config.target;
            self.find_losses(now, sack.out_of_order, is_quick);
        }
        self.awaits_answer &= sack.cause != Cause::Request;
        self.stop_speculating();
    }

    /// Detects losses by packets out of order, or a probe's quick answer.
    fn find_losses(&mut self, now: Nanos, out_of_order: u32, is_quick: bool) {
        let (Some(sleek), Some(window), Some(config)) = (&mut self.sleek, &self.window, &self.rules.nscc) else {
            return;
        };
        let (before, sent) = (self.before, self.before + self.sent.len() as u64);
        sleek.on_answer(now, config, window, sent == self.count);
        if is_quick {
            sleek.on_quick_answer(before, sent);
        }
        let mss = f64::from(self.rules.payload);
        for packet in sleek.lost(window, mss, before, sent, out_of_order, !self.lost.is_empty()) {
            if self.in_flight(packet).is_some() {
                self.lose(packet);
                if let Some(sleek) = &mut self.sleek {
                    sleek.next = packet + 1;
                }
            }
        }
    }

    /// How long it took from a packet to its acknowledgement, if it is clear which of its transmissions that is for.
    fn round_trip(&self, now: Nanos, seq: u64, sack: &Sack) -> Option<Nanos> {
        if sack.cause == Cause::Probe {
            return self.sleek?.round_trip(now, seq);
        }
        let sent = self.in_flight(seq).filter(|_| sack.cause == Cause::Data)?;
        matches!((sent.repeats, sack.again), (0, false) | (1, true)).then(|| now - sent.at)
    }

    fn in_flight(&self, packet: u64) -> Option<&Sent> {
        let place = packet.checked_sub(self.before)?;
        self.sent.get(place as usize).filter(|sent| sent.state == State::InFlight)
    }

    fn arrived(&mut self, packet: u64) {
        let Some(place) = packet.checked_sub(self.before) else { return };
        let Some(sent) = self.sent.get_mut(place as usize) else { return };
        if core::mem::replace(&mut sent.state, State::Arrived) == State::Lost {
            self.lost.remove(&packet);
            // It was taken out when it was taken as lost, and again by the bytes that were received.
            self.in_flight += i64::from(self.bytes(packet));
        }
    }

    /// A packet was trimmed.
    pub fn on_nack(&mut self, now: Nanos, seq: u64, sport: u16, at_last_hop: bool) {
        let Some(sent) = self.in_flight(seq).copied() else { return };
        self.active = now;
        let bytes = self.bytes(seq);
        if let (Some(window), Some(config)) = (&mut self.window, &self.rules.nscc) {
            let heard = AckInfo {
                now,
                marked: true,
                received: 0.0,
                rtt: Some(now - sent.at),
                told: None,
                in_flight: self.in_flight as f64,
            };
            window.on_trimmed(config, &heard, bytes.into(), self.credit.is_none() || !at_last_hop);
        }
        self.stop_speculating();
        self.lose(seq);
        if let Some(entropies) = &mut self.entropies {
            if at_last_hop { entropies.on_ack(sport, false) } else { entropies.on_trimmed(sport) }
        }
    }

    /// The receiver has granted `granted` quanta since the start.
    pub fn on_pull(&mut self, now: Nanos, granted: i64) {
        self.active = now;
        self.stop_speculating();
        self.awaits_answer = false;
        if let Some(credit) = &mut self.credit {
            credit.on_pull(granted);
        }
    }

    fn stop_speculating(&mut self) {
        if let Some(credit) = &mut self.credit {
            credit.stop_speculating();
        }
    }

    fn lose(&mut self, packet: u64) {
        let bytes = i64::from(self.bytes(packet));
        self.sent[(packet - self.before) as usize].state = State::Lost;
        self.lost.insert(packet);
        self.in_flight -= bytes;
    }

    /// The packet that has waited longest for an answer.
    fn oldest(&mut self) -> Option<(Nanos, u64)> {
        while let Some(&(at, packet)) = self.by_time.front() {
            if self.in_flight(packet).is_some_and(|sent| sent.at == at) {
                return Some((at, packet));
            }
            self.by_time.pop_front();
        }
        None
    }

    /// When [`Sender::on_timeout`] is due.
    pub fn timeout(&mut self) -> Option<Nanos> {
        if self.is_finished() {
            return None;
        }
        let probe = self.sleek.and_then(|sleek| sleek.probe_at);
        probe.into_iter().chain([self.waits_since() + self.rules.timeout]).min()
    }

    /// Since when it waits for an answer: to a packet, to a request or, with neither, for credit.
    fn waits_since(&mut self) -> Nanos {
        let asked = self.requested.filter(|_| self.awaits_answer);
        self.oldest().map(|(at, _)| at).into_iter().chain(asked).min().unwrap_or(self.active)
    }

    /// Checks for losses. Returns a probe or request that leaves now.
    pub fn on_timeout(&mut self, now: Nanos, counters: &mut Counters) -> Option<Packet> {
        if let (Some(sleek), Some(window)) = (&mut self.sleek, &self.window)
            && sleek.probe_at.is_some_and(|at| at <= now)
        {
            counters.probes += 1;
            let seq = sleek.send_probe(now, window);
            let sport = self.entropies.as_mut().map_or(self.sport, |entropies| entropies.next_port(now));
            let priority = self.post.priority;
            return Some(Packet { is_data: true, seq, sport, priority, ..self.packet(UecHeader::Probe, HEADERS) });
        }
        let Some((_, packet)) = self.oldest().filter(|&(at, _)| at + self.rules.timeout <= now) else {
            return self.request(now);
        };
        if let Some(sleek) = self.sleek.as_mut().filter(|sleek| sleek.is_recovering()) {
            // The next answer says whether it was lost; it may be repeated again.
            sleek.next = sleek.next.min(packet);
            self.by_time.pop_front();
            return None;
        }
        counters.timeouts += 1;
        if let Some(entropies) = &mut self.entropies {
            entropies.on_timeout(now);
        }
        let others_wait = !self.lost.is_empty();
        let bytes = self.bytes(packet);
        self.lose(packet);
        if let (Some(window), Some(config)) = (&mut self.window, &self.rules.nscc) {
            window.on_lost(config, bytes.into());
        }
        if others_wait {
            self.stop_speculating();
        }
        let asks = if others_wait { self.credit.is_some() } else { !self.may_send() };
        if asks { self.request(now) } else { None }
    }

    /// Asks the receiver for credit and an answer, once in T.
    fn request(&mut self, now: Nanos) -> Option<Packet> {
        (self.awaits_answer, self.active) = (true, now);
        if self.requested.is_some_and(|at| now - at < self.rules.network_rtt) {
            return None;
        }
        self.requested = Some(now);
        let say = UecHeader::RequestToSend { pull_target: self.pull_target(1) };
        Some(Packet { seq: u64::MAX, ..self.packet(say, HEADERS) })
    }
}
