// SPDX-License-Identifier: GPL-2.0-only
//! Parts of a sweep file that several of its readers know.

use hpcc_formats::error::InputError;
use hpcc_measures::select;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::placed::{Placed, Source};

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
