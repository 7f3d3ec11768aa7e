// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities with units, parsed exactly: `"1.5us"` is 1500 ns and never 1499.
//!
//! The mantissa is a decimal number and the unit a power of ten or two, so integer arithmetic suffices.
//! A value that is not a whole number of the base unit (`"0.3ns"`) is an error, not a rounding.

use crate::units::{BitRate, Nanos};
use alloc::format;
use alloc::string::String;

/// No size and no rate is larger: TOML and ns-3 have signed numbers of 64 bits. Times end at [`Nanos::LONGEST`].
pub const LARGEST: u64 = i64::MAX as u64;

/// Units of time, in ns.
pub const TIMES: &[(&str, u64)] = &[("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Units of sizes, in bytes.
pub const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Units of rates, in bits per second.
pub const RATES: &[(&str, u64)] = &[
    ("bps", 1),
    ("b/s", 1),
    ("kbps", 1_000),
    ("kb/s", 1_000),
    ("Kbps", 1_000),
    ("Kb/s", 1_000),
    ("Mbps", 1_000_000),
    ("Mb/s", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("Tb/s", 1_000_000_000_000),
];

/// A data rate such as `100Gbps`, `50Mb/s` or `1.5 Gbps`; 0 is the same in every unit and needs none. The error is a sentence for the user.
pub fn rate(text: &str) -> Result<BitRate, String> {
    scaled(text, RATES, LARGEST, "a rate such as \"100Gbps\" or \"50Mbps\"").map(BitRate)
}

/// A time such as `1us`, `500ns` or `2s`; 0 is the same in every unit and needs none. The error is a sentence for the user.
pub fn time(text: &str) -> Result<Nanos, String> {
    scaled(text, TIMES, Nanos::LONGEST.0, "a time such as \"1us\", \"500ns\" or \"12ms\"").map(Nanos)
}

/// A size in bytes such as `500KB` (10^3) or `32MiB` (2^20); without a unit, bytes. The error is a
/// sentence for the user.
pub fn size(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "a size such as \"500KB\", \"32MiB\" or a whole number of bytes";
    let trimmed = text.trim();
    if !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit()) {
        let bytes = trimmed.parse().ok().filter(|&bytes| bytes <= LARGEST);
        return bytes.ok_or_else(|| format!("\"{text}\" {}; expected {EXPECTED}", too_much(LARGEST, SIZES)));
    }
    scaled(text, SIZES, LARGEST, EXPECTED)
}

fn too_much(most: u64, units: &[(&str, u64)]) -> String {
    format!("is more than {most}{}, the most that can be given", units[0].0)
}

fn scaled(text: &str, units: &[(&str, u64)], most: u64, expected: &str) -> Result<u64, String> {
    let refuse = |why: &str| format!("\"{text}\" {why}; expected {expected}");
    let trimmed = text.trim();
    let (number, unit) = split(trimmed);
    let (power, unit) = exponent(unit);
    let unit = unit.trim_start();
    if number.is_empty() {
        return Err(refuse(if trimmed.starts_with('-') { "is negative" } else { "is not a number with a unit" }));
    }
    if unit.is_empty() {
        return if number == "0" && power == 0 { Ok(0) } else { Err(refuse("has no unit")) };
    }
    let Some(factor) = factor(units, unit) else {
        return Err(refuse(&format!("has the unknown unit \"{unit}\"")));
    };
    let (mantissa, divisor) = decimal(number).ok_or_else(|| refuse("is not a decimal number with a unit"))?;
    let too_large = || refuse(&too_much(most, units));
    let scale = 10u128.checked_pow(power).ok_or_else(too_large)?;
    let product = mantissa.checked_mul(u128::from(factor)).and_then(|product| product.checked_mul(scale));
    let product = product.ok_or_else(too_large)?;
    if product % divisor != 0 {
        return Err(refuse(&format!("is not a whole number of {}", units[0].0)));
    }
    u64::try_from(product / divisor).ok().filter(|&number| number <= most).ok_or_else(too_large)
}

/// The digits and points that a text begins with, and what is behind them.
pub fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()))
}

/// The power of ten that the text behind a number begins with, and what is behind it: ns-3 writes a millisecond as `+1e+06ns`.
fn exponent(text: &str) -> (u32, &str) {
    let Some(digits) = text.strip_prefix(['e', 'E']) else { return (0, text) };
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (power, rest) = digits.split_at(end);
    power.parse().map_or((0, text), |power| (power, rest))
}

/// The factor of a unit.
pub fn factor(units: &[(&str, u64)], unit: &str) -> Option<u64> {
    units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

/// `12.50` as (1250, 100). `None` for anything but digits with at most one point among them.
fn decimal(number: &str) -> Option<(u128, u128)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let digits = u32::try_from(fraction.len()).ok()?;
    let divisor = 10u128.checked_pow(digits)?;
    let mantissa = whole.parse::<u128>().ok()?.checked_mul(divisor)?.checked_add(fraction.parse().ok()?)?;
    Some((mantissa, divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(time("1us"), Ok(Nanos(1_000)));
        assert_eq!(time("2.000001 s"), Ok(Nanos(2_000_001_000)));
        assert_eq!(time("0.1ms"), Ok(Nanos(100_000)));
        assert_eq!(time("1.23457e+06ns"), Ok(Nanos(1_234_570)));
        assert_eq!(time("1e3 us"), Ok(Nanos(1_000_000)));
        assert_eq!(rate("100Gbps"), Ok(BitRate::gbps(100)));
        assert_eq!(rate("50Mb/s"), Ok(BitRate::mbps(50)));
        assert_eq!(rate("0.3Gbps"), Ok(BitRate::mbps(300)));
        assert_eq!(size("500KB"), Ok(500_000));
        assert_eq!(size("32MiB"), Ok(32 << 20));
        assert_eq!(size("1.5KiB"), Ok(1536));
        assert_eq!(size("20500"), Ok(20_500));
        assert_eq!(time("10000000s"), Ok(Nanos::LONGEST));
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_is_expected() {
        for (result, words) in [
            (time("12"), "has no unit; expected a time"),
            (time("1e99s"), "is more than 10000000000000000ns"),
            (time("1e-3s"), "unknown unit"),
            (time("12 parsecs"), "unknown unit \"parsecs\""),
            (time("-1us"), "is negative"),
            (time("0.3ns"), "not a whole number of ns"),
            (time(""), "not a number"),
            (time("1.2.3us"), "not a decimal"),
            (time("99999999999999s"), "is more than 10000000000000000ns"),
            (time("10000000000000001ns"), "is more than 10000000000000000ns"),
            (rate("9223372036854775808bps").map(|_| Nanos(0)), "is more than 9223372036854775807bps"),
            (time("nan"), "not a number"),
            (time("1usx"), "unknown unit \"usx\""),
            (time("9".repeat(60).as_str()), "has no unit"),
            (time(&("9".repeat(60) + "s")), "not a decimal"),
        ] {
            let message = result.expect_err(words);
            assert!(message.contains(words), "{message} / {words}");
        }
        assert!(size("99999999999999999999").expect_err("large").contains("more than 9223372036854775807B"));
        assert!(rate("fast").expect_err("word").contains("expected a rate such as"));
    }
}
