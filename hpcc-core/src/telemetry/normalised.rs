// SPDX-License-Identifier: MIT OR Apache-2.0
//! Telemetry that leaves a network without its capacities, queues and counters (mode NORM; REQ-25;
//! draft-miao-rtgwg-hpccplus-00, section 9.1).
//!
//! Who may see the records (the border of the network, or a receiver within) averages U_j of each hop over T, and
//! passes on one byte for each:
//!
//! ```text
//! section   code of hop 1 (8) | ... | code of hop n (8)       U = 1.05 ^ code / 512, rounded to the nearest power
//! ```
//! The scale is PINT's: U from 1/512 to 495, within 2.5 %. The sender reads the largest U, as it
//! reads PINT's, and needs no records of its own.

use super::{HopStack, MAX_HOPS, PathLoads, Unusable};
use crate::units::Nanos;

/// Base of the codes.
pub const BASE: f64 = 1.05;
/// U of code 0 is the inverse.
const SCALE: f64 = 512.0;

/// The code of U.
pub fn encode(utilisation: f64) -> u8 {
    libm::round(libm::log(utilisation * SCALE) / libm::log(BASE)) as u8
}

/// The U of a code.
pub fn decode(code: u8) -> f64 {
    libm::pow(BASE, f64::from(code)) / SCALE
}

/// The largest U of a section.
///
/// # Errors
/// [`Unusable`] if the section has no hop, or more than [`MAX_HOPS`].
pub fn read(section: &[u8]) -> Result<f64, Unusable> {
    if section.len() > MAX_HOPS {
        return Err(Unusable);
    }
    section.iter().max().map(|&code| decode(code)).ok_or(Unusable)
}

/// Turns the records of one flow's packets into codes.
#[derive(Clone, Debug)]
pub struct Exporter(PathLoads);

impl Exporter {
    /// An exporter that averages over T. U starts at 1.
    pub fn new(base_rtt: Nanos) -> Self {
        Exporter(PathLoads::new(base_rtt))
    }

    /// Records that could not be compared with the last ones.
    pub fn baseline_resets(&self) -> u64 {
        self.0.baseline_resets()
    }

    /// Takes in the records of a packet, writes the section that replaces them into the front of `section` and
    /// returns its length; 0, for no section, where the records cannot be compared with others or there is no room.
    pub fn export(&mut self, now: Nanos, stack: &HopStack, section: &mut [u8]) -> usize {
        let Some(loads) = self.0.learn(now, stack) else { return 0 };
        let Some(codes) = section.get_mut(..loads.len()) else { return 0 };
        for (code, &load) in codes.iter_mut().zip(loads) {
            *code = encode(load);
        }
        codes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use crate::cc::{CongestionControl, Feedback, HpccPlus, HpccPlusConfig};
    use crate::telemetry::{Hop, Modulus, Telemetry};
    use crate::units::BitRate;
    use approx::assert_relative_eq;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };

    /// Packet `n` of a path of two hops, of which the first is at `load` and the second idle.
    fn records(n: u64, gbps: u64, load: f64) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        let line = gbps * 1_000 / 8;
        for load in [load, 0.01] {
            let tx_bytes = (n as f64 * load.min(1.0) * line as f64) as u64;
            let qlen = ((load - 1.0).max(0.0) * 13.0 * line as f64) as u64;
            stack.push(Hop { rate: BitRate::gbps(gbps), ts: n * 1_000, tx_bytes, qlen });
        }
        stack
    }

    /// 1 is 512 = 1.05^127.86; the ends of the scale stay on it.
    #[test]
    fn codes_are_logarithms() {
        assert_eq!(encode(1.0), 128);
        assert_eq!([0.0, -1.0, f64::NAN, 1.0 / 512.0, 600.0, f64::INFINITY].map(encode), [0, 0, 0, 0, 255, 255]);
        for n in 1..10_000 {
            let utilisation = f64::from(n) * 0.002;
            let error = decode(encode(utilisation)) / utilisation - 1.0;
            assert!(error.abs() < 0.025, "{utilisation}: {error}");
        }
    }

    #[test]
    fn sections_of_no_or_too_many_hops_are_refused() {
        assert_eq!(read(&[]), Err(Unusable));
        assert_eq!(read(&[1; MAX_HOPS + 1]), Err(Unusable));
        assert_eq!(read(&[0, 128, 7]), Ok(decode(128)));
    }

    /// Links of 25 and 400 Gb/s under the same relative load send the same bytes.
    #[test]
    fn req_25_a_section_tells_no_capacity() {
        let section = |gbps| {
            let mut exporter = Exporter::new(LIMITS.base_rtt);
            let mut section = [0; MAX_HOPS];
            (0..40).for_each(|n| {
                exporter.export(Nanos(n * 1_000), &records(n, gbps, 1.3), &mut section);
            });
            section
        };
        assert_eq!(section(25), section(400));
        assert_eq!(section(25)[2..], [0; MAX_HOPS - 2]);
        assert_relative_eq!(read(&section(25)[..2]).expect("two hops"), 1.3, max_relative = 0.08);
    }

    #[test]
    fn first_records_old_ones_and_short_buffers_export_nothing() {
        let mut exporter = Exporter::new(LIMITS.base_rtt);
        let mut section = [0; 2];
        assert_eq!(exporter.export(Nanos(5_000), &records(5, 100, 0.5), &mut section), 0);
        assert_eq!(exporter.export(Nanos(6_000), &records(6, 100, 0.5), &mut section[..1]), 0);
        assert_eq!(exporter.export(Nanos(6_000), &records(6, 100, 0.5), &mut section), 2);
        assert_eq!(exporter.export(Nanos(7_000), &records(4, 100, 0.5), &mut section), 0);
    }

    /// HPCC++ on codes follows HPCC++ on records within what a code rounds.
    #[test]
    fn req_25_ratios_are_enough_for_the_sender() {
        let [mut by_records, mut by_codes] = [HpccPlusConfig::default(); 2].map(|config| HpccPlus::new(config, LIMITS));
        let mut exporter = Exporter::new(LIMITS.base_rtt);
        let mut section = [0; MAX_HOPS];
        let (mut rng, mut compared) = (rng(), 0);
        for n in 0..60 {
            let stack = records(n, 100, 1.2);
            let len = exporter.export(Nanos(n * 1_000), &stack, &mut section);
            let codes = read(&section[..len]).map_or(Telemetry::Nothing, Telemetry::Utilisation);
            let [windows, coded] =
                [(&mut by_records, Telemetry::Hops(&stack)), (&mut by_codes, codes)].map(|(flow, telemetry)| {
                    let decision = flow.on_feedback(&Feedback { telemetry, ..ack(n, n, 1_000) }, &mut rng);
                    decision.window_bytes().map(|bytes| bytes as f64)
                });
            if let (Some(windows), Some(coded)) = (windows, coded) {
                assert_relative_eq!(coded, windows, max_relative = 0.03);
                compared += 1;
            }
        }
        assert!(compared > 50);
    }
}
