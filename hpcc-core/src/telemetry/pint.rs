// SPDX-License-Identifier: MIT OR Apache-2.0
//! PINT (Ben Basat et al., SIGCOMM 2020) as the 2019 simulator has it: each egress port averages its own
//! utilisation U, with logarithms as a switch pipeline would use them; a packet carries the largest U of its
//! path as a power of a base.
//!
//! ```text
//! section   power (8 or 16), little-endian      U = base ^ power / 512
//! ```
//! All logarithms are to base 2, in fixed point with 15 binary places. Where the 2019 simulator takes them, and powers
//! of 2, from the C library, they come from tables here: quicker, and the same on every machine.

use super::codec::{Codec, Meter, Room};
use super::fixed_exp2::exp2;
use super::fixed_log2::log2;
use super::{HopStack, Layout, Reads, Snapshot, Telemetry, Unusable};
use crate::random::Integers;
use crate::settings::{Input, Setting, SettingError, Settings, Value};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

crate::settings! {
    /// The powers.
    #[derive(Clone, Copy, Debug)]
    struct Powers {
        /// Factor between two neighbouring codes of PINT's utilisation.
        #[change = "A smaller value is finer, and takes two bytes below 1.05; a larger one is coarser."]
        pub log_base: f64 {1.001..=2.0} = 1.05 => layout = "pint";
    }
}

/// The busiest hop's utilisation as a power of a base.
#[derive(Clone, Debug, Default)]
pub struct Pint {
    powers: Powers,
    /// Whether it takes two bytes in any case.
    wide: bool,
}

impl Pint {
    /// With powers of a base, which must be above 1, in as many bytes as they need, or in two (`wide`).
    pub fn new(log_base: f64, wide: bool) -> Self {
        Pint { powers: Powers { log_base }, wide }
    }
}

impl Settings for Pint {
    fn list(&self) -> Vec<Setting> {
        self.powers.list()
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.powers.get(key)
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        self.powers.set(key, input)
    }
}

impl Codec for Pint {
    fn name(&self) -> &'static str {
        "pint"
    }

    fn fitted(&self, room: &Room) -> Layout {
        Layout::new(Pint { wide: room.wide_pint, ..*self })
    }

    fn parameters(&self) -> String {
        format!("log_base {}, {} bytes", self.powers.log_base, self.len_after(0))
    }

    fn tells(&self) -> Reads {
        Reads::Utilisation
    }

    fn len_after(&self, _: usize) -> usize {
        if self.wide { MAX_LEN } else { bytes(self.powers.log_base) }
    }

    fn meter(&self, ports: &[BitRate], base_rtt: Nanos) -> Option<Box<dyn Meter>> {
        let ports = ports.iter().map(|&rate| PortMeter::new(rate, base_rtt)).collect();
        Some(Box::new(Averages { codebook: Codebook::new(self.powers.log_base), ports }))
    }

    fn claim(&self, section: &mut [u8], busy: bool) -> bool {
        // The power of U = 512 has room in a section of any base.
        let largest = libm::log(LARGEST_CODE) / libm::log(self.powers.log_base);
        let power = if busy { largest as u16 } else { 0 };
        section.iter_mut().zip(power.to_le_bytes()).for_each(|(to, from)| *to = from);
        true
    }

    fn read<'a>(&self, section: &[u8], _: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        utilisation(self.powers.log_base, read(section)?).map(Telemetry::Utilisation)
    }
}

/// The averages of a switch.
#[derive(Debug)]
struct Averages {
    codebook: Codebook,
    ports: Vec<PortMeter>,
}

impl Meter for Averages {
    fn sent(&mut self, port: u16, now: Nanos, size: u32) {
        if let Some(port) = self.ports.get_mut(usize::from(port)) {
            port.on_sent(now, size);
        }
    }

    fn stamp(&mut self, section: &mut [u8], snapshot: &Snapshot, queue: u64, rand: &mut Integers) {
        if let Some(port) = self.ports.get_mut(usize::from(snapshot.egress)) {
            let utilisation = port.update(snapshot.now, queue, rand);
            self.codebook.stamp(section, utilisation, rand);
        }
    }
}

/// Most bytes of a section.
const MAX_LEN: usize = 2;
/// Steps of U that the smallest power stands for: power 0 is 1/512.
const CODE_STEPS: f64 = 512.0;
/// U = 512 is the largest that the bits of a power must hold.
const LARGEST_CODE: f64 = 512.0 * 512.0;
/// The first power beyond it is the largest that a switch writes: far beyond [`LARGEST_CODE`], for a port's U is at most
/// some windows over one.
const LAST_POWER: f64 = 4_294_967_296.0;
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

/// The base of the powers, and tables derived from it.
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
///
/// # Errors
/// If no switch writes this power. Infinity, which such a power can stand for, would stay in a sender's average for good.
#[inline]
fn utilisation(log_base: f64, power: u16) -> Result<f64, Unusable> {
    let value = libm::pow(log_base, f64::from(power));
    if value > LAST_POWER * log_base { Err(Unusable) } else { Ok(value / CODE_STEPS) }
}

/// Bytes that the powers of a base need.
fn bytes(log_base: f64) -> usize {
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
            if value > LAST_POWER {
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

    /// The power that stands for U, if it is larger than `carried`: one of U's two neighbours, drawn so that the expected value
    /// is U. The draw is taken in any case.
    #[expect(clippy::indexing_slicing, reason = "a power lies between the second and the last")]
    fn encode(&self, utilisation: f64, carried: Option<u16>, rand: &mut Integers) -> Option<u16> {
        let code = libm::ceil(utilisation * CODE_STEPS).max(1.0);
        let above = match self.above.get(code as usize) {
            Some(&above) => usize::from(above),
            None => self.first_above(code),
        };
        let draw = f64::from(rand.draw() % DRAWS);
        if carried.is_some_and(|carried| above <= usize::from(carried)) {
            return None;
        }
        let (low, high) = (self.powers[above - 1], self.powers[above]);
        let threshold = (code - low) / (high - low) * f64::from(DRAWS);
        let power = if draw < threshold { above } else { above - 1 } as u16;
        (Some(power) > carried).then_some(power)
    }

    /// Raises the power in a section to U's, if it is larger.
    #[inline]
    pub fn stamp(&self, section: &mut [u8], utilisation: f64, rand: &mut Integers) {
        let Some(power) = self.encode(utilisation, read(section).ok(), rand) else { return };
        match section {
            [byte] => *byte = u8::try_from(power).unwrap_or(u8::MAX),
            // The 2019 simulator has two bytes for a power that needs one, and cuts off larger powers.
            [low, high] => {
                let kept = if self.one_byte { power & 0xff } else { power };
                [*low, *high] = kept.to_le_bytes();
            }
            _ => {}
        }
    }
}

/// The power in an echoed section.
#[inline]
fn read(section: &[u8]) -> Result<u16, Unusable> {
    match *section {
        [power] => Ok(power.into()),
        [low, high] => Ok(u16::from_le_bytes([low, high])),
        _ => Err(Unusable),
    }
}

/// The averages of an egress port. They fill one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct PortMeter {
    base_rtt: Nanos,
    last_sent: Nanos,
    utilisation: f64,
    /// U of a byte sent: one over the bytes of a T at the port's rate.
    byte_share: f64,
    /// U of a unit of the queue for each nanosecond that it stood: its bytes' share of a T.
    queue_share: f64,
    /// One over T and over the units of a stored U.
    stored_share: f64,
    last_size: u32,
}

impl PortMeter {
    /// The meter of a port, averaging over T.
    pub fn new(rate: BitRate, base_rtt: Nanos) -> Self {
        let rtt = base_rtt.0 as f64;
        let byte_share = 1e9 / ((rate.0 / 8) as f64 * rtt);
        PortMeter {
            base_rtt,
            last_sent: Nanos(0),
            utilisation: 0.0,
            byte_share,
            queue_share: byte_share / rtt * f64::from(1 << QUEUE_SHIFT),
            stored_share: 1.0 / (rtt * STORED_STEPS),
            last_size: 0,
        }
    }

    /// Counts a frame that leaves, whatever it is.
    #[inline]
    pub fn on_sent(&mut self, now: Nanos, size: u32) {
        self.last_sent = now;
        self.last_size = size;
    }

    /// U as a data frame leaves `queue` bytes behind: of the queue, the frame before this one, and the average so far.
    /// The order of operations is the 2019 simulator's, for rounding may draw a random number.
    pub fn update(&mut self, now: Nanos, queue: u64, rand: &mut Integers) -> f64 {
        // The 2019 simulator's ports begin at time 0, too: in the first T what they measure is of less.
        let elapsed = now.saturating_sub(self.last_sent).min(self.base_rtt).0;
        let queued = queue >> QUEUE_SHIFT;
        let mut sum = 0.0;
        if queued > 0 {
            sum += product(elapsed, queued, rand) * self.queue_share;
        }
        if self.last_size > 0 {
            sum += product(1, u64::from(self.last_size), rand) * self.byte_share;
        }
        if self.base_rtt.0 > elapsed && self.utilisation > 0.0 {
            let stored = (self.utilisation * STORED_STEPS + 0.5) as u64;
            sum += product(self.base_rtt.0 - elapsed, stored, rand) * self.stored_share;
        }
        self.utilisation = sum;
        sum
    }
}

/// The product of two numbers, by the sum of their logarithms.
#[inline]
fn product(one: u64, other: u64, rand: &mut Integers) -> f64 {
    let (one, other) = (log(one, rand), log(other, rand));
    one.zip(other).map_or(0.0, |(one, other)| exp2(one + other))
}

/// log2 in fixed point, truncated; `None` for 0. Only the leading bits count; the rest rounds up with the probability
/// that it deserves.
#[inline]
fn log(value: u64, rand: &mut Integers) -> Option<u32> {
    let top = value.checked_ilog2()?;
    if top < LOG_BITS {
        return log2(value);
    }
    let shift = top + 1 - LOG_BITS;
    let rest = (1 << shift) - 1;
    let rounds_up = value & rest > u64::from(rand.draw()) & rest;
    log2((value & !rest).saturating_add(if rounds_up { rest + 1 } else { 0 }))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::fixed_log2::PLACES;
    use super::*;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    fn rand() -> Integers {
        Integers::new(1)
    }

    #[test]
    fn products_with_0_are_0() {
        let product = |one, other| product(one, other, &mut rand());
        assert_eq!([product(0, 9), product(9, 0), product(1, 1), product(4, 8)], [0.0, 0.0, 1.0, 32.0]);
    }

    #[test]
    fn logarithms_of_long_numbers_round_with_the_probability_of_the_rest() {
        let mut rand = rand();
        let value = (0x8000 << 4) | 4;
        let up = (0..16_000).filter(|_| log(value, &mut rand) > Some(19 << PLACES)).count();
        assert!((3_700..4_300).contains(&up), "4 of 16: {up}");
    }

    /// A port of 100 Gb/s that sends 1050 bytes every 84 ns is full, and one bandwidth-delay product in the queue adds 1.
    #[test]
    fn a_busy_port_is_at_one_and_a_queue_of_one_bdp_adds_one() {
        for (queue, expected) in [(0, 1.0), (52_000, 2.0)] {
            let mut meter = PortMeter::new(BitRate::gbps(100), Nanos(4_160));
            let (mut rand, mut utilisation) = (rand(), 0.0);
            for n in 0..2_000u64 {
                utilisation = meter.update(Nanos(n * 84), queue, &mut rand);
                meter.on_sent(Nanos(n * 84), 1_050);
            }
            assert_relative_eq!(utilisation, expected, max_relative = 0.01);
        }
    }

    #[test]
    fn the_average_code_is_the_utilisation() {
        let codebook = Codebook::new(1.05);
        assert!(codebook.one_byte && !Codebook::new(1.01).one_byte);
        let mut rand = rand();
        let count = 20_000;
        let mut read = || utilisation(1.05, codebook.encode(1.5, None, &mut rand)?).ok();
        let mean = (0..count).map(|_| read().expect("a power of a switch")).sum::<f64>() / f64::from(count);
        assert_abs_diff_eq!(mean, 1.5, epsilon = 0.005);
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
            let power = codebook.encode(u, None, &mut rand());
            assert!(power.is_some_and(|power| usize::from(power) < codebook.powers.len()), "{u}");
        }
        assert_eq!(codebook.encode(0.0, None, &mut rand()), Some(0));
    }

    #[test]
    fn powers_that_no_switch_writes_are_refused() {
        for log_base in [1.001, 1.05, 2.0] {
            let last = Codebook::new(log_base).powers.len() as u16 - 1;
            assert!(utilisation(log_base, last).is_ok_and(f64::is_finite), "{log_base}");
            assert_eq!(utilisation(log_base, u16::MAX), Err(Unusable), "{log_base}");
        }
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
            assert_abs_diff_eq!(utilisation(1.05, first).expect("a power of a switch"), 1.0, epsilon = 0.05);
        }
        assert_eq!(read(&[]), Err(Unusable));
        assert_eq!(read(&[0; 3]), Err(Unusable));
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
