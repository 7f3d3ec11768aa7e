// SPDX-License-Identifier: GPL-2.0-only
//! The layers of a frame as JSON.

use crate::capture::Captured;
use crate::place::{self, At, Places};
use crate::telemetry::{self, Returned, digits};
use crate::{foreign, outer, transport};
use etherparse::{LaxSlicedPacket, TransportSlice};
use hpcc_core::fast_cnp::{FastCnpOption, OptionType, OptionTypes};
use hpcc_core::frame::parse::Content;
use hpcc_core::frame::{Addresses, Encapsulation, Extension, Fault, Layer, ParseError, RoceFrame, RocePacket};
use hpcc_core::pfc::Pfc;
use hpcc_core::roce::icrc::GLOBAL_LEN;
use hpcc_core::roce::{Aeth, NakCode, Opcode, Syndrome, bth};
use hpcc_core::telemetry::Layout;
use hpcc_core::telemetry::ipv6_options::{Action, OptionsHeader, action, may_change};
use serde_json::{Map, Value, json};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Layers by name, in the order of the frame.
pub type Object = Map<String, Value>;

/// Reads frames.
pub struct Dissector {
    places: Places,
    /// The kind of answers, if known.
    returned: Option<Returned>,
}

impl Dissector {
    /// With this layout of packets whose DSCP has the mark of telemetry.
    pub fn new(marked: Layout) -> Dissector {
        Dissector { places: Places { marked, asked: None }, returned: None }
    }

    /// A dissector that also reads telemetry of this layout there.
    pub fn asked_for(self, asked: Option<(At, Layout)>) -> Dissector {
        Dissector { places: Places { asked, ..self.places }, ..self }
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
        if let Some(interface) = &captured.interface {
            frame.insert("interface".into(), interface.as_str().into());
        }
        let mut inner = outer::strip(captured.link, &captured.bytes);
        if let Some(ethernet_at) = inner.ethernet {
            ethernet(&mut frame, &captured.bytes[ethernet_at..]);
        }
        inner.tell(&mut frame);
        if let Some(header) = &inner.global {
            frame.insert("grh".into(), transport::global(header));
        }
        // What was cut off is known by its length alone.
        let known = inner.frame.len();
        let mut bytes = std::mem::take(&mut inner.frame).into_owned();
        if cut {
            bytes.resize(known + (captured.original_len as usize).min(LONGEST) - captured.bytes.len().min(LONGEST), 0);
            forget_checksum(&mut bytes);
        }
        let content = if inner.global.is_some() { place::plain(&bytes) } else { self.places.read(&bytes, cut) };
        match content {
            Ok(Content::Pfc { pfc, .. }) => drop(frame.insert("pfc".into(), pause(&pfc))),
            Ok(Content::Roce(packet)) if packet.offsets.base_transport + bth::LEN <= known => {
                let known = (known < bytes.len()).then_some(known);
                self.roce(&mut frame, &packet, known, inner.global.as_ref());
            }
            told => {
                let truncated = ParseError { offset: known, layer: Layer::BaseTransport, fault: Fault::Truncated };
                let error = told.err().unwrap_or(truncated);
                let error = ParseError { offset: inner.place(error.offset), ..error };
                // Behind a global routing header there are no layers but InfiniBand's.
                let told = if inner.global.is_some() { 0 } else { known };
                foreign::tell(&mut frame, &bytes[..told], error, cut);
            }
        }
        frame
    }

    /// `known` is where a cut frame ends, `global` the header that RoCEv1 has in place of IP and UDP.
    fn roce(
        &self,
        frame: &mut Object,
        packet: &RocePacket<'_>,
        known: Option<usize>,
        global: Option<&[u8; GLOBAL_LEN]>,
    ) {
        let sent = &packet.frame;
        if global.is_none() {
            network(frame, sent);
        }
        if let Some(section) = sent.telemetry {
            let layout = self.places.layout(sent, &section);
            frame.insert("telemetry".into(), telemetry::section(&section, layout));
        }
        if !sent.destination_options.is_empty() {
            frame.insert("destination_options".into(), options(sent.destination_options));
            if let Some(notification) = notification(sent) {
                frame.insert("fast_cnp".into(), notification);
            }
        }
        if global.is_none() {
            let port = match sent.telemetry.map(|section| section.encapsulation()) {
                Some(Encapsulation::BehindUdp { port }) => port,
                _ => hpcc_core::roce::PORT,
            };
            frame.insert("udp".into(), json!({ "sport": sent.sport, "dport": port }));
        }
        frame.insert("bth".into(), transport::base(&sent.bth));
        let payload_at = packet.offsets.payload;
        match &sent.extension {
            Extension::None => {}
            _ if known.is_some_and(|end| end < payload_at) => {}
            Extension::Reth(reth) => drop(frame.insert("reth".into(), transport::remote(reth))),
            Extension::Aeth(aeth) => drop(frame.insert("aeth".into(), transport::acknowledgement(aeth))),
            Extension::Deth(deth) => drop(frame.insert("deth".into(), transport::datagram(deth))),
        }
        if let Some(returned) = self.returned.as_ref().filter(|_| known.is_none() && brings_an_answer(sent)) {
            let (answer, named) = telemetry::divided(returned, is_refusal(sent), sent.payload);
            if let Some(answer) = answer {
                frame.insert("returned_telemetry".into(), telemetry::returned(returned, answer));
            }
            if let Some(named) = named {
                frame.insert("names".into(), named);
            }
        }
        let captured = known.map_or(usize::MAX, |end| end.saturating_sub(payload_at)).min(sent.payload.len());
        let headers = transport::extended(frame, sent.bth.opcode, &sent.payload[..captured]);
        frame.insert("payload_bytes".into(), (sent.payload.len() - headers).into());
        let not_captured = || json!({ "verdict": "not captured" });
        frame.insert("icrc".into(), known.map_or_else(|| transport::checked(packet, global), |_| not_captured()));
    }
}

/// The IP header.
fn network(frame: &mut Object, sent: &RoceFrame<'_>) {
    let (name, src, dst) = match sent.addresses {
        Addresses::V4 { src, dst } => ("ipv4", Ipv4Addr::from(src).to_string(), Ipv4Addr::from(dst).to_string()),
        Addresses::V6 { src, dst } => ("ipv6", Ipv6Addr::from(src).to_string(), Ipv6Addr::from(dst).to_string()),
    };
    let hop_limit = if name == "ipv4" { "ttl" } else { "hop_limit" };
    // As on the wire, with the mark of telemetry.
    let mark = match sent.telemetry.map(|section| section.encapsulation()) {
        Some(Encapsulation::Marked { mark }) => mark,
        _ => 0,
    };
    let ip = json!({ "src": src, "dst": dst, "dscp": sent.dscp | mark, "ecn": sent.ecn, hop_limit: sent.hop_limit });
    frame.insert(name.into(), ip);
}

/// Of a frame that was cut, in bytes.
const LONGEST: usize = 1 << 18;

/// Takes off the UDP checksum of a cut frame, which nobody can check.
fn forget_checksum(bytes: &mut [u8]) {
    let place = |packet: LaxSlicedPacket<'_>| {
        let Some(TransportSlice::Udp(udp)) = packet.transport else { return None };
        Some(udp.slice().as_ptr() as usize - bytes.as_ptr() as usize)
    };
    if let Some(udp) = LaxSlicedPacket::from_ethernet(bytes).ok().and_then(place) {
        bytes[udp + 6..udp + 8].fill(0);
    }
}

/// Whether the payload of a frame begins with the answer to a packet.
fn brings_an_answer(frame: &RoceFrame<'_>) -> bool {
    let acknowledges = matches!(frame.extension, Extension::Aeth(Aeth { syndrome: Syndrome::Ack(_), .. }));
    !frame.payload.is_empty() && (acknowledges || is_refusal(frame) || frame.bth.opcode == Opcode::FEEDBACK)
}

/// Whether it says that a packet is missing.
fn is_refusal(frame: &RoceFrame<'_>) -> bool {
    let refusal = Syndrome::Nak(NakCode::SequenceError);
    matches!(frame.extension, Extension::Aeth(Aeth { syndrome, .. }) if syndrome == refusal)
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

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::frame::{Section, TELEMETRY_MARK, build};
    use hpcc_core::roce::{Bth, icrc::Coverage};
    use hpcc_core::telemetry::{Form, Hop, LinkRecord, link_codec, normalised};
    use hpcc_core::transport::feedback::FeedbackContent;
    use hpcc_core::units::BitRate;

    /// Two hops of switches 0x0a1 and 0x0b2 in the paper's layout.
    const SECTION: [u8; 18] =
        [0x20, 0x13, 0x41, 0x23, 0x45, 0x6a, 0xbc, 0xde, 0, 0x10, 0x61, 0x23, 0x46, 0, 0, 1, 0, 0];

    fn records() -> Returned {
        Returned { answer: FeedbackContent::Records, layout: Layout::new(Form::Paper) }
    }

    const UDP_CHECKSUM: usize = 40;

    fn frame(dscp: u8, opcode: Opcode, extension: Extension, payload: &[u8]) -> Vec<u8> {
        with_telemetry(None, dscp, opcode, extension, payload)
    }

    fn with_telemetry(
        telemetry: Option<Section<'_>>,
        dscp: u8,
        opcode: Opcode,
        extension: Extension,
        payload: &[u8],
    ) -> Vec<u8> {
        let frame = RoceFrame {
            src_mac: [0; 6],
            dst_mac: [1; 6],
            addresses: Addresses::V4 { src: [10, 0, 0, 1], dst: [10, 0, 0, 2] },
            dscp,
            ecn: 2,
            hop_limit: 64,
            identification: 0,
            sport: 10_000,
            udp_checksum: true,
            telemetry,
            destination_options: &[],
            bth: Bth { opcode, ..Bth::default() },
            extension,
            payload,
            zeros: 0,
        };
        build::roce(&frame, Coverage::default()).expect("a frame")
    }

    fn answer(syndrome: Syndrome, returned: Option<Returned>, payload: &[u8]) -> Object {
        let bytes = frame(0, Opcode::ACKNOWLEDGE, Extension::Aeth(Aeth { syndrome, msn: 1 }), payload);
        Dissector::new(Layout::new(Form::Paper)).reading_answers(returned).frame(1, &Captured::alone(bytes))
    }

    fn read(bytes: Vec<u8>, len: usize) -> Object {
        let captured = Captured { original_len: len as u32, ..Captured::alone(bytes) };
        Dissector::new(Layout::new(Form::Paper)).frame(1, &captured)
    }

    /// DSCP 26 is the usual one of RoCE, and its low bits are those that mark INT.
    #[test]
    fn no_dscp_makes_plain_traffic_telemetry() {
        for dscp in 0..64 {
            let bytes = frame(dscp, Opcode::WRITE_MIDDLE, Extension::None, &[0x55; 64]);
            let mut wrong = bytes.clone();
            *wrong.last_mut().expect("a byte") ^= 1;
            wrong[UDP_CHECKSUM..UDP_CHECKSUM + 2].fill(0);
            let len = bytes.len();
            for told in [read(bytes.clone(), len), read(wrong, len), read(bytes[..70].to_vec(), len)] {
                assert!(!told.contains_key("telemetry"), "{dscp}: {told:?}");
                assert_eq!((&told["payload_bytes"], &told["ipv4"]["dscp"]), (&json!(64), &json!(dscp)), "{told:?}");
            }
        }
    }

    #[test]
    fn headers_behind_the_first_are_no_payload() {
        let none = Extension::None;
        let aeth = Extension::Aeth(Aeth { syndrome: Syndrome::ACK, msn: 1 });
        for (opcode, extension, len, name, value) in [
            (0x05, none, 1028, "immdt", json!({ "data": "0x01010101" })),
            (0x09, none, 1028, "immdt", json!({ "data": "0x01010101" })),
            (0x17, none, 1028, "ieth", json!({ "rkey": 0x0101_0101 })),
            (0x12, aeth, 8, "atomicacketh", json!({ "original": 0x0101_0101_0101_0101u64 })),
            (
                0x14,
                none,
                28,
                "atomiceth",
                json!({
                    "address": 0x0101_0101_0101_0101u64, "rkey": 0x0101_0101,
                    "swap_or_add": 0x0101_0101_0101_0101u64, "compare": 0x0101_0101_0101_0101u64,
                }),
            ),
        ] {
            let bytes = frame(0, Opcode(opcode), extension, &vec![1; len]);
            let told = read(bytes.clone(), bytes.len());
            assert_eq!((&told[name], &told["payload_bytes"]), (&value, &json!(len / 1024 * 1024)), "{opcode:#x}");
            assert_eq!((told.contains_key("aeth"), &told["icrc"]["verdict"]), (opcode == 0x12, &json!("right")));
            let cut = read(bytes[..55].to_vec(), bytes.len());
            assert!(!cut.contains_key(name) && cut["bth"]["opcode"] == json!(opcode), "{cut:?}");
        }
    }

    /// Requests of XRC have a header of their own in front; a flush has one, too. Each byte is its place in the packet.
    #[test]
    fn headers_of_xrc_and_of_flushes_are_no_payload() {
        let place = |at: u32| at << 24 | (at + 1) << 16 | (at + 2) << 8 | (at + 3);
        let address = |at: u32| u64::from(place(at)) << 32 | u64::from(place(at + 4));
        let reth = |at: u32| json!({ "address": address(at), "rkey": place(at + 8), "length": place(at + 12) });
        let atomic =
            json!({ "address": address(4), "rkey": place(12), "swap_or_add": address(16), "compare": address(24) });
        let xrceth = ("xrceth", json!({ "srq": 0x01_0203 }));
        let feth = |at: u32| ("feth", json!({ "placement": (at + 3) & 0xf, "selectivity": (at + 3) >> 4 & 3 }));
        let immediate = |at: u32| ("immdt", json!({ "data": format!("0x{:08x}", place(at)) }));
        for (opcode, headers, len) in [
            (0xa0, vec![xrceth.clone()], 4),
            (0xa7, vec![xrceth.clone()], 4),
            (0xa3, vec![xrceth.clone(), immediate(4)], 8),
            (0xa6, vec![xrceth.clone(), ("reth", reth(4))], 20),
            (0xac, vec![xrceth.clone(), ("reth", reth(4))], 20),
            (0xab, vec![xrceth.clone(), ("reth", reth(4)), immediate(20)], 24),
            (0xb3, vec![xrceth.clone(), ("atomiceth", atomic)], 32),
            (0xb7, vec![xrceth.clone(), ("ieth", json!({ "rkey": place(4) }))], 8),
            (0xbc, vec![xrceth.clone(), feth(4), ("reth", reth(8))], 24),
            (0x1c, vec![feth(0), ("reth", reth(4))], 20),
            (0xae, vec![], 0),
            (0xb8, vec![], 0),
        ] {
            let payload: Vec<u8> = (0..64).collect();
            let bytes = frame(0, Opcode(opcode), Extension::None, &payload);
            let told = read(bytes.clone(), bytes.len());
            let names = ["xrceth", "feth", "reth", "atomiceth", "immdt", "ieth"];
            let found: Vec<_> = names.iter().filter_map(|name| Some((*name, told.get(*name)?.clone()))).collect();
            assert_eq!((found, &told["payload_bytes"]), (headers, &json!(64 - len)), "{opcode:#x}");
        }
    }

    #[test]
    fn int_is_read_behind_any_port_if_its_header_is_there() {
        let int = [0x10, 4, 0, 0, 0x20, 0, 1, 7, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
        let packet = |behind: &[u8]| {
            let [high, low] = (28 + behind.len() as u16).to_be_bytes();
            let [udp_high, udp_low] = (8 + behind.len() as u16).to_be_bytes();
            let ip = [0x45, 26 << 2, high, low, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            let udp = [0, 1, 0, 53, udp_high, udp_low, 0, 0];
            let bytes = [&[2; 12][..], &[8, 0], &ip, &udp, behind].concat();
            read(bytes.clone(), bytes.len())
        };
        let told = packet(&int);
        assert_eq!(
            (&told["telemetry"]["format"], &told["telemetry"]["hops"][0]["node_id"]),
            (&json!("int_md"), &json!(9))
        );
        assert!(packet(&int[..16])["telemetry"]["malformed"].is_string(), "its shim says more");
        assert!(!packet(&[0x10; 20]).contains_key("telemetry"), "no INT");
    }

    #[test]
    fn what_an_acknowledgement_brings_back_is_read_where_its_layout_is_known() {
        let frame = answer(Syndrome::ACK, Some(records()), &SECTION);
        let told = &frame["returned_telemetry"];
        assert_eq!((&told["format"], &frame["payload_bytes"]), (&json!("paper"), &json!(SECTION.len())));
        assert_eq!(told["hpcc"]["hops"].as_array().map(Vec::len), Some(2), "{told}");
        let unread = answer(Syndrome::ACK, None, &SECTION);
        assert!(!unread.contains_key("returned_telemetry"), "{unread:?}");
    }

    /// Behind the telemetry stands which packet arrived too early, was trimmed, or is the first behind a gap.
    #[test]
    fn refusals_bring_telemetry_back_and_name_a_packet() {
        let refused = Syndrome::Nak(NakCode::SequenceError);
        let plain = answer(Syndrome::ACK, Some(records()), &SECTION);
        let early = json!({ "psn": 0x70_0001, "trimmed": false });
        let cut = json!({ "psn": 7, "trimmed": true, "at_last_hop": true });
        for (syndrome, word, named) in [
            (refused, None, None),
            (refused, Some(0x70_0001_u32), Some(&early)),
            (refused, Some(0xc000_0007), Some(&cut)),
            (Syndrome::ACK, Some(0x70_0001), Some(&early)),
        ] {
            let word = word.map(u32::to_be_bytes);
            let frame =
                answer(syndrome, Some(records()), &[&SECTION[..], word.as_ref().map_or(&[], |word| word)].concat());
            assert_eq!(frame["returned_telemetry"], plain["returned_telemetry"]);
            assert_eq!(frame.get("names"), named);
        }
        // A packet without telemetry was answered.
        let frame = answer(refused, Some(records()), &7_u32.to_be_bytes());
        assert_eq!((frame.get("returned_telemetry"), &frame["names"]["psn"]), (None, &json!(7)));
        let link = Returned { answer: FeedbackContent::Window, ..records() };
        let frame = answer(refused, Some(link), &[0, 0, 0xa9, 0xd0, 0, 0, 0, 9]);
        assert_eq!((&frame["returned_telemetry"]["window_bytes"], &frame["names"]["psn"]), (&json!(43_472), &json!(9)));
        // How many loads there are nobody knows.
        let loads = Returned { answer: FeedbackContent::Loads, ..records() };
        assert!(!answer(refused, Some(loads), &[1, 2, 3, 4, 5]).contains_key("returned_telemetry"));
    }

    #[test]
    fn the_dscp_is_that_of_the_wire() {
        let section = Section::new(Encapsulation::Marked { mark: TELEMETRY_MARK }, &SECTION).expect("a section");
        let bytes = with_telemetry(Some(section), 24, Opcode::WRITE_MIDDLE, Extension::None, &[0; 8]);
        let told = Dissector::new(Layout::new(Form::Paper)).frame(1, &Captured::alone(bytes));
        assert_eq!((&told["ipv4"]["dscp"], told.contains_key("telemetry")), (&json!(24 | TELEMETRY_MARK), true));
    }

    /// REQ-17, REQ-19 and REQ-25: 43 472 bytes of window; the second link, of 400 Gb/s; U of 1 and of 1/512.
    #[test]
    fn answers_without_all_records_are_read_for_what_they_are() {
        let hop = Hop { rate: BitRate::gbps(400), ts: 77, tx_bytes: 4_096, qlen: 90_000 };
        let link =
            LinkRecord { path: 0xabc, place: 1, hop, modulus: Layout::new(Form::Paper).modulus().expect("counters") };
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
            let frame = answer(Syndrome::ACK, Some(Returned { answer: kind, ..records() }), payload);
            assert_eq!(frame["returned_telemetry"], told);
        }
    }
}
