// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host: its ports, its sending and its receiving queue pairs.

use super::TransportConfig;
use super::nic::{Nic, NicRules, Poll, Sender};
use super::queue_pair::{Effects, QueuePair};
use super::receiver::{Answer, Data, Receiver, Reply};
use super::slab::Slab;
use super::timeout::RETRANSMISSION_TIMER;
use crate::cc::{Algorithm, Armed, Feedback, FlowLimits};
use crate::random::Chance;
use crate::switch::{FlowKey, HOST_SEED};
use crate::telemetry::{HopStack, Layout};
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, Nanos};
use crate::wire::FrameSizes;
use alloc::vec::Vec;

/// What identifies a flow on the wire, and where it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderSpec {
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// UDP source port: the flow's entropy.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Priority group, 0 to 7.
    pub priority: u8,
    /// Key of the receiving queue pair at the destination.
    pub receiver: u32,
}

/// What an acknowledgement led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckResult {
    /// The port of the flow, on which sending should be tried again.
    pub nic: usize,
    /// Whether this acknowledgement finished the flow.
    pub finished: bool,
    /// Timers of the flow that were armed; none once it has finished.
    pub armed: Armed,
}

/// What a timer led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutResult {
    /// The port of the flow, whose wake-up may have moved.
    pub nic: usize,
    /// Timers of the flow that were armed.
    pub armed: Armed,
    /// Whether the flow now has something to send again: sending should be tried on the port.
    pub send: bool,
}

/// An acknowledgement as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Key of the sending queue pair that it is for.
    pub queue_pair: u32,
    /// First byte that the receiver still expects.
    pub seq: u64,
    /// Whether it says that this byte is missing.
    pub nack: bool,
    /// First byte of the packet that arrived in its place, under selective repeat.
    pub selective: Option<u64>,
    /// Whether the packet that caused it carried a congestion mark.
    pub congestion_marked: bool,
    /// That packet's telemetry section.
    pub telemetry: &'a [u8],
}

/// A host's transport.
#[derive(Clone, Debug)]
pub struct Host {
    rules: NicRules,
    algorithm: Algorithm,
    nics: Vec<Nic>,
    routes: RouteTable,
    senders: Slab<Sender>,
    receivers: Slab<Receiver>,
    /// Where the telemetry of an acknowledgement is decoded.
    hops: HopStack,
    resent: u64,
    timeouts: u64,
}

impl Host {
    /// A host whose ports, counted from 0, have these rates.
    pub fn new(
        transport: TransportConfig,
        algorithm: Algorithm,
        layout: Layout,
        sizes: FrameSizes,
        port_rates: &[BitRate],
        routes: RouteTable,
    ) -> Self {
        Host {
            rules: NicRules { transport, sizes, layout },
            algorithm,
            nics: port_rates.iter().map(|&rate| Nic::new(rate)).collect(),
            routes,
            senders: Slab::default(),
            receivers: Slab::default(),
            hops: HopStack::default(),
            resent: 0,
            timeouts: 0,
        }
    }

    /// Starts a flow of `size` bytes on port `nic`. `base_rtt` is T; `bdp` the window in bytes at line rate.
    /// Returns the queue pair's key, or `None` if there is no such port or no room for another queue pair.
    pub fn open_sender(
        &mut self,
        now: Nanos,
        nic: usize,
        spec: SenderSpec,
        size: u64,
        base_rtt: Nanos,
        bdp: u64,
    ) -> Option<u32> {
        let port = self.nics.get_mut(nic)?;
        let transport = &self.rules.transport;
        let window = if transport.window || transport.is_selective() { bdp } else { 0 };
        // What fits on the path at line rate, also where nothing bounds the flow to it.
        let no_window = window == 0 && !transport.quirks.windowless_hpcc;
        let path_bytes = if no_window { bytes_in(port.line_rate, base_rtt) } else { window };
        let limits = FlowLimits { line_rate: port.line_rate, base_rtt, window, path_bytes, mtu: transport.mtu };
        let qp = QueuePair::new(transport, size, spec.priority, limits, self.algorithm.start(limits), now);
        let key = self.senders.insert(Sender { qp, spec, nic })?;
        port.add(key);
        Some(key)
    }

    /// Replaces all routes. Flows stay at their ports until they are [reassigned](Host::reassign).
    pub fn set_routes(&mut self, routes: RouteTable) {
        self.routes = routes;
    }

    /// Takes all flows from their ports; those that have finished are forgotten.
    pub fn clear_ports(&mut self) {
        for nic in &mut self.nics {
            nic.clear(&mut self.senders);
        }
    }

    /// Gives a flow to the port that its route leads to now; returns the port, or `None` if there is no route.
    pub fn reassign(&mut self, queue_pair: u32, key: &FlowKey) -> Option<u16> {
        let dst = self.senders.get(queue_pair)?.spec.dst;
        let port = self.route(key, dst)?;
        self.senders.get_mut(queue_pair)?.nic = usize::from(port);
        self.nics.get_mut(usize::from(port))?.add(queue_pair);
        Some(port)
    }

    /// The port, counted from 0, by which frames of a flow leave for host `dst`.
    #[inline]
    pub fn route(&self, key: &FlowKey, dst: u32) -> Option<u16> {
        key.choose(HOST_SEED, self.routes.next_hops(dst))
    }

    /// Prepares for a flow that will arrive. `None` if there is no room for another queue pair.
    pub fn open_receiver(&mut self) -> Option<u32> {
        self.receivers.insert(Receiver::default())
    }

    /// The flow of a receiving queue pair has finished. Packets that still arrive are for nobody. (In the
    /// reference they find it as it was at the start.)
    pub fn close_receiver(&mut self, receiver: u32) {
        if !self.rules.transport.quirks.nack_late_packets {
            self.receivers.remove(receiver);
            return;
        }
        if let Some(state) = self.receivers.get_mut(receiver) {
            *state = Receiver::default();
            self.receivers.retire(receiver);
        }
    }

    /// The sending queue pair under `key`, until some time after it finished.
    pub fn sender(&self, key: u32) -> Option<&QueuePair> {
        self.senders.get(key).map(|sender| &sender.qp)
    }

    /// The packet that port `nic` may send at `now`; bit n of `paused` stops priority n.
    #[inline]
    pub fn poll(&mut self, nic: usize, now: Nanos, paused: u8) -> Poll {
        let Some(port) = self.nics.get_mut(nic) else { return Poll::Wait };
        let poll = port.poll(&mut self.senders, &self.rules, now, paused);
        if let Poll::Send(segment) = &poll {
            self.resent += u64::from(segment.again);
        }
        poll
    }

    /// Packets that were sent again.
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// Retransmission timeouts.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Places for queue pairs, sending and receiving, in use or not: the most that there ever were at a time.
    pub fn places(&self) -> (usize, usize) {
        (self.senders.places(), self.receivers.places())
    }

    /// Bytes on the link of an acknowledgement that carries `telemetry` bytes and, if `selective`, names a packet that
    /// arrived out of order.
    #[inline]
    pub fn ack_bytes(&self, telemetry: u32, selective: bool) -> u32 {
        let selective = if selective { FrameSizes::SELECTIVE_ACK } else { 0 };
        self.rules.sizes.ack(telemetry + selective)
    }

    /// When port `nic` wants to be polled again though nothing else happens.
    #[inline]
    pub fn wake_at(&self, nic: usize) -> Option<Nanos> {
        self.nics.get(nic).and_then(Nic::wake)
    }

    /// The time of [`Host::wake_at`] has come; the caller polls next.
    #[inline]
    pub fn on_wake(&mut self, nic: usize) {
        if let Some(port) = self.nics.get_mut(nic) {
            port.on_wake();
        }
    }

    /// The answer to a data packet.
    #[inline]
    pub fn on_data(&mut self, now: Nanos, receiver: u32, data: &Data) -> Answer {
        let transport = &self.rules.transport;
        let mut answer = match self.receivers.get_mut(receiver) {
            Some(receiver) => receiver.answer(transport, now, data),
            None if transport.quirks.nack_late_packets => Receiver::default().answer(transport, now, data),
            None => return Answer { reply: Reply::Silence, congestion_echo: false },
        };
        answer.congestion_echo = answer.congestion_echo && self.notifies(now, receiver);
        answer
    }

    /// Whether the answer to a packet that carried a congestion mark says so. DCQCN's receiver does once in an
    /// interval, all others for every packet.
    fn notifies(&mut self, now: Nanos, receiver: u32) -> bool {
        let Algorithm::Dcqcn(config) = &self.algorithm else { return true };
        if self.rules.transport.quirks.notify_every_mark {
            return true;
        }
        let interval = config.notification_interval;
        self.receivers.get_mut(receiver).is_none_or(|receiver| receiver.notifies(now, interval))
    }

    /// Takes in an acknowledgement. `None` if it is for no flow that is under way.
    #[inline]
    pub fn on_ack(&mut self, now: Nanos, ack: &Ack<'_>, chance: &mut Chance) -> Option<AckResult> {
        let Sender { qp, nic, .. } = self.senders.get_mut(ack.queue_pair).filter(|sender| !sender.qp.is_finished())?;
        let transport = &self.rules.transport;
        let acked = qp.acked();
        let finished = qp.on_ack(transport, ack.seq);
        if transport.recovers() {
            qp.recover(transport, now, qp.acked() > acked, ack);
        } else if ack.nack {
            qp.go_back();
        }
        let feedback = Feedback {
            now,
            ack_seq: ack.seq,
            snd_nxt: qp.snd_nxt(),
            congestion_marked: ack.congestion_marked,
            telemetry: self.rules.layout.read(ack.telemetry, &mut self.hops),
        };
        let Effects { repaced, armed } = qp.on_feedback(transport, &feedback, chance);
        if repaced {
            self.nics[*nic].advance_wake(qp.next_avail(), now);
        }
        Some(AckResult { nic: *nic, finished, armed: if finished { Armed(0) } else { armed } })
    }

    /// Timers of a flow that were armed when it was opened.
    pub fn take_armed(&mut self, queue_pair: u32) -> Armed {
        self.senders.get_mut(queue_pair).map_or(Armed(0), |sender| sender.qp.take_armed())
    }

    /// When a timer of a flow is due, if it is armed.
    pub fn timeout(&self, queue_pair: u32, timer: u8) -> Option<Nanos> {
        self.sender(queue_pair).and_then(|qp| qp.timeout(timer))
    }

    /// The time of a flow's timer has come. `None` if the flow is not under way.
    pub fn on_timeout(&mut self, now: Nanos, queue_pair: u32, timer: u8) -> Option<TimeoutResult> {
        let Sender { qp, nic, .. } = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_finished())?;
        if timer == RETRANSMISSION_TIMER {
            let send = qp.on_retransmission_timer(&self.rules.transport, now);
            self.timeouts += u64::from(send);
            return Some(TimeoutResult { nic: *nic, armed: qp.take_armed(), send });
        }
        let Effects { repaced, armed } = qp.on_timeout(&self.rules.transport, timer, now);
        if repaced {
            self.nics[*nic].advance_wake(qp.next_avail(), now);
        }
        Some(TimeoutResult { nic: *nic, armed, send: false })
    }
}

/// Bytes that a link carries in a time.
fn bytes_in(rate: BitRate, time: Nanos) -> u64 {
    let bytes = u128::from(rate.0) * u128::from(time.0) / 8_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::DcqcnConfig;
    use crate::quirks::Quirks;

    const SPEC: SenderSpec = SenderSpec { src: 0, dst: 1, sport: 10_000, dport: 100, priority: 3, receiver: 0 };

    fn host() -> Host {
        host_with(Algorithm::LineRate)
    }

    fn host_with(algorithm: Algorithm) -> Host {
        host_with_quirks(algorithm, Quirks::NONE)
    }

    fn host_with_quirks(algorithm: Algorithm, quirks: Quirks) -> Host {
        let transport = TransportConfig { quirks, ..TransportConfig::default() };
        let rates = [BitRate::gbps(100)];
        Host::new(transport, algorithm, Layout::None, FrameSizes::REFERENCE, &rates, RouteTable::default())
    }

    fn open(host: &mut Host, size: u64) -> u32 {
        host.open_sender(Nanos(0), 0, SPEC, size, Nanos(4_160), 52_000).expect("room")
    }

    fn ack(queue_pair: u32, seq: u64) -> Ack<'static> {
        Ack { queue_pair, seq, nack: false, selective: None, congestion_marked: false, telemetry: &[] }
    }

    fn data(host: &mut Host, receiver: u32, seq: u64) -> Reply {
        let data = Data { seq, payload: 1_000, ack_requested: false, congestion_marked: false };
        host.on_data(Nanos(0), receiver, &data).reply
    }

    fn chance() -> Chance {
        Chance::new(26, 1)
    }

    fn sent(poll: Poll) -> (u32, u64) {
        match poll {
            Poll::Send(segment) => (segment.queue_pair, segment.seq),
            Poll::Wait => panic!("nothing sent"),
        }
    }

    #[test]
    fn queue_pairs_take_turns() {
        let mut host = host();
        let keys = [open(&mut host, 9_000), open(&mut host, 9_000), open(&mut host, 9_000)];
        let turns: Vec<u32> = (0..6).map(|n| sent(host.poll(0, Nanos(n * 1_000), 0)).0).collect();
        assert_eq!(turns, [keys[1], keys[2], keys[0], keys[1], keys[2], keys[0]]);
    }

    #[test]
    fn pacing_plans_a_wake_up() {
        let mut host = host();
        open(&mut host, 9_000);
        sent(host.poll(0, Nanos(0), 0));
        assert_eq!(host.wake_at(0), None);
        assert_eq!(host.poll(0, Nanos(10), 0), Poll::Wait);
        assert_eq!(host.wake_at(0), Some(Nanos(84)), "1048 bytes take 83.84 ns");
        host.on_wake(0);
        sent(host.poll(0, Nanos(84), 0));
    }

    #[test]
    fn pacing_floors_in_the_reference() {
        let mut host = host_with_quirks(Algorithm::LineRate, Quirks { floored_times: true, ..Quirks::NONE });
        open(&mut host, 9_000);
        sent(host.poll(0, Nanos(0), 0));
        host.poll(0, Nanos(10), 0);
        assert_eq!(host.wake_at(0), Some(Nanos(83)));
    }

    /// One flow waits for its window since long, the other for its pacing: the reference sleeps over the second.
    #[test]
    fn a_blocked_queue_pair_does_not_hide_the_wake_up_of_another() {
        for (missed_wakeups, expected) in [(false, Some(Nanos(1_084))), (true, None)] {
            let mut host = host_with_quirks(Algorithm::LineRate, Quirks { missed_wakeups, ..Quirks::NONE });
            let small = host.open_sender(Nanos(0), 0, SPEC, 9_000, Nanos(80), 1_000).expect("room");
            assert_eq!(sent(host.poll(0, Nanos(0), 0)).0, small);
            let other = open(&mut host, 9_000);
            assert_eq!(sent(host.poll(0, Nanos(1_000), 0)).0, other);
            assert_eq!(host.poll(0, Nanos(1_010), 0), Poll::Wait);
            assert_eq!(host.wake_at(0), expected);
        }
    }

    /// The wake-up moves forward when somebody may go earlier than those who waited when it was planned.
    #[test]
    fn an_earlier_time_replaces_a_planned_wake_up() {
        let mut host = host();
        let key = open(&mut host, 9_000);
        sent(host.poll(0, Nanos(0), 0));
        sent(host.poll(0, Nanos(84), 0));
        host.on_ack(Nanos(85), &ack(key, 1_000), &mut chance());
        assert_eq!(host.poll(0, Nanos(85), 1 << 3), Poll::Wait);
        assert_eq!(host.wake_at(0), None, "a paused queue pair waits for its resume");
        assert_eq!(host.poll(0, Nanos(86), 0), Poll::Wait);
        assert_eq!(host.wake_at(0), Some(Nanos(168)));
    }

    /// Flow 0 was served last when 0 and 1 end: 2 is next, but the reference, whose place stays at index 0,
    /// passes it over for 3.
    #[test]
    fn the_turn_survives_removals() {
        for (stale_round_robin, next) in [(false, 2), (true, 3)] {
            let mut host = host_with_quirks(Algorithm::LineRate, Quirks { stale_round_robin, ..Quirks::NONE });
            let sizes = [1_000, 1_000, 9_000, 9_000, 9_000];
            let keys = sizes.map(|size| open(&mut host, size));
            let served: Vec<u32> = (0..5).map(|n| sent(host.poll(0, Nanos(n * 1_000), 0)).0).collect();
            assert_eq!(served, [keys[1], keys[2], keys[3], keys[4], keys[0]]);
            host.on_ack(Nanos(6_000), &ack(keys[0], 1_000), &mut chance());
            host.on_ack(Nanos(6_000), &ack(keys[1], 1_000), &mut chance());
            assert_eq!(host.poll(0, Nanos(6_000), 1 << 3), Poll::Wait, "removes both");
            assert_eq!(sent(host.poll(0, Nanos(7_000), 0)).0, keys[next]);
        }
    }

    #[test]
    fn without_a_window_a_queue_is_weighed_by_the_path() {
        for (windowless_hpcc, expected) in [(false, 52_000), (true, 0)] {
            let quirks = Quirks { windowless_hpcc, ..Quirks::NONE };
            let transport = TransportConfig { window: false, quirks, ..TransportConfig::default() };
            let rates = [BitRate::gbps(100)];
            let routes = RouteTable::default();
            let mut host =
                Host::new(transport, Algorithm::LineRate, Layout::None, FrameSizes::REFERENCE, &rates, routes);
            let key = open(&mut host, 9_000);
            let limits = host.sender(key).expect("open").limits();
            assert_eq!((limits.window, limits.path_bytes), (0, expected));
        }
    }

    /// Only DCQCN's receiver spaces notifications, and not in the reference.
    #[test]
    fn dcqcn_is_notified_once_in_an_interval() {
        let dcqcn = Algorithm::Dcqcn(DcqcnConfig::default());
        let every = Quirks { notify_every_mark: true, ..Quirks::NONE };
        let cases = [(dcqcn, Quirks::NONE, 2), (dcqcn, every, 100), (Algorithm::LineRate, Quirks::NONE, 100)];
        for (algorithm, quirks, expected) in cases {
            let mut host = host_with_quirks(algorithm, quirks);
            let receiver = host.open_receiver().expect("room");
            let notified = (0..100).filter(|n| host.notifies(Nanos(n * 1_000), receiver)).count();
            assert_eq!(notified, expected);
        }
    }

    #[test]
    fn a_pause_stops_its_priority_only() {
        let mut host = host();
        open(&mut host, 9_000);
        assert_eq!(host.poll(0, Nanos(0), 1 << 3), Poll::Wait);
        sent(host.poll(0, Nanos(0), 1 << 4));
    }

    #[test]
    fn a_finished_flow_is_forgotten_and_late_acks_are_ignored() {
        let mut host = host();
        let key = open(&mut host, 1_000);
        sent(host.poll(0, Nanos(0), 0));
        assert_eq!(
            host.on_ack(Nanos(9), &ack(key, 1_000), &mut chance()),
            Some(AckResult { nic: 0, finished: true, armed: Armed(0) })
        );
        assert_eq!(host.on_ack(Nanos(9), &ack(key, 1_000), &mut chance()), None);
        assert_eq!(host.poll(0, Nanos(9), 0), Poll::Wait);
        assert!(host.sender(key).is_none());
        let next = open(&mut host, 1_000);
        assert_ne!(next, key);
        assert_eq!(host.on_ack(Nanos(10), &ack(key, 1_000), &mut chance()), None);
    }

    #[test]
    fn timers_are_announced_fire_and_end_with_the_flow() {
        let mut host = host_with(Algorithm::Dcqcn(DcqcnConfig::default()));
        let key = open(&mut host, 2_000);
        let marked = Ack { congestion_marked: true, ..ack(key, 1_000) };
        let result = host.on_ack(Nanos(5), &marked, &mut chance()).expect("under way");
        assert_eq!(result.armed, Armed(0b011));
        assert_eq!(host.timeout(key, 0), Some(Nanos(1_005)));
        assert_eq!(
            host.on_timeout(Nanos(4_006), key, 1),
            Some(TimeoutResult { nic: 0, armed: Armed(0b110), send: false })
        );
        assert_eq!(host.sender(key).map(QueuePair::rate), Some(BitRate::gbps(50)));
        host.on_ack(Nanos(4_007), &ack(key, 2_000), &mut chance());
        assert_eq!(host.on_timeout(Nanos(8_006), key, 1), None);
        assert_eq!((host.timeout(99, 1), host.on_timeout(Nanos(9_000), 99, 1)), (None, None));
    }

    #[test]
    fn removal_keeps_the_winner() {
        let mut host = host();
        let keys = [open(&mut host, 1_000), open(&mut host, 1_000), open(&mut host, 9_000)];
        sent(host.poll(0, Nanos(0), 0));
        host.on_ack(Nanos(9), &ack(keys[1], 1_000), &mut chance());
        assert_eq!(sent(host.poll(0, Nanos(100), 0)).0, keys[2]);
        assert_eq!(sent(host.poll(0, Nanos(200), 0)).0, keys[0]);
        host.on_ack(Nanos(300), &ack(keys[0], 1_000), &mut chance());
        assert_eq!(sent(host.poll(0, Nanos(400), 0)).0, keys[2]);
        assert!(host.sender(keys[1]).is_none(), "passed on the way to the winner");
        assert!(host.sender(keys[0]).is_some(), "not passed yet");
        assert_eq!(sent(host.poll(0, Nanos(500), 0)), (keys[2], 2_000));
        assert!(host.sender(keys[0]).is_none());
    }

    /// Finished flows leave nothing behind: neither queue pairs nor receivers grow with their number.
    #[test]
    fn the_memory_of_many_flows_is_that_of_few() {
        let (mut host, mut chance) = (host(), chance());
        for n in 0..200_000 {
            let receiver = host.open_receiver().expect("room");
            let key = open(&mut host, 1_000);
            assert_eq!(sent(host.poll(0, Nanos(n * 1_000), 0)), (key, 0));
            assert_eq!(data(&mut host, receiver, 0), Reply::Ack(1_000));
            host.on_ack(Nanos(n * 1_000), &ack(key, 1_000), &mut chance);
            assert_eq!(host.poll(0, Nanos(n * 1_000), 0), Poll::Wait);
            host.close_receiver(receiver);
        }
        assert_eq!(host.places(), (1, 1));
    }

    #[test]
    fn unknown_ports_and_receivers_do_no_harm() {
        let mut host = host();
        assert_eq!(host.open_sender(Nanos(0), 1, SPEC, 1, Nanos(1), 1), None);
        assert_eq!(host.poll(7, Nanos(0), 0), Poll::Wait);
    }

    #[test]
    fn packets_after_the_end_are_for_nobody_but_in_the_reference_they_are_nacked() {
        for (nack_late_packets, late) in [(false, Reply::Silence), (true, Reply::Nack(0))] {
            let mut host = host_with_quirks(Algorithm::LineRate, Quirks { nack_late_packets, ..Quirks::NONE });
            assert_eq!(data(&mut host, 42, 5_000), late);
            let receiver = host.open_receiver().expect("room");
            assert_eq!(data(&mut host, receiver, 0), Reply::Ack(1_000));
            host.close_receiver(receiver);
            assert_eq!(data(&mut host, receiver, 1_000), late);
        }
    }
}
