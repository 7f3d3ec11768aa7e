// SPDX-License-Identifier: GPL-2.0-only
//! Parts of a sweep file that several of its readers know.

use std::borrow::Cow;

use hpcc_core::settings::quantity;
use hpcc_measures::select;
use hpcc_model::error::InputError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toml::Value;

use super::placed::{At, Placed, Source};

/// In which size a sweep runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As the file says.
    #[default]
    Full,
    /// With the changes of `[quick]`.
    Quick,
}

impl Form {
    /// For readers and folders.
    pub fn name(self) -> &'static str {
        match self {
            Form::Full => "full",
            Form::Quick => "quick",
        }
    }
}

/// Settings under a name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VariantKeys")]
pub struct Variant {
    /// Name of the variant and of its folder: up to 32 letters, digits, - _ . +
    pub name: Placed<String>,
    /// What tables and figures call it, such as "HPCC (eta 0.95)" [default: its name].
    label: Option<Placed<String>>,
    /// Settings of the variant, KEY=VALUE each, as behind --set.
    #[serde(default)]
    pub set: Vec<Placed<String>>,
}

impl Variant {
    /// What readers see.
    pub fn label(&self) -> &str {
        self.label.as_ref().map_or(&self.name, |label| label)
    }

    /// Refuses a label that fits into no legend.
    ///
    /// # Errors
    /// With its line.
    pub fn check_label(&self, text: &Source) -> Result<(), InputError> {
        let is_bad = |label: &&Placed<String>| {
            label.trim().is_empty() || label.chars().count() > 48 || label.contains(char::is_control)
        };
        self.label.as_ref().filter(is_bad).map_or(Ok(()), |label| {
            Err(text.error(label.at(), format!("label is \"{}\"; expected up to 48 letters in a line", **label)))
        })
    }
}

/// Where a file says what of a run is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    /// The groups.
    pub groups: At,
    /// The begin of the window.
    pub warm_up: At,
    /// Its end.
    pub until: At,
}

/// A size with its unit, or a whole number of bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Size(Value);

impl JsonSchema for Size {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "minimum": 0 })
    }
}

/// The size that a key has, in bytes.
///
/// # Errors
/// With its line.
pub fn size(text: &Source, key: &str, size: &Placed<Size>) -> Result<u64, InputError> {
    let read = size.0.as_str().map_or_else(|| quantity::size(&size.0.to_string()), quantity::size);
    read.map_err(|message| text.error(size.at(), format!("{key}: {message}")))
}

/// The time that a key has, in ns.
pub fn time(text: &Source, key: &str, time: Option<&Placed<String>>) -> Result<Option<u64>, InputError> {
    let read = |time: &Placed<String>| {
        select::time_ns(time).map_err(|message| text.error(time.at(), format!("{key}: {message}")))
    };
    time.map(read).transpose()
}

/// A number, a truth value or a string as an override has it.
pub fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        Value::Integer(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => {
            value.to_string()
        }
    }
}
