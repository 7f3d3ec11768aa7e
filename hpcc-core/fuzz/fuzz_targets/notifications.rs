// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as the frame of a notification: to a border, to a host with the feature and to one without it.
#![no_main]

use hpcc_core::address::AddressSet;
use hpcc_core::fast_cnp::{
    AcceptorConfig, Address, Border, BorderSide, Crossing, FastCnpOption, HostAgent, MigrationConfig, OptionTypes,
    Received,
};
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Addresses, Dialect};
use hpcc_core::roce::Bth;
use hpcc_core::telemetry::ioam::hpcc::Profile;
use hpcc_core::telemetry::{HopStack, Telemetry};
use hpcc_core::units::Nanos;
use libfuzzer_sys::fuzz_target;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
const OWN: Address = [0xfd; 16];
const QUEUE_PAIR: u32 = 5;

/// A host that believes everyone, with a flow to wherever the notification says.
fn host(enabled: bool, destination: Address, dest_qp: u32) -> HostAgent {
    let everyone = AddressSet::from_iter([OWN]);
    let acceptor = AcceptorConfig { enabled, sources: everyone, ..AcceptorConfig::default() };
    let mut host = HostAgent::new(OWN, acceptor, MigrationConfig { enabled: true, ..MigrationConfig::default() });
    host.connect(destination, dest_qp, QUEUE_PAIR);
    host
}

/// A notification with these destination options; it is believed once in an interval at most.
fn notify(options: &[u8], bth: Bth, icrc_is_right: bool) {
    let Ok(option) = FastCnpOption::parse(options, &OptionTypes::default()) else { return };
    let mut host = host(true, option.original_destination, bth.dest_qp);
    for now in [0, 1] {
        let received = Received { now: Nanos(now), source: OWN, destination_options: options, bth, icrc_is_right };
        let Ok(accepted) = host.on_notification(&received) else { continue };
        assert_eq!((now, accepted.queue_pair), (0, QUEUE_PAIR));
        host.migration(Nanos(now), QUEUE_PAIR, accepted.origin, 1, || 0.5);
        let mut stack = HopStack::default();
        for profile in [Profile::Full, Profile::Slim] {
            if let Some(Telemetry::Hops(records)) = accepted.trace.map(|trace| trace.telemetry(profile, &mut stack)) {
                assert!(!records.hops().is_empty());
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    // The options alone, behind a base transport header that is right, and the whole frame.
    notify(bytes, Bth::cnp(1), true);
    let dialect = Dialect::default();
    if let Ok(parsed) = parse(bytes, &dialect)
        && let Content::Roce(packet) = parsed.content
        && let Addresses::V6 { .. } = packet.frame.addresses
    {
        notify(packet.frame.destination_options, packet.frame.bth, packet.verdict().is_some());
    }
    let Some(packet) = bytes.get(ETHERNET..) else { return };
    let (inbound, outbound) = (Crossing::Inbound, Crossing::Outbound);
    let mut border = Border::new(OptionTypes::default(), BorderSide::Both);
    assert_eq!(border.passes(packet, inbound), border.passes(packet, outbound));
    let report = host(false, OWN, 1).report(Nanos(0), packet);
    // What a host answers is about the packet, and never longer than the least MTU of IPv6.
    assert!(report.is_none_or(|report| report.len() <= 1_280));
});
