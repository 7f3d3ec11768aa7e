// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue pair that flows share, on its own.

use super::tests::LIMITS;
use super::*;
use crate::cc::testing::{ack, rng};
use crate::cc::{Algorithm, DcqcnConfig, Feedback, LineRate, MAX_TIMERS};
use crate::transport::{QueuePairs, RETRANSMISSION_TIMER, Recovery, TimeoutConfig};
use alloc::vec::Vec;

fn shared(recovery: Recovery) -> TransportConfig {
    TransportConfig { queue_pairs: QueuePairs::PerPair, recovery, ..TransportConfig::default() }
}

/// A queue pair with messages of these sizes.
fn queue_pair(config: &TransportConfig, sizes: &[u64]) -> QueuePair {
    let mut qp = QueuePair::new(config, sizes[0], 3, LIMITS, Box::new(LineRate), Nanos(0));
    for &size in &sizes[1..] {
        qp.post(config, Nanos(0), size).expect("room");
    }
    qp
}

/// Sequence number and payload of all packets that are left to send.
fn packets(qp: &mut QueuePair, config: &TransportConfig) -> Vec<(u64, u32)> {
    let mut packets = Vec::new();
    while qp.has_data() {
        let taken = qp.take_segment(config);
        packets.push((taken.seq, taken.payload));
    }
    packets
}

const PACKETS: [(u64, u32); 6] = [(0, 1_000), (1_000, 500), (2_000, 1_000), (3_000, 1_000), (4_000, 500), (5_000, 1)];

#[test]
fn messages_finish_in_their_order_and_the_queue_pair_stays() {
    let config = shared(Recovery::GoBackN);
    let mut qp = queue_pair(&config, &[1_500, 2_500, 1]);
    packets(&mut qp, &config);
    let acked = [1_000, 2_000, 4_000, 6_000, 6_000].map(|seq| {
        let Acked { bytes, messages } = qp.on_ack(&config, seq);
        (bytes, messages, qp.in_flight())
    });
    assert_eq!(acked, [(1_000, 0, 3_001), (500, 1, 2_501), (2_000, 0, 501), (501, 2, 0), (0, 0, 0)]);
    assert!(qp.is_finished() && !qp.is_over() && !qp.has_data());
    assert_eq!(qp.post(&config, Nanos(9_000), 700).map(|message| message.start), Some(6_000));
    assert!(!qp.is_finished());
    assert_eq!((packets(&mut qp, &config), qp.in_flight()), (Vec::from([(6_000, 700)]), 700));
    assert_eq!(qp.on_ack(&config, 7_000), Acked { bytes: 700, messages: 1 });
}

#[test]
fn the_last_packet_of_each_message_asks_for_an_acknowledgement() {
    let config = TransportConfig { ack_every: 1_000_000, window: false, ..shared(Recovery::GoBackN) };
    let limits = FlowLimits { window: 0, ..LIMITS };
    let mut qp = QueuePair::new(&config, 1_500, 3, limits, Box::new(LineRate), Nanos(0));
    qp.post(&config, Nanos(0), 2_500).expect("room");
    let asked: Vec<bool> = (0..5).map(|_| qp.take_segment(&config).ack_requested).collect();
    assert_eq!(asked, [false, true, false, false, true]);
}

#[test]
fn what_was_not_sent_cannot_be_acknowledged() {
    let config = shared(Recovery::GoBackN);
    let mut qp = queue_pair(&config, &[1_500, 2_500]);
    assert_eq!(qp.on_ack(&config, 1 << 40), Acked { bytes: 0, messages: 0 });
    qp.take_segment(&config);
    qp.take_segment(&config);
    assert_eq!(qp.on_ack(&config, u64::MAX), Acked { bytes: 1_500, messages: 1 });
    assert_eq!(packets(&mut qp, &config), PACKETS[2..5]);
}

#[test]
fn a_flow_with_a_queue_pair_of_its_own_takes_no_other_message() {
    let config = TransportConfig::default();
    let mut qp = queue_pair(&config, &[1_500]);
    assert_eq!(qp.post(&config, Nanos(0), 1), None);
    packets(&mut qp, &config);
    assert_eq!(qp.on_ack(&config, 1_500), Acked { bytes: 1_500, messages: 1 });
    assert!(qp.is_over());
}

/// DCQCN's timers raise the rate while nothing is sent: the next message begins where they would have brought it by then,
/// and a wait for its acknowledgement begins anew.
#[test]
fn timers_that_were_due_while_idle_have_fired_when_the_next_message_begins() {
    const LATER: Nanos = Nanos(1_000_000);
    let wait = Nanos(100_000);
    let timeout = TimeoutConfig { high: wait, low: wait, few: 0, base_rtts: 0, back_off: false };
    let config = TransportConfig { timeout: Some(timeout), ..shared(Recovery::GoBackN) };
    let marked = || {
        let controller = DcqcnConfig::default().start(LIMITS.into());
        let mut qp = QueuePair::new(&config, 1_000, 3, LIMITS, controller, Nanos(0));
        qp.take_segment(&config);
        qp.on_feedback(&config, &Feedback { congestion_marked: true, ..ack(0, 1_000, 1_000) }, &mut rng());
        qp.on_timer(&config, 1, Nanos(4_001));
        qp
    };
    let mut awake = marked();
    let due = |qp: &QueuePair| (0..MAX_TIMERS as u8).filter_map(|n| Some((qp.timeout(n)?, n))).min();
    while let Some((at, timer)) = due(&awake).filter(|&(at, _)| at <= LATER) {
        awake.on_timer(&config, timer, at);
    }
    let mut idle = marked();
    assert_eq!(idle.on_ack(&config, 1_000).messages, 1);
    let slow = idle.rate();
    idle.post(&config, LATER, 1_000).expect("room");
    assert!(slow < idle.rate() && idle.rate() < LIMITS.line_rate, "{slow} {}", idle.rate());
    assert_eq!(idle.rate(), awake.rate());
    assert_eq!(due(&idle), due(&awake));
    assert_eq!(idle.timeout(RETRANSMISSION_TIMER), Some(LATER + wait));
    assert_eq!(idle.due_timers(), Armed(1 << RETRANSMISSION_TIMER | 0b111), "alpha, decrease, increase");
}
