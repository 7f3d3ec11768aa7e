// SPDX-License-Identifier: GPL-2.0-only
//! The words of a file that is not held in memory.

mod quantity;
mod tokens;

pub use tokens::{Token, Tokens};

use crate::error::InputError;
use crate::input;
use crate::place::Place;
use crate::text::unreadable;
use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;

/// A file's words from first to last.
pub struct Words {
    file: Place,
    input: BufReader<File>,
    /// The line that is being read.
    text: String,
    /// Bytes of it that have been read.
    at: usize,
    /// Its number, counted from 1; 0 before the first.
    line: u32,
    /// The line of the last word.
    last: u32,
}

impl Words {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path) -> Result<Words, InputError> {
        let file = Place::file(path);
        let input = input::open(path).map_err(|error| unreadable(&file, &error))?;
        let input = BufReader::new(input);
        Ok(Words { file, input, text: String::new(), at: 0, line: 0, last: 1 })
    }

    /// The next word, or `None` at the end.
    fn next(&mut self) -> Result<Option<Token<'_>>, InputError> {
        let Some(word) = self.advance()? else { return Ok(None) };
        Ok(Some(self.token(word)))
    }

    /// The next word, which must be there.
    pub fn expect(&mut self, what: impl Display) -> Result<Token<'_>, InputError> {
        match self.advance()? {
            Some(word) => Ok(self.token(word)),
            None => Err(self.place().error(format!("the file ends where {what} should be"))),
        }
    }

    /// A note on what follows, if anything does: the 2019 simulator does not read it, and its authors' files end with
    /// words on their format, or with flows that do not count.
    pub fn finish(&mut self, after: impl Display) -> Result<Option<String>, InputError> {
        let note = |token: Token<'_>| token.place.error(format!("what follows {after} is not read")).to_string();
        Ok(self.next()?.map(note))
    }

    /// Where the last word was.
    pub fn place(&self) -> Place {
        self.file.at(self.last)
    }

    fn token(&self, word: Range<usize>) -> Token<'_> {
        Token { text: &self.text[word], place: self.place() }
    }

    /// Steps over the next word, which is in this range of the line.
    fn advance(&mut self) -> Result<Option<Range<usize>>, InputError> {
        loop {
            let rest = &self.text[self.at..];
            if let Some(word) = rest.split_whitespace().next() {
                let start = self.at + (rest.len() - rest.trim_start().len());
                self.at = start + word.len();
                self.last = self.line;
                return Ok(Some(start..self.at));
            }
            if !self.next_line()? {
                return Ok(None);
            }
        }
    }

    /// Reads a line; `false` at the end of the file.
    fn next_line(&mut self) -> Result<bool, InputError> {
        self.at = 0;
        self.line = self.line.saturating_add(1);
        let place = || self.file.at(self.line);
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let read = input::read_line(&mut self.input, &mut bytes).map_err(|error| unreadable(&place(), &error))?;
        self.text = String::from_utf8(bytes).map_err(|_| place().error("is not a text file: invalid UTF-8"))?;
        Ok(read > 0)
    }
}
