// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data of one node, in the order of the trace type's bits (RFC 9197 section 4.4.2).

use super::Malformed;
use super::trace_type::{self as bits, TraceType};

/// A node's record of a packet. An unknown value is `None`: all ones on the wire, also when read back. A trace may ask
/// for the short and the wide form of an id: they are two fields, which need not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node<'a> {
    /// Hop limit with which the packet leaves.
    pub hop_limit: Option<u8>,
    /// Node id, 24 bits.
    pub node_id: Option<u32>,
    /// Interface by which the packet came in, 16 bits.
    pub ingress: Option<u16>,
    /// Interface by which it left, 16 bits.
    pub egress: Option<u16>,
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
    /// The complement that keeps the layer-4 checksum right.
    pub checksum_complement: Option<u32>,
    /// Hop limit, as the field of the wide node id has it.
    pub wide_hop_limit: Option<u8>,
    /// Wide node id, 56 bits.
    pub wide_node_id: Option<u64>,
    /// Wide ingress interface.
    pub wide_ingress: Option<u32>,
    /// Wide egress interface.
    pub wide_egress: Option<u32>,
    /// Data that the namespace defines, wide.
    pub wide_namespace_data: Option<u64>,
    /// Bytes in the buffer that the queue belongs to, in units of the namespace.
    pub buffer_occupancy: Option<u32>,
    /// Opaque state snapshot.
    pub snapshot: Option<Snapshot<'a>>,
}

/// An opaque state snapshot: `length 8, in words | schema 24 | data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot<'a> {
    /// The schema of the data, 24 bits.
    pub schema: u32,
    /// Whole words, at most 255.
    pub data: &'a [u8],
}

/// Schema of a node without a snapshot.
const NO_SCHEMA: u32 = 0xff_ffff;
const ONES: u32 = u32::MAX;
/// Bits of a node id and of a wide one, and all of them.
const ID_BITS: u32 = 24;
const ID: u32 = (1 << ID_BITS) - 1;
const WIDE_ID_BITS: u32 = 56;
const WIDE_ID: u64 = (1 << WIDE_ID_BITS) - 1;

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
fn known_wide(wide: u64) -> Option<u64> {
    (wide != u64::MAX).then_some(wide)
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
        if ask(bits::NODE_ID)
            && let Some(word) = known(from.word()?)
        {
            (node.hop_limit, node.node_id) = (Some((word >> ID_BITS) as u8), Some(word & ID));
        }
        if ask(bits::INTERFACES)
            && let Some(word) = known(from.word()?)
        {
            (node.ingress, node.egress) = (Some((word >> 16) as u16), Some(word as u16));
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
        if ask(bits::WIDE_NODE_ID)
            && let Some(wide) = known_wide(from.wide()?)
        {
            (node.wide_hop_limit, node.wide_node_id) = (Some((wide >> WIDE_ID_BITS) as u8), Some(wide & WIDE_ID));
        }
        if ask(bits::WIDE_INTERFACES) {
            (node.wide_ingress, node.wide_egress) = (known(from.word()?), known(from.word()?));
        }
        if ask(bits::WIDE_NAMESPACE_DATA) {
            node.wide_namespace_data = known_wide(from.wide()?);
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

    /// Writes what a trace asks for into the front of `bytes`; bits beyond the width of a field are cut off.
    ///
    /// # Errors
    /// Fewer than [`Node::words`] words; what is there is then overwritten in part.
    #[inline]
    pub fn emit(&self, trace: TraceType, bytes: &mut [u8]) -> Result<(), Malformed> {
        let mut to = Writer(bytes);
        let ask = |bit| trace.has(bit);
        if ask(bits::NODE_ID) {
            let both = self.hop_limit.zip(self.node_id);
            to.word(both.map_or(ONES, |(hop_limit, id)| u32::from(hop_limit) << ID_BITS | id & ID))?;
        }
        if ask(bits::INTERFACES) {
            let both = self.ingress.zip(self.egress);
            to.word(both.map_or(ONES, |(ingress, egress)| u32::from(ingress) << 16 | u32::from(egress)))?;
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
            let both = self.wide_hop_limit.zip(self.wide_node_id);
            to.wide(both.map_or(u64::MAX, |(hop_limit, id)| u64::from(hop_limit) << WIDE_ID_BITS | id & WIDE_ID))?;
        }
        if ask(bits::WIDE_INTERFACES) {
            to.word(self.wide_ingress.unwrap_or(ONES))?;
            to.word(self.wide_egress.unwrap_or(ONES))?;
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

    /// Bits 0, 1, 8 and 9 at once: 63, 0xa1, 5 and 6; then, with another hop limit, the wide ones.
    #[test]
    fn req_55_short_and_wide_ids_are_fields_of_their_own() {
        let bytes = crate::testing::hex("3f0000a1000500063e00000000beef010001000500010006");
        let node = Node {
            hop_limit: Some(63),
            node_id: Some(0xa1),
            ingress: Some(5),
            egress: Some(6),
            wide_hop_limit: Some(62),
            wide_node_id: Some(0xbe_ef01),
            wide_ingress: Some(0x1_0005),
            wide_egress: Some(0x1_0006),
            ..Node::default()
        };
        let trace = TraceType(0xc0_c000);
        assert_eq!(Node::parse(trace, &bytes), Ok((node, &[][..])));
        let mut again = [0; 24];
        node.emit(trace, &mut again).expect("room");
        assert_eq!(again[..], bytes);
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
