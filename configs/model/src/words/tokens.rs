// SPDX-License-Identifier: GPL-2.0-only
//! Words of a file, each with its line.

use super::quantity;
use crate::error::InputError;
use crate::place::Place;
use hpcc_core::settings::Value;
use hpcc_core::units::{BitRate, Nanos, Rounding};
use std::fmt::Display;

/// A word of a file, with its place.
#[derive(Clone, Debug)]
pub struct Token<'a> {
    /// The word.
    pub text: &'a str,
    /// Its file and line.
    pub place: Place,
}

impl Token<'_> {
    /// An error that quotes the word: `what is "word"; expected ...`.
    pub fn refuse(&self, what: impl Display, expected: &str) -> InputError {
        self.place.error(format!("{what} is \"{}\"; expected {expected}", self.text))
    }

    /// A whole number from 0 to `max`.
    pub fn integer(&self, what: impl Display, max: u64) -> Result<u64, InputError> {
        self.whole(what, 0, max)
    }

    /// A whole number from `least` to `most`.
    pub fn whole(&self, what: impl Display, least: u64, most: u64) -> Result<u64, InputError> {
        let number = self.text.parse().ok().filter(|value| (least..=most).contains(value));
        number.ok_or_else(|| self.refuse(what, &format!("a whole number from {least} to {most}")))
    }

    /// A finite number of at least 0.
    pub fn float(&self, what: impl Display) -> Result<f64, InputError> {
        match self.text.parse::<f64>() {
            // A sum with 0 turns -0 into 0.
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(value + 0.0),
            _ => Err(self.refuse(what, "a finite number of at least 0")),
        }
    }

    /// A number from 0 to 1.
    pub fn probability(&self, what: impl Display) -> Result<f64, InputError> {
        match self.float(&what) {
            Ok(value) if value <= 1.0 => Ok(value),
            _ => Err(self.refuse(&what, "a probability from 0 to 1")),
        }
    }

    /// A time in seconds.
    pub fn seconds(&self, what: impl Display, rounding: Rounding) -> Result<Nanos, InputError> {
        let time = Nanos::from_seconds(self.float(&what)?, rounding);
        self.bounded(what, time)
    }

    fn bounded(&self, what: impl Display, time: Nanos) -> Result<Nanos, InputError> {
        let expected = format!("at most {}", Value::Time(Nanos::LONGEST).pretty());
        (time <= Nanos::LONGEST).then_some(time).ok_or_else(|| self.refuse(what, &expected))
    }

    /// A rate with its unit.
    pub fn rate(&self, what: impl Display, rounding: Rounding) -> Result<BitRate, InputError> {
        quantity::rate(self.text, rounding).ok_or_else(|| self.refuse(what, "a rate such as 100Gbps or 50Mb/s"))
    }

    /// A delay with its unit.
    pub fn delay(&self, what: impl Display, rounding: Rounding) -> Result<Nanos, InputError> {
        let delay = quantity::delay(self.text, rounding);
        let delay = delay.ok_or_else(|| self.refuse(&what, "a delay such as 1000ns, 0.001ms or 1us"))?;
        self.bounded(what, delay)
    }
}

/// A text's words from first to last, without comments: `{ ... }`, and `#` or `//` to the end of a line.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    file: Place,
    text: &'a str,
    /// Bytes of `text` that were read.
    at: usize,
    line: u32,
}

impl<'a> Tokens<'a> {
    /// The words of a text from this file; errors have lines if `file` has one.
    pub fn new(file: Place, text: &'a str) -> Tokens<'a> {
        Tokens { file, text, at: 0, line: 1 }
    }

    /// The next word of a text that has no comments.
    pub fn next_word(&mut self) -> Option<Token<'a>> {
        self.advance(|_| None).map(|(word, _)| word)
    }

    /// The next word, or the first of a comment with all words of that.
    pub fn next_or_comment(&mut self) -> Option<(Token<'a>, Option<Tokens<'a>>)> {
        let before = self.clone();
        let (word, is_comment) = self.advance(comment)?;
        Some((word, is_comment.then(|| Tokens { text: &self.text[..self.at], ..before })))
    }

    /// Steps over the next word, or over so many bytes as `longer` says of the text that begins with it, and says whether it
    /// did.
    fn advance(&mut self, longer: impl Fn(&str) -> Option<usize>) -> Option<(Token<'a>, bool)> {
        let rest = self.text[self.at..].trim_start();
        let word = rest.split_whitespace().next()?;
        let longer = longer(rest);
        let start = self.text.len() - rest.len();
        let end = start + longer.unwrap_or(word.len());
        let line = self.line + crate::text::line_count(&self.text.as_bytes()[self.at..start]) - 1;
        self.line = line + crate::text::line_count(&self.text.as_bytes()[start..end]) - 1;
        self.at = end;
        // Values of the command line have no line.
        let place = if self.file.line().is_some() { self.file.at(line) } else { self.file.clone() };
        Some((Token { text: word, place }, longer.is_some()))
    }

    /// The words that follow a token in its line, up to one that `ends` them.
    pub fn rest_of_line(&mut self, token: &Token<'a>, ends: impl Fn(&str) -> bool) -> Vec<Token<'a>> {
        let mut words = Vec::new();
        let mut ahead = self.clone();
        while let Some(word) = ahead.next().filter(|word| word.place.line() == token.place.line() && !ends(word.text)) {
            words.push(word);
            *self = ahead.clone();
        }
        words
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (word, comment) = self.next_or_comment()?;
            if comment.is_none() {
                return Some(word);
            }
        }
    }
}

/// The bytes of the comment with which a text begins, if it does.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with('#') || text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with('{').then(|| text.find('}')).flatten().map(|end| end + 1)
}
