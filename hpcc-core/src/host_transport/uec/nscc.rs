// SPDX-License-Identifier: MIT OR Apache-2.0
//! NSCC, the congestion control of senders: a window that follows queuing delay and marks.
//!
//! | | delay below the target | above |
//! | --- | --- | --- |
//! | unmarked | grows by the distance to the target, and fast where there is no queue at all | grows by the same for all flows |
//! | marked | stays: only the path is avoided | shrinks by the average delay, once in T |
//!
//! Delay is what the packet's round trip took beyond T or, where a CSIG tag comes back, the delay of the busiest hop, which the tag tells.
//!
//! Where much is lost or late, it becomes what was received in the last round at once (*quick adapt*).

use crate::units::{BitRate, Nanos};

/// What parameters are scaled to: 12 us at 100 Gb/s.
const REFERENCE_RTT: f64 = 12_000.0;
const REFERENCE_BDP: f64 = 150_000.0;
/// Weight of a sample in the average delay.
const WEIGHT: f64 = 0.0125;
/// Part of the relative distance to the target by which the window shrinks, and the most.
const DECREASE: f64 = 0.8;
const MOST_DECREASE: f64 = 0.5;
/// Below this delay there is no queue.
const NO_QUEUE: f64 = 1_000.0;
/// Quick adapt needs less than this part of the largest window, as a power of two, or more than so many target delays.
const GATE: u32 = 3;
const LATE_TARGETS: f64 = 4.0;
/// Windows are 1.5 bandwidth-delay products at most.
const MOST_BDPS: f64 = 1.5;

/// Parameters of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NsccConfig {
    /// Bytes of a full packet, headers included: the least window.
    mtu: f64,
    /// T of the longest path in nanoseconds.
    network_rtt: f64,
    /// The queuing delay that flows keep.
    pub target: f64,
    /// Growth in bytes for each byte received and nanosecond below the target, as parts of the window.
    alpha: f64,
    /// Growth above the target.
    fair: f64,
    /// Growth once in T.
    eta: f64,
    /// Growth for each byte without a queue.
    fast: f64,
}

impl NsccConfig {
    /// Of hosts with this rate, whose full packets have `payload` bytes of `mtu`, in a network with this longest T.
    pub fn new(
        rate: BitRate,
        network_rtt: Nanos,
        payload: u32,
        mtu: u32,
        trims: bool,
        target: Option<Nanos>,
    ) -> NsccConfig {
        let (network_rtt, mss) = (network_rtt.0 as f64, f64::from(payload));
        let usual = if trims { 0.75 * network_rtt } else { network_rtt };
        let a = network_rtt * rate.0 as f64 / 8e9 / REFERENCE_BDP;
        NsccConfig {
            mtu: mtu.into(),
            network_rtt,
            target: target.map_or(usual, |target| target.0 as f64),
            // 4 MSS a b / target, where b is the target in reference round-trip times.
            alpha: 4.0 * mss * a / REFERENCE_RTT,
            fair: 5.0 * mss * a,
            eta: 0.15 * mss * a,
            fast: 0.25 * a,
        }
    }

    /// Bytes after which growth is applied.
    fn adjust_after(&self) -> f64 {
        8.0 * self.mtu
    }
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckInfo {
    /// The present time.
    pub now: Nanos,
    /// The packet was marked.
    pub marked: bool,
    /// Bytes that the receiver has got since the last one, headers included.
    pub received: f64,
    /// Round-trip time of the packet, if it is known.
    pub rtt: Option<Nanos>,
    /// Queuing delay as the network told it, if it did.
    pub told: Option<Nanos>,
    /// Bytes in flight then.
    pub in_flight: f64,
}

/// The window of a flow. Bytes include headers.
#[derive(Clone, Debug)]
pub struct Nscc {
    rate: f64,
    window: f64,
    most: f64,
    base_rtt: f64,
    average: f64,
    /// Growth to be applied, times the window.
    growth: f64,
    received: f64,
    achieved: f64,
    round_end: f64,
    to_ignore: f64,
    ignored: f64,
    adapts: bool,
    without_queue: f64,
    is_fast: bool,
    decreased: f64,
    adjusted: f64,
}

impl Nscc {
    /// Of a flow that starts now, by a port of this rate with this T. It begins with `first` bytes or, without, the largest
    /// window.
    pub fn new(now: Nanos, rate: BitRate, base_rtt: Nanos, first: Option<f64>) -> Nscc {
        let start = now.0 as f64;
        let mut nscc = Nscc {
            rate: rate.0 as f64 / 8e9,
            window: 0.0,
            most: 0.0,
            base_rtt: base_rtt.0 as f64,
            average: 0.0,
            growth: 0.0,
            received: 0.0,
            achieved: 0.0,
            round_end: 0.0,
            to_ignore: 0.0,
            ignored: 0.0,
            adapts: false,
            without_queue: 0.0,
            is_fast: false,
            decreased: start,
            adjusted: start,
        };
        nscc.most = MOST_BDPS * nscc.rate * nscc.base_rtt;
        nscc.window = first.unwrap_or(nscc.most);
        nscc
    }

    /// Most bytes in flight.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The largest window.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// T as far as it is known.
    pub fn base_rtt(&self) -> f64 {
        self.base_rtt
    }

    /// Takes in an acknowledgement. Returns the queuing delay that it told, or else the average.
    pub fn on_ack(&mut self, config: &NsccConfig, heard: &AckInfo) -> f64 {
        let delay = self.delay(config, heard);
        self.achieved += heard.received;
        self.received += heard.received;
        self.ignored += heard.received;
        if self.quick_adapt(config, heard, false, delay) {
            return delay;
        }
        match (heard.marked, delay >= config.target) {
            (false, true) => self.growth += config.fair * heard.received,
            (false, false) => self.grow(config, heard.received, delay),
            (true, true) => self.shrink(config, heard.now),
            (true, false) => {}
        }
        self.clamp(config);
        let now = heard.now.0 as f64;
        if self.received > config.adjust_after() || now - self.adjusted > config.network_rtt {
            self.window += self.growth / self.window;
            if now - self.adjusted >= config.network_rtt {
                self.window += config.eta;
                self.adjusted = now;
            }
            (self.growth, self.received) = (0.0, 0.0);
        }
        self.clamp(config);
        delay
    }

    /// A packet of so many bytes was trimmed. `counts`: unless quick adapt acts, the window shrinks by them.
    pub fn on_trimmed(&mut self, config: &NsccConfig, heard: &AckInfo, bytes: f64, counts: bool) {
        if let Some(rtt) = heard.rtt {
            self.base(rtt);
        }
        self.ignored += bytes;
        // The queue was full: about T of the network.
        self.sample(config, config.network_rtt, true);
        self.adapts = true;
        if !self.quick_adapt(config, &AckInfo { marked: true, ..*heard }, true, 0.0) && counts {
            self.window -= bytes;
            self.clamp(config);
        }
    }

    /// A packet of so many bytes is taken as lost.
    pub fn on_lost(&mut self, config: &NsccConfig, bytes: f64) {
        self.window = (self.window - bytes).max(config.mtu);
    }

    /// The queuing delay of a packet, whose sample counts.
    fn delay(&mut self, config: &NsccConfig, heard: &AckInfo) -> f64 {
        if let Some(rtt) = heard.rtt {
            self.base(rtt);
        }
        let told = heard.told.map(|told| told.0 as f64);
        let Some(delay) = told.or(heard.rtt.map(|rtt| rtt.0 as f64 - self.base_rtt)) else { return self.average };
        self.sample(config, delay, heard.marked);
        delay
    }

    /// T is the shortest round-trip time.
    fn base(&mut self, rtt: Nanos) {
        let rtt = rtt.0 as f64;
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.most = MOST_BDPS * self.rate * rtt;
        }
    }

    fn sample(&mut self, config: &NsccConfig, delay: f64, marked: bool) {
        // An unmarked packet that waited long is a sign of a queue that drains.
        let delay = if !marked && delay > config.target { self.base_rtt / 4.0 } else { delay };
        self.average += WEIGHT * (delay - self.average);
    }

    /// Growth below the target; fast, once a window has come through without a queue.
    fn grow(&mut self, config: &NsccConfig, received: f64, delay: f64) {
        if delay < NO_QUEUE {
            self.without_queue += received;
            if self.is_fast || self.without_queue > self.window {
                self.window += received * config.fast;
                self.is_fast = true;
                return;
            }
        } else {
            self.without_queue = 0.0;
        }
        self.is_fast = false;
        self.growth += config.alpha * received * (config.target - delay);
    }

    fn shrink(&mut self, config: &NsccConfig, now: Nanos) {
        (self.is_fast, self.without_queue) = (false, 0.0);
        let now = now.0 as f64;
        if self.average > config.target && now - self.decreased > self.base_rtt {
            let part = DECREASE * (self.average - config.target) / self.average;
            self.window *= (1.0 - part).max(MOST_DECREASE);
            self.decreased = now;
        }
    }

    /// At the end of a round with losses or delays the window becomes what the round brought, if that is little. Returns whether
    /// it did, or whether what comes in was sent before that, and counts for nothing.
    fn quick_adapt(&mut self, config: &NsccConfig, heard: &AckInfo, is_lost: bool, delay: f64) -> bool {
        let now = heard.now.0 as f64;
        let mut acts = self.ignored < self.to_ignore && heard.marked;
        if !acts && now > self.round_end {
            let is_bad = self.adapts || is_lost || delay > LATE_TARGETS * config.target;
            if self.round_end > 0.0 && is_bad && self.achieved < self.most / f64::from(1_u32 << GATE) {
                self.window = self.achieved.max(config.mtu);
                (self.to_ignore, self.ignored, self.adapts) = (heard.in_flight, 0.0, false);
                acts = true;
            }
            self.achieved = 0.0;
            self.round_end = now + self.base_rtt + config.target;
        }
        if acts {
            (self.growth, self.received) = (0.0, 0.0);
        }
        acts
    }

    fn clamp(&mut self, config: &NsccConfig) {
        self.window = self.window.max(config.mtu).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Nanos = Nanos(12_000);

    fn config(gbps: u64) -> NsccConfig {
        NsccConfig::new(BitRate::gbps(gbps), T, 4_000, 4_064, true, None)
    }

    /// A window of 100,000 bytes that has heard nothing, within its first round.
    fn window() -> Nscc {
        Nscc::new(Nanos(0), BitRate::gbps(100), T, Some(100_000.0))
    }

    fn heard(now: u64, marked: bool, received: f64, rtt: u64) -> AckInfo {
        AckInfo { now: Nanos(now), marked, received, rtt: Some(Nanos(rtt)), told: None, in_flight: 50_000.0 }
    }

    /// By how much the window is to grow after 16,000 bytes with this delay.
    fn growth(gbps: u64, delay: u64) -> f64 {
        let mut nscc = window();
        nscc.on_ack(&config(gbps), &heard(1_000, false, 16_000.0, T.0 + delay));
        nscc.growth / nscc.window
    }

    #[test]
    fn parameters_scale_with_the_network() {
        let NsccConfig { target, alpha, fair, eta, fast, .. } = config(100);
        assert_eq!((target, fair, eta, fast), (9_000.0, 20_000.0, 600.0, 0.25));
        approx::assert_relative_eq!(alpha, 4_000.0 / 3_000.0);
        assert_eq!(Nscc::new(Nanos(0), BitRate::gbps(100), T, None).window(), 225_000.0);
        assert_eq!(config(400).fair, 80_000.0);
        assert_eq!(NsccConfig::new(BitRate::gbps(100), T, 4_000, 4_064, false, None).target, 12_000.0);
    }

    /// What uet-htsim prints for its default tree at 100 Gb/s.
    #[test]
    fn parameters_of_the_default_tree() {
        let rtt = Nanos(14_023);
        let config = NsccConfig::new(BitRate::gbps(100), rtt, 4_086, 4_150, true, None);
        approx::assert_relative_eq!(config.target, 10_517.04, max_relative = 1e-4);
        approx::assert_relative_eq!(config.alpha, 1.59158, max_relative = 1e-4);
        approx::assert_relative_eq!(config.fair, 23_873.7, max_relative = 1e-4);
        approx::assert_relative_eq!(config.eta, 716.21, max_relative = 1e-4);
        approx::assert_relative_eq!(config.fast, 0.29214, max_relative = 1e-4);
        assert_eq!(config.adjust_after(), 33_200.0);
        approx::assert_relative_eq!(
            Nscc::new(Nanos(0), BitRate::gbps(100), rtt, None).window(),
            262_926.0,
            max_relative = 1e-4
        );
    }

    #[test]
    fn unmarked_windows_grow_by_the_distance_to_the_target_and_above_it_all_alike() {
        approx::assert_relative_eq!(growth(100, 3_000), 1_280.0);
        approx::assert_relative_eq!(growth(100, 9_000), 3_200.0);
        approx::assert_relative_eq!(growth(400, 3_000), 5_120.0);
        approx::assert_relative_eq!(growth(400, 9_000), 12_800.0);
    }

    /// A round trip of 12 us and 3 us, and 9 us by the tag; and a packet whose round trip nobody knows.
    #[test]
    fn what_the_network_told_goes_before_the_round_trip() {
        let config = config(100);
        for rtt in [Some(Nanos(15_000)), None] {
            let mut nscc = window();
            let heard = AckInfo { rtt, told: Some(Nanos(9_000)), ..heard(1_000, false, 16_000.0, 0) };
            assert_eq!(nscc.on_ack(&config, &heard), 9_000.0);
            approx::assert_relative_eq!(nscc.growth / nscc.window, 3_200.0);
        }
        let mut nscc = window();
        let none = AckInfo { rtt: Some(Nanos(8_000)), told: Some(Nanos(0)), ..heard(1_000, true, 4_000.0, 0) };
        assert_eq!((nscc.on_ack(&config, &none), nscc.base_rtt), (0.0, 8_000.0), "T is measured as before");
    }

    #[test]
    fn growth_is_applied_after_eight_packets_or_a_round_trip() {
        let mut nscc = window();
        nscc.on_ack(&config(100), &heard(1_000, false, 16_000.0, T.0 + 3_000));
        assert_eq!(nscc.window(), 100_000.0);
        nscc.on_ack(&config(100), &heard(2_000, false, 16_600.0, T.0 + 9_000));
        approx::assert_relative_eq!(nscc.window(), 100_000.0 + 1_280.0 + 3_320.0);
        let mut slow = window();
        slow.on_ack(&config(100), &heard(12_001, false, 16_000.0, T.0 + 3_000));
        approx::assert_relative_eq!(slow.window(), 100_000.0 + 1_280.0 + 600.0);
    }

    #[test]
    fn marked_windows_shrink_by_the_average_delay_once_in_t() {
        for (average, part) in [(18_000.0, 0.6), (36_000.0, 0.5), (9_000.0, 1.0)] {
            let mut nscc = Nscc { average, ..window() };
            let shrink = |nscc: &mut Nscc, now| {
                nscc.shrink(&config(100), Nanos(now));
                nscc.window()
            };
            approx::assert_relative_eq!(shrink(&mut nscc, 20_000), 100_000.0 * part);
            approx::assert_relative_eq!(shrink(&mut nscc, 30_000), 100_000.0 * part);
        }
        let mut near = window();
        near.on_ack(&config(100), &heard(1_000, true, 16_000.0, T.0 + 3_000));
        assert_eq!((near.window(), near.growth), (100_000.0, 0.0), "only the path is avoided");
    }

    #[test]
    fn without_a_queue_a_window_grows_fast_once_all_of_it_came_through() {
        let mut nscc = window();
        for n in 0..6 {
            nscc.on_ack(&config(100), &heard(n * 100, false, 16_000.0, T.0));
        }
        assert!(!nscc.is_fast);
        let before = nscc.window();
        nscc.on_ack(&config(100), &heard(600, false, 16_000.0, T.0));
        assert!(nscc.is_fast && nscc.window() >= before + 4_000.0);
        nscc.on_ack(&config(100), &heard(700, false, 16_000.0, T.0 + 2_000));
        assert!(!nscc.is_fast && nscc.without_queue == 0.0);
    }

    /// The first round never counts; in the second little has come, and a packet was trimmed.
    #[test]
    fn after_losses_the_window_becomes_what_was_received() {
        let config = config(100);
        let mut nscc = Nscc::new(Nanos(0), BitRate::gbps(100), T, None);
        nscc.on_ack(&config, &heard(12_000, false, 4_064.0, T.0 + 500));
        assert_eq!(nscc.round_end, 12_000.0 + 12_000.0 + 9_000.0);
        nscc.on_ack(&config, &heard(20_000, false, 8_000.0, T.0 + 500));
        let before = nscc.window();
        nscc.on_trimmed(&config, &heard(21_000, false, 0.0, T.0 + 12_000), 4_064.0, true);
        approx::assert_relative_eq!(nscc.window(), before - 4_064.0);
        nscc.on_trimmed(&config, &heard(21_000, false, 0.0, T.0 + 12_000), 4_064.0, false);
        approx::assert_relative_eq!(nscc.window(), before - 4_064.0);
        nscc.on_ack(&config, &heard(33_001, false, 9_000.0, T.0 + 500));
        assert_eq!((nscc.window(), nscc.to_ignore), (17_000.0, 50_000.0));
        // Until what was in flight is heard of, marked packets change nothing.
        nscc.on_ack(&config, &heard(70_000, true, 49_000.0, T.0 + 40_000));
        assert_eq!(nscc.window(), 17_000.0);
        nscc.on_lost(&config, 90_000.0);
        assert_eq!(nscc.window(), 4_064.0);
    }

    #[test]
    fn a_shorter_round_trip_is_the_new_t() {
        let mut nscc = window();
        nscc.on_ack(&config(100), &heard(1_000, false, 4_000.0, 8_000));
        assert_eq!((nscc.base_rtt, nscc.most()), (8_000.0, 150_000.0));
    }
}
