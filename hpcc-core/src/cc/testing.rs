// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the controllers' tests share.

use super::{CongestionControl, Feedback, FlowLimits, Notification, Origin, RateDecision};
use crate::quirks::Quirks;
use crate::random::Rng;
use crate::telemetry::{HopStack, Telemetry};
use crate::units::{BitRate, Nanos};

/// B = 100 Gb/s, T = 13 us, W = 162 500 B: the setting of SPEC section 1.5.
pub const LIMITS: FlowLimits = FlowLimits {
    line_rate: BitRate::gbps(100),
    base_rtt: Nanos(13_000),
    window: 162_500,
    path_bytes: 162_500,
    mtu: 1_000,
    hops: 0,
    some_hops: false,
    quirks: Quirks::NONE,
};
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

/// Feeds a controller 20 000 acknowledgements that no network would send, fires its timers as they come due
/// and as they do not, and expects every rate between `min` and the line rate.
pub fn survives_hostile_feedback(
    mut controller: impl CongestionControl,
    min: BitRate,
    telemetry: impl for<'a> Fn(u64, &'a mut HopStack) -> Telemetry<'a>,
) {
    let mut rng = rng();
    let mut now = 0;
    let mut stack = HopStack::default();
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
            telemetry: telemetry(noise >> 9, &mut stack),
        };
        check(controller.on_feedback(&feedback, &mut rng));
        let telemetry = telemetry(noise >> 11, &mut stack);
        let notification = Notification { now: Nanos(now), telemetry, ..NOTIFICATION };
        check(controller.on_notification(&notification).unwrap_or(RateDecision::Keep));
        for timer in 0..4 {
            let due = controller.timers().and_then(|timers| timers.due(timer));
            if due.is_some_and(|at| at <= Nanos(now)) {
                check(controller.on_timer(timer, Nanos(now)));
            }
        }
        check(controller.on_timer((noise % 7) as u8, Nanos(now)));
    }
}
