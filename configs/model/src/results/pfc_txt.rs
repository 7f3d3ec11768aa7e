// SPDX-License-Identifier: GPL-2.0-only
//! `pfc.txt`: one line per PFC frame that a device received, as the 2019 simulator writes it.
//!
//! A line reads `TIME NODE IS_SWITCH PORT PAUSE`: the time in ns, 1 for a switch and 0 for a host, 1 for a
//! pause and 0 for a resume.

use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

use super::ResultError;
use super::text_file::{Words, for_each_line};

/// One line of `pfc.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfcEvent {
    /// When the frame arrived, in ns.
    pub time_ns: u64,
    /// Receiving node.
    pub node: u32,
    /// Whether that node is a switch.
    pub is_switch: bool,
    /// Receiving port of the node.
    pub port: u32,
    /// Pause, or resume.
    pub pause: bool,
}

/// Writes one line.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, e: &PfcEvent) -> io::Result<()> {
    writeln!(out, "{} {} {} {} {}", e.time_ns, e.node, u8::from(e.is_switch), e.port, u8::from(e.pause))
}

/// Reads a whole file, also a `.gz` one.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<PfcEvent>, ResultError> {
    let mut events = Vec::new();
    for_each_line(path, |line| {
        events.push(parse(line)?);
        Ok(())
    })?;
    Ok(events)
}

fn parse(line: &str) -> Result<PfcEvent, String> {
    let mut words = Words::of(line);
    let event = PfcEvent {
        time_ns: words.number("time")?,
        node: words.number("node")?,
        is_switch: words.flag("node type")?,
        port: words.number("port")?,
        pause: words.flag("frame type")?,
    };
    words.end()?;
    Ok(event)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{file_with, rewritten};
    use super::*;

    const GOLDEN: &str = "2000006179 7 0 1 1\n2000006266 0 0 1 1\n2000107021 9 1 3 0\n";

    #[test]
    fn the_references_lines_survive_a_round_trip() {
        let (_folder, path) = file_with("pfc.txt", GOLDEN);
        let events = read(&path).expect("golden lines");
        assert!(events[0].pause && !events[0].is_switch && events[2].is_switch && !events[2].pause);
        assert_eq!(rewritten(&events, write), GOLDEN);
    }

    #[test]
    fn bad_lines_are_refused_with_their_number() {
        for (text, end) in [
            ("2000006179 7 0 1 1\n2000006266 0 0", "pfc.txt:2: the file ends within this line: it is cut off"),
            ("2000006179 7 2 1 1\n", "pfc.txt:1: node type: '2' is neither 0 nor 1"),
            ("2000006179 7 0 1\n", "pfc.txt:1: frame type is missing"),
            ("then\n", "pfc.txt:1: time: 'then' is not a number in range"),
        ] {
            let (_folder, path) = file_with("pfc.txt", text);
            let message = read(&path).expect_err("accepted").to_string();
            assert!(message.ends_with(end), "{message}");
        }
    }
}
