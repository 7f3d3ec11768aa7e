// SPDX-License-Identifier: GPL-2.0-only
//! Values with the place in the file that holds them, and errors that blame a place.

use std::borrow::Cow;
use std::ops::Deref;
use std::path::PathBuf;

use hpcc_model::error::InputError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in a file, in bytes from its begin; none is the file as a whole.
pub type At = Option<usize>;

/// A value and where it stands.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Placed<T>(Spanned<T>);

impl<T> Placed<T> {
    /// Where it stands.
    pub fn at(&self) -> At {
        Some(self.0.span().start)
    }

    /// Another value, in the same place.
    pub fn with<U>(&self, value: U) -> Placed<U> {
        Placed(Spanned::new(self.0.span(), value))
    }
}

impl<T> Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

/// A schema knows no places.
impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The key whose value holds a place of a file in TOML.
pub fn key_at(text: &str, at: usize) -> Option<String> {
    holder(DeTable::parse(text).ok()?.get_ref(), at)
}

fn holder(table: &DeTable<'_>, at: usize) -> Option<String> {
    let key_of = |key: &str, value: &Spanned<DeValue<'_>>| {
        let is_here = || value.span().contains(&at).then(|| key.to_owned());
        inner(value, at).or_else(is_here)
    };
    table.iter().find_map(|(key, value)| key_of(key.get_ref(), value))
}

/// Tables hold more than their heading, of which they have the place.
fn inner(value: &Spanned<DeValue<'_>>, at: usize) -> Option<String> {
    let value = value.get_ref();
    let list = || value.as_array()?.iter().find_map(|value| inner(value, at));
    value.as_table().map_or_else(list, |table| holder(table, at))
}

/// A setting and where it came from; the command line has no place.
#[derive(Clone, Debug)]
pub struct Setting {
    /// `KEY=VALUE`.
    pub text: String,
    /// In the sweep file.
    pub at: At,
}

/// The text that errors are about.
#[derive(Debug)]
pub struct Source {
    /// Its file.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

impl Source {
    /// An error that blames the line of a place.
    pub fn error(&self, at: At, message: impl Into<String>) -> InputError {
        InputError::new(&self.path, at.map(|at| self.line(at)), message)
    }

    /// The line of a place, from 1.
    pub fn line(&self, at: usize) -> u32 {
        // Behind the last line end there is no line.
        let last = self.text.len().saturating_sub(1);
        let before = self.text.as_bytes().get(..at.min(last)).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count() as u32
    }
}
