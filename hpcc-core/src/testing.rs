// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vectors that hardware, the Linux kernel, scapy or tshark made or confirmed.

extern crate std;

use alloc::vec::Vec;
use serde_json::Value;

/// The bytes of hexadecimal digits.
pub fn hex(digits: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
    digits.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// An entry of `testdata/vectors.json`.
pub fn entry(name: &str) -> Value {
    let vectors: Value = serde_json::from_str(include_str!("../testdata/vectors.json")).expect("JSON");
    let found = vectors.as_array().expect("a list").iter().find(|entry| entry["name"] == name);
    found.expect("an entry of that name").clone()
}

/// The bytes of a packet in `testdata`.
pub fn vector(name: &str) -> Vec<u8> {
    hex(entry(name)["hex"].as_str().expect("digits"))
}
