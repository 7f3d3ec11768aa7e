// SPDX-License-Identifier: GPL-2.0-only
//! Keys that no structure of the core declares: a group of them is the structure that it is read into.

use super::assign::{assign, by_help};
use super::source::Entry;
use hpcc_core::engine::ENDLESS;
use hpcc_core::settings::{Field, Kind, Setting, SettingError, Value};
use hpcc_core::units::{Bytes, Nanos};
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::flow::MOST_BYTES;
use hpcc_model::origin::Origin;
use hpcc_model::place::Place;
use hpcc_model::scenario::Assumed;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Deref, RangeInclusive};

/// A key of a section.
#[derive(Debug)]
pub(super) struct Key {
    /// Its name and help; and what it holds, if that is no list.
    pub setting: Setting,
    pub form: Form,
    pub is_required: bool,
}

/// What a key holds.
#[derive(Debug)]
pub(super) enum Form {
    One,
    /// A size, or `endless`.
    Lasting,
    /// A list of pairs of nodes.
    Pairs,
    /// A list of tables with these keys.
    Tables(Vec<&'static Key>),
}

/// Keys that are read together, as the structure that they are read into.
pub(super) trait Group: Sized {
    fn keys() -> Vec<&'static Key>;

    fn read(section: &mut Section<'_>) -> Result<Self, InputError>;
}

/// What a section is whose other keys depend on its `kind`.
pub(super) trait Kinds: Sized + 'static {
    /// The keys of all kinds.
    type Common: Group;

    fn kinds() -> Vec<KindOf<Self>>;
}

/// One of these kinds.
pub(super) struct KindOf<K> {
    pub name: &'static str,
    /// Its keys, without those of all kinds.
    pub own: Vec<&'static Key>,
    pub read: fn(&mut Section<'_>) -> Result<K, InputError>,
}

impl<K: Kinds> KindOf<K> {
    pub fn keys(&self) -> Vec<&'static Key> {
        [&self.own[..], &K::Common::keys()].concat()
    }
}

/// Declares groups of keys, each of them a structure. A key reads as in [`settings!`](hpcc_core::settings!): `/// Help.`
/// `#[assumed = "REASON"]` `NAME: TYPE {RANGE} = DEFAULT;`. Without a default it is required, unless its type is an `Option`. A
/// list has an example of an element in place of a range. A group of groups reads `NAME { GROUP: TYPE, ... }`.
macro_rules! keys {
    ($(
        $(#[$meta:meta])*
        $group:ident {$(
            $(#[doc = $help:literal])+
            $(#[assumed = $why:literal])?
            $name:ident: $type:ident $(<$inner:ty>)? $({ $limit:expr })? $(= $default:expr)?;
        )+}
    )+) => {$(
        $(#[$meta])*
        #[allow(non_snake_case, reason = "GOAL has o and O")]
        pub(super) struct $group {
            $($(#[doc = $help])+ pub $name: $type $(<$inner>)?,)+
        }

        #[allow(non_snake_case, reason = "GOAL has o and O")]
        const _: () = {
            use $crate::toml_format::keys::{Group, Key, Section, keys};

            static KEYS: std::sync::LazyLock<[Key; [$(stringify!($name)),+].len()]> = std::sync::LazyLock::new(|| [$({
                type Holds = keys!(@holds $type $($inner)?);
                let (limit, assumed) = (None$(.or(Some($limit)))?, None$(.or(Some($why)))?);
                let key = Key::new::<Holds>(stringify!($name), limit, assumed, &[$($help),+]);
                keys!(@need key $type $($default)?)
            }),+]);

            impl Group for $group {
                fn keys() -> Vec<&'static Key> {
                    KEYS.iter().collect()
                }

                fn read(section: &mut Section<'_>) -> Result<Self, hpcc_model::error::InputError> {
                    let [$($name),+] = &*KEYS;
                    Ok($group {$(
                        $name: {
                            type Holds = keys!(@holds $type $($inner)?);
                            let value = section.value::<Holds>($name, None$(.or(Some($limit)))?)?;
                            keys!(@read value section $name $type $($default)?)
                        },
                    )+})
                }
            }
        };
    )+};
    ($(
        $(#[$meta:meta])*
        $group:ident { $($name:ident: $type:ty),+ }
    )+) => {$(
        $(#[$meta])*
        pub(super) struct $group {
            $(pub $name: $type,)+
        }

        impl $crate::toml_format::keys::Group for $group {
            fn keys() -> Vec<&'static $crate::toml_format::keys::Key> {
                [$(<$type as $crate::toml_format::keys::Group>::keys()),+].concat()
            }

            fn read(
                section: &mut $crate::toml_format::keys::Section<'_>,
            ) -> Result<Self, hpcc_model::error::InputError> {
                Ok($group { $($name: $crate::toml_format::keys::Group::read(section)?),+ })
            }
        }
    )+};
    (@holds Option $inner:ty) => { $inner };
    (@holds $type:ident $($inner:ty)?) => { $type $(<$inner>)? };
    (@need $key:ident Option) => { $key };
    (@need $key:ident $type:ident) => { Key { is_required: true, ..$key } };
    (@need $key:ident $type:ident $default:expr) => { $key.or::<Holds>($default) };
    (@read $value:ident $section:ident $key:ident Option) => { $value };
    (@read $value:ident $section:ident $key:ident $type:ident) => { $value.ok_or_else(|| $section.missing($key))? };
    (@read $value:ident $section:ident $key:ident $type:ident $default:expr) => { $value.unwrap_or_else(|| $default) };
}
pub(super) use keys;

/// Declares the kinds of a section, each with its groups of keys; those of all kinds are in brackets.
macro_rules! kinds {
    (
        $(#[$meta:meta])*
        $kinds:ident($common:ty) {$(
            $word:literal => $kind:ident { $($name:ident: $group:ty),+ };
        )+}
    ) => {
        $(#[$meta])*
        pub(super) enum $kinds {
            $($kind { $($name: $group),+ },)+
        }

        impl $crate::toml_format::keys::Kinds for $kinds {
            type Common = $common;

            fn kinds() -> Vec<$crate::toml_format::keys::KindOf<Self>> {
                use $crate::toml_format::keys::{Group, KindOf};

                vec![$(KindOf {
                    name: $word,
                    own: [$(<$group as Group>::keys()),+].concat(),
                    read: |section| Ok($kinds::$kind { $($name: Group::read(section)?),+ }),
                }),+]
            }
        }
    };
}
pub(super) use kinds;

/// A share, or a probability.
pub(super) const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// A time that is longer than none.
pub(super) const INTERVAL: RangeInclusive<Nanos> = Nanos(1)..=Nanos::LONGEST;
/// What a flow or a message carries.
pub(super) const PAYLOAD: RangeInclusive<u64> = 1..=MOST_BYTES;

impl Key {
    /// An optional one.
    pub fn new<T: Held>(
        key: &'static str,
        limit: Option<T::Limit>,
        assumed: Option<&'static str>,
        help: &[&'static str],
    ) -> Key {
        let help = help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let (kind, default) = (T::kind(limit), Value::Auto);
        let setting = Setting { key, kind, auto: false, default, condition: None, of_network: false, assumed, help };
        Key { setting, form: T::form(), is_required: false }
    }

    /// The same with a default.
    pub fn or<T: Field>(mut self, default: T) -> Key {
        self.setting.default = Field::value(&default);
        self
    }
}

/// A type of keys.
pub(super) trait Held: Sized {
    /// Bounds; of a list an example.
    type Limit;

    /// The kind of a value; of a list it is of no use.
    fn kind(_: Option<Self::Limit>) -> Kind {
        Kind::Text
    }

    fn form() -> Form;

    fn read(section: &str, key: &Key, entry: &Entry<'_>, limit: Option<Self::Limit>) -> Result<Self, InputError>;

    /// The value, unless it is a list.
    fn value(&self) -> Option<Value> {
        None
    }
}

impl<T: Field> Held for T {
    type Limit = RangeInclusive<T::Bound>;

    fn kind(bounds: Option<RangeInclusive<T::Bound>>) -> Kind {
        T::kind(bounds.map(T::range))
    }

    fn form() -> Form {
        Form::One
    }

    fn read(
        section: &str,
        key: &Key,
        entry: &Entry<'_>,
        bounds: Option<RangeInclusive<T::Bound>>,
    ) -> Result<T, InputError> {
        let read =
            assign(&key.setting, entry, |input| T::read(input, bounds.map(T::range)).map_err(SettingError::Value));
        read.map_err(|message| entry.error(section, message))
    }

    fn value(&self) -> Option<Value> {
        Some(Field::value(self))
    }
}

/// Payload bytes, or `endless`.
pub(super) struct Lasting(pub u64);

impl Held for Lasting {
    type Limit = RangeInclusive<u64>;

    fn kind(bounds: Option<RangeInclusive<u64>>) -> Kind {
        <Bytes as Held>::kind(bounds)
    }

    fn form() -> Form {
        Form::Lasting
    }

    fn read(
        section: &str,
        key: &Key,
        entry: &Entry<'_>,
        bounds: Option<RangeInclusive<u64>>,
    ) -> Result<Lasting, InputError> {
        if entry.value().is_some_and(|value| value.as_str() == Some("endless")) {
            return Ok(Lasting(ENDLESS));
        }
        <Bytes as Held>::read(section, key, entry, bounds).map(|size| Lasting(size.0))
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Bytes(self.0))
    }
}

/// A list.
pub(super) struct List<T>(pub Vec<T>);

/// A list of tables.
pub(super) type Tables<T> = List<Read<T>>;

/// What a list holds.
pub(super) trait Element: Sized {
    fn form() -> Form;

    fn read(section: &str, list: &Entry<'_>, element: &Entry<'_>) -> Result<Self, InputError>;
}

impl<T: Element> Held for List<T> {
    type Limit = &'static str;

    fn form() -> Form {
        T::form()
    }

    fn read(section: &str, _: &Key, entry: &Entry<'_>, example: Option<&str>) -> Result<List<T>, InputError> {
        let example = example.map_or_else(String::new, |example| format!(" of such as {example}"));
        let message = || format!("the value is {}; expected a list{example}", entry.written());
        let elements = entry.elements().ok_or_else(|| entry.error(section, message()))?;
        elements.iter().map(|element| T::read(section, entry, element)).collect::<Result<_, _>>().map(List)
    }
}

/// A pair of nodes.
impl Element for ([u32; 2], Place) {
    fn form() -> Form {
        Form::Pairs
    }

    fn read(section: &str, list: &Entry<'_>, element: &Entry<'_>) -> Result<([u32; 2], Place), InputError> {
        let number = |entry: &Entry<'_>| u32::try_from(entry.value()?.as_integer()?).ok();
        let numbers: Option<Vec<u32>> = element.elements().and_then(|pair| pair.iter().map(number).collect());
        let pair = numbers.and_then(|numbers| numbers.try_into().ok()).map(|pair| (pair, element.place()));
        let message = || format!("the value is {}; expected two numbers of nodes", element.written());
        pair.ok_or_else(|| list.error(section, message()))
    }
}

impl<T: Group> Element for Read<T> {
    fn form() -> Form {
        Form::Tables(T::keys())
    }

    fn read(section: &str, list: &Entry<'_>, element: &Entry<'_>) -> Result<Read<T>, InputError> {
        let name = format!("{section}.{}", list.key);
        let message = || format!("the value is {}; expected a table", element.written());
        let entries = element.entries().ok_or_else(|| element.place().key_error(&name, message()))?;
        Read::new(name, element.place(), entries)
    }
}

/// What a section says.
pub(super) struct Section<'a> {
    pub origin: Origin,
    entries: Vec<Entry<'a>>,
    /// Of the keys that were read and are no lists, with whether it is the default.
    values: BTreeMap<&'static str, (Value, bool)>,
}

impl<'a> Section<'a> {
    /// A section, which has no other keys than these.
    fn new(
        name: impl Into<Cow<'static, str>>,
        place: Place,
        entries: Vec<Entry<'a>>,
        keys: &[&Key],
    ) -> Result<Section<'a>, InputError> {
        let places = entries.iter().map(|entry| (entry.key.clone(), entry.place())).collect();
        let origin = Origin::new(name, place, places);
        let names: Vec<&str> = keys.iter().map(|key| key.setting.key).collect();
        if let Some(Entry { key, .. }) = entries.iter().find(|entry| !names.contains(&&*entry.key)) {
            let message = format!("unknown key {key} in [{}]{}", origin.name(), suggestion(key, &names));
            return Err(origin.error(&[key], message));
        }
        Ok(Section { origin, entries, values: BTreeMap::new() })
    }

    /// The value that a key was given.
    pub fn value<T: Held>(&mut self, key: &'static Key, limit: Option<T::Limit>) -> Result<Option<T>, InputError> {
        let Setting { key: name, default, assumed, .. } = &key.setting;
        let Some(entry) = self.entries.iter().find(|entry| entry.key == *name) else {
            if let (Some(reason), Some(entry)) = (assumed, self.entries.first()) {
                let (key, value) = (format!("{}.{name}", self.origin.name()), default.text());
                entry.assume(Assumed { key, value, reason: (*reason).into() });
            }
            if *default != Value::Auto {
                self.values.insert(name, (default.clone(), true));
            }
            return Ok(None);
        };
        let held = T::read(self.origin.name(), key, entry, limit)?;
        if let Some(value) = held.value() {
            let is_default = value == *default;
            self.values.insert(name, (value, is_default));
        }
        Ok(Some(held))
    }

    /// An error that says that a key has no value.
    pub fn missing(&self, key: &Key) -> InputError {
        let Setting { key, help, .. } = &key.setting;
        let message = format!("{key} is missing from [{}]; expected {key}: {}", self.origin.name(), by_help(help));
        self.origin.error(&[key], message)
    }

    /// All that the section says beyond what holds by default, whatever the order and the units that it was written in.
    pub fn text(&self, but: &[&str]) -> String {
        let own = self.values.iter().filter(|(key, (_, is_default))| !is_default && !but.contains(key));
        let values = own.map(|(key, (value, _))| format!("{key} = {value:?}"));
        let lists = self.entries.iter().filter(|entry| !self.values.contains_key(&*entry.key));
        let lists = lists.map(|list| format!("{} = {:?}", list.key, list.value()));
        values.chain(lists).collect::<Vec<_>>().join(", ")
    }

    /// The keys with their values, if they are no lists.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(key, (value, _))| (*key, value))
    }
}

/// What was read of a section, and where.
pub(super) struct Read<T> {
    pub origin: Origin,
    keys: T,
}

impl<T> Deref for Read<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.keys
    }
}

impl<T: Group> Read<T> {
    /// Reads what a section holds.
    pub fn new(
        section: impl Into<Cow<'static, str>>,
        place: Place,
        entries: Vec<Entry<'_>>,
    ) -> Result<Read<T>, InputError> {
        let mut section = Section::new(section, place, entries, &T::keys())?;
        let keys = T::read(&mut section)?;
        Ok(Read { origin: section.origin, keys })
    }

    /// Reads a section.
    pub fn of(section: &'static str, entry: &Entry<'_>) -> Result<Read<T>, InputError> {
        Read::new(section, entry.place(), entry.section()?)
    }

    /// Reads a section that need not be there.
    pub fn of_optional(section: &'static str, entry: Option<Entry<'_>>, file: Place) -> Result<Read<T>, InputError> {
        entry.map_or_else(|| Read::new(section, file, Vec::new()), |entry| Read::of(section, &entry))
    }
}

/// A section of a kind.
pub(super) struct OfKind<'a, K: Kinds> {
    pub section: Section<'a>,
    /// The kind's name.
    pub name: &'static str,
    pub kind: K,
    pub common: K::Common,
}

impl<'a, K: Kinds> OfKind<'a, K> {
    /// Reads a section.
    pub fn of(section: &'static str, entry: &Entry<'a>) -> Result<OfKind<'a, K>, InputError> {
        let kinds = K::kinds();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
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
        let Some(found) = kinds.iter().find(|kind| kind.name == name) else {
            return Err(chosen.error(section, format!("unknown kind \"{name}\"{}", suggestion(&name, &names))));
        };
        let mut section = Section::new(section, place, entries, &found.keys())?;
        let (kind, common) = ((found.read)(&mut section)?, K::Common::read(&mut section)?);
        section.origin.add("kind", chosen.place());
        Ok(OfKind { section, name: found.name, kind, common })
    }
}

impl Group for () {
    fn keys() -> Vec<&'static Key> {
        Vec::new()
    }

    fn read(_: &mut Section<'_>) -> Result<(), InputError> {
        Ok(())
    }
}
