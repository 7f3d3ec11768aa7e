// SPDX-License-Identifier: GPL-2.0-only
//! What cannot be decoded, in our words: the key, what was given, and what was expected instead.

use super::document::Source;
use crate::error::{InputError, suggestion};
use crate::place::without_indices;
use serde_json::Value;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most letters of a value that an error repeats.
const LONGEST: usize = 60;

impl Source<'_> {
    /// What was wrong with a section, whose keys the schema describes.
    pub fn refusal(&self, section: &str, schema: &Value, error: &toml::de::Error) -> InputError {
        let span = error.span().unwrap_or_default();
        let found = self.tree().map(|root| Finder::search(&root, &span)).unwrap_or_default();
        let message = error.message();
        let mut quoted = message.split('`').skip(1).step_by(2);
        if let (true, Some(name)) = (message.starts_with("unknown field"), quoted.next()) {
            let path = found.innermost.map_or_else(|| format!("{section}.{name}"), |found| found.path);
            return self.unknown_key(&span, &path, name, &quoted.collect::<Vec<_>>());
        }
        if let Some(name) = message.strip_prefix("missing field `").map(|rest| rest.trim_end_matches('`')) {
            let path = found.table.unwrap_or_else(|| section.into());
            return self.missing_key(&span, &path, name, schema);
        }
        let Some(Found { path, form }) = found.innermost else { return self.place(&span).key_error(section, message) };
        let message = expectation(message)
            .map(|expected| format!("the value is {}; expected {expected}", self.shown(&span, form)));
        self.blame(&span, &path, message.as_deref().unwrap_or(error.message()))
    }

    /// An error about the key with this path.
    fn blame(&self, span: &Range<usize>, path: &str, message: &str) -> InputError {
        let place = self.place(span);
        let key = if place.line().is_some() { without_indices(path) } else { path.into() };
        place.of(key).error(message)
    }

    fn unknown_key(&self, span: &Range<usize>, path: &str, name: &str, known: &[&str]) -> InputError {
        // An override may give a key of what it makes: the path then leads beyond the unknown key.
        let names: Vec<&str> = path.split('.').collect();
        let end = names.iter().rposition(|known| *known == name).unwrap_or(names.len() - 1);
        let section = without_indices(&names[..end].join("."));
        let message = format!("unknown key {name} in [{section}]{}", suggestion(name, known));
        self.blame(span, path, &message)
    }

    fn missing_key(&self, span: &Range<usize>, path: &str, name: &str, schema: &Value) -> InputError {
        let message = format!("{name} is missing from [{}]{}", without_indices(path), help(schema, name));
        self.blame(span, &format!("{path}.{name}"), &message)
    }

    /// A value as it was written, in one line.
    pub fn shown(&self, span: &Range<usize>, form: Form) -> String {
        let text = self.written(span);
        match form {
            Form::Table if !text.starts_with('{') => return "a section".into(),
            Form::Tables if !text.starts_with("[{") && !text.starts_with("[ {") => return "a list of sections".into(),
            Form::Table | Form::Tables | Form::Other => {}
        }
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &line[..end]),
            // Of an override, that is.
            None if line.is_empty() => "empty".into(),
            None => line,
        }
    }
}

/// What the help of a key says that is expected.
fn help(schema: &Value, name: &str) -> String {
    let Some(help) = description(schema, name) else { return String::new() };
    let first = hpcc_core::settings::first_sentence(help).trim_end_matches('.');
    let mut letters = first.chars();
    let begin = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    format!("; expected {name}: {begin}{}", letters.as_str())
}

/// The help of a key of a schema, or of what its keys hold.
fn description<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    let own = schema["properties"][name]["description"].as_str();
    let inner = || match schema {
        Value::Object(keys) => keys.values().find_map(|inner| description(inner, name)),
        Value::Array(list) => list.iter().find_map(|inner| description(inner, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    own.or_else(inner)
}

/// What was expected, without the types of Rust; `None` of an error that is a sentence of ours.
fn expectation(message: &str) -> Option<String> {
    let is_ours = !["invalid type", "invalid value", "invalid length", "integer number overflowed"]
        .iter()
        .any(|begin| message.starts_with(begin));
    if is_ours {
        return None;
    }
    let Some((_, expected)) = message.split_once(", expected ") else {
        return Some("a number of at most 64 bits".into());
    };
    let whole = |most: u64| format!("a whole number from 0 to {most}");
    Some(match expected {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "u64" => whole(u64::MAX),
        "i64" => "a whole number".into(),
        "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "a text in quotes".into(),
        "a sequence" => "a list".into(),
        expected => expected.into(),
    })
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A table, which may be a section.
    Table,
    /// A list of tables, which may be sections.
    Tables,
    /// In its own line.
    Other,
}

impl Form {
    pub fn of(value: &DeValue<'_>) -> Form {
        let first = value.as_array().and_then(|list| list.first());
        if value.is_table() {
            Form::Table
        } else if first.is_some_and(|first| first.get_ref().is_table()) {
            Form::Tables
        } else {
            Form::Other
        }
    }
}

/// A key or value with a certain span.
#[derive(Debug)]
struct Found {
    path: String,
    form: Form,
}

/// Searches a document for the keys and values with one span; what an override makes on its way has the same.
#[derive(Debug, Default)]
struct Finder {
    /// The path of the outermost table.
    table: Option<String>,
    innermost: Option<Found>,
}

impl Finder {
    fn search(root: &DeTable<'_>, span: &Range<usize>) -> Finder {
        let mut finder = Finder::default();
        finder.keys(root, "", span);
        finder
    }

    fn keys(&mut self, table: &DeTable<'_>, path: &str, span: &Range<usize>) {
        let dot = if path.is_empty() { "" } else { "." };
        for (key, value) in table {
            let path = format!("{path}{dot}{}", key.get_ref());
            if key.span() == *span {
                self.found(&path, value);
            }
            self.value(value, &path, span);
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str, span: &Range<usize>) {
        if value.span() == *span {
            self.found(path, value);
            if value.get_ref().is_table() && self.table.is_none() {
                self.table = Some(path.into());
            }
        }
        if let Some(table) = value.get_ref().as_table() {
            self.keys(table, path, span);
        }
        for (index, element) in value.get_ref().as_array().into_iter().flat_map(|list| list.iter()).enumerate() {
            self.value(element, &format!("{path}.{index}"), span);
        }
    }

    fn found(&mut self, path: &str, value: &Spanned<DeValue<'_>>) {
        self.innermost = Some(Found { path: path.into(), form: Form::of(value.get_ref()) });
    }
}
