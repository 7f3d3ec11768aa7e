// SPDX-License-Identifier: GPL-2.0-only
//! `config.txt` as a table from key to the words that follow it.

use super::keys::{self, Values};
use super::tokens::{Token, Tokens};
use crate::draft::Blame;
use crate::error::{InputError, suggestion};
use crate::place::Place;
use crate::scenario::Compatibility;
use crate::scenario::compatibility::{PROFILE, SECTION};
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::units::{BitRate, Nanos, Rounding};
use std::collections::BTreeMap;
use std::path::Path;

/// The last value of each key that is given.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    file: Place,
    values: BTreeMap<&'a str, Vec<Token<'a>>>,
    /// Keys that the file gives more than once.
    pub repeated: Vec<&'a str>,
    compatibility: Compatibility,
}

impl<'a> Settings<'a> {
    /// Reads the file's text, then the overrides.
    pub fn parse(path: &Path, text: &'a str, overrides: &'a [String]) -> Result<Settings<'a>, InputError> {
        let file = Place::file(path);
        let mut settings = Settings {
            file: file.clone(),
            values: BTreeMap::new(),
            repeated: Vec::new(),
            compatibility: Compatibility::new(ReferenceFaults::REFERENCE),
        };
        let mut tokens = Tokens::new(file.at(1), text);
        while let Some(key) = tokens.next() {
            if let Some(key) = settings.take(key, &mut tokens)? {
                settings.repeated.push(key);
            }
        }
        for text in overrides {
            settings.set(text)?;
        }
        Ok(settings)
    }

    /// Applies one `KEY=VALUE`.
    fn set(&mut self, text: &'a str) -> Result<(), InputError> {
        let place = Place::command_line();
        let Some((key, value)) = text.split_once('=') else {
            return Err(place.error(format!("\"{text}\" is no setting; expected KEY=VALUE")));
        };
        if let Some(name) = key.trim().strip_prefix(SECTION).and_then(|rest| rest.strip_prefix('.')) {
            let result = self.correct(name, value.trim());
            return result.map_err(|message| place.key_error(key.trim(), message));
        }
        let mut tokens = Tokens::new(place.clone(), value);
        self.take(Token { text: key.trim(), place }, &mut tokens)?;
        match tokens.next() {
            None => Ok(()),
            Some(extra) => {
                Err(extra.place.key_error(key, format!("{key} is followed by the extra \"{}\"", extra.text)))
            }
        }
    }

    /// Turns the repetition of faults off or on. The error is a sentence for the user.
    fn correct(&mut self, name: &str, value: &str) -> Result<(), String> {
        match value {
            profile if name == PROFILE => self.compatibility.set_profile(profile),
            "false" | "0" => self.compatibility.set(name, false),
            "true" | "1" => self.compatibility.set(name, true),
            _ => Err(format!("{name} is \"{value}\"; expected true or false")),
        }
    }

    /// Which of the reference's faults are repeated: all, unless an override corrects them.
    pub fn faults(&self) -> ReferenceFaults {
        self.compatibility.faults()
    }

    /// Stores the values that follow a key; returns the key if it had values before.
    fn take(&mut self, key: Token<'a>, tokens: &mut Tokens<'a>) -> Result<Option<&'a str>, InputError> {
        let Some(shape) = keys::values(key.text) else { return Err(unknown(&key)) };
        let mut words = Vec::new();
        let mut wanted = match shape {
            Values::Words(count) => count as u64,
            Values::Map => 1,
        };
        while (words.len() as u64) < wanted {
            let word = value(&key, tokens)?;
            if shape == Values::Map && words.is_empty() {
                let pairs = word.integer(format!("the number of entries of {}", key.text), u64::from(u32::MAX))?;
                wanted += 2 * pairs;
            }
            words.push(word);
        }
        Ok(self.values.insert(key.text, words).map(|_| key.text))
    }

    /// The words after a key, `None` if it is not given.
    pub fn words(&self, key: &str) -> Option<&[Token<'a>]> {
        self.values.get(key).map(Vec::as_slice)
    }

    /// The word after a key that takes one.
    pub fn word(&self, key: &str) -> Option<&Token<'a>> {
        self.words(key)?.first()
    }

    /// Where a key is given, or else the file.
    pub fn blame(&self, key: &str) -> Blame {
        let place = self.word(key).map_or_else(|| self.file.clone(), |word| word.place.clone());
        Blame::new(place, key)
    }

    /// An error that blames a key.
    pub fn error(&self, key: &str, message: impl Into<String>) -> InputError {
        self.blame(key).error(message)
    }

    /// 0 or 1.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool, InputError> {
        self.read(key, default, |word| match word.integer(key, 1) {
            Ok(value) => Ok(value == 1),
            Err(_) => Err(word.refuse(key, "0 or 1")),
        })
    }

    /// A whole number up to 2^32 - 1.
    pub fn u32(&self, key: &str, default: u32) -> Result<u32, InputError> {
        self.u64(key, u64::from(default), u64::from(u32::MAX)).map(|value| value as u32)
    }

    /// A whole number up to `max`.
    pub fn u64(&self, key: &str, default: u64, max: u64) -> Result<u64, InputError> {
        self.read(key, default, |word| word.integer(key, max))
    }

    /// A finite number of at least 0.
    pub fn float(&self, key: &str, default: f64) -> Result<f64, InputError> {
        self.read(key, default, |word| word.float(key))
    }

    /// A time in seconds.
    pub fn seconds(&self, key: &str, default: Nanos, rounding: Rounding) -> Result<Nanos, InputError> {
        self.read(key, default, |word| word.seconds(key, rounding))
    }

    /// A number from 0 to 1.
    pub fn probability(&self, key: &str, default: f64) -> Result<f64, InputError> {
        self.read(key, default, |word| word.probability(key))
    }

    /// A rate with its unit.
    pub fn rate(&self, key: &str, default: BitRate) -> Result<BitRate, InputError> {
        self.read(key, default, |word| word.rate(key))
    }

    fn read<T>(
        &self,
        key: &str,
        default: T,
        parse: impl Fn(&Token<'a>) -> Result<T, InputError>,
    ) -> Result<T, InputError> {
        self.word(key).map_or(Ok(default), parse).map_err(|error| keyed(key, error))
    }
}

/// The bytes that a key stands for: the reference computes them in 32 bits.
pub(super) fn narrow(settings: &Settings<'_>, notes: &mut Vec<String>, key: &str, bytes: u64) -> u64 {
    let left = bytes % (1 << 32);
    if left == bytes || !settings.faults().narrow_switch_settings {
        return bytes;
    }
    notes.push(format!("{key}: of {bytes} bytes the reference's 32 bits leave {left}"));
    left
}

/// The error, blaming `key`.
pub(super) fn keyed(key: &str, error: InputError) -> InputError {
    InputError { key: Some(key.into()), ..error }
}

/// The next value of a key. A known key in its place on another line means that the value was left out.
fn value<'a>(key: &Token<'a>, tokens: &mut Tokens<'a>) -> Result<Token<'a>, InputError> {
    let missing = || key.place.key_error(key.text, format!("{} lacks a value", key.text));
    let word = tokens.next().ok_or_else(missing)?;
    if word.place.line() != key.place.line() && keys::values(word.text).is_some() {
        return Err(missing());
    }
    Ok(word)
}

fn unknown(key: &Token<'_>) -> InputError {
    let hint = if key.text.starts_with('#') {
        "; this format has no comments".into()
    } else {
        suggestion(key.text, &keys::all())
    };
    key.place.key_error(key.text, format!("unknown key {}{hint}", key.text))
}
