// SPDX-License-Identifier: GPL-2.0-only
//! Words and numbers for people.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use hpcc_model::error::{system_words, without_numbers};
use hpcc_model::visible;

/// The name of standard output in errors.
pub const STANDARD_OUTPUT: &str = "standard output";

/// Whether neither progress nor notes are shown.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether progress and notes are silenced from now on. Errors, warnings and the output of a command never are.
pub fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether progress and notes are not shown.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Bytes with three digits and a decimal unit: `950 B`, `22.9 kB`, `1.00 MB`.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", three_digits(bytes as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", three_digits(bytes as f64 / 1e6)),
        _ => format!("{} GB", three_digits(bytes as f64 / 1e9)),
    }
}

/// A number with about three significant digits.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A count with its digits in groups of three: `12,345,678`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Columns of a line of text, as of a terminal.
const WIDTH: usize = 80;

/// A text in lines, the first of which stands out.
pub fn paragraph(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &format!("{line}\n");
            line = "   ".into();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    format!("{lines}{line}\n")
}

/// A count and its noun, in the plural where due.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A path as a shell takes it, and no command for an option.
pub fn quoted(path: &Path) -> String {
    let path = if path.display().to_string().starts_with('-') { &Path::new(".").join(path) } else { path };
    word(path.as_os_str())
}

/// A word of a shell, which is taken as it is. Bytes that are no Unicode are not for shells.
pub fn word(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=,:@%".contains(letter);
    let is_plain = !text.is_empty() && text.chars().all(plain);
    if is_plain { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Prints the output of a command, without what texts of files could tell a terminal. A reader that has gone away, such as `head`, is no error.
///
/// # Errors
/// Whatever else the system objects to.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_to_reader(text).map(drop)
}

/// As [`print()`]. Returns whether somebody still reads.
///
/// # Errors
/// As [`print()`].
pub fn print_to_reader(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(visible::lines(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        printed => printed.map(|()| true).context(STANDARD_OUTPUT),
    }
}

/// The outcome of printing. A reader that has seen enough, such as `head`, is no error.
///
/// # Errors
/// Whatever else was wrong; standard output is named where it is to blame.
pub fn printed(result: anyhow::Result<()>) -> anyhow::Result<()> {
    let Err(error) = result else { return Ok(()) };
    let kind = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<csv::Error>().map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(cause)) => Some(cause.kind()),
        _ if cause.is::<serde_json::Error>() => cause.downcast_ref().and_then(serde_json::Error::io_error_kind),
        _ => cause.downcast_ref().map(io::Error::kind),
    };
    match error.chain().next().and_then(kind) {
        Some(io::ErrorKind::BrokenPipe) => Ok(()),
        Some(_) => Err(error).context(STANDARD_OUTPUT),
        None => Err(error),
    }
}

/// Prints a note to standard output, or a table of what is in files, too, unless all shall be [quiet](be_quiet).
///
/// # Errors
/// As [`print()`].
pub fn tell(text: &str) -> anyhow::Result<()> {
    if is_quiet() { Ok(()) } else { print(text) }
}

/// Prints a note to standard error, unless all shall be [quiet](be_quiet).
pub fn note(text: impl fmt::Display) {
    if !is_quiet() {
        warn(text);
    }
}

/// An error with its causes, in words.
pub fn reason(error: &anyhow::Error) -> String {
    let words = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<io::Error>() {
        Some(cause) => system_words(cause),
        None => without_numbers(&cause.to_string()),
    };
    error.chain().map(words).collect::<Vec<_>>().join(": ")
}

/// Prints an error or a warning to standard error. If nobody can read it, nothing helps.
pub fn warn(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "hpcc: {}", visible::lines(&text.to_string()));
}

/// Shows the present step on a terminal.
pub fn show_step(text: &str) {
    on_terminal(&format!("\r\x1b[Khpcc: {}", visible::word(text)));
}

/// Removes the line of [`show_step`].
pub fn clear_step() {
    on_terminal("\r\x1b[K");
}

fn on_terminal(text: &str) {
    if io::stderr().is_terminal() && !is_quiet() {
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_the_size() {
        assert_eq!(bytes(950), "950 B");
        assert_eq!(bytes(22_900), "22.9 kB");
        assert_eq!(bytes(1_000_000), "1.00 MB");
        assert_eq!(bytes(2_500_000_000), "2.50 GB");
    }

    #[test]
    fn digits_come_in_groups() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(counted(1, "flow"), "1 flow");
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        let text = paragraph(&"0123456789 ".repeat(20));
        assert_eq!(text.split_whitespace().count(), 20);
        assert!(
            text.lines().all(|line| line.len() <= WIDTH) && text.lines().skip(1).all(|line| line.starts_with("    0"))
        );
        assert_eq!(paragraph("short"), "short\n");
    }
}
