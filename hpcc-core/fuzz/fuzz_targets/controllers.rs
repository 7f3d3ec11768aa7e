// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every congestion control under any sequence of acknowledgements, records, notifications, losses and timers: rate and
//! window stay within their limits.
#![no_main]

use hpcc_core::cc::{
    self, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, Notification, Origin, RateDecision, Sent,
};
use hpcc_core::random::Rng;
use hpcc_core::telemetry::{Hop, HopStack, LinkRecord, MAX_HOPS, Modulus, Telemetry};
use hpcc_core::units::{BitRate, Nanos};
use libfuzzer_sys::fuzz_target;

const LIMITS: FlowLimits = FlowLimits { hops: 3, ..FlowLimits::of(BitRate::gbps(100), Nanos(13_000), 162_500) };

/// Numbers from the fuzzer's bytes, 0 behind their end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Of any magnitude, most of them small.
    fn number(&mut self) -> u64 {
        let low = u64::from(self.byte());
        let high = u64::from(self.byte());
        (low << 8 | high) << (self.byte() % 64)
    }

    fn modulus(&mut self) -> Modulus {
        match self.byte() % 3 {
            0 => Modulus { ts: 1 << 24, tx_bytes: 512 << 20 },
            1 => Modulus { ts: 1 << 32, tx_bytes: 1 << 32 },
            _ => Modulus { ts: 1 + self.number() % (1 << 62), tx_bytes: 1 + self.number() % (1 << 60) },
        }
    }

    /// A record, within the wraps of its counters as a codec reads it.
    fn hop(&mut self, modulus: &Modulus) -> Hop {
        let rates =
            [BitRate(0), BitRate(1), BitRate::gbps(25), BitRate::gbps(100), BitRate::gbps(400), BitRate(u64::MAX)];
        Hop {
            rate: rates[usize::from(self.byte()) % rates.len()],
            ts: self.number() % modulus.ts,
            tx_bytes: self.number() % modulus.tx_bytes,
            qlen: self.number(),
        }
    }

    /// Telemetry of any kind; records are kept in `stack` or `link`.
    fn telemetry<'s>(&mut self, stack: &'s mut HopStack, link: &'s mut LinkRecord) -> Telemetry<'s> {
        match self.byte() % 6 {
            0 => Telemetry::Nothing,
            1 => {
                stack.reset(self.modulus());
                stack.path = self.number();
                for _ in 0..usize::from(self.byte()) % (MAX_HOPS + 1) {
                    let hop = self.hop(&stack.modulus.clone());
                    stack.push(hop);
                }
                Telemetry::Hops(stack)
            }
            2 => {
                let modulus = self.modulus();
                let place = self.byte() % MAX_HOPS as u8;
                *link = LinkRecord { path: self.number(), place, hop: self.hop(&modulus), modulus };
                Telemetry::Link(link)
            }
            3 => Telemetry::SentAt(Nanos(self.number())),
            4 => Telemetry::Utilisation(self.number() as f64 / 1000.0),
            _ => Telemetry::Window(self.number()),
        }
    }
}

/// The flow's state so far, as far as its events need it.
struct Flow {
    control: Box<dyn CongestionControl>,
    least: BitRate,
    now: Nanos,
    acked: u64,
    sent: u64,
    rng: Rng,
}

impl Flow {
    fn check(&self, decision: RateDecision) {
        let rate = match decision {
            RateDecision::Keep => return,
            RateDecision::Repace(rate) | RateDecision::Set(rate) => rate,
            RateDecision::Window { bytes, rate } => {
                assert!(bytes > 0, "{:?}", self.control);
                rate
            }
        };
        assert!((self.least..=LIMITS.line_rate).contains(&rate), "{rate}: {:?}", self.control);
    }

    fn event(&mut self, numbers: &mut Numbers<'_>) {
        let mut stack = HopStack::default();
        let (hop, modulus) = (Hop::default(), Modulus::default());
        let mut link = LinkRecord { path: 0, place: 0, hop, modulus };
        let Flow { now, rng, .. } = self;
        *now += Nanos(numbers.number() >> 16);
        let now = *now;
        let decision = match numbers.byte() % 6 {
            0 | 1 => {
                let acked = (numbers.number() & 0xffff).min(self.sent - self.acked);
                self.acked += acked;
                let feedback = Feedback {
                    now,
                    ack_seq: self.acked,
                    snd_nxt: self.sent,
                    acked,
                    rtt: (numbers.byte() % 2 == 0).then(|| Nanos(numbers.number())),
                    congestion_marked: numbers.byte() % 2 == 0,
                    telemetry: numbers.telemetry(&mut stack, &mut link),
                };
                self.control.on_feedback(&feedback, rng)
            }
            2 => {
                let bytes = 1 + u32::from(numbers.byte());
                let seq = self.sent;
                self.sent += u64::from(bytes);
                let in_flight = self.sent - self.acked;
                self.control.on_sent(&Sent { now, seq, bytes, in_flight, retransmission: numbers.byte() % 8 == 0 });
                RateDecision::Keep
            }
            3 => {
                let signal = if numbers.byte() % 2 == 0 { LossSignal::Nack } else { LossSignal::Timeout };
                let in_flight = self.sent - self.acked;
                self.control.on_loss(&Loss { now, seq: self.acked, in_flight, signal })
            }
            4 => {
                let origin =
                    if numbers.byte() % 2 == 0 { Origin::Receiver } else { Origin::Network([numbers.byte(); 16]) };
                let age = Nanos(numbers.number());
                let telemetry = numbers.telemetry(&mut stack, &mut link);
                self.control
                    .on_notification(&Notification { now, age, telemetry, origin })
                    .unwrap_or(RateDecision::Keep)
            }
            _ => {
                let timer = numbers.byte() % cc::MAX_TIMERS as u8;
                let Some(due) = self.control.timers().and_then(|timers| timers.due(timer)) else { return };
                self.now = now.max(due);
                let fired = self.control.timers_mut().is_some_and(|timers| timers.fire(timer, self.now));
                if fired { self.control.on_timer(timer, self.now) } else { RateDecision::Keep }
            }
        };
        self.check(decision);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let algorithms = cc::all();
    let algorithm = &algorithms[usize::from(numbers.byte()) % algorithms.len()];
    let least = algorithm.min_rate(LIMITS.line_rate).unwrap_or_default();
    let control = algorithm.start(LIMITS);
    let mut flow = Flow { control, least, now: Nanos(0), acked: 0, sent: 0, rng: Rng::new(1, 1) };
    while !numbers.0.is_empty() {
        flow.event(&mut numbers);
    }
});
