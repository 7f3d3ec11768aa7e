// SPDX-License-Identifier: GPL-2.0-only
//! Texts of files on their way to a terminal or into a picture: nothing in them may move its cursor, hide words or break its form.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character commands a terminal, changes the direction of what follows, or has no width, so that a text looks like another
/// one; also what XML cannot hold.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || u32::from(letter) & 0xfffe == 0xfffe
}

fn escaped(text: &str, is_meant: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_hidden = |letter: char| is_hidden(letter) && !is_meant(letter);
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) {
            let _ = write!(shown, "{}", letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// A text of several lines, as a terminal may get it: other control characters as `\u{1b}`.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter == '\n' || letter == '\t')
}

/// A text that is a line, or part of one: line feeds are escaped, too.
pub fn word(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// A name as a cell of a CSV file: an apostrophe stands before what a spreadsheet would take for a formula, which numbers are not.
pub fn cell(name: &str) -> Cow<'_, str> {
    let is_formula = name.starts_with(['=', '+', '-', '@', '\t', '\r']) && name != "-" && name.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{name}")) } else { Cow::Borrowed(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        assert_eq!(["=1+1", "@a", "-2+3", "+a"].map(cell), ["'=1+1", "'@a", "'-2+3", "'+a"]);
        assert_eq!(["a=1", "-1.5", "+2e3", "-", ""].map(cell), ["a=1", "-1.5", "+2e3", "-", ""]);
    }

    #[test]
    fn nothing_commands_a_terminal() {
        assert_eq!(lines("k\x1b]0;pwned\x07\x1b[2J\n\tb\r"), "k\\u{1b}]0;pwned\\u{7}\\u{1b}[2J\n\tb\\u{d}");
        assert_eq!(word("a\nb \u{202e}c\u{2066} \u{9b}1m\u{feff}"), "a\\u{a}b \\u{202e}c\\u{2066} \\u{9b}1m\\u{feff}");
        assert_eq!(word("\u{fffe}\u{1ffff}\u{200d}"), "\\u{fffe}\\u{1ffff}\\u{200d}");
        for plain in ["", "größer, µs, 中文, → ≥ é \"quoted\"", "a b"] {
            assert!(matches!(word(plain), Cow::Borrowed(text) if text == plain));
        }
    }
}
