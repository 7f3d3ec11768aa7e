// SPDX-License-Identifier: GPL-2.0-only
//! A TOML text with values from the command line laid over it, and the way back from any value to its line.
//!
//! TOML spans are byte offsets. The text of each override is parsed behind enough white space that its spans
//! start where the file's text, and the overrides before it, end: an offset then tells where a value is from.

use super::refusal::Form;
use super::schema;
use crate::error::{InputError, suggestion};
use crate::origin::Origin;
use crate::place::Place;
use schemars::JsonSchema;
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
            let setting = self.setting(span);
            return setting.map_or_else(Place::command_line, |setting| Place::command_line().of(setting.path));
        }
        let before = self.lines.partition_point(|&line| line <= span.start);
        self.file.at(u32::try_from(before).unwrap_or(u32::MAX - 1) + 1)
    }

    /// The override that a value is from.
    fn setting(&self, span: &Range<usize>) -> Option<&Override<'a>> {
        self.overrides.iter().rfind(|setting| setting.start <= span.start)
    }

    /// A value as it was written.
    pub fn written(&self, span: &Range<usize>) -> &str {
        let text = if span.start > self.text.len() {
            self.setting(span).map(|setting| &*setting.padded)
        } else {
            Some(self.text)
        };
        text.and_then(|text| text.get(span.clone())).unwrap_or_default()
    }

    /// The file with the overrides laid over it.
    pub fn tree(&self) -> Option<DeTable<'_>> {
        let mut root = DeTable::parse(self.text).ok()?.into_inner();
        self.overrides.iter().try_for_each(|setting| insert(&mut root, setting)).ok()?;
        Some(root)
    }

    /// What is no TOML, with the key as far as its line tells.
    fn no_toml(&self, error: &toml::de::Error) -> InputError {
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

/// A parsed text, from which sections are taken one by one.
#[derive(Debug)]
pub(super) struct Document<'a> {
    source: &'a Source<'a>,
    root: DeTable<'a>,
    /// Whether parameters of the file were dropped for an override that chooses something else than the file.
    pub dropped: bool,
}

/// A key of a section, and what it was given.
#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    /// `None` of a number that is larger than any that is stored.
    pub value: Option<toml::Value>,
    /// The value as it was written.
    pub written: String,
    pub place: Place,
}

/// The entries of a section, and its place.
pub(super) type Entries = (Vec<Entry>, Place);

/// A section's value, with the `kind` taken out.
#[derive(Debug)]
pub(super) struct Kinded<'a> {
    pub kind: String,
    pub origin: Origin,
    value: Spanned<DeValue<'a>>,
}

impl<'a> Document<'a> {
    /// Parses the text and lays the overrides over it.
    pub fn parse(source: &'a Source<'a>) -> Result<Document<'a>, InputError> {
        let root = DeTable::parse(source.text).map_err(|error| source.no_toml(&error))?;
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
    pub fn optional<T: DeserializeOwned + JsonSchema + Default>(
        &mut self,
        section: &str,
    ) -> Result<(T, Place), InputError> {
        match self.root.remove(section) {
            None => Ok((T::default(), self.source.file.clone())),
            Some(value) => self.decode(section, value),
        }
    }

    /// The place of the file as a whole, for errors that no line has.
    pub fn file(&self) -> Place {
        self.source.file.clone()
    }

    /// Takes one entry out of a section.
    pub fn take_key(&mut self, section: &str, key: &str) -> Option<Entry> {
        let DeValue::Table(table) = self.root.get_mut(section)?.get_mut() else { return None };
        table.remove(key).map(|value| entry(self.source, key.into(), value))
    }

    /// The entries of a section; `None` without the section. Keys of `structured` stay behind, unless they hold a text.
    pub fn entries(&mut self, section: &str, structured: &[&str]) -> Result<Option<Entries>, InputError> {
        let Some(value) = self.root.get_mut(section) else { return Ok(None) };
        entries_of(self.source, section, value, structured).map(Some)
    }

    /// The entries of all sections `[[section]]`.
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

    /// A section that must be there; `example` is what it holds at least.
    pub fn required<T: DeserializeOwned + JsonSchema>(
        &mut self,
        section: &str,
        example: &str,
    ) -> Result<(T, Place), InputError> {
        let value = self.root.remove(section).ok_or_else(|| self.missing(section, example))?;
        self.decode(section, value)
    }

    fn missing(&self, section: &str, example: &str) -> InputError {
        let message = format!("the section [{section}] is missing; expected [{section}] with {example}");
        self.source.file.key_error(section, message)
    }

    fn decode<T: DeserializeOwned + JsonSchema>(
        &self,
        section: &str,
        value: Spanned<DeValue<'a>>,
    ) -> Result<(T, Place), InputError> {
        let place = self.source.place(&value.span());
        if !value.get_ref().is_table() {
            return Err(no_section(self.source, section, &value));
        }
        let decoded = T::deserialize(ValueDeserializer::from(value));
        let decoded = decoded.map_err(|error| self.source.refusal(section, &schema::of::<T>(), &error))?;
        Ok((decoded, place))
    }

    /// A section that must be there and whose other keys depend on its `kind`, one of `kinds`.
    pub fn kinded(&mut self, section: &'static str, kinds: &[&str]) -> Result<Kinded<'a>, InputError> {
        let value =
            self.root.remove(section).ok_or_else(|| self.missing(section, &format!("kind = \"{}\"", kinds[0])))?;
        self.take_kind(section, kinds, value)
    }

    /// All sections `[[section]]`.
    pub fn kinded_list(&mut self, section: &'static str, kinds: &[&str]) -> Result<Vec<Kinded<'a>>, InputError> {
        self.list(section)?.into_iter().map(|value| self.take_kind(section, kinds, value)).collect()
    }

    fn take_kind(
        &self,
        section: &'static str,
        kinds: &[&str],
        mut value: Spanned<DeValue<'a>>,
    ) -> Result<Kinded<'a>, InputError> {
        let place = self.source.place(&value.span());
        let DeValue::Table(table) = value.get_mut() else { return Err(no_section(self.source, section, &value)) };
        let places = table.iter().map(|(key, value)| (key.get_ref().to_string(), self.source.place(&value.span())));
        let origin = Origin::new(section, place, places.collect());
        let expected = || format!("expected one of {}", kinds.join(", "));
        let Some(kind) = table.remove("kind") else {
            return Err(origin.error(&["kind"], format!("kind is missing from [{section}]; {}", expected())));
        };
        match kind.get_ref().as_str() {
            Some(text) => Ok(Kinded { kind: text.into(), origin, value }),
            None => Err(origin.error(&["kind"], format!("the value is {}; {}", self.shown(&kind), expected()))),
        }
    }

    /// A value as it was written.
    fn shown(&self, value: &Spanned<DeValue<'_>>) -> String {
        self.source.shown(&value.span(), Form::of(value.get_ref()))
    }

    /// Takes an entry out of a section, if it is there.
    pub fn take_entry(&self, section: &mut Kinded<'a>, key: &str) -> Option<Entry> {
        let DeValue::Table(table) = section.value.get_mut() else { return None };
        table.remove(key).map(|value| entry(self.source, key.into(), value))
    }

    /// The whole number that a key of a section has, or those in its list; each with its place.
    pub fn numbers(&self, section: &Kinded<'a>, key: &str, is_list: bool) -> Vec<(u32, Place)> {
        let value = section.value.get_ref().as_table().and_then(|table| table.get(key));
        let list = value.and_then(|value| value.get_ref().as_array()).filter(|_| is_list);
        let number = |value: &Spanned<DeValue<'a>>| {
            Some((value.get_ref().as_integer()?.as_str().parse().ok()?, self.source.place(&value.span())))
        };
        match list {
            Some(list) => list.iter().filter_map(number).collect(),
            None => value.filter(|_| !is_list).into_iter().filter_map(number).collect(),
        }
    }

    /// The keys of a section, once its kind has told which.
    pub fn keys_of<T: DeserializeOwned + JsonSchema>(
        &self,
        section: &str,
        kinded: Kinded<'a>,
    ) -> Result<T, InputError> {
        self.decode(section, kinded.value).map(|(decoded, _)| decoded)
    }
}

/// An error for a value where a section belongs.
fn no_section(source: &Source<'_>, section: &str, value: &Spanned<DeValue<'_>>) -> InputError {
    let shown = source.shown(&value.span(), Form::of(value.get_ref()));
    let message = format!("{section} is no section, but {shown}; expected [{section}]");
    source.place(&value.span()).key_error(section, message)
}

fn entry(source: &Source<'_>, key: String, value: Spanned<DeValue<'_>>) -> Entry {
    let place = source.place(&value.span());
    let written = source.shown(&value.span(), Form::of(value.get_ref()));
    let value = toml::Value::deserialize(ValueDeserializer::from(value)).ok();
    Entry { key, value, written, place }
}

/// The entries of a section. Keys of `structured` stay behind, unless they hold a text.
fn entries_of(
    source: &Source<'_>,
    section: &str,
    value: &mut Spanned<DeValue<'_>>,
    structured: &[&str],
) -> Result<Entries, InputError> {
    let place = source.place(&value.span());
    let DeValue::Table(table) = value.get_mut() else { return Err(no_section(source, section, value)) };
    let mut entries = Vec::new();
    let rest: Vec<_> = std::mem::take(table).into_iter().collect();
    for (key, value) in rest {
        let is_text = matches!(value.get_ref(), DeValue::String(_));
        if structured.contains(&key.get_ref().as_ref()) && !is_text {
            table.insert(key, value);
            continue;
        }
        entries.push(entry(source, key.get_ref().to_string(), value));
    }
    Ok((entries, place))
}

/// An error for a kind that does not exist.
pub(super) fn unknown_kind(section: &Kinded<'_>, known: &[&str]) -> InputError {
    let kind = &section.kind;
    section.origin.error(&["kind"], format!("unknown kind \"{kind}\"{}", suggestion(kind, known)))
}

/// Puts an override's value where its path leads, making sections on the way.
fn insert<'a>(root: &mut DeTable<'a>, setting: &'a Override<'a>) -> Result<(), InputError> {
    let refuse = |message: String| Place::command_line().of(setting.path).error(message);
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
            return Err(refuse(format!("{name} holds a value, no keys; expected a section")));
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
