// SPDX-License-Identifier: GPL-2.0-only
//! GOAL as text: one statement a line.

use super::goal::{ANY, Need, Operation, OperationKind, Rank};
use crate::error::InputError;
use crate::flow::MOST_BYTES;
use crate::place::Place;
use crate::text::line_count;
use hpcc_core::units::Nanos;
use std::collections::HashMap;
use std::str::FromStr;

/// A file's text.
pub(super) struct Text<'a> {
    place: &'a Place,
    text: &'a str,
}

/// A line that says something.
enum Statement<'a> {
    Ranks(u32),
    Begin(u32),
    End,
    Operation(Option<&'a str>, Operation),
    Need { operation: &'a str, other: &'a str, at_end: bool },
}

const EXPECTED: &str = "expected a line such as \"a: send 4096b to 1 tag 7\", \"b: recv 1b from 0\", \"c: calc 500\", \
    \"c requires b\", \"rank 0 {\" or \"}\"";

impl<'a> Text<'a> {
    pub fn of(place: &'a Place, bytes: &'a [u8]) -> Result<Text<'a>, InputError> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(Text { place, text }),
            Err(error) => {
                let line = line_count(&bytes[..error.valid_up_to()]);
                Err(place.at(line).error("is neither GOAL's text nor its binary form: invalid UTF-8"))
            }
        }
    }

    /// What the ranks do.
    pub fn ranks(&self, most: u32) -> Result<Vec<Rank>, InputError> {
        let mut ranks: Vec<Rank> = Vec::new();
        // The open rank, and its labels with the numbers of their operations.
        let mut open: Option<u32> = None;
        let mut seen = Vec::new();
        let mut labels: HashMap<&str, u32> = HashMap::new();
        for (line, statement) in self.statements() {
            let wrong = |message: String| self.place.at(line).error(message);
            match (statement.map_err(wrong)?, open) {
                (Statement::Ranks(count), None) if ranks.is_empty() => {
                    if count == 0 || count > most {
                        return Err(wrong(format!(
                            "there are {count} ranks and {most} hosts for them; expected 1 to {most}"
                        )));
                    }
                    ranks.resize(count as usize, Rank::default());
                    seen.resize(count as usize, false);
                }
                (Statement::Begin(rank), None) => {
                    let known = seen.get_mut(rank as usize).ok_or_else(|| {
                        wrong(format!(
                            "rank {rank} is none of the {} ranks; expected num_ranks before, and numbers below",
                            ranks.len()
                        ))
                    })?;
                    if std::mem::replace(known, true) {
                        return Err(wrong(format!("rank {rank} is there twice; expected each rank once")));
                    }
                    open = Some(rank);
                    labels.clear();
                }
                (Statement::End, Some(_)) => open = None,
                (Statement::Operation(label, operation), Some(rank)) => {
                    let count = ranks.len() as u32;
                    let is_receive = operation.what == OperationKind::Receive;
                    if operation.what != OperationKind::Compute
                        && operation.peer >= count
                        && !(is_receive && operation.peer == ANY)
                    {
                        return Err(wrong(format!(
                            "rank {} is none of the {count} ranks; expected 0 to {}",
                            operation.peer,
                            count - 1
                        )));
                    }
                    let operations = &mut ranks[rank as usize].operations;
                    if let Some(label) = label
                        && labels.insert(label, operations.len() as u32).is_some()
                    {
                        return Err(wrong(format!("{label} is there twice in rank {rank}; expected a label once")));
                    }
                    operations.push(operation);
                }
                (Statement::Need { operation, other, at_end }, Some(rank)) => {
                    let number = |label: &str| {
                        labels.get(label).copied().ok_or_else(|| {
                            wrong(format!(
                                "rank {rank} has no {label} before this line; expected the label of an operation"
                            ))
                        })
                    };
                    let need = Need { operation: number(operation)?, other: number(other)?, at_end };
                    ranks[rank as usize].needs.push(need);
                }
                (_, None) => return Err(wrong("expected num_ranks once, and then \"rank N {\"".into())),
                (Statement::Ranks(_) | Statement::Begin(_), Some(rank)) => {
                    return Err(wrong(format!("rank {rank} has no end; expected a \"}}\" before this line")));
                }
            }
        }
        match open {
            Some(rank) => Err(self.place.error(format!("the file ends within rank {rank}; expected a \"}}\""))),
            None if ranks.is_empty() => Err(self.place.error("num_ranks is missing; expected such as \"num_ranks 2\"")),
            None => Ok(ranks),
        }
    }

    /// Where an operation of a rank is, and its name.
    pub fn name(&self, rank: u32, number: u32) -> (Place, String) {
        let statements = self
            .statements()
            .skip_while(|(_, statement)| !matches!(statement, Ok(Statement::Begin(its)) if *its == rank));
        let mut operations = statements.filter_map(|(line, statement)| match statement {
            Ok(Statement::Operation(label, _)) => Some((line, label)),
            _ => None,
        });
        let (line, label) = operations.nth(number as usize).unwrap_or_default();
        (self.place.at(line), label.map_or_else(|| format!("line {line}"), |label| format!("{label} (line {line})")))
    }

    /// Lines that say something, with their numbers.
    fn statements(&self) -> impl Iterator<Item = (u32, Result<Statement<'a>, String>)> {
        let mut is_comment = false;
        self.text.lines().zip(1..).filter_map(move |(line, number)| {
            let words = words(line, &mut is_comment);
            (!words.is_empty()).then(|| (number, statement(&words)))
        })
    }
}

/// The words of a line without comments, which may go on in the next one. Braces and colons are words.
fn words<'a>(mut line: &'a str, is_comment: &mut bool) -> Vec<&'a str> {
    let mut words = Vec::new();
    loop {
        if *is_comment {
            let Some((_, rest)) = line.split_once("*/") else { return words };
            (line, *is_comment) = (rest, false);
        }
        let end = line.find("//").unwrap_or(line.len()).min(line.find("/*").unwrap_or(line.len()));
        for part in line[..end].split_inclusive(|letter: char| letter.is_whitespace() || "{}:".contains(letter)) {
            let word = part.trim_end_matches(|letter: char| letter.is_whitespace() || "{}:".contains(letter));
            words.extend([word, part[word.len()..].trim()].into_iter().filter(|word| !word.is_empty()));
        }
        if !line[end..].starts_with("/*") {
            return words;
        }
        (line, *is_comment) = (&line[end + 2..], true);
    }
}

fn statement<'a>(words: &[&'a str]) -> Result<Statement<'a>, String> {
    Ok(match *words {
        ["num_ranks", count] => Statement::Ranks(number(count, "a number of ranks", u32::MAX - 1)?),
        ["rank", rank, "{"] => Statement::Begin(number(rank, "the number of a rank", u32::MAX - 1)?),
        ["}"] => Statement::End,
        [operation, "requires", other] => Statement::Need { operation, other, at_end: true },
        [operation, "irequires", other] => Statement::Need { operation, other, at_end: false },
        [label, ":", ref words @ ..] => Statement::Operation(Some(label), operation(words)?),
        ref words => Statement::Operation(None, operation(words)?),
    })
}

fn operation(words: &[&str]) -> Result<Operation, String> {
    let bytes = |size: &str| number(size.strip_suffix('b').unwrap_or(size), "bytes such as 4096b", MOST_BYTES);
    let rank = |rank: &str| match rank {
        "-1" => Ok(ANY),
        _ => number(rank, "the number of a rank", u32::MAX - 1),
    };
    let none = Operation { what: OperationKind::Compute, size: 0, peer: 0, tag: 0, cpu: 0, nic: 0 };
    let (mut operation, mut rest) = match *words {
        ["calc", time, ref rest @ ..] => {
            (Operation { size: number(time, "nanoseconds", Nanos::LONGEST.0)?, ..none }, rest)
        }
        ["send", size, "to", to, ref rest @ ..] => {
            (Operation { what: OperationKind::Send, size: bytes(size)?, peer: rank(to)?, ..none }, rest)
        }
        ["recv", size, "from", from, ref rest @ ..] => {
            (Operation { what: OperationKind::Receive, size: bytes(size)?, peer: rank(from)?, ..none }, rest)
        }
        _ => return Err(format!("\"{}\" is no statement; {EXPECTED}", words.join(" "))),
    };
    while let [key, value, ref others @ ..] = *rest {
        match key {
            "tag" if operation.what == OperationKind::Receive && value == "-1" => operation.tag = ANY,
            "tag" if operation.what != OperationKind::Compute => operation.tag = number(value, "a tag", ANY - 1)?,
            "cpu" => operation.cpu = number(value, "the number of a CPU", u8::MAX)?,
            "nic" if operation.what != OperationKind::Compute => {
                operation.nic = number(value, "the number of a NIC", u8::MAX)?
            }
            _ => return Err(format!("\"{key} {value}\" belongs to no such operation; expected tag, cpu or nic")),
        }
        rest = others;
    }
    if rest.is_empty() { Ok(operation) } else { Err(format!("\"{}\" is too much; {EXPECTED}", rest.join(" "))) }
}

fn number<T: FromStr + Copy + PartialOrd + std::fmt::Display>(word: &str, what: &str, most: T) -> Result<T, String> {
    word.parse()
        .ok()
        .filter(|number| *number <= most)
        .ok_or_else(|| format!("the value is \"{word}\"; expected {what}, at most {most}"))
}
