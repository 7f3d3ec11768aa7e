// SPDX-License-Identifier: GPL-2.0-only
//! `fct.txt`: one line per completed flow, in the order of completion, as the 2019 simulator writes it.
//!
//! A line reads `SIP DIP SPORT DPORT SIZE START FCT STANDALONE`: addresses as eight hexadecimal digits, sizes
//! in bytes, times in ns.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::text_file::{Words, for_each_line_of, open};
use super::{FctRecord, ResultError, address};

/// Bytes.
const READ_AT_ONCE: usize = 1 << 18;

/// One line of `fct.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FctLine {
    /// Address of the sender.
    pub sip: u32,
    /// Address of the receiver.
    pub dip: u32,
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
    /// Payload in bytes.
    pub size: u64,
    /// Start in ns.
    pub start_ns: u64,
    /// Completion time in ns, counted from the start.
    pub fct_ns: u64,
    /// Completion time of the same flow alone in the network, in ns.
    pub ideal_ns: u64,
}

impl From<&FctRecord> for FctLine {
    fn from(flow: &FctRecord) -> FctLine {
        FctLine {
            sip: address::of_node(flow.src),
            dip: address::of_node(flow.dst),
            sport: flow.sport,
            dport: flow.dport,
            size: flow.size,
            start_ns: flow.start_ns,
            fct_ns: flow.fct_ns,
            ideal_ns: flow.ideal_ns,
        }
    }
}

/// Writes one line.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, l: &FctLine) -> io::Result<()> {
    writeln!(
        out,
        "{:08x} {:08x} {} {} {} {} {} {}",
        l.sip, l.dip, l.sport, l.dport, l.size, l.start_ns, l.fct_ns, l.ideal_ns
    )
}

/// Reads a whole file, also a `.gz` one.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<FctLine>, ResultError> {
    read_from(path, BufReader::new(open(path)?))
}

/// Reads the text of a whole file; `path` is for errors.
///
/// # Errors
/// As [`read`].
pub fn read_from(path: &Path, input: impl BufRead) -> Result<Vec<FctLine>, ResultError> {
    let mut flows = Vec::new();
    each_from(path, input, |flow| {
        flows.push(flow);
        Ok(())
    })?;
    Ok(flows)
}

/// Hands every line of a file, also of a `.gz` one, to `see`; errors of `see` get the line's place.
///
/// # Errors
/// As [`read`].
pub fn each(path: &Path, see: impl FnMut(FctLine) -> Result<(), String>) -> Result<(), ResultError> {
    each_from(path, BufReader::with_capacity(READ_AT_ONCE, open(path)?), see)
}

fn each_from(
    path: &Path,
    input: impl BufRead,
    mut see: impl FnMut(FctLine) -> Result<(), String>,
) -> Result<(), ResultError> {
    for_each_line_of(path, input, |line| see(parse(line)?))
}

fn parse(line: &str) -> Result<FctLine, String> {
    let mut words = Words::of(line);
    let flow = FctLine {
        sip: words.hex("source address")?,
        dip: words.hex("destination address")?,
        sport: words.number("source port")?,
        dport: words.number("destination port")?,
        size: words.number("size")?,
        start_ns: words.number("start")?,
        fct_ns: words.number("completion time")?,
        ideal_ns: words.number("standalone time")?,
    };
    words.end()?;
    Ok(flow)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{file_with, rewritten};
    use super::*;

    /// From the 2019 simulator's own output, two queue pairs from one host.
    const GOLDEN: &str = "0b000101 0b000201 10000 100 1000000 2000059999 144937 88000
0b000001 0b000201 10001 100 1000000 2000049999 259353 88000
0b000001 0b000201 10000 100 2000000 2000000000 424008 171840
";

    #[test]
    fn the_references_lines_survive_a_round_trip() {
        let (_folder, path) = file_with("fct.txt", GOLDEN);
        let flows = read(&path).expect("golden lines");
        assert_eq!(flows.len(), 3);
        assert_eq!(flows[1].sport, 10_001);
        assert_eq!(rewritten(&flows, write), GOLDEN);
    }

    #[test]
    fn a_record_becomes_the_references_line() {
        let flow = FctRecord {
            src: 1,
            dst: 319,
            sport: 10_000,
            dport: 100,
            size: 5,
            start_ns: 6,
            fct_ns: 7,
            ideal_ns: 8,
            ..FctRecord::default()
        };
        assert_eq!(rewritten(&[FctLine::from(&flow)], write), "0b000101 0b013f01 10000 100 5 6 7 8\n");
    }

    #[test]
    fn compressed_files_are_read_too() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("fct.txt.gz");
        let file = std::fs::File::create(&path).expect("file");
        let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        gzip.write_all(GOLDEN.as_bytes()).expect("write");
        gzip.finish().expect("finish");
        assert_eq!(read(&path).expect("gz").len(), 3);
    }

    #[test]
    fn bad_lines_are_refused_with_their_number() {
        for (text, end) in [
            (&GOLDEN[..GOLDEN.len() - 3], "fct.txt:3: the file ends within this line: it is cut off"),
            ("0b000101 0b000201 10000\n", "fct.txt:1: destination port is missing"),
            ("hello\n", "fct.txt:1: source address: 'hello' is not a hexadecimal address"),
            ("0b000001 0b000201 99999 1 1 1 1 1\n", "fct.txt:1: source port: '99999' is not a number in range"),
            ("0b000001 0b000201 1 1 1 1 1 1 1\n", "fct.txt:1: '1' is one value too many"),
        ] {
            let (_folder, path) = file_with("fct.txt", text);
            let message = read(&path).expect_err("accepted").to_string();
            assert!(message.ends_with(end), "{message}");
        }
        let (_folder, path) = file_with("fct.txt", [0xff, 0xfe, b'\n']);
        assert!(read(&path).expect_err("accepted").to_string().ends_with("fct.txt:1: not text"));
        assert!(read(Path::new("no/such/fct.txt")).expect_err("found").to_string().starts_with("no/such/fct.txt: "));
    }
}
