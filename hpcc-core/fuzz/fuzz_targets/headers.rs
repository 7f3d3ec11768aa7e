// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as each header of fixed length: what reads is written alike.
#![no_main]

use hpcc_core::fast_cnp::option::MAX_HEADER;
use hpcc_core::fast_cnp::{Capabilities, CapabilityConfig, FastCnpOption, OptionTypes, extensions};
use hpcc_core::pfc::Pfc;
use hpcc_core::roce::{Aeth, Bth, Deth, Reth};
use hpcc_core::telemetry::ipv6_options::OptionsHeader;
use hpcc_core::units::Nanos;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((bth, _)) = Bth::parse(bytes) {
        assert_eq!(Bth::parse(&bth.emit()).map(|(again, _)| again), Ok(bth));
    }
    if let Ok((aeth, _)) = Aeth::parse(bytes) {
        assert_eq!(aeth.emit(), bytes[..4]);
    }
    if let Ok((reth, _)) = Reth::parse(bytes) {
        assert_eq!(reth.emit(), bytes[..16]);
    }
    if let Ok((deth, _)) = Deth::parse(bytes) {
        assert_eq!(Deth::parse(&deth.emit()).map(|(again, _)| again), Ok(deth));
    }
    if let Ok(pfc) = Pfc::parse(bytes) {
        assert_eq!(Pfc::parse(&pfc.emit()), Ok(pfc));
    }
    if let Ok((header, _)) = OptionsHeader::parse(bytes) {
        assert!(header.options().count() <= bytes.len());
    }
    let types = OptionTypes::default();
    if let Ok(option) = FastCnpOption::parse(bytes, &types) {
        let mut room = [0xff; MAX_HEADER];
        assert_eq!(FastCnpOption::parse(option.emit(&types, &mut room), &types), Ok(option));
    }
    assert!(extensions::options(bytes).all(|option| bytes.get(option.offset) == Some(&option.kind)));
    let config = CapabilityConfig { slots: 1, ..CapabilityConfig::default() };
    if let Some(loopback) = bytes.get(24..40).and_then(|address| address.first_chunk()) {
        Capabilities::new(config).learn(Nanos(0), loopback, bytes, |_| true);
    }
});
