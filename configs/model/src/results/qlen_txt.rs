// SPDX-License-Identifier: GPL-2.0-only
//! `qlen.txt`: cumulative histograms of queue length, as the 2019 simulator writes them.
//!
//! Every 100 ms of simulated time a block follows: `time: T` (ns), then `SWITCH PORT C0 C1 ...` per port, where
//! `Ck` counts the samples so far with a queue from `k` up to, not including, `k + 1` kB (1000 bytes).

use std::io::{self, Write};
use std::path::Path;

use super::ResultError;
use super::text_file::{Words, for_each_line};

/// The histograms of all ports at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QlenSnapshot {
    /// When it was taken, in ns.
    pub time_ns: u64,
    /// The ports, by node and port number.
    pub ports: Vec<PortHistogram>,
}

/// The histogram of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortHistogram {
    /// Number of the switch.
    pub node: u32,
    /// Number of its port, in the order of its links.
    pub port: u32,
    /// Samples per kB of queue length.
    pub counts: Vec<u64>,
}

/// Writes the line that opens a block.
///
/// # Errors
/// Those of `out`.
pub fn write_time(out: &mut impl Write, time_ns: u64) -> io::Result<()> {
    writeln!(out, "time: {time_ns}")
}

/// Writes the line of one port.
///
/// # Errors
/// Those of `out`.
pub fn write_port(out: &mut impl Write, node: u32, port: u32, counts: impl Iterator<Item = u64>) -> io::Result<()> {
    write!(out, "{node} {port}")?;
    for count in counts {
        write!(out, " {count}")?;
    }
    writeln!(out)
}

/// Reads a whole file, also a `.gz` one.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<QlenSnapshot>, ResultError> {
    let mut snapshots: Vec<QlenSnapshot> = Vec::new();
    for_each_line(path, |line| {
        if let Some(time) = line.strip_prefix("time:") {
            snapshots.push(parse_time(time)?);
            return Ok(());
        }
        let snapshot = snapshots.last_mut().ok_or("a line 'time: T' should come first")?;
        snapshot.ports.push(parse_port(line)?);
        Ok(())
    })?;
    Ok(snapshots)
}

fn parse_time(text: &str) -> Result<QlenSnapshot, String> {
    let mut words = Words::of(text);
    let time_ns = words.number("time")?;
    words.end()?;
    Ok(QlenSnapshot { time_ns, ports: Vec::new() })
}

fn parse_port(line: &str) -> Result<PortHistogram, String> {
    let mut words = Words::of(line);
    Ok(PortHistogram {
        node: words.number("switch")?,
        port: words.number("port")?,
        counts: words.numbers("number of samples")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::file_with;
    use super::*;

    const GOLDEN: &str = "time: 2000000000
3 1 1
3 2 1
time: 2100000000
3 1 1000001
3 2 999978 23
";

    #[test]
    fn the_references_lines_survive_a_round_trip() {
        let (_folder, path) = file_with("qlen.txt", GOLDEN);
        let snapshots = read(&path).expect("golden lines");
        assert_eq!(snapshots[1].ports[1].counts, [999_978, 23]);
        let mut text = Vec::new();
        for snapshot in &snapshots {
            write_time(&mut text, snapshot.time_ns).expect("memory");
            for port in &snapshot.ports {
                write_port(&mut text, port.node, port.port, port.counts.iter().copied()).expect("memory");
            }
        }
        assert_eq!(String::from_utf8(text).expect("text"), GOLDEN);
    }

    #[test]
    fn bad_lines_are_refused_with_their_number() {
        for (text, end) in [
            ("3 1 1\n", "qlen.txt:1: a line 'time: T' should come first"),
            ("time: soon\n", "qlen.txt:1: time: 'soon' is not a number in range"),
            ("time: 0\n3 1 1 -1\n", "qlen.txt:2: number of samples: '-1' is not a number"),
            ("time: 0\n3 1 1 10", "qlen.txt:2: the file ends within this line: it is cut off"),
        ] {
            let (_folder, path) = file_with("qlen.txt", text);
            let message = read(&path).expect_err("accepted").to_string();
            assert!(message.ends_with(end), "{message}");
        }
    }
}
