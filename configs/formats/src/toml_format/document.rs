// SPDX-License-Identifier: GPL-2.0-only
//! A parsed TOML text with the overrides laid over it, from which sections are taken one by one.

use super::source::{Entry, Override, Source};
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::place::Place;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The sections that have not been taken yet.
#[derive(Debug)]
pub(super) struct Document<'a> {
    source: &'a Source<'a>,
    root: DeTable<'a>,
}

impl<'a> Document<'a> {
    /// Parses the text without `dropped` keys, each `section.key`, and lays the overrides over it.
    pub fn parse(source: &'a Source<'a>, dropped: &[String]) -> Result<Document<'a>, InputError> {
        let root = DeTable::parse(source.text).map_err(|error| source.no_toml(&error))?;
        let mut document = Document { source, root: root.into_inner() };
        for (section, key) in dropped.iter().filter_map(|path| path.split_once('.')) {
            if let Some(DeValue::Table(table)) = document.root.get_mut(section).map(Spanned::get_mut) {
                table.remove(key);
            }
        }
        for setting in &source.overrides {
            insert(&mut document.root, setting)?;
        }
        Ok(document)
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

    /// The place of the file as a whole, for errors that no line has.
    pub fn file(&self) -> Place {
        self.source.file.clone()
    }

    /// A section, if it is there.
    pub fn section(&mut self, name: &str) -> Option<Entry<'a>> {
        self.root.remove(name).map(|value| Entry::new(self.source, name, value))
    }

    /// A section that must be there; `example` is what it holds at least.
    pub fn required(&mut self, name: &str, example: &str) -> Result<Entry<'a>, InputError> {
        let message = || format!("the section [{name}] is missing; expected [{name}] with {example}");
        self.section(name).ok_or_else(|| self.source.file.key_error(name, message()))
    }

    /// The texts that a key of all sections `[[section]]` has, which are not taken.
    pub fn values(&self, section: &str, key: &str) -> impl Iterator<Item = &str> {
        let list = self.root.get(section).and_then(|list| list.get_ref().as_array());
        let tables = list.into_iter().flatten().filter_map(|element| element.get_ref().as_table());
        tables.filter_map(move |table| table.get(key)?.get_ref().as_str())
    }

    /// All sections `[[section]]`.
    pub fn list(&mut self, name: &str) -> Result<Vec<Entry<'a>>, InputError> {
        let Some(entry) = self.section(name) else { return Ok(Vec::new()) };
        let message = || format!("[{name}] is a single section; expected [[{name}]]");
        entry.elements().ok_or_else(|| entry.place().key_error(name, message()))
    }
}

/// Puts an override's value where its path leads, making sections on the way.
fn insert<'a>(root: &mut DeTable<'a>, setting: &'a Override<'a>) -> Result<(), InputError> {
    let refuse = |message: String| setting.place().error(message);
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
