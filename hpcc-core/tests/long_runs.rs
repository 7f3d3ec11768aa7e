// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long runs: more than 2^17 packets, 2^32 bytes and 10^5 messages, from time 0 and from much later. What holds for the first of
//! them holds for the last: what a loss costs, and how fast a flow is. Every recovery, every kind of queue pair, every layout.

use hpcc_core::cc::{Algorithm, HpccConfig, HpccPlusConfig, LineRate};
use hpcc_core::random::Rng;
use hpcc_core::telemetry::{Layout, MAX_SECTION, Snapshot};
use hpcc_core::topology::routes::RouteTable;
use hpcc_core::transport::feedback::FeedbackConfig;
use hpcc_core::transport::recovery::Sack;
use hpcc_core::transport::{
    Ack, Data, Host, HostConfig, Poll, QueuePairs, RETRANSMISSION_TIMER, ReceiverSpec, Recovery, Reply, Segment,
    SenderSpec, TimeoutConfig, TransportConfig,
};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::wire::FrameSizes;
use std::collections::VecDeque;
use std::sync::Arc;

/// So large that 2^17 packets pass 2^32 bytes.
const MTU: u64 = 40_000;
const RATE: BitRate = BitRate::gbps(100);
/// From one end to the other.
const DELAY: u64 = 80_000;
const RTT: Nanos = Nanos(2 * DELAY + 4_000);
const WINDOW: u64 = 50 * MTU;
/// Packets of a part of a flow.
const PART: u64 = 1 << 14;
/// Parts in a row without a loss.
const LONG: u64 = 5;

/// What is in progress.
struct Frame {
    at: u64,
    seq: u64,
    payload: u32,
    asks: bool,
    nack: bool,
    selective: Option<u64>,
    sack: Option<Sack>,
    telemetry: ([u8; MAX_SECTION], usize),
}

/// Two hosts, and a switch between them.
struct Net {
    sender: Host,
    receiver: Host,
    layout: Layout,
    key: u32,
    receiving: u32,
    now: u64,
    free: u64,
    poll: Option<u64>,
    there: VecDeque<Frame>,
    back: VecDeque<Frame>,
    /// Packets that left, those that were sent again included.
    sent: u64,
    /// Bytes that the switch has sent.
    passed: u64,
    /// Of all that was sent and when, since the start.
    digest: u64,
    start: u64,
    rng: Rng,
}

impl Net {
    fn new(transport: TransportConfig, algorithm: &dyn Algorithm, layout: Layout, start: u64) -> Net {
        let host = || {
            let (sizes, feedback) = (FrameSizes::REFERENCE, FeedbackConfig::default());
            let (algorithm, layout) = (algorithm.clone_algorithm(), layout.clone());
            let config = HostConfig { transport, algorithm, layout, feedback, sizes };
            Host::new(config, &[RATE], RouteTable::default())
        };
        Net {
            sender: host(),
            receiver: host(),
            layout,
            key: 0,
            receiving: 0,
            now: start,
            free: start,
            poll: None,
            there: VecDeque::new(),
            back: VecDeque::new(),
            sent: 0,
            passed: start / 128 * 128,
            digest: 0,
            start,
            rng: Rng::new(1, 1),
        }
    }

    fn open(&mut self, size: u64) {
        let limits = self.sender.flow_limits(0, BitRate(u64::MAX), RTT, WINDOW, 2).expect("a port");
        let is_shared = self.sender.transport().shares_queue_pairs(false);
        let spec = ReceiverSpec { src: 0, dst: 1, limits: Arc::clone(&limits), echo_interval: Nanos(0), is_shared };
        self.receiving = self.receiver.open_receiver(&spec).expect("room");
        let spec = SenderSpec { src: 0, dst: 1, sport: 10_000, dport: 100, priority: 3, receiver: self.receiving };
        self.key = self.sender.open_sender(Nanos(self.now), 0, spec, size, limits).expect("room");
        self.poll = Some(self.now);
    }

    fn post(&mut self, size: u64) {
        self.sender.post(Nanos(self.now), self.key, size).expect("room");
        self.poll = Some(self.now.max(self.free));
    }

    fn stamped(&mut self, segment: &Segment) -> ([u8; MAX_SECTION], usize) {
        let mut bytes = [0; MAX_SECTION];
        let len = self.layout.prepare(&mut bytes, Nanos(self.now));
        let now = Nanos(self.now);
        let snapshot = Snapshot { arrived: now, now, tx_bytes: self.passed, ..Snapshot::IDLE };
        self.passed += u64::from(segment.frame);
        let len = self.layout.stamp(&mut bytes, len, &snapshot);
        (bytes, len)
    }

    fn send(&mut self, loses: &dyn Fn(u64) -> bool) {
        self.poll = None;
        self.sender.on_wake(0);
        let Poll::Send(segment) = self.sender.poll(0, Nanos(self.now), 0) else {
            self.poll = self.sender.wake_at(0).map(|at| at.0);
            return;
        };
        self.free = self.now + RATE.tx_picos(segment.frame).div_ceil(1_000);
        self.poll = Some(self.free);
        let telemetry = self.stamped(&segment);
        for word in [self.now - self.start, segment.seq, segment.payload.into()] {
            self.digest = (self.digest ^ word).wrapping_mul(0x0100_0000_01b3);
        }
        if !loses(self.sent) {
            let (seq, payload, asks) = (segment.seq, segment.payload, segment.ack_requested);
            let at = self.free + DELAY;
            self.there.push_back(Frame { at, seq, payload, asks, nack: false, selective: None, sack: None, telemetry });
        }
        self.sent += 1;
    }

    fn arrive(&mut self, frame: Frame) {
        let data = Data { seq: frame.seq, payload: frame.payload, ack_requested: frame.asks, congestion_marked: false };
        let mut bitmap = None;
        let (seq, nack, selective) = match self.receiver.on_data(Nanos(self.now), self.receiving, &data).reply {
            Reply::Silence => return,
            Reply::Ack(seq) => (seq, false, None),
            Reply::Nack(seq) => (seq, true, None),
            Reply::SelectiveNack { missing, arrived } => (missing, true, Some(arrived)),
            Reply::Sack { missing, sack } => {
                bitmap = Some(sack);
                (missing, false, None)
            }
            Reply::TrimmedNack { .. } => unreachable!("no packet is cut"),
        };
        self.back.push_back(Frame { at: self.now + DELAY, seq, nack, selective, sack: bitmap, ..frame });
    }

    /// Goes on to the next event; returns how many messages it finished.
    fn step(&mut self, loses: &dyn Fn(u64) -> bool) -> u32 {
        let timer = self.sender.timeout(self.key, RETRANSMISSION_TIMER).map(|due| due.0);
        let [there, back] = [&self.there, &self.back].map(|frames| frames.front().map(|frame| frame.at));
        let next = [there, back, timer, self.poll].into_iter().flatten().min().expect("something is under way");
        self.now = self.now.max(next);
        if back == Some(next) {
            let frame = self.back.pop_front().expect("a frame");
            let Frame { seq, nack, selective, sack, telemetry: (bytes, len), .. } = &frame;
            let ack = Ack {
                queue_pair: self.key,
                seq: *seq,
                nack: *nack,
                selective: *selective,
                sack: *sack,
                telemetry: &bytes[..*len],
                ..Ack::default()
            };
            let result = self.sender.on_ack(Nanos(self.now), &ack, &mut self.rng);
            self.poll = self.poll.or(Some(self.now.max(self.free)));
            return result.map_or(0, |result| result.finished);
        }
        if there == Some(next) {
            let frame = self.there.pop_front().expect("a frame");
            self.arrive(frame);
        } else if timer == Some(next) {
            self.sender.on_timeout(Nanos(self.now), self.key, RETRANSMISSION_TIMER);
            self.poll = self.poll.or(Some(self.now.max(self.free)));
        } else {
            self.send(loses);
        }
        0
    }

    /// Goes on until `messages` have finished.
    fn finish(&mut self, messages: u32, loses: &dyn Fn(u64) -> bool) {
        let mut finished = 0;
        while finished < messages {
            finished += self.step(loses);
        }
    }

    fn acked(&self) -> u64 {
        self.sender.sender(self.key).map_or(u64::MAX, |qp| qp.acked())
    }
}

fn transport(recovery: Recovery, queue_pairs: QueuePairs) -> TransportConfig {
    let few = if recovery.keeps { 3 } else { 0 };
    let timeout = TimeoutConfig { high: Nanos(4_000_000), low: Nanos(500_000), few, base_rtts: 3, back_off: true };
    TransportConfig {
        mtu: MTU as u32,
        chunk: 4 * MTU as u32,
        window: true,
        recovery,
        queue_pairs,
        timeout: Some(timeout),
        ..TransportConfig::default()
    }
}

const KINDS: [(Recovery, QueuePairs); 7] = [
    (Recovery::GoBackN, QueuePairs::PerFlow),
    (Recovery::GoBackZero, QueuePairs::PerFlow),
    (Recovery::SelectiveRepeat, QueuePairs::PerFlow),
    (Recovery::GoBackN, QueuePairs::PerPair),
    (Recovery::SelectiveRepeat, QueuePairs::PerPair),
    (Recovery::Sack, QueuePairs::PerFlow),
    (Recovery::Sack, QueuePairs::PerPair),
];

/// What a part of a flow took: time, packets sent again, timeouts.
type Cost = (u64, u64, u64);

/// A flow of so many parts, the last but one of which is long and without a loss: what each part took, and the
/// digest of all.
fn parts(net: &mut Net) -> (Vec<Cost>, u64) {
    const LENGTHS: [u64; 5] = [1, 1, 1, LONG, 1];
    net.open(LENGTHS.iter().sum::<u64>() * PART * MTU);
    let mut costs = Vec::new();
    let mut end = 0;
    for length in LENGTHS {
        let (began, first, before) = (net.now, net.sent, net.sender.counters());
        end += length * PART * MTU;
        while net.acked() < end {
            net.step(&|n| length == 1 && (n - first) % 4_096 == 1_000);
        }
        let after = net.sender.counters();
        costs.push((net.now - began, after.resent - before.resent, after.timeouts - before.timeouts));
    }
    (costs, net.digest)
}

/// Nearly equal: within a hundredth.
fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) * 100 <= a.max(b)
}

#[test]
fn a_loss_costs_the_same_at_the_start_and_at_the_end() {
    const LOSSES: u64 = PART / 4_096;
    for (recovery, queue_pairs) in KINDS {
        let run = |start| parts(&mut Net::new(transport(recovery, queue_pairs), &LineRate, Layout::none(), start));
        let (costs, digest) = run(0);
        let what = format!("{recovery:?} {queue_pairs:?}: {costs:?}");
        let again = if recovery.keeps { 1..=1 } else { 40..=60 };
        for place in [0, 1, 2, 4] {
            let (time, resent, timeouts) = costs[place];
            assert!(again.contains(&(resent / LOSSES)) && timeouts == 0, "{what}");
            assert!(is_near(time, costs[0].0), "{what}");
        }
        assert_eq!((costs[3].1, costs[3].2), (0, 0), "{what}");
        for start in [1 << 24, (1 << 40) + 12_345_678] {
            assert_eq!(run(start), (costs.clone(), digest), "{what}, from {start} ns on");
        }
    }
}

/// More than 2^24 packets, with losses of one in a thousand at the start, and where the 24 bits of a PSN begin again.
#[test]
fn a_loss_costs_the_same_where_numbers_of_packets_begin_again() {
    const PSNS: u64 = 1 << 24;
    for (recovery, queue_pairs) in KINDS.into_iter().filter(|kind| kind.0.keeps && kind.1 == QueuePairs::PerFlow) {
        let mut net = Net::new(transport(recovery, queue_pairs), &LineRate, Layout::none(), 0);
        net.open((PSNS + PART) * MTU);
        let mut part = |until: u64, loses: bool| {
            let (began, first, before) = (net.now, net.sent, net.sender.counters());
            while net.acked() < until * MTU {
                net.step(&|n| loses && (n - first) % 1_000 == 500);
            }
            let after = net.sender.counters();
            (net.now - began, after.resent - before.resent, after.timeouts - before.timeouts)
        };
        let at_the_start = part(2 * PART, true);
        let between = part(PSNS - PART, false);
        let at_the_wrap = part(PSNS + PART, true);
        let what = format!("{recovery:?}: {at_the_start:?}, {between:?}, {at_the_wrap:?}");
        assert!((32..=33).contains(&at_the_start.1) && at_the_start.1.abs_diff(at_the_wrap.1) <= 1, "{what}");
        assert!(is_near(at_the_start.0, at_the_wrap.0), "{what}");
        assert_eq!((at_the_start.2, between.1, between.2, at_the_wrap.2), (0, 0, 0, 0), "{what}");
    }
}

/// Under HPCC and HPCC++ counters and times of telemetry wrap on the way, in most layouts many times.
#[test]
fn telemetry_leads_to_the_same_pace_at_the_start_and_at_the_end() {
    let (hpcc, plus): (&dyn Algorithm, &dyn Algorithm) = (&HpccConfig::default(), &HpccPlusConfig::default());
    let of_plus = Layout::with_records().map(|layout| (plus, layout));
    let layouts = of_plus.chain([(hpcc, Layout::named("reference").expect("known"))]);
    for ((algorithm, layout), kind) in layouts.flat_map(|layout| KINDS.map(|kind| (layout.clone(), kind))) {
        let transport = transport(kind.0, kind.1);
        let run = |start| parts(&mut Net::new(transport, algorithm, layout.clone(), start));
        let (costs, digest) = run(0);
        let what = format!("{layout} of {algorithm:?}, {kind:?}: {costs:?}");
        assert!(costs.iter().all(|cost| cost.2 == 0), "{what}");
        assert!([2, 4].into_iter().all(|place| is_near(costs[place].0, costs[1].0)), "{what}");
        // The first part begins at line rate, and a loss costs a little time.
        let (line, paced) = (LONG * PART * MTU * 8 / 100, costs[3].0);
        assert!((line * 100 / 98..line * 100 / 90).contains(&paced) && paced <= LONG * costs[1].0, "{what}");
        // Recovery does not look at the time, as the other test shows.
        if kind.0.keeps {
            assert_eq!(run((1 << 40) + 12_345_600), (costs.clone(), digest), "{what}, later");
        }
    }
}

/// 10^5 messages of a packet and a half, one after the other, in a queue pair of their own each or in one: each takes as long as
/// the first, but for those that lose their end.
#[test]
fn the_last_of_many_messages_takes_as_long_as_the_first() {
    const MESSAGES: u64 = 100_000;
    const SIZE: u64 = MTU * 3 / 2;
    for (recovery, queue_pairs) in KINDS.into_iter().filter(|kind| kind.0 != Recovery::GoBackZero) {
        let mut net = Net::new(transport(recovery, queue_pairs), &LineRate, Layout::none(), 0);
        let mut times = Vec::new();
        for n in 0..MESSAGES {
            let began = net.now;
            if n == 0 || queue_pairs == QueuePairs::PerFlow {
                net.open(SIZE)
            } else {
                net.post(SIZE)
            }
            let first = net.sent;
            net.finish(1, &|sent| n % 1_000 == 999 && sent == first + 1);
            if queue_pairs == QueuePairs::PerFlow {
                net.receiver.close_receiver(net.receiving);
            }
            times.push(net.now - began);
        }
        let (lossy, plain): (Vec<_>, Vec<_>) = times.iter().enumerate().partition(|(n, _)| n % 1_000 == 999);
        for (which, times) in [("with a loss", lossy), ("without", plain)] {
            let (shortest, longest) = (times.iter().map(|time| time.1).min(), times.iter().map(|time| time.1).max());
            assert_eq!(shortest, longest, "{recovery:?} {queue_pairs:?}: {which}");
        }
        let counters = net.sender.counters();
        assert_eq!((counters.timeouts, counters.resent), (MESSAGES / 1_000, MESSAGES / 1_000), "{recovery:?}");
        assert!(net.sender.places().0 <= 2 && net.receiver.places().1 <= 1, "{queue_pairs:?}");
    }
}
