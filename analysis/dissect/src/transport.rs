// SPDX-License-Identifier: GPL-2.0-only
//! InfiniBand's headers as JSON, from the base transport header to the ICRC.

use crate::layers::Object;
use crate::telemetry::digits;
use hpcc_core::frame::RocePacket;
use hpcc_core::roce::icrc::{self, Coverage, GLOBAL_LEN};
use hpcc_core::roce::{Aeth, Bth, Deth, NakCode, Opcode, Reth, Syndrome};
use serde_json::{Value, json};
use std::net::Ipv6Addr;

/// The global routing header of RoCEv1, whose addresses are written as IPv6 has them.
pub fn global(header: &[u8; GLOBAL_LEN]) -> Value {
    let &[w0, w1, w2, w3, _, _, _, hop_limit, ref ends @ ..] = header;
    let word = u32::from_be_bytes([w0, w1, w2, w3]);
    let mut ends = ends.as_chunks::<16>().0.iter().map(|end| Ipv6Addr::from(*end).to_string());
    json!({
        "src": ends.next(),
        "dst": ends.next(),
        "traffic_class": word >> 20 & 0xff,
        "flow_label": word & 0xf_ffff,
        "hop_limit": hop_limit,
    })
}

/// The base transport header.
pub fn base(bth: &Bth) -> Value {
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

/// The header of an acknowledgement, and what it says.
pub fn acknowledgement(aeth: &Aeth) -> Value {
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

/// The header of a WRITE or READ.
pub fn remote(reth: &Reth) -> Value {
    json!({ "address": reth.address, "rkey": reth.rkey, "length": reth.length })
}

/// The header of an unreliable datagram.
pub fn datagram(deth: &Deth) -> Value {
    json!({ "qkey": deth.qkey, "src_qp": deth.src_qp })
}

/// Adds the headers that the core leaves in the payload, and says how many bytes of it they are.
pub fn extended(frame: &mut Object, opcode: Opcode, payload: &[u8]) -> usize {
    let mut rest = payload;
    for name in left(opcode) {
        let Some((header, behind)) = header(name, rest) else { break };
        frame.insert((*name).into(), header);
        rest = behind;
    }
    payload.len() - rest.len()
}

/// The headers that the core leaves in the payload, in their order: those behind the first, and all of XRC's requests.
fn left(opcode: Opcode) -> &'static [&'static str] {
    match opcode.0 {
        0x03 | 0x05 | 0x09 | 0x0b | 0x23 | 0x25 | 0x29 | 0x2b | 0x65 => &["immdt"],
        0x12 | 0xb2 => &["atomicacketh"],
        0x13 | 0x14 => &["atomiceth"],
        0x16 | 0x17 => &["ieth"],
        0x1c => &["feth", "reth"],
        0xa0..=0xa2 | 0xa4 | 0xa7 | 0xa8 => &["xrceth"],
        0xa3 | 0xa5 | 0xa9 => &["xrceth", "immdt"],
        0xa6 | 0xaa | 0xac | 0xbd => &["xrceth", "reth"],
        0xab => &["xrceth", "reth", "immdt"],
        0xb3 | 0xb4 => &["xrceth", "atomiceth"],
        0xb6 | 0xb7 => &["xrceth", "ieth"],
        0xbc => &["xrceth", "feth", "reth"],
        _ => &[],
    }
}

/// A header at the front of other bytes, and these; `None` if it is not all there.
fn header<'a>(name: &str, bytes: &'a [u8]) -> Option<(Value, &'a [u8])> {
    let number = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word));
    let long = |at: usize| bytes.get(at..)?.first_chunk().map(|words| u64::from_be_bytes(*words));
    let (value, len) = match name {
        "reth" => return Reth::parse(bytes).ok().map(|(reth, behind)| (remote(&reth), behind)),
        "atomicacketh" => (json!({ "original": long(0)? }), 8),
        "atomiceth" => {
            let (compare, swap) = (long(20)?, long(12)?);
            (json!({ "address": long(0)?, "rkey": number(8)?, "swap_or_add": swap, "compare": compare }), 28)
        }
        "immdt" => (json!({ "data": format!("0x{:08x}", number(0)?) }), 4),
        "ieth" => (json!({ "rkey": number(0)? }), 4),
        "xrceth" => (json!({ "srq": number(0)? & 0xff_ffff }), 4),
        // Of a flush: how far data have to have come, and whose.
        "feth" => (json!({ "placement": number(0)? & 0xf, "selectivity": number(0)? >> 4 & 3 }), 4),
        _ => return None,
    };
    Some((value, bytes.get(len..)?))
}

/// The ICRC and a verdict on it; `header` is the one of RoCEv1.
pub fn checked(packet: &RocePacket<'_>, header: Option<&[u8; GLOBAL_LEN]>) -> Value {
    let (expected, verdict) = match (header, packet.verdict()) {
        (Some(header), _) => {
            let expected = icrc::with_global(header, packet.transport());
            (expected, if expected == packet.icrc { "right" } else { "wrong" })
        }
        (None, Some(coverage)) => (packet.expected_icrc(coverage), name(coverage)),
        (None, None) => (packet.expected_icrc(Coverage::default()), "wrong"),
    };
    json!({ "found": digits(&packet.icrc), "expected": digits(&expected), "verdict": verdict })
}

fn name(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::TelemetryFree => "right",
        Coverage::AsSent => "right as sent",
        Coverage::SkipExtensions => "right without extension headers",
    }
}
