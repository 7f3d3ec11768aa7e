// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IOAM trace that option 2 brings back to the sender.

use crate::telemetry::ioam::option::Kind;
use crate::telemetry::ioam::trace::{Flags, Header, LEN, Trace};
use crate::telemetry::ioam::{Malformed, hpcc};
use crate::telemetry::{HopStack, Telemetry};

/// Most bytes of node data in an option, beside reserved byte, IOAM option type, trace header and address.
pub const MAX_DATA: usize = (255 - 2 - LEN - 16) / 4 * 4;

/// A trace as option 2 holds it: of at most [`MAX_DATA`] bytes, free room included, in whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedTrace<'a> {
    kind: Kind,
    header: [u8; LEN],
    data: &'a [u8],
}

impl<'a> CopiedTrace<'a> {
    /// The trace that option 2 holds as it is.
    ///
    /// # Errors
    /// IOAM data that are no trace, are too long, or do not have the room that they say is free.
    pub fn new(kind: Kind, bytes: &'a [u8]) -> Result<CopiedTrace<'a>, Malformed> {
        let (&header, data) = bytes.split_first_chunk().ok_or(Malformed)?;
        let copied = CopiedTrace { kind, header, data };
        let fits = data.len() <= MAX_DATA && data.len().is_multiple_of(4);
        if fits { copied.trace().map(|_| copied) } else { Err(Malformed) }
    }

    /// The trace of a data packet, without its free room and its oldest nodes where it would be too long (REQ-43).
    /// Records are then missing, which the overflow flag says: the reader must not take the rest for the path's start.
    ///
    /// # Errors
    /// IOAM data that are no trace, or of which no node fits.
    pub fn of_packet(kind: Kind, bytes: &'a [u8]) -> Result<CopiedTrace<'a>, Malformed> {
        if let Ok(whole) = CopiedTrace::new(kind, bytes) {
            return Ok(whole);
        }
        let (&header, data) = bytes.split_first_chunk().ok_or(Malformed)?;
        let Trace { header, data } = CopiedTrace { kind, header, data }.trace()?;
        let kept = newest(&Trace { header, data })?;
        let remaining = if kind == Kind::PreallocatedTrace { 0 } else { header.remaining };
        let flags = Flags { overflow: header.flags.overflow || kept.len() < data.len(), ..header.flags };
        Ok(CopiedTrace { kind, header: Header { remaining, flags, ..header }.emit(), data: kept })
    }

    /// What the trace says.
    ///
    /// # Errors
    /// Not of a trace that [`CopiedTrace::new`] or [`CopiedTrace::of_packet`] made.
    pub fn trace(&self) -> Result<Trace<'a>, Malformed> {
        let (header, _) = Header::parse(&self.header)?;
        match self.kind {
            Kind::PreallocatedTrace => {
                let data = self.data.get(4 * usize::from(header.remaining)..).ok_or(Malformed)?;
                Ok(Trace { header, data })
            }
            Kind::IncrementalTrace => Ok(Trace { header, data: self.data }),
            Kind::ProofOfTransit | Kind::EdgeToEdge | Kind::DirectExport | Kind::Unknown(_) => Err(Malformed),
        }
    }

    /// Its telemetry for a congestion control, if it is HPCC's; `stack` holds the records.
    pub fn telemetry<'s>(&self, profile: hpcc::Profile, stack: &'s mut HopStack) -> Telemetry<'s> {
        let read = self.trace().map(|trace| hpcc::read_trace(profile, &trace, stack));
        if let Ok(Ok(())) = read { Telemetry::Hops(stack) } else { Telemetry::Nothing }
    }

    /// Whether it is a pre-allocated or an incremental trace.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The 8 bytes of the trace header.
    pub fn header(&self) -> &[u8; LEN] {
        &self.header
    }

    /// Its nodes, and the free room in front of them.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }
}

/// The newest whole nodes that fit.
fn newest<'a>(trace: &Trace<'a>) -> Result<&'a [u8], Malformed> {
    let mut kept = 0;
    for node in trace.newest_first() {
        let end = kept + 4 * node?.words(trace.header.trace_type);
        if end > MAX_DATA {
            break;
        }
        kept = end;
    }
    trace.data.get(..kept).filter(|data| !data.is_empty()).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::ioam::trace_type::TraceType;
    use alloc::vec::Vec;

    const KIND: Kind = Kind::PreallocatedTrace;

    /// A trace of node ids whose `free` first words are free, then the nodes `n`, `n` - 1, ..., 1.
    fn node_ids(free: u8, nodes: u8) -> Vec<u8> {
        let header = Header { node_length: 1, remaining: free, trace_type: TraceType(0x80_0000), ..Header::default() };
        let room = core::iter::repeat_n([0; 4], free.into());
        let ids = (1..=nodes).rev().map(|id| [60, 0, 0, id]);
        [&header.emit()[..], &room.chain(ids).flatten().collect::<Vec<_>>()].concat()
    }

    fn ids(trace: &Trace<'_>) -> Vec<u32> {
        trace.newest_first().map(|node| node.expect("a node").node_id.expect("an id")).collect()
    }

    /// An option of 255 bytes has room for 228 bytes of data.
    #[test]
    fn req_43_a_trace_that_fits_is_copied_byte_for_byte() {
        assert_eq!(MAX_DATA, 228);
        let bytes = node_ids(50, 7);
        assert_eq!(bytes.len(), 8 + 228);
        let copied = CopiedTrace::of_packet(KIND, &bytes).expect("it fits");
        assert_eq!([&copied.header()[..], copied.data()].concat(), bytes);
    }

    #[test]
    fn req_43_free_room_goes_first_and_nothing_is_missing_then() {
        let bytes = node_ids(51, 7);
        let trace = CopiedTrace::of_packet(KIND, &bytes).and_then(|copied| copied.trace()).expect("a trace");
        assert_eq!((trace.header.remaining, trace.header.flags.overflow), (0, false));
        assert_eq!(ids(&trace), [7, 6, 5, 4, 3, 2, 1]);
    }

    /// 61 nodes of 4 bytes are the most that a hop-by-hop option holds; 57 of them fit.
    #[test]
    fn req_43_the_oldest_nodes_go_next_and_the_trace_says_so() {
        let bytes = node_ids(0, 61);
        let trace = CopiedTrace::of_packet(KIND, &bytes).and_then(|copied| copied.trace()).expect("a trace");
        assert!(trace.header.flags.overflow);
        assert_eq!(ids(&trace), (5..=61).rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_node_that_is_too_long_alone_leaves_nothing_to_copy() {
        let header = Header { trace_type: TraceType(2), ..Header::default() };
        let snapshot = [&[60, 0, 0, 1][..], &[7; 240]].concat();
        let bytes = [&header.emit()[..], &snapshot].concat();
        assert_eq!(CopiedTrace::of_packet(KIND, &bytes), Err(Malformed));
        let nothing = [&Header::default().emit()[..], &[7; 240]].concat();
        assert_eq!(CopiedTrace::of_packet(KIND, &nothing), Err(Malformed));
    }

    #[test]
    fn data_that_are_no_trace_are_refused() {
        let bytes = node_ids(2, 2);
        for kind in [Kind::EdgeToEdge, Kind::DirectExport, Kind::ProofOfTransit, Kind::Unknown(9)] {
            assert_eq!(CopiedTrace::of_packet(kind, &bytes), Err(Malformed));
        }
        assert_eq!(CopiedTrace::of_packet(KIND, &bytes[..7]), Err(Malformed));
        assert_eq!(CopiedTrace::new(KIND, &bytes[..14]), Err(Malformed), "half a word");
        assert_eq!(CopiedTrace::new(KIND, &bytes[..12]), Err(Malformed), "less than it says is free");
        assert!(CopiedTrace::new(KIND, &bytes).is_ok());
    }
}
