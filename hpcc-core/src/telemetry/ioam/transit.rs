// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a node on the way does with a trace (RFC 9197 section 4.4.1; REQ-55, REQ-56): it changes nothing but the
//! flags and the remaining length of the header.

use super::node::Node;
use super::trace::{Flags, Header, LEN};

/// The outcome for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The node's data were added.
    Recorded,
    /// There was no room: the overflow flag was set.
    Overflow,
    /// Left as it is: another namespace, a flag that says so, or a malformed trace.
    Untouched,
}

/// Whether a node that knows `namespace` adds to a trace with this header.
#[inline]
fn concerns(header: &Header, namespace: u16) -> bool {
    let known = header.namespace == namespace || header.namespace == super::DEFAULT_NAMESPACE;
    known && !header.flags.overflow && header.is_consistent()
}

/// Writes a changed header over the old one; the reserved bits stay.
#[inline]
fn write(header: Header, bytes: &mut [u8]) {
    let [_, _, lengths, remaining, ..] = header.emit();
    if let [_, _, old_lengths, old_remaining, ..] = bytes {
        *old_lengths = lengths;
        *old_remaining = *old_remaining & 0x80 | remaining;
    }
}

/// Passes a pre-allocated trace - its header and all its room - through a node that knows `namespace`.
#[inline]
pub fn preallocated(trace: &mut [u8], namespace: u16, node: &Node<'_>) -> Outcome {
    let Ok((header, room)) = Header::parse(trace) else { return Outcome::Untouched };
    let free = usize::from(header.remaining);
    if !concerns(&header, namespace) || 4 * free > room.len() {
        return Outcome::Untouched;
    }
    let words = node.words(header.trace_type);
    let Some(left) = free.checked_sub(words) else {
        write(Header { flags: Flags { overflow: true, ..header.flags }, ..header }, trace);
        return Outcome::Overflow;
    };
    let place = trace.get_mut(LEN + 4 * left..LEN + 4 * free).unwrap_or_default();
    if node.emit(header.trace_type, place).is_err() {
        return Outcome::Untouched;
    }
    write(Header { remaining: left as u8, ..header }, trace);
    Outcome::Recorded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::ioam::trace::Trace;
    use crate::telemetry::ioam::trace_type::TraceType;
    use crate::testing::{hex, vector};
    use alloc::vec::Vec;

    /// Where the trace of a kernel vector begins.
    const TRACE: usize = 14 + 40 + 8;
    const NAMESPACE: u16 = 0x7b;

    fn node(id: u32) -> Node<'static> {
        Node { hop_limit: Some(63), node_id: Some(id), ..Node::default() }
    }

    fn trace(header: Header, room: usize) -> Vec<u8> {
        let mut bytes = header.emit().to_vec();
        bytes.resize(LEN + room, 0);
        bytes
    }

    fn ids(remaining: u8) -> Header {
        Header {
            namespace: NAMESPACE,
            node_length: 1,
            remaining,
            trace_type: TraceType(0x80_0000),
            ..Header::default()
        }
    }

    /// Undo what the second kernel did, and do it again.
    #[test]
    fn req_55_a_hop_changes_the_bytes_that_the_kernel_changes() {
        for name in
            ["ioam_linux_0xf22000_after_hop2", "ioam_linux_0x960000_after_hop2", "ioam_linux_0x900002_after_hop2"]
        {
            let packet = vector(name);
            let expected = &packet[TRACE..];
            let after = Trace::preallocated(expected).expect("a trace");
            let newest = after.newest_first().next().expect("a node").expect("whole");
            let words = newest.words(after.header.trace_type);
            let mut before = expected.to_vec();
            let remaining = usize::from(after.header.remaining);
            before[LEN + 4 * remaining..LEN + 4 * (remaining + words)].fill(0);
            write(Header { remaining: (remaining + words) as u8, ..after.header }, &mut before);
            assert_eq!(preallocated(&mut before, NAMESPACE, &newest), Outcome::Recorded, "{name}");
            assert_eq!(before, expected, "{name}");
        }
    }

    /// From two Linux kernels, with room for one node: the second sets the flag and nothing else.
    #[test]
    fn req_55_a_hop_without_room_sets_the_overflow_flag_only() {
        let expected = hex("007b3c01f24000000000000000003f0000a2002100216b00e2c7000dfc7b0000000000000002");
        let mut before = expected.clone();
        before[2] &= !4;
        let outcome = preallocated(&mut before, NAMESPACE, &node(0xa3));
        assert_eq!((outcome, before), (Outcome::Overflow, expected));
    }

    #[test]
    fn req_55_other_namespaces_and_traces_that_overflowed_stay_untouched() {
        let overflow = Flags { overflow: true, ..Flags::default() };
        for header in [
            Header { namespace: 7, ..ids(4) },
            Header { flags: overflow, ..ids(4) },
            Header { node_length: 2, ..ids(4) },
            Header { remaining: 5, ..ids(4) },
        ] {
            let mut bytes = trace(header, 16);
            let before = bytes.clone();
            assert_eq!(preallocated(&mut bytes, NAMESPACE, &node(1)), Outcome::Untouched, "{header:?}");
            assert_eq!(bytes, before);
        }
        let mut default = trace(Header { namespace: 0, ..ids(1) }, 4);
        assert_eq!(preallocated(&mut default, NAMESPACE, &node(1)), Outcome::Recorded, "everybody knows namespace 0");
        assert_eq!(preallocated(&mut [0; 7], NAMESPACE, &node(1)), Outcome::Untouched);
    }

    #[test]
    fn req_56_undefined_bits_are_answered_with_ones() {
        let trace_type = TraceType(0x80_0800);
        let mut bytes = trace(Header { node_length: 2, trace_type, ..ids(2) }, 8);
        assert_eq!(preallocated(&mut bytes, NAMESPACE, &node(7)), Outcome::Recorded);
        assert_eq!(bytes[LEN..], [63, 0, 0, 7, 0xff, 0xff, 0xff, 0xff]);
    }
}
