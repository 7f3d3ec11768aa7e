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

/// Finds an algorithm outside this crate by a name that is none of its own. The error ends the sentence "expected one of ...,
/// or ...": what else a name may be, and why this one is not that; empty if there is nothing else.
pub type Finder = fn(&str) -> Result<Box<dyn Algorithm>, String>;

impl ControlSettings {
    /// The algorithms of this crate, others besides, and those that `finder` finds when they are asked for.
    pub fn with(foreign: Vec<Box<dyn Algorithm>>, finder: Finder) -> Self {
        let mut algorithms = cc::all();
        algorithms.extend(foreign);
        ControlSettings { algorithms, chosen: 0, finder }
    }

    /// The place of the algorithm of this name, or what the [`Finder`] says.
    fn find(&mut self, name: &str) -> Result<usize, String> {
        if let Some(known) = self.algorithms.iter().position(|algorithm| algorithm.name() == name) {
            return Ok(known);
        }
        self.algorithms.push((self.finder)(name)?);
        Ok(self.algorithms.len() - 1)
    }

    /// The chosen algorithm.
    pub fn chosen(&self) -> &dyn Algorithm {
        self.algorithms[self.chosen].as_ref()
    }

    /// All algorithms.
    pub fn all(&self) -> impl Iterator<Item = &dyn Algorithm> {
        self.algorithms.iter().map(AsRef::as_ref)
    }

    /// The algorithm of this name, which need not be the chosen one.
    ///
    /// # Errors
    /// What the [`Finder`] says of a name that is unknown.
    pub fn named(&self, name: &str) -> Result<Box<dyn Algorithm>, String> {
        let known = self.all().find(|algorithm| algorithm.name() == name);
        known.map_or_else(|| (self.finder)(name), |algorithm| Ok(algorithm.clone_algorithm()))
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
        ControlSettings::with(Vec::new(), |_| Err(String::new()))
    }
}

impl PartialEq for ControlSettings {
    /// Whether the choice and its parameters are the same.
    fn eq(&self, other: &Self) -> bool {
        self.chosen() == other.chosen()
    }
}

/// Why the first is the default.
const ASSUMED: Option<&str> = Some("the algorithm that this simulator is about");

/// The choice alone: the parameters are those of the algorithms.
impl Settings for ControlSettings {
    fn list(&self) -> Vec<Setting> {
        let first = self.algorithms.first().map_or("", |algorithm| algorithm.name());
        let help =
            "Congestion control of the flows that a host sends. Change it to compare controllers: each has its own \
                    needs of telemetry, marks, window and acknowledgements."
                .into();
        let (kind, default) = (Kind::Choice(self.names()), Value::Word(first.into()));
        [Setting { key: KEY, kind, auto: false, default, condition: None, of_network: false, assumed: ASSUMED, help }]
            .into()
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
            Input::Switch(_) | Input::Whole(_) | Input::Large(_) | Input::Real(_) => Err(String::new()),
        };
        self.chosen = place.map_err(|others| {
            let or = if others.is_empty() { "" } else { ", or " };
            let names = Kind::Choice(self.names()).expected();
            SettingError::Value(format!("the value is {}; expected one of {names}{or}{others}", input.shown()))
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_a_name_may_be_is_told() {
        let wrong = |finder: Finder| {
            let mut settings = ControlSettings::with(Vec::new(), finder);
            match settings.set(KEY, Input::Text("nope")) {
                Err(SettingError::Value(message)) => message,
                other => panic!("{other:?}"),
            }
        };
        assert!(wrong(|_| Err(String::new())).ends_with(", \"none\""));
        let others = wrong(|name| Err(format!("a colour; {name} is none")));
        assert!(others.starts_with("the value is \"nope\"; expected one of \"hpcc\", "), "{others}");
        assert!(others.ends_with("\"none\", or a colour; nope is none"), "{others}");
    }
}
