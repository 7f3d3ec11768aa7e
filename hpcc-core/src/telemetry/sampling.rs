// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets of a flow collect telemetry (REQ-12, REQ-14 to REQ-16; draft-miao-rtgwg-hpccplus-00, section
//! 6.2.1): all, some, or probes that carry nothing else.
//!
//! A probe is a packet of its flow without payload: same addresses and ports, same priority, so that it takes the
//! same way through the same queues (REQ-13). Its answer acknowledges no data; as the sequence number of the feedback
//! the host takes snd_nxt at the time when the probe left, for a probe follows all data sent before it.
//! The receiver answers every packet that brings telemetry, within its acknowledgement or by itself, so what is
//! chosen here also bounds the feedback.

use crate::units::Nanos;

/// Which packets collect telemetry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Every data packet.
    #[default]
    EveryPacket,
    /// One data packet in so many, the first included; at least 1.
    EveryNth(u32),
    /// The first data packet, then the first one at least T after the last that did.
    OncePerRtt,
    /// As [`OncePerRtt`](Self::OncePerRtt), and every data packet for one T after feedback that slowed the flow down.
    OnCongestion,
    /// Probes, T apart.
    Probes,
    /// None: a flow that does without.
    Never,
}

impl Sampling {
    /// Whether some data packets collect, or none, though telemetry is wanted.
    pub fn is_sparse(self) -> bool {
        match self {
            Sampling::EveryPacket | Sampling::Never => false,
            Sampling::EveryNth(_) | Sampling::OncePerRtt | Sampling::OnCongestion | Sampling::Probes => true,
        }
    }
}

/// The choice for the packets of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    sampling: Sampling,
    base_rtt: Nanos,
    /// Data packets until the next that collects.
    skip: u32,
    /// Neither a data packet nor a probe collects before this time.
    not_before: Nanos,
    /// When the next probe is due, while data is in flight.
    probe: Option<Nanos>,
    /// Every data packet collects until then.
    congested_until: Nanos,
}

impl Sampler {
    /// The choice for a flow with this T.
    pub fn new(sampling: Sampling, base_rtt: Nanos) -> Self {
        Sampler { sampling, base_rtt, skip: 0, not_before: Nanos(0), probe: None, congested_until: Nanos(0) }
    }

    /// A data packet leaves. Returns whether it collects telemetry.
    #[inline]
    pub fn on_data(&mut self, now: Nanos) -> bool {
        match self.sampling {
            Sampling::EveryPacket => true,
            Sampling::EveryNth(every) => {
                let collects = self.skip == 0;
                self.skip = if collects { every.saturating_sub(1) } else { self.skip - 1 };
                collects
            }
            Sampling::OncePerRtt => self.take_turn(now),
            Sampling::OnCongestion => self.take_turn(now) || now < self.congested_until,
            Sampling::Never => false,
            Sampling::Probes => {
                self.probe.get_or_insert(self.not_before.max(now));
                false
            }
        }
    }

    /// Feedback slowed the flow down.
    #[inline]
    pub fn on_slow_down(&mut self, now: Nanos) {
        self.congested_until = now + self.base_rtt;
    }

    /// When to call [`Sampler::on_timeout`]; `None` while no probe is needed.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.probe
    }

    /// The time of a probe has come, `in_flight` bytes of data being in flight. Returns whether one leaves now; a
    /// flow without data in flight sends none (REQ-15), and the next data packet asks for the next.
    pub fn on_timeout(&mut self, now: Nanos, in_flight: u64) -> bool {
        if self.probe.is_none_or(|due| now < due) {
            return false;
        }
        if in_flight == 0 {
            self.probe = None;
            return false;
        }
        let leaves = self.take_turn(now);
        self.probe = Some(self.not_before);
        leaves
    }

    /// This choice with its times so much later.
    #[must_use]
    pub fn later(&self, by: Nanos) -> Sampler {
        match self.sampling {
            Sampling::EveryPacket | Sampling::EveryNth(_) | Sampling::Never => self.clone(),
            Sampling::OncePerRtt | Sampling::OnCongestion | Sampling::Probes => Sampler {
                not_before: self.not_before + by,
                probe: self.probe.map(|due| due + by),
                congested_until: if self.congested_until > Nanos(0) { self.congested_until + by } else { Nanos(0) },
                ..self.clone()
            },
        }
    }

    #[inline]
    fn take_turn(&mut self, now: Nanos) -> bool {
        let due = now >= self.not_before;
        if due {
            self.not_before = now + self.base_rtt;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const T: u64 = 13_000;

    /// Which of 40 data packets, 1 us apart, collect.
    fn collecting(sampling: Sampling) -> Vec<u64> {
        let mut sampler = Sampler::new(sampling, Nanos(T));
        (0..40).filter(|n| sampler.on_data(Nanos(n * 1_000))).collect()
    }

    #[test]
    fn req_12_all_or_some_packets_collect() {
        assert_eq!(collecting(Sampling::EveryPacket).len(), 40);
        assert_eq!(collecting(Sampling::EveryNth(16)), [0, 16, 32]);
        assert_eq!(collecting(Sampling::EveryNth(1)).len(), 40);
        assert_eq!(collecting(Sampling::EveryNth(0)).len(), 40);
        assert_eq!(collecting(Sampling::OncePerRtt), [0, 13, 26, 39]);
        assert!(collecting(Sampling::Probes).is_empty());
        assert!(collecting(Sampling::Never).is_empty());
    }

    #[test]
    fn req_12_congestion_makes_every_packet_collect_for_a_round_trip() {
        let mut sampler = Sampler::new(Sampling::OnCongestion, Nanos(T));
        let mut collects = |n: u64, slowed: bool| {
            if slowed {
                sampler.on_slow_down(Nanos(n * 1_000));
            }
            sampler.on_data(Nanos(n * 1_000))
        };
        let collecting: Vec<u64> = (0..40).filter(|&n| collects(n, n == 16)).collect();
        assert_eq!(collecting, [[0, 13].as_slice(), &(16..29).collect::<Vec<_>>(), &[39]].concat());
    }

    /// Times of the probes of a flow that sends a packet each microsecond of `sending`, each in flight for 15 us.
    fn probes(sending: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut sampler = Sampler::new(Sampling::Probes, Nanos(T));
        let mut probes = Vec::new();
        for n in 0..400u64 {
            if sending(n) {
                sampler.on_data(Nanos(n * 1_000));
            }
            let in_flight = (n.saturating_sub(15)..=n).filter(|&n| sending(n)).count() as u64 * 1_000;
            while sampler.poll_timeout().is_some_and(|due| due <= Nanos(n * 1_000)) {
                if sampler.on_timeout(Nanos(n * 1_000), in_flight) {
                    probes.push(n);
                }
            }
        }
        probes
    }

    #[test]
    fn a_later_choice_is_the_same_one_later() {
        const DAY: u64 = 86_400_000_000_000;
        for sampling in [Sampling::EveryPacket, Sampling::EveryNth(3), Sampling::OncePerRtt, Sampling::OnCongestion] {
            let mut now = Sampler::new(sampling, Nanos(T));
            now.on_data(Nanos(0));
            let mut later = now.later(Nanos(DAY));
            assert!((1..40).all(|n| now.on_data(Nanos(n * 1_000)) == later.on_data(Nanos(DAY + n * 1_000))));
        }
        let mut probes = Sampler::new(Sampling::Probes, Nanos(T));
        probes.on_data(Nanos(7));
        assert_eq!(probes.later(Nanos(DAY)).poll_timeout(), Some(Nanos(DAY + 7)));
    }

    #[test]
    fn req_14_one_probe_in_a_round_trip() {
        let times = probes(|_| true);
        assert_eq!((times[0], times.len()), (0, 31));
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 13));
    }

    /// Data in flight from 0 to 24 us, from 100 to 115 us and from 118 us on.
    #[test]
    fn req_15_no_probe_without_data_in_flight() {
        assert_eq!(probes(|n| n < 10 || n == 100 || (118..130).contains(&n)), [0, 13, 100, 113, 126, 139]);
        assert!(probes(|_| false).is_empty());
    }

    #[test]
    fn an_early_call_sends_no_probe() {
        let mut sampler = Sampler::new(Sampling::Probes, Nanos(T));
        assert!(!sampler.on_timeout(Nanos(5), 1_000));
        sampler.on_data(Nanos(10));
        assert!(!sampler.on_timeout(Nanos(9), 1_000));
        assert!(sampler.on_timeout(Nanos(10), 1_000) && !sampler.on_timeout(Nanos(10), 1_000));
    }
}
