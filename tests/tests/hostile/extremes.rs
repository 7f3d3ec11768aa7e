// SPDX-License-Identifier: GPL-2.0-only
//! The values at and beyond the ends of what can be given.

use hpcc_core::settings::Kind;

/// Whole numbers around the limits of types.
const WHOLE: &[&str] = &[
    "0",
    "1",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "1.5",
];

/// Numbers around the limits of binary floating point.
const REAL: &[&str] = &["0", "1", "-1", "-0.0", "nan", "inf", "-inf", "1e308", "1e-308", "5e-324", "1e19"];

/// Whole numbers.
pub fn whole() -> Vec<String> {
    WHOLE.iter().map(ToString::to_string).collect()
}

/// Numbers.
pub fn real() -> Vec<String> {
    REAL.iter().map(ToString::to_string).collect()
}

/// Quantities of this unit.
pub fn quantity(unit: &str) -> Vec<String> {
    WHOLE.iter().chain(&["99999999999999999999999999999999999999999"]).map(|number| format!("{number}{unit}")).collect()
}

/// Values of this kind of setting, with the ends of its range and what is next to them.
pub fn of(kind: &Kind) -> Vec<String> {
    let ends = |least: u64, most: u64, unit: &str| {
        let least = u128::from(least);
        let ends = [least, least.saturating_sub(1), u128::from(most), u128::from(most) + 1];
        quantity(unit).into_iter().chain(ends.map(|end| format!("{end}{unit}"))).collect()
    };
    match kind {
        Kind::Switch => ["true", "false", "2", "nan", "maybe"].map(String::from).into(),
        Kind::Count { least, most } => ends(*least, *most, ""),
        Kind::Bytes { least, most } => ends(*least, *most, "B"),
        Kind::Time { least, most } => ends(*least, *most, "ns"),
        Kind::Rate { least, most } => ends(*least, *most, "bps"),
        Kind::Real { least, most } => {
            real().into_iter().chain([least.to_string(), most.to_string(), (most * 1.01).to_string()]).collect()
        }
        Kind::Choice(words) => words.iter().cloned().chain([String::new(), "x".into()]).collect(),
        Kind::Text => {
            ["", "x", "-1", "18446744073709551616"].map(String::from).into_iter().chain(["9".repeat(9999)]).collect()
        }
    }
}
