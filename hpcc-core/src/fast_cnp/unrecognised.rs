// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host does with options that it does not know (REQ-54; RFC 8200 section 4.2, RFC 4443 section 3.4): a host
//! without the feature, or with the feature off, does so with a notification.
//!
//! RFC 4443 wants its messages rate limited: by a [`TokenBucket`](crate::rate_limit::TokenBucket).

use super::{Address, extensions};
use crate::telemetry::ipv6_options::{Action, action};
use alloc::vec::Vec;
use etherparse::icmpv6::{ParameterProblemCode, ParameterProblemHeader};
use etherparse::{Icmpv6Header, Icmpv6Type, IpNumber, Ipv6Header, Ipv6HeaderSlice};

/// No link of an IPv6 network carries less; no ICMPv6 error is longer.
const LEAST_MTU: usize = 1_280;
/// First byte of multicast addresses.
const MULTICAST: u8 = 0xff;

/// The verdict about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is processed.
    Accept,
    /// It is discarded.
    Discard,
    /// It is discarded, and [reported](report) with this pointer.
    Report(u32),
}

/// Goes through a packet's options up to the first that must not be skipped. `known` says which types the host knows.
pub fn judge(packet: &[u8], known: impl Fn(u8) -> bool) -> Judgement {
    let multicast = packet.get(24) == Some(&MULTICAST);
    for option in extensions::options(packet).filter(|option| !known(option.kind)) {
        match action(option.kind) {
            Action::Skip => {}
            Action::ReportUnicast if multicast => return Judgement::Discard,
            Action::Discard => return Judgement::Discard,
            Action::Report | Action::ReportUnicast => return Judgement::Report(option.offset as u32),
        }
    }
    Judgement::Accept
}

/// The report of a packet to its source, from address `own`: an IPv6 packet with an ICMPv6 Parameter Problem, code 2,
/// that quotes as much as fits. `None` where none may be sent: the bytes are no IPv6 packet, or have no single source.
pub fn report(own: Address, packet: &[u8], pointer: u32) -> Option<Vec<u8>> {
    let source = Ipv6HeaderSlice::from_slice(packet).ok()?.source();
    if source.first() == Some(&MULTICAST) || source == [0; 16] {
        return None;
    }
    let quote = packet.get(..LEAST_MTU - Ipv6Header::LEN - Icmpv6Header::MIN_LEN).unwrap_or(packet);
    let code = ParameterProblemCode::UnrecognizedIpv6Option;
    let message = Icmpv6Type::ParameterProblem(ParameterProblemHeader { code, pointer });
    let icmp = Icmpv6Header::with_checksum(message, own, source, quote).ok()?;
    let ip = Ipv6Header {
        traffic_class: 0,
        flow_label: Default::default(),
        payload_length: (Icmpv6Header::MIN_LEN + quote.len()) as u16,
        next_header: IpNumber::IPV6_ICMP,
        hop_limit: 64,
        source: own,
        destination: source,
    };
    Some([&ip.to_bytes()[..], &icmp.to_bytes(), quote].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_cnp::option::MAX_HEADER;
    use crate::fast_cnp::tests::{LOOPBACK, SENDER};
    use crate::fast_cnp::{options_room, report_room};
    use crate::telemetry::{Ioam, Layout, Profile};
    use crate::testing::vector;

    fn packet(name: &str) -> Vec<u8> {
        vector(name).split_off(14)
    }

    /// RFC 1071 over RFC 8200's pseudo-header: a right checksum makes the sum all ones.
    fn sum(packet: &[u8]) -> u16 {
        let (ip, message) = packet.split_at(40);
        let pseudo = [&ip[8..40], &(message.len() as u32).to_be_bytes(), &[0, 0, 0, 58], message].concat();
        let words = pseudo.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
        let total = words.sum::<u32>();
        let folded = (total & 0xffff) + (total >> 16);
        ((folded & 0xffff) + (folded >> 16)) as u16
    }

    /// The pointer counts from the IPv6 header: 40 bytes, then 2 or 4 in front of the option.
    #[test]
    fn req_54_a_host_without_the_feature_discards_and_points_at_the_type() {
        for (name, pointer) in [("fastcnp_opt1", 42), ("fastcnp_opt2", 44)] {
            let packet = packet(name);
            assert_eq!(judge(&packet, |_| false), Judgement::Report(pointer), "{name}");
            assert_eq!(judge(&packet, |kind| kind == 0x9e), Judgement::Accept, "{name}");
            let report = report(SENDER, &packet, pointer).expect("a report");
            assert_eq!(report[..8], [0x60, 0, 0, 0, 0, (packet.len() + 8) as u8, 58, 64]);
            assert_eq!((&report[8..24], &report[24..40]), (&SENDER[..], &LOOPBACK[..]));
            assert_eq!((report[40], report[41], &report[44..48]), (4, 2, &[0, 0, 0, pointer as u8][..]));
            assert_eq!(report[48..], packet);
            assert_eq!(sum(&report), 0xffff, "{name}");
        }
    }

    #[test]
    fn req_54_even_packets_to_a_group_are_reported() {
        let mut group = packet("fastcnp_opt1");
        group[24] = 0xff;
        assert_eq!(judge(&group, |_| false), Judgement::Report(42));
        for (kind, expected) in [(0x5e, Judgement::Discard), (0xde, Judgement::Discard), (0x1e, Judgement::Accept)] {
            group[42] = kind;
            assert_eq!(judge(&group, |_| false), expected);
        }
        group[24] = 0xfd;
        group[42] = 0xde;
        assert_eq!(judge(&group, |_| false), Judgement::Report(42));
    }

    /// Rooms are for the longest notification of a layout; without a trace there is only one length.
    #[test]
    fn a_notification_and_its_report_fit_their_rooms() {
        let packet = packet("fastcnp_opt1");
        let report = report(SENDER, &packet, 42).expect("a report");
        assert_eq!((options_room(&Layout::none()), report_room(&Layout::none())), (24, report.len()));
        let trace = Layout::new(Ioam { profile: Profile::Full, hops: 5 });
        assert_eq!(options_room(&trace), MAX_HEADER);
        assert_eq!(report_room(&trace) - report_room(&Layout::none()), MAX_HEADER - 24);
    }

    #[test]
    fn reports_fit_the_least_mtu() {
        let mut long = packet("fastcnp_opt1");
        long.resize(9_000, 0xab);
        let report = report(SENDER, &long, 42).expect("a report");
        assert_eq!((report.len(), &report[48..]), (1_280, &long[..1_232]));
        assert_eq!((u16::from_be_bytes([report[4], report[5]]), sum(&report)), (1_240, 0xffff));
    }

    #[test]
    fn nobody_is_told_where_the_source_is_nobody() {
        let mut bytes = packet("fastcnp_opt1");
        assert_eq!(report(SENDER, &bytes[..39], 42), None);
        bytes[8] = 0xff;
        assert_eq!(report(SENDER, &bytes, 42), None);
        bytes[8..24].fill(0);
        assert_eq!(report(SENDER, &bytes, 42), None);
    }
}
