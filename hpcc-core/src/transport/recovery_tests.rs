// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both ends of a flow over a link that loses, repeats and reorders.

use super::feedback::FeedbackConfig;
use super::host::{Ack, Host, HostConfig, ReceiverSpec, SenderSpec};
use super::nic::Poll;
use super::receiver::{Data, Reply};
use super::{QueuePairs, RETRANSMISSION_TIMER, Recovery, TimeoutConfig, TransportConfig};
use crate::cc::{Algorithm, HpccConfig, LineRate};
use crate::random::{Mrg32k3a, Rng};
use crate::telemetry::Layout;
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, Nanos};
use crate::wire::FrameSizes;
use alloc::vec::Vec;

const TIMEOUT: TimeoutConfig =
    TimeoutConfig { high: Nanos(100_000), low: Nanos(30_000), few: 3, base_rtts: 3, back_off: true };
const SPEC: SenderSpec = SenderSpec { src: 0, dst: 1, sport: 10_000, dport: 100, priority: 3, receiver: 0 };
const RTT: Nanos = Nanos(4_000);
const WINDOW: u64 = 50_000;

/// How unkind the link is, in probabilities per packet and direction.
#[derive(Clone, Copy)]
struct Harm {
    loss: f64,
    repeat: f64,
    delay: f64,
}

enum Wire {
    Data(Data),
    Ack { seq: u64, nack: bool, selective: Option<u64> },
}

/// One flow under way.
struct Run {
    sender: Host,
    receiver: Host,
    key: u32,
    wire: Vec<(u64, Wire)>,
    random: Mrg32k3a,
    rng: Rng,
    harm: Harm,
    expected: u64,
    /// Messages that have not finished.
    open: u32,
}

impl Run {
    fn new(config: TransportConfig, algorithm: &dyn Algorithm, size: u64, harm: Harm, seed: u64) -> Run {
        let host = || {
            let (layout, sizes, feedback) = (Layout::None, FrameSizes::REFERENCE, FeedbackConfig::default());
            let host =
                HostConfig { transport: config, algorithm: algorithm.clone_algorithm(), layout, feedback, sizes };
            Host::new(host, &[BitRate::gbps(100)], RouteTable::default())
        };
        let (mut sender, mut receiver) = (host(), host());
        let limits = sender.flow_limits(0, RTT, WINDOW, 2).expect("a port");
        receiver
            .open_receiver(&ReceiverSpec {
                src: 0,
                dst: 1,
                limits,
                echo_interval: Nanos(0),
                is_shared: config.shares_queue_pairs(),
            })
            .expect("room");
        let key = sender.open_sender(Nanos(0), 0, SPEC, size, limits).expect("room");
        let (random, rng) = (Mrg32k3a::new(seed, 1), Rng::new(0, 1));
        Run { sender, receiver, key, wire: Vec::new(), random, rng, harm, expected: 0, open: 1 }
    }

    /// Puts a packet on the link, which may lose, repeat or delay it.
    fn put(&mut self, now: u64, make: impl Fn() -> Wire) {
        let copies = if self.random.uniform() < self.harm.repeat { 2 } else { 1 };
        for _ in 0..copies {
            if self.random.uniform() < self.harm.loss {
                continue;
            }
            let late = self.random.uniform() < self.harm.delay;
            let extra = if late { (self.random.uniform() * 20_000.0) as u64 } else { 0 };
            self.wire.push((now + RTT.0 / 2 + extra, make()));
        }
    }

    fn send(&mut self, now: u64) {
        let Poll::Send(segment) = self.sender.poll(0, Nanos(now), 0) else { return };
        let qp = self.sender.sender(self.key).expect("under way");
        let (in_flight, message) = (qp.in_flight(), segment.message);
        let end = segment.seq + u64::from(segment.payload);
        assert!(
            segment.seq >= message.start && (end == message.end() || segment.payload == 1_000 && end < message.end())
        );
        assert!(in_flight < qp.window() + 1_000 || in_flight <= 1_000, "{in_flight} bytes in flight");
        let data = Data {
            seq: segment.seq,
            payload: segment.payload,
            ack_requested: segment.ack_requested,
            congestion_marked: false,
        };
        self.put(now, || Wire::Data(data));
    }

    fn arrive(&mut self, now: u64, wire: Wire) {
        match wire {
            Wire::Data(data) => {
                let reply = self.receiver.on_data(Nanos(now), 0, &data).reply;
                let (seq, nack, selective) = match reply {
                    Reply::Silence => return,
                    Reply::Ack(seq) => (seq, false, None),
                    Reply::Nack(seq) => (seq, true, None),
                    Reply::SelectiveNack { missing, arrived } => (missing, true, Some(arrived)),
                };
                assert!(seq >= self.expected, "delivery never goes back");
                self.expected = seq;
                self.put(now, || Wire::Ack { seq, nack, selective });
            }
            Wire::Ack { seq, nack, selective } => {
                let ack = Ack { queue_pair: self.key, seq, nack, selective, congestion_marked: false, telemetry: &[] };
                let result = self.sender.on_ack(Nanos(now), &ack, &mut self.rng);
                self.open -= result.map_or(0, |result| result.finished);
            }
        }
    }

    /// Runs to the end of the flow and returns when that is.
    fn finish(&mut self) -> u64 {
        self.finish_with(&[])
    }

    /// The same with further messages of these sizes, each posted at its time.
    fn finish_with(&mut self, posts: &[(u64, u64)]) -> u64 {
        let mut now = 0;
        let mut posts = posts.iter();
        let mut next = posts.next();
        for _ in 0..2_000_000 {
            while let Some(&(_, size)) = next.filter(|&&(at, _)| at <= now) {
                self.sender.post(Nanos(now), self.key, size).expect("room");
                self.open += 1;
                next = posts.next();
            }
            self.send(now);
            while let Some(place) = self.wire.iter().position(|&(at, _)| at <= now) {
                let (_, wire) = self.wire.remove(place);
                self.arrive(now, wire);
                if self.open == 0 && next.is_none() {
                    return now;
                }
            }
            if self.sender.timeout(self.key, RETRANSMISSION_TIMER).is_some_and(|due| due.0 <= now) {
                self.sender.on_timeout(Nanos(now), self.key, RETRANSMISSION_TIMER);
            }
            now += 80;
        }
        panic!("the flow does not finish");
    }
}

fn config(recovery: Recovery, ack_every: u32) -> TransportConfig {
    TransportConfig { recovery, ack_every, timeout: Some(TIMEOUT), ..TransportConfig::default() }
}

/// Any pattern of loss, repetition and reordering ends with every byte delivered once and in order.
#[test]
fn every_flow_finishes_on_any_link() {
    for seed in 0..25 {
        let mut random = Mrg32k3a::new(1 << 40, 1 + seed);
        let harm = Harm { loss: random.uniform() * 0.3, repeat: random.uniform() * 0.2, delay: random.uniform() * 0.2 };
        let size = 1 + (random.uniform() * 200_000.0) as u64;
        for recovery in [Recovery::SelectiveRepeat, Recovery::GoBackN] {
            for ack_every in [0, 8_000] {
                let mut run = Run::new(config(recovery, ack_every), &LineRate, size, harm, seed);
                run.finish();
                assert_eq!(run.expected, size, "delivered, seed {seed}");
            }
        }
    }
}

/// The same of messages that share a queue pair: of less than a packet to some dozens, some posted while others are under way
/// and some long after all had finished.
#[test]
fn every_message_finishes_on_any_link() {
    for seed in 0..10 {
        let mut random = Mrg32k3a::new(1 << 40, 100 + seed);
        let harm = Harm { loss: random.uniform() * 0.2, repeat: random.uniform() * 0.2, delay: random.uniform() * 0.2 };
        let mut at = 0;
        let mut draw = || {
            at += (random.uniform().powi(4) * 400_000.0) as u64;
            (at, 1 + (random.uniform().powi(3) * 40_000.0) as u64)
        };
        let posts: Vec<(u64, u64)> = (0..30).map(|_| draw()).collect();
        let size = |bytes: u64| bytes.next_multiple_of(1_000);
        for recovery in [Recovery::SelectiveRepeat, Recovery::GoBackN] {
            for ack_every in [0, 8_000] {
                let config = TransportConfig { queue_pairs: QueuePairs::PerPair, ..config(recovery, ack_every) };
                let mut run = Run::new(config, &HpccConfig::default(), 1_500, harm, seed);
                run.finish_with(&posts);
                let numbers = size(1_500) + posts.iter().map(|&(_, bytes)| size(bytes)).sum::<u64>();
                assert_eq!(run.expected, numbers, "delivered, seed {seed}");
                assert_eq!(run.sender.sender(run.key).map(|qp| (qp.in_flight(), qp.is_over())), Some((0, false)));
            }
        }
    }
}

#[test]
fn selective_repeat_sends_again_only_what_was_lost() {
    let harm = Harm { loss: 0.01, repeat: 0.0, delay: 0.0 };
    let run = |recovery| {
        let mut run = Run::new(config(recovery, 0), &LineRate, 5_000_000, harm, 7);
        (run.finish(), run.sender.counters().resent)
    };
    let (selective, go_back) = (run(Recovery::SelectiveRepeat), run(Recovery::GoBackN));
    assert!((30..120).contains(&selective.1), "{selective:?}");
    assert!(go_back.1 > 4 * selective.1 && go_back.0 > selective.0, "{selective:?} {go_back:?}");
}

/// Nothing follows the last packet that could tell of its loss.
#[test]
fn a_lost_tail_recovers_after_the_timeout() {
    for recovery in [Recovery::SelectiveRepeat, Recovery::GoBackN, Recovery::GoBackZero] {
        let none = Harm { loss: 0.0, repeat: 0.0, delay: 0.0 };
        let mut run = Run::new(config(recovery, 0), &LineRate, 8_000, none, 1);
        for _ in 0..8 {
            run.send(0);
        }
        run.harm.loss = 1.0;
        for n in 1..100 {
            run.send(n * 100);
        }
        run.harm.loss = 0.0;
        run.wire.clear();
        let end = run.finish();
        assert!((100_000..200_000).contains(&end), "{recovery:?} ends at {end} ns");
        assert_eq!(run.sender.counters().timeouts, 1);
    }
}

/// The window of a slowed flow may be smaller than the interval of acknowledgements: the sender asks in time.
#[test]
fn no_window_is_too_small_for_the_interval() {
    let none = Harm { loss: 0.0, repeat: 0.0, delay: 0.0 };
    let config = TransportConfig { timeout: None, ..config(Recovery::GoBackN, 1_000_000) };
    let mut run = Run::new(config, &HpccConfig::default(), 3_000_000, none, 1);
    run.finish();
    assert_eq!(run.sender.counters().resent, 0);
}
