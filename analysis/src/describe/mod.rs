// SPDX-License-Identifier: GPL-2.0-only
//! `topology` and `workload`: what a file describes, in figures and in the 2019 simulator's formats.

mod distribution;
mod max_flow;
mod paths;
mod picture;
mod tiers;
pub mod topology;
pub mod workload;

pub use tiers::by_tier;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use hpcc_model::input;

/// No line that begins a file of numbers is longer.
const LONGEST_LINE: u64 = 4_096;

/// The apparent content of a file.
enum Content {
    /// A scenario of either format.
    Scenario,
    /// So many numbers in the first line: a topology, flows or a distribution.
    Numbers(usize),
}

impl Content {
    /// Tells by the first line with something in it that is no comment.
    fn of(path: &Path) -> Result<Content> {
        let named = || path.display().to_string();
        let mut file = BufReader::new(input::open(path).with_context(named)?);
        loop {
            let mut line = Vec::new();
            let length = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).with_context(named)?;
            let text = String::from_utf8_lossy(&line);
            let words: Vec<&str> = text.split_whitespace().collect();
            match words.first() {
                Some(first) if first.starts_with('#') => {}
                Some(first) if first.parse::<f64>().is_ok() => return Ok(Content::Numbers(words.len())),
                Some(_) => return Ok(Content::Scenario),
                None if length == 0 => return Ok(Content::Scenario),
                None => {}
            }
        }
    }
}

/// Facts one below the other, each behind its name, which is not repeated.
fn lines(facts: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut last = "";
    for (name, words) in facts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {:<10} {words}", if *name == last { "" } else { name });
        last = name;
    }
    text
}
