// SPDX-License-Identifier: GPL-2.0-only
//! The layers of a frame as JSON.

use super::capture::Captured;
use super::telemetry::{self, Returned, digits};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use hpcc_core::fast_cnp::{FastCnpOption, OptionType, OptionTypes};
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{
    Addresses, Dialect, Encapsulation, Extension, Fault, INT_MARK, Layer, ParseError, RoceFrame, RocePacket,
    SectionLen, TELEMETRY_MARK,
};
use hpcc_core::pfc::Pfc;
use hpcc_core::roce::icrc::Coverage;
use hpcc_core::roce::{Aeth, Bth, NakCode, Opcode, Syndrome};
use hpcc_core::telemetry::Layout;
use hpcc_core::telemetry::ipv6_options::{Action, OptionsHeader, action, may_change};
use serde_json::{Map, Value, json};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Layers by name, in the order of the frame.
pub type Object = Map<String, Value>;

/// Reads frames, with the layout of marked packets.
pub struct Dissector {
    layout: Layout,
    marks: [(u8, SectionLen); 2],
    /// The kind of answers, if known.
    returned: Option<Returned>,
}

impl Dissector {
    pub fn new(layout: Layout) -> Dissector {
        let marks = [(TELEMETRY_MARK, layout.section_len()), (INT_MARK, SectionLen::IntMd)];
        Dissector { layout, marks, returned: None }
    }

    /// A dissector that also reads the telemetry of acknowledgements and feedback.
    pub fn reading_answers(self, returned: Option<Returned>) -> Dissector {
        Dissector { returned, ..self }
    }

    /// The contents of a frame.
    pub fn frame(&self, number: u64, captured: &Captured) -> Object {
        let mut frame = Object::new();
        frame.insert("frame".into(), number.into());
        if let Some(time) = captured.time_ns {
            frame.insert("time_ns".into(), time.into());
        }
        frame.insert("bytes".into(), captured.original_len.into());
        let cut = captured.bytes.len() < captured.original_len as usize;
        if cut {
            frame.insert("captured_bytes".into(), captured.bytes.len().into());
        }
        let dialect = Dialect { marks: &self.marks, ..Dialect::default() };
        match parse(&captured.bytes, &dialect) {
            Ok(parsed) => {
                ethernet(&mut frame, &captured.bytes);
                if let Some(tag) = parsed.vlan {
                    frame.insert("vlan".into(), json!({ "id": tag & 0xfff, "priority": tag >> 13 }));
                }
                match parsed.content {
                    Content::Pfc { pfc, .. } => drop(frame.insert("pfc".into(), pause(&pfc))),
                    Content::Roce(packet) => self.roce(&mut frame, &packet),
                }
            }
            Err(error) => refused(&mut frame, &captured.bytes, error, cut),
        }
        frame
    }

    fn roce(&self, frame: &mut Object, packet: &RocePacket<'_>) {
        let sent = &packet.frame;
        let (name, src, dst) = match sent.addresses {
            Addresses::V4 { src, dst } => ("ipv4", Ipv4Addr::from(src).to_string(), Ipv4Addr::from(dst).to_string()),
            Addresses::V6 { src, dst } => ("ipv6", Ipv6Addr::from(src).to_string(), Ipv6Addr::from(dst).to_string()),
        };
        let hop_limit = if name == "ipv4" { "ttl" } else { "hop_limit" };
        frame.insert(
            name.into(),
            json!({ "src": src, "dst": dst, "dscp": sent.dscp, "ecn": sent.ecn, hop_limit: sent.hop_limit }),
        );
        if let Some(section) = sent.telemetry {
            let ours = Encapsulation::Marked { mark: TELEMETRY_MARK };
            let layout = (section.encapsulation() == ours).then_some(self.layout);
            frame.insert("telemetry".into(), telemetry::section(&section, layout));
        }
        if !sent.destination_options.is_empty() {
            frame.insert("destination_options".into(), options(sent.destination_options));
            if let Some(notification) = notification(sent) {
                frame.insert("fast_cnp".into(), notification);
            }
        }
        let port = match sent.telemetry.map(|section| section.encapsulation()) {
            Some(Encapsulation::BehindUdp { port }) => port,
            _ => hpcc_core::roce::PORT,
        };
        frame.insert("udp".into(), json!({ "sport": sent.sport, "dport": port }));
        frame.insert("bth".into(), bth(&sent.bth));
        match &sent.extension {
            Extension::None => {}
            Extension::Reth(reth) => {
                let reth = json!({ "address": reth.address, "rkey": reth.rkey, "length": reth.length });
                frame.insert("reth".into(), reth);
            }
            Extension::Aeth(aeth) => drop(frame.insert("aeth".into(), acknowledgement(aeth))),
            Extension::Deth(deth) => {
                frame.insert("deth".into(), json!({ "qkey": deth.qkey, "src_qp": deth.src_qp }));
            }
        }
        if let Some(returned) = self.returned.filter(|_| brings_an_answer(sent)) {
            frame.insert("returned_telemetry".into(), telemetry::returned(returned, sent.payload));
        }
        frame.insert("payload_bytes".into(), sent.payload.len().into());
        frame.insert("icrc".into(), icrc(packet));
    }
}

/// Whether the payload of a frame can be nothing but the answer to the packet that it acknowledges. A negative acknowledgement
/// may have more behind it.
fn brings_an_answer(frame: &RoceFrame<'_>) -> bool {
    let acknowledges = matches!(frame.extension, Extension::Aeth(Aeth { syndrome: Syndrome::Ack(_), .. }));
    !frame.payload.is_empty() && (acknowledges || frame.bth.opcode == Opcode::FEEDBACK)
}

/// The contents of a Fast CNP with any code of its option: the draft leaves the code open.
fn notification(frame: &RoceFrame<'_>) -> Option<Value> {
    let Addresses::V6 { src, .. } = frame.addresses else { return None };
    let (header, _) = OptionsHeader::parse(frame.destination_options).ok()?;
    let code = OptionType::new(header.options().next()?.ok()?.kind).filter(|_| frame.bth.opcode == Opcode::CNP)?;
    let types = OptionTypes { destination: code, trace: code };
    let option = FastCnpOption::parse(frame.destination_options, &types).ok()?;
    let by = if src == option.original_destination { "the receiver" } else { "a network element" };
    Some(json!({
        "option": if option.trace.is_some() { 2 } else { 1 },
        "original_destination": Ipv6Addr::from(option.original_destination).to_string(),
        "sent_by": by,
        "telemetry": option.trace.as_ref().map(telemetry::copied),
    }))
}

fn ethernet(frame: &mut Object, bytes: &[u8]) {
    let Some((&[d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1], _)) = bytes.split_first_chunk() else {
        return;
    };
    let mac = |bytes: [u8; 6]| bytes.map(|byte| format!("{byte:02x}")).join(":");
    let (src, dst) = (mac([s0, s1, s2, s3, s4, s5]), mac([d0, d1, d2, d3, d4, d5]));
    let kind = format!("0x{t0:02x}{t1:02x}");
    frame.insert("ethernet".into(), json!({ "src": src, "dst": dst, "type": kind }));
}

/// Pause times by priority.
fn pause(pfc: &Pfc) -> Value {
    let quanta = pfc.pause.iter().enumerate().filter_map(|(priority, quanta)| Some((priority.to_string(), (*quanta)?)));
    json!({ "quanta": quanta.map(|(priority, quanta)| (priority, Value::from(quanta))).collect::<Object>() })
}

fn bth(bth: &Bth) -> Value {
    json!({
        "opcode": bth.opcode.0,
        "service": bth.opcode.service(),
        "operation": bth.opcode.operation(),
        "solicited": bth.solicited,
        "migrated": bth.migrated,
        "pad_count": bth.pad_count,
        "version": bth.version,
        "pkey": bth.pkey,
        "fecn": bth.fecn,
        "becn": bth.becn,
        "dest_qp": bth.dest_qp,
        "ack_requested": bth.ack_requested,
        "psn": bth.psn,
    })
}

fn acknowledgement(aeth: &Aeth) -> Value {
    let says = match aeth.syndrome {
        Syndrome::Ack(_) => "acknowledge",
        Syndrome::NotReady(_) => "receiver not ready",
        Syndrome::Nak(NakCode::SequenceError) => "sequence error",
        Syndrome::Nak(NakCode::InvalidRequest) => "invalid request",
        Syndrome::Nak(NakCode::AccessError) => "remote access error",
        Syndrome::Nak(NakCode::OperationalError) => "remote operational error",
        Syndrome::Nak(NakCode::InvalidRdRequest) => "invalid RD request",
        Syndrome::Nak(NakCode::Unknown(_)) | Syndrome::Reserved(_) => "reserved",
    };
    json!({ "syndrome": aeth.syndrome.byte(), "says": says, "msn": aeth.msn })
}

fn icrc(packet: &RocePacket<'_>) -> Value {
    let verdict = packet.verdict();
    let name = match verdict {
        Some(Coverage::TelemetryFree) => "right",
        Some(Coverage::AsSent) => "right as sent",
        Some(Coverage::SkipExtensions) => "right without extension headers",
        None => "wrong",
    };
    let expected = packet.expected_icrc(verdict.unwrap_or_default());
    json!({ "found": digits(&packet.icrc), "expected": digits(&expected), "verdict": name })
}

/// The options of a hop-by-hop or destination options header.
fn options(header: &[u8]) -> Value {
    let Ok((header, _)) = OptionsHeader::parse(header) else { return Value::Null };
    let option = |option| match option {
        Ok(hpcc_core::telemetry::ipv6_options::Tlv { kind, offset, data }) => json!({
            "type": kind,
            "offset": offset,
            "unknown_is": unknown_is(action(kind)),
            "may_change": may_change(kind),
            "data": digits(data),
        }),
        Err(hpcc_core::telemetry::ipv6_options::Truncated { offset }) => json!({ "truncated_at": offset }),
    };
    header.options().map(option).collect()
}

fn unknown_is(action: Action) -> &'static str {
    match action {
        Action::Skip => "skipped",
        Action::Discard => "discarded",
        Action::Report => "discarded and reported",
        Action::ReportUnicast => "discarded and reported unless multicast",
    }
}

/// The known parts of a frame that is no RoCEv2 or PFC, or is broken.
fn refused(frame: &mut Object, bytes: &[u8], error: ParseError, cut: bool) {
    ethernet(frame, bytes);
    let mut layer = words(&format!("{:?}", error.layer));
    if let Ok(sliced) = LaxSlicedPacket::from_ethernet(bytes) {
        other_layers(frame, &sliced);
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

/// The protocol in the place of UDP.
fn transport(slice: &TransportSlice<'_>) -> &'static str {
    match slice {
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
    use hpcc_core::frame::build;
    use hpcc_core::telemetry::{Hop, LinkRecord, link_codec, normalised};
    use hpcc_core::transport::feedback::FeedbackContent;
    use hpcc_core::units::BitRate;

    /// Two hops of switches 0x0a1 and 0x0b2 in the paper's layout.
    const SECTION: [u8; 18] =
        [0x20, 0x13, 0x41, 0x23, 0x45, 0x6a, 0xbc, 0xde, 0, 0x10, 0x61, 0x23, 0x46, 0, 0, 1, 0, 0];

    const RECORDS: Returned = Returned { answer: FeedbackContent::Records, layout: Layout::Paper };

    fn answer(syndrome: Syndrome, returned: Option<Returned>, payload: &[u8]) -> Object {
        let frame = RoceFrame {
            src_mac: [0; 6],
            dst_mac: [1; 6],
            addresses: Addresses::V4 { src: [10, 0, 0, 1], dst: [10, 0, 0, 2] },
            dscp: 0,
            ecn: 2,
            hop_limit: 64,
            identification: 0,
            sport: 10_000,
            udp_checksum: false,
            telemetry: None,
            destination_options: &[],
            bth: Bth { opcode: Opcode::ACKNOWLEDGE, ..Bth::default() },
            extension: Extension::Aeth(Aeth { syndrome, msn: 1 }),
            payload,
            zeros: 0,
        };
        let bytes = build::roce(&frame, Coverage::default()).expect("a frame");
        Dissector::new(Layout::Paper).reading_answers(returned).frame(1, &Captured::alone(bytes))
    }

    #[test]
    fn what_an_acknowledgement_brings_back_is_read_where_its_layout_is_known() {
        let frame = answer(Syndrome::ACK, Some(RECORDS), &SECTION);
        let told = &frame["returned_telemetry"];
        assert_eq!((&told["format"], &frame["payload_bytes"]), (&json!("paper"), &json!(SECTION.len())));
        assert_eq!(told["hpcc"]["hops"].as_array().map(Vec::len), Some(2), "{told}");
        let refused = Syndrome::Nak(NakCode::SequenceError);
        for unread in [answer(Syndrome::ACK, None, &SECTION), answer(refused, Some(RECORDS), &SECTION)] {
            assert!(!unread.contains_key("returned_telemetry"), "{unread:?}");
        }
    }

    /// REQ-17, REQ-19 and REQ-25: 43 472 bytes of window; the second link, of 400 Gb/s; U of 1 and of 1/512.
    #[test]
    fn answers_without_all_records_are_read_for_what_they_are() {
        let hop = Hop { rate: BitRate::gbps(400), ts: 77, tx_bytes: 4_096, qlen: 90_000 };
        let link = LinkRecord { path: 0xabc, place: 1, hop, modulus: Layout::Paper.modulus().expect("counters") };
        let told_link = json!({
            "format": "busiest_link", "place": 1, "path": 0xabc,
            "hpcc": { "rate_bps": 400_000_000_000u64, "ts_ns": 77, "tx_bytes": 4_096, "qlen_bytes": 90_000 },
        });
        let loads = [normalised::encode(1.0), 0];
        let told_loads = json!({ "format": "loads", "utilisations": [normalised::decode(loads[0]), 1.0 / 512.0] });
        for (kind, payload, told) in [
            (
                FeedbackContent::Window,
                &43_472u32.to_be_bytes()[..],
                json!({ "format": "window", "window_bytes": 43_472 }),
            ),
            (FeedbackContent::BusiestLink, &link_codec::emit(&link), told_link),
            (FeedbackContent::Loads, &loads, told_loads),
            (FeedbackContent::Window, &[1, 2], json!({ "format": "window", "window_bytes": null })),
        ] {
            let frame = answer(Syndrome::ACK, Some(Returned { answer: kind, ..RECORDS }), payload);
            assert_eq!(frame["returned_telemetry"], told);
        }
    }
}
