// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a telemetry section of each layout, with any of its options: read, stamped, read again.
#![no_main]

use hpcc_core::settings::{Input, Settings};
use hpcc_core::telemetry::{HopStack, LayoutSettings, MAX_HOPS, MAX_SECTION, Snapshot};
use hpcc_core::units::Nanos;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let len = bytes.len().min(MAX_SECTION);
    let snapshot = Snapshot { arrived: Nanos(1_000), now: Nanos(2_000), tx_bytes: 3_000, qlen: 4_000, ..Snapshot::IDLE };
    let mut stack = HopStack::default();
    // The last byte draws the options.
    let drawn = bytes.last().copied().unwrap_or_default();
    let mut options = LayoutSettings::default();
    options.shared.multiplier = Some(u32::MAX >> (drawn % 32));
    options.shared.hops = Some(1 + drawn % MAX_HOPS as u8);
    options.set("log_base", Input::Real(1.001 + f64::from(drawn) / 256.0)).expect("in range");
    for layout in options.layouts() {
        let mut section = [0; MAX_SECTION];
        section[..len].copy_from_slice(&bytes[..len]);
        layout.read(&section[..len], &mut stack);
        let stamped = layout.stamp(&mut section, len, &snapshot);
        assert!((len..=MAX_SECTION).contains(&stamped), "{layout}");
        layout.read(&section[..stamped], &mut stack);
    }
});
