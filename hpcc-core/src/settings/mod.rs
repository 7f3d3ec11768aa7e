// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that a user gives: declared once, beside what uses them.
//!
//! [`settings!`](crate::settings!) makes a structure from one entry for each setting - name, type, range, default, what
//! it does and when to change it - and implements [`Settings`] for it. Everything that a front end needs follows from that: keys of
//! TOML files, ns-3 attributes, `--set`, the echo in a run's summary, and the tables of the documentation.
//!
//! ```
//! hpcc_core::settings! {
//!     /// How a link is used.
//!     #[derive(Clone, Copy, Debug, PartialEq)]
//!     pub struct LinkSettings {
//!         /// Target utilisation.
//!         #[change = "More fills the link further, and a queue longer."]
//!         pub eta: f64 {0.01..=2.0} = 0.95;
//!         /// Rounds before a step.
//!         #[change = "Fewer take free bandwidth sooner."]
//!         pub max_stage: u32 = 5;
//!     }
//! }
//! use hpcc_core::settings::{Input, Settings};
//! let mut link = LinkSettings::default();
//! link.set("eta", Input::Real(0.5)).expect("in range");
//! assert!(link.set("eta", Input::Real(3.0)).is_err());
//! assert_eq!(link.eta, 0.5);
//! ```

mod declare;
mod field;
mod input;
mod named;
pub mod quantity;
#[cfg(test)]
mod tests;
mod value;
mod written;

pub use field::{Field, Range};
pub use input::Input;
pub use named::Named;
pub use value::Value;
pub use written::{FromText, Written};

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The kind of a setting's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count {
        /// Smallest value that is accepted.
        least: u64,
        /// Largest value that is accepted.
        most: u64,
    },
    /// A size in bytes.
    Bytes {
        /// Smallest, in bytes.
        least: u64,
        /// Largest, in bytes.
        most: u64,
    },
    /// A time, in nanoseconds.
    Time {
        /// Shortest, in nanoseconds.
        least: u64,
        /// Longest, in nanoseconds.
        most: u64,
    },
    /// A data rate.
    Rate {
        /// Lowest, in bits per second.
        least: u64,
        /// Highest, in bits per second.
        most: u64,
    },
    /// A number, not necessarily whole.
    Real {
        /// Smallest value that is accepted.
        least: f64,
        /// Largest value that is accepted.
        most: f64,
    },
    /// One of several words.
    Choice(Vec<String>),
    /// Free text, which its user checks.
    Text,
}

/// A condition under which a setting counts: another setting of the same structure has one of these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The other setting's key.
    pub key: &'static str,
    /// Its values, as text.
    pub values: &'static [&'static str],
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name in snake case.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether the value may be left to the simulator, which derives it from the rest of the scenario: `auto`.
    pub auto: bool,
    /// Its default.
    pub default: Value,
    /// When it counts; `None`: always.
    pub condition: Option<Condition>,
    /// Whether it is of the network, which all nodes share, and so of no host or switch alone.
    pub of_network: bool,
    /// Why the default is what it is, if it decides results: those of a run that was not given the setting say so.
    pub assumed: Option<&'static str>,
    /// Its meaning, and then when to change it, in one line.
    pub help: String,
}

/// Why a setting was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is none of that name.
    Unknown,
    /// The value cannot be used: a sentence for the user that says what was expected.
    Value(String),
}

/// Settings that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The setting to blame.
    pub key: &'static str,
    /// A sentence for the user that says what was expected.
    pub message: String,
}

impl Conflict {
    /// Blames `key`.
    pub fn new(key: &'static str, message: String) -> Conflict {
        Conflict { key, message }
    }
}

/// A structure of settings; one that says nothing else has none.
pub trait Settings {
    /// All settings, in the order of their declaration.
    fn list(&self) -> Vec<Setting> {
        Vec::new()
    }

    /// The value of a setting; `None` if there is none of that name.
    fn get(&self, _: &str) -> Option<Value> {
        None
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// If there is none of that name, or the value is of another kind or out of range; nothing changes then.
    fn set(&mut self, _: &str, _: Input<'_>) -> Result<(), SettingError> {
        Err(SettingError::Unknown)
    }

    /// Takes over the settings that are of the network.
    fn share(&mut self, _: &Self)
    where
        Self: Sized,
    {
    }
}

impl Setting {
    /// The first sentence of the help: its meaning.
    pub fn summary(&self) -> &str {
        first_sentence(&self.help)
    }

    /// Whether the setting counts with these settings.
    pub fn counts(&self, settings: &dyn Settings) -> bool {
        let Some(Condition { key, values }) = self.condition else { return true };
        settings.get(key).is_some_and(|value| values.contains(&value.text().as_str()))
    }

    /// Why the setting does not count with these settings, if it does not: a sentence for the user.
    pub fn idle(&self, settings: &dyn Settings) -> Option<String> {
        let Condition { key, values } = self.condition.filter(|_| !self.counts(settings))?;
        let is_switch = |value: &&str| ["true", "false"].contains(value);
        let written = |value: &&str| if is_switch(value) { String::from(*value) } else { format!("\"{value}\"") };
        let values: Vec<String> = values.iter().map(written).collect();
        Some(format!("{} belongs to {key} = {}", self.key, values.join(" or ")))
    }
}

/// What the macros need of `alloc` where a crate does not name it.
#[doc(hidden)]
pub mod __private {
    use super::{Field, Input, Kind, Named, Setting, Settings, Value};

    pub use alloc::string::String;
    pub use alloc::vec;
    pub use alloc::vec::Vec;

    /// Lines of documentation as one, without the space that each begins with.
    pub fn sentence(lines: &[&str]) -> String {
        lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// Settings of a structure that another one includes with these defaults.
    pub fn included(default: &dyn Settings) -> Vec<Setting> {
        let mut list = default.list();
        for setting in &mut list {
            setting.default = default.get(setting.key).unwrap_or(Value::Auto);
        }
        list
    }

    /// The kind of a choice.
    pub fn choices<T: Named>() -> Kind {
        Kind::Choice(T::NAMES.iter().map(|name| String::from(*name)).collect())
    }

    /// Reads the name of a choice.
    pub fn choice<T: Named + Field>(input: Input<'_>) -> Result<T, String> {
        let named = match input {
            Input::Text(name) => T::from_name(name),
            Input::Switch(_) | Input::Whole(_) | Input::Large(_) | Input::Real(_) => None,
        };
        named.ok_or_else(|| {
            alloc::format!("the value is {}; expected one of {}", input.shown(), T::kind(None).expected())
        })
    }
}

/// The first sentence of a text.
pub fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// A name in snake case as ns-3 writes it: `max_stage` is `MaxStage`.
pub fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
