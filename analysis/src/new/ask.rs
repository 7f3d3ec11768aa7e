// SPDX-License-Identifier: GPL-2.0-only
//! Questions, each with an answer that the return key gives.

use std::fmt::Display;
use std::io::{BufRead, Write};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

/// Who answers questions.
pub trait Ask {
    /// The answer to a question, as text that `parse` accepts.
    ///
    /// # Errors
    /// If the input ends.
    fn value<T: Display>(&mut self, question: &str, default: T, parse: impl Fn(&str) -> Result<T, String>)
    -> Result<T>;

    /// One of several words that is accepted; the first is the default.
    ///
    /// # Errors
    /// As [`Ask::value`].
    fn word(
        &mut self,
        question: &str,
        words: &[String],
        accept: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String> {
        let list = words.join(", ");
        let parse = |text: &str| {
            let word = words.iter().find(|word| *word == text).cloned();
            let word = word.ok_or_else(|| format!("\"{text}\" is none of them; expected one of {list}"))?;
            accept(&word).map(|()| word)
        };
        let default = words.first().context("there are no words to choose from")?.clone();
        self.value(&format!("{question} ({list})"), default, parse)
    }

    /// One of the choices of an option that is accepted.
    ///
    /// # Errors
    /// As [`Ask::value`].
    fn choice<T: ValueEnum>(
        &mut self,
        question: &str,
        default: T,
        accept: impl Fn(T) -> Result<(), String>,
    ) -> Result<T> {
        let name =
            |choice: &T| choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut words: Vec<String> = T::value_variants().iter().map(name).collect();
        words.sort_by_key(|word| *word != name(&default));
        let of = |word: &str| T::value_variants().iter().find(|choice| name(choice) == word).cloned();
        let word = self.word(question, &words, |word| of(word).map_or(Ok(()), &accept))?;
        Ok(of(&word).unwrap_or(default))
    }
}

/// Nobody is there: every answer is the default.
pub struct Nobody;

impl Ask for Nobody {
    fn value<T: Display>(&mut self, _: &str, default: T, _: impl Fn(&str) -> Result<T, String>) -> Result<T> {
        Ok(default)
    }
}

/// Somebody who reads and types.
pub struct Terminal<R, W> {
    typed: R,
    shown: W,
}

impl<R: BufRead, W: Write> Terminal<R, W> {
    /// Questions go to `shown`, answers come from `typed`.
    pub fn new(typed: R, shown: W) -> Terminal<R, W> {
        Terminal { typed, shown }
    }
}

impl<R: BufRead, W: Write> Ask for Terminal<R, W> {
    fn value<T: Display>(
        &mut self,
        question: &str,
        default: T,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T> {
        loop {
            write!(self.shown, "{question} [{default}]: ")?;
            self.shown.flush()?;
            let mut line = Vec::new();
            if self.typed.read_until(b'\n', &mut line)? == 0 {
                writeln!(self.shown)?;
                bail!("there is no answer to \"{question}\"; nothing was written");
            }
            match String::from_utf8_lossy(&line).trim() {
                "" => return Ok(default),
                text => match parse(text) {
                    Ok(value) => return Ok(value),
                    Err(wrong) => writeln!(self.shown, "{wrong}")?,
                },
            }
        }
    }
}
