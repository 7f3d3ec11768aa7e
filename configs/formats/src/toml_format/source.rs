// SPDX-License-Identifier: GPL-2.0-only
//! A TOML text with the texts of overrides behind it, and the way back from any value to its line.
//!
//! TOML spans are byte offsets. The text of each override is parsed behind enough white space that its spans
//! start where the file's text, and the overrides before it, end: an offset then tells where a value is from.

use hpcc_model::error::InputError;
use hpcc_model::place::Place;
use hpcc_model::scenario::Assumed;
use serde::Deserialize;
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeValue, ValueDeserializer};
use toml::{Spanned, Value};

/// Most letters of a value that an error repeats.
const LONGEST: usize = 60;

/// The texts that a document borrows from.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub file: Place,
    pub text: &'a str,
    /// Offsets at which the lines behind the first begin.
    lines: Vec<usize>,
    pub overrides: Vec<Override<'a>>,
    /// Where overrides are from that are not the command line's.
    pub elsewhere: Place,
    /// Defaults that decide results, of keys that are not given.
    pub assumed: RefCell<Vec<Assumed>>,
}

/// A value from the command line.
#[derive(Debug)]
pub(super) struct Override<'a> {
    pub path: &'a str,
    pub value: &'a str,
    /// `v = VALUE` behind white space.
    pub padded: String,
    /// Offset at which `v` stands.
    pub start: usize,
    /// Where it is from, without its key.
    place: Place,
}

impl Override<'_> {
    /// Where it is from.
    pub fn place(&self) -> Place {
        self.place.clone().of(self.path)
    }
}

impl<'a> Source<'a> {
    /// Takes apart the overrides, each `dotted.path=VALUE`. The first `count` of them are from `elsewhere`, not from
    /// the command line.
    pub fn new(
        path: &Path,
        text: &'a str,
        overrides: &'a [String],
        (count, elsewhere): (usize, Place),
    ) -> Result<Source<'a>, InputError> {
        // Behind the last line end there is no line: what is wrong there is wrong with the last line.
        let begins = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let lines = begins.filter(|&begin| begin < text.len()).collect();
        let mut source = Source {
            file: Place::file(path),
            text,
            lines,
            overrides: Vec::new(),
            elsewhere,
            assumed: RefCell::default(),
        };
        let mut start = text.len() + 1;
        for (number, setting) in overrides.iter().enumerate() {
            let place = if number < count { source.elsewhere.clone() } else { Place::command_line() };
            let Some((path, value)) = setting.split_once('=') else {
                let message = format!("\"{setting}\" is no setting; expected KEY=VALUE");
                return Err(place.error(message));
            };
            let padded = format!("{}v = {value}", " ".repeat(start));
            let next = padded.len() + 1;
            source.overrides.push(Override { path: path.trim(), value, padded, start, place });
            start = next;
        }
        Ok(source)
    }

    /// Where a value stands.
    pub fn place(&self, span: &Range<usize>) -> Place {
        if span.start > self.text.len() {
            let setting = self.setting(span);
            return setting.map_or_else(Place::command_line, Override::place);
        }
        let before = self.lines.partition_point(|&line| line <= span.start);
        self.file.at(u32::try_from(before).unwrap_or(u32::MAX - 1) + 1)
    }

    /// The override that a value is from.
    fn setting(&self, span: &Range<usize>) -> Option<&Override<'a>> {
        self.overrides.iter().rfind(|setting| setting.start <= span.start)
    }

    /// A value as it was written.
    fn written(&self, span: &Range<usize>) -> &str {
        let text = if span.start > self.text.len() {
            self.setting(span).map(|setting| &*setting.padded)
        } else {
            Some(self.text)
        };
        text.and_then(|text| text.get(span.clone())).unwrap_or_default()
    }

    /// What is no TOML, with the key as far as its line tells.
    pub fn no_toml(&self, error: &toml::de::Error) -> InputError {
        let span = error.span().unwrap_or_default();
        let place = self.place(&span);
        let Some((line, key, value)) = self.assignment(span.start) else { return place.error(error.message()) };
        let message = match error.message() {
            message if message.starts_with("invalid float") || message.starts_with("invalid integer") => {
                format!("{value} is no number; expected one, or a text in quotes")
            }
            message => message.into(),
        };
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        };
        let section = self.text[..line].lines().rev().filter_map(header).find(|name| plain(name));
        match section {
            _ if !plain(key) => place.error(message),
            Some(section) => place.key_error(format!("{section}.{key}"), message),
            None => place.key_error(key, message),
        }
    }

    /// Where the line with this offset begins, and the key and the value of that line.
    fn assignment(&self, offset: usize) -> Option<(usize, &str, &str)> {
        let line = self.text.get(..offset)?.rfind('\n').map_or(0, |newline| newline + 1);
        let (key, value) = self.text[line..].lines().next()?.split_once('=')?;
        Some((line, key.trim(), value.split('#').next().unwrap_or_default().trim()))
    }
}

/// The section that a line opens.
fn header(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix('[')?.split(']').next()?.trim_start_matches('[').trim())
}

/// A value of a document, with its key.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    source: &'a Source<'a>,
    pub key: String,
    value: Spanned<DeValue<'a>>,
}

impl<'a> Entry<'a> {
    pub fn new(source: &'a Source<'a>, key: &str, value: Spanned<DeValue<'a>>) -> Entry<'a> {
        Entry { source, key: key.into(), value }
    }

    pub fn place(&self) -> Place {
        self.source.place(&self.value.span())
    }

    /// A key beside this one is not given, and this counts.
    pub fn assume(&self, assumed: Assumed) {
        let mut known = self.source.assumed.borrow_mut();
        if !known.contains(&assumed) {
            known.push(assumed);
        }
    }

    /// The value, unless it is a number that is larger than any that is stored.
    pub fn value(&self) -> Option<Value> {
        Value::deserialize(ValueDeserializer::from(self.value.clone())).ok()
    }

    /// The value as it was written, in one line.
    pub fn written(&self) -> String {
        let text = self.source.written(&self.value.span());
        let is_table = |value: &Spanned<DeValue<'_>>| value.get_ref().is_table();
        let of_tables = self.value.get_ref().as_array().is_some_and(|list| list.first().is_some_and(is_table));
        if is_table(&self.value) && !text.starts_with('{') {
            return "a section".into();
        }
        if of_tables && !text.starts_with("[{") && !text.starts_with("[ {") {
            return "a list of sections".into();
        }
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &line[..end]),
            // Of an override, that is.
            None if line.is_empty() => "empty".into(),
            None => line,
        }
    }

    /// What a table holds; `None` of another value.
    pub fn entries(&self) -> Option<Vec<Entry<'a>>> {
        let table = self.value.get_ref().as_table()?;
        Some(table.iter().map(|(key, value)| Entry::new(self.source, key.get_ref(), value.clone())).collect())
    }

    /// What a list holds; `None` of another value.
    pub fn elements(&self) -> Option<Vec<Entry<'a>>> {
        let list = self.value.get_ref().as_array()?;
        Some(list.iter().map(|value| Entry::new(self.source, &self.key, value.clone())).collect())
    }

    /// What a section holds.
    pub fn section(&self) -> Result<Vec<Entry<'a>>, InputError> {
        let (key, place) = (&self.key, self.place());
        let message = || format!("{key} is no section, but {}; expected [{key}]", self.written());
        self.entries().ok_or_else(|| place.key_error(key, message()))
    }

    /// Takes the entry with this key out of others.
    pub fn take(entries: &mut Vec<Entry<'a>>, key: &str) -> Option<Entry<'a>> {
        let found = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(found))
    }

    /// An error that blames this key of a section.
    pub fn error(&self, section: &str, message: impl Into<String>) -> InputError {
        self.place().key_error(format!("{section}.{}", self.key), message)
    }
}
