// SPDX-License-Identifier: GPL-2.0-only
//! Where a page shows what a command gives: below a comment that names it.
//!
//! `<!-- ./hpcc run FILE -->` stands above a block of its output, `<!-- ./hpcc run FILE: PLOT.svg -->` above the image of a plot.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};

/// A comment, and what is below it.
#[derive(Debug, PartialEq)]
pub struct Mark<'a> {
    /// The command line.
    pub command: &'a str,
    /// The part of it that the page shows.
    pub shows: Shows<'a>,
}

/// The part of a command's results on a page.
#[derive(Debug, PartialEq)]
pub enum Shows<'a> {
    /// Its output: these bytes of the page.
    Output(Range<usize>),
    /// A plot.
    Figure {
        /// Its name in the folder of the results.
        file: &'a str,
        /// Where the page has it from, relative to its own folder.
        image: &'a str,
    },
}

const OPEN: &str = "<!-- ./hpcc ";
const CLOSE: &str = " -->";
/// A block of output; blocks of other text are plain.
const FENCE: &str = "```text\n";
const END: &str = "```\n";
/// Every image of this folder is a plot.
const FIGURES: &str = "/figures/";

/// The marks of a page, from top to bottom.
///
/// # Errors
/// If a mark has nothing below it, or results have no mark above them.
pub fn marks(text: &str) -> Result<Vec<Mark<'_>>> {
    let (mut marks, mut at) = (Vec::new(), 0);
    let mut above = None;
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((index, line)) = lines.next() {
        at += line.len();
        let (number, said) = (index + 1, above.take());
        let image = image(line).filter(|path| path.contains(FIGURES));
        match (said, image) {
            (Some(said), _) if line == FENCE => {
                let begin = at;
                let length = until_end(&mut lines).ok_or_else(|| anyhow!("line {number}: no end of the block"))?;
                at += length;
                marks.push(Mark { command: said, shows: Shows::Output(begin..at - END.len()) });
            }
            (Some(said), Some(image)) => {
                let (command, file) =
                    said.rsplit_once(": ").ok_or_else(|| anyhow!("line {number}: the comment above names no plot"))?;
                marks.push(Mark { command, shows: Shows::Figure { file, image } });
            }
            (Some(said), None) => bail!("line {number}: below \"{said}\" is neither a block ```text nor a plot"),
            (None, None) if line != FENCE => above = command(line),
            (None, _) => bail!("line {number}: results, but no comment above that names their command"),
        }
    }
    match above {
        Some(said) => bail!("nothing is below \"{said}\""),
        None => Ok(marks),
    }
}

/// Takes the lines of a block, with its end. Returns how many bytes they have.
fn until_end<'a>(lines: &mut impl Iterator<Item = (usize, &'a str)>) -> Option<usize> {
    let mut length = 0;
    for (_, line) in lines {
        length += line.len();
        if line == END {
            return Some(length);
        }
    }
    None
}

/// The command of a mark.
fn command(line: &str) -> Option<&str> {
    let inside = line.trim_end().strip_prefix("<!-- ")?.strip_suffix(CLOSE)?;
    line.starts_with(OPEN).then_some(inside)
}

/// The path of an image that is alone in its line.
fn image(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("![")?.split_once("](")?.1.strip_suffix(')')
}

/// The page with the outputs of marked commands in place of what it has.
///
/// # Errors
/// If an output cannot be had.
pub fn renewed(text: &str, marks: &[Mark<'_>], mut output: impl FnMut(&str) -> Result<String>) -> Result<String> {
    let (mut new, mut at) = (String::new(), 0);
    for mark in marks {
        let Shows::Output(range) = &mark.shows else { continue };
        new += text.get(at..range.start).unwrap_or_default();
        new += &output(mark.command)?;
        at = range.end;
    }
    Ok(new + text.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "Before.\n\n<!-- ./hpcc run a.toml -->\n```text\nold\nold\n```\nBehind.\n";
    const PLOT: &str = "<!-- ./hpcc sweep b.toml --set x=1: queue-cdf.svg -->\n![A plot](../doc/figures/b.svg)\n";

    fn wrong(text: &str) -> String {
        marks(text).expect_err(text).to_string()
    }

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let marks = marks(BLOCK).expect("a block");
        assert_eq!(marks[0].command, "./hpcc run a.toml");
        let new = renewed(BLOCK, &marks, |command| Ok(format!("new of {command}\n"))).expect("made");
        assert_eq!(new, BLOCK.replace("old\nold\n", "new of ./hpcc run a.toml\n"));
    }

    #[test]
    fn a_plot_has_its_file_and_its_place() {
        let shows = Shows::Figure { file: "queue-cdf.svg", image: "../doc/figures/b.svg" };
        assert_eq!(marks(PLOT).expect("a plot"), [Mark { command: "./hpcc sweep b.toml --set x=1", shows }]);
    }

    #[test]
    fn results_without_a_command_and_commands_without_results_are_refused() {
        let (block, plot) = (&BLOCK[BLOCK.find("```").expect("there")..], &PLOT[PLOT.find("![").expect("there")..]);
        assert_eq!(wrong(block), "line 1: results, but no comment above that names their command");
        assert_eq!(wrong(plot), "line 1: results, but no comment above that names their command");
        assert!(wrong("<!-- ./hpcc run a.toml -->\n\nText.\n").contains("neither a block ```text nor a plot"));
        assert!(wrong("<!-- ./hpcc run a.toml -->\n").contains("nothing is below"));
        assert!(wrong("<!-- ./hpcc run a.toml -->\n```text\nold\n").contains("no end of the block"));
        assert!(wrong(&PLOT.replace(": queue-cdf.svg", "")).contains("names no plot"));
        assert!(
            marks("```\n./hpcc run a.toml\n```\n![No plot](logo.svg)\n<!-- A comment -->\n")
                .expect("nothing")
                .is_empty()
        );
    }
}
