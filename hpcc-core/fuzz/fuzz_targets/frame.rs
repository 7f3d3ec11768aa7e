// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a frame. What reads as one is built again and reads alike.
#![no_main]

use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Dialect, SectionLen, build};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for dialect in [Dialect::default(), Dialect { ports: &[(1022, SectionLen::Fixed(8))], ..Dialect::default() }] {
        let Ok(parsed) = parse(bytes, &dialect) else { continue };
        let Content::Roce(packet) = parsed.content else { continue };
        let Some(coverage) = packet.verdict() else { continue };
        let again = build::roce(&packet.frame, coverage).expect("what was read can be built");
        let reread = parse(&again, &dialect).expect("what was built can be read");
        let Content::Roce(second) = reread.content else { panic!("another kind of frame") };
        assert_eq!((second.frame, second.icrc), (packet.frame, second.expected_icrc(coverage)));
    }
});
