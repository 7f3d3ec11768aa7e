// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN marking at dequeue, in the manner of RED.

use crate::units::BitRate;
use alloc::format;
use alloc::string::String;

/// When packets of an egress queue are marked, for ports of one link rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnThreshold {
    /// Ports of this rate use the entry.
    pub rate: BitRate,
    /// Up to this queue length in bytes nothing is marked.
    pub kmin: u64,
    /// Above this queue length in bytes everything is marked.
    pub kmax: u64,
    /// Probability at `kmax`, 0 to 1; grows linearly from 0 at `kmin`.
    pub pmax: f64,
}

/// The longest length that a file can say; no queue is longer.
const MOST: u64 = (1 << 53) - 1;
/// Bytes of two packets of the usual size.
const LEAST: u64 = 2_000;

impl EcnThreshold {
    /// The 2019 simulator's preset for DCQCN: what switches mark by unless a setting or an algorithm says otherwise.
    pub const USUAL: EcnThreshold =
        EcnThreshold { rate: BitRate::gbps(100), kmin: 400_000, kmax: 1_600_000, pmax: 0.2 };

    /// The same for ports of another rate: queue lengths grow with it. They do not shrink below [`LEAST`], or a slow port would
    /// mark packets that nothing waits with.
    pub fn scaled(&self, rate: BitRate) -> EcnThreshold {
        let scale = |bytes: u64| {
            let scaled = u128::from(bytes) * u128::from(rate.0) / u128::from(self.rate.0.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX).min(MOST).max(bytes.min(LEAST))
        };
        EcnThreshold { rate, kmin: scale(self.kmin), kmax: scale(self.kmax), pmax: self.pmax }
    }

    /// Checks lengths against each other, and the probability.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn check(&self) -> Result<(), String> {
        let EcnThreshold { kmin, kmax, pmax, .. } = self;
        if kmin > kmax {
            return Err(format!("kmin is {kmin} bytes, more than kmax, {kmax}; expected at most that"));
        }
        if !(0.0..=1.0).contains(pmax) {
            return Err(format!("pmax is {pmax}; expected 0 to 1"));
        }
        Ok(())
    }

    /// Whether a packet that leaves `queue` bytes behind is marked. `draw` gives a number in [0, 1) and is
    /// called only where chance decides.
    #[inline]
    pub fn marks(&self, queue: u64, draw: impl FnOnce() -> f64) -> bool {
        if queue > self.kmax {
            return true;
        }
        if queue <= self.kmin {
            return false;
        }
        draw() < self.pmax * (queue - self.kmin) as f64 / (self.kmax - self.kmin) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: EcnThreshold = EcnThreshold { rate: BitRate::gbps(100), kmin: 100, kmax: 300, pmax: 0.2 };

    #[test]
    fn lengths_and_probability_must_be_possible() {
        assert_eq!(THRESHOLD.check(), Ok(()));
        for wrong in [
            EcnThreshold { kmin: 301, ..THRESHOLD },
            EcnThreshold { pmax: -0.1, ..THRESHOLD },
            EcnThreshold { pmax: 1.1, ..THRESHOLD },
            EcnThreshold { pmax: f64::NAN, ..THRESHOLD },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn marks_never_below_kmin_and_always_above_kmax() {
        let no_draw = || panic!("chance does not decide here");
        assert!(!THRESHOLD.marks(100, no_draw));
        assert!(THRESHOLD.marks(301, no_draw));
    }

    #[test]
    fn probability_grows_linearly_between() {
        assert!(THRESHOLD.marks(200, || 0.099));
        assert!(!THRESHOLD.marks(200, || 0.101));
        assert!(!THRESHOLD.marks(200, || 0.1), "of draws from 0 on a tenth is below 0.1");
        assert!(THRESHOLD.marks(300, || 0.199));
    }

    #[test]
    fn queue_lengths_grow_with_the_rate() {
        for (mbps, kmin, kmax) in [(10, 2_000, 2_000), (1_000, 4_000, 16_000), (400_000, 1_600_000, 6_400_000)] {
            let rate = BitRate::mbps(mbps);
            assert_eq!(EcnThreshold::USUAL.scaled(rate), EcnThreshold { rate, kmin, kmax, pmax: 0.2 });
        }
        assert_eq!(THRESHOLD.scaled(BitRate::gbps(25)).kmin, 100, "no longer than it was set");
    }
}
