// SPDX-License-Identifier: GPL-2.0-only
//! A TOML text with values from the command line laid over it, and the way back from any value to its line.
//!
//! TOML spans are byte offsets. The text of each override is parsed behind enough white space that its spans
//! start where the file's text, and the overrides before it, end: an offset then tells where a value is from.

use crate::error::{InputError, suggestion};
use crate::place::Place;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// The texts that a [`Document`] borrows from.
#[derive(Debug)]
pub(super) struct Source<'a> {
    file: Place,
    text: &'a str,
    /// Offsets at which the lines behind the first begin.
    lines: Vec<usize>,
    overrides: Vec<Override<'a>>,
}

#[derive(Debug)]
struct Override<'a> {
    path: &'a str,
    value: &'a str,
    /// `v = VALUE` behind white space.
    padded: String,
    /// Offset at which `v` stands.
    start: usize,
}

impl<'a> Source<'a> {
    /// Takes apart the overrides, each `dotted.path=VALUE`.
    pub fn new(path: &Path, text: &'a str, overrides: &'a [String]) -> Result<Source<'a>, InputError> {
        let lines = text.match_indices('\n').map(|(newline, _)| newline + 1).collect();
        let mut source = Source { file: Place::file(path), text, lines, overrides: Vec::new() };
        let mut start = text.len() + 1;
        for setting in overrides {
            let Some((path, value)) = setting.split_once('=') else {
                let message = format!("\"{setting}\" is no setting; expected KEY=VALUE");
                return Err(Place::command_line().error(message));
            };
            let padded = format!("{}v = {value}", " ".repeat(start));
            let next = padded.len() + 1;
            source.overrides.push(Override { path: path.trim(), value, padded, start });
            start = next;
        }
        Ok(source)
    }

    /// Where a value stands.
    pub fn place(&self, span: &Range<usize>) -> Place {
        if span.start > self.text.len() {
            return Place::command_line();
        }
        let before = self.lines.partition_point(|&line| line <= span.start);
        self.file.at(u32::try_from(before).unwrap_or(u32::MAX - 1) + 1)
    }

    /// The word at a place in the file.
    fn snippet(&self, span: &Range<usize>) -> Option<&str> {
        let line = self.text.get(..span.start).map(|before| before.rfind('\n').map_or(0, |newline| newline + 1))?;
        let (_, value) = self.text[line..].lines().next()?.split_once('=')?;
        value.split('#').next().map(str::trim)
    }

    /// The key that a value belongs to, as far as its line or override tells.
    fn key(&self, span: &Range<usize>) -> Option<String> {
        let Some(before) = self.text.get(..span.start) else {
            let setting = self.overrides.iter().rfind(|entry| entry.start <= span.start);
            return setting.map(|entry| entry.path.into());
        };
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (key, _) = self.text[line..].lines().next()?.split_once('=')?;
        let key = key.trim();
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        };
        let section = self.text[..line].lines().rev().filter_map(header).find(|name| plain(name));
        let full = || section.map_or_else(|| key.into(), |section| format!("{section}.{key}"));
        plain(key).then(full)
    }

    /// A TOML error in our own words, as far as they are better. `section` is empty for syntax errors.
    fn error(&self, section: &str, error: &toml::de::Error) -> InputError {
        let span = error.span();
        let place = span.as_ref().map_or_else(|| self.file.clone(), |span| self.place(span));
        let message = error.message();
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        if let (true, Some((found, known))) = (message.starts_with("unknown field"), quoted.split_first()) {
            return unknown_key(&place, section, found, known);
        }
        if let (true, Some(name)) = (message.starts_with("missing field"), quoted.first()) {
            return place.key_error(format!("{section}.{name}"), format!("{name} is missing from [{section}]"));
        }
        let message = match span.as_ref().and_then(|span| self.snippet(span)) {
            Some(value) if message.starts_with("invalid float") => format!("{value} is no number"),
            Some(value) if message.starts_with("invalid integer") => format!("{value} is no whole number"),
            _ => in_words(message),
        };
        match span.as_ref().and_then(|span| self.key(span)) {
            Some(key) => place.key_error(key, message),
            None => place.error(message),
        }
    }
}

/// An error of serde without the types of Rust.
fn in_words(message: &str) -> String {
    if message.contains("number would be zero for non-zero type") {
        return "the value is 0; expected at least 1".into();
    }
    match message.rsplit_once(", expected ") {
        Some((found, "u8" | "u16" | "u32" | "u64" | "u128" | "usize")) => {
            format!("{found}, expected a whole number from 0")
        }
        Some((found, "i32" | "i64")) => format!("{found}, expected a whole number"),
        Some((found, "f32" | "f64")) => format!("{found}, expected a number"),
        Some((found, kind)) if kind.starts_with("a nonzero u") => {
            format!("{found}, expected a whole number from 1")
        }
        _ => message.into(),
    }
}

/// The section that a line opens.
fn header(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix('[')?.split(']').next()?.trim_start_matches('[').trim())
}

fn unknown_key(place: &Place, section: &str, found: &str, known: &[&str]) -> InputError {
    let message = format!("unknown key {found} in [{section}]{}", suggestion(found, known));
    place.key_error(format!("{section}.{found}"), message)
}

/// A parsed text, from which sections are taken one by one.
#[derive(Debug)]
pub(super) struct Document<'a> {
    source: &'a Source<'a>,
    root: DeTable<'a>,
    /// Whether parameters of the file were dropped for an override that chooses something else than the file.
    pub dropped: bool,
}

/// The entries of a section, each with its place, and that of the section.
pub(super) type Entries = (Vec<(String, toml::Value, Place)>, Place);

/// A section's value, with the `kind` taken out.
#[derive(Debug)]
pub(super) struct Kinded<'a> {
    pub kind: String,
    pub kind_place: Place,
    pub place: Place,
    value: Spanned<DeValue<'a>>,
}

impl<'a> Document<'a> {
    /// Parses the text and lays the overrides over it.
    pub fn parse(source: &'a Source<'a>) -> Result<Document<'a>, InputError> {
        let root = DeTable::parse(source.text).map_err(|error| source.error("", &error))?;
        let mut document = Document { source, root: root.into_inner(), dropped: false };
        document.drop_parameters("congestion_control", "algorithm", "hpcc", &["congestion_control", "telemetry"]);
        for setting in &source.overrides {
            insert(&mut document.root, setting)?;
        }
        Ok(document)
    }

    /// Where an override gives `section.key` another value than the file, what the file says in `sections` was meant
    /// for its own choice and does not count. Without the key the file has chosen `default`.
    fn drop_parameters(&mut self, section: &str, key: &str, default: &str, sections: &[&str]) {
        let path = format!("{section}.{key}");
        let Some(chosen) = self.source.overrides.iter().rfind(|setting| setting.path == path) else { return };
        let table = self.root.get(section).and_then(|section| section.get_ref().as_table());
        let own = table.and_then(|table| table.get(key)).map_or(Some(default), |own| own.get_ref().as_str());
        if own == Some(chosen.value.trim().trim_matches(['"', '\''])) {
            return;
        }
        for name in sections {
            if let Some(DeValue::Table(table)) = self.root.get_mut(*name).map(Spanned::get_mut) {
                self.dropped |= !table.is_empty();
                table.clear();
            }
        }
    }

    /// Refuses sections other than these.
    pub fn check_sections(&self, known: &[&str]) -> Result<(), InputError> {
        let Some(unknown) = self.root.keys().find(|key| !known.contains(&key.get_ref().as_ref())) else {
            return Ok(());
        };
        let name = unknown.get_ref();
        let place = self.source.place(&unknown.span());
        Err(place.key_error(name.as_ref(), format!("unknown section {name}{}", suggestion(name, known))))
    }

    /// The place of a value.
    pub fn place(&self, span: Range<usize>) -> Place {
        self.source.place(&span)
    }

    /// A section with its place; without it, the place is the file.
    pub fn optional<T: DeserializeOwned + Default>(&mut self, section: &str) -> Result<(T, Place), InputError> {
        match self.root.remove(section) {
            None => Ok((T::default(), self.source.file.clone())),
            Some(value) => self.decode(section, value),
        }
    }

    /// The place of the file as a whole, for errors that no line has.
    pub fn file(&self) -> Place {
        self.source.file.clone()
    }

    /// Takes one value out of a section, with its place.
    pub fn take_key(&mut self, section: &str, key: &str) -> Option<(Result<toml::Value, InputError>, Place)> {
        let DeValue::Table(table) = self.root.get_mut(section)?.get_mut() else { return None };
        let value = table.remove(key)?;
        let place = self.source.place(&value.span());
        let decoded = toml::Value::deserialize(ValueDeserializer::from(value));
        Some((decoded.map_err(|error| self.source.error(section, &error)), place))
    }

    /// The entries of a section, each with its place, and that of the section; `None` without the section. Keys of
    /// `structured` stay behind, unless they hold a text.
    pub fn entries(&mut self, section: &str, structured: &[&str]) -> Result<Option<Entries>, InputError> {
        let Some(value) = self.root.get_mut(section) else { return Ok(None) };
        entries_of(self.source, section, value, structured).map(Some)
    }

    /// The entries of all sections `[[section]]`, each section with its place.
    pub fn entries_list(&mut self, section: &str) -> Result<Vec<Entries>, InputError> {
        let mut list = self.list(section)?;
        list.iter_mut().map(|value| entries_of(self.source, section, value, &[])).collect()
    }

    /// All sections `[[section]]`.
    fn list(&mut self, section: &str) -> Result<Vec<Spanned<DeValue<'a>>>, InputError> {
        let Some(value) = self.root.remove(section) else { return Ok(Vec::new()) };
        let place = self.source.place(&value.span());
        let DeValue::Array(list) = value.into_inner() else {
            let message = format!("[{section}] is a single section; expected [[{section}]]");
            return Err(place.key_error(section, message));
        };
        Ok(list.into_iter().collect())
    }

    /// A section that must be there, with its place.
    pub fn required<T: DeserializeOwned>(&mut self, section: &str) -> Result<(T, Place), InputError> {
        let value = self.root.remove(section).ok_or_else(|| self.missing(section))?;
        self.decode(section, value)
    }

    fn missing(&self, section: &str) -> InputError {
        self.source.file.key_error(section, format!("the section [{section}] is missing"))
    }

    fn decode<T: DeserializeOwned>(
        &self,
        section: &str,
        value: Spanned<DeValue<'a>>,
    ) -> Result<(T, Place), InputError> {
        let place = self.source.place(&value.span());
        if !value.get_ref().is_table() {
            return Err(place.key_error(section, format!("{section} is no section; expected [{section}]")));
        }
        let decoded = T::deserialize(ValueDeserializer::from(value));
        decoded.map(|decoded| (decoded, place)).map_err(|error| self.source.error(section, &error))
    }

    /// A section that must be there and whose other keys depend on its `kind`.
    pub fn kinded(&mut self, section: &str) -> Result<Kinded<'a>, InputError> {
        let value = self.root.remove(section).ok_or_else(|| self.missing(section))?;
        self.take_kind(section, value)
    }

    /// All sections `[[section]]`.
    pub fn kinded_list(&mut self, section: &str) -> Result<Vec<Kinded<'a>>, InputError> {
        self.list(section)?.into_iter().map(|value| self.take_kind(section, value)).collect()
    }

    fn take_kind(&self, section: &str, mut value: Spanned<DeValue<'a>>) -> Result<Kinded<'a>, InputError> {
        let (kind, kind_place, place) = self.take(section, "kind", &mut value)?;
        Ok(Kinded { kind, kind_place, place, value })
    }

    /// Takes the string `name` out of a section, if there is one, and returns it with its place.
    pub fn take_name(&self, section: &str, kinded: &mut Kinded<'a>) -> Result<Option<(String, Place)>, InputError> {
        let has_one = |table: &DeTable<'a>| table.contains_key("name");
        if !kinded.value.get_ref().as_table().is_some_and(has_one) {
            return Ok(None);
        }
        let (name, place, _) = self.take(section, "name", &mut kinded.value)?;
        Ok(Some((name, place)))
    }

    /// Takes the string `name` out of a section. Returns it, its place and that of the section.
    fn take(
        &self,
        section: &str,
        name: &str,
        value: &mut Spanned<DeValue<'a>>,
    ) -> Result<(String, Place, Place), InputError> {
        let place = self.source.place(&value.span());
        let key = format!("{section}.{name}");
        let DeValue::Table(table) = value.get_mut() else {
            return Err(place.key_error(section, format!("{section} is no section; expected [{section}]")));
        };
        let Some(kind) = table.remove(name) else {
            return Err(place.key_error(key, format!("{name} is missing from [{section}]")));
        };
        let kind_place = self.source.place(&kind.span());
        let Some(text) = kind.get_ref().as_str() else {
            return Err(kind_place.key_error(key, format!("{name} is not a string")));
        };
        Ok((text.into(), kind_place, place))
    }

    /// The whole number that a key of a section has, or those in its list; each with its place, and the key as `--set` has it.
    pub fn numbers(&self, section: &Kinded<'a>, key: &str, is_list: bool) -> Vec<(u32, Place, Option<String>)> {
        let value = section.value.get_ref().as_table().and_then(|table| table.get(key));
        let list = value.and_then(|value| value.get_ref().as_array()).filter(|_| is_list);
        let number = |value: &Spanned<DeValue<'a>>| {
            let number = value.get_ref().as_integer()?.as_str().parse().ok()?;
            let place = self.source.place(&value.span());
            let set = self.source.key(&value.span()).filter(|_| place.line().is_none());
            Some((number, place, set))
        };
        match list {
            Some(list) => list.iter().filter_map(number).collect(),
            None => value.filter(|_| !is_list).into_iter().filter_map(number).collect(),
        }
    }

    /// The keys of a section, once its kind has told which.
    pub fn keys_of<T: DeserializeOwned>(&self, section: &str, kinded: Kinded<'a>) -> Result<T, InputError> {
        self.decode(section, kinded.value).map(|(decoded, _)| decoded)
    }
}

/// The entries of a section. Keys of `structured` stay behind, unless they hold a text.
fn entries_of(
    source: &Source<'_>,
    section: &str,
    value: &mut Spanned<DeValue<'_>>,
    structured: &[&str],
) -> Result<Entries, InputError> {
    let place = source.place(&value.span());
    let DeValue::Table(table) = value.get_mut() else {
        return Err(place.key_error(section, format!("{section} is no section; expected [{section}]")));
    };
    let mut entries = Vec::new();
    let rest: Vec<_> = std::mem::take(table).into_iter().collect();
    for (key, value) in rest {
        let is_text = matches!(value.get_ref(), DeValue::String(_));
        if structured.contains(&key.get_ref().as_ref()) && !is_text {
            table.insert(key, value);
            continue;
        }
        let place = source.place(&value.span());
        let name = key.get_ref().to_string();
        let decoded = toml::Value::deserialize(ValueDeserializer::from(value));
        entries.push((name, decoded.map_err(|error| source.error(section, &error))?, place));
    }
    Ok((entries, place))
}

/// An error for a kind that does not exist.
pub(super) fn unknown_kind(section: &str, kinded: &Kinded<'_>, known: &[&str]) -> InputError {
    let kind = &kinded.kind;
    let message = format!("unknown kind \"{kind}\"{}", suggestion(kind, known));
    kinded.kind_place.key_error(format!("{section}.kind"), message)
}

/// Puts an override's value where its path leads, making sections on the way.
fn insert<'a>(root: &mut DeTable<'a>, setting: &'a Override<'a>) -> Result<(), InputError> {
    let refuse = |message: String| Place::command_line().key_error(setting.path, message);
    let span = setting.start..setting.start + 1;
    if setting.path.split('.').any(str::is_empty) {
        return Err(refuse("a part of the key is empty; expected names with a dot between them".into()));
    }
    let (parents, last) = setting.path.rsplit_once('.').unwrap_or(("", setting.path));
    let mut table = root;
    let mut names = parents.split('.').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let key = Spanned::new(span.clone(), Cow::Borrowed(name));
        let section = || Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
        let mut value = table.entry(key).or_insert_with(section).get_mut();
        if let DeValue::Array(list) = value {
            let length = list.len();
            let index =
                names.next().and_then(|text| text.parse::<usize>().ok().filter(|index| index.to_string() == text));
            let element = index.and_then(|index| list.get_mut(index));
            value = element
                .ok_or_else(|| {
                    refuse(format!(
                        "{name} is a list of {length}; expected {name}.INDEX.KEY with an index from 0, below {length}"
                    ))
                })?
                .get_mut();
        }
        let DeValue::Table(inner) = value else {
            return Err(refuse(format!("{name} holds a value, no keys")));
        };
        table = inner;
    }
    table.insert(Spanned::new(span, Cow::Borrowed(last)), override_value(setting));
    Ok(())
}

/// The value as TOML, or as a string where it is none (`100Gbps`, `hpcc`).
fn override_value<'a>(setting: &'a Override<'a>) -> Spanned<DeValue<'a>> {
    let parsed = DeTable::parse(&setting.padded).ok().map(Spanned::into_inner).filter(|table| table.len() == 1);
    let string = || {
        let start = setting.start + "v = ".len();
        Spanned::new(start..start + setting.value.len(), DeValue::String(Cow::Borrowed(setting.value.trim())))
    };
    parsed.and_then(|mut table| table.remove("v")).unwrap_or_else(string)
}
