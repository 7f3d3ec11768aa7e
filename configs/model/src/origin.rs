// SPDX-License-Identifier: GPL-2.0-only
//! Where the keys of one section were given.

use crate::error::InputError;
use crate::place::Place;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A section with the places of its keys, for later errors about their values.
#[derive(Clone, Debug)]
pub struct Origin {
    section: Cow<'static, str>,
    place: Place,
    keys: BTreeMap<String, Place>,
}

impl Origin {
    /// A section at a place, and the places of the keys that were given.
    pub fn new(section: impl Into<Cow<'static, str>>, place: Place, keys: BTreeMap<String, Place>) -> Origin {
        Origin { section: section.into(), place, keys }
    }

    /// Adds the place of a key.
    pub fn add(&mut self, key: &str, place: Place) {
        self.keys.insert(key.into(), place);
    }

    /// The section's name.
    pub fn name(&self) -> &str {
        &self.section
    }

    /// The section.
    pub fn section(&self) -> &Place {
        &self.place
    }

    /// The first of these keys that was given; if none was, the section stands for the first of them.
    pub fn place(&self, keys: &[&str]) -> Place {
        let given = keys.iter().find_map(|key| Some((*key, self.keys.get(*key)?)));
        match given.or_else(|| Some((*keys.first()?, &self.place))) {
            Some((key, place)) => place.named(&format!("{}.{key}", self.section)),
            None => self.place.named(&self.section),
        }
    }

    /// An error that blames the first of these keys that was given.
    pub fn error(&self, keys: &[&str], message: impl Into<String>) -> InputError {
        self.place(keys).error(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_key_that_was_given_is_blamed() {
        let file = Place::file(Path::new("a.toml"));
        let keys = [("receiver", file.at(5)), ("size", Place::command_line().of("traffic.0.size"))];
        let keys = keys.map(|(key, place)| (key.to_owned(), place)).into();
        let origin = Origin::new("traffic", file.at(3), keys);
        let told = |keys: &[&str]| origin.error(keys, "is odd").to_string();
        assert_eq!(told(&["dst", "receiver"]), "a.toml:5: traffic.receiver: is odd");
        assert_eq!(told(&["size"]), "--set: traffic.0.size: is odd");
        assert_eq!(told(&["priority", "dport"]), "a.toml:3: traffic.priority: is odd");
        assert_eq!(told(&[]), "a.toml:3: traffic: is odd");
    }
}
