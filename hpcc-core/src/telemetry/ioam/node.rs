// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data of one node, in the order of the trace type's bits (RFC 9197 section 4.4.2).

use super::Malformed;
use super::trace_type::{self as bits, TraceType};

/// What a node says of a packet. A value that it does not have is `None`: all ones on the wire, and read back as such
/// a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node<'a> {
    /// Hop limit with which the packet leaves.
    pub hop_limit: Option<u8>,
    /// Node id: 24 bits, or 56 where the trace asks for the wide one.
    pub node_id: Option<u64>,
    /// Ingress interface: 16 bits, or 32.
    pub ingress: Option<u32>,
    /// Egress interface: 16 bits, or 32.
    pub egress: Option<u32>,
    /// Timestamp, seconds.
    pub seconds: Option<u32>,
    /// Timestamp, fraction of a second in the deployment's format.
    pub fraction: Option<u32>,
    /// Nanoseconds between reception and departure, 31 bits; the upper bit says that they are more.
    pub transit_delay: Option<u32>,
    /// Data that the namespace defines.
    pub namespace_data: Option<u32>,
    /// Queue depth; the RFC counts buffers, Linux bytes.
    pub queue_depth: Option<u32>,
    /// Checksum complement.
    pub checksum_complement: Option<u32>,
    /// Data that the namespace defines, wide.
    pub wide_namespace_data: Option<u64>,
    /// Buffer occupancy.
    pub buffer_occupancy: Option<u32>,
    /// Opaque state snapshot.
    pub snapshot: Option<Snapshot<'a>>,
}

/// An opaque state snapshot: `length 8, in words | schema 24 | data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot<'a> {
    /// What defines the data, 24 bits.
    pub schema: u32,
    /// Whole words, at most 255.
    pub data: &'a [u8],
}

/// Schema of a node without a snapshot.
const NO_SCHEMA: u32 = 0xff_ffff;
const ONES: u32 = u32::MAX;

/// Reads words one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn word(&mut self) -> Result<u32, Malformed> {
        let (word, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u32::from_be_bytes(*word))
    }

    fn wide(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from(self.word()?) << 32 | u64::from(self.word()?))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }
}

/// `None` for all ones.
fn known(word: u32) -> Option<u32> {
    (word != ONES).then_some(word)
}

impl<'a> Node<'a> {
    /// Words of 4 bytes that the node adds to a trace.
    pub fn words(&self, trace: TraceType) -> usize {
        let snapshot = self.snapshot.map_or(0, |snapshot| snapshot.data.len() / 4);
        usize::from(trace.words()) + if trace.has(bits::SNAPSHOT) { 1 + snapshot } else { 0 }
    }

    /// Reads the data of one node and returns what follows them.
    ///
    /// # Errors
    /// Fewer bytes than the trace type asks for.
    pub fn parse(trace: TraceType, bytes: &'a [u8]) -> Result<(Node<'a>, &'a [u8]), Malformed> {
        let mut from = Reader(bytes);
        let mut node = Node::default();
        let ask = |bit| trace.has(bit);
        if ask(bits::NODE_ID) {
            node.read_id(from.word()?.into(), 24, u64::from(ONES));
        }
        if ask(bits::INTERFACES)
            && let Some(word) = known(from.word()?)
        {
            (node.ingress, node.egress) = (Some(word >> 16), Some(word & 0xffff));
        }
        for (bit, field) in [
            (bits::SECONDS, &mut node.seconds),
            (bits::FRACTION, &mut node.fraction),
            (bits::TRANSIT_DELAY, &mut node.transit_delay),
            (bits::NAMESPACE_DATA, &mut node.namespace_data),
            (bits::QUEUE_DEPTH, &mut node.queue_depth),
            (bits::CHECKSUM_COMPLEMENT, &mut node.checksum_complement),
        ] {
            if ask(bit) {
                *field = known(from.word()?);
            }
        }
        if ask(bits::WIDE_NODE_ID) {
            node.read_id(from.wide()?, 56, u64::MAX);
        }
        if ask(bits::WIDE_INTERFACES) {
            (node.ingress, node.egress) = (known(from.word()?), known(from.word()?));
        }
        if ask(bits::WIDE_NAMESPACE_DATA) {
            node.wide_namespace_data = Some(from.wide()?).filter(|&wide| wide != u64::MAX);
        }
        if ask(bits::BUFFER_OCCUPANCY) {
            node.buffer_occupancy = known(from.word()?);
        }
        from.bytes(4 * usize::from(trace.undefined()))?;
        if ask(bits::SNAPSHOT) {
            let header = from.word()?;
            let data = from.bytes(4 * (header >> 24) as usize)?;
            let schema = header & NO_SCHEMA;
            node.snapshot = (schema != NO_SCHEMA || !data.is_empty()).then_some(Snapshot { schema, data });
        }
        Ok((node, from.0))
    }

    /// Takes hop limit and node id, the latter `width` bits wide, from one field.
    fn read_id(&mut self, field: u64, width: u32, unknown: u64) {
        if field == unknown {
            return;
        }
        self.hop_limit = Some((field >> width) as u8);
        self.node_id = Some(field & ((1 << width) - 1));
    }

    /// Writes what a trace asks for into the front of `bytes`; bits beyond the width of a field are cut off.
    ///
    /// # Errors
    /// Fewer than [`Node::words`] words; what is there is then overwritten in part.
    #[inline]
    pub fn emit(&self, trace: TraceType, bytes: &mut [u8]) -> Result<(), Malformed> {
        let mut to = Writer(bytes);
        let ask = |bit| trace.has(bit);
        if ask(bits::NODE_ID) {
            to.word(self.id(24).map_or(ONES, |id| id as u32))?;
        }
        if ask(bits::INTERFACES) {
            let both = self.ingress.zip(self.egress);
            to.word(both.map_or(ONES, |(ingress, egress)| ingress << 16 | egress & 0xffff))?;
        }
        for (bit, field) in [
            (bits::SECONDS, self.seconds),
            (bits::FRACTION, self.fraction),
            (bits::TRANSIT_DELAY, self.transit_delay),
            (bits::NAMESPACE_DATA, self.namespace_data),
            (bits::QUEUE_DEPTH, self.queue_depth),
            (bits::CHECKSUM_COMPLEMENT, self.checksum_complement),
        ] {
            if ask(bit) {
                to.word(field.unwrap_or(ONES))?;
            }
        }
        if ask(bits::WIDE_NODE_ID) {
            to.wide(self.id(56).unwrap_or(u64::MAX))?;
        }
        if ask(bits::WIDE_INTERFACES) {
            to.word(self.ingress.unwrap_or(ONES))?;
            to.word(self.egress.unwrap_or(ONES))?;
        }
        if ask(bits::WIDE_NAMESPACE_DATA) {
            to.wide(self.wide_namespace_data.unwrap_or(u64::MAX))?;
        }
        if ask(bits::BUFFER_OCCUPANCY) {
            to.word(self.buffer_occupancy.unwrap_or(ONES))?;
        }
        for _ in 0..trace.undefined() {
            to.word(ONES)?;
        }
        if ask(bits::SNAPSHOT) {
            let Snapshot { schema, data } = self.snapshot.unwrap_or(Snapshot { schema: NO_SCHEMA, data: &[] });
            to.word(((data.len() / 4) as u32 & 0xff) << 24 | schema & NO_SCHEMA)?;
            to.bytes(data)?;
        }
        Ok(())
    }

    /// Hop limit and node id, the latter `width` bits wide, as one field.
    fn id(&self, width: u32) -> Option<u64> {
        let (hop_limit, node_id) = self.hop_limit.zip(self.node_id)?;
        Some(u64::from(hop_limit) << width | node_id & ((1 << width) - 1))
    }
}

/// Writes words one after the other.
struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let (target, rest) = core::mem::take(&mut self.0).split_at_mut_checked(bytes.len()).ok_or(Malformed)?;
        target.copy_from_slice(bytes);
        self.0 = rest;
        Ok(())
    }

    #[inline]
    fn word(&mut self, word: u32) -> Result<(), Malformed> {
        self.bytes(&word.to_be_bytes())
    }

    #[inline]
    fn wide(&mut self, wide: u64) -> Result<(), Malformed> {
        self.bytes(&wide.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: TraceType = TraceType(0xfffffe);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_bytes_are_read_without_harm(trace in 0u32..1 << 24, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let trace = TraceType(trace);
            let Ok((node, rest)) = Node::parse(trace, &bytes) else { return Ok(()) };
            prop_assert_eq!(bytes.len() - rest.len(), 4 * node.words(trace));
            let mut again = [0; 200];
            prop_assert!(node.emit(trace, &mut again).is_ok());
            prop_assert_eq!(Node::parse(trace, &again[..4 * node.words(trace)]).map(|(node, _)| node), Ok(node));
        }
    }

    #[test]
    fn a_node_without_values_is_all_ones() {
        let mut bytes = [0; 104];
        Node::default().emit(ALL, &mut bytes).expect("room");
        assert!(bytes[..100].iter().all(|&byte| byte == 0xff));
        assert_eq!(bytes[100..], [0, 0xff, 0xff, 0xff], "no snapshot: length 0, schema all ones");
        assert_eq!(Node::parse(ALL, &bytes), Ok((Node::default(), &[][..])));
        assert_eq!(Node::default().emit(ALL, &mut bytes[..103]), Err(Malformed));
    }
}
