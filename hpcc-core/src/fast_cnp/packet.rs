// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch's notifications as frames (REQ-33, REQ-37, REQ-38).

use super::option::MAX_HEADER;
use super::{Address, CopiedTrace, FastCnpOption, OptionTypes};
use crate::frame::{Addresses, Encapsulation, RoceFrame, Section};
use crate::roce::{Bth, CNP_RESERVED};
use crate::telemetry::ioam::option::{IoamOption, Kind};
use crate::telemetry::ipv6_options::OptionsHeader;

/// As a ConnectX-4 Lx sends its notifications.
pub const DSCP: u8 = 48;
const HOP_LIMIT: u8 = 64;

/// The notification of a switch with the address `loopback` to the source of a data packet: with the receiver's queue
/// pair, and the option in `room` that tells the receiver. `None` for a packet over IPv4.
///
/// The switch's record must be in the packet's trace already, for the sender hears of no other.
pub fn by_switch<'r>(
    data: &RoceFrame<'_>,
    loopback: Address,
    types: &OptionTypes,
    room: &'r mut [u8; MAX_HEADER],
) -> Option<RoceFrame<'r>> {
    let Addresses::V6 { src, dst } = data.addresses else { return None };
    let option = option(dst, data.telemetry.as_ref());
    let addresses = Addresses::V6 { src: loopback, dst: src };
    let destination_options = option.emit(types, room);
    let bth = Bth::cnp(data.bth.dest_qp);
    let (src_mac, dst_mac, hop_limit) = (data.dst_mac, data.src_mac, HOP_LIMIT);
    Some(RoceFrame { src_mac, dst_mac, hop_limit, addresses, bth, destination_options, ..notification(data) })
}

/// The option of a notification about a data packet to this destination with this telemetry.
fn option<'a>(original_destination: Address, telemetry: Option<&Section<'a>>) -> FastCnpOption<'a> {
    FastCnpOption { original_destination, trace: telemetry.and_then(trace) }
}

/// The destination options of a notification about a packet to `destination`, whose telemetry section, carried as it is,
/// is copied if it is an IOAM trace.
pub fn options<'r>(
    destination: Address,
    encapsulation: Option<Encapsulation>,
    section: &[u8],
    types: &OptionTypes,
    room: &'r mut [u8; MAX_HEADER],
) -> &'r [u8] {
    let section = encapsulation.and_then(|encapsulation| Section::new(encapsulation, section).ok());
    option(destination, section.as_ref()).emit(types, room)
}

/// The trace of a packet, as far as it fits (REQ-43).
fn trace<'a>(section: &Section<'a>) -> Option<CopiedTrace<'a>> {
    if section.encapsulation() != Encapsulation::HopByHop {
        return None;
    }
    let (header, _) = OptionsHeader::parse(section.before_udp()).ok()?;
    let ioam = header.options().map_while(Result::ok).filter_map(|option| IoamOption::of(&option).ok().flatten());
    let mut traces = ioam.filter(|ioam| matches!(ioam.kind, Kind::PreallocatedTrace | Kind::IncrementalTrace));
    let found = traces.next()?;
    CopiedTrace::of_packet(found.kind, found.data).ok()
}

/// A frame made a notification: its header fields, and what stands behind them, but no queue pair.
pub(crate) fn notification(frame: &RoceFrame<'_>) -> RoceFrame<'static> {
    RoceFrame {
        src_mac: frame.src_mac,
        dst_mac: frame.dst_mac,
        addresses: frame.addresses,
        dscp: DSCP,
        hop_limit: frame.hop_limit,
        sport: frame.sport,
        bth: Bth::cnp(0),
        payload: &[0; CNP_RESERVED],
        ..RoceFrame::EMPTY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_cnp::tests::{DATA, LOOPBACK};
    use crate::frame::build;
    use crate::roce::icrc::Coverage;
    use crate::telemetry::ipv6_options::pad;
    use crate::testing::{hex, vector};
    use alloc::vec::Vec;

    fn bytes(frame: &RoceFrame<'_>) -> Vec<u8> {
        build::roce(frame, Coverage::default()).expect("a frame")
    }

    fn fast(data: &RoceFrame<'_>) -> Vec<u8> {
        let mut room = [0xff; MAX_HEADER];
        bytes(&by_switch(data, LOOPBACK, &OptionTypes::default(), &mut room).expect("over IPv6"))
    }

    /// A hop-by-hop header with one option of IOAM data.
    fn hop_by_hop(kind: Kind, data: &[u8]) -> Vec<u8> {
        let len = (8 + data.len()).next_multiple_of(8);
        let mut header =
            [&[17, (len / 8 - 1) as u8, 1, 0, 0x31, (data.len() + 2) as u8, 0, kind.code()], data].concat();
        let end = header.len();
        header.resize(len, 0);
        pad(&mut header[end..]);
        header
    }

    fn with<'a>(header: &'a [u8]) -> RoceFrame<'a> {
        RoceFrame { telemetry: Some(Section::new(Encapsulation::HopByHop, header).expect("whole")), ..DATA }
    }

    /// REQ-33, REQ-37, REQ-38.
    #[test]
    fn notifications_are_as_published_byte_for_byte() {
        assert_eq!(fast(&DATA), vector("fastcnp_opt1"));
        let trace = hex("007b1800920000003f0000a20009113d00000400");
        assert_eq!(fast(&with(&hop_by_hop(Kind::PreallocatedTrace, &trace))), vector("fastcnp_opt2"));
        let v4 = RoceFrame { addresses: Addresses::V4 { src: [10, 0, 0, 1], dst: [10, 0, 0, 2] }, ..DATA };
        assert_eq!(by_switch(&v4, LOOPBACK, &OptionTypes::default(), &mut [0; MAX_HEADER]), None);
    }

    /// What the kernel wrote is copied to the last byte of free room.
    #[test]
    fn req_43_the_kernels_trace_is_copied() {
        let packet = vector("ioam_linux_0xf22000_after_hop1");
        let header = &packet[54..54 + 8 * (usize::from(packet[55]) + 1)];
        let frame = fast(&with(header));
        let trace = &header[8..6 + usize::from(header[5])];
        assert!(frame.windows(trace.len()).any(|window| window == trace));
    }

    #[test]
    fn what_is_no_trace_is_left_out() {
        let trace = hex("007b1800920000003f0000a20009113d00000400");
        assert_eq!(fast(&with(&hop_by_hop(Kind::EdgeToEdge, &trace))), vector("fastcnp_opt1"));
        assert_eq!(fast(&with(&hop_by_hop(Kind::PreallocatedTrace, &trace[..6]))), vector("fastcnp_opt1"));
        let section = Section::new(Encapsulation::Marked { mark: 1 }, &trace).expect("a section");
        assert_eq!(fast(&RoceFrame { telemetry: Some(section), ..DATA }), vector("fastcnp_opt1"));
    }
}
