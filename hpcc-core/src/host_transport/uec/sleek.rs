// SPDX-License-Identifier: MIT OR Apache-2.0
//! SLEEK: losses are found without trimming, by packets that arrive out of order, and by probes.
//!
//! When more packets wait for others than any path could hold up, what is missing was lost. Where nothing comes back for some round
//! trips a probe asks; if its answer is quick, no queue holds what is missing.

use super::nscc::{Nscc, NsccConfig};
use crate::units::Nanos;

/// Packets out of order are too many from so many windows on.
const WINDOWS: f64 = 1.5;
/// But at least this many packets.
const FEWEST: f64 = 5.0;
/// Round trips of silence before a probe, and between it and the next.
const SILENCE: f64 = 3.0;
const AGAIN: f64 = 5.0;

/// What a sender knows of losses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sleek {
    /// While it repeats: the packet behind the last that was sent when that began.
    recovers_until: Option<u64>,
    /// The first packet that was not repeated in this recovery.
    pub next: u64,
    /// When a probe leaves.
    pub probe_at: Option<Nanos>,
    /// The number of the last one, and when it left.
    probe: (u64, Nanos),
}

impl Sleek {
    /// Whether what is repeated goes ahead of the window.
    pub fn is_recovering(&self) -> bool {
        self.recovers_until.is_some()
    }

    /// An answer has come; `is_last`: nothing is left to be sent for the first time. Silence begins anew.
    pub fn on_answer(&mut self, now: Nanos, config: &NsccConfig, window: &Nscc, is_last: bool) {
        let t = window.base_rtt();
        let silence = if is_last { t + config.target } else { SILENCE * t };
        self.probe_at = Some(now + Nanos(silence as u64));
    }

    /// A probe leaves now. Returns its number.
    pub fn send_probe(&mut self, now: Nanos, window: &Nscc) -> u64 {
        self.probe = (self.probe.0 + 1, now);
        self.probe_at = Some(now + Nanos((AGAIN * window.base_rtt()) as u64));
        self.probe.0
    }

    /// How long the last probe took, if this is its answer.
    pub fn round_trip(&self, now: Nanos, number: u64) -> Option<Nanos> {
        (number == self.probe.0).then(|| now - self.probe.1)
    }

    /// The answer to a probe was quick: what has not arrived was lost. Packets before `before` have, `sent` were sent.
    pub fn on_quick_answer(&mut self, before: u64, sent: u64) {
        (self.recovers_until, self.next) = (Some(sent), before);
    }

    /// So many packets wait for others. Returns the packets, from the first missing one on, of which those that did not arrive are
    /// lost. `repeats`: some wait to be sent again.
    pub fn lost(
        &mut self,
        window: &Nscc,
        mss: f64,
        before: u64,
        sent: u64,
        out_of_order: u32,
        repeats: bool,
    ) -> core::ops::Range<u64> {
        if self.recovers_until.is_some_and(|until| before >= until) {
            self.recovers_until = None;
        }
        let most = (WINDOWS * window.window()).min(window.most()).max(FEWEST * mss);
        if !self.is_recovering() && f64::from(out_of_order) >= libm::floor(most / mss) && !repeats {
            self.recovers_until = Some(sent);
        }
        let Some(until) = self.recovers_until else { return 0..0 };
        let end = until.min(before + (window.window() / mss) as u64);
        before.max(self.next)..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

    /// 100,000 bytes: 1.5 windows are 37 packets of 4,000.
    fn window() -> Nscc {
        Nscc::new(Nanos(0), BitRate::gbps(100), Nanos(12_000), Some(100_000.0))
    }

    #[test]
    fn too_many_packets_out_of_order_begin_a_recovery_that_ends_with_what_was_sent() {
        let mut sleek = Sleek::default();
        let mut lost = |before, sent, out_of_order| sleek.lost(&window(), 4_000.0, before, sent, out_of_order, false);
        assert_eq!(lost(10, 60, 36), 0..0);
        assert_eq!(lost(10, 60, 37), 10..35, "a window of them");
        assert_eq!(lost(12, 70, 3), 12..37);
        assert_eq!(lost(50, 90, 3), 50..60, "to what was sent when it began");
        assert_eq!(lost(60, 99, 3), 0..0);
        assert!(!sleek.is_recovering());
    }

    #[test]
    fn what_was_repeated_is_not_lost_again() {
        let mut sleek = Sleek { next: 30, ..Sleek::default() };
        assert_eq!(sleek.lost(&window(), 4_000.0, 10, 60, 40, false), 30..35);
        let mut waits = Sleek::default();
        assert_eq!(waits.lost(&window(), 4_000.0, 10, 60, 40, true), 0..0, "what waits goes first");
        let small = Nscc::new(Nanos(0), BitRate::gbps(100), Nanos(12_000), Some(4_000.0));
        assert_eq!(Sleek::default().lost(&small, 4_000.0, 0, 9, 4, false), 0..0);
        assert_eq!(Sleek::default().lost(&small, 4_000.0, 0, 9, 5, false), 0..1);
    }

    #[test]
    fn probes_follow_silence() {
        let mut sleek = Sleek::default();
        let config = NsccConfig::new(BitRate::gbps(100), Nanos(12_000), 4_000, 4_064, false, None);
        sleek.on_answer(Nanos(1_000), &config, &window(), false);
        assert_eq!(sleek.probe_at, Some(Nanos(37_000)));
        sleek.on_answer(Nanos(1_000), &config, &window(), true);
        assert_eq!(sleek.probe_at, Some(Nanos(25_000)));
        assert_eq!((sleek.send_probe(Nanos(25_000), &window()), sleek.probe_at), (1, Some(Nanos(85_000))));
        assert_eq!(
            (sleek.round_trip(Nanos(40_000), 1), sleek.round_trip(Nanos(40_000), 0)),
            (Some(Nanos(15_000)), None)
        );
        sleek.on_quick_answer(7, 20);
        assert!(sleek.is_recovering());
        assert_eq!(sleek.lost(&window(), 4_000.0, 7, 20, 0, false), 7..20);
    }
}
