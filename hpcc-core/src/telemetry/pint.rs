// SPDX-License-Identifier: MIT OR Apache-2.0
//! PINT (Ben Basat et al., SIGCOMM 2020) as the reference simulator has it: each egress port averages its own
//! utilisation U, with logarithms as a switch pipeline would use them; a packet carries the largest U of its
//! path as a power of a base.
//!
//! ```text
//! section   power (8 or 16), little-endian      U = base ^ power / 512
//! ```
//! All logarithms are to base 2, in fixed point with 15 binary places. Where the reference takes them from
//! the C library, they come from a table or software here: the same on every machine.

use super::Unusable;
use super::fixed_log2::{PLACES, log2};
use crate::random::GlibcRand;
use crate::units::{BitRate, Nanos};
use alloc::vec::Vec;

/// Most bytes of a section.
pub const MAX_LEN: usize = 2;
/// Steps of U that the smallest power stands for: power 0 is 1/512.
const CODE_STEPS: f64 = 512.0;
/// U = 512 is the largest that the bits of a power must hold.
const LARGEST_CODE: f64 = 512.0 * 512.0;
/// Factor of fixed-point logarithms.
const ONE: f64 = (1_u32 << PLACES) as f64;
/// The fixed-point logarithm of 0, far below all others.
const LOG_ZERO: f64 = -2_147_483_648.0;
/// Fixed-point logarithms look at this many leading bits.
const LOG_BITS: u32 = 16;
/// Queues are counted in units of 256 bytes.
const QUEUE_SHIFT: u32 = 8;
/// U is stored as an integer in units of 1/8192.
const STORED_STEPS: f64 = 8_192.0;
/// Codes that have their place in a table: U up to 2.
const TABLED_CODES: u32 = 1_024;
/// Rounding draws are compared in units of 1/65536.
const DRAWS: u32 = 65_536;

/// The base of the powers, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Codebook {
    /// base ^ n, up to the first that is larger than any U that occurs.
    powers: Vec<f64>,
    /// For each small code the first power that is larger, so that the usual U needs no search.
    above: Vec<u16>,
    /// Powers are cut to one byte where it holds the largest.
    one_byte: bool,
}

/// U as a sender reads it.
#[inline]
pub fn utilisation(log_base: f64, power: u16) -> f64 {
    libm::pow(log_base, f64::from(power)) / CODE_STEPS
}

/// Bytes that the powers of a base need.
pub fn bytes(log_base: f64) -> usize {
    let bits = libm::ceil(libm::log2(libm::log(LARGEST_CODE) / libm::log(log_base)));
    if bits <= 8.0 { 1 } else { MAX_LEN }
}

impl Codebook {
    /// The powers of a base, which must be above 1.
    pub fn new(log_base: f64) -> Self {
        let mut powers = Vec::new();
        for power in 0..=u16::MAX {
            let value = libm::pow(log_base, f64::from(power));
            powers.push(value);
            // Far beyond LARGEST_CODE: a port's U is at most some windows over one.
            if value > 4_294_967_296.0 {
                break;
            }
        }
        let mut codebook = Codebook { powers, above: Vec::new(), one_byte: bytes(log_base) == 1 };
        codebook.above = (0..=TABLED_CODES).map(|code| codebook.first_above(f64::from(code)) as u16).collect();
        codebook
    }

    /// The first power that is larger than a code, but not the lowest of all.
    fn first_above(&self, code: f64) -> usize {
        self.powers.partition_point(|&power| power <= code).clamp(1, self.powers.len() - 1)
    }

    /// The power that stands for U: one of its two neighbours, drawn so that the expected value is U.
    #[expect(clippy::indexing_slicing, reason = "a power lies between the second and the last")]
    fn encode(&self, utilisation: f64, rand: &mut GlibcRand) -> u16 {
        let code = libm::ceil(utilisation * CODE_STEPS).max(1.0);
        let above = match self.above.get(code as usize) {
            Some(&above) => usize::from(above),
            None => self.first_above(code),
        };
        let (low, high) = (self.powers[above - 1], self.powers[above]);
        let threshold = (code - low) / (high - low) * f64::from(DRAWS);
        let power = if f64::from(rand.draw() % DRAWS) < threshold { above } else { above - 1 };
        power as u16
    }

    /// Raises the power in a section to that of U, if it is larger.
    #[inline]
    pub fn stamp(&self, section: &mut [u8], utilisation: f64, rand: &mut GlibcRand) {
        let power = self.encode(utilisation, rand);
        match section {
            [byte] if power > u16::from(*byte) => *byte = u8::try_from(power).unwrap_or(u8::MAX),
            // Two bytes for a power that needs one are the reference's, which cuts off what exceeds it.
            [low, high] if power > u16::from_le_bytes([*low, *high]) => {
                let kept = if self.one_byte { power & 0xff } else { power };
                [*low, *high] = kept.to_le_bytes();
            }
            _ => {}
        }
    }
}

/// The power in an echoed section.
#[inline]
pub fn read(section: &[u8]) -> Result<u16, Unusable> {
    match *section {
        [power] => Ok(power.into()),
        [low, high] => Ok(u16::from_le_bytes([low, high])),
        _ => Err(Unusable),
    }
}

/// What an egress port averages.
#[derive(Clone, Debug)]
pub struct PortMeter {
    base_rtt: Nanos,
    /// Logarithms of T, of the port's bytes per second and of 10^9.
    log_rtt: f64,
    log_bytes: f64,
    log_nanos: f64,
    last_sent: Nanos,
    last_size: u32,
    /// The size that `frame_share` holds for.
    share_of: u32,
    /// What a frame of that size adds to U.
    frame_share: f64,
    utilisation: f64,
}

impl PortMeter {
    /// The meter of a port, averaging over T.
    pub fn new(rate: BitRate, base_rtt: Nanos) -> Self {
        PortMeter {
            base_rtt,
            log_rtt: libm::log2(base_rtt.0 as f64) * ONE,
            log_bytes: libm::log2((rate.0 / 8) as f64) * ONE,
            log_nanos: libm::log2(1e9) * ONE,
            last_sent: Nanos(0),
            last_size: 0,
            share_of: 0,
            frame_share: 0.0,
            utilisation: 0.0,
        }
    }

    /// Counts a frame that leaves, whatever it is.
    #[inline]
    pub fn on_sent(&mut self, now: Nanos, size: u32) {
        self.last_sent = now;
        self.last_size = size;
    }

    /// U at the moment when a data frame leaves `queue` bytes behind: what is queued now, what the frame before
    /// this one added, and what is left of the average. The order of operations is the reference's, for the
    /// rounding of each may draw.
    pub fn update(&mut self, now: Nanos, queue: u64, rand: &mut GlibcRand) -> f64 {
        let elapsed = now.saturating_sub(self.last_sent).min(self.base_rtt).0;
        let mut sum = 0.0;
        if queue >> QUEUE_SHIFT > 0 {
            let logs = log(elapsed, rand) + log(queue >> QUEUE_SHIFT, rand);
            let exponent = logs + self.log_nanos - self.log_bytes - 2.0 * self.log_rtt;
            sum += libm::exp2(exponent / ONE) * f64::from(1 << QUEUE_SHIFT);
        }
        if self.last_size > 0 {
            sum += self.frame_share(rand);
        }
        if self.base_rtt.0 > elapsed && self.utilisation > 0.0 {
            let stored = libm::floor(self.utilisation * STORED_STEPS + 0.5) as u64;
            let logs = log(self.base_rtt.0 - elapsed, rand) + log(stored, rand);
            sum += libm::exp2((logs - self.log_rtt) / ONE) / STORED_STEPS;
        }
        self.utilisation = sum;
        sum
    }

    /// What the frame before this one adds. Ports mostly send frames of one size, whose share is the same, unless
    /// its logarithm takes a draw.
    #[inline]
    fn frame_share(&mut self, rand: &mut GlibcRand) -> f64 {
        if self.last_size != self.share_of || self.last_size >> LOG_BITS > 0 {
            let exponent = log(u64::from(self.last_size), rand) + self.log_nanos - self.log_bytes - self.log_rtt;
            self.share_of = self.last_size;
            self.frame_share = libm::exp2(exponent / ONE);
        }
        self.frame_share
    }
}

/// log2 in fixed point, truncated. Only the leading bits count; the rest rounds up with the probability that
/// it deserves.
#[inline]
fn log(value: u64, rand: &mut GlibcRand) -> f64 {
    let Some(top) = value.checked_ilog2() else { return LOG_ZERO };
    let mut leading = value;
    if top >= LOG_BITS {
        let shift = top + 1 - LOG_BITS;
        let rest = (1 << shift) - 1;
        leading = value & !rest;
        if value & rest > u64::from(rand.draw()) & rest {
            leading += rest + 1;
        }
    }
    log2(leading).map_or(LOG_ZERO, f64::from)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn rand() -> GlibcRand {
        GlibcRand::new(1)
    }

    #[test]
    fn the_logarithm_of_0_is_far_below_all_others() {
        assert_eq!([0, 1].map(|value| log(value, &mut rand())), [LOG_ZERO, 0.0]);
    }

    #[test]
    fn logarithms_of_long_numbers_round_with_the_probability_of_the_rest() {
        let mut rand = rand();
        let value = (0x8000 << 4) | 4;
        let up = (0..16_000).filter(|_| log(value, &mut rand) > (19.0 * ONE)).count();
        assert!((3_700..4_300).contains(&up), "4 of 16: {up}");
    }

    /// A port of 100 Gb/s that sends 1050 bytes every 84 ns with an empty queue is full: U approaches 1.
    #[test]
    fn a_busy_port_without_queue_is_at_one() {
        let mut meter = PortMeter::new(BitRate::gbps(100), Nanos(4_160));
        let mut rand = rand();
        let mut utilisation = 0.0;
        for n in 0..2_000u64 {
            utilisation = meter.update(Nanos(n * 84), 0, &mut rand);
            meter.on_sent(Nanos(n * 84), 1_050);
        }
        assert!((utilisation - 1.0).abs() < 0.01, "{utilisation}");
    }

    /// One bandwidth-delay product in the queue adds 1.
    #[test]
    fn a_queue_of_one_bdp_adds_one() {
        let mut meter = PortMeter::new(BitRate::gbps(100), Nanos(4_160));
        let mut rand = rand();
        let mut utilisation = 0.0;
        for n in 0..2_000u64 {
            utilisation = meter.update(Nanos(n * 84), 52_000, &mut rand);
            meter.on_sent(Nanos(n * 84), 1_050);
        }
        assert!((utilisation - 2.0).abs() < 0.02, "{utilisation}");
    }

    #[test]
    fn the_average_code_is_the_utilisation() {
        let codebook = Codebook::new(1.05);
        assert!(codebook.one_byte && !Codebook::new(1.01).one_byte);
        let mut rand = rand();
        let count = 20_000;
        let read = |power| utilisation(1.05, power);
        let mean = (0..count).map(|_| read(codebook.encode(1.5, &mut rand))).sum::<f64>() / f64::from(count);
        assert!((mean - 1.5).abs() < 0.005, "{mean}");
    }

    #[test]
    fn the_table_agrees_with_the_search() {
        let codebook = Codebook::new(1.05);
        for code in 1..=TABLED_CODES {
            assert_eq!(usize::from(codebook.above[code as usize]), codebook.first_above(f64::from(code)), "{code}");
        }
    }

    #[test]
    fn codes_do_not_leave_their_table() {
        let codebook = Codebook::new(1.05);
        for u in [0.0, -1.0, 1e-12, 1e6, 1e300, f64::INFINITY, f64::NAN] {
            assert!(usize::from(codebook.encode(u, &mut rand())) < codebook.powers.len(), "{u}");
        }
        assert_eq!(codebook.encode(0.0, &mut rand()), 0);
    }

    #[test]
    fn a_packet_keeps_the_largest_power() {
        let codebook = Codebook::new(1.05);
        for len in [1, MAX_LEN] {
            let mut section = [0; MAX_LEN];
            let section = &mut section[..len];
            codebook.stamp(section, 1.0, &mut rand());
            let first = read(section).expect("a power");
            codebook.stamp(section, 0.1, &mut rand());
            assert_eq!(read(section), Ok(first));
            assert!((utilisation(1.05, first) - 1.0).abs() < 0.05);
        }
        assert_eq!(read(&[]), Err(Unusable));
        assert_eq!(read(&[0; 3]), Err(Unusable));
    }

    /// The reference takes two bytes for either base.
    #[test]
    fn a_section_has_as_many_bytes_as_its_powers_need_or_the_references_two() {
        use crate::telemetry::Layout;
        let lens =
            [(1.05, false), (1.01, false), (1.05, true)].map(|(base, wide)| Layout::pint(base, wide).initial_len());
        assert_eq!(lens, [1, 2, 2]);
    }

    #[test]
    fn one_byte_saturates_and_the_references_wraps() {
        let codebook = Codebook::new(1.05);
        let (mut right, mut reference) = ([0; 1], [0; 2]);
        codebook.stamp(&mut right, 1e6, &mut rand());
        codebook.stamp(&mut reference, 1e6, &mut rand());
        assert_eq!(right, [255]);
        assert!(read(&reference).expect("a power") < 255);
    }
}
