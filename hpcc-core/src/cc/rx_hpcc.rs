// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rx-HPCC: the receiver computes the window, the sender installs it (draft-miao-rtgwg-hpccplus-00, section 6.3.2,
//! lines 28 to 34; REQ-04, REQ-19).
//!
//! The receiver measures and computes as [HPCC++](super::hpcc_plus) does, from the records of the packet itself. Once in a
//! round it commits and sends the window back. It does not know which packet was the first under a new Wc. The listing
//! lets rounds last T, which is a round trip only where no queue stands; with a queue the same load would be divided out
//! of Wc several times. So T after a window left, the receiver looks at the queues that packets report: what joins them
//! then arrives when they have drained, and ends the round ([`Rounds`]). The draft's listing does not store the records (int.L); they are kept of every packet.
//! Between commits the listing computes a W that nothing uses: only U and the records move here.

use super::hpcc_plus::{Inflight, Measured, Notices, Window, WindowLaw};
use super::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Needs, NoEffect, Notification, RateDecision, Reaction, Reads,
    known_as,
};
use crate::random::Rng;
use crate::settings::Conflict;
use crate::telemetry::{HopStack, Telemetry};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// The receiver's result of a packet's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverUpdate {
    /// The window in bytes that goes back to the sender now, at least 1.
    pub window: Option<u64>,
    /// Whether the path's last hop is its busiest: who shares it, shares this receiver (REQ-20).
    pub last_hop_is_busiest: bool,
}

crate::named! {
    /// When a round of the receiver is over.
    #[derive(Default)]
    pub enum Rounds {
        /// When the first packet that left under the last window arrives: after T, and the time that the queues on the path
        /// take to drain as they stand then.
        #[default]
        Seen = "seen",
        /// After T: the draft's listing.
        Clock = "clock",
    }
}

/// The receiving end of one flow.
#[derive(Clone, Debug)]
pub struct RxHpccReceiver {
    inflight: Inflight,
    window: Window,
    base_rtt: Nanos,
    rounds: Rounds,
    /// When the present round began (lastUpdateTime).
    round: Nanos,
    /// When it ends, from T after its begin on. The first is over then: all packets left under the first window.
    end: Option<Nanos>,
    is_first: bool,
    /// A window waits for an acknowledgement that takes it along.
    waits: bool,
}

impl RxHpccReceiver {
    /// The receiver of a flow whose sender has these limits.
    pub fn new(config: &RxHpccConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        RxHpccReceiver {
            inflight: Inflight::new(limits.base_rtt),
            base_rtt: limits.base_rtt,
            window: Window::new(config.law, limits),
            rounds: config.rounds,
            round: Nanos(0),
            end: None,
            is_first: true,
            waits: false,
        }
    }

    /// U: 1.0 where the bytes in flight on the busiest link equal capacity * T.
    pub fn utilisation(&self) -> f64 {
        self.inflight.utilisation()
    }

    /// Records that could not be compared with the last ones.
    pub fn baseline_resets(&self) -> u64 {
        self.inflight.baseline_resets()
    }

    /// Wc, W_ai and incStage.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// So many flows share the bottleneck: see [`super::FlowCount`].
    pub fn expect_flows(&mut self, flows: u32) {
        self.window.expect_flows(flows);
    }

    /// Takes in the records of a data packet (`NewINT`).
    #[inline]
    pub fn on_records(&mut self, now: Nanos, stack: &HopStack) -> ReceiverUpdate {
        match self.inflight.measure(now, stack) {
            Measured::Nothing => ReceiverUpdate::default(),
            Measured::Armed => {
                self.window.restart();
                (self.round, self.end) = (now, None);
                ReceiverUpdate::default()
            }
            Measured::Load { busiest } => {
                let last_hop_is_busiest = busiest + 1 == stack.hops().len();
                ReceiverUpdate { window: self.commit(now, stack), last_hop_is_busiest }
            }
        }
    }

    /// The window goes back now: where acknowledgements are delayed, that may be later than it was computed.
    pub fn on_answer(&mut self, now: Nanos) {
        if core::mem::take(&mut self.waits) {
            self.round = now;
        }
    }

    #[inline]
    fn commit(&mut self, now: Nanos, stack: &HopStack) -> Option<u64> {
        if self.waits || now <= self.round + self.base_rtt {
            return None;
        }
        let by_clock = self.is_first || self.rounds == Rounds::Clock;
        let end = *self.end.get_or_insert_with(|| if by_clock { now } else { now + stack.queueing() });
        if now < end {
            return None;
        }
        (self.round, self.end, self.is_first, self.waits) = (now, None, false, true);
        let window = self.window.compute(self.inflight.utilisation(), true);
        Some((window as u64).max(1))
    }
}

crate::settings! {
    /// Parameters of Rx-HPCC.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RxHpccConfig {
        /// Whether the receiver counts the flows that share its port, and the additive increase follows their number;
        /// `expected_flows` is its first guess.
        #[change = "Turn it on where that number changes much."]
        pub count_flows: bool = false;
        /// When the receiver computes a window: when the last one has shown in the records (`seen`), or T after it
        /// (`clock`), as in the draft's listing. A window has shown when packets that left under it arrive, and by their
        /// queues no older ones wait.
        #[change = "Choose `clock` to see the effect of the listing: it reacts several times to a queue that stands."]
        pub rounds: Rounds = Rounds::Seen;
        ..law: WindowLaw = WindowLaw::default();
    }
}

impl Algorithm for RxHpccConfig {
    known_as!("rx_hpcc", "HPCC++ with the window computed by the receiver");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(RxHpccSender::new(self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        Some(self.law.least(line_rate))
    }

    fn window_step(&self, line_rate: BitRate, base_rtt: Nanos) -> Option<f64> {
        // Where flows are counted it is a part of what they leave, whatever T is.
        (!self.count_flows).then(|| self.law.window_step(line_rate, base_rtt))
    }

    fn needs(&self) -> Needs {
        Needs { reads: Reads::Records, receiver: Some(*self), reaction: Reaction::RecordsOrHalf, ..Needs::default() }
    }

    fn check(&self) -> Result<(), Conflict> {
        if self.count_flows && self.law.additive_increase.is_some() {
            let message = "additive_increase and count_flows exclude each other: one follows from the other";
            return Err(Conflict::new("additive_increase", message.into()));
        }
        self.law.check()
    }
}

/// Rounds of T for which a window that a notification made smaller bounds the receiver's: then a round is over that has
/// only packets which left after the reaction.
const BOUND_ROUNDS: u64 = 2;

/// The sending end of one flow: installs the windows that come back, with R = W / T.
///
/// It sees only the records of notifications, which it compares with each other ([`Notices`]). The receiver does not
/// hear of that reaction: for two T it computes from packets that left before.
#[derive(Clone, Debug)]
pub struct RxHpccSender {
    window: Window,
    base_rtt: Nanos,
    /// The byte that the last window's message acknowledged.
    newest: u64,
    notices: Option<Box<Notices>>,
    /// Until this time no window is larger than the last notification's.
    bound: Option<(Nanos, f64)>,
}

impl RxHpccSender {
    /// The state of a flow that no window has come back to yet.
    pub fn new(config: &RxHpccConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        let base_rtt = limits.base_rtt;
        let window = Window::new(config.law, limits);
        RxHpccSender { window, base_rtt, newest: 0, notices: None, bound: None }
    }
}

impl CongestionControl for RxHpccSender {
    /// A window that was overtaken by a newer one is ignored; a window outside the bounds is brought within.
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let Telemetry::Window(bytes) = feedback.telemetry else { return RateDecision::Keep };
        if feedback.ack_seq < self.newest {
            return RateDecision::Keep;
        }
        self.newest = feedback.ack_seq;
        self.bound = self.bound.filter(|&(until, _)| feedback.now < until);
        let most = self.bound.map_or(f64::INFINITY, |(_, bytes)| bytes);
        self.window.install((bytes as f64).min(most));
        self.window.decision(self.window.reference())
    }

    fn on_notification(&mut self, notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        let notices = self.notices.get_or_insert_with(|| Box::new(Notices::new(self.base_rtt)));
        let utilisation = notices.judge(notification, self.window.eta())?;
        let bytes = self.window.compute(utilisation, true);
        self.bound = Some((notification.now + Nanos(BOUND_ROUNDS * self.base_rtt.0), bytes));
        Ok(self.window.decision(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use crate::cc::{HpccPlus, HpccPlusConfig};
    use crate::telemetry::{Hop, Modulus};
    use crate::units::Bytes;
    use alloc::vec::Vec;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };

    fn stack(hops: &[(u64, f64, f64)]) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        for &(ts, sent, queue) in hops {
            let (ts, tx_bytes) = (ts % MODULUS.ts, sent as u64 % MODULUS.tx_bytes);
            stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen: queue as u64 });
        }
        stack
    }

    /// The receiver's result of records; a window goes back at once.
    fn answer(receiver: &mut RxHpccReceiver, now: u64, records: &HopStack) -> ReceiverUpdate {
        let update = receiver.on_records(Nanos(now), records);
        receiver.on_answer(Nanos(now));
        update
    }

    /// When windows go back while this many bytes wait, of 125 kB for each 10 us.
    fn rounds(rounds: Rounds, queue: f64) -> Vec<u64> {
        let mut receiver = RxHpccReceiver::new(&RxHpccConfig { rounds, ..RxHpccConfig::default() }, LIMITS);
        let mut sent = Vec::new();
        for n in 0..1_000u64 {
            let now = n * 80;
            let before = receiver.window().reference();
            let update = answer(&mut receiver, now, &stack(&[(now, n as f64 * 1_000.0, queue)]));
            assert_eq!(update.window.is_some(), receiver.window().reference() != before, "packet {n}");
            sent.extend(update.window.map(|_| now));
        }
        sent
    }

    /// 79.92 us hold six rounds of more than 13. A queue takes 10 us to drain, so a window shows 23 us after it was
    /// set; the first shows at once.
    #[test]
    fn req_19_one_window_goes_back_for_each_round() {
        assert_eq!(rounds(Rounds::Clock, 125_000.0), [13_040, 26_080, 39_120, 52_160, 65_200, 78_240]);
        assert_eq!(rounds(Rounds::Seen, 0.0), rounds(Rounds::Clock, 0.0));
        assert_eq!(rounds(Rounds::Seen, 125_000.0), [13_040, 36_080, 59_120]);
    }

    /// An acknowledgement for many packets takes the window along 30 us later: until T after that, nothing can be seen of it.
    #[test]
    fn a_round_begins_when_its_window_leaves() {
        let mut receiver = RxHpccReceiver::new(&RxHpccConfig::default(), LIMITS);
        let records = |now| stack(&[(now, now as f64 * 12.5, 0.0)]);
        let mut sent = Vec::new();
        for now in (0..100_000).step_by(1_000) {
            sent.extend(receiver.on_records(Nanos(now), &records(now)).window.map(|_| now));
            if now == 44_000 {
                receiver.on_answer(Nanos(now));
            }
        }
        assert_eq!(sent, [14_000, 58_000]);
    }

    #[test]
    fn records_are_kept_of_every_packet_and_say_which_hop_is_busiest() {
        let mut receiver = RxHpccReceiver::new(&RxHpccConfig::default(), LIMITS);
        let idle_then = |n: u64, last: f64| stack(&[(n * 1_000, n as f64 * 5_000.0, 0.0), (n * 1_000, last, 0.0)]);
        assert_eq!(receiver.on_records(Nanos(0), &idle_then(0, 0.0)), ReceiverUpdate::default());
        assert!(receiver.on_records(Nanos(1_000), &idle_then(1, 12_500.0)).last_hop_is_busiest);
        assert_abs_diff_eq!(receiver.utilisation(), 1.0, epsilon = 1e-12);
        assert!(!receiver.on_records(Nanos(2_000), &idle_then(2, 12_600.0)).last_hop_is_busiest);
        assert_abs_diff_eq!(receiver.utilisation(), (12.0 + 0.4) / 13.0, epsilon = 1e-12);
    }

    #[test]
    fn req_22_another_path_starts_over() {
        let mut receiver = RxHpccReceiver::new(&RxHpccConfig::default(), LIMITS);
        for (path, now, baseline_resets) in [(1, 0, 0), (1, 1_000, 0), (2, 2_000, 1), (1, 3_000, 2)] {
            let mut records = stack(&[(now, now as f64, 9_000.0)]);
            records.path = path;
            receiver.on_records(Nanos(now), &records);
            assert_eq!(receiver.baseline_resets(), baseline_resets, "at {now}");
            assert_eq!(receiver.utilisation() == 1.0, now != 1_000);
        }
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let check = |count_flows, additive_increase, expected_flows| {
            let law = WindowLaw { additive_increase, expected_flows, ..WindowLaw::default() };
            RxHpccConfig { count_flows, law, ..RxHpccConfig::default() }.check().map_err(|conflict| conflict.key)
        };
        let (given, refused) = (Some(Bytes(80)), Err("additive_increase"));
        assert_eq!((check(true, None, 100), check(true, None, 10), check(false, given, 100)), (Ok(()), Ok(()), Ok(())));
        assert_eq!((check(true, given, 100), check(false, given, 10)), (refused, refused));
    }

    #[test]
    fn the_sender_installs_window_and_pace_and_no_older_ones() {
        let mut sender = RxHpccSender::new(&RxHpccConfig::default(), LIMITS);
        let mut tell = |ack_seq, bytes| {
            sender.on_feedback(&Feedback { telemetry: Telemetry::Window(bytes), ..ack(0, ack_seq, 0) }, &mut rng())
        };
        assert_eq!(tell(9_000, 81_250), RateDecision::Window { bytes: 81_250, rate: BitRate::gbps(50) });
        assert_eq!(tell(8_000, 1_000), RateDecision::Keep);
        assert_eq!(tell(9_000, u64::MAX), RateDecision::Window { bytes: 162_500, rate: BitRate::gbps(100) });
        assert_eq!(tell(9_001, 0), RateDecision::Window { bytes: 162, rate: BitRate::mbps(100) });
    }

    /// The receiver where queues delay nothing.
    fn by_the_clock() -> RxHpccReceiver {
        RxHpccReceiver::new(&RxHpccConfig { rounds: Rounds::Clock, ..RxHpccConfig::default() }, LIMITS)
    }

    /// With T's worth of packets in flight a round of sequence numbers is a round of time: the windows are equal.
    #[test]
    fn req_04_equals_the_sender_on_the_same_records() {
        let mut receiver = by_the_clock();
        let mut sender = HpccPlus::new(HpccPlusConfig::default(), LIMITS);
        let (mut compared, mut sent) = (0, 0.0);
        for n in 0..5_000u64 {
            let (now, queue) = (n * 1_300, (n / 40 % 3) as f64 * 20_000.0);
            sent += 16_250.0 * (0.6 + (n / 100 % 5) as f64 * 0.1);
            let records = stack(&[(now, sent, queue)]);
            let feedback =
                Feedback { telemetry: Telemetry::Hops(&records), ..ack(now, 1_000 * (n + 1), 1_000 * (n + 11)) };
            let decision = sender.decide(&feedback);
            let update = answer(&mut receiver, now, &records);
            assert_eq!(update.window.is_some(), n.is_multiple_of(11) && n > 0);
            assert_eq!(receiver.utilisation(), sender.utilisation());
            assert_eq!(receiver.window().reference(), sender.window().reference(), "packet {n}");
            compared += u32::from(decision != RateDecision::Keep);
        }
        assert_eq!(compared, 4_999);
    }

    /// Mean rate, with 1.0 for line rate, and mean queue in bytes of a flow that shares a link of 100 Gb/s with a load
    /// of 20 % or 60 %, which changes every 2 ms. The link is T / 4 behind the sender and as far before the receiver.
    fn share(mut control: impl FnMut(Nanos, (u64, u64), &HopStack) -> Option<u64>, delay: u64) -> (f64, f64) {
        const STEP: u64 = 130;
        let line = 100.0 / 8.0 * STEP as f64;
        let (mut window, mut seq, mut queue, mut sent) = (162_500.0, 0.0, 0.0, 0.0);
        let (mut seqs, mut records) = (Vec::new(), Vec::new());
        let (mut rates, mut queues) = (0.0, 0.0);
        const STEPS: u64 = 100_000;
        for n in 0..STEPS {
            seqs.push(seq);
            let back = |steps: u64| n.checked_sub(steps).map(|n| n as usize);
            let own = back(25).map_or(0.0, |n| seqs[n + 1] - seqs[n]);
            let cross = if (n * STEP / 2_000_000).is_multiple_of(2) { 0.2 } else { 0.6 };
            queue += own + cross * line;
            let out = f64::min(queue, line);
            (queue, sent) = (queue - out, sent + out);
            records.push((n * STEP, sent, queue));
            seq += line * window / 162_500.0;
            if let (Some(record), Some(acked)) = (back(delay), back(100)) {
                let seqs = (seqs[acked] as u64, seq as u64);
                if let Some(bytes) = control(Nanos(n * STEP), seqs, &stack(&[records[record]])) {
                    window = bytes as f64;
                }
            }
            (rates, queues) = (rates + window / 162_500.0, queues + queue);
        }
        (rates / STEPS as f64, queues / STEPS as f64)
    }

    /// In a loop of its own each mode finds the same share: within 5 % of the mean rate, and a hundredth of a
    /// bandwidth-delay product of mean queue. They differ while the load changes, for the sender reacts to every
    /// packet and the receiver once in a round.
    #[test]
    fn req_04_finds_the_same_share_as_the_sender() {
        let mut flow = HpccPlus::new(HpccPlusConfig::default(), LIMITS);
        let by_sender = share(
            |now, (ack_seq, snd_nxt), records| {
                let telemetry = Telemetry::Hops(records);
                flow.decide(&Feedback { telemetry, ..ack(now.0, ack_seq, snd_nxt) }).window_bytes()
            },
            75,
        );
        let mut receiver = by_the_clock();
        let mut returning = alloc::collections::VecDeque::from([None; 50]);
        let by_receiver = share(
            |now, _, records| {
                returning.push_back(answer(&mut receiver, now.0, records).window);
                returning.pop_front().flatten()
            },
            25,
        );
        assert_relative_eq!(by_sender.0, by_receiver.0, max_relative = 0.05);
        assert_abs_diff_eq!(by_sender.1, by_receiver.1, epsilon = 1_625.0);
        // What eta leaves of the link: 0.75 for 7 of the 13 ms, 0.35 for 6.
        assert_abs_diff_eq!(by_sender.0, 0.565, epsilon = 0.05);
    }
}
