// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms that can be chosen, and the choice.

use crate::cc::{self, Algorithm};
use crate::settings::{Input, Kind, Setting, SettingError, Settings, Value};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The key of the choice.
pub(super) const KEY: &str = "algorithm";

/// Congestion control: which algorithm, and the parameters of each.
#[derive(Clone, Debug)]
pub struct ControlSettings {
    /// At least one.
    pub(super) algorithms: Vec<Box<dyn Algorithm>>,
    chosen: usize,
    finder: Finder,
}

/// Finds an algorithm outside this crate by a name that is none of its own.
pub type Finder = fn(&str) -> Option<Box<dyn Algorithm>>;

impl ControlSettings {
    /// The algorithms of this crate, others besides, and those that `finder` finds when they are asked for.
    pub fn with(foreign: Vec<Box<dyn Algorithm>>, finder: Finder) -> Self {
        let mut algorithms = cc::all();
        algorithms.extend(foreign);
        ControlSettings { algorithms, chosen: 0, finder }
    }

    /// The place of the algorithm of this name.
    fn find(&mut self, name: &str) -> Option<usize> {
        let known = self.algorithms.iter().position(|algorithm| algorithm.name() == name);
        known.or_else(|| {
            self.algorithms.push((self.finder)(name)?);
            Some(self.algorithms.len() - 1)
        })
    }

    /// The chosen algorithm.
    pub fn chosen(&self) -> &dyn Algorithm {
        self.algorithms[self.chosen].as_ref()
    }

    /// All algorithms.
    pub fn all(&self) -> impl Iterator<Item = &dyn Algorithm> {
        self.algorithms.iter().map(AsRef::as_ref)
    }

    /// Chooses an algorithm with its parameters, in place of what there is under that name.
    pub fn choose(&mut self, algorithm: Box<dyn Algorithm>) {
        match self.algorithms.iter().position(|known| known.name() == algorithm.name()) {
            Some(place) => {
                self.algorithms[place] = algorithm;
                self.chosen = place;
            }
            None => {
                self.chosen = self.algorithms.len();
                self.algorithms.push(algorithm);
            }
        }
    }

    /// The names of all algorithms.
    pub fn names(&self) -> Vec<String> {
        self.all().map(|algorithm| algorithm.name().to_string()).collect()
    }
}

impl Default for ControlSettings {
    fn default() -> Self {
        ControlSettings::with(Vec::new(), |_| None)
    }
}

impl PartialEq for ControlSettings {
    /// Whether the choice and its parameters are the same.
    fn eq(&self, other: &Self) -> bool {
        self.chosen() == other.chosen()
    }
}

/// The choice alone: the parameters are those of the algorithms.
impl Settings for ControlSettings {
    fn list(&self) -> Vec<Setting> {
        let first = self.algorithms.first().map_or("", |algorithm| algorithm.name());
        let help =
            "Congestion control of flows that start here, whose parameters the section may hold as well. Change it to \
                    compare controllers: each brings its own needs of telemetry, marks, window and acknowledgements."
                .into();
        let (kind, default) = (Kind::Choice(self.names()), Value::Word(first.into()));
        [Setting { key: KEY, kind, auto: false, default, condition: None, help }].into()
    }

    fn get(&self, key: &str) -> Option<Value> {
        (key == KEY).then(|| Value::Word(self.chosen().name().into()))
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        if key != KEY {
            return Err(SettingError::Unknown);
        }
        let place = match input {
            Input::Text(name) => self.find(name),
            Input::Switch(_) | Input::Whole(_) | Input::Large(_) | Input::Real(_) => None,
        };
        let known =
            || format!("the value is {}; expected one of {}", input.shown(), Kind::Choice(self.names()).expected());
        self.chosen = place.ok_or_else(|| SettingError::Value(known()))?;
        Ok(())
    }
}
