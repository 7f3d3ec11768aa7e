// SPDX-License-Identifier: GPL-2.0-only
//! Captures as tshark reads them.

use std::path::Path;
use std::process::Command;

/// A frame's fields, in the order in which they were asked for.
pub struct Dissected<'a> {
    names: &'a [&'a str],
    values: Vec<String>,
}

/// Whether tshark is there.
pub fn is_there() -> bool {
    Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The fields of each frame of a capture. Checksums are checked.
pub fn dissect<'a>(capture: &Path, names: &'a [&'a str]) -> Vec<Dissected<'a>> {
    dissect_with(&[], capture, names)
}

/// The same, with more options of tshark.
pub fn dissect_with<'a>(options: &[&str], capture: &Path, names: &'a [&'a str]) -> Vec<Dissected<'a>> {
    let mut tshark = Command::new("tshark");
    tshark.args(options);
    tshark.arg("-n").arg("-r").arg(capture);
    tshark.args(["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    tshark.args(["-T", "fields", "-E", "separator=/t", "-E", "aggregator=,"]);
    for name in names {
        tshark.args(["-e", name]);
    }
    let output = tshark.output().expect("tshark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("tshark prints UTF-8");
    let row = |line: &str| Dissected { names, values: line.split('\t').map(str::to_owned).collect() };
    text.lines().map(row).collect()
}

impl Dissected<'_> {
    /// A field as printed; empty if the frame has none such.
    pub fn text(&self, name: &str) -> &str {
        let at = self.names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name} was asked for"));
        &self.values[at]
    }

    /// All values of a field.
    pub fn numbers(&self, name: &str) -> Vec<u64> {
        self.text(name).split(',').filter(|text| !text.is_empty()).map(number).collect()
    }
}

/// A number as tshark prints it: decimal, hexadecimal, or a truth value.
fn number(text: &str) -> u64 {
    let read = match (text, text.strip_prefix("0x")) {
        ("True", _) => Ok(1),
        ("False", _) => Ok(0),
        (_, Some(digits)) => u64::from_str_radix(digits, 16),
        (_, None) => text.parse(),
    };
    read.unwrap_or_else(|error| panic!("{text}: {error}"))
}
