// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user gives for a setting, before its kind is known to fit.

use super::value::AUTO;
use super::{Kind, Setting};
use alloc::format;
use alloc::string::String;

/// Most digits of a number in an error; longer ones get an exponent.
const LONGEST_NUMBER: usize = 24;

/// A value as a file or program gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<'a> {
    /// A switch.
    Switch(bool),
    /// A whole number.
    Whole(i64),
    /// A whole number beyond the range of [`Input::Whole`].
    Large(u64),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(&'a str),
}

impl<'a> Input<'a> {
    /// The meaning of an untyped text for a setting, as on a command line or in an ns-3 attribute.
    ///
    /// # Errors
    /// If the text is nothing of that kind: a sentence for the user.
    pub fn parse(setting: &Setting, text: &'a str) -> Result<Input<'a>, String> {
        let trimmed = text.trim();
        let refuse = || format!("\"{text}\" is not {}", setting.kind.expected());
        if setting.auto && trimmed == AUTO {
            return Ok(Input::Text(AUTO));
        }
        match setting.kind {
            Kind::Switch => match trimmed {
                "true" | "1" | "t" => Ok(Input::Switch(true)),
                "false" | "0" | "f" => Ok(Input::Switch(false)),
                _ => Err(refuse()),
            },
            Kind::Count { .. } => trimmed.parse().map(Input::Large).map_err(|_| refuse()),
            Kind::Real { .. } => trimmed.parse().map(Input::Real).map_err(|_| refuse()),
            // ns-3 writes times with their sign.
            Kind::Time { .. } => Ok(Input::Text(trimmed.strip_prefix('+').unwrap_or(trimmed))),
            Kind::Bytes { .. } | Kind::Rate { .. } | Kind::Choice(_) => Ok(Input::Text(trimmed)),
            Kind::Text => Ok(Input::Text(text)),
        }
    }

    /// The value as errors show it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Input::Switch(on) => format!("{on}"),
            Input::Whole(number) => format!("{number}"),
            Input::Large(number) => format!("{number}"),
            Input::Real(number) => {
                let plain = format!("{number}");
                // 1e-308 has three hundred zeros.
                if plain.len() > LONGEST_NUMBER { format!("{number:e}") } else { plain }
            }
            Input::Text(text) => format!("\"{text}\""),
        }
    }
}
