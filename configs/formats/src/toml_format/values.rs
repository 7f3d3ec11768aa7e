// SPDX-License-Identifier: GPL-2.0-only
//! Values with a unit or a range. Checking them while TOML is decoded gives errors their line.

use hpcc_core::settings::{Value, quantity};
use hpcc_core::units::{BitRate, Nanos};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A type that is written as a string with a unit, or as an integer: a size, or 0, which is the same in every unit.
trait Quantity: Sized {
    const EXPECTED: &'static str;
    fn parse(text: &str) -> Result<Self, String>;
    fn from_integer(_: i64) -> Option<Result<Self, String>> {
        None
    }
}

/// A data rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate(pub BitRate);

/// A time or duration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time(pub Nanos);

/// As files have it: what a key is without being given stands so in the schema.
impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Value::Time(self.0).pretty())
    }
}

/// Bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size(pub u64);

impl Quantity for Rate {
    const EXPECTED: &'static str = "a rate such as \"100Gbps\" or \"50Mbps\"";
    fn parse(text: &str) -> Result<Self, String> {
        quantity::rate(text).map(Rate)
    }
}

impl Quantity for Time {
    const EXPECTED: &'static str = "a time such as \"1us\", \"500ns\" or \"12ms\"";
    fn parse(text: &str) -> Result<Self, String> {
        quantity::time(text).map(Time)
    }
}

impl Quantity for Size {
    const EXPECTED: &'static str = "a size such as \"500KB\", \"32MiB\" or a whole number of bytes";
    fn parse(text: &str) -> Result<Self, String> {
        quantity::size(text).map(Size)
    }
    fn from_integer(bytes: i64) -> Option<Result<Self, String>> {
        let negative = |_| format!("{bytes} is negative; expected {}", Self::EXPECTED);
        Some(u64::try_from(bytes).map(Size).map_err(negative))
    }
}

/// The bytes of a flow, at least 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload(pub u64);

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Size::deserialize(deserializer)?.0 {
            0 => Err(D::Error::custom("the size is 0; expected at least 1 byte")),
            bytes => Ok(Payload(bytes)),
        }
    }
}

struct QuantityVisitor<Q>(PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Q::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Q, E> {
        Q::parse(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Q, E> {
        let without_unit = || match value {
            0 => Q::parse("0"),
            _ => Err(format!("{value} has no unit; expected {}", Q::EXPECTED)),
        };
        Q::from_integer(value).unwrap_or_else(without_unit).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor(PhantomData))
    }
}

/// Hosts: a list of numbers, one, or a text with numbers and ranges.
#[derive(Clone, Debug)]
pub(super) enum HostNames {
    /// Their numbers.
    List(Vec<u32>),
    /// What [`NodeSet`](hpcc_core::topology::NodeSet) reads.
    Text(String),
}

struct HostVisitor;

impl<'de> Visitor<'de> for HostVisitor {
    type Value = HostNames;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hosts such as [0, 1], \"0-3\" or 5")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HostNames, E> {
        Ok(HostNames::Text(text.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<HostNames, E> {
        let refuse = || E::invalid_value(Unexpected::Signed(number), &self);
        u32::try_from(number).map(|host| HostNames::List(vec![host])).map_err(|_| refuse())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<HostNames, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(HostNames::List)
    }
}

impl<'de> Deserialize<'de> for HostNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HostVisitor)
    }
}

/// A time above 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval(pub Nanos);

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Time::deserialize(deserializer)?.0 {
            Nanos(0) => Err(D::Error::custom("the time is 0; expected more than 0")),
            time => Ok(Interval(time)),
        }
    }
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Probability(pub f64);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&value) {
            return Ok(Probability(value + 0.0));
        }
        Err(D::Error::custom(format!("the probability is {value}; expected 0 to 1")))
    }
}

/// A number above 0, up to `TWICE` halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction<const TWICE: u32>(pub f64);

impl<'de, const TWICE: u32> Deserialize<'de> for Fraction<TWICE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        let max = f64::from(TWICE) / 2.0;
        if value > 0.0 && value <= max {
            return Ok(Fraction(value));
        }
        Err(D::Error::custom(format!("the value is {value}; expected more than 0 and at most {max}")))
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded<const MIN: u32, const MAX: u32>(pub u32);

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = i64::deserialize(deserializer)?;
        match u32::try_from(value) {
            Ok(value) if (MIN..=MAX).contains(&value) => Ok(Bounded(value)),
            _ => Err(D::Error::custom(format!("the value is {value}; expected a whole number from {MIN} to {MAX}"))),
        }
    }
}
