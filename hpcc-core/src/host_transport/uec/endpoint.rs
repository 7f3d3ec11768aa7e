// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ultra Ethernet at a host: its messages, both ends, the turns of its ports, and its alarms.

use super::credit::Credit;
use super::header::{Cause, HEADERS, UecHeader};
use super::nscc::{Nscc, NsccConfig};
use super::overbooking::Overbooking;
use super::pacer::{Demand, Demands, Pacer};
use super::receiver::{Receiver, Taken};
use super::sender::{Sender, SenderRules};
use super::{Control, Uec};
use crate::address::host_address;
use crate::balance::FlowKey;
use crate::host_transport::{Endpoint, Exits, HostSetup, Outbox, Packet, Post, Posted, Progress, TELEMETRY, Trimmed};
use crate::telemetry::{HopStack, Layout, Signal, Telemetry};
use crate::transport::{Counters, Entropies, Entropy, Slab, TransportConfig};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// The first source port of messages between two hosts.
const FIRST_PORT: u16 = 10_000;
/// Packets of credit in a grant.
const GRANT: u32 = 4;
/// Paths that grants take in turn.
const GRANT_PATHS: u16 = 128;

/// Key of an incoming message: source host, and number there.
type Arriving = (u32, u32);

/// A port of the host.
#[derive(Debug)]
struct Port {
    rate: BitRate,
    /// Messages that may send, the next first.
    turns: VecDeque<u32>,
}

/// Incoming messages, by source host and number there.
#[derive(Debug, Default)]
struct Receivers(BTreeMap<u32, Vec<Slot>>);

/// State of an incoming message; a whole one keeps no receiver.
#[derive(Debug, Default)]
enum Slot {
    #[default]
    Unknown,
    Open(Box<Receiver>),
    Whole,
}

impl Receivers {
    fn slot(&mut self, (source, number): Arriving) -> &mut Slot {
        let of_source = self.0.entry(source).or_default();
        let place = number as usize;
        if of_source.len() <= place {
            of_source.resize_with(place + 1, Slot::default);
        }
        &mut of_source[place]
    }

    fn get(&mut self, of: Arriving) -> Option<&mut Receiver> {
        match self.slot(of) {
            Slot::Open(receiver) => Some(receiver),
            Slot::Unknown | Slot::Whole => None,
        }
    }
}

impl Demands<Arriving> for Receivers {
    fn demand(&mut self, of: Arriving) -> Option<&mut Demand> {
        self.get(of).map(|receiver| &mut receiver.demand)
    }
}

/// Ultra Ethernet at a host.
#[derive(Debug)]
pub struct UecEndpoint {
    node: u32,
    settings: Uec,
    transport: TransportConfig,
    layout: Layout,
    /// Scratch space for decoding telemetry.
    stack: HopStack,
    ports: Vec<Port>,
    rules: SenderRules,
    /// Whether switches trim packets.
    trims: bool,
    senders: Slab<Sender>,
    /// How many messages went to each host.
    sent_to: BTreeMap<u32, u32>,
    receivers: Receivers,
    pacer: Pacer<Arriving>,
    overbooking: Option<Overbooking>,
    grants: u16,
    alarms: BinaryHeap<Reverse<(Nanos, u32)>>,
    counters: Counters,
}

impl UecEndpoint {
    /// The endpoint of `host`.
    pub fn new(settings: &Uec, host: &HostSetup<'_>) -> UecEndpoint {
        let &HostSetup { transport, network_rtt, .. } = host;
        let payload = transport.mtu;
        // An answer takes T at least.
        let timeout = transport.timeout.map_or(Nanos::LONGEST, |timeout| timeout.high.max(network_rtt));
        let finds_losses = settings.uec_loss_detection;
        let port = |&rate: &BitRate| Port { rate, turns: VecDeque::new() };
        let rate = BitRate(host.ports.iter().map(|rate| rate.0).sum());
        let ahead = Nscc::new(Nanos(0), rate, network_rtt, None).most() as i64;
        UecEndpoint {
            node: host.node,
            settings: settings.clone(),
            transport: *transport,
            layout: host.layout.clone(),
            stack: HopStack::default(),
            ports: host.ports.iter().map(port).collect(),
            rules: SenderRules { payload, nscc: None, network_rtt, finds_losses, timeout },
            trims: host.trims,
            senders: Slab::default(),
            sent_to: BTreeMap::new(),
            receivers: Receivers::default(),
            pacer: Pacer::new(rate, GRANT * payload, ahead),
            overbooking: (settings.uec_oversubscription > 1.0)
                .then(|| Overbooking::new(network_rtt, host.node, settings.uec_oversubscription)),
            grants: 0,
            alarms: BinaryHeap::new(),
            counters: Counters::default(),
        }
    }

    /// Whether all packets of a message take one path through each node.
    fn is_one_path(&self) -> bool {
        self.transport.entropy == Entropy::Flow
    }

    /// Parameters of the window of a message that leaves at this rate, if there is one.
    fn nscc(&self, rate: BitRate) -> Option<NsccConfig> {
        let SenderRules { payload, network_rtt, .. } = self.rules;
        let delay = self.settings.uec_target_delay;
        let config = NsccConfig::new(rate, network_rtt, payload, payload + HEADERS, self.trims, delay);
        (self.settings.uec_control != Control::Rccc).then_some(config)
    }

    /// Something has happened to a message: it may send, or have to wait for another time.
    fn look(&mut self, key: u32) {
        let Some(sender) = self.senders.get_mut(key) else { return };
        if sender.ports & !sender.listed != 0 && sender.may_send() {
            for port in bits(sender.ports & !sender.listed) {
                self.ports[port].turns.push_back(key);
            }
            sender.listed |= sender.ports;
        }
        if let Some(at) = sender.timeout()
            && sender.alarm.is_none_or(|alarm| at < alarm)
        {
            sender.alarm = Some(at);
            self.alarms.push(Reverse((at, key)));
        }
    }

    fn on_answer(&mut self, now: Nanos, packet: &Packet, say: &UecHeader, out: &mut Outbox) {
        let key = packet.connection;
        self.counters.marks_heard += u64::from(tells_mark(say));
        let Some(sender) = self.senders.get_mut(key) else { return };
        let telemetry = packet.header.get(..packet.telemetry.into()).unwrap_or_default();
        let told = self.layout.read(telemetry, &mut self.stack);
        let told =
            if let Telemetry::Signal(Signal::Delay(delay) | Signal::Queue(delay)) = told { Some(delay) } else { None };
        match *say {
            UecHeader::Ack(ref sack) => {
                sender.on_ack(now, packet.seq, packet.sport, sack, told);
                if sender.is_finished() {
                    self.senders.remove(key);
                    return out.finished.push(key);
                }
            }
            UecHeader::Nack { at_last_hop } => sender.on_nack(now, packet.seq, packet.sport, at_last_hop),
            UecHeader::Pull { granted } => sender.on_pull(now, granted),
            UecHeader::Data { .. } | UecHeader::Probe | UecHeader::RequestToSend { .. } => {}
        }
        self.look(key);
    }

    /// What a sender says has arrived.
    fn on_saying(&mut self, now: Nanos, packet: &Packet, say: &UecHeader, out: &mut Outbox) {
        let from = (packet.peer, packet.connection);
        if let Some(overbooking) = &mut self.overbooking {
            overbooking.on_packet(now, packet.marked, packet.trimmed);
        }
        let slot = self.receivers.slot(from);
        if let Slot::Unknown = slot {
            let count = packet.message.div_ceil(self.transport.mtu.into()).max(1);
            *slot = Slot::Open(Box::new(Receiver::new(packet, count)));
        }
        let receiver = match slot {
            Slot::Open(receiver) => receiver,
            Slot::Unknown | Slot::Whole => return out.packets.push(late_answer(packet, self.transport.mtu)),
        };
        let is_credited = self.settings.uec_control != Control::Nscc;
        let target = match *say {
            UecHeader::Data { pull_target, .. } | UecHeader::RequestToSend { pull_target } => pull_target,
            UecHeader::Probe | UecHeader::Ack(_) | UecHeader::Nack { .. } | UecHeader::Pull { .. } => 0,
        };
        if is_credited {
            self.pacer.ask(now, from, &mut receiver.demand, target);
        }
        let answer = match (say, packet.trimmed) {
            (&UecHeader::Data { again, .. }, Some(trimmed)) => {
                let answer = receiver.on_trimmed(packet, again, trimmed == Trimmed::LastHop);
                if is_credited && matches!(answer, UecHeader::Nack { .. }) {
                    self.pacer.request(now, from, &mut receiver.demand);
                }
                Some(answer)
            }
            (&UecHeader::Data { ack_requested, again, .. }, None) => {
                let Taken { answer, is_whole } =
                    receiver.on_data(packet, ack_requested, again, self.settings.uec_ack_bytes.0);
                if is_whole {
                    *slot = Slot::Whole;
                    out.arrived.push(from);
                }
                return out
                    .packets
                    .extend(answer.map(|answer| reflected(packet, answer_to(packet, &UecHeader::Ack(answer)))));
            }
            (UecHeader::RequestToSend { .. }, _) => {
                if is_credited {
                    self.pacer.request(now, from, &mut receiver.demand);
                }
                Some(UecHeader::Ack(receiver.answer(0, Cause::Request, false)))
            }
            (UecHeader::Probe, _) => Some(UecHeader::Ack(receiver.answer(packet.seq, Cause::Probe, packet.marked))),
            (UecHeader::Ack(_) | UecHeader::Nack { .. } | UecHeader::Pull { .. }, _) => None,
        };
        out.packets.extend(answer.map(|answer| answer_to(packet, &answer)));
    }

    fn grant(&mut self) -> Option<Packet> {
        let grant = self.pacer.grant(&mut self.receivers)?;
        let first = self.receivers.get(grant.to)?.first;
        self.grants = (self.grants + 1) % GRANT_PATHS;
        Some(Packet {
            sport: first.sport ^ self.grants,
            seq: 0,
            ..answer_to(&first, &UecHeader::Pull { granted: grant.total })
        })
    }
}

/// The numbers of the bits that are set, from the lowest on.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.checked_sub(1)?;
        Some(lowest as usize)
    })
}

/// Whether it is the answer to a marked packet.
fn tells_mark(say: &UecHeader) -> bool {
    matches!(say, UecHeader::Ack(sack) if sack.marked)
}

/// An answer to a packet.
fn answer_to(packet: &Packet, say: &UecHeader) -> Packet {
    let &Packet { peer, connection, reply_to, sport, dport, seq, .. } = packet;
    let answer = Packet { peer, connection: reply_to, reply_to: connection, sport, dport, seq, ..Packet::default() };
    Packet { size: HEADERS, header: say.encode(), marked: tells_mark(say), ..answer }
}

/// An answer with the telemetry of the packet that it is for.
fn reflected(packet: &Packet, mut answer: Packet) -> Packet {
    answer.header[..TELEMETRY].copy_from_slice(&packet.header[..TELEMETRY]);
    Packet { telemetry: packet.telemetry, ..answer }
}

/// The answer to a packet of a message that is there whole.
fn late_answer(packet: &Packet, mtu: u32) -> Packet {
    let count = packet.message.div_ceil(mtu.into()).max(1);
    let received = packet.message + count * u64::from(HEADERS);
    let sack = super::header::Sack { before: count, base: count, received, ..Default::default() };
    answer_to(packet, &UecHeader::Ack(sack))
}

impl Endpoint for UecEndpoint {
    fn post(&mut self, now: Nanos, message: &Post) -> Option<Posted> {
        let number = self.sent_to.get(&message.dst).copied().unwrap_or(0);
        let sport = FIRST_PORT + (number % u32::from(u16::MAX - FIRST_PORT)) as u16;
        let ports = message.exits.of_sprayed(self.is_one_path());
        let rate = BitRate(bits(ports).filter_map(|port| self.ports.get(port)).map(|port| port.rate.0).sum());
        let rules = SenderRules { nscc: self.nscc(rate), ..self.rules };
        let key = FlowKey {
            src_address: host_address(self.node),
            dst_address: host_address(message.dst),
            sport,
            dport: message.dport,
        };
        let first = self.settings.uec_first_window.map(|first| first.0 as f64);
        let window = Nscc::new(now, rate, message.base_rtt, first);
        let credit = Credit::new(window.most() as i64);
        let by = (
            (self.settings.uec_control != Control::Rccc).then_some(window),
            (self.settings.uec_control != Control::Nscc).then_some(credit),
        );
        let entropies = Entropies::of(&self.transport, key).map(Box::new);
        let key = self.senders.insert(Sender::new(now, message, ports, (number, sport), rules, by, entropies))?;
        self.sent_to.insert(message.dst, number + 1);
        self.look(key);
        Some(Posted { key, number, sport })
    }

    fn next(&mut self, now: Nanos, port: u16, paused: u8) -> Option<Packet> {
        let turns = &mut self.ports.get_mut(usize::from(port))?.turns;
        for _ in 0..turns.len() {
            let senders = turns.len();
            let key = turns.pop_front()?;
            let Some(sender) = self.senders.get_mut(key) else { continue };
            if paused >> (sender.post.priority & 7) & 1 != 0 {
                turns.push_back(key);
                continue;
            }
            sender.listed &= !(1 << port);
            if !sender.may_send() {
                continue;
            }
            let mut packet = sender.send(now, senders, &mut self.counters)?;
            packet.telemetry = self.layout.prepare(&mut packet.header[..TELEMETRY], now) as u16;
            self.look(key);
            return Some(Packet { reply_to: key, ..packet });
        }
        None
    }

    fn has_next(&self, port: u16) -> bool {
        self.ports.get(usize::from(port)).is_some_and(|port| !port.turns.is_empty())
    }

    fn receive(&mut self, now: Nanos, packet: &Packet, out: &mut Outbox) {
        match UecHeader::of(packet) {
            Some(say @ (UecHeader::Ack(_) | UecHeader::Nack { .. } | UecHeader::Pull { .. })) => {
                self.on_answer(now, packet, &say, out)
            }
            Some(say) => {
                self.counters.trims_heard += u64::from(packet.trimmed.is_some());
                let earlier = out.packets.len();
                self.on_saying(now, packet, &say, out);
                let is_told = out.packets[earlier..].iter().any(|answer| answer.marked);
                self.counters.marks_untold += u64::from(packet.marked && !is_told);
            }
            None => {}
        }
    }

    fn poll_timeout(&self) -> Option<Nanos> {
        let alarm = self.alarms.peek().map(|&Reverse((at, _))| at);
        let round = self.overbooking.and_then(|overbooking| overbooking.next());
        alarm.into_iter().chain(self.pacer.next()).chain(round).min()
    }

    fn on_timeout(&mut self, now: Nanos, out: &mut Outbox) {
        if let Some(overbooking) = self.overbooking.as_mut().filter(|own| own.next().is_some_and(|end| end <= now)) {
            self.pacer.rate = overbooking.end_round(now);
        }
        while self.pacer.next().is_some_and(|next| next <= now) {
            out.packets.extend(self.grant());
        }
        while let Some(&Reverse((at, key))) = self.alarms.peek()
            && at <= now
        {
            self.alarms.pop();
            let Some(sender) = self.senders.get_mut(key) else { continue };
            if sender.alarm == Some(at) {
                sender.alarm = None;
            }
            if sender.timeout().is_some_and(|timeout| timeout <= now) {
                let request = sender.on_timeout(now, &mut self.counters);
                out.packets.extend(request.map(|packet| Packet { reply_to: key, ..packet }));
            }
            self.look(key);
        }
    }

    fn arrived(&self, source: u32, number: u32) -> Option<u64> {
        let slot = self.receivers.0.get(&source).and_then(|slots| slots.get(number as usize));
        Some(match slot {
            Some(Slot::Open(receiver)) => receiver.payload(),
            Some(Slot::Whole) => u64::MAX,
            Some(Slot::Unknown) | None => 0,
        })
    }

    fn reroute(&mut self, exits: &dyn Fn(u32) -> Option<Exits>) {
        let is_one_path = self.is_one_path();
        for (_, key, sender) in self.senders.placed_mut() {
            let Some(exits) = exits(sender.post.dst) else { continue };
            sender.ports = exits.of_sprayed(is_one_path);
            if sender.listed == 0 {
                continue;
            }
            for port in bits(sender.listed & !sender.ports) {
                self.ports[port].turns.retain(|&listed| listed != key);
            }
            for port in bits(sender.ports & !sender.listed) {
                self.ports[port].turns.push_back(key);
            }
            sender.listed = sender.ports;
        }
    }

    fn progress(&self, key: u32) -> Option<Progress> {
        self.senders.get(key).map(Sender::progress)
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_transport::HostTransport;
    use crate::telemetry::{Asked, Csig};
    use crate::units::Bytes;
    use crate::wire::FrameSizes;

    const TAG: [u8; 4] = [0x99, 0x00, 0x44, 0x80];

    /// A first window of 100 kB where T is 12 us and the target 9 us. Its first packet of 1,064 bytes comes back after T with these
    /// bytes of telemetry, after a switch has trimmed it or not; returns what its answer brings, and the window then.
    fn answered(telemetry: &[u8], trimmed: Option<Trimmed>) -> (Vec<u8>, u64) {
        let transport = TransportConfig { mtu: 1_000, ..TransportConfig::default() };
        let setup = HostSetup {
            node: 0,
            ports: &[BitRate::gbps(100)],
            transport: &transport,
            sizes: FrameSizes::ULTRA_ETHERNET,
            network_rtt: Nanos(12_000),
            trims: true,
            layout: &Layout::new(Csig { csig_signal: Asked::Delay, ..Csig::default() }),
        };
        let uec = Uec { uec_first_window: Some(Bytes(100_000)), ..Uec::default() };
        let [mut sender, mut receiver] = [0, 1].map(|node| uec.start(&HostSetup { node, ..setup }).expect("one"));
        let (dst, base_rtt) = (1, Nanos(12_000));
        let post = Post {
            dst,
            dport: 1,
            priority: 3,
            size: 1_000_000,
            exits: Exits { usual: 0, all: 1, are_apart: true },
            base_rtt,
        };
        let key = sender.post(Nanos(10_000), &post).expect("room").key;
        let mut packet = sender.next(Nanos(10_000), 0, 0).expect("a packet");
        assert_eq!((packet.telemetry, &packet.header[..4]), (4, &[0x99, 0x00, 0x40, 0x00][..]));
        packet.header[..telemetry.len()].copy_from_slice(telemetry);
        let mut out = Outbox::default();
        packet = Packet { peer: 0, telemetry: telemetry.len() as u16, trimmed, ..packet };
        receiver.receive(Nanos(16_000), &packet, &mut out);
        let answer = Packet { peer: 1, ..out.packets[0] };
        sender.receive(Nanos(22_001), &answer, &mut out);
        (answer.header[..answer.telemetry.into()].into(), sender.progress(key).expect("under way").window)
    }

    /// 9 bands are 9,216 ns, above the target: the window grows by 5,000 * 1,064 / 100,000 bytes, and 150 once in T. With no delay
    /// that is 1 / 3 * 9,000 * 1,064 / 100,000, and 150.
    #[test]
    fn the_tag_is_the_delay_of_the_packet_that_brought_it() {
        assert_eq!(answered(&TAG, None), (TAG.into(), 100_203));
        assert_eq!(answered(&[0x99, 0x00, 0x40, 0x00], None).1, 100_181);
        assert_eq!(answered(&[], None), (Vec::new(), 100_181), "stripped: by the round trip");
        assert_eq!(answered(&[0x99, 0x00, 0xff, 0x09], None).1, 100_181, "no tag");
        assert_eq!(answered(&TAG, Some(Trimmed::Within)), (Vec::new(), 98_936), "its bytes less");
    }
}
