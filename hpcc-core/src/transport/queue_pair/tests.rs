// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue pair on its own.

use super::control::scale;
use super::*;
use crate::cc::testing::{ack, rng};
use crate::cc::{Algorithm, DcqcnConfig, Feedback, LineRate, RateDecision};
use crate::reference_faults::ReferenceFaults;
use crate::transport::{Ack, RETRANSMISSION_TIMER, Recovery, TimeoutConfig};
use alloc::vec::Vec;

pub const LIMITS: FlowLimits = FlowLimits::of(BitRate::gbps(100), Nanos(4_160), 52_000);

fn queue_pair(size: u64) -> QueuePair {
    QueuePair::new(&TransportConfig::default(), size, 3, LIMITS, Box::new(LineRate), Nanos(0))
}

fn take(qp: &mut QueuePair) -> (u64, u32) {
    let taken = qp.take_segment(&TransportConfig::default());
    (taken.seq, taken.payload)
}

#[test]
fn req_08_a_flow_starts_at_line_rate_with_a_window_of_one_bdp() {
    let qp = queue_pair(100_000);
    assert_eq!((qp.rate(), qp.window()), (LIMITS.line_rate, LIMITS.window));
}

/// REQ-31: both bounds hold: the window stops a flow that pacing would let go, and the reverse.
#[test]
fn req_31_window_and_pacing_both_bind() {
    let config = TransportConfig::default();
    let mut qp = queue_pair(100_000);
    for n in 0..52 {
        assert!(qp.is_eligible(0), "packet {n}");
        take(&mut qp);
        qp.on_sent(&config, Nanos(0), 1090);
    }
    assert!(!qp.is_eligible(0));
    assert_eq!(qp.next_avail(), Nanos(87));
    qp.on_ack(&config, 1000);
    assert!(qp.is_eligible(0));
    assert!(!qp.is_eligible(1 << 3));
}

/// Which of six packets ask for an acknowledgement, of a flow that asks after 3000 bytes.
fn requests(window: u64, size: u64) -> Vec<bool> {
    let config = TransportConfig { ack_every: 3_000, ..TransportConfig::default() };
    let limits = FlowLimits { window, ..LIMITS };
    let mut qp = QueuePair::new(&config, size, 3, limits, Box::new(LineRate), Nanos(0));
    (0..size.div_ceil(1_000)).map(|_| qp.take_segment(&config).ack_requested).collect()
}

#[test]
fn acknowledgements_are_asked_for_twice_in_a_window_and_at_the_end() {
    let (yes, no) = (true, false);
    assert_eq!(requests(0, 7_000), [no, no, yes, no, no, yes, yes], "without a window");
    assert_eq!(requests(52_000, 7_000), [no, no, yes, no, no, yes, yes]);
    assert_eq!(requests(4_000, 4_001), [no, yes, no, yes, yes], "twice in four packets");
    assert_eq!(requests(52_000, 1_000), [yes]);
}

/// The window shrank to nothing before the flow asked for an acknowledgement: one packet more leaves and asks.
#[test]
fn who_has_not_asked_for_an_acknowledgement_may_send_one_packet_more() {
    let config = TransportConfig { ack_every: 3_000, ..TransportConfig::default() };
    let mut qp = QueuePair::new(&config, 9_000, 3, LIMITS, Box::new(LineRate), Nanos(0));
    assert!(!qp.take_segment(&config).ack_requested);
    qp.apply(&config, RateDecision::Window { bytes: 1, rate: LIMITS.line_rate });
    assert!(qp.is_eligible(0));
    assert!(qp.take_segment(&config).ack_requested && !qp.is_eligible(0));
}

/// The host's timer was set for 100 us when the flow began.
#[test]
fn the_wait_begins_with_the_only_packet_in_flight() {
    let wait = Nanos(100_000);
    let timeout = TimeoutConfig { high: wait, low: wait, few: 0, base_rtts: 0, back_off: false };
    let config = TransportConfig { timeout: Some(timeout), ..TransportConfig::default() };
    for (sent, expired) in [(None, [false, true]), (Some(0), [true, true]), (Some(50_000), [false, true])] {
        let mut qp = QueuePair::new(&config, 9_000, 3, LIMITS, Box::new(LineRate), Nanos(0));
        if let Some(at) = sent {
            take(&mut qp);
            qp.on_sent(&config, Nanos(at), 1_048);
        }
        assert_eq!(qp.on_retransmission_timer(&config, Nanos(100_000)), expired[0], "sent at {sent:?}");
        let due = qp.timeout(RETRANSMISSION_TIMER).expect("armed");
        assert_eq!(due, Nanos(if sent == Some(50_000) { 150_000 } else { 200_000 }));
        take(&mut qp);
        assert_eq!(qp.on_retransmission_timer(&config, due), expired[1], "sent at {sent:?}");
    }
}

/// Those of the controller's own test: from 75 Gb/s half way to the new port's rate.
#[test]
fn the_controller_hears_of_another_port() {
    let config = TransportConfig::default();
    for (line_rate, expected) in [(80, 77_500), (100, 87_500)] {
        let controller = DcqcnConfig::default().start(LIMITS.into());
        let mut qp = QueuePair::new(&config, 9_000, 3, LIMITS, controller, Nanos(0));
        let marked = Feedback { congestion_marked: true, ..ack(0, 1_000, 9_000) };
        qp.on_feedback(&config, &marked, &mut rng());
        qp.on_timer(&config, 1, Nanos(4_001));
        qp.on_port(BitRate::gbps(line_rate));
        qp.on_timer(&config, 2, Nanos(304_001));
        qp.on_timer(&config, 2, Nanos(604_001));
        assert_eq!(qp.rate(), BitRate::mbps(expected));
    }
}

/// A window that nothing scales stays as it was given.
#[test]
fn a_window_moves_only_where_a_window_is_wanted_and_variable() {
    for (window, variable_window, expected) in [(true, true, 26_000), (false, true, 52_000), (true, false, 52_000)] {
        let config = TransportConfig { window, variable_window, ..TransportConfig::default() };
        let mut qp = queue_pair(9_000);
        qp.set_rate(&config, BitRate::gbps(50));
        assert_eq!(qp.window(), expected);
    }
}

/// After a NACK the acknowledgement of packets that were on their way passes `snd_nxt`. In the 2019 simulator the bytes
/// in flight then wrap, and the window is full until the next NACK.
#[test]
fn an_acknowledgement_may_pass_what_is_to_be_sent_next() {
    for (wrapping_in_flight, eligible, next) in [(false, true, 4000), (true, false, 2000)] {
        let faults = ReferenceFaults { wrapping_in_flight, ..ReferenceFaults::NONE };
        let config = TransportConfig { faults, ..TransportConfig::default() };
        let mut qp = QueuePair::new(&config, 100_000, 3, LIMITS, Box::new(LineRate), Nanos(0));
        for _ in 0..5 {
            take(&mut qp);
        }
        qp.on_ack(&config, 2000);
        qp.go_back();
        qp.on_ack(&config, 4000);
        assert_eq!((qp.is_eligible(0), qp.snd_nxt()), (eligible, next));
        qp.on_ack(&config, 5000);
        qp.go_back();
        assert!(qp.is_eligible(0));
        assert_eq!(take(&mut qp), (5000, 1000));
    }
}

#[test]
fn a_rate_change_moves_the_packet_that_waits() {
    let config = TransportConfig::default();
    let mut qp = queue_pair(100_000);
    take(&mut qp);
    qp.on_sent(&config, Nanos(1000), 1090);
    qp.repace(&config, BitRate::gbps(50));
    assert_eq!(qp.next_avail(), Nanos(1000 + 174));
    assert_eq!(qp.window(), 26_000);
    qp.repace(&config, BitRate::gbps(100));
    assert_eq!((qp.next_avail(), qp.window()), (Nanos(1087), 52_000));
}

#[test]
fn a_rate_that_is_set_moves_the_window_but_not_the_packet_that_waits() {
    let config = TransportConfig::default();
    let mut qp = queue_pair(100_000);
    take(&mut qp);
    qp.on_sent(&config, Nanos(1000), 1090);
    let effects = qp.apply(&config, RateDecision::Set(BitRate::gbps(50)));
    assert_eq!(effects, Effects { repaced: false, armed: Armed(0) });
    assert_eq!((qp.next_avail(), qp.window()), (Nanos(1087), 26_000));
    qp.on_sent(&config, Nanos(2000), 1090);
    assert_eq!(qp.next_avail(), Nanos(2174));
}

/// 50 Gb/s make a window of 26 000 bytes of their own; what was decided counts.
#[test]
fn req_31_a_controller_may_decide_window_and_pace_apart() {
    let config = TransportConfig::default();
    let decision = RateDecision::Window { bytes: 9_000, rate: BitRate::gbps(50) };
    let mut qp = queue_pair(100_000);
    take(&mut qp);
    qp.on_sent(&config, Nanos(1000), 1090);
    assert_eq!(qp.apply(&config, decision), Effects { repaced: true, armed: Armed(0) });
    assert_eq!((qp.next_avail(), qp.rate(), qp.window()), (Nanos(1000 + 174), BitRate::gbps(50), 9_000));
    let mut unbounded =
        QueuePair { limits: FlowLimits { window: 0, ..LIMITS }.into(), window: 0, ..queue_pair(100_000) };
    unbounded.apply(&config, decision);
    assert_eq!(unbounded.window(), 0);
}

/// 50 MB at 400 Gb/s: the product has 65 bits.
#[test]
fn a_large_window_wraps_in_the_reference() {
    let line_rate = BitRate::gbps(400);
    for (wrapping_window, window) in [(false, 50_000_000), (true, 3_883_139)] {
        let faults = ReferenceFaults { wrapping_window, ..ReferenceFaults::NONE };
        let config = TransportConfig { faults, ..TransportConfig::default() };
        let limits = FlowLimits { line_rate, window: 50_000_000, faults, ..LIMITS };
        let qp = QueuePair::new(&config, 100_000, 3, limits, Box::new(LineRate), Nanos(0));
        assert_eq!(qp.window(), window);
    }
}

#[test]
fn windows_beyond_64_bits_of_product_scale_exactly() {
    assert_eq!(scale(u64::MAX, BitRate(1 << 40), BitRate(1 << 41)), u64::MAX / 2);
    assert_eq!(scale(10, BitRate(1), BitRate::gbps(100)), 1);
}

/// A window of 52 packets is full. Packets that arrived ahead of the first make room for as many as may overtake one, and are no
/// sign of a loss; one more is.
#[test]
fn packets_that_overtake_each_other_neither_fill_the_window_nor_tell_of_a_loss() {
    let config =
        TransportConfig { recovery: Recovery::SelectiveRepeat, reorder_window: 2, ..TransportConfig::default() };
    let mut qp = QueuePair::new(&config, 100_000, 3, LIMITS, Box::new(LineRate), Nanos(0));
    (0..52).for_each(|_| assert!(qp.is_eligible(0) && !qp.take_segment(&config).again));
    let mut sent_after = |packet: u64| {
        let nack = Ack { nack: true, selective: Some(1_000 * packet), ..Ack::default() };
        qp.recover(&config, Nanos(0), false, &nack);
        let misses = qp.misses_packets(&config);
        let sent: Vec<u64> = core::iter::from_fn(|| qp.is_eligible(0).then(|| qp.take_segment(&config).seq)).collect();
        (misses, sent)
    };
    assert_eq!(sent_after(1), (false, [52_000].into()));
    assert_eq!(sent_after(2), (false, [53_000].into()));
    assert_eq!(sent_after(3), (true, [0].into()), "and no third that is new");
}

/// A packet each 865.6 ns: nothing is lost of the parts of nanoseconds, though each leaves at a whole one.
#[test]
fn exact_paces_lose_no_parts_of_nanoseconds() {
    let config = TransportConfig { exact_rates: true, frame_gap: 20, window: false, ..TransportConfig::default() };
    let limits = FlowLimits { line_rate: BitRate::gbps(10), window: 0, ..LIMITS };
    let mut qp = QueuePair::new(&config, 1 << 40, 3, limits, Box::new(LineRate), Nanos(0));
    for packet in 1..=10_000_u64 {
        qp.take_segment(&config);
        qp.on_sent(&config, qp.next_avail(), 1_062);
        assert_eq!(qp.next_avail(), Nanos((packet * 8_656).div_ceil(10)));
    }
}

/// Whatever the recovery is: no window is none, and the cap is one bandwidth-delay product.
#[test]
fn what_bounds_bytes_in_flight_is_what_was_set() {
    for recovery in [Recovery::GoBackN, Recovery::SelectiveRepeat, Recovery::Sack] {
        for (window, bdp_cap, bound) in
            [(false, false, 0), (false, true, 52_000), (true, false, 90_000), (true, true, 52_000)]
        {
            let config = TransportConfig { recovery, window, bdp_cap, ..TransportConfig::default() };
            let limits = FlowLimits { window: if window { 90_000 } else { 0 }, ..LIMITS };
            assert_eq!(config.first_window(LIMITS.line_rate, LIMITS.base_rtt, 52_000), if window { 52_000 } else { 0 });
            let qp = QueuePair::new(&config, 1 << 40, 3, limits, Box::new(LineRate), Nanos(0));
            assert_eq!(qp.window(), bound, "{recovery:?}, window = {window}, bdp_cap = {bdp_cap}");
        }
    }
}
