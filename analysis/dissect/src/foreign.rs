// SPDX-License-Identifier: GPL-2.0-only
//! Frames of other protocols, and broken ones.

use crate::layers::Object;
use crate::{old_int, outer, telemetry};
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use hpcc_core::frame::{Fault, INT_MARK, Layer, MARK_BITS, ParseError};
use hpcc_core::pfc;
use hpcc_core::telemetry::TagSize;
use hpcc_core::telemetry::ipv6_options::OptionsHeader;
use serde_json::{Value, json};

const MACSEC: u16 = 0x88e5;
/// UDP destination port of Ultra Ethernet's transport.
const ULTRA_ETHERNET: u16 = 4793;
/// Opcode of the flow control of IEEE 802.3, annex 31B.
const PAUSE: u16 = 1;

/// The known parts of a frame that is no RoCE or PFC, or is broken.
pub fn tell(frame: &mut Object, bytes: &[u8], error: ParseError, cut: bool) {
    let ether_type = word(bytes, TYPE_AT);
    if let (Some(pfc::ETHER_TYPE), Some(PAUSE), Some(quanta)) = (ether_type, word(bytes, 14), word(bytes, 16)) {
        frame.insert("pause".into(), json!({ "quanta": quanta }));
        return;
    }
    let mut layer = words(&format!("{:?}", error.layer));
    if let Some(name) = ether_type.and_then(ether_name).filter(|_| error.layer == Layer::Ethernet) {
        layer = name.into();
    }
    if let (Some(MACSEC), Some(tag)) = (ether_type, bytes.get(TYPE_AT + 2..).and_then(security)) {
        frame.insert("macsec".into(), tag);
    }
    let (tag, sliced) = sliced(bytes);
    if let Some(tag) = tag {
        frame.insert("telemetry".into(), telemetry::csig(tag));
    }
    if let Some(sliced) = sliced {
        other_layers(frame, &sliced);
        foreign_telemetry(frame, &sliced);
        if let (Layer::Udp, Some(found)) = (error.layer, sliced.transport.as_ref().map(transport)) {
            layer = found.into();
        }
    }
    // A foreign protocol is no fault of the frame, and bytes that the capture cut off are not known.
    let is_foreign = matches!(error.fault, Fault::Unknown | Fault::Unexpected);
    let name = if is_foreign || cut { "not_dissected" } else { "malformed" };
    let fault = words(&format!("{:?}", error.fault));
    frame.insert(name.into(), json!({ "layer": layer, "offset": error.offset, "fault": fault }));
}

/// Where an Ethernet frame says its type.
const TYPE_AT: usize = 12;

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|word| u16::from_be_bytes(*word))
}

/// Protocols that are named, and no more.
fn ether_name(ether_type: u16) -> Option<&'static str> {
    match ether_type {
        MACSEC => Some("macsec"),
        0x8809 => Some("slow protocols"),
        0x88cc => Some("lldp"),
        0x88f7 => Some("ptp"),
        _ if outer::MPLS.contains(&ether_type) => Some("mpls"),
        _ => None,
    }
}

/// The security tag of IEEE 802.1AE behind its EtherType.
fn security(tag: &[u8]) -> Option<Value> {
    const ENCRYPTED: u8 = 1 << 3;
    const WITH_CHANNEL: u8 = 1 << 5;
    let &[control, _, n0, n1, n2, n3] = tag.first_chunk()?;
    let channel = tag.get(6..).and_then(|rest| rest.first_chunk()).filter(|_| control & WITH_CHANNEL != 0);
    Some(json!({
        "association": control & 3,
        "encrypted": control & ENCRYPTED != 0,
        "packet_number": u32::from_be_bytes([n0, n1, n2, n3]),
        "channel": channel.map(|channel: &[u8; 8]| telemetry::digits(channel)),
    }))
}

/// CSIG's tag, and the layers of the frame without it.
pub fn sliced(bytes: &[u8]) -> (Option<&[u8]>, Option<LaxSlicedPacket<'_>>) {
    let has_type = |size: &TagSize| word(bytes, TYPE_AT) == Some(size.ether_type());
    let Some(size) = [TagSize::Compact, TagSize::Wide].into_iter().find(has_type) else {
        return (None, LaxSlicedPacket::from_ethernet(bytes).ok());
    };
    let behind = TYPE_AT + size.bytes();
    let next = word(bytes, behind).zip(bytes.get(behind + 2..));
    (bytes.get(TYPE_AT..behind), next.map(|(kind, rest)| LaxSlicedPacket::from_ether_type(EtherType(kind), rest)))
}

/// IOAM in front of any protocol, and INT behind TCP or UDP, to whatever port: where the DSCP announces it, or it proves to be.
fn foreign_telemetry(frame: &mut Object, sliced: &LaxSlicedPacket<'_>) {
    const HOP_BY_HOP: u8 = 0;
    let (dscp, first) = match &sliced.net {
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let options = (header.next_header().0 == HOP_BY_HOP).then(|| ip.extensions().slice());
            (header.traffic_class() >> 2, options)
        }
        Some(LaxNetSlice::Ipv4(ip)) => (ip.header().dcp().value(), None),
        Some(LaxNetSlice::Arp(_)) | None => return,
    };
    let payload = match &sliced.transport {
        Some(TransportSlice::Udp(udp)) => udp.payload(),
        Some(TransportSlice::Tcp(tcp)) => tcp.payload(),
        _ => &[],
    };
    let told = if let Some(options) = first {
        let header =
            OptionsHeader::parse(options).ok().map_or(options, |(_, behind)| &options[..options.len() - behind.len()]);
        Some(telemetry::hop_by_hop(header))
    } else if telemetry::is_int(payload) || dscp & MARK_BITS == INT_MARK && telemetry::begins_as_int(payload) {
        Some(telemetry::int_of(payload))
    } else {
        old_int::read(payload)
    };
    if let Some(told) = told {
        frame.insert("telemetry".into(), told);
    }
}

/// The protocol in the place of UDP, or behind it.
fn transport(slice: &TransportSlice<'_>) -> &'static str {
    match slice {
        TransportSlice::Udp(udp) if udp.destination_port() == ULTRA_ETHERNET => "uet",
        TransportSlice::Udp(_) => "udp",
        TransportSlice::Tcp(_) => "tcp",
        TransportSlice::Icmpv4(_) => "icmpv4",
        TransportSlice::Icmpv6(_) => "icmpv6",
        TransportSlice::Igmp(_) => "igmp",
    }
}

/// `BaseTransport` as `base transport`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn other_layers(frame: &mut Object, sliced: &LaxSlicedPacket<'_>) {
    match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let ip = json!({
                "src": header.source_addr().to_string(),
                "dst": header.destination_addr().to_string(),
                "dscp": header.dcp().value(),
                "ecn": header.ecn().value(),
                "ttl": header.ttl(),
                "protocol": header.protocol().0,
            });
            frame.insert("ipv4".into(), ip);
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let ip = json!({
                "src": header.source_addr().to_string(),
                "dst": header.destination_addr().to_string(),
                "dscp": header.traffic_class() >> 2,
                "ecn": header.traffic_class() & 3,
                "hop_limit": header.hop_limit(),
                "next_header": header.next_header().0,
            });
            frame.insert("ipv6".into(), ip);
        }
        Some(LaxNetSlice::Arp(_)) => drop(frame.insert("arp".into(), json!({}))),
        None => {}
    }
    match &sliced.transport {
        Some(TransportSlice::Udp(udp)) => {
            frame.insert("udp".into(), json!({ "sport": udp.source_port(), "dport": udp.destination_port() }));
            if udp.destination_port() == ULTRA_ETHERNET {
                frame.insert("uet".into(), json!({}));
            }
        }
        Some(TransportSlice::Tcp(tcp)) => {
            frame.insert("tcp".into(), json!({ "sport": tcp.source_port(), "dport": tcp.destination_port() }));
        }
        Some(TransportSlice::Icmpv4(icmp)) => {
            frame.insert("icmpv4".into(), json!({ "type": icmp.type_u8(), "code": icmp.code_u8() }));
        }
        Some(TransportSlice::Icmpv6(icmp)) => {
            frame.insert("icmpv6".into(), json!({ "type": icmp.type_u8(), "code": icmp.code_u8() }));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Dissector, line};
    use hpcc_core::roce::icrc;
    use hpcc_core::telemetry::{Form, Layout};

    const TCP: u8 = 6;
    const UDP: u8 = 17;

    fn read(bytes: &[u8]) -> Object {
        Dissector::new(Layout::new(Form::Paper)).frame(1, &Captured::alone(bytes.to_vec()))
    }

    fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
        [&[2; 12][..], &ether_type.to_be_bytes(), payload].concat()
    }

    /// From 10.0.0.1 to 10.0.0.2, its checksum as RFC 1071 has it.
    fn ipv4(dscp: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let [high, low] = (20 + payload.len() as u16).to_be_bytes();
        let mut ip = [0x45, dscp << 2, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        let sum = !((sum >> 16) + (sum & 0xffff)) as u16;
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        ethernet(0x0800, &[&ip[..], payload].concat())
    }

    fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
        let len = (8 + payload.len() as u16).to_be_bytes();
        [&[0xc3, 0x50][..], &port.to_be_bytes(), &len, &[0, 0], payload].concat()
    }

    fn tcp(payload: &[u8]) -> Vec<u8> {
        [&[4, 0xd2, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 0x20, 0, 0, 0, 0, 0][..], payload].concat()
    }

    /// IEEE 802.3, annex 31B: opcode 1, then the time. Of other opcodes nothing is said.
    #[test]
    fn a_pause_of_the_whole_link_is_read() {
        let control = |opcode: u8| ethernet(0x8808, &[&[0, opcode, 0x12, 0x34][..], &[0; 42]].concat());
        let told = read(&control(1));
        assert_eq!((&told["pause"], told.contains_key("not_dissected")), (&json!({ "quanta": 0x1234 }), false));
        assert!(line(&told).contains("PAUSE 4660 quanta"), "{}", line(&told));
        assert!(!read(&control(2)).contains_key("pause"));
    }

    /// A datagram that asks for nothing: BTH, DETH, 4 bytes.
    const DATAGRAM: [u8; 24] = [0x64, 0, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 0x80, 1, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4];

    /// InfiniBand's annex A16: a global routing header behind EtherType 0x8915, then the base transport header.
    #[test]
    fn the_first_version_of_roce_is_read() {
        let global = |next: u8| -> [u8; icrc::GLOBAL_LEN] {
            let addresses = (0..32).collect::<Vec<u8>>();
            let fields = [0x6a, 0xb1, 0x23, 0x45, 0, DATAGRAM.len() as u8 + 4, next, 64];
            [&fields[..], &addresses].concat().try_into().expect("40 bytes")
        };
        let packet =
            |next: u8, icrc: [u8; 4]| ethernet(0x8915, &[&global(next)[..], &DATAGRAM, &icrc, &[0; 3]].concat());
        let told = read(&packet(0x1b, icrc::with_global(&global(0x1b), &DATAGRAM)));
        let header = json!({
            "src": "1:203:405:607:809:a0b:c0d:e0f", "dst": "1011:1213:1415:1617:1819:1a1b:1c1d:1e1f",
            "traffic_class": 0xab, "flow_label": 0x1_2345, "hop_limit": 64,
        });
        assert_eq!((&told["grh"], &told["icrc"]["verdict"]), (&header, &json!("right")));
        assert_eq!(
            (&told["bth"]["psn"], &told["deth"]["src_qp"], &told["payload_bytes"]),
            (&json!(7), &json!(3), &json!(4))
        );
        assert!(!told.contains_key("ipv6") && !told.contains_key("udp"), "{told:?}");
        assert_eq!(read(&packet(0x1b, [0; 4]))["icrc"]["verdict"], "wrong");
        assert!(!read(&packet(0x11, [0; 4])).contains_key("grh"), "another next header");
        let broken = read(&packet(0x1b, [0; 4])[..70]);
        assert_eq!(broken["malformed"], json!({ "layer": "ip", "offset": 14, "fault": "truncated" }));
        assert!(broken.contains_key("grh") && !broken.contains_key("ipv6"), "{broken:?}");
    }

    /// IEEE 802.1AE: control bits, short length, packet number, and a channel if the control bits say so.
    #[test]
    fn what_is_secured_is_named() {
        let tag = |control: u8| {
            read(&ethernet(0x88e5, &[&[control, 0, 0, 0, 1, 2, 1, 2, 3, 4, 5, 6, 0, 1][..], &[0; 40]].concat()))
        };
        let told = tag(0x2e);
        let fields =
            json!({ "association": 2, "encrypted": true, "packet_number": 258, "channel": "0102030405060001" });
        assert_eq!((&told["macsec"], &told["not_dissected"]["layer"]), (&fields, &json!("macsec")));
        assert_eq!(tag(0x04)["macsec"]["channel"], Value::Null);
    }

    #[test]
    fn known_protocols_are_named() {
        let uet = read(&ipv4(0, UDP, &udp(4793, &[0; 20])));
        assert_eq!((&uet["not_dissected"]["layer"], &uet["udp"]["dport"]), (&json!("uet"), &json!(4793)));
        assert!(line(&uet).contains("10.0.0.1 > 10.0.0.2  uet"), "{}", line(&uet));
        for (ether_type, name) in [(0x8847, "mpls"), (0x88cc, "lldp"), (0x88f7, "ptp"), (0x1234, "ethernet")] {
            assert_eq!(read(&ethernet(ether_type, &[0, 0, 1, 0, 0, 0]))["not_dissected"]["layer"], name);
        }
    }

    /// P4 INT v2.1: shim (an IP protocol follows), header that asks for node and latency, two hops.
    const INT: [u8; 32] =
        [0x18, 7, 0, 17, 0x20, 0, 2, 6, 0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 100, 0, 0, 0, 2, 0, 0, 0, 200];

    #[test]
    fn telemetry_over_tcp_and_udp_is_read_whatever_the_dscp() {
        for dscp in [0, 2, 23, 24, 26, 63] {
            for packet in [ipv4(dscp, TCP, &tcp(&INT)), ipv4(dscp, UDP, &udp(5_000, &INT))] {
                let told = read(&packet);
                let hops = json!([{ "node_id": 2, "hop_latency": 200 }, { "node_id": 1, "hop_latency": 100 }]);
                assert_eq!(
                    (&told["telemetry"]["hops"], &told["ipv4"]["dscp"]),
                    (&hops, &json!(dscp)),
                    "the newest is last"
                );
                assert_eq!(told["telemetry"]["original_protocol"], 17);
            }
        }
    }

    #[test]
    fn one_wrong_bit_of_its_headers_and_it_is_no_telemetry() {
        let has = |int: &[u8]| read(&ipv4(0, UDP, &udp(5_000, int))).contains_key("telemetry");
        assert!(has(&INT) && !has(&INT[..31]) && !has(&INT[..15]));
        for (at, bit) in [(0, 0), (0, 4), (0, 7), (1, 0), (4, 0), (4, 5), (5, 3), (6, 0), (6, 7), (8, 6)] {
            let mut int = INT;
            int[at] ^= 1 << bit;
            assert!(!has(&int), "bit {bit} of byte {at}");
        }
    }

    /// Signal 1, value 22 of 32, locator 21, of switches that forward more than RoCE.
    #[test]
    fn csig_is_read_in_front_of_any_protocol() {
        let packet = ipv4(0, TCP, &tcp(b"GET /"));
        let told = read(&[&packet[..12], &[0x99, 0, 0x2b, 0x2a], &packet[12..]].concat());
        assert_eq!(told["telemetry"]["hpcc"], json!({ "available_share": 0.6875 }));
        let (uec, pins) = (json!({ "lm": 21, "d": false }), json!({ "lm": 42 }));
        assert_eq!(told["telemetry"]["csig"], json!({ "t": 1, "r": 0, "s": 22, "uec": uec, "pins": pins }));
        // lm 0x2345, d, t 1, s 0xabcde.
        let wide = [0x99, 1, 0x46, 0x8b, 0x1a, 0xbc, 0xde, 0x07];
        let told = read(&[&packet[..12], &wide, &packet[12..]].concat());
        assert_eq!(told["telemetry"]["csig"], json!({ "t": 1, "r": 7, "s": 0xa_bcde, "lm": 0x2345, "d": true }));
        assert_eq!((&told["tcp"]["dport"], &told["not_dissected"]["layer"]), (&json!(80), &json!("tcp")));
    }
}
