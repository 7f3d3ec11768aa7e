// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two hosts and a link of 100 Gb/s between them: which packets collect telemetry, what comes back of it, in what, and
//! what the sender makes of it.

use super::{Arrived, FeedbackConfig, FeedbackContent, Rejected, Return, room};
use crate::cc::hpcc_plus::{LinkRate, Reacting, WindowLaw};
use crate::cc::{Algorithm, HpccPlusConfig, LineRate, Rounds, RxHpccConfig};
use crate::random::Rng;
use crate::switch::Section;
use crate::telemetry::{Form, Layout, MAX_SECTION, Sampling, Snapshot, Timestamp, link_codec, normalised, seal};
use crate::topology::routes::RouteTable;
use crate::transport::path_probes::PathConfig;
use crate::transport::{
    Ack, Data, Host, HostConfig, PROBE_TIMER, Poll, QueuePair, ReceiverSpec, Reply, Segment, SenderSpec,
    TransportConfig,
};
use crate::units::{BitRate, Nanos};
use crate::wire::FrameSizes;
use alloc::sync::Arc;
use alloc::vec::Vec;

const T: Nanos = Nanos(10_000);
const WINDOW: u64 = 125_000;
/// A little more than a packet takes at line rate.
const GAP: u64 = 90;
const LAW: WindowLaw =
    WindowLaw { eta: 0.95, max_stage: 5, expected_flows: 100, additive_increase: None, min_rate: None };
const PLUS: &dyn Algorithm = &HpccPlusConfig { law: LAW, react: Reacting::Both, link_rate: LinkRate::Sent };
const RX: &dyn Algorithm = &RxHpccConfig { law: LAW, count_flows: false, rounds: Rounds::Seen };

/// What came back.
#[derive(Debug, PartialEq, Eq)]
enum Back {
    Ack(Vec<u8>),
    Notification(Vec<u8>),
}

struct Pair {
    sender: Host,
    receiver: Host,
    key: u32,
    now: Nanos,
    /// Bytes that wait for the link, which others keep full.
    qlen: u64,
    /// Somebody on the way back reports that the link has been idle since then, by this txBytes.
    idle_since: Option<u64>,
    rng: Rng,
}

impl Pair {
    fn new(algorithm: &dyn Algorithm, feedback: FeedbackConfig) -> Pair {
        Pair::with(algorithm, feedback, TransportConfig::default())
    }

    fn with(algorithm: &dyn Algorithm, feedback: FeedbackConfig, transport: TransportConfig) -> Pair {
        Pair::of_size(algorithm, feedback, transport, 1 << 40)
    }

    fn of_size(algorithm: &dyn Algorithm, feedback: FeedbackConfig, transport: TransportConfig, size: u64) -> Pair {
        let host = || {
            let (layout, sizes) = (Layout::new(Form::Paper), FrameSizes::REFERENCE);
            let config = HostConfig { transport, algorithm: algorithm.clone_algorithm(), layout, feedback, sizes };
            Host::new(config, &[BitRate::gbps(100)], RouteTable::default())
        };
        let (mut sender, mut receiver) = (host(), host());
        let limits = sender.flow_limits(0, BitRate(u64::MAX), T, WINDOW, 2).expect("a port");
        let end = receiver
            .open_receiver(&ReceiverSpec {
                src: 7,
                dst: 9,
                limits: Arc::clone(&limits),
                echo_interval: Nanos(0),
                is_shared: false,
            })
            .expect("room");
        let spec = SenderSpec { src: 7, dst: 9, sport: 10_000, dport: 100, priority: 3, receiver: end };
        let key = sender.open_sender(Nanos(0), 0, spec, size, limits).expect("room");
        Pair { sender, receiver, key, now: Nanos(0), qlen: 0, idle_since: None, rng: Rng::new(1, 1) }
    }

    /// A section that has passed the link.
    fn stamped(&mut self) -> ([u8; MAX_SECTION], usize) {
        let mut bytes = [0; MAX_SECTION];
        let len = Layout::new(Form::Paper).prepare(&mut bytes, self.now);
        let tx_bytes = self.now.0 * 100 / 8;
        let snapshot = Snapshot { now: self.now, tx_bytes, qlen: self.qlen, ..Snapshot::IDLE };
        let len = Layout::new(Form::Paper).stamp(&mut bytes, len, &snapshot);
        (bytes, len)
    }

    fn next_segment(&mut self) -> Segment {
        for _ in 0..2 {
            if let Poll::Send(segment) = self.sender.poll(0, self.now, 0) {
                return segment;
            }
            let Some(at) = self.sender.wake_at(0) else { break };
            self.now = self.now.max(at);
            self.sender.on_wake(0);
        }
        panic!("the flow stalls");
    }

    /// The next packet of the flow goes there, and what it leads to comes back at once.
    fn step(&mut self) -> Vec<Back> {
        let segment = self.next_segment();
        let (mut bytes, stamped) = self.stamped();
        let data = Data {
            seq: segment.seq,
            payload: segment.payload,
            ack_requested: segment.ack_requested,
            congestion_marked: false,
        };
        let receiver = segment.sender.receiver;
        let reply = self.receiver.on_data(self.now, receiver, &data).reply;
        let acks = if let Reply::Ack(seq) = reply { Some(seq) } else { None };
        let mut section = Section { len: if segment.collects { stamped } else { 0 }, bytes: &mut bytes };
        let mut alone = false;
        if !self.receiver.echoes() {
            let seq = self.receiver.expected(receiver).expect("known");
            let arrived = Arrived { now: self.now, acks, seq, is_probe: false };
            alone = self.receiver.on_telemetry(0, receiver, &arrived, &mut section);
        }
        let mut answer = section.bytes[..section.len].to_vec();
        self.tamper(&mut answer);
        self.now += Nanos(GAP);
        let mut back = Vec::new();
        let mut ack = Ack { queue_pair: self.key, port: 10_000, ..Ack::default() };
        if alone {
            let seq = segment.seq + u64::from(segment.payload);
            let feedback = Ack { seq, telemetry: &answer, ..ack };
            self.sender.on_feedback(self.now, &feedback, &mut self.rng).expect("known");
            back.push(Back::Notification(answer.clone()));
        }
        if let Some(seq) = acks {
            let in_ack = if alone { &[][..] } else { &answer };
            ack = Ack { seq, telemetry: in_ack, ..ack };
            self.sender.on_ack(self.now, &ack, &mut self.rng).expect("known");
            back.push(Back::Ack(in_ack.to_vec()));
        }
        back
    }

    /// From its beginning on, an attack reports the counter of its beginning, and an empty queue. In the layout, capacity
    /// and time take the first 28 bits, txBytes 20, the queue 16.
    fn tamper(&self, answer: &mut [u8]) {
        let (Some(tx_bytes), Some(hop)) = (self.idle_since, answer.get_mut(2..10)) else { return };
        hop[3] = hop[3] & 0xf0 | ((tx_bytes / 128) >> 16 & 0x0f) as u8;
        hop[4..6].copy_from_slice(&((tx_bytes / 128) as u16).to_be_bytes());
        hop[6..].fill(0);
    }

    /// The link is full, and the flow slows down; then an attack begins. Returns the rates before and long after.
    fn attack(&mut self) -> (BitRate, BitRate) {
        self.qlen = 50_000;
        self.run(Nanos(60_000));
        let honest = self.rate();
        assert!(honest < BitRate::gbps(90), "{honest}");
        self.idle_since = Some(self.now.0 * 100 / 8);
        self.run(Nanos(2_000_000));
        (honest, self.rate())
    }

    fn rate(&self) -> BitRate {
        self.sender.sender(self.key).expect("open").rate()
    }

    /// Goes on for a time; returns what came back that was not empty.
    fn run(&mut self, time: Nanos) -> Vec<Back> {
        let end = self.now + time;
        let mut back = Vec::new();
        while self.now < end {
            back.extend(self.step().into_iter().filter(|back| !matches!(back, Back::Ack(answer) if answer.is_empty())));
        }
        back
    }
}

/// A link that is full: U is 1 and more, and whoever hears of it slows down.
fn slows_down(feedback: FeedbackConfig, algorithm: &dyn Algorithm) -> bool {
    let mut pair = Pair::new(algorithm, feedback);
    pair.qlen = 50_000;
    pair.run(Nanos(60_000));
    pair.rate() < BitRate::gbps(90)
}

#[test]
fn req_03_by_default_each_acknowledgement_echoes_its_packets_records() {
    let mut pair = Pair::new(PLUS, FeedbackConfig::default());
    assert!(pair.receiver.echoes());
    let (expected, len) = pair.stamped();
    assert_eq!(pair.step(), [Back::Ack(expected[..len].to_vec())]);
    assert!(slows_down(FeedbackConfig::default(), PLUS));
}

#[test]
fn req_12_every_sampling_controls_the_flow_with_less_feedback() {
    let mut counts = Vec::new();
    for sampling in
        [Sampling::EveryPacket, Sampling::EveryNth(8), Sampling::OnCongestion, Sampling::OncePerRtt, Sampling::Never]
    {
        let feedback = FeedbackConfig { sampling, ..FeedbackConfig::default() };
        let mut pair = Pair::new(PLUS, feedback);
        counts.push(pair.run(Nanos(90_000)).len());
        assert_eq!(slows_down(feedback, PLUS), sampling != Sampling::Never, "{sampling:?}");
    }
    let &[every, ref some @ .., never] = counts.as_slice() else { panic!("five") };
    assert!(some.iter().all(|&count| 9 <= count && count < every) && never == 0, "{counts:?}");
}

#[test]
fn req_16_answers_come_back_in_packets_of_their_own() {
    let feedback = FeedbackConfig { by: Return::Notification, ..FeedbackConfig::default() };
    let mut pair = Pair::new(PLUS, feedback);
    let (expected, len) = pair.stamped();
    assert_eq!(pair.step(), [Back::Notification(expected[..len].to_vec()), Back::Ack(Vec::new())]);
    assert!(slows_down(feedback, PLUS));
}

/// The eighth packet is the first that is acknowledged: until then what notifications say is all that the sender hears.
#[test]
fn req_61_notifications_acknowledge_what_has_arrived_if_they_are_to() {
    for (notification_acks, expected) in [(false, [0, 0, 0]), (true, [1_000, 2_000, 3_000])] {
        let feedback = FeedbackConfig { by: Return::Notification, notification_acks, ..FeedbackConfig::default() };
        let transport = TransportConfig { ack_every: 8_000, ..TransportConfig::default() };
        let mut pair = Pair::with(PLUS, feedback, transport);
        let acked = [(); 3].map(|()| {
            assert!(matches!(pair.step()[..], [Back::Notification(_)]), "no acknowledgement");
            pair.sender.sender(pair.key).expect("open").acked()
        });
        assert_eq!(acked, expected);
    }
}

#[test]
fn req_16_no_packet_of_its_own_comes_back_without_an_answer() {
    let sampling = Sampling::EveryNth(2);
    let mut pair = Pair::new(PLUS, FeedbackConfig { by: Return::Notification, sampling, ..FeedbackConfig::default() });
    assert_eq!((pair.step().len(), pair.step()), (2, [Back::Ack(Vec::new())].into()));
}

/// The receiver does not know telemetry: the sender hears nothing, and goes on with its first window and rate.
#[test]
fn a_receiver_without_telemetry_stalls_nobody() {
    for algorithm in [PLUS, RX] {
        let mut pair =
            Pair::new(algorithm, FeedbackConfig { content: FeedbackContent::Nothing, ..FeedbackConfig::default() });
        pair.qlen = 50_000;
        assert_eq!(pair.run(Nanos(60_000)), []);
        assert_eq!(pair.rate(), BitRate::gbps(100));
    }
}

/// Every fourth packet is acknowledged, but another one collects: the newest answer waits.
#[test]
fn req_16_an_answer_waits_for_the_next_acknowledgement() {
    let feedback = FeedbackConfig { sampling: Sampling::EveryNth(3), ..FeedbackConfig::default() };
    let transport = TransportConfig { ack_every: 4_000, ..TransportConfig::default() };
    let mut pair = Pair::with(PLUS, feedback, transport);
    let mut sections = Vec::new();
    let mut back = Vec::new();
    for _ in 0..8 {
        let (bytes, len) = pair.stamped();
        sections.push(bytes[..len].to_vec());
        back.extend(pair.step());
    }
    // Packets 0, 3 and 6 collect; 3 and 7 are acknowledged.
    assert_eq!(back, [Back::Ack(sections[3].clone()), Back::Ack(sections[6].clone())]);
}

#[test]
fn req_17_the_answer_is_the_record_of_one_link() {
    let feedback = FeedbackConfig { content: FeedbackContent::BusiestLink, ..FeedbackConfig::default() };
    let mut pair = Pair::new(PLUS, feedback);
    let back = pair.run(Nanos(1_000));
    assert!(back.iter().all(|back| matches!(back, Back::Ack(answer) if answer.len() == link_codec::LEN)), "{back:?}");
    assert!(slows_down(feedback, PLUS));
}

#[test]
fn req_25_the_answer_is_one_byte_for_each_link() {
    let feedback = FeedbackConfig { content: FeedbackContent::Loads, ..FeedbackConfig::default() };
    let mut pair = Pair::new(PLUS, feedback);
    let back = pair.run(Nanos(30_000));
    assert!(back.iter().all(|back| matches!(back, Back::Ack(answer) if answer.len() == 1)), "{back:?}");
    let Some(Back::Ack(last)) = back.last() else { panic!("nothing") };
    let load = normalised::read(last).expect("a load");
    assert!((0.95..=1.05).contains(&load), "the link is full: {load}");
    assert!(slows_down(feedback, PLUS));
}

#[test]
fn req_04_req_19_the_answer_is_a_window_once_in_t() {
    let mut pair = Pair::new(RX, FeedbackConfig::default());
    let back = pair.run(Nanos(100_000));
    assert!(back.iter().all(|back| matches!(back, Back::Ack(answer) if answer.len() == 4)), "{back:?}");
    assert!((8..=10).contains(&back.len()), "{back:?}");
    assert!(slows_down(FeedbackConfig::default(), RX));
}

/// Ten flows bring data through one last hop, so that the additive step is a tenth of what a lone flow's is.
#[test]
fn req_20_the_receiver_counts_flows_for_the_additive_step() {
    let algorithm = &RxHpccConfig { count_flows: true, law: LAW, rounds: Rounds::Seen };
    let mut pair = Pair::new(algorithm, FeedbackConfig::default());
    let limits = pair.sender.flow_limits(0, BitRate(u64::MAX), T, WINDOW, 2).expect("a port");
    let spec = ReceiverSpec { src: 8, dst: 9, limits, echo_interval: Nanos(0), is_shared: false };
    let ends: Vec<u32> = (0..10).map(|_| pair.receiver.open_receiver(&spec).expect("room")).collect();
    let mut windows: Vec<Vec<u32>> = ends.iter().map(|_| Vec::new()).collect();
    for n in 0..40_000u64 {
        let (mut bytes, len) = pair.stamped();
        let which = (n % 10) as usize;
        let arrived = Arrived { now: pair.now, acks: Some(n), seq: n, is_probe: false };
        let mut section = Section { bytes: &mut bytes, len };
        pair.receiver.on_telemetry(0, ends[which], &arrived, &mut section);
        if let Ok(window) = section.bytes[..section.len].try_into() {
            windows[which].push(u32::from_be_bytes(window));
        }
        pair.now += Nanos(GAP);
    }
    // A full link shrinks W by U / eta and adds W_ai; where it settles, W_ai = W * (1 - eta / U). With U = 1 and
    // W_ai = W_init * (1 - eta) / N that is W_init / N.
    for windows in &windows {
        let last = *windows.last().expect("a window");
        assert!((11_500..=13_500).contains(&last), "{last} is no tenth of {WINDOW}");
    }
}

#[test]
fn req_14_req_15_probes_leave_once_in_t_while_data_is_in_flight() {
    let feedback = FeedbackConfig { sampling: Sampling::Probes, ..FeedbackConfig::default() };
    let mut pair = Pair::new(PLUS, feedback);
    pair.qlen = 50_000;
    let first = pair.next_segment();
    assert!(!first.collects && first.armed.0 == 1 << PROBE_TIMER);
    assert_eq!(first.frame, 1_048, "no telemetry in it");
    let mut times = Vec::new();
    for _ in 0..6 {
        pair.now = pair.sender.timeout(pair.key, PROBE_TIMER).expect("armed");
        let result = pair.sender.on_timeout(pair.now, pair.key, PROBE_TIMER).expect("known");
        assert_eq!(result.armed.0, 1 << PROBE_TIMER);
        let probe = result.probe.expect("data is in flight");
        assert_eq!((probe.sender.sport, probe.sender.priority, probe.seq), (10_000, 3, 1_000), "path and queue");
        times.push(pair.now.0);
        let (mut bytes, len) = pair.stamped();
        let arrived = Arrived { now: pair.now, acks: None, seq: probe.seq, is_probe: true };
        let mut section = Section { bytes: &mut bytes, len };
        assert!(pair.receiver.on_telemetry(0, probe.sender.receiver, &arrived, &mut section), "a packet of its own");
        let len = section.len;
        let ack =
            Ack { queue_pair: pair.key, seq: probe.seq, port: 10_000, telemetry: &bytes[..len], ..Ack::default() };
        pair.sender.on_feedback(pair.now, &ack, &mut pair.rng).expect("known");
    }
    assert_eq!(times, [0, 10_000, 20_000, 30_000, 40_000, 50_000]);
    assert!(pair.rate() < BitRate::gbps(90), "{}", pair.rate());
    assert_eq!(pair.sender.counters().probes, 6);
    // All data is acknowledged: no probe leaves, and none is planned.
    let seq = 1_000;
    let ack = Ack { queue_pair: pair.key, seq, ..Ack::default() };
    pair.sender.on_ack(pair.now, &ack, &mut pair.rng).expect("known");
    pair.now = Nanos(60_000);
    let result = pair.sender.on_timeout(pair.now, pair.key, PROBE_TIMER).expect("known");
    assert_eq!((result.probe, result.armed.0), (None, 0));
}

/// 20 ms are more than the layout's clock of 24 bits of nanoseconds tells. The sender compares records itself, or its
/// receiver does; either way they are counted once, whether the flow is under way or over.
#[test]
fn records_that_cannot_be_compared_are_counted_where_they_are_read() {
    for (algorithm, expected) in [(PLUS, (1, 0)), (RX, (0, 1))] {
        let mut pair = Pair::of_size(algorithm, FeedbackConfig::default(), TransportConfig::default(), 2_000);
        let baseline_resets =
            |pair: &Pair| (pair.sender.counters().baseline_resets, pair.receiver.counters().baseline_resets);
        pair.step();
        assert_eq!(baseline_resets(&pair), (0, 0), "the first only arm");
        pair.now += Nanos(20_000_000);
        pair.step();
        assert_eq!(baseline_resets(&pair), expected);
        assert!(pair.sender.sender(pair.key).is_some_and(QueuePair::is_finished));
        pair.receiver.close_receiver(0);
        assert_eq!(baseline_resets(&pair), expected, "at the end");
    }
}

#[test]
fn packets_that_bring_feedback_are_counted() {
    for (sampling, expected) in [(Sampling::EveryPacket, 3), (Sampling::EveryNth(2), 2), (Sampling::Never, 0)] {
        // That there is no answer is sealed, too.
        for seal in [None, Some([7; 16])] {
            let mut pair = Pair::new(PLUS, FeedbackConfig { sampling, seal, ..FeedbackConfig::default() });
            (0..3).for_each(|_| drop(pair.step()));
            assert_eq!(pair.sender.counters().feedback, expected, "{sampling:?}");
        }
    }
}

/// Where answers come in packets of their own, acknowledgements are not sealed; any other answer must be.
#[test]
fn req_26_a_seal_that_is_missing_is_counted_each_time() {
    for (by, empty) in [(Return::Acknowledgement, 2), (Return::Notification, 0)] {
        let mut pair = Pair::new(PLUS, FeedbackConfig { seal: Some([7; 16]), by, ..FeedbackConfig::default() });
        let (queue_pair, seq) = (pair.key, 0);
        let ack = Ack { queue_pair, seq, ..Ack::default() };
        for telemetry in [&[][..], &[], &[0; 14], &[0; 14]] {
            pair.sender.on_ack(pair.now, &Ack { telemetry, ..ack }, &mut pair.rng).expect("known");
        }
        assert_eq!(pair.sender.counters().rejected, Rejected { by_seal: empty + 2, by_guard: 0 }, "{by:?}");
    }
}

/// The flow's own path is full and has a queue; a probe of the other one finds a link a tenth of whose capacity is used.
#[test]
fn req_30_a_flow_moves_to_the_source_port_of_a_better_path() {
    const OTHER: u16 = 10_000 + 0x1555;
    let paths = PathConfig { candidates: 2, interval: 1 };
    let mut pair = Pair::new(PLUS, FeedbackConfig { paths, ..FeedbackConfig::default() });
    pair.qlen = 50_000;
    pair.run(Nanos(200_000));
    let mut rounds = 0;
    while pair.sender.source_port(pair.key) == Some(10_000) {
        assert!(pair.sender.counters().moves == 0 && rounds < 50, "{rounds} rounds");
        pair.run(T);
        let mut bytes = [0; MAX_SECTION];
        let len = Layout::new(Form::Paper).prepare(&mut bytes, pair.now);
        let tx_bytes = 10_000_000 + pair.now.0 * 10 / 8;
        let snapshot = Snapshot { switch_id: 77, now: pair.now, tx_bytes, qlen: 0, ..Snapshot::IDLE };
        let len = Layout::new(Form::Paper).stamp(&mut bytes, len, &snapshot);
        let (queue_pair, telemetry) = (pair.key, &bytes[..len]);
        let ack = Ack { queue_pair, port: OTHER, telemetry, ..Ack::default() };
        pair.sender.on_feedback(pair.now, &ack, &mut pair.rng).expect("known");
        rounds += 1;
    }
    assert!(rounds >= 4, "two records, and better for three rounds");
    assert_eq!((pair.sender.source_port(pair.key), pair.sender.counters().moves), (Some(OTHER), 1));
}

/// Of an answer that is not sealed where it should be, and of one that somebody took out, too.
#[test]
fn req_26_req_30_feedback_of_another_path_is_counted_and_needs_its_seal() {
    let paths = PathConfig { candidates: 2, interval: 5 };
    for seal in [None, Some([7; 16])] {
        let mut pair = Pair::new(PLUS, FeedbackConfig { paths, seal, ..FeedbackConfig::default() });
        let (section, len) = pair.stamped();
        for telemetry in [&section[..len], &[]] {
            let ack = Ack { queue_pair: pair.key, port: 10_001, telemetry, ..Ack::default() };
            pair.sender.on_feedback(pair.now, &ack, &mut pair.rng).expect("known");
        }
        let (counters, sealed) = (pair.sender.counters(), u64::from(seal.is_some()));
        assert_eq!((counters.rejected.by_seal, counters.moves), (2 * sealed, 0));
        assert_eq!(counters.feedback, 1, "the answer that is there");
    }
}

#[test]
fn req_26_a_seal_makes_changed_feedback_worthless() {
    let key = Some(*b"0123456789abcdef");
    for (seal, believed) in [(None, true), (key, false)] {
        let mut pair = Pair::new(PLUS, FeedbackConfig { seal, ..FeedbackConfig::default() });
        let (before, after) = pair.attack();
        assert_eq!(after > before, believed, "{before} before, {after} after");
        assert_eq!(pair.sender.counters().rejected.by_seal > 0, !believed);
    }
    let mut pair = Pair::new(PLUS, FeedbackConfig { seal: key, ..FeedbackConfig::default() });
    let Some(Back::Ack(answer)) = pair.step().pop() else { panic!("no acknowledgement") };
    assert_eq!(answer.len(), 10 + seal::TAG_LEN);
}

#[test]
fn req_27_a_guard_rejects_a_receiver_that_reports_an_idle_link() {
    for guard in [false, true] {
        let mut pair = Pair::new(PLUS, FeedbackConfig { guard, ..FeedbackConfig::default() });
        let (before, after) = pair.attack();
        // The guard lets the attack gain what a few packets of slack are worth.
        let gains = after > BitRate(2 * before.0);
        assert_eq!((gains, after == BitRate::gbps(100)), (!guard, !guard), "{before} before, {after} after");
        assert_eq!(pair.sender.counters().rejected.by_guard > 0, guard);
    }
}

/// From the first packet on, by somebody on the way back, or at the end that should answer: the flow does not stay at line rate.
#[test]
fn req_66_a_flow_whose_feedback_is_rejected_or_missing_falls_to_its_least_rate() {
    let sealed = FeedbackConfig { seal: Some([7; 16]), decay_after: 4, ..FeedbackConfig::default() };
    let guarded = FeedbackConfig { guard: true, decay_after: 4, ..FeedbackConfig::default() };
    let bare = FeedbackConfig { decay_after: 4, ..FeedbackConfig::default() };
    for (feedback, silent) in [(sealed, false), (guarded, false), (bare, true)] {
        let fallen = |feedback: FeedbackConfig| {
            let mut pair = Pair::new(PLUS, feedback);
            if silent {
                pair.receiver =
                    Pair::new(PLUS, FeedbackConfig { content: FeedbackContent::Nothing, ..feedback }).receiver;
            }
            pair.idle_since = Some(0);
            pair.run(Nanos(60 * T.0));
            let rate = pair.sender.sender(pair.key).expect("under way").rate();
            (pair, rate)
        };
        let (mut pair, rate) = fallen(feedback);
        assert_eq!(Some(rate), PLUS.min_rate(BitRate::gbps(100)), "{feedback:?}");
        let (_, endless) = fallen(FeedbackConfig { decay_after: 0, ..feedback });
        assert!(endless > BitRate::gbps(80), "{endless}, {feedback:?}");
        pair.idle_since = None;
        if feedback.seal.is_some() {
            pair.run(Nanos(2 * T.0));
            let rate = pair.sender.sender(pair.key).expect("under way").rate();
            assert!(rate > BitRate::gbps(50), "true feedback ends it: {rate}");
        }
    }
}

#[test]
fn a_section_without_room_for_its_answer_brings_nothing() {
    let feedback = FeedbackConfig { content: FeedbackContent::BusiestLink, ..FeedbackConfig::default() };
    let mut pair = Pair::new(PLUS, feedback);
    let (mut bytes, len) = pair.stamped();
    let arrived = Arrived { now: pair.now, acks: Some(1), seq: 1, is_probe: false };
    let mut section = Section { bytes: &mut bytes[..len], len };
    assert!(!pair.receiver.on_telemetry(0, 0, &arrived, &mut section));
    assert_eq!(section.len, 0);
    for layout in Layout::with_records() {
        assert!(room(&layout, 1, false) >= link_codec::LEN + seal::TAG_LEN);
        assert!(room(&layout, 1, false) >= layout.max_len() + seal::TAG_LEN);
        assert!(room(&layout, 4, false) >= 4 * (2 + layout.max_len()) + seal::TAG_LEN);
    }
    assert_eq!(
        [Layout::none(), Layout::new(Form::Paper)].map(|layout| room(&layout, 1, false)),
        [0, Layout::new(Form::Paper).max_len() + seal::TAG_LEN]
    );
    assert_eq!(room(&Layout::none(), 4, false), 0);
}

#[test]
fn settings_say_what_they_need() {
    let plain = FeedbackConfig::default();
    let unsuitable = |config: FeedbackConfig, algorithm: &dyn Algorithm, layout| {
        config.check(&algorithm.needs(), &layout).err().map(|conflict| conflict.key)
    };
    let probes = FeedbackConfig { sampling: Sampling::Probes, ..plain };
    let loads = FeedbackConfig { content: FeedbackContent::Loads, ..plain };
    let guard = FeedbackConfig { guard: true, ..plain };
    let paths = FeedbackConfig { paths: PathConfig { candidates: 2, interval: 1 }, ..plain };
    assert_eq!(
        [PLUS, RX].map(|algorithm| unsuitable(paths, algorithm, Layout::new(Form::Paper))),
        [None, Some("paths")]
    );
    assert_eq!(unsuitable(paths, PLUS, Layout::new(Timestamp)), Some("paths"));
    for layout in Layout::with_records() {
        let expected = (layout.name() == "reference").then_some("paths");
        assert_eq!(unsuitable(paths, PLUS, layout.clone()), expected, "{layout:?}");
    }
    assert_eq!(unsuitable(plain, &LineRate, Layout::none()), None);
    assert_eq!(unsuitable(probes, PLUS, Layout::new(Form::Paper)), None);
    assert_eq!(unsuitable(probes, RX, Layout::new(Form::Paper)), None);
    assert_eq!(unsuitable(probes, PLUS, Layout::new(Timestamp)), Some("sampling"));
    assert_eq!(unsuitable(loads, PLUS, Layout::new(Form::Paper)), None);
    assert_eq!(unsuitable(loads, RX, Layout::new(Form::Paper)), Some("content"));
    assert_eq!(unsuitable(guard, RX, Layout::new(Form::Paper)), Some("guard"));
    assert_eq!(unsuitable(FeedbackConfig { seal: Some([0; 16]), ..plain }, PLUS, Layout::none()), Some("seal"));
}
