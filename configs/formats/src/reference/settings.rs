// SPDX-License-Identifier: GPL-2.0-only
//! `config.txt` as a table from key to the words that follow it.

use super::descendant::{Descendant, Remark};
use super::keys::{self, Values};
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::units::{BitRate, Nanos, Rounding};
use hpcc_model::draft::Blame;
use hpcc_model::error::InputError;
use hpcc_model::place::Place;
use hpcc_model::scenario::Compatibility;
use hpcc_model::scenario::compatibility::{PROFILE, SECTION};
use hpcc_model::words::{Token, Tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Set to [`SKIP`], keys that nobody knows are no error.
const UNKNOWN_KEYS: &str = "unknown_keys";
const SKIP: &str = "skip";
/// The override that says so.
pub(super) const SKIP_UNKNOWN: &str = "unknown_keys=skip";

/// The last value of each key that is given.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    file: Place,
    values: BTreeMap<&'a str, Vec<Token<'a>>>,
    /// What keys of descendants come to.
    pub descendant: Descendant,
    /// Overrides of keys of TOML.
    pub toml: Vec<String>,
    /// Keys that nobody knows.
    unknown: Vec<Token<'a>>,
    skips_unknown: bool,
    compatibility: Compatibility,
    /// Keys in comments.
    hidden: Vec<Token<'a>>,
    /// Maps with more pairs than they announce, of which those count.
    shortened: BTreeSet<&'a str>,
}

impl<'a> Settings<'a> {
    /// Reads the file's text, then the overrides.
    pub fn parse(path: &Path, text: &'a str, overrides: &'a [String]) -> Result<Settings<'a>, InputError> {
        let file = Place::file(path);
        let mut settings = Settings {
            file: file.clone(),
            values: BTreeMap::new(),
            descendant: Descendant::default(),
            toml: Vec::new(),
            unknown: Vec::new(),
            skips_unknown: false,
            compatibility: Compatibility::new(ReferenceFaults::REFERENCE),
            hidden: Vec::new(),
            shortened: BTreeSet::new(),
        };
        for text in overrides {
            settings.decide(text)?;
        }
        let mut tokens = Tokens::new(file.at(1), text);
        while let Some((word, of_comment)) = tokens.next_or_comment() {
            match of_comment {
                None => settings.take(word, &mut tokens)?,
                Some(words) => settings.take_hidden(words),
            }
        }
        settings.tell_hidden();
        for text in overrides {
            settings.set(text)?;
        }
        settings.refuse_unknown()?;
        Ok(settings)
    }

    /// Names all keys that nobody knows at once.
    fn refuse_unknown(&mut self) -> Result<(), InputError> {
        let Some(first) = self.unknown.first() else { return Ok(()) };
        let keys: Vec<String> =
            self.unknown.iter().map(|key| format!("{}{}", key.text, in_line(key, &first.place))).collect();
        if self.skips_unknown {
            self.descendant.remark(Remark::Dropped, format!("nobody knows {}", keys.join(", ")));
            return Ok(());
        }
        let plural = if keys.len() > 1 { "s" } else { "" };
        let hint = match (&keys[..], misspelt(first.text)) {
            ([_], Some(meant)) => format!("; did you mean {meant}?"),
            _ => format!("; --set {SKIP_UNKNOWN} goes on without"),
        };
        Err(first.place.key_error(first.text, format!("unknown key{plural} {}{hint}", keys.join(", "))))
    }

    /// Applies one `KEY=VALUE` that decides which faults are repeated, some of which are those of reading a file.
    fn decide(&mut self, text: &str) -> Result<(), InputError> {
        let Some((key, value)) = text.split_once('=') else { return Ok(()) };
        let Some(name) = of_compatibility(key) else { return Ok(()) };
        let result = self.correct(name, value.trim());
        result.map_err(|message| Place::command_line().key_error(key.trim(), message))
    }

    /// Takes the keys of a comment, which is none to the 2019 simulator, where that is repeated. A key whose values are
    /// no such values is left alone: the 2019 simulator reads no further there, and never begins.
    fn take_hidden(&mut self, mut words: Tokens<'a>) {
        while let Some(key) = words.next_word() {
            let mut ahead = words.clone();
            let Some(values) = hidden_values(&key, &mut ahead) else { continue };
            words = ahead;
            if self.faults().comments_set_keys {
                self.store(&key, values);
            }
            self.hidden.push(key);
        }
    }

    /// Says which keys stand in comments.
    fn tell_hidden(&mut self) {
        let Some(first) = self.hidden.first() else { return };
        let (place, sets) = (first.place.clone(), self.faults().comments_set_keys);
        let named: Vec<String> =
            self.hidden.iter().map(|key| format!("{}{}", key.text, in_line(key, &place))).collect();
        let what = if sets {
            "counts all the same: the 2019 simulator has no comments (compatibility.comments_set_keys = false leaves them out)"
        } else {
            "does not count; the 2019 simulator, which has no comments, takes it"
        };
        let note = place.error(format!("{} in a comment {what}", named.join(", ")));
        self.descendant.remark(Remark::Guessed, note.to_string());
    }

    /// Applies one `KEY=VALUE`.
    fn set(&mut self, text: &'a str) -> Result<(), InputError> {
        let place = Place::command_line();
        let Some((key, value)) = text.split_once('=') else {
            return Err(place.error(format!("\"{text}\" is no setting; expected KEY=VALUE")));
        };
        if of_compatibility(key).is_some() {
            return Ok(());
        }
        match key.trim() {
            UNKNOWN_KEYS if value.trim() == SKIP => {
                self.skips_unknown = true;
                return Ok(());
            }
            UNKNOWN_KEYS => return Err(place.key_error(UNKNOWN_KEYS, format!("the value is {value}; expected {SKIP}"))),
            toml if toml.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
                self.toml.push(text.into());
                return Ok(());
            }
            _ => {}
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

    /// Which of the 2019 simulator's faults are repeated: all, unless an override corrects them.
    pub fn faults(&self) -> ReferenceFaults {
        self.compatibility.faults()
    }

    /// Stores the values that follow a key.
    fn take(&mut self, key: Token<'a>, tokens: &mut Tokens<'a>) -> Result<(), InputError> {
        if let Some(name) = keys::of_attribute(key.text) {
            return self.take_attribute(&key, name, tokens);
        }
        let words = match keys::values(key.text) {
            Some(Values::Words(count)) => (0..count).map(|_| value(&key, tokens)).collect::<Result<_, _>>()?,
            Some(Values::Map) => self.map(&key, tokens)?,
            None => {
                let words = tokens.rest_of_line(&key, is_known);
                if !self.descendant.take(&key, &words)? {
                    self.unknown.push(key);
                }
                return Ok(());
            }
        };
        let is_of_file = key.place.line().is_some();
        if let Some(counts) = self.store(&key, words).filter(|_| is_of_file) {
            self.descendant.remark(Remark::Guessed, format!("{} is given more than once; {counts}", key.text));
        }
        Ok(())
    }

    /// Takes an attribute as the key that it stands for, whose truth values are numbers.
    fn take_attribute(
        &mut self,
        key: &Token<'a>,
        name: &'static str,
        tokens: &mut Tokens<'a>,
    ) -> Result<(), InputError> {
        let mut word = value(key, tokens)?;
        self.descendant.remark(Remark::Taken, format!("{} {} as {name}", key.text, word.text));
        word.text = match word.text {
            "true" => "1",
            "false" => "0",
            text => text,
        };
        let key = Token { text: name, place: key.place.clone() };
        if keys::values(name).is_some() {
            self.store(&key, vec![word]);
        } else {
            self.descendant.take(&key, &[word])?;
        }
        Ok(())
    }

    /// Stores the words behind a key. Returns what counts if there were some already.
    fn store(&mut self, key: &Token<'a>, words: Vec<Token<'a>>) -> Option<&'static str> {
        let name = keys::canonical(key.text);
        let earlier = self.values.insert(name, words)?;
        let merges = keys::values(key.text) == Some(Values::Map) && key.place.line().is_some();
        match self.values.get_mut(name).filter(|_| merges && self.compatibility.faults().announced_pairs) {
            // The later of two values of a rate counts, as it does within one.
            Some(words) => {
                words.splice(1..1, earlier.into_iter().skip(1));
                Some("all of its pairs count, as in the 2019 simulator")
            }
            None => Some("the last one counts"),
        }
    }

    /// The pairs of a map, behind their number. The line tells where the two differ, as it does in files of descendants.
    fn map(&mut self, key: &Token<'a>, tokens: &mut Tokens<'a>) -> Result<Vec<Token<'a>>, InputError> {
        let count = value(key, tokens)?;
        let announced = count.integer(format!("the number of entries of {}", key.text), u64::from(u32::MAX))?;
        let may_follow = |word: &Token<'_>| {
            !is_known(word.text) && (word.place.line() == key.place.line() || word.text.parse::<f64>().is_ok())
        };
        let mut words = vec![count];
        let mut ahead = tokens.clone();
        while words.len() as u64 <= 2 * announced
            && let Some(word) = ahead.next().filter(|word| may_follow(word))
        {
            words.push(word);
            *tokens = ahead.clone();
        }
        words.extend(tokens.rest_of_line(key, is_known));
        let pairs = words.len() / 2;
        if words.len() % 2 == 0 {
            return Err(key.place.key_error(key.text, format!("{} lacks a value: a rate has none", key.text)));
        }
        if pairs as u64 != announced {
            let few = announced < pairs as u64 && self.faults().announced_pairs;
            let count =
                if few { "the announced ones count, as in the 2019 simulator" } else { "those that are there count" };
            let found = format!("{}: pairs announced: {announced}, there: {pairs}; {count}", key.text);
            self.descendant.remark(Remark::Guessed, found);
            if few {
                self.shortened.insert(key.text);
                words.truncate(1 + 2 * announced as usize);
            }
        }
        Ok(words)
    }

    /// Whether a map has more pairs than count.
    pub fn is_shortened(&self, key: &str) -> bool {
        self.shortened.contains(key)
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
        let rounding = self.faults().rounding();
        self.read(key, default, |word| word.rate(key, rounding))
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

/// The name behind `compatibility.`, if this is a key of that section.
fn of_compatibility(key: &str) -> Option<&str> {
    key.trim().strip_prefix(SECTION)?.strip_prefix('.')
}

/// The line of a key, if it is another than that of a place that is named already.
fn in_line(key: &Token<'_>, named: &Place) -> String {
    match key.place.line() {
        Some(line) if line != named.line().unwrap_or_default() => format!(" (line {line})"),
        _ => String::new(),
    }
}

/// The values behind a key in a comment, which may end in the lines behind it; `None` if it is no key of the 2019
/// simulator, or these are no values of it.
fn hidden_values<'a>(key: &Token<'a>, words: &mut Tokens<'a>) -> Option<Vec<Token<'a>>> {
    let takes_text = keys::takes_text(key.text);
    let mut value = || {
        let word = words.next_word()?;
        let end = word.text.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(word.text.len());
        // A number ends where it ends.
        let text = if takes_text { word.text } else { word.text.get(..end)? };
        (takes_text || text.parse::<f64>().is_ok()).then_some(Token { text, ..word })
    };
    let is_own = keys::canonical(key.text) == key.text;
    match keys::values(key.text).filter(|_| is_own)? {
        Values::Words(count) => (0..count).map(|_| value()).collect(),
        Values::Map => {
            let count = value()?;
            let pairs: usize = count.text.parse().ok()?;
            let pairs = (0..pairs.checked_mul(2)?).map(|_| value());
            std::iter::once(Some(count)).chain(pairs).collect()
        }
    }
}

/// The bytes that a key stands for: the 2019 simulator computes them in 32 bits.
pub(super) fn narrow(settings: &Settings<'_>, notes: &mut Vec<String>, key: &str, bytes: u64) -> u64 {
    let left = bytes % (1 << 32);
    if left == bytes || !settings.faults().narrow_switch_settings {
        return bytes;
    }
    notes.push(format!("{key}: of {bytes} bytes the 2019 simulator's 32 bits leave {left}"));
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
    if word.place.line() != key.place.line() && is_known(word.text) {
        return Err(missing());
    }
    Ok(word)
}

/// Whether this is a key, of the 2019 simulator or of a descendant.
fn is_known(word: &str) -> bool {
    keys::values(word).is_some() || keys::of_attribute(word).is_some() || Descendant::knows(word)
}

/// The key that was meant, if at most two letters are wrong: descendants have others that merely resemble them.
fn misspelt(word: &str) -> Option<&'static str> {
    keys::all().into_iter().find(|key| strsim::damerau_levenshtein(key, word) <= 2)
}
