// SPDX-License-Identifier: MIT OR Apache-2.0
//! Direct export: nodes report elsewhere instead of adding to the packet (RFC 9326 section 3; REQ-58).
//!
//! ```text
//! namespace 16 | flags 8 | extension flags 8 || trace type 24 | reserved 8 || a word for each extension flag
//! ```

use super::Malformed;
use super::trace_type::TraceType;

/// Bytes in front of the extension words.
const PREFIX: usize = 8;

const FLOW_ID: u8 = 0x80;
const SEQUENCE: u8 = 0x40;

/// A request to export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectExport {
    /// The namespace that defines ids, units and time.
    pub namespace: u16,
    /// The fields that each node exports.
    pub trace_type: TraceType,
    /// The flow, to bring the reports of one packet together.
    pub flow: Option<u32>,
    /// The packet's number in it.
    pub sequence: Option<u32>,
}

impl DirectExport {
    /// Reads a request; words of extension flags that are not assigned are skipped.
    ///
    /// # Errors
    /// Fewer bytes than the extension flags ask for.
    pub fn parse(bytes: &[u8]) -> Result<DirectExport, Malformed> {
        let (&[n0, n1, _, extensions, t0, t1, t2, _], words) = bytes.split_first_chunk::<PREFIX>().ok_or(Malformed)?;
        if words.len() < 4 * extensions.count_ones() as usize {
            return Err(Malformed);
        }
        let mut words = words.chunks_exact(4);
        let mut take = |flag| {
            let asked = extensions & flag != 0;
            let word = if asked { words.next()?.try_into().ok()? } else { return None };
            Some(u32::from_be_bytes(word))
        };
        Ok(DirectExport {
            namespace: u16::from_be_bytes([n0, n1]),
            trace_type: TraceType::from_bytes([t0, t1, t2]),
            flow: take(FLOW_ID),
            sequence: take(SEQUENCE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn req_58_fields_have_their_places() {
        let request =
            DirectExport { namespace: 0x7b, trace_type: TraceType(0xf22000), flow: Some(9), sequence: Some(2) };
        let bytes = [0, 0x7b, 0, 0xc0, 0xf2, 0x20, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2];
        assert_eq!(DirectExport::parse(&bytes), Ok(request));
    }

    #[test]
    fn req_58_words_of_unknown_extensions_are_skipped_but_must_be_there() {
        let bytes = [0, 1, 0, 0x41, 0x80, 0, 0, 0, 0, 0, 0, 5, 0xde, 0xad, 0xbe, 0xef];
        let request = DirectExport { namespace: 1, trace_type: TraceType(0x80_0000), flow: None, sequence: Some(5) };
        assert_eq!(DirectExport::parse(&bytes), Ok(request));
        for len in 0..bytes.len() {
            assert_eq!(DirectExport::parse(&bytes[..len]), Err(Malformed), "{len} bytes");
        }
    }
}
