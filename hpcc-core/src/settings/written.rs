// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that are written as a text of a form of their own.

use super::{Field, Input, Kind, Range, Value};
use alloc::string::String;
use core::ops::Deref;

/// What a text says.
pub trait FromText: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with the text: a sentence for the user.
    fn from_text(text: &str) -> Result<Self, String>;
}

/// A value with the text that says so, which is read once.
#[derive(Clone, Debug, PartialEq)]
pub struct Written<T> {
    text: String,
    value: T,
}

impl<T> Written<T> {
    /// A value that this text says.
    pub fn new(text: impl Into<String>, value: T) -> Self {
        Written { text: text.into(), value }
    }
}

impl<T: FromText> Written<T> {
    /// What a text says.
    ///
    /// # Errors
    /// As [`FromText::from_text`].
    pub fn read(text: &str) -> Result<Self, String> {
        T::from_text(text).map(|value| Written::new(text, value))
    }
}

/// The default of what an empty text says.
impl<T: Default> Default for Written<T> {
    fn default() -> Self {
        Written::new("", T::default())
    }
}

impl<T> Deref for Written<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: FromText> Field for Written<T> {
    type Bound = ();

    fn kind(_: Option<Range>) -> Kind {
        Kind::Text
    }

    fn value(&self) -> Value {
        Value::Text(self.text.clone())
    }

    fn read(input: Input<'_>, range: Option<Range>) -> Result<Self, String> {
        String::read(input, range).and_then(|text| Written::read(&text))
    }
}
