// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types that settings can have.

use super::value::AUTO;
use super::{Input, Kind, Value, quantity};
use crate::units::{BitRate, Bytes, Nanos};
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::RangeInclusive;

/// Bounds of a value, in the base unit of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Of whole numbers: counts, bytes, nanoseconds, bits per second.
    Whole(u64, u64),
    /// Of numbers that need not be whole, both ends included.
    Real(f64, f64),
}

/// A type of settings.
pub trait Field: Sized {
    /// Whether a value may be left to the simulator.
    const AUTO: bool = false;
    /// The type of bounds.
    type Bound;

    /// Bounds, as declared; only numbers have some.
    fn range(_: RangeInclusive<Self::Bound>) -> Range {
        Range::Whole(0, 0)
    }

    /// The kind of a setting with these bounds, or the type's.
    fn kind(range: Option<Range>) -> Kind;

    /// The present value.
    fn value(&self) -> Value;

    /// Reads a value.
    ///
    /// # Errors
    /// If it is of another kind or out of range: a sentence for the user.
    fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String>;
}

/// The bounds of whole numbers, at most the type's.
fn whole(range: Option<Range>, most: u64) -> (u64, u64) {
    match range {
        Some(Range::Whole(least, bound)) => (least, bound.min(most)),
        Some(Range::Real(..)) | None => (0, most),
    }
}

fn refused(input: Input<'_>, kind: &Kind) -> String {
    format!("the value is {}; expected {}", input.shown(), kind.expected())
}

/// A whole number within bounds.
fn count(input: Input<'_>, kind: &Kind, least: u64, most: u64) -> Result<u64, String> {
    let number = match input {
        Input::Whole(number) => u64::try_from(number).ok(),
        Input::Large(number) => Some(number),
        Input::Switch(_) | Input::Real(_) | Input::Text(_) => None,
    };
    number.filter(|number| (least..=most).contains(number)).ok_or_else(|| refused(input, kind))
}

/// A quantity with a unit within bounds.
fn quantity(
    input: Input<'_>,
    kind: &Kind,
    (least, most): (u64, u64),
    parse: fn(&str) -> Result<u64, String>,
) -> Result<u64, String> {
    let number = match input {
        Input::Whole(0) | Input::Large(0) => parse("0")?,
        Input::Text(text) => parse(text)?,
        Input::Whole(_) | Input::Large(_) | Input::Real(_) => {
            return Err(format!("{} has no unit; expected {}", input.shown(), kind.expected()));
        }
        Input::Switch(_) => return Err(refused(input, kind)),
    };
    (least..=most).contains(&number).then_some(number).ok_or_else(|| refused(input, kind))
}

macro_rules! counts {
    ($($type:ty)*) => {$(
        impl Field for $type {
            type Bound = $type;

            fn range(bounds: RangeInclusive<$type>) -> Range {
                Range::Whole((*bounds.start()).into(), (*bounds.end()).into())
            }

            fn kind(range: Option<Range>) -> Kind {
                let (least, most) = whole(range, <$type>::MAX.into());
                Kind::Count { least, most }
            }

            fn value(&self) -> Value {
                Value::Count((*self).into())
            }

            fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String> {
                let (least, most) = whole(range, <$type>::MAX.into());
                let kind = Self::kind(range);
                let number = count(input, &kind, least, most)?;
                <$type>::try_from(number).map_err(|_| refused(input, &kind))
            }
        }
    )*};
}

counts! { u8 u16 u32 u64 }

impl Field for bool {
    type Bound = bool;

    fn kind(_: Option<Range>) -> Kind {
        Kind::Switch
    }

    fn value(&self) -> Value {
        Value::Switch(*self)
    }

    fn read(input: Input<'_>, _: Option<Range>) -> Result<Self, String> {
        match input {
            Input::Switch(on) => Ok(on),
            Input::Whole(_) | Input::Large(_) | Input::Real(_) | Input::Text(_) => Err(refused(input, &Kind::Switch)),
        }
    }
}

impl Field for f64 {
    type Bound = f64;

    fn range(bounds: RangeInclusive<f64>) -> Range {
        Range::Real(*bounds.start(), *bounds.end())
    }

    fn kind(range: Option<Range>) -> Kind {
        match range {
            Some(Range::Real(least, most)) => Kind::Real { least, most },
            Some(Range::Whole(..)) | None => Kind::Real { least: f64::MIN, most: f64::MAX },
        }
    }

    fn value(&self) -> Value {
        Value::Real(*self)
    }

    fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String> {
        let kind = Self::kind(range);
        let number = match input {
            Input::Whole(number) => number as f64,
            Input::Large(number) => number as f64,
            Input::Real(number) => number,
            Input::Switch(_) | Input::Text(_) => return Err(refused(input, &kind)),
        };
        let Kind::Real { least, most } = kind else { return Err(refused(input, &kind)) };
        // Adding 0 makes a negative zero positive.
        (least..=most).contains(&number).then_some(number + 0.0).ok_or_else(|| refused(input, &kind))
    }
}

macro_rules! quantities {
    ($($type:ident: $kind:ident, $parse:path, $most:expr;)*) => {$(
        impl Field for $type {
            type Bound = $type;

            fn range(bounds: RangeInclusive<$type>) -> Range {
                Range::Whole(bounds.start().0, bounds.end().0)
            }

            fn kind(range: Option<Range>) -> Kind {
                let (least, most) = whole(range, $most);
                Kind::$kind { least, most }
            }

            fn value(&self) -> Value {
                Value::$kind(*self)
            }

            fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String> {
                let parse = |text: &str| $parse(text).map(|quantity| quantity.0);
                quantity(input, &Self::kind(range), whole(range, $most), parse).map($type)
            }
        }
    )*};
}

quantities! {
    Nanos: Time, quantity::time, Nanos::LONGEST.0;
    BitRate: Rate, quantity::rate, quantity::LARGEST;
}

/// Sizes are the one quantity that may do without a unit.
impl Field for Bytes {
    type Bound = u64;

    fn range(bounds: RangeInclusive<u64>) -> Range {
        Range::Whole(*bounds.start(), *bounds.end())
    }

    fn kind(range: Option<Range>) -> Kind {
        let (least, most) = whole(range, quantity::LARGEST);
        Kind::Bytes { least, most }
    }

    fn value(&self) -> Value {
        Value::Bytes(self.0)
    }

    fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String> {
        let (kind, (least, most)) = (Self::kind(range), whole(range, quantity::LARGEST));
        match input {
            Input::Large(number) if number > quantity::LARGEST => quantity::size(&number.to_string()).map(Bytes),
            Input::Whole(_) | Input::Large(_) => count(input, &kind, least, most).map(Bytes),
            Input::Switch(_) | Input::Real(_) | Input::Text(_) => {
                quantity(input, &kind, (least, most), quantity::size).map(Bytes)
            }
        }
    }
}

impl Field for String {
    type Bound = ();

    fn kind(_: Option<Range>) -> Kind {
        Kind::Text
    }

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn read(input: Input<'_>, _: Option<Range>) -> Result<Self, String> {
        match input {
            Input::Text(text) => Ok(text.to_string()),
            Input::Switch(_) | Input::Whole(_) | Input::Large(_) | Input::Real(_) => Err(refused(input, &Kind::Text)),
        }
    }
}

impl<T: Field> Field for Option<T> {
    const AUTO: bool = true;
    type Bound = T::Bound;

    fn range(bounds: RangeInclusive<T::Bound>) -> Range {
        T::range(bounds)
    }

    fn kind(range: Option<Range>) -> Kind {
        T::kind(range)
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Auto, T::value)
    }

    fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String> {
        match input {
            Input::Text(AUTO) => Ok(None),
            Input::Switch(_) | Input::Whole(_) | Input::Large(_) | Input::Real(_) | Input::Text(_) => {
                T::read(input, range).map(Some)
            }
        }
    }
}
