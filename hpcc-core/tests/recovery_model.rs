// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loss recovery against models that are written apart from it, after what papers and manuals say: go-back-N, the 2019
//! simulator's go-back-zero, and IRN's selective repeat (Mittal et al., SIGCOMM 2018). The models count packets, one by
//! one, and keep a state for each; the product counts bytes and keeps little. Both see the same packets and answers
//! lost; every packet that is sent and every answer must be the same, at the same time.

use hpcc_core::cc::LineRate;
use hpcc_core::random::{Mrg32k3a, Rng};
use hpcc_core::telemetry::Layout;
use hpcc_core::topology::routes::RouteTable;
use hpcc_core::transport::feedback::FeedbackConfig;
use hpcc_core::transport::{
    Ack, Data, Host, HostConfig, Poll, QueuePairs, RETRANSMISSION_TIMER, ReceiverSpec, Recovery, Reply, SenderSpec,
    TimeoutConfig, TransportConfig,
};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::wire::FrameSizes;
use std::collections::BTreeSet;
use std::sync::Arc;

const MTU: u64 = 1_000;
/// A packet at line rate.
const TICK: u64 = 84;
/// Ticks from one end to the other.
const DELAY: u64 = 24;
const WINDOW: u64 = 50_000;
const RTT: u64 = 4_000;
const LONG_WAIT: u64 = 100_000;
const SHORT_WAIT: u64 = 30_000;
const NACK_INTERVAL: u64 = 20_000;
const CHUNK: u64 = 4;

/// An answer, in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// All packets before this one have arrived.
    Ack(u64),
    /// This one is missing.
    Nack(u64),
    /// The first is missing, the second has arrived.
    Sack(u64, u64),
}

/// Both ends of a flow.
trait Ends {
    /// The packet that leaves now, and its bytes.
    fn send(&mut self, now: u64) -> Option<(u64, u32)>;
    fn arrive(&mut self, now: u64, packet: u64, bytes: u32) -> Option<Answer>;
    fn answered(&mut self, now: u64, answer: Answer);
    /// Time passes: whether the sender stops waiting for an answer.
    fn expire(&mut self, now: u64) -> bool;
    fn is_finished(&self) -> bool;
}

/// The product's hosts.
struct Product {
    sender: Host,
    receiver: Host,
    key: u32,
    /// Bytes of a flow with a queue pair to itself, whose last packet may be shorter than the others.
    end: Option<u64>,
    /// Packets that ask for an acknowledgement.
    asking: BTreeSet<u64>,
    rng: Rng,
}

impl Product {
    fn new(config: TransportConfig, messages: &[u64]) -> Product {
        let host = || {
            let (layout, sizes, feedback) = (Layout::none(), FrameSizes::REFERENCE, FeedbackConfig::default());
            let config = HostConfig { transport: config, algorithm: Box::new(LineRate), layout, feedback, sizes };
            Host::new(config, &[BitRate::gbps(100)], RouteTable::default())
        };
        let (mut sender, mut receiver) = (host(), host());
        let limits = sender.flow_limits(0, BitRate(u64::MAX), Nanos(RTT), WINDOW, 2).expect("a port");
        let is_shared = config.shares_queue_pairs(false);
        let spec = ReceiverSpec { src: 0, dst: 1, limits: Arc::clone(&limits), echo_interval: Nanos(0), is_shared };
        let end = receiver.open_receiver(&spec).expect("room");
        let spec = SenderSpec { src: 0, dst: 1, sport: 10_000, dport: 100, priority: 3, receiver: end };
        let key = sender.open_sender(Nanos(0), 0, spec, messages[0], limits).expect("room");
        for &size in &messages[1..] {
            sender.post(Nanos(0), key, size).expect("room");
        }
        let end = (!is_shared).then_some(messages[0]);
        Product { sender, receiver, key, end, asking: BTreeSet::new(), rng: Rng::new(1, 1) }
    }
}

impl Ends for Product {
    fn send(&mut self, now: u64) -> Option<(u64, u32)> {
        let Poll::Send(segment) = self.sender.poll(0, Nanos(now), 0) else { return None };
        assert_eq!(segment.seq % MTU, 0);
        if segment.ack_requested {
            self.asking.insert(segment.seq / MTU);
        }
        Some((segment.seq / MTU, segment.payload))
    }

    fn arrive(&mut self, now: u64, packet: u64, bytes: u32) -> Option<Answer> {
        let (seq, ack_requested) = (packet * MTU, self.asking.contains(&packet));
        let data = Data { seq, payload: bytes, ack_requested, ..Data::default() };
        match self.receiver.on_data(Nanos(now), 0, &data).reply {
            Reply::Silence => None,
            Reply::Ack(seq) => Some(Answer::Ack(seq.div_ceil(MTU))),
            Reply::Nack(seq) => Some(Answer::Nack(seq.div_ceil(MTU))),
            Reply::SelectiveNack { missing, arrived } => Some(Answer::Sack(missing / MTU, arrived / MTU)),
            Reply::Sack { .. } => unreachable!("no bitmap is asked for"),
            Reply::TrimmedNack { .. } => unreachable!("no packet is cut"),
        }
    }

    fn answered(&mut self, now: u64, answer: Answer) {
        let (packet, nack, selective) = match answer {
            Answer::Ack(packet) => (packet, false, None),
            Answer::Nack(packet) => (packet, true, None),
            Answer::Sack(missing, arrived) => (missing, true, Some(arrived * MTU)),
        };
        let seq = self.end.map_or(packet * MTU, |end| end.min(packet * MTU));
        let (queue_pair, telemetry) = (self.key, &[][..]);
        let ack = Ack { queue_pair, seq, nack, selective, telemetry, ..Ack::default() };
        self.sender.on_ack(Nanos(now), &ack, &mut self.rng);
    }

    fn expire(&mut self, now: u64) -> bool {
        let due = self.sender.timeout(self.key, RETRANSMISSION_TIMER);
        due.is_some_and(|due| due.0 <= now)
            && self.sender.on_timeout(Nanos(now), self.key, RETRANSMISSION_TIMER).is_some_and(|result| result.send)
    }

    fn is_finished(&self) -> bool {
        self.sender.sender(self.key).is_none_or(|qp| qp.is_finished())
    }
}

/// What a model's sender knows of a packet that it has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sent,
    /// Missing, and to be sent again.
    Lost,
    /// Sent again since the last timeout.
    SentAgain,
    Arrived,
}

/// The models.
struct Model {
    recovery: Recovery,
    /// Bytes of each packet.
    bytes: Vec<u32>,
    // The receiver.
    expected: u64,
    early: BTreeSet<u64>,
    nacked: Option<(u64, u64)>,
    // The sender.
    first: u64,
    next: u64,
    fates: Vec<Fate>,
    furthest: u64,
    /// What was in flight at the last timeout ends before this packet.
    recovers_to: u64,
    waits_since: u64,
    timeouts_in_a_row: u32,
}

impl Model {
    fn new(recovery: Recovery, messages: &[u64]) -> Model {
        let packets = |&size: &u64| (0..size.div_ceil(MTU)).map(move |n| MTU.min(size - n * MTU) as u32);
        let bytes: Vec<u32> = messages.iter().flat_map(packets).collect();
        let fates = vec![Fate::Sent; bytes.len()];
        Model {
            recovery,
            bytes,
            expected: 0,
            early: BTreeSet::new(),
            nacked: None,
            first: 0,
            next: 0,
            fates,
            furthest: 0,
            recovers_to: 0,
            waits_since: 0,
            timeouts_in_a_row: 0,
        }
    }

    fn is_selective(&self) -> bool {
        self.recovery == Recovery::SelectiveRepeat
    }

    fn in_flight(&self) -> u64 {
        self.bytes[self.first as usize..self.next as usize].iter().map(|&bytes| u64::from(bytes)).sum()
    }

    /// Where go-back-zero begins anew.
    fn resumes_at(&self, packet: u64) -> u64 {
        if self.recovery == Recovery::GoBackZero { packet / CHUNK * CHUNK } else { packet }
    }

    fn loses(&mut self, end: u64) {
        for fate in &mut self.fates[self.first as usize..end as usize] {
            if *fate == Fate::Sent {
                *fate = Fate::Lost;
            }
        }
    }

    fn wait(&self) -> u64 {
        let few = self.is_selective() && self.in_flight().div_ceil(MTU) <= 3;
        let wait = if few { SHORT_WAIT } else { LONG_WAIT } + 3 * RTT;
        wait << self.timeouts_in_a_row.min(6)
    }
}

impl Ends for Model {
    fn send(&mut self, now: u64) -> Option<(u64, u32)> {
        let in_flight = self.first..self.next;
        let lost = in_flight.clone().find(|&packet| self.fates[packet as usize] == Fate::Lost);
        let packet = match lost {
            Some(packet) => {
                self.fates[packet as usize] = Fate::SentAgain;
                packet
            }
            None if self.next < self.bytes.len() as u64 && self.in_flight() < WINDOW => {
                self.next += 1;
                self.next - 1
            }
            None => return None,
        };
        if self.in_flight() <= MTU {
            self.waits_since = now;
        }
        Some((packet, self.bytes[packet as usize]))
    }

    fn arrive(&mut self, now: u64, packet: u64, _bytes: u32) -> Option<Answer> {
        if packet > self.expected && self.is_selective() {
            self.early.insert(packet);
            return Some(Answer::Sack(self.expected, packet));
        }
        if packet > self.expected {
            if self.nacked.is_some_and(|(missing, at)| missing == self.expected && now < at + NACK_INTERVAL) {
                return None;
            }
            self.nacked = Some((self.expected, now));
            self.expected = self.resumes_at(self.expected);
            return Some(Answer::Nack(self.expected));
        }
        if packet == self.expected {
            self.expected += 1;
            while self.early.remove(&self.expected) {
                self.expected += 1;
            }
        }
        Some(Answer::Ack(self.expected))
    }

    fn answered(&mut self, now: u64, answer: Answer) {
        if self.is_finished() {
            return;
        }
        let (Answer::Ack(expected) | Answer::Nack(expected) | Answer::Sack(expected, _)) = answer;
        let before = self.first;
        self.first = self.first.max(self.resumes_at(expected));
        self.next = self.next.max(self.first);
        let moved = self.first > before;
        if let Answer::Nack(_) = answer {
            self.next = self.first;
        }
        if moved && self.first < self.recovers_to {
            self.furthest = self.furthest.max(self.recovers_to);
        }
        if let Answer::Sack(_, arrived) = answer
            && arrived > self.first
        {
            self.fates[arrived as usize] = Fate::Arrived;
            self.furthest = self.furthest.max(arrived);
        }
        if self.is_selective() && self.furthest > self.first {
            self.loses(self.furthest);
        }
        if moved {
            self.waits_since = now;
            self.timeouts_in_a_row = 0;
        }
    }

    fn expire(&mut self, now: u64) -> bool {
        if now < self.waits_since + self.wait() {
            return false;
        }
        self.waits_since = now;
        if self.first == self.next {
            return false;
        }
        self.timeouts_in_a_row += 1;
        if !self.is_selective() {
            self.next = self.first;
            return true;
        }
        for fate in &mut self.fates {
            if *fate == Fate::SentAgain {
                *fate = Fate::Sent;
            }
        }
        self.recovers_to = self.next;
        self.furthest = self.furthest.max(self.first + 1);
        self.loses(self.furthest);
        true
    }

    fn is_finished(&self) -> bool {
        self.first == self.bytes.len() as u64
    }
}

/// What happened, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Sent(u64, u32),
    Answered(Option<Answer>),
    Expired,
}

/// Which frames are lost, by their place among those that were sent: data packets and answers.
type Losses<'a> = &'a dyn Fn(u64) -> bool;

/// The first of what is in progress, if it is there.
fn due<T>(under_way: &mut Vec<(u64, T)>, now: u64) -> Option<T> {
    under_way.first().is_some_and(|&(at, _)| at <= now).then(|| under_way.remove(0).1)
}

/// Ticks by which each frame is late, and so arrives behind others, and whether it arrives twice.
type Disorder<'a> = &'a dyn Fn(u64) -> (u64, bool);

/// Puts a frame among those in progress.
fn put<T: Copy>(under_way: &mut Vec<(u64, T)>, at: u64, frame: T, (late, twice): (u64, bool)) {
    for _ in 0..1 + u64::from(twice) {
        let place = under_way.partition_point(|&(other, _)| other <= at + late);
        under_way.insert(place, (at + late, frame));
    }
}

/// A flow from its beginning to its end.
fn run(
    ends: &mut dyn Ends,
    data_lost: Losses<'_>,
    answer_lost: Losses<'_>,
    disorder: Disorder<'_>,
) -> Vec<(u64, Event)> {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    let (mut sent, mut answered) = (0, 0);
    let mut events = Vec::new();
    for tick in 0..1_000_000 {
        let now = tick * TICK;
        if let Some((packet, bytes)) = ends.send(now) {
            events.push((now, Event::Sent(packet, bytes)));
            if !data_lost(sent) {
                put(&mut there, tick + DELAY, (packet, bytes), disorder(sent));
            }
            sent += 1;
        }
        while let Some((packet, bytes)) = due(&mut there, tick) {
            let answer = ends.arrive(now, packet, bytes);
            events.push((now, Event::Answered(answer)));
            if let Some(answer) = answer {
                if !answer_lost(answered) {
                    put(&mut back, tick + DELAY, answer, disorder(answered + 500_000));
                }
                answered += 1;
            }
        }
        while let Some(answer) = due(&mut back, tick) {
            ends.answered(now, answer);
        }
        if ends.is_finished() {
            return events;
        }
        if ends.expire(now) {
            events.push((now, Event::Expired));
        }
    }
    panic!("the flow does not finish: {:?}", &events[events.len().saturating_sub(60)..]);
}

fn config(recovery: Recovery, queue_pairs: QueuePairs) -> TransportConfig {
    let is_selective = recovery == Recovery::SelectiveRepeat;
    let timeout = TimeoutConfig {
        high: Nanos(LONG_WAIT),
        low: Nanos(SHORT_WAIT),
        few: if is_selective { 3 } else { 0 },
        base_rtts: 3,
        back_off: true,
    };
    TransportConfig {
        mtu: MTU as u32,
        recovery,
        queue_pairs,
        chunk: (CHUNK * MTU) as u32,
        nack_interval: Nanos(NACK_INTERVAL),
        timeout: Some(timeout),
        window: true,
        ..TransportConfig::default()
    }
}

/// Every recovery with every kind of queue pair that it may have, and messages of so many packets in all.
fn kinds(packets: u64) -> Vec<(TransportConfig, Vec<u64>)> {
    let whole = vec![packets * MTU];
    let cut = vec![packets * MTU - 250];
    let several: Vec<u64> = (0..packets / 5).flat_map(|n| [3 * MTU - 1 - n % 900, 2 * MTU]).collect();
    vec![
        (config(Recovery::GoBackN, QueuePairs::PerFlow), cut.clone()),
        (config(Recovery::GoBackZero, QueuePairs::PerFlow), whole),
        (config(Recovery::SelectiveRepeat, QueuePairs::PerFlow), cut),
        (config(Recovery::GoBackN, QueuePairs::PerPair), several.clone()),
        (config(Recovery::SelectiveRepeat, QueuePairs::PerPair), several),
    ]
}

/// Runs the product and its model, and compares every event; returns how many packets were sent and how many timeouts expired.
fn compare(
    config: TransportConfig,
    messages: &[u64],
    data_lost: Losses<'_>,
    answer_lost: Losses<'_>,
    disorder: Disorder<'_>,
) -> (usize, usize) {
    let expected = run(&mut Model::new(config.recovery, messages), data_lost, answer_lost, disorder);
    let seen = run(&mut Product::new(config, messages), data_lost, answer_lost, disorder);
    let what = (config.recovery, config.queue_pairs, messages.len());
    if let Some(place) = seen.iter().zip(&expected).position(|(seen, expected)| seen != expected) {
        let before = place.saturating_sub(5);
        let [seen, expected] = [&seen, &expected].map(|events| &events[before..(place + 3).min(events.len())]);
        panic!("{what:?}: event {place}\nproduct: {seen:?}\nmodel:   {expected:?}");
    }
    assert_eq!(seen.len(), expected.len(), "{what:?}");
    let count = |is: fn(&Event) -> bool| seen.iter().filter(|(_, event)| is(event)).count();
    (count(|event| matches!(event, Event::Sent(..))), count(|event| *event == Event::Expired))
}

/// Losses of all kinds: none, single packets, runs, whole windows, packets that are lost again and again, the tail, answers.
#[test]
fn scripted_losses_are_recovered_as_the_models_say() {
    let scripts: [(Losses<'_>, Losses<'_>); 9] = [
        (&|_| false, &|_| false),
        (&|n| n == 100, &|_| false),
        (&|n| n % 40 == 7, &|_| false),
        (&|n| (100..110).contains(&n), &|_| false),
        (&|n| (100..156).contains(&n), &|_| false),
        (&|n| n < 30, &|n| n % 2 == 0),
        (&|n| (955..1_004).contains(&n), &|_| false),
        (&|_| false, &|n| (50..110).contains(&n)),
        (&|n| n % 13 == 0, &|n| n % 7 == 0),
    ];
    for (config, messages) in kinds(1_000) {
        for (data_lost, answer_lost) in scripts {
            compare(config, &messages, data_lost, answer_lost, &|_| (0, false));
        }
    }
}

#[test]
fn random_losses_are_recovered_as_the_models_say() {
    for seed in 0..8 {
        let mut random = Mrg32k3a::new(1 << 40, 1 + seed);
        let mut draw = |rate: f64| (0..1_000_000).map(|_| random.uniform() < rate).collect::<Vec<bool>>();
        let rate = [0.004, 0.01, 0.05, 0.2][seed as usize % 4];
        let (data, answers) = (draw(rate), draw(if seed < 4 { 0.0 } else { rate }));
        for (config, messages) in kinds(1_000) {
            let (sent, _) =
                compare(config, &messages, &|n| data[n as usize], &|n| answers[n as usize], &|_| (0, false));
            assert!(sent > 1_000, "packets are sent again");
        }
    }
}

/// The losses after 2^17 packets cost what the first one cost, however long none was lost.
#[test]
fn rare_losses_are_recovered_alike_at_the_start_and_at_the_end() {
    const LOST: [u64; 3] = [1_000, 133_000, 134_000];
    for (config, messages) in kinds(135_000) {
        let (sent, timeouts) =
            compare(config, &messages, &|n| LOST.contains(&n), &|n| n % 50_001 == 600, &|_| (0, false));
        let resent = sent as u64 - messages.iter().map(|size| size.div_ceil(MTU)).sum::<u64>();
        let each = if config.recovery == Recovery::SelectiveRepeat { 1..=1 } else { 30..=60 };
        assert!(each.contains(&(resent / 3)), "{:?}: {resent} packets sent again", config.recovery);
        assert_eq!(timeouts, 0, "{:?}", config.recovery);
    }
}

#[test]
fn frames_that_come_late_or_twice_are_met_as_the_models_say() {
    for seed in 0..6 {
        let mut random = Mrg32k3a::new(1 << 40, 100 + seed);
        let mut draw = |rate: f64| (0..1_000_000).map(|_| random.uniform() < rate).collect::<Vec<bool>>();
        let (late, twice, lost) = (draw(0.05), draw(0.05), draw([0.0, 0.02][seed as usize % 2]));
        let disorder = |n: u64| (if late[n as usize] { n * 37 % 250 } else { 0 }, twice[n as usize]);
        for (config, messages) in kinds(300) {
            let is_lost = |n: u64| lost[n as usize];
            compare(config, &messages, &is_lost, &is_lost, &disorder);
            // Where not every packet is acknowledged there is no model: the flow finishes.
            let config = TransportConfig { ack_every: 8_000, ..config };
            run(&mut Product::new(config, &messages), &is_lost, &is_lost, &disorder);
        }
    }
}
