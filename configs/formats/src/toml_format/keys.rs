// SPDX-License-Identifier: GPL-2.0-only
//! Keys that no structure of the core declares: each is declared once, as a setting is, and sections are read by these
//! declarations.

use super::assign::{assign, by_help};
use super::source::Entry;
use crate::error::{InputError, suggestion};
use crate::flow::MOST_BYTES;
use crate::origin::Origin;
use crate::place::Place;
use crate::scenario::Assumed;
use hpcc_core::engine::ENDLESS;
use hpcc_core::settings::{Field, Input, Kind, Range, Setting, SettingError, Value, quantity};
use hpcc_core::units::{BitRate, Bytes, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// A key of a section.
#[derive(Debug)]
pub(super) struct Key {
    pub name: &'static str,
    pub form: Form,
    pub need: Need,
    /// Why it is what it is without being given, if that decides results.
    pub assumed: Option<&'static str>,
    /// Lines on what it does, and then when to change it.
    pub help: &'static [&'static str],
}

/// What a key holds.
#[derive(Debug)]
pub(super) enum Form {
    One(Kind),
    Word(&'static [&'static str]),
    /// A size, or `endless`.
    Lasting,
    /// A list of pairs of nodes, such as the example.
    Pairs(&'static str),
    /// A list of tables, such as the example.
    Tables(&'static [Key], &'static str),
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
    /// Without it, this is its value.
    Else(&'static str),
}

/// A kind of a section, by which it has other keys, and these keys in groups.
pub(super) type KindOf = (&'static str, &'static [&'static [Key]]);

/// Declares groups of keys. An entry reads `/// Help.` `NAME: FORM => NEED;`, and the key is required without a need. `, "REASON"` behind
/// it says that the default decides results, and why it is what it is.
macro_rules! keys {
    ($(
        $(#[$meta:meta])*
        $group:ident { $($(#[doc = $help:literal])+ $name:ident: $form:expr $(=> $need:expr)? $(, $why:literal)?;)+ }
    )+) => {$(
        $(#[$meta])*
        pub(super) static $group: &[$crate::toml_format::keys::Key] = &[$(
            $crate::toml_format::keys::Key {
                name: stringify!($name),
                form: $form,
                need: $crate::toml_format::keys::keys!(@need $($need)?),
                assumed: $crate::toml_format::keys::keys!(@assumed $($why)?),
                help: &[$($help),+],
            },
        )+];
    )+};
    (@need) => { $crate::toml_format::keys::Need::Required };
    (@need $need:expr) => { $need };
    (@assumed) => { None };
    (@assumed $why:literal) => { Some($why) };
}
pub(super) use keys;

/// A whole number, at least so large and at most so large.
pub(super) const fn whole(least: u64, most: u64) -> Form {
    Form::One(Kind::Count { least, most })
}

pub(super) const COUNT: Form = whole(0, u32::MAX as u64);
pub(super) const SIZE: Form = Form::One(Kind::Bytes { least: 0, most: MOST_BYTES });
pub(super) const TIME: Form = Form::One(Kind::Time { least: 0, most: quantity::LARGEST });
pub(super) const INTERVAL: Form = Form::One(Kind::Time { least: 1, most: quantity::LARGEST });
pub(super) const RATE: Form = Form::One(Kind::Rate { least: 0, most: quantity::LARGEST });
pub(super) const SHARE: Form = Form::One(Kind::Real { least: 0.0, most: 1.0 });
pub(super) const TEXT: Form = Form::One(Kind::Text);

impl Key {
    /// What it does, and then when to change it.
    pub fn help(&self) -> String {
        self.help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// The key as a setting; `None` of a list of more than nodes.
    pub fn setting(&self) -> Option<Setting> {
        let kind = match &self.form {
            Form::One(kind) => kind.clone(),
            Form::Lasting => Kind::Bytes { least: 1, most: MOST_BYTES },
            Form::Word(words) => Kind::Choice(words.iter().map(ToString::to_string).collect()),
            Form::Pairs(_) | Form::Tables(..) => return None,
        };
        let help = self.help();
        let mut setting = Setting {
            key: self.name,
            kind,
            auto: false,
            default: Value::Auto,
            condition: None,
            of_network: false,
            assumed: self.assumed,
            help,
        };
        if let Need::Else(text) = self.need {
            let default = Input::parse(&setting, text).and_then(|input| value(&setting.kind, input));
            setting.default = default.unwrap_or(Value::Auto);
        }
        Some(setting)
    }
}

/// What an input means to a kind. The error is a sentence for the user.
fn value(kind: &Kind, input: Input<'_>) -> Result<Value, String> {
    let whole = |least: &u64, most: &u64| Some(Range::Whole(*least, *most));
    match kind {
        Kind::Switch => bool::read(input, None).map(Value::Switch),
        Kind::Count { least, most } => u64::read(input, whole(least, most)).map(Value::Count),
        Kind::Bytes { least, most } => Bytes::read(input, whole(least, most)).map(|bytes| Value::Bytes(bytes.0)),
        Kind::Time { least, most } => Nanos::read(input, whole(least, most)).map(Value::Time),
        Kind::Rate { least, most } => BitRate::read(input, whole(least, most)).map(Value::Rate),
        Kind::Real { least, most } => f64::read(input, Some(Range::Real(*least, *most))).map(Value::Real),
        Kind::Text => String::read(input, None).map(Value::Text),
        Kind::Choice(words) => {
            let known = words.iter().find(|known| input == Input::Text(known));
            known.map(|word| Value::Word(word.clone())).ok_or_else(|| format!("expected one of {}", kind.expected()))
        }
    }
}

/// What the keys of a section were given, or are without that.
#[derive(Debug)]
pub(super) struct Values<'a> {
    pub origin: Origin,
    values: BTreeMap<&'static str, Value>,
    /// Keys whose value is the default.
    usual: BTreeSet<&'static str>,
    lists: BTreeMap<&'static str, Entry<'a>>,
}

impl<'a> Values<'a> {
    /// Reads a section.
    pub fn of(section: &'static str, entry: &Entry<'a>, keys: &'static [Key]) -> Result<Values<'a>, InputError> {
        Values::read(section, entry.place(), &entry.section()?, &[keys])
    }

    /// Reads a section that need not be there.
    pub fn of_optional(
        section: &'static str,
        entry: Option<Entry<'a>>,
        file: Place,
        keys: &'static [Key],
    ) -> Result<Values<'a>, InputError> {
        entry.map_or_else(|| Values::read(section, file, &[], &[keys]), |entry| Values::of(section, &entry, keys))
    }

    /// Reads a section whose other keys depend on its `kind`, which is returned.
    pub fn of_kind(
        section: &'static str,
        entry: &Entry<'a>,
        kinds: &'static [KindOf],
    ) -> Result<(&'static str, Values<'a>), InputError> {
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        let expected = || format!("expected one of {}", names.join(", "));
        let (mut entries, place) = (entry.section()?, entry.place());
        let Some(chosen) = Entry::take(&mut entries, "kind") else {
            let message = format!("kind is missing from [{section}]; {}", expected());
            return Err(place.key_error(format!("{section}.kind"), message));
        };
        let name = match chosen.value() {
            Some(toml::Value::String(name)) => name,
            _ => return Err(chosen.error(section, format!("the value is {}; {}", chosen.written(), expected()))),
        };
        let Some((kind, keys)) = kinds.iter().find(|(known, _)| *known == name) else {
            return Err(chosen.error(section, format!("unknown kind \"{name}\"{}", suggestion(&name, &names))));
        };
        let mut values = Values::read(section, place, &entries, keys)?;
        values.origin.add("kind", chosen.place());
        Ok((kind, values))
    }

    /// Reads what a section holds, whose keys are in groups.
    pub fn read(
        section: &'static str,
        place: Place,
        entries: &[Entry<'a>],
        groups: &[&'static [Key]],
    ) -> Result<Values<'a>, InputError> {
        let places = entries.iter().map(|entry| (entry.key.clone(), entry.place())).collect();
        let origin = Origin::new(section, place, places);
        let mut read = Values { origin, values: BTreeMap::new(), usual: BTreeSet::new(), lists: BTreeMap::new() };
        let keys = || groups.iter().copied().flatten();
        for entry in entries {
            let wrong = |message| entry.error(section, message);
            let key = keys().find(|key| key.name == entry.key).ok_or_else(|| {
                let names: Vec<&str> = keys().map(|key| key.name).collect();
                wrong(format!("unknown key {} in [{section}]{}", entry.key, suggestion(&entry.key, &names)))
            })?;
            read.give(key, entry).map_err(wrong)?;
        }
        for key in keys().filter(|key| entries.iter().all(|entry| entry.key != key.name)) {
            match (key.need, key.setting()) {
                (Need::Required, _) => {
                    let message =
                        format!("{0} is missing from [{section}]; expected {0}: {1}", key.name, by_help(&key.help()));
                    return Err(read.origin.error(&[key.name], message));
                }
                (Need::Else(_), Some(setting)) => _ = read.values.insert(key.name, setting.default),
                (Need::Optional | Need::Else(_), _) => {}
            }
            if let (Some(reason), Some(entry)) = (key.assumed, entries.first()) {
                let value = read.values.get(key.name).map_or_else(|| "auto".into(), Value::text);
                entry.assume(Assumed { key: format!("{section}.{}", key.name), value, reason: reason.into() });
            }
        }
        for key in keys().filter(|key| matches!(key.need, Need::Else(_))) {
            let default = key.setting().map(|setting| setting.default);
            if read.values.get(key.name) == default.as_ref() {
                read.usual.insert(key.name);
            }
        }
        Ok(read)
    }

    fn give(&mut self, key: &'static Key, entry: &Entry<'a>) -> Result<(), String> {
        if matches!(key.form, Form::Lasting) && entry.value().is_some_and(|value| value.as_str() == Some("endless")) {
            self.values.insert(key.name, Value::Bytes(ENDLESS));
            return Ok(());
        }
        let example = match (&key.form, key.setting()) {
            (_, Some(setting)) => {
                return assign(&setting, entry, |input| {
                    self.values.insert(key.name, value(&setting.kind, input).map_err(SettingError::Value)?);
                    Ok(())
                });
            }
            (Form::Pairs(example) | Form::Tables(_, example), None) => example,
            (Form::One(_) | Form::Word(_) | Form::Lasting, None) => "",
        };
        if entry.elements().is_none() {
            return Err(format!("the value is {}; expected a list of such as {example}", entry.written()));
        }
        self.lists.insert(key.name, entry.clone());
        Ok(())
    }

    /// All that the section says beyond what holds by default, whatever the order and the units that it was written in.
    pub fn text(&self, but: &[&str]) -> String {
        let own = self.values.iter().filter(|(key, _)| !self.usual.contains(*key) && !but.contains(key));
        let values = own.map(|(key, value)| format!("{key} = {value:?}"));
        let lists = self.lists.iter().map(|(key, list)| format!("{key} = {:?}", list.value()));
        values.chain(lists).collect::<Vec<_>>().join(", ")
    }

    /// Whether a key has a value.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key) || self.lists.contains_key(key)
    }

    /// All keys with their values.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(key, value)| (*key, value))
    }

    /// The value of a key, if it has one.
    pub fn get<T: Stored>(&self, key: &str) -> Option<T> {
        self.values.get(key).and_then(T::of)
    }

    /// The value of a key that has one.
    pub fn the<T: Stored + Default>(&self, key: &str) -> T {
        self.get(key).unwrap_or_default()
    }

    /// The tables in a list.
    pub fn tables(
        &self,
        section: &'static str,
        keys: &'static [Key],
        key: &str,
    ) -> Result<Vec<Values<'a>>, InputError> {
        let list = self.lists.get(key).and_then(Entry::elements).unwrap_or_default();
        let table = |element: &Entry<'a>| {
            let message = || format!("the value is {}; expected a table", element.written());
            let entries = element.entries().ok_or_else(|| element.place().key_error(section, message()))?;
            Values::read(section, element.place(), &entries, &[keys])
        };
        list.iter().map(table).collect()
    }

    /// The pairs of nodes in a list, with their places.
    pub fn pairs(&self, key: &str) -> Result<Vec<([u32; 2], Place)>, InputError> {
        let list = self.lists.get(key).and_then(Entry::elements).unwrap_or_default();
        let number = |entry: &Entry<'_>| u32::try_from(entry.value()?.as_integer()?).ok();
        let pair = |element: &Entry<'a>| {
            let numbers = element.elements().unwrap_or_default();
            match numbers.iter().map(number).collect::<Option<Vec<u32>>>().as_deref() {
                Some(&[a, b]) => Ok(([a, b], element.place())),
                _ => {
                    let message = format!("the value is {}; expected two numbers of nodes", element.written());
                    Err(self.origin.error(&[key], message))
                }
            }
        };
        list.iter().map(pair).collect()
    }
}

/// A type that values have.
pub(super) trait Stored: Sized {
    fn of(value: &Value) -> Option<Self>;
}

macro_rules! stored {
    ($($kind:ident($value:ident) => $type:ty = $get:expr;)*) => {$(
        impl Stored for $type {
            fn of(value: &Value) -> Option<Self> {
                let Value::$kind($value) = value else { return None };
                $get
            }
        }
    )*};
}

stored! {
    Count(count) => u8 = (*count).try_into().ok();
    Count(count) => u16 = (*count).try_into().ok();
    Count(count) => u32 = (*count).try_into().ok();
    Real(number) => f64 = Some(*number);
    Switch(on) => bool = Some(*on);
    Time(time) => Nanos = Some(*time);
    Rate(rate) => BitRate = Some(*rate);
}

impl Stored for String {
    fn of(value: &Value) -> Option<Self> {
        if let Value::Text(text) | Value::Word(text) = value { Some(text.clone()) } else { None }
    }
}

impl Stored for u64 {
    fn of(value: &Value) -> Option<Self> {
        if let Value::Count(number) | Value::Bytes(number) = value { Some(*number) } else { None }
    }
}
