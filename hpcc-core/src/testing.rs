// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tests of several modules need: vectors that hardware, the Linux kernel, scapy or tshark made or confirmed, small
//! networks, sections of telemetry, settings.

extern crate std;

use crate::node::NodeSettings;
use crate::settings::Input;
use crate::telemetry::{
    Form, HopStack, Ifa, IntMd, Ioam, Layout, MAX_SECTION, Profile, Reference, Snapshot, Telemetry,
};
use crate::topology::{Link, Network, NodeKind};
use crate::units::{BitRate, Nanos};
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

/// Hosts, then switches; links of 1 us with their rates in Gb/s.
pub fn network(hosts: usize, switches: usize, links: &[(u32, u32, u64)]) -> Network {
    let mut nodes = alloc::vec![NodeKind::Host; hosts];
    nodes.resize(hosts + switches, NodeKind::Switch);
    let link =
        |&(a, b, gbps): &(u32, u32, u64)| Link { a, b, rate: BitRate::gbps(gbps), delay: Nanos(1_000), loss: 0.0 };
    Network { nodes, links: links.iter().map(link).collect() }
}

/// Hosts 0 to 2 around switch 3.
pub fn star() -> Network {
    network(3, 1, &[(0, 3, 100), (1, 3, 100), (2, 3, 100)])
}

/// All layouts with records of hops.
pub fn layouts() -> [Layout; 8] {
    [
        Layout::new(Reference { multiplier: 4 }),
        Layout::new(Form::Paper),
        Layout::new(Form::Draft),
        Layout::new(IntMd { hops: 5 }),
        Layout::new(Ifa { hops: 5, sojourn: false }),
        Layout::new(Ifa { hops: 5, sojourn: true }),
        Layout::new(Ioam { profile: Profile::Full, hops: 5 }),
        Layout::new(Ioam { profile: Profile::Slim, hops: 5 }),
    ]
}

/// The section of a packet that passed these hops.
pub fn stamped(layout: &Layout, hops: impl IntoIterator<Item = Snapshot>) -> Vec<u8> {
    let mut bytes = [0; MAX_SECTION];
    let len = layout.prepare(&mut bytes, Nanos(0));
    let len = hops.into_iter().fold(len, |len, hop| layout.stamp(&mut bytes, len, &hop));
    bytes[..len].to_vec()
}

/// The records in a section.
pub fn records(layout: &Layout, bytes: &[u8]) -> HopStack {
    let mut stack = HopStack::default();
    assert!(matches!(layout.read(bytes, &mut stack), Telemetry::Hops(_)), "{layout:?}");
    stack
}

/// Settings by section, key and text.
pub fn node_with(sets: &[(&str, &str, &str)]) -> NodeSettings {
    let mut node = NodeSettings::default();
    for (section, key, text) in sets {
        let setting = node.section(section, None).into_iter().find(|setting| setting.key == *key).expect("known");
        let input = Input::parse(&setting, text).expect("a value");
        assert_eq!(node.set(section, None, key, input), Ok(()), "{key} = {text}");
    }
    node
}
