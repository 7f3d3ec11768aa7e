// SPDX-License-Identifier: GPL-2.0-only
//! What a setting accepts and when it counts, as sentences.

use hpcc_core::settings::quantity::LARGEST;
use hpcc_core::settings::{Condition, Kind, Setting, Value};
use hpcc_core::units::{BitRate, Nanos};

/// Help, range and condition in one line; words that are written in files stand between backticks.
pub fn meaning(setting: &Setting) -> String {
    let parts = [Some(setting.help.clone()), range(&setting.kind), setting.condition.map(condition)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The default as files have it, but for words, which stand between backticks.
pub fn default(setting: &Setting) -> String {
    let text = setting.default.pretty();
    match &setting.default {
        Value::Text(text) if text.is_empty() => "`\"\"`".into(),
        Value::Word(_) | Value::Text(_) | Value::Auto => format!("`{text}`"),
        Value::Switch(_) | Value::Count(_) | Value::Bytes(_) | Value::Time(_) | Value::Rate(_) | Value::Real(_) => text,
    }
}

/// Which values there are; `None` if all of the kind.
fn range(kind: &Kind) -> Option<String> {
    match *kind {
        Kind::Switch | Kind::Text => None,
        Kind::Choice(ref words) => Some(format!("One of {}.", alternatives(words.iter().map(String::as_str)))),
        Kind::Count { least, most } => span(least, most, u32::MAX.into(), Value::Count),
        Kind::Bytes { least, most } => span(least, most, LARGEST, Value::Bytes),
        Kind::Time { least, most } => span(least, most, Nanos::LONGEST.0, |time| Value::Time(Nanos(time))),
        Kind::Rate { least, most } => span(least, most, LARGEST, |rate| Value::Rate(BitRate(rate))),
        Kind::Real { least, most } => (most < f64::MAX).then(|| format!("From {least} to {most}.")),
    }
}

/// A range of whole numbers; from `limit` on there is no upper bound that anybody would meet.
fn span(least: u64, most: u64, limit: u64, value: fn(u64) -> Value) -> Option<String> {
    let pretty = |number| value(number).pretty();
    let quantity = value(1) != Value::Count(1);
    match (least, most >= limit) {
        (0, true) => None,
        (1, true) if quantity => Some("Above 0.".into()),
        (_, true) => Some(format!("At least {}.", pretty(least))),
        (0, false) if most == FOUR_GIB - 1 => Some(format!("Less than {}.", pretty(FOUR_GIB))),
        (_, false) if most == FOUR_GIB - 1 => {
            Some(format!("From {} to less than {}.", pretty(least), pretty(FOUR_GIB)))
        }
        (_, false) => Some(format!("From {} to {}.", pretty(least), pretty(most))),
    }
}

/// The least number that 32 bits do not hold.
const FOUR_GIB: u64 = 1 << 32;

fn condition(condition: Condition) -> String {
    let values = alternatives(condition.values.iter().copied());
    format!("Only with `{}` = {values}.", condition.key)
}

/// `a`, `b` or `c`.
fn alternatives<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: Kind) -> String {
        range(&kind).unwrap_or_default()
    }

    #[test]
    fn ranges_are_said_where_they_restrict() {
        assert_eq!(said(Kind::Count { least: 0, most: u64::MAX }), "");
        assert_eq!(said(Kind::Count { least: 1, most: u32::MAX.into() }), "At least 1.");
        assert_eq!(said(Kind::Count { least: 1, most: 15 }), "From 1 to 15.");
        assert_eq!(said(Kind::Time { least: 1, most: Nanos::LONGEST.0 }), "Above 0.");
        assert_eq!(said(Kind::Time { least: 0, most: Nanos::LONGEST.0 }), "");
        assert_eq!(said(Kind::Bytes { least: 1, most: u32::MAX.into() }), "From 1B to less than 4GiB.");
        assert_eq!(said(Kind::Bytes { least: 0, most: u32::MAX.into() }), "Less than 4GiB.");
        assert_eq!(said(Kind::Real { least: 0.01, most: 2.0 }), "From 0.01 to 2.");
        assert_eq!(said(Kind::Choice(vec!["a".into(), "b".into(), "c".into()])), "One of `a`, `b` or `c`.");
    }
}
