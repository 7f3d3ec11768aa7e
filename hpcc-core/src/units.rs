// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nanoseconds, bits per second, bytes, and every rounding between them.
//!
//! The 2019 simulator keeps time in whole nanoseconds and gets them from seconds through a 64.64
//! fixed-point number that is *floored*, so that 1000 bytes at 100 Gb/s take 79 ns, not 80. All conversions
//! of this project go through this file, so that a rounding is chosen once: see [`Rounding`].

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a duration, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Nanos(pub u64);

/// A data rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BitRate(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// What becomes of a fraction of a nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// The nearest whole nanosecond.
    #[default]
    Nearest,
    /// The 2019 simulator's: floored, and a whole number that binary fractions miss loses one as well.
    Floored,
    /// None is lost where times add up ([`ExactNanos`]); a time by itself is rounded up.
    Exact,
}

/// A point in simulated time in parts of 2^-32 ns, of which the simulator knows the next whole nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactNanos {
    /// The whole nanosecond.
    pub nanos: Nanos,
    /// How many parts it comes after the point.
    pub(crate) late: u32,
}

/// A duration in nanoseconds and parts of 2^-32 ns. It is rounded down: a sum of 4 * 10^9 of them is a nanosecond too short at most,
/// and none that should be whole comes a nanosecond late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactSpan {
    /// Whole nanoseconds.
    pub nanos: u64,
    /// What is left, in 2^-32 ns.
    pub parts: u32,
}

/// By how much the last frame on a link ended before the nanosecond that stands for its end, in equal parts of a nanosecond. At
/// usual rates the time of a frame is a number of them, so that nothing is lost however many follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkClock {
    /// Parts of a nanosecond.
    pub(crate) denominator: u32,
    pub(crate) late: u32,
}

impl LinkClock {
    /// That of a link of this rate. With more than `most` parts it has as many, and each frame loses less than one of them.
    pub fn new(rate: BitRate, rounding: Rounding, most: u32) -> LinkClock {
        let parts = rate.0 / gcd(rate.0, 8_000_000_000).max(1);
        let denominator = if rounding == Rounding::Exact { parts.clamp(1, most.into()) as u32 } else { 1 };
        LinkClock { denominator, late: 0 }
    }

    /// The time of so many bytes: whole nanoseconds and parts.
    pub fn time(&self, rate: BitRate, bytes: u32, rounding: Rounding) -> (u64, u32) {
        if rounding != Rounding::Exact || rate.0 == 0 {
            return (rate.tx_time(bytes, rounding).0, 0);
        }
        let (product, rate) = (u128::from(bytes) * 8_000_000_000, u128::from(rate.0));
        let parts = product % rate * u128::from(self.denominator) / rate;
        (u64::try_from(product / rate).unwrap_or(u64::MAX), parts as u32)
    }

    /// Parts of a nanosecond.
    pub fn denominator(&self) -> u32 {
        self.denominator
    }

    /// A frame takes so long which begins when the last one ended, if it `follows` at once. Returns the whole nanoseconds until
    /// its end.
    #[inline]
    pub fn pass(&mut self, follows: bool, (nanos, parts): (u64, u32)) -> u64 {
        let late = if follows { self.late } else { 0 };
        let carries = parts > late;
        self.late = if carries { self.denominator - (parts - late) } else { late - parts };
        nanos.saturating_add(carries.into())
    }

    /// When a frame begins that follows at once, at `now`.
    #[inline]
    pub fn begins(&self, now: Nanos) -> ExactNanos {
        if self.late == 0 {
            return now.into();
        }
        // At most a part of 2^-32 too early, never too late.
        let late = f64::from(self.late) / f64::from(self.denominator) * 4_294_967_296.0;
        ExactNanos { nanos: now, late: (late as u32).saturating_add(1) }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Picoseconds in a nanosecond.
pub(crate) const PICOS: u64 = 1_000;

impl ExactNanos {
    /// So much later.
    #[inline]
    pub fn after(self, span: ExactSpan) -> ExactNanos {
        let carry = u64::from(span.parts > self.late);
        let nanos = self.nanos.0.saturating_add(span.nanos).saturating_add(carry);
        ExactNanos { nanos: Nanos(nanos), late: self.late.wrapping_sub(span.parts) }
    }

    /// So much earlier, at most as far as 0.
    #[inline]
    pub fn before(self, span: ExactSpan) -> ExactNanos {
        let (late, carry) = self.late.overflowing_add(span.parts);
        let nanos = self.nanos.0.checked_sub(span.nanos.saturating_add(carry.into()));
        nanos.map_or(ExactNanos::default(), |nanos| ExactNanos { nanos: Nanos(nanos), late })
    }

    /// So many whole nanoseconds later.
    #[must_use]
    pub fn shifted(self, nanos: Nanos) -> ExactNanos {
        ExactNanos { nanos: self.nanos + nanos, ..self }
    }

    /// Whether it is less than a nanosecond behind another point, or in the same whole one.
    #[inline]
    pub fn is_within_a_nanosecond_of(self, earlier: ExactNanos) -> bool {
        match self.nanos.saturating_sub(earlier.nanos) {
            Nanos(0) => true,
            Nanos(1) => self.late > earlier.late,
            _ => false,
        }
    }
}

impl From<Nanos> for ExactNanos {
    fn from(nanos: Nanos) -> Self {
        ExactNanos { nanos, late: 0 }
    }
}

impl Nanos {
    /// One microsecond.
    pub const MICROSECOND: Nanos = Nanos(1_000);
    /// One millisecond.
    pub const MILLISECOND: Nanos = Nanos(1_000_000);
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);
    /// The longest time that a user can give: 10^7 s, or 115 days. ns-3 keeps times in 63 bits, and sums of times and their
    /// small multiples, such as a timeout that was doubled, must fit as well.
    pub const LONGEST: Nanos = Nanos(10_000_000_000_000_000);

    /// Converts seconds to nanoseconds.
    ///
    /// Negative and not-a-number inputs give 0; values beyond 2^64 ns saturate.
    #[inline]
    pub fn from_seconds(seconds: f64, rounding: Rounding) -> Nanos {
        match rounding {
            Rounding::Nearest | Rounding::Exact => Nanos((seconds * 1e9 + 0.5) as u64),
            Rounding::Floored => Nanos::from_seconds_floored(seconds),
        }
    }

    /// As the 2019 simulator does: the fraction is truncated to 64 binary digits, the product with 10^9 is floored.
    #[inline]
    fn from_seconds_floored(seconds: f64) -> Nanos {
        const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;
        let whole = seconds as u64;
        let fraction = ((seconds - whole as f64) * TWO_POW_64) as u64;
        let fixed = (u128::from(whole) << 64) | u128::from(fraction);
        let nanos = u128::from(whole) * 1_000_000_000 + (((fixed & u128::from(u64::MAX)) * 1_000_000_000) >> 64);
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The difference to an earlier time, 0 if `earlier` is in fact later.
    #[inline]
    pub fn saturating_sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, other: Nanos) -> Nanos {
        self.saturating_sub(other)
    }
}

impl BitRate {
    /// No rate is this large: 2^64 bit/s.
    pub const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    /// The highest rate that a user can give.
    pub const HIGHEST: BitRate = BitRate(i64::MAX as u64);

    /// Gigabits per second (10^9 bit/s).
    pub const fn gbps(gigabits: u64) -> BitRate {
        BitRate(gigabits * 1_000_000_000)
    }

    /// Megabits per second (10^6 bit/s).
    pub const fn mbps(megabits: u64) -> BitRate {
        BitRate(megabits * 1_000_000)
    }

    /// The time that `bytes` occupy a link of this rate. A rate of 0 gives the longest duration.
    #[inline]
    pub fn tx_time(self, bytes: u32, rounding: Rounding) -> Nanos {
        match rounding {
            Rounding::Nearest => self.tx_time_nearest(bytes),
            Rounding::Floored => Nanos::from_seconds_floored(f64::from(bytes) * 8.0 / self.0 as f64),
            Rounding::Exact => {
                let ExactSpan { nanos, parts } = self.exact_tx_time(bytes);
                Nanos(nanos.saturating_add(u64::from(parts > 0)))
            }
        }
    }

    /// The same time, which adds up without a loss. A rate of 0 gives the longest.
    #[inline]
    pub fn exact_tx_time(self, bytes: u32) -> ExactSpan {
        if self.0 == 0 {
            return ExactSpan { nanos: u64::MAX, parts: 0 };
        }
        let (nanos, left) = match u64::from(bytes).checked_mul(8_000_000_000) {
            Some(product) => (product / self.0, product % self.0),
            None => {
                let (product, rate) = (u128::from(bytes) * 8_000_000_000, u128::from(self.0));
                (u64::try_from(product / rate).unwrap_or(u64::MAX), (product % rate) as u64)
            }
        };
        // A division of 128 bits would take several times as long. This one errs by less than a part.
        ExactSpan { nanos, parts: (left as f64 / self.0 as f64 * 4_294_967_296.0) as u32 }
    }

    /// What becomes of the time of so many bytes by this rounding: whole nanoseconds, unless it is exact.
    #[inline]
    pub fn tx_span(self, bytes: u32, rounding: Rounding) -> ExactSpan {
        match rounding {
            Rounding::Exact => self.exact_tx_time(bytes),
            Rounding::Nearest | Rounding::Floored => ExactSpan { nanos: self.tx_time(bytes, rounding).0, parts: 0 },
        }
    }

    /// The time in picoseconds, to the nearest.
    pub fn tx_picos(self, bytes: u32) -> u64 {
        let picos = u128::from(bytes) * 8_000_000_000_000 + u128::from(self.0 / 2);
        picos.checked_div(self.0.into()).and_then(|picos| u64::try_from(picos).ok()).unwrap_or(u64::MAX)
    }

    #[inline]
    fn tx_time_nearest(self, bytes: u32) -> Nanos {
        if self.0 == 0 {
            return Nanos(u64::MAX);
        }
        // Dividing 128-bit numbers is slow, and what a frame needs fits 64 bits.
        match u64::from(bytes).checked_mul(8_000_000_000).and_then(|product| product.checked_add(self.0 / 2)) {
            Some(product) => Nanos(product / self.0),
            None => {
                let nanos = (u128::from(bytes) * 8_000_000_000 + u128::from(self.0 / 2)) / u128::from(self.0);
                Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// The time that so many bytes take, rounded down.
    pub fn time_for(self, bytes: u64) -> Nanos {
        let nanos = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(self.0.max(1));
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Whole bytes that a link of this rate sends in a time; at most 2^64 - 1.
    pub fn bytes_in(self, time: Nanos) -> u64 {
        u64::try_from(u128::from(self.0) * u128::from(time.0) / 8_000_000_000).unwrap_or(u64::MAX)
    }

    /// Bits per second from a floating-point result, as x86-64 compilers convert it: truncated, while
    /// infinities, not-a-number and anything from 2^64 on become 2^63.
    ///
    /// HPCC divides by a utilisation that may be 0 or not a number; the cap at the line rate then turns this value
    /// into the line rate.
    #[inline]
    pub fn from_f64(bits_per_second: f64) -> BitRate {
        if (0.0..BitRate::LIMIT).contains(&bits_per_second) {
            return BitRate(bits_per_second as u64);
        }
        BitRate(1 << 63)
    }

    /// The sum, capped at the largest representable rate.
    #[inline]
    pub fn saturating_add(self, other: BitRate) -> BitRate {
        BitRate(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1_000_000_000 => write!(f, "{:.6} s", n as f64 / 1e9),
            n if n >= 1_000_000 => write!(f, "{:.3} ms", n as f64 / 1e6),
            n if n >= 1_000 => write!(f, "{:.3} us", n as f64 / 1e3),
            n => write!(f, "{n} ns"),
        }
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            r if r >= 1_000_000_000 && r % 1_000_000_000 == 0 => write!(f, "{}Gbps", r / 1_000_000_000),
            r if r >= 1_000_000 && r % 1_000_000 == 0 => write!(f, "{}Mbps", r / 1_000_000),
            r => write!(f, "{r}bps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 2019 simulator's own table of conversions: `tx RATE BYTES SECONDS NANOSECONDS`.
    const TIMING_TABLE: &str = include_str!("../testdata/timing_table.txt");

    #[test]
    fn tx_time_matches_every_line_that_the_reference_printed() {
        let mut checked = 0;
        for line in TIMING_TABLE.lines() {
            let mut words = line.split_whitespace();
            if words.next() != Some("tx") {
                continue;
            }
            let fields: [&str; 4] = core::array::from_fn(|_| words.next().expect("four fields"));
            let rate = BitRate(fields[0].parse().expect("rate"));
            let bytes = fields[1].parse().expect("bytes");
            let nanos = fields[3].parse().expect("nanoseconds");
            assert_eq!(rate.tx_time(bytes, Rounding::Floored), Nanos(nanos), "{line}");
            checked += 1;
        }
        assert!(checked > 50, "only {checked} lines checked");
    }

    /// 80 ns exactly; 87.2 down, 348.8 up; 0.5 up.
    #[test]
    fn the_nearest_nanosecond_is_the_right_one() {
        let near = |rate: BitRate, bytes| rate.tx_time(bytes, Rounding::Nearest).0;
        assert_eq!(near(BitRate::gbps(100), 1000), 80);
        assert_eq!(BitRate::gbps(100).tx_time(1000, Rounding::Floored), Nanos(79));
        assert_eq!(near(BitRate::gbps(100), 1090), 87);
        assert_eq!(near(BitRate::gbps(25), 1090), 349);
        assert_eq!(near(BitRate::gbps(16), 1), 1);
        assert_eq!(near(BitRate(1), u32::MAX), u64::MAX);
        assert_eq!(Nanos::from_seconds(2.001, Rounding::Nearest), Nanos(2_001_000_000));
        assert_eq!(Nanos::from_seconds(2.000_002, Rounding::Nearest), Nanos(2_000_002_000));
    }

    /// 1,048 bytes at 800 Gb/s are 10.48 ns.
    #[test]
    fn exact_times_add_up() {
        let span = BitRate::gbps(800).exact_tx_time(1048);
        assert_eq!((span.nanos, f64::from(span.parts)), (10, (0.48 * 4_294_967_296.0_f64).floor()));
        let mut end = ExactNanos::from(Nanos(7));
        let mut told = [0; 5];
        for nanos in &mut told {
            end = end.after(span);
            *nanos = end.nanos.0;
        }
        assert_eq!(told, [18, 28, 39, 49, 60], "7 + 10.48 n, rounded up");
        end = (5..100).fold(end, |end, _| end.after(span));
        assert_eq!(end.nanos, Nanos(7 + 1_048));
        assert_eq!(end.after(span).before(span), end);
        assert_eq!(end.before(ExactSpan { nanos: u64::MAX, parts: 1 }), ExactNanos::default());
        assert_eq!(end.after(ExactSpan { nanos: u64::MAX, parts: 0 }).nanos, Nanos(u64::MAX));
        assert_eq!(BitRate::gbps(800).tx_time(1048, Rounding::Exact), Nanos(11));
        assert_eq!((BitRate(1).tx_picos(u32::MAX), BitRate(0).tx_picos(1)), (u64::MAX, u64::MAX));
        assert_eq!(BitRate(0).exact_tx_time(1).nanos, u64::MAX);
        assert_eq!(BitRate(4).exact_tx_time(u32::MAX).nanos, 2_000_000_000 * u64::from(u32::MAX));
        assert_eq!(BitRate::gbps(100).tx_picos(4_000_000), 320_000_000);
    }

    /// Frames one behind the other end when the formula says so, at any rate and size.
    #[test]
    fn long_runs_keep_to_the_formula() {
        for rate in (1..=800).map(BitRate::gbps).chain([123_456_789, 799_999_000_000, 7].map(BitRate)) {
            for bytes in [64, 84, 338, 1_048, 1_500, 9_000] {
                let (mut clock, mut nanos) = (LinkClock::new(rate, Rounding::Exact, u32::MAX), 0);
                let (time, span) = (clock.time(rate, bytes, Rounding::Exact), rate.exact_tx_time(bytes));
                let (mut pace, count) = (ExactNanos::default(), 5_000_u32);
                for n in 0..count {
                    pace = pace.after(span);
                    nanos += clock.pass(n > 0, time);
                }
                let formula =
                    u64::try_from((u128::from(count) * u128::from(bytes) * 8_000_000_000).div_ceil(rate.0.into()));
                assert_eq!((Ok(nanos), pace.nanos), (formula, Nanos(nanos)), "{count} times {bytes} bytes at {rate}");
            }
        }
    }
}
