// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC++ under a transport of somebody else's, as TCP is (draft-miao-rtgwg-hpccplus-00, section 7.2).
//!
//! Below TCP's congestion control adapters cut and merge its segments, so that these bring no telemetry. Probes of the
//! same flow do: the host tells what TCP sends and what is acknowledged, sends the probes that come of that, and TCP
//! takes window and pace over. Sequence numbers are TCP's, 32 bits; a window is far less than half their range.

use crate::cc::{CongestionControl, Feedback, FlowLimits, HpccPlus, HpccPlusConfig, RateDecision};
use crate::telemetry::{HopStack, Layout, Sampler, Sampling};
use crate::units::{BitRate, Nanos};
use alloc::sync::Arc;

/// HPCC++ and the probes of one flow.
#[derive(Clone, Debug)]
pub struct ProbedFlow {
    controller: HpccPlus,
    layout: Layout,
    sampler: Sampler,
    snd_una: u64,
    snd_nxt: u64,
    window: u64,
    rate: BitRate,
    stack: HopStack,
}

impl ProbedFlow {
    /// A flow whose first byte has the sequence number `first`. It starts at line rate (REQ-08).
    pub fn new(config: HpccPlusConfig, limits: impl Into<Arc<FlowLimits>>, layout: Layout, first: u32) -> Self {
        let limits = limits.into();
        let controller = HpccPlus::new(config, Arc::clone(&limits));
        // One range of 32 bits above 0, so that numbers before the first can be told, too.
        let first = 1 << 32 | u64::from(first);
        ProbedFlow {
            window: (controller.window().reference() as u64).max(1),
            rate: limits.line_rate,
            controller,
            layout,
            sampler: Sampler::new(Sampling::Probes, limits.base_rtt),
            snd_una: first,
            snd_nxt: first,
            stack: HopStack::default(),
        }
    }

    /// Bytes that may be in flight; at least 1.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The pace R = W / T.
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Answers that could not be compared with the last ones, as those of another path.
    pub fn baseline_resets(&self) -> u64 {
        self.controller.baseline_resets()
    }

    /// Bytes in flight, as far as the host told.
    pub fn in_flight(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// A segment leaves, for the first time or again; `end` is the sequence number behind it.
    pub fn on_sent(&mut self, now: Nanos, end: u32) {
        self.snd_nxt = self.snd_nxt.max(near(self.snd_nxt, end));
        if self.in_flight() > 0 {
            self.sampler.on_data(now);
        }
    }

    /// All bytes before `ack` have arrived. What was not sent cannot have; numbers of a FIN are not counted.
    pub fn on_acked(&mut self, ack: u32) {
        self.snd_una = near(self.snd_nxt, ack).clamp(self.snd_una, self.snd_nxt);
    }

    /// When to call [`ProbedFlow::on_timeout`]; `None` while no data is in flight that has not been probed for.
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.sampler.poll_timeout()
    }

    /// The time of a probe has come. Returns its sequence number, that of the next new byte, if it leaves: at most one
    /// in T (REQ-14), and only while data is in flight (REQ-15).
    pub fn on_timeout(&mut self, now: Nanos) -> Option<u32> {
        let leaves = self.sampler.on_timeout(now, self.in_flight());
        leaves.then_some(self.snd_nxt as u32)
    }

    /// Writes the telemetry section of a probe that leaves at `now` into the front of `section`; returns its length.
    pub fn prepare(&self, section: &mut [u8], now: Nanos) -> usize {
        self.layout.prepare(section, now)
    }

    /// The telemetry of the probe with the number `seq` came back. Returns whether window and pace were decided anew.
    pub fn on_response(&mut self, now: Nanos, seq: u32, section: &[u8]) -> bool {
        let ack_seq = near(self.snd_nxt, seq);
        if ack_seq > self.snd_nxt {
            return false;
        }
        let telemetry = self.layout.read(section, &mut self.stack);
        let feedback =
            Feedback { now, ack_seq, snd_nxt: self.snd_nxt, acked: 0, rtt: None, congestion_marked: false, telemetry };
        let RateDecision::Window { bytes, rate } = self.controller.decide(&feedback) else { return false };
        (self.window, self.rate) = (bytes, rate);
        true
    }
}

/// The number nearest to `to` whose low 32 bits are `seq`.
fn near(to: u64, seq: u32) -> u64 {
    let distance = seq.wrapping_sub(to as u32) as i32;
    to.saturating_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::hpcc_plus::WindowLaw;
    use crate::cc::testing::LIMITS;
    use crate::telemetry::{Form, MAX_SECTION, Snapshot};
    use crate::units::Bytes;
    use alloc::vec::Vec;

    const T: u64 = 13_000;
    /// Bytes of a window at line rate.
    const BDP: u64 = 162_500;

    fn flow(first: u32) -> ProbedFlow {
        let law = WindowLaw { max_stage: 0, additive_increase: Some(Bytes(80)), ..WindowLaw::default() };
        ProbedFlow::new(HpccPlusConfig { law, ..HpccPlusConfig::default() }, LIMITS, Layout::new(Form::Draft), first)
    }

    /// What a probe brings back of one hop of 100 Gb/s that has sent so much by then, and on which so much waits.
    fn section(flow: &ProbedFlow, now: u64, tx_bytes: u64, qlen: u64) -> Vec<u8> {
        let mut bytes = [0; MAX_SECTION];
        let len = flow.prepare(&mut bytes, Nanos(now));
        let len = flow.layout.stamp(&mut bytes, len, &Snapshot { now: Nanos(now), tx_bytes, qlen, ..Snapshot::IDLE });
        bytes[..len].to_vec()
    }

    /// Times of the probes of a flow that sends 1000 bytes each microsecond of `sending`, acknowledged 15 us later.
    fn probes(first: u32, sending: impl Fn(u32) -> bool) -> Vec<u32> {
        let (mut flow, mut probes) = (flow(first), Vec::new());
        let sent = |until: u32| (0..until).filter(|&n| sending(n)).count() as u32 * 1_000;
        for n in 0..400 {
            let now = Nanos(u64::from(n) * 1_000);
            if sending(n) {
                flow.on_sent(now, first.wrapping_add(sent(n + 1)));
            }
            flow.on_acked(first.wrapping_add(sent(n.saturating_sub(15))));
            while flow.poll_timeout().is_some_and(|due| due <= now) {
                if let Some(seq) = flow.on_timeout(now) {
                    assert_eq!(seq, first.wrapping_add(sent(n + 1)));
                    probes.push(n);
                }
            }
        }
        probes
    }

    /// REQ-15 and REQ-14 for TCP's numbers, also where they wrap.
    #[test]
    fn req_14_req_15_one_probe_in_t_while_data_is_in_flight() {
        for first in [0, 1_000_000, u32::MAX - 5_000] {
            let busy = probes(first, |_| true);
            assert_eq!((busy[0], busy.len()), (0, 31));
            assert!(busy.windows(2).all(|pair| pair[1] - pair[0] == 13));
            assert_eq!(probes(first, |n| n < 10 || n == 200), [0, 13, 200, 213]);
            assert!(probes(first, |_| false).is_empty());
        }
    }

    #[test]
    fn req_15_nothing_in_flight_asks_for_no_probe() {
        let mut flow = flow(7);
        flow.on_sent(Nanos(0), 7);
        assert_eq!(flow.poll_timeout(), None);
    }

    #[test]
    fn what_was_sent_again_asks_for_no_number_of_its_own() {
        let mut flow = flow(0);
        flow.on_sent(Nanos(0), 10_000);
        flow.on_sent(Nanos(10), 1_000);
        assert_eq!((flow.in_flight(), flow.on_timeout(Nanos(10))), (10_000, Some(10_000)));
        flow.on_acked(10_001);
        flow.on_acked(3_000);
        assert_eq!((flow.in_flight(), flow.on_timeout(Nanos(T + 10)), flow.poll_timeout()), (0, None, None));
    }

    /// The link is full and two windows wait, so that U = 3; in whole units of 80 and 128 bytes.
    #[test]
    fn req_05_responses_decide_as_acknowledgements_do() {
        let mut flow = flow(0);
        flow.on_sent(Nanos(0), 100_000);
        assert!(!flow.on_response(Nanos(T), 100_000, &section(&flow, 0, 0, 2 * BDP)), "the first only arms");
        flow.on_sent(Nanos(T), 200_000);
        assert!(flow.on_response(Nanos(2 * T), 150_000, &section(&flow, T, BDP, 2 * BDP)));
        assert!(flow.window().abs_diff(51_538) < 60, "{}", flow.window());
        assert!(flow.rate().0.abs_diff(31_715_000_000) < 40_000_000, "{}", flow.rate());
    }

    /// REQ-22: of three answers the second is of another path.
    #[test]
    fn req_22_answers_of_another_path_are_counted() {
        let mut flow = flow(0);
        flow.on_sent(Nanos(0), 100_000);
        for (now, switch_id, baseline_resets) in [(0, 1, 0), (T, 2, 1), (2 * T, 2, 1)] {
            let mut bytes = [0; MAX_SECTION];
            let len = flow.prepare(&mut bytes, Nanos(now));
            let snapshot = Snapshot { switch_id, now: Nanos(now), tx_bytes: BDP, ..Snapshot::IDLE };
            let len = flow.layout.stamp(&mut bytes, len, &snapshot);
            flow.on_response(Nanos(now + T), 100_000, &bytes[..len]);
            assert_eq!(flow.baseline_resets(), baseline_resets);
        }
    }

    #[test]
    fn answers_to_what_was_never_sent_count_for_nothing() {
        let mut flow = flow(0);
        flow.on_sent(Nanos(0), 1_000);
        let before = flow.window();
        for n in 0..5 {
            let answer = section(&flow, n * T, n * BDP, 2 * BDP);
            assert!(!flow.on_response(Nanos(n * T), 1_001, &answer));
        }
        assert_eq!(flow.window(), before);
    }
}
