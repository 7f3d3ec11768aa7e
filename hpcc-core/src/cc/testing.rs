// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the controllers' tests share.

use super::{CongestionControl, Feedback, FlowLimits, Loss, LossSignal, Notification, Origin, RateDecision, Sent};
use crate::random::Rng;
use crate::telemetry::{Hop, HopStack, LinkRecord, Modulus, Telemetry};
use crate::units::{BitRate, Nanos};

/// B = 100 Gb/s, T = 13 us, W = 162 500 B: the setting of the HPCC paper's simulations (section 5.1).
pub const LIMITS: FlowLimits = FlowLimits::of(BitRate::gbps(100), Nanos(13_000), 162_500);
/// 80 bytes in 13 us.
pub const W_AI: BitRate = BitRate(80 * 8 * 1_000_000_000 / 13_000);

/// An acknowledgement without mark or telemetry.
pub fn ack(now: u64, ack_seq: u64, snd_nxt: u64) -> Feedback<'static> {
    Feedback {
        now: Nanos(now),
        ack_seq,
        snd_nxt,
        acked: 0,
        rtt: None,
        congestion_marked: false,
        telemetry: Telemetry::Nothing,
    }
}

/// A switch's notification without records.
pub const NOTIFICATION: Notification<'static> =
    Notification { now: Nanos(0), age: Nanos(0), telemetry: Telemetry::Nothing, origin: Origin::Network([0xfd; 16]) };

/// A generator for tests.
pub fn rng() -> Rng {
    Rng::new(26, 1)
}

/// The rate of a decision that brings one.
#[track_caller]
pub fn rate(decision: RateDecision) -> BitRate {
    match decision {
        RateDecision::Keep => panic!("no rate"),
        RateDecision::Repace(rate) | RateDecision::Set(rate) | RateDecision::Window { rate, .. } => rate,
    }
}

/// Telemetry of any kind, with these bits in it; `place` and `link` are for records.
fn any_telemetry<'a>(bits: u64, place: &'a mut HopStack, link: &'a mut LinkRecord) -> Telemetry<'a> {
    let (ts, tx_bytes, rate) = (bits % (1 << 24), (bits >> 7) % (512 << 20), BitRate::gbps(100));
    let hop = Hop { rate, ts, tx_bytes, qlen: bits % 3 * 5_000_000 };
    match bits >> 3 & 7 {
        0 => Telemetry::Nothing,
        1 => Telemetry::SentAt(Nanos(bits % 1_000_000)),
        2 => Telemetry::Utilisation(f64::from_bits(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        3 => Telemetry::Window(bits),
        4 => {
            *link = LinkRecord { path: bits >> 9 & 1, place: (bits % 18) as u8, hop, modulus: place.modulus };
            Telemetry::Link(link)
        }
        _ => {
            place.reset(Modulus { ts: 1 << 24, tx_bytes: 512 << 20 });
            (0..1 + bits % 5 / 4).for_each(|_| place.push(hop));
            place.path = bits % 2;
            Telemetry::Hops(place)
        }
    }
}

/// Feeds a controller 20 000 acknowledgements, notifications and losses that no network would send, fires its timers as they come due
/// and as they do not, and expects every rate between `min` and the line rate.
pub fn survives_hostile_feedback(controller: &mut dyn CongestionControl, min: BitRate) {
    let mut rng = rng();
    let mut now = 0;
    let (mut stack, mut link) = (HopStack::new(Modulus { ts: 1 << 24, tx_bytes: 512 << 20 }), LinkRecord::default());
    let check = |decision| {
        if decision != RateDecision::Keep {
            let rate = rate(decision);
            assert!((min..=LIMITS.line_rate).contains(&rate), "{rate}");
        }
        if let RateDecision::Window { bytes, .. } = decision {
            assert!((1..=LIMITS.window).contains(&bytes), "{bytes} bytes");
        }
    };
    for _ in 0..20_000 {
        let noise = u64::from(rng.rand.draw()) << 31 | u64::from(rng.rand.draw());
        now += noise % 70_000;
        let feedback = Feedback {
            now: Nanos(now),
            ack_seq: if noise & 1 == 0 { noise >> 3 & 0xf_ffff } else { u64::MAX - (noise >> 40) },
            acked: noise >> 40,
            rtt: (noise & 8 == 0).then_some(Nanos(noise >> 30)),
            snd_nxt: if noise & 2 == 0 { noise >> 7 & 0xf_ffff } else { noise },
            congestion_marked: noise & 4 == 0,
            telemetry: any_telemetry(noise >> 9, &mut stack, &mut link),
        };
        check(controller.on_feedback(&feedback, &mut rng));
        let telemetry = any_telemetry(noise >> 11, &mut stack, &mut link);
        let notification = Notification { now: Nanos(now), telemetry, ..NOTIFICATION };
        check(controller.on_notification(&notification).unwrap_or(RateDecision::Keep));
        let (seq, in_flight, bytes) = (noise >> 20, noise >> 30, 1 + noise as u32 % 9_000);
        controller.on_sent(&Sent {
            now: Nanos(now),
            seq,
            bytes,
            in_flight,
            retransmission: noise & 64 == 0,
            left: noise >> 33,
        });
        if noise % 16 == 0 {
            let signal = if noise & 128 == 0 { LossSignal::Nack } else { LossSignal::Timeout };
            check(controller.on_loss(&Loss { now: Nanos(now), seq, in_flight, signal }));
        }
        for timer in 0..4 {
            let due = controller.timers().and_then(|timers| timers.due(timer));
            if due.is_some_and(|at| at <= Nanos(now)) {
                check(controller.on_timer(timer, Nanos(now)));
            }
        }
        check(controller.on_timer((noise % 7) as u8, Nanos(now)));
    }
}
