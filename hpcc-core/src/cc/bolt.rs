// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bolt (Arslan et al., NSDI 2023): a switch with a queue tells the sender at once, and a window grows only where a port has
//! granted it. [`telemetry::bolt`](crate::telemetry::bolt) is what ports do.
//!
//! | a sender hears | and does |
//! | --- | --- |
//! | acknowledgement with INC | one packet more |
//! | acknowledgement with AI | `additive_increase` packets more; the next packet carries AI |
//! | SRC | one packet less, if the last one went `interval` ago |
//!
//! interval = rtt / (q * share): rtt is the time from the packet's sending to the SRC's arrival, q the queue above `target_queue` in
//! packets, share the flow's part of the port's rate. So all flows together take away q packets in one such time.

use super::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, Needs, RateDecision, Sent, Steers, known_as,
};
use crate::random::Rng;
use crate::telemetry::bolt::{AI, BoltHeader, FIRST, INC, LAST, SRC};
use crate::telemetry::{Reads, Telemetry};
use crate::units::{BitRate, Bytes, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Packets that a window has at most where `window` does not bound it: all that the authors' code allows, too little for long paths.
const MOST_PACKETS: f64 = 256.0;
/// Bytes that it has at least.
const LEAST: f64 = 15.0;

crate::settings! {
    /// Parameters of Bolt at senders.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BoltConfig {
        /// Packets that a flow adds to its window in a round trip in any case.
        #[change = "A larger value evens flows out sooner, and queues more."]
        pub additive_increase: f64 {0.0..=1000.0} = 1.0;
        /// Queue length that flows aim for at a port that has notified them.
        #[change = "Raise it where ports run empty."]
        pub target_queue: Bytes = Bytes(0);
    }
}

impl Algorithm for BoltConfig {
    known_as!("bolt", "Bolt: switches tell senders of queues at once, and grant growth");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Bolt::new(*self, limits))
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { reads: Reads::Bolt, sent: true, acks_first: true, steers: Steers::Window, ..Needs::default() }
    }
}

/// Bolt's state for one flow.
#[derive(Clone, Debug)]
struct Bolt {
    config: BoltConfig,
    limits: Arc<FlowLimits>,
    /// In bytes; below one packet packets are paced.
    window: f64,
    rtt: Option<Nanos>,
    last_decrease: Option<Nanos>,
    /// Whether the next packet carries AI.
    asks: bool,
}

impl Bolt {
    fn new(config: BoltConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        let mut bolt = Bolt { config, limits, window: 0.0, rtt: None, last_decrease: None, asks: true };
        bolt.window = bolt.most();
        bolt
    }

    fn mtu(&self) -> f64 {
        f64::from(self.limits.mtu.max(1))
    }

    fn most(&self) -> f64 {
        if self.limits.window == 0 { MOST_PACKETS * self.mtu() } else { self.limits.window as f64 }
    }

    fn on_ack(&mut self, now: Nanos, header: &BoltHeader) {
        self.rtt = Some(now.saturating_sub(header.sent));
        if header.flags & INC != 0 {
            self.window += self.mtu();
        }
        if header.flags & AI != 0 {
            self.window += self.config.additive_increase * self.mtu();
            self.asks = true;
        }
    }

    fn on_src(&mut self, now: Nanos, header: &BoltHeader) {
        let line = self.limits.line_rate.0 as f64;
        let rate = self.rtt.map_or(line, |rtt| self.window * 8e9 / rtt.0.max(1) as f64);
        let port = header.rate.0.max(1) as f64;
        let queue = header.drain.0 as f64 * port / 8e9 - self.config.target_queue.0 as f64;
        let interval = now.saturating_sub(header.sent).0 as f64 / (queue / self.mtu() * rate / port);
        let waited = self.last_decrease.map_or(f64::INFINITY, |last| now.saturating_sub(last).0 as f64);
        if queue <= 0.0 || waited < interval {
            return;
        }
        self.last_decrease = Some(now);
        self.window = if self.window <= self.mtu() { self.window * 0.5 } else { self.window - self.mtu() };
    }

    fn decision(&mut self) -> RateDecision {
        self.window = self.window.min(self.most()).max(LEAST);
        let bytes = self.window as u64;
        let rtt = self.rtt.unwrap_or(self.limits.base_rtt).0.max(1) as f64;
        if self.window >= self.mtu() {
            return RateDecision::Window { bytes, rate: self.limits.line_rate };
        }
        let rate = BitRate::from_f64(self.window * 8e9 / rtt);
        RateDecision::Window { bytes, rate: rate.max(BitRate(1)).min(self.limits.line_rate) }
    }
}

impl CongestionControl for Bolt {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        let Telemetry::Bolt(header) = &feedback.telemetry else { return RateDecision::Keep };
        if header.flags & SRC == 0 {
            self.on_ack(feedback.now, header);
        } else {
            self.on_src(feedback.now, header);
        }
        self.decision()
    }

    fn label(&mut self, sent: &Sent) -> u8 {
        let is_first = self.rtt.is_none();
        let is_last = sent.left as f64 <= self.window || sent.left <= u64::from(sent.bytes);
        let mut flags = if is_last { LAST } else { 0 };
        if is_first {
            flags |= FIRST;
        } else if !is_last {
            flags |= INC;
        }
        if core::mem::take(&mut self.asks) { flags | AI } else { flags }
    }

    fn on_loss(&mut self, loss: &Loss) -> RateDecision {
        match loss.signal {
            LossSignal::Nack | LossSignal::Trimmed { .. } => return RateDecision::Keep,
            // What carried AI may be lost.
            LossSignal::Timeout => (self.window, self.asks) = (self.mtu(), true),
        }
        self.decision()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use crate::telemetry::bolt::DEC;

    /// 100 Gb/s, T is 13 us: the window is 162,500 bytes.
    fn bolt() -> Bolt {
        Bolt::new(BoltConfig::default(), LIMITS)
    }

    fn hear(bolt: &mut Bolt, now: u64, flags: u8, drain: u64, sent: u64) -> f64 {
        let header = BoltHeader { flags, rate: BitRate::gbps(100), drain: Nanos(drain), sent: Nanos(sent) };
        bolt.on_feedback(&Feedback { telemetry: Telemetry::Bolt(header), ..ack(now, 1, 1) }, &mut rng());
        bolt.window
    }

    fn label(bolt: &mut Bolt, left: u64) -> u8 {
        let (seq, bytes, in_flight) = (0, 1_000, 0);
        bolt.label(&Sent { now: Nanos(0), seq, bytes, in_flight, retransmission: false, left })
    }

    #[test]
    fn packets_say_where_their_flow_stands() {
        let mut bolt = bolt();
        assert_eq!(
            [1_000_000, 1_000_000, 162_500].map(|left| label(&mut bolt, left)),
            [FIRST | AI, FIRST, FIRST | LAST]
        );
        hear(&mut bolt, 13_000, 0, 0, 0);
        assert_eq!([162_501, 162_500, 1].map(|left| label(&mut bolt, left)), [INC, LAST, LAST]);
        hear(&mut bolt, 26_000, AI, 0, 13_000);
        assert_eq!([999_999, 999_999].map(|left| label(&mut bolt, left)), [INC | AI, INC], "one in a round trip");
    }

    #[test]
    fn a_window_grows_by_what_was_granted() {
        let mut bolt = Bolt { window: 10_000.0, ..bolt() };
        let grown = [0, INC, AI, INC | AI, DEC].map(|flags| hear(&mut bolt, 13_000, flags, 0, 0));
        assert_eq!(grown, [10_000.0, 11_000.0, 12_000.0, 14_000.0, 14_000.0]);
        bolt.window = 1e9;
        assert_eq!(hear(&mut bolt, 13_000, INC, 0, 0), 162_500.0);
    }

    /// Without a window 256 packets are most; with one its bytes, however many packets these are.
    #[test]
    fn the_window_is_what_the_path_holds() {
        let most = |window| Bolt::new(BoltConfig::default(), FlowLimits { window, ..LIMITS }).window;
        assert_eq!([0, 10_000, 4_000_000].map(most), [256_000.0, 10_000.0, 4_000_000.0]);
    }

    /// A queue of 100 packets, 8 us, at a flow with a quarter of the port (40,625 bytes in 13 us): one packet less in 1/25 of 4 us.
    #[test]
    fn flows_take_away_the_queue_in_one_of_its_times() {
        let mut bolt = Bolt { window: 40_625.0, rtt: Some(Nanos(13_000)), ..bolt() };
        assert_eq!(hear(&mut bolt, 100_000, DEC | SRC, 8_000, 96_000), 39_625.0);
        bolt.window = 40_625.0;
        assert_eq!(hear(&mut bolt, 100_159, DEC | SRC, 8_000, 96_159), 40_625.0);
        assert_eq!(hear(&mut bolt, 100_160, DEC | SRC, 8_000, 96_160), 39_625.0);
        let mut patient = Bolt { config: BoltConfig { target_queue: Bytes(100_000), ..bolt.config }, ..bolt.clone() };
        assert_eq!(hear(&mut patient, 900_000, DEC | SRC, 8_000, 896_000), 39_625.0, "no more than the target");
    }

    #[test]
    fn below_a_packet_windows_halve_and_packets_are_paced() {
        let mut bolt = Bolt { window: 1_500.0, rtt: Some(Nanos(8_000)), ..bolt() };
        let windows = [1, 2, 3].map(|n| hear(&mut bolt, n * 1_000_000, DEC | SRC, 80_000, n * 1_000_000 - 4_000));
        assert_eq!(windows, [500.0, 250.0, 125.0]);
        let paced = RateDecision::Window { bytes: 125, rate: BitRate::mbps(125) };
        assert_eq!(bolt.decision(), paced, "1,000 bytes in eight round trips of 8 us");
        for n in 9..29 {
            hear(&mut bolt, n * 1_000_000, DEC | SRC, 80_000, n * 1_000_000 - 4_000);
        }
        assert_eq!(bolt.window, 15.0);
    }

    #[test]
    fn survives_hostile_feedback() {
        crate::cc::testing::survives_hostile_feedback(&mut bolt(), BitRate(1));
    }
}
