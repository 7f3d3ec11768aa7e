// SPDX-License-Identifier: GPL-2.0-only
//! What a setting accepts and when it counts, as sentences.

use hpcc_core::settings::quantity::LARGEST;
use hpcc_core::settings::{Condition, Kind, Setting, Value};
use hpcc_core::units::{BitRate, Nanos};

/// When a setting counts, as a sentence behind others; nothing if it always does.
pub fn condition_of(setting: &Setting, section: &[Setting]) -> String {
    setting.condition.map_or_else(String::new, |condition| format!(" {}", self::condition(condition, section)))
}

/// The default, and which other values there are.
pub fn value(setting: &Setting) -> String {
    let default = default(setting);
    if let Kind::Choice(ref words) = setting.kind {
        let others = words.iter().map(|word| format!("`{word}`")).filter(|word| *word != default);
        return [format!("**{default}**")].into_iter().chain(others).collect::<Vec<_>>().join(" ");
    }
    let or = (setting.kind == Kind::Switch && setting.auto).then(|| "true or false".into());
    range(setting).or(or).map_or_else(|| default.clone(), |range| format!("{default}, {range}"))
}

/// The values that a setting can have, where they are words or its numbers are bounded.
pub fn range(setting: &Setting) -> Option<String> {
    match setting.kind {
        Kind::Switch | Kind::Text => None,
        Kind::Choice(ref words) => Some(words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")),
        Kind::Count { least, most } => span(least, most, u32::MAX.into(), Value::Count),
        Kind::Bytes { least, most } => span(least, most, LARGEST, Value::Bytes),
        Kind::Time { least, most } => span(least, most, Nanos::LONGEST.0, |time| Value::Time(Nanos(time))),
        Kind::Rate { least, most } => span(least, most, LARGEST, |rate| Value::Rate(BitRate(rate))),
        Kind::Real { least, most } => (most < f64::MAX).then(|| format!("{least} to {most}")),
    }
}

/// The default as files have it; words stand between backticks.
fn default(setting: &Setting) -> String {
    let text = setting.default.pretty();
    match &setting.default {
        Value::Text(text) if text.is_empty() => "`\"\"`".into(),
        Value::Word(_) | Value::Text(_) | Value::Auto => format!("`{text}`"),
        Value::Switch(_) | Value::Count(_) | Value::Bytes(_) | Value::Time(_) | Value::Rate(_) | Value::Real(_) => text,
    }
}

/// A range of whole numbers; from `limit` on there is no upper bound that anybody would meet.
fn span(least: u64, most: u64, limit: u64, value: fn(u64) -> Value) -> Option<String> {
    let pretty = |number| value(number).pretty();
    let quantity = value(1) != Value::Count(1);
    let end = if most == FOUR_GIB - 1 { format!("below {}", pretty(FOUR_GIB)) } else { pretty(most) };
    match (least, most >= limit) {
        (0, true) => None,
        (1, true) if quantity => Some("above 0".into()),
        (_, true) => Some(format!("from {}", pretty(least))),
        (0, false) if most == FOUR_GIB - 1 => Some(end),
        (_, false) => Some(format!("{} to {end}", pretty(least))),
    }
}

/// The least number that 32 bits do not hold.
const FOUR_GIB: u64 = 1 << 32;

/// The values of the other setting with which one counts, or those with which it does not, if they are fewer.
fn condition(Condition { key, values }: Condition, section: &[Setting]) -> String {
    let all: Vec<String> = match section.iter().find(|setting| setting.key == key).map(|setting| &setting.kind) {
        Some(Kind::Choice(words)) => words.clone(),
        Some(&Kind::Count { least, most }) => (least..=most).map(|number| number.to_string()).collect(),
        _ => Vec::new(),
    };
    let others: Vec<&str> = all.iter().map(String::as_str).filter(|value| !values.contains(value)).collect();
    let fewer = !others.is_empty() && others.len() < values.len();
    let (with, values) = if fewer { ("Not", others.as_slice()) } else { ("Only", values) };
    format!("{with} with `{key}` = {}.", alternatives(values))
}

/// `a`, `b` or `c`.
fn alternatives(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: Kind, default: Value) -> String {
        let auto = default == Value::Auto;
        value(&Setting {
            key: "key",
            kind,
            auto,
            default,
            condition: None,
            of_network: false,
            assumed: None,
            help: String::new(),
        })
    }

    #[test]
    fn ranges_are_said_where_they_restrict() {
        assert_eq!(said(Kind::Count { least: 0, most: u64::MAX }, Value::Count(3)), "3");
        assert_eq!(said(Kind::Count { least: 1, most: u32::MAX.into() }, Value::Count(3)), "3, from 1");
        assert_eq!(said(Kind::Count { least: 1, most: 15 }, Value::Auto), "`auto`, 1 to 15");
        assert_eq!(said(Kind::Time { least: 1, most: Nanos::LONGEST.0 }, Value::Time(Nanos(5))), "5ns, above 0");
        assert_eq!(said(Kind::Time { least: 0, most: Nanos::LONGEST.0 }, Value::Time(Nanos(5))), "5ns");
        assert_eq!(said(Kind::Bytes { least: 1, most: u32::MAX.into() }, Value::Bytes(5)), "5B, 1B to below 4GiB");
        assert_eq!(said(Kind::Bytes { least: 0, most: u32::MAX.into() }, Value::Bytes(5)), "5B, below 4GiB");
        assert_eq!(said(Kind::Real { least: 0.01, most: 2.0 }, Value::Real(0.5)), "0.5, 0.01 to 2");
        let words = || Kind::Choice(vec!["a".into(), "b".into()]);
        assert_eq!(said(words(), Value::Word("b".into())), "**`b`** `a`");
        assert_eq!(said(words(), Value::Auto), "**`auto`** `a` `b`");
        assert_eq!(said(Kind::Switch, Value::Auto), "`auto`, true or false");
    }

    #[test]
    fn a_condition_is_told_by_the_fewer_values() {
        let words = Kind::Choice(["a", "b", "c"].map(String::from).into());
        let (default, help) = (Value::Word("a".into()), String::new());
        let section = [Setting {
            key: "mode",
            kind: words,
            auto: false,
            default,
            condition: None,
            of_network: false,
            assumed: None,
            help,
        }];
        let told = |values| condition(Condition { key: "mode", values }, &section);
        assert_eq!(told(&["a"]), "Only with `mode` = `a`.");
        assert_eq!(told(&["a", "c"]), "Not with `mode` = `b`.");
    }
}
