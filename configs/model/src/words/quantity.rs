// SPDX-License-Identifier: GPL-2.0-only
//! Rates and delays in the words of the 2019 simulator. It reads them through binary floating point and rounds down, so
//! that 0.000025ms are 24 ns; where its faults are not repeated, the decimal number counts, to the nearest nanosecond
//! or bit.

use hpcc_core::settings::quantity;
use hpcc_core::units::{BitRate, Nanos, Rounding};

const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;
/// Units of time below a nanosecond, and how many are one.
const PARTS_OF_NANOS: &[(&str, u64)] = &[("ps", 1_000), ("fs", 1_000_000)];

/// A rate: a number with a bit or byte unit, or bits per second without one.
pub fn rate(text: &str, rounding: Rounding) -> Option<BitRate> {
    let (number, unit) = split(text)?;
    let per_second = ["bps", "b/s", "Bps", "B/s"].iter().find_map(|tail| Some((unit.strip_suffix(tail)?, *tail)));
    let factor = match (unit, per_second) {
        ("", _) => 1.0,
        (_, Some((prefix, tail))) => scale(prefix)? * if tail.starts_with('B') { 8.0 } else { 1.0 },
        _ => return None,
    };
    if let Some(bits) = decimal(text, unit, factor as u64, 1).filter(|_| rounding != Rounding::Floored) {
        return Some(BitRate(bits));
    }
    let bits = number * factor;
    (bits < TWO_POW_64).then_some(BitRate(bits as u64))
}

fn scale(prefix: &str) -> Option<f64> {
    match prefix {
        "" => Some(1.0),
        "k" | "K" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        "Ki" => Some(1024.0),
        "Mi" => Some(1_048_576.0),
        "Gi" => Some(1_073_741_824.0),
        _ => None,
    }
}

/// A delay: a number with a unit, or seconds without one.
pub fn delay(text: &str, rounding: Rounding) -> Option<Nanos> {
    let (number, unit) = split(text)?;
    if number >= TWO_POW_64 {
        return None;
    }
    // Everything is floored, as in Nanos::from_seconds: a part of a nanosecond is gone.
    let parts = PARTS_OF_NANOS.iter().find(|(name, _)| *name == unit).map(|&(_, units)| units);
    let nanos_per_unit = match parts {
        Some(_) => 1,
        None => quantity::factor(quantity::TIMES, if unit.is_empty() { "s" } else { unit })?,
    };
    let exact = || decimal(text, unit, nanos_per_unit, parts.unwrap_or(1));
    if let Some(nanos) = Some(rounding).filter(|&rounding| rounding != Rounding::Floored).and_then(|_| exact()) {
        return Some(Nanos(nanos));
    }
    if let Some(units) = parts {
        return Some(Nanos(number as u64 / units));
    }
    // The product is taken in 64.64 fixed point.
    let fraction = (number.fract() * TWO_POW_64) as u64;
    let whole = u128::from(number as u64).checked_mul(u128::from(nanos_per_unit))?;
    let part = (u128::from(fraction) * u128::from(nanos_per_unit)) >> 64;
    u64::try_from(whole + part).ok().map(Nanos)
}

/// The number before `unit`, times `factor` and divided by `divisor`, to the nearest whole one; `None` if it has too many digits.
fn decimal(text: &str, unit: &str, factor: u64, divisor: u64) -> Option<u64> {
    let number = text.strip_suffix(unit)?;
    let (digits, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let mantissa: u128 = format!("0{whole}{fraction}").parse().ok()?;
    let power = power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let scale = 10_u128.checked_pow(power.unsigned_abs())?;
    let (above, below) = if power < 0 { (1, scale) } else { (scale, 1) };
    let product = mantissa.checked_mul(factor.into())?.checked_mul(above)?;
    let divisor = below.checked_mul(divisor.into())?;
    u64::try_from(product.checked_add(divisor / 2)? / divisor).ok()
}

/// A number of at least 0 and the unit behind it.
fn split(text: &str) -> Option<(f64, &str)> {
    let mut end = quantity::split(text).0.len();
    let rest = &text.as_bytes()[end..];
    // An exponent (1e9) belongs to the number, but only if digits follow.
    if matches!(rest.first(), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let digits = rest[1 + signed..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 {
            end += 1 + signed + digits;
        }
    }
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_match_those_that_the_reference_was_seen_to_read() {
        for (text, nanos) in [
            ("1000ns", 1000),
            ("0.001ms", 1000),
            ("1us", 1000),
            ("0.5us", 500),
            ("1.5us", 1500),
            ("2", 2_000_000_000),
            ("1500ps", 1),
            ("999ps", 0),
            ("2000000fs", 2),
            ("1999999.9fs", 1),
        ] {
            assert_eq!(delay(text, Rounding::Floored), Some(Nanos(nanos)), "{text}");
        }
    }

    /// Each number of nanoseconds in each unit; halves are rounded up.
    #[test]
    fn delays_are_the_decimal_number_where_nothing_rounds_down() {
        let read = |text: &str| delay(text, Rounding::Nearest).map(|nanos| nanos.0);
        for nanos in (0..3_000).chain([999_999, 123_456_789, 9_999_999_999_999_999]) {
            for (unit, digits) in [("us", 3), ("ms", 6), ("s", 9), ("", 9)] {
                let one = 10_u64.pow(digits);
                let text = format!("{}.{:0width$}{unit}", nanos / one, nanos % one, width = digits as usize);
                assert_eq!(read(&text), Some(nanos), "{text}");
            }
            assert_eq!((read(&format!("{nanos}ns")), read(&format!("{nanos}000ps"))), (Some(nanos), Some(nanos)));
        }
        assert_eq!(
            ["0.0000254ms", "0.0000255ms", "1499ps", "2.5e-8", "25e-9s"].map(read),
            [25, 26, 1, 25, 25].map(Some)
        );
        assert_eq!(delay("0.000025ms", Rounding::Floored), Some(Nanos(24)), "as the 2019 simulator");
        assert_eq!(rate("4.35Gbps", Rounding::Nearest), Some(BitRate(4_350_000_000)));
    }

    #[test]
    fn rates_take_bit_and_byte_units() {
        for (text, bits) in [
            ("100Gbps", 100_000_000_000),
            ("50Mb/s", 50_000_000),
            ("0Mb/s", 0),
            ("1GB/s", 8_000_000_000),
            ("1KiB/s", 8192),
            ("25000000000", 25_000_000_000),
            ("1e9", 1_000_000_000),
        ] {
            assert_eq!(rate(text, Rounding::Floored), Some(BitRate(bits)), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["", "x", "1.2.3us", "-1us", "5usx", "nan", "inf", "1e400s", "99999999999999999999s", "1us1"] {
            assert_eq!(delay(text, Rounding::Floored), None, "{text}");
        }
        for text in ["", "fast", "100Gbpsx", "-1Gbps", "1e30Gbps", "10 Gbps", "10Xbps"] {
            assert_eq!(rate(text, Rounding::Floored), None, "{text}");
        }
    }
}
