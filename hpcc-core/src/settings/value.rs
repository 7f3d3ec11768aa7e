// SPDX-License-Identifier: MIT OR Apache-2.0
//! The value of a setting, as it leaves a structure.

use super::Kind;
use super::quantity::LARGEST;
use crate::units::{BitRate, Nanos};
use alloc::string::{String, ToString};
use alloc::{format, vec::Vec};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Count`].
    Count(u64),
    /// Of [`Kind::Bytes`].
    Bytes(u64),
    /// Of [`Kind::Time`].
    Time(Nanos),
    /// Of [`Kind::Rate`].
    Rate(BitRate),
    /// Of [`Kind::Real`].
    Real(f64),
    /// Of [`Kind::Choice`].
    Word(String),
    /// Of [`Kind::Text`].
    Text(String),
    /// Left to the simulator.
    Auto,
}

impl Value {
    /// The text that [`Input::parse`](super::Input::parse) reads back: exact, with a unit where the kind has one.
    pub fn text(&self) -> String {
        match self {
            Value::Switch(on) => on.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Bytes(bytes) => bytes.to_string(),
            Value::Time(time) => format!("{}ns", time.0),
            Value::Rate(rate) => format!("{}bps", rate.0),
            Value::Real(number) => number.to_string(),
            Value::Word(text) | Value::Text(text) => text.clone(),
            Value::Auto => AUTO.into(),
        }
    }

    /// The text for people: in the largest unit that leaves it whole.
    pub fn pretty(&self) -> String {
        match self {
            Value::Bytes(bytes) => {
                scaled(*bytes, &[("GiB", 1 << 30), ("MiB", 1 << 20), ("MB", 1_000_000), ("KB", 1_000)])
                    .unwrap_or_else(|| format!("{bytes}B"))
            }
            Value::Time(Nanos(nanos)) => scaled(*nanos, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)])
                .unwrap_or_else(|| format!("{nanos}ns")),
            Value::Rate(BitRate(rate)) => scaled(
                *rate,
                &[("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000)],
            )
            .unwrap_or_else(|| format!("{rate}bps")),
            Value::Text(text) if text.is_empty() => "none".into(),
            Value::Switch(_) | Value::Count(_) | Value::Real(_) | Value::Word(_) | Value::Text(_) | Value::Auto => {
                self.text()
            }
        }
    }
}

/// The value that leaves a setting to the simulator.
pub(super) const AUTO: &str = "auto";

/// `number` in the first unit that divides it.
fn scaled(number: u64, units: &[(&str, u64)]) -> Option<String> {
    let (unit, factor) = units.iter().find(|(_, factor)| number > 0 && number.is_multiple_of(*factor))?;
    Some(format!("{}{unit}", number / factor))
}

impl Kind {
    /// The accepted values, for an error.
    pub fn expected(&self) -> String {
        let span = |least: &Value, most: &Value| format!("{} to {}", least.pretty(), most.pretty());
        let open = |what: &str, least: u64, most: u64, value: fn(u64) -> Value| match (least, most) {
            (0, LARGEST..) => what.to_string(),
            (least, LARGEST..) => format!("{what} of at least {}", value(least).pretty()),
            (least, most) => format!("{what} from {}", span(&value(least), &value(most))),
        };
        match self {
            Kind::Switch => "true or false".into(),
            Kind::Count { least: 0, most: u64::MAX | 0xffff_ffff } => "a whole number".into(),
            Kind::Count { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Bytes { least, most } => {
                open("a size such as \"500KB\", \"32MiB\" or a whole number of bytes", *least, *most, Value::Bytes)
            }
            Kind::Time { least, most } => {
                open("a time such as \"1us\", \"500ns\" or \"12ms\"", *least, *most, |t| Value::Time(Nanos(t)))
            }
            Kind::Rate { least, most } => {
                open("a rate such as \"100Gbps\" or \"50Mbps\"", *least, *most, |r| Value::Rate(BitRate(r)))
            }
            Kind::Real { least, most } => format!("a number from {}", span(&Value::Real(*least), &Value::Real(*most))),
            Kind::Choice(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "),
            Kind::Text => "text".into(),
        }
    }
}
