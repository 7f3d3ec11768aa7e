// SPDX-License-Identifier: GPL-2.0-only
//! Telemetry sections as JSON: what the format says, hop by hop, and the quantities of HPCC where it carries them.

use hpcc_core::fast_cnp::CopiedTrace;
use hpcc_core::frame::{Encapsulation, Section, SectionLen};
use hpcc_core::settings::Named;
use hpcc_core::telemetry::encapsulation::INT_MARK;
use hpcc_core::telemetry::ifa;
use hpcc_core::telemetry::ifa::header::Header as IfaHeader;
use hpcc_core::telemetry::ifa::metadata::{self, Metadata as IfaMetadata};
use hpcc_core::telemetry::ifa::metadata_header::MetadataHeader;
use hpcc_core::telemetry::int_md::header::{Header as IntHeader, VERSION as INT_VERSION};
use hpcc_core::telemetry::int_md::metadata::{Field, Fields};
use hpcc_core::telemetry::int_md::shim::{Next, Shim};
use hpcc_core::telemetry::ioam::direct_export::DirectExport;
use hpcc_core::telemetry::ioam::edge_to_edge::EdgeToEdge;
use hpcc_core::telemetry::ioam::hpcc::Profile;
use hpcc_core::telemetry::ioam::node::Node;
use hpcc_core::telemetry::ioam::option::{IoamOption, Kind};
use hpcc_core::telemetry::ioam::trace::Trace;
use hpcc_core::telemetry::ipv6_options::OptionsHeader;
use hpcc_core::telemetry::{Csig, Hop, HopStack, Layout, Signal, TagSize, Telemetry, link_codec, normalised};
use hpcc_core::transport::feedback::FeedbackContent;
use serde_json::{Value, json};

const PREALLOCATED: &str = "ioam pre-allocated trace";
const INCREMENTAL: &str = "ioam incremental trace";

/// Bytes as hexadecimal digits.
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A section; `layout` is the layout of sections behind UDP that nothing announces.
pub fn section(section: &Section<'_>, layout: Option<&Layout>) -> Value {
    let bytes = section.to_vec();
    let mut value = match (section.encapsulation(), layout) {
        (Encapsulation::HopByHop, _) => hop_by_hop(&bytes),
        (Encapsulation::Ifa { .. }, _) => ifa(&bytes),
        (Encapsulation::Tag { .. }, _) => csig(&bytes),
        (Encapsulation::BehindUdp { .. } | Encapsulation::Marked { .. }, Some(layout)) => plain(layout, &bytes),
        (Encapsulation::BehindUdp { .. } | Encapsulation::Marked { .. }, None) => int_md(&bytes),
    };
    if let Some(fields) = value.as_object_mut() {
        fields.insert("section_bytes".into(), bytes.len().into());
        fields.insert("section".into(), digits(&bytes).into());
    }
    value
}

/// The kind of a run's answers, and the layout in which packets collected telemetry.
#[derive(Clone)]
pub struct Returned {
    /// What an answer holds.
    pub answer: FeedbackContent,
    /// How packets collected it.
    pub layout: Layout,
}

/// Bytes behind an answer that name a packet.
const NAME: usize = 4;
const TRIMMED: u32 = 1 << 31;
const AT_LAST_HOP: u32 = 1 << 30;

/// The answer at the front of a payload, and the packet that is named behind it, as far as its bytes tell where it ends; `refuses`: the
/// frame says that a packet is missing.
pub fn divided<'a>(returned: &Returned, refuses: bool, payload: &'a [u8]) -> (Option<&'a [u8]>, Option<Value>) {
    let len = match returned.answer {
        FeedbackContent::Records => section_len(&returned.layout, payload),
        FeedbackContent::BusiestLink => Some(link_codec::LEN),
        FeedbackContent::Window => Some(size_of::<u32>()),
        FeedbackContent::Loads | FeedbackContent::Nothing => None,
    };
    let named = |word: &[u8]| word.try_into().ok().map(u32::from_be_bytes).map(named);
    match len {
        Some(len) if payload.len() == len + NAME => (Some(&payload[..len]), named(&payload[len..])),
        Some(len) if refuses && payload.len() == NAME && len != NAME => (None, named(payload)),
        None if refuses => (None, None),
        Some(_) | None => (Some(payload), None),
    }
}

fn named(word: u32) -> Value {
    let psn = word & 0xff_ffff;
    if word & TRIMMED == 0 {
        return json!({ "psn": psn, "trimmed": false });
    }
    json!({ "psn": psn, "trimmed": true, "at_last_hop": word & AT_LAST_HOP != 0 })
}

/// Bytes of a section of this layout at the front of others, if they say so.
fn section_len(layout: &Layout, bytes: &[u8]) -> Option<usize> {
    match layout.encapsulation() {
        Some(Encapsulation::HopByHop) => return Some(8 * (1 + usize::from(*bytes.get(1)?))),
        Some(Encapsulation::Ifa { .. }) => {
            let (_, behind) = bytes.split_first_chunk::<{ ifa::header::LEN }>()?;
            let counts = MetadataHeader::parse(behind.first_chunk()?);
            return Some(ifa::header::LEN + ifa::metadata_header::LEN + 4 * usize::from(counts.current_length));
        }
        Some(Encapsulation::Marked { .. } | Encapsulation::BehindUdp { .. } | Encapsulation::Tag { .. }) | None => {}
    }
    match layout.section_len() {
        SectionLen::Compact { header } => Some(usize::from(header) + 8 * usize::from(bytes.first()? >> 4)),
        SectionLen::IntMd => Some(Shim::parse(bytes.first_chunk()?).ok()?.section_len()),
        SectionLen::Fixed(len) => Some(len.into()),
    }
}

/// The contents of an answer; values are `null` where its bytes cannot be such an answer.
pub fn returned(Returned { answer, layout }: &Returned, bytes: &[u8]) -> Value {
    match answer {
        FeedbackContent::Records => records(layout, bytes),
        FeedbackContent::BusiestLink => busiest_link(layout, bytes),
        FeedbackContent::Loads => {
            let loads: Vec<f64> = bytes.iter().map(|&code| normalised::decode(code)).collect();
            json!({ "format": answer.name(), "utilisations": loads })
        }
        FeedbackContent::Window => {
            let window = bytes.try_into().ok().map(u32::from_be_bytes);
            json!({ "format": answer.name(), "window_bytes": window })
        }
        FeedbackContent::Nothing => Value::Null,
    }
}

fn busiest_link(layout: &Layout, bytes: &[u8]) -> Value {
    let record = layout.modulus().and_then(|modulus| link_codec::read(bytes, modulus).ok());
    json!({
        "format": FeedbackContent::BusiestLink.name(),
        "place": record.map(|record| record.place),
        "path": record.map(|record| record.path),
        "hpcc": record.map(|record| hop(&record.hop)),
    })
}

/// The section of this layout as it arrived.
fn records(layout: &Layout, bytes: &[u8]) -> Value {
    match layout.encapsulation() {
        Some(Encapsulation::Marked { mark: INT_MARK }) => int_md(bytes),
        Some(Encapsulation::Ifa { .. }) => ifa(bytes),
        Some(Encapsulation::HopByHop) => hop_by_hop(bytes),
        Some(Encapsulation::Tag { .. }) => csig(bytes),
        Some(Encapsulation::Marked { .. } | Encapsulation::BehindUdp { .. }) | None => plain(layout, bytes),
    }
}

/// CSIG's tag, whose length tells its size.
pub fn csig(bytes: &[u8]) -> Value {
    let csig_size = if bytes.len() == TagSize::Compact.bytes() { TagSize::Compact } else { TagSize::Wide };
    let mut value = plain(&Layout::new(Csig { csig_size, ..Csig::default() }), bytes);
    value["csig"] = tag(csig_size, bytes);
    value
}

/// The fields of a tag. The last 7 bits of a compact one are lm and d of UEC's, or lm of PINS', which it does not say.
fn tag(size: TagSize, bytes: &[u8]) -> Value {
    let word = bytes.iter().skip(2).fold(0, |word, &byte| word << 8 | u64::from(byte));
    let bits = |below: u32, count: u32| word >> below & ((1 << count) - 1);
    match size {
        TagSize::Compact => json!({
            "t": bits(13, 3), "r": bits(12, 1), "s": bits(7, 5),
            "uec": { "lm": bits(1, 6), "d": bits(0, 1) == 1 },
            "pins": { "lm": bits(0, 7) },
        }),
        TagSize::Wide => {
            json!({ "t": bits(28, 4), "r": bits(0, 8), "s": bits(8, 20), "lm": bits(33, 15), "d": bits(32, 1) == 1 })
        }
    }
}

/// A section whose format has nothing but the quantities.
fn plain(layout: &Layout, bytes: &[u8]) -> Value {
    json!({ "format": layout.name(), "hpcc": quantities(layout, bytes) })
}

fn hop(hop: &Hop) -> Value {
    json!({ "rate_bps": hop.rate.0, "ts_ns": hop.ts, "tx_bytes": hop.tx_bytes, "qlen_bytes": hop.qlen })
}

/// The quantities that HPCC reads of a section, `null` if none.
fn quantities(layout: &Layout, bytes: &[u8]) -> Value {
    said(&layout.read(bytes, &mut HopStack::default()))
}

/// The quantities of telemetry that was read.
fn said(telemetry: &Telemetry<'_>) -> Value {
    match telemetry {
        Telemetry::Hops(stack) => {
            json!({
                "hops": stack.hops().iter().map(hop).collect::<Vec<_>>(),
                "ts_modulus_ns": stack.modulus.ts,
                "tx_modulus_bytes": stack.modulus.tx_bytes,
                "path": stack.path,
            })
        }
        Telemetry::SentAt(time) => json!({ "sent_ns": time.0 }),
        Telemetry::Utilisation(utilisation) => json!({ "utilisation": utilisation }),
        Telemetry::Signal(Signal::Available(rate)) => json!({ "available_bps": rate.0 }),
        Telemetry::Signal(Signal::Share(share)) => json!({ "available_share": share }),
        Telemetry::Signal(Signal::Delay(delay)) => json!({ "delay_ns": delay.0 }),
        Telemetry::Signal(Signal::Queue(queue)) => json!({ "queue_ns": queue.0 }),
        Telemetry::Bolt(header) => json!({
            "flags": header.flags,
            "rate_bps": header.rate.0,
            "drain_ns": header.drain.0,
            "sent_ns": header.sent.0,
        }),
        Telemetry::Nothing | Telemetry::Overwritten(_) | Telemetry::Link(_) | Telemetry::Window(_) => Value::Null,
    }
}

/// Whether bytes begin as INT-MD does: a shim of a known type, a header of its version, and a stack of whole hops.
pub fn begins_as_int(bytes: &[u8]) -> bool {
    let Some((shim, header)) = bytes.split_first_chunk() else { return false };
    let (Ok(shim), Some(header)) = (Shim::parse(shim), header.first_chunk()) else { return false };
    let header = IntHeader::parse(header);
    header.version == INT_VERSION && shim.length >= 3 && header.hop_words > 0
}

/// Whether bytes are INT-MD whatever announces it: all of it is there, its reserved bits are zeros, and the words of a hop are
/// those that it asks for. Of random bytes fewer than one in a million are.
pub fn is_int(bytes: &[u8]) -> bool {
    if !begins_as_int(bytes) {
        return false;
    }
    let Some((&[first, length, ..], rest)) = bytes.split_first_chunk::<4>() else { return false };
    let (Some(&[flags, reserved, words, ..]), Some(header)) = (rest.first_chunk::<3>(), rest.first_chunk()) else {
        return false;
    };
    let header = IntHeader::parse(header);
    let is_reserved = first & 3 | flags & 1 | reserved | words & 0xe0;
    let asked = header.instructions.words();
    let has_its_words = if header.domain_id == 0 { header.hop_words == asked } else { header.hop_words >= asked };
    let stack = length.saturating_sub(3);
    is_reserved == 0 && has_its_words && stack.is_multiple_of(header.hop_words) && rest.len() >= 4 * usize::from(length)
}

/// INT-MD at the front of other bytes; where there are fewer than its shim says, that is all.
pub fn int_of(bytes: &[u8]) -> Value {
    let len = bytes.first_chunk().and_then(|shim| Shim::parse(shim).ok()).map_or(0, |shim| shim.section_len());
    match bytes.get(..len) {
        Some(section) => int_md(section),
        None => json!({ "format": "int_md", "malformed": format!("{len} bytes by its shim, of {}", bytes.len()) }),
    }
}

fn int_md(bytes: &[u8]) -> Value {
    let unreadable = || json!({ "format": "int" });
    let Some((shim, behind)) = bytes.split_first_chunk() else { return unreadable() };
    let Some((header, stack)) = behind.split_first_chunk() else { return unreadable() };
    let (Ok(shim), header) = (Shim::parse(shim), IntHeader::parse(header)) else { return unreadable() };
    if header.version != INT_VERSION {
        return unreadable();
    }
    let hop_len = 4 * usize::from(header.hop_words);
    let (original, value) = match shim.next {
        Next::Dscp(dscp) => ("original_dscp", json!(dscp)),
        Next::UdpPort(port) => ("original_dport", json!(port)),
        Next::Protocol(protocol) => ("original_protocol", json!(protocol)),
    };
    // The newest hop stands first.
    let hops: Vec<Value> =
        if hop_len == 0 { Vec::new() } else { stack.rchunks_exact(hop_len).map(|hop| int_hop(&header, hop)).collect() };
    json!({
        "format": "int_md",
        original: value,
        "length_words": shim.length,
        "hop_words": header.hop_words,
        "remaining_hops": header.remaining,
        "hops_exhausted": header.hops_exhausted,
        "mtu_exceeded": header.mtu_exceeded,
        "instructions": format!("0x{:04x}", header.instructions.0),
        "domain_id": header.domain_id,
        "hops": hops,
        "hpcc": Layout::named("int_md").map_or(Value::Null, |layout| quantities(&layout, bytes)),
    })
}

fn int_hop(header: &IntHeader, hop: &[u8]) -> Value {
    let Ok(fields) = Fields::new(header.instructions, hop) else { return Value::Null };
    let mut object = serde_json::Map::new();
    for field in fields {
        let (name, value) = match field {
            Field::NodeId(id) => ("node_id", json!(id)),
            Field::Level1Interfaces { ingress, egress } => ("interfaces", json!([ingress, egress])),
            Field::HopLatency(latency) => ("hop_latency", json!(latency)),
            Field::Queue { id, occupancy } => ("queue", json!({ "id": id, "occupancy": occupancy })),
            Field::IngressTime(time) => ("ingress_time", json!(time)),
            Field::EgressTime(time) => ("egress_time", json!(time)),
            Field::Level2Interfaces { ingress, egress } => ("level2_interfaces", json!([ingress, egress])),
            Field::TxUtilisation(utilisation) => ("tx_utilisation", json!(utilisation)),
            Field::Buffer { id, occupancy } => ("buffer", json!({ "id": id, "occupancy": occupancy })),
            Field::ChecksumComplement(complement) => ("checksum_complement", json!(complement)),
            Field::DomainSpecific(bytes) => ("domain", json!(digits(bytes))),
            Field::Reserved { bit, value } => ("reserved", json!({ "bit": bit, "value": value })),
        };
        object.insert(name.into(), value);
    }
    Value::Object(object)
}

fn ifa(bytes: &[u8]) -> Value {
    let unreadable = || json!({ "format": "ifa" });
    let Some((front, behind)) = bytes.split_first_chunk() else { return unreadable() };
    let Some((counts, stack)) = behind.split_first_chunk() else { return unreadable() };
    let (front, counts) = (IfaHeader::parse(front), MetadataHeader::parse(counts));
    let entry = |entry: &[u8; metadata::LEN]| {
        let entry = IfaMetadata::parse(entry);
        json!({
            "name_space": entry.name_space, "device": entry.device, "ttl": entry.ttl, "speed": entry.speed,
            "congestion": entry.congestion, "queue": entry.queue, "interfaces": [entry.ingress, entry.egress],
            "rx_seconds": entry.rx_seconds, "rx_nanos": entry.rx_nanos, "residence_ns": entry.residence,
            "opaque": entry.opaque,
        })
    };
    json!({
        "format": "ifa",
        "version": front.version,
        "name_space": front.name_space,
        "max_length_words": front.max_length,
        "hop_limit": counts.hop_limit,
        "current_length_words": counts.current_length,
        "hops": stack.as_rchunks().1.iter().rev().map(entry).collect::<Vec<_>>(),
        "hpcc": Layout::named("ifa").map_or(Value::Null, |layout| quantities(&layout, bytes)),
    })
}

pub fn hop_by_hop(bytes: &[u8]) -> Value {
    let Some(option) = OptionsHeader::parse(bytes).ok().and_then(|(header, _)| IoamOption::find(&header)) else {
        return json!({ "format": "hop-by-hop options" });
    };
    let hpcc = || {
        ["ioam", "ioam_slim"].into_iter().filter_map(Layout::named).map(|layout| quantities(&layout, bytes)).collect()
    };
    match option.kind {
        Kind::PreallocatedTrace => trace(PREALLOCATED, Trace::preallocated(option.data).ok(), hpcc),
        Kind::IncrementalTrace => trace(INCREMENTAL, Trace::incremental(option.data).ok(), hpcc),
        Kind::EdgeToEdge => {
            let data = EdgeToEdge::parse(option.data).ok().map(|data| {
                json!({ "namespace": data.namespace, "sequence_64": data.sequence_64, "sequence_32": data.sequence_32,
                    "seconds": data.seconds, "fraction": data.fraction })
            });
            json!({ "format": "ioam edge to edge", "data": data })
        }
        Kind::DirectExport => {
            let data = DirectExport::parse(option.data).ok().map(|request| {
                let kind = format!("0x{:06x}", request.trace_type.0);
                json!({ "namespace": request.namespace, "trace_type": kind, "flow": request.flow,
                    "sequence": request.sequence })
            });
            json!({ "format": "ioam direct export", "data": data })
        }
        Kind::ProofOfTransit | Kind::Unknown(_) => json!({ "format": "ioam", "option_type": option.kind.code() }),
    }
}

/// The trace that a notification copies.
pub fn copied(copy: &CopiedTrace<'_>) -> Value {
    let format = if copy.kind() == Kind::PreallocatedTrace { PREALLOCATED } else { INCREMENTAL };
    let read = |profile| said(&copy.telemetry(profile, &mut HopStack::default()));
    trace(format, copy.trace().ok(), || [Profile::Full, Profile::Slim].map(read).to_vec())
}

/// A trace; `hpcc` reads it by each profile of HPCC.
fn trace(format: &str, trace: Option<Trace<'_>>, hpcc: impl FnOnce() -> Vec<Value>) -> Value {
    let Some(trace) = trace else { return json!({ "format": format }) };
    let header = trace.header;
    let mut hops: Vec<Value> = trace.newest_first().map(|node| node.map_or(Value::Null, ioam_node)).collect();
    hops.reverse();
    json!({
        "format": format,
        "namespace": header.namespace,
        "trace_type": format!("0x{:06x}", header.trace_type.0),
        "node_length_words": header.node_length,
        "remaining_words": header.remaining,
        "overflow": header.flags.overflow,
        "loopback": header.flags.loopback,
        "active": header.flags.active,
        "hops": hops,
        "hpcc": hpcc().into_iter().find(|value| !value.is_null()),
    })
}

/// The values that a node has.
fn ioam_node(node: Node<'_>) -> Value {
    let interfaces = node.ingress.zip(node.egress).map(|(ingress, egress)| json!([ingress, egress]));
    let wide_interfaces = node.wide_ingress.zip(node.wide_egress).map(|(ingress, egress)| json!([ingress, egress]));
    let snapshot = node.snapshot.map(|snapshot| json!({ "schema": snapshot.schema, "data": digits(snapshot.data) }));
    let fields = [
        ("hop_limit", node.hop_limit.map(Value::from)),
        ("node_id", node.node_id.map(Value::from)),
        ("interfaces", interfaces),
        ("seconds", node.seconds.map(Value::from)),
        ("fraction", node.fraction.map(Value::from)),
        ("transit_delay", node.transit_delay.map(Value::from)),
        ("namespace_data", node.namespace_data.map(Value::from)),
        ("queue_depth", node.queue_depth.map(Value::from)),
        ("checksum_complement", node.checksum_complement.map(Value::from)),
        ("wide_hop_limit", node.wide_hop_limit.map(Value::from)),
        ("wide_node_id", node.wide_node_id.map(Value::from)),
        ("wide_interfaces", wide_interfaces),
        ("wide_namespace_data", node.wide_namespace_data.map(Value::from)),
        ("buffer_occupancy", node.buffer_occupancy.map(Value::from)),
        ("snapshot", snapshot),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}
