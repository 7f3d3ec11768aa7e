// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of a trace, and the nodes in it (RFC 9197 section 4.4.1).
//!
//! ```text
//! namespace 16 | node length 5 | flags 4 | remaining length 7 || trace type 24 | reserved 8
//! ```
//! Lengths are in words of 4 bytes; the node length does not count snapshots. Of a pre-allocated trace the remaining
//! length is free room at the start of the data: the first node stands at the end, the newest first. An incremental
//! trace has no free room, and the newest node is first too.

use super::Malformed;
use super::node::Node;
use super::trace_type::TraceType;

/// Bytes of the header.
pub const LEN: usize = 8;
/// Flags of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// O: a node had no room.
    pub overflow: bool,
    /// L: nodes send a copy back to the source (RFC 9322).
    pub loopback: bool,
    /// A: the packet was made to be traced (RFC 9322); it ends at the decapsulating node.
    pub active: bool,
}

/// The header of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The namespace that defines node ids, units and time.
    pub namespace: u16,
    /// Words that each node adds, snapshots excluded; 5 bits.
    pub node_length: u8,
    /// Overflow, loopback, active.
    pub flags: Flags,
    /// Words that are free; 7 bits.
    pub remaining: u8,
    /// The fields that each node adds.
    pub trace_type: TraceType,
}

impl Header {
    /// Reads a header and returns what follows it.
    ///
    /// # Errors
    /// Fewer than 8 bytes.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
        let (&[n0, n1, lengths, remaining, t0, t1, t2, _], rest) = bytes.split_first_chunk::<LEN>().ok_or(Malformed)?;
        let header = Header {
            namespace: u16::from_be_bytes([n0, n1]),
            node_length: lengths >> 3,
            flags: Flags { overflow: lengths & 4 != 0, loopback: lengths & 2 != 0, active: lengths & 1 != 0 },
            remaining: remaining & 0x7f,
            trace_type: TraceType::from_bytes([t0, t1, t2]),
        };
        Ok((header, rest))
    }

    /// The header's bytes; bits beyond the width of a field are cut off. The fourth flag is reserved.
    #[inline]
    pub fn emit(&self) -> [u8; LEN] {
        let [n0, n1] = self.namespace.to_be_bytes();
        let [t0, t1, t2] = self.trace_type.bytes();
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let Flags { overflow, loopback, active } = self.flags;
        let lengths = self.node_length << 3 | flag(overflow, 4) | flag(loopback, 2) | flag(active, 1);
        [n0, n1, lengths, self.remaining & 0x7f, t0, t1, t2, 0]
    }

    /// Whether the node length follows from the trace type, as an encapsulating node must set it.
    #[inline]
    pub fn is_consistent(&self) -> bool {
        self.node_length == self.trace_type.words()
    }
}

/// A trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace<'a> {
    /// Namespace, lengths, flags and trace type.
    pub header: Header,
    /// The nodes' data, without free room.
    pub data: &'a [u8],
}

impl<'a> Trace<'a> {
    /// Reads a pre-allocated trace.
    ///
    /// # Errors
    /// Too few bytes for the header or for the room that it says is free.
    pub fn preallocated(bytes: &'a [u8]) -> Result<Trace<'a>, Malformed> {
        let (header, room) = Header::parse(bytes)?;
        let data = room.get(4 * usize::from(header.remaining)..).ok_or(Malformed)?;
        Ok(Trace { header, data })
    }

    /// Reads an incremental trace.
    ///
    /// # Errors
    /// Too few bytes for the header.
    pub fn incremental(bytes: &'a [u8]) -> Result<Trace<'a>, Malformed> {
        let (header, data) = Header::parse(bytes)?;
        Ok(Trace { header, data })
    }

    /// The nodes, the newest first. Ends with an error where data are left that are no whole node.
    pub fn newest_first(&self) -> Nodes<'a> {
        Nodes { trace_type: self.header.trace_type, rest: self.data }
    }
}

/// The nodes of a trace.
#[derive(Clone, Debug)]
pub struct Nodes<'a> {
    trace_type: TraceType,
    rest: &'a [u8],
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Result<Node<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let parsed = Node::parse(self.trace_type, self.rest);
        // If the trace asks for nothing, a node takes no bytes: stop, or there would be nodes without end.
        self.rest = parsed.as_ref().map_or(&[], |(_, rest)| if rest.len() < self.rest.len() { rest } else { &[] });
        Some(parsed.map(|(node, _)| node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::ioam::node::Snapshot;
    use crate::telemetry::ioam::option::IoamOption;
    use crate::telemetry::ipv6_options::OptionsHeader;
    use crate::testing::{entry, vector};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    /// The trace of a packet that passed Linux kernels.
    fn kernel_trace(packet: &[u8]) -> Trace<'_> {
        let (header, _) = OptionsHeader::parse(&packet[54..]).expect("a header");
        let option = IoamOption::find(&header).expect("IOAM");
        Trace::preallocated(option.data).expect("a trace")
    }

    /// Values as tshark prints them, the newest node first.
    fn printed<'a>(trace: &Trace<'a>, value: impl Fn(&Node<'a>) -> Option<String>) -> Option<String> {
        let values: Option<Vec<String>> =
            trace.newest_first().map(|node| value(&node.expect("a whole node"))).collect();
        values.map(|values| values.join(","))
    }

    fn hex(width: usize) -> impl Fn(u64) -> String {
        move |value| alloc::format!("{value:#0width$x}", width = width + 2)
    }

    /// What the kernel wrote, as tshark read it.
    #[test]
    fn req_55_traces_of_the_linux_kernel_read_as_tshark_reads_them() {
        for name in [
            "ioam_linux_0xf22000_after_hop1",
            "ioam_linux_0xf22000_after_hop2",
            "ioam_linux_0x960000_after_hop1",
            "ioam_linux_0x960000_after_hop2",
            "ioam_linux_0xd20000_after_hop1",
            "ioam_linux_0x900002_after_hop1",
            "ioam_linux_0x900002_after_hop2",
        ] {
            let packet = vector(name);
            let trace = kernel_trace(&packet);
            assert!(trace.header.is_consistent(), "{name}");
            let expected = &entry(name)["expect"];
            let flag = u8::from(trace.header.flags.overflow).to_string();
            assert_eq!(
                (expected["remlen"].as_str(), expected["flag.o"].as_str()),
                (Some(&*trace.header.remaining.to_string()), Some(&*flag)),
                "{name}"
            );
            let schema = |node: &Node<'_>| node.snapshot.map_or(0xff_ffff, |snapshot| snapshot.schema);
            for (field, found) in [
                ("node.hlim", printed(&trace, |node| node.hop_limit.map(|limit| limit.to_string()))),
                ("node.id", printed(&trace, |node| node.node_id.map(u64::from).map(hex(6)))),
                ("node.iif", printed(&trace, |node| node.ingress.map(u64::from).map(hex(4)))),
                ("node.eif", printed(&trace, |node| node.egress.map(u64::from).map(hex(4)))),
                ("node.tss", printed(&trace, |node| node.seconds.map(u64::from).map(hex(8)))),
                ("node.tsf", printed(&trace, |node| node.fraction.map(u64::from).map(hex(8)))),
                ("node.nsdata", printed(&trace, |node| node.namespace_data.map(u64::from).map(hex(8)))),
                ("node.nsdata_wide", printed(&trace, |node| node.wide_namespace_data.map(hex(16)))),
                ("node.qdepth", printed(&trace, |node| node.queue_depth.map(u64::from).map(hex(8)))),
                ("node.oss.scid", printed(&trace, |node| Some(hex(6)(schema(node).into())))),
            ] {
                let Some(expected) = expected[field].as_str() else { continue };
                assert_eq!(found.as_deref(), Some(expected), "{name} {field}");
            }
        }
    }

    #[test]
    fn snapshots_make_nodes_longer() {
        let trace_type = TraceType(0x90_0002);
        let snapshot = Some(Snapshot { schema: 0xabc, data: &[1, 2, 3, 4, 5, 6, 7, 8] });
        let node = Node { hop_limit: Some(63), node_id: Some(7), fraction: Some(9), snapshot, ..Node::default() };
        assert_eq!(node.words(trace_type), 5);
        let mut bytes = [0; 20];
        node.emit(trace_type, &mut bytes).expect("room");
        assert_eq!(bytes[8..12], [2, 0, 0x0a, 0xbc]);
        let trace = Trace { header: Header { trace_type, ..Header::default() }, data: &bytes };
        assert_eq!(trace.newest_first().collect::<Vec<_>>(), [Ok(node)]);
        let short = Trace { data: &bytes[..16], ..trace };
        assert_eq!(short.newest_first().collect::<Vec<_>>(), [Err(Malformed)]);
    }
}
