// SPDX-License-Identifier: MIT OR Apache-2.0
//! A keyed tag behind what a receiver answers, so that nobody else can acknowledge, ask again, or notify in its name.
//!
//! ```text
//! telemetry | tag (32)     first 4 bytes of SipHash-2-4(key, not flow (64) | seq (64) | kind (8) | flags (8) | ahead (64))
//! ```
//! Flags are the echo of a mark (1), and of a packet without payload 2, with 4 if its last switch has cut it. Of a CNP the tag is the first 4 of its reserved bytes. It covers what the transport goes by and no telemetry, whose
//! [seal](crate::telemetry::seal) is another: an acknowledgement counts even if somebody has spoilt the telemetry in it. Flows
//! stand in the two inverted to each other, so that with one key no tag of the one is one of the other.

use super::Trimmed;
use crate::frame::PacketKind;
use crate::telemetry::seal::{SealKey, TAG_LEN};

/// What a tag covers, besides the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedAnswer {
    /// An acknowledgement, positive or negative, feedback in a packet of its own, or a CNP.
    pub kind: PacketKind,
    /// Byte that is expected next.
    pub seq: u64,
    /// Whether it echoes a congestion mark.
    pub congestion_echo: bool,
    /// First byte of the packet that arrived ahead of its turn.
    pub selective: Option<u64>,
    /// The packet without payload that it answers.
    pub trimmed: Option<Trimmed>,
}

/// The key that the hosts share.
#[derive(Clone, Debug)]
pub struct AnswerSeal(SealKey);

impl AnswerSeal {
    /// A key of 128 bits.
    pub fn new(key: &[u8; 16]) -> Self {
        AnswerSeal(SealKey::new(key))
    }

    fn tag(&self, flow: u64, answer: &SealedAnswer) -> [u8; TAG_LEN] {
        let mut body = [0; 10];
        let [kind, flags, ahead @ ..] = &mut body;
        let of_trimmed = answer.trimmed.map_or(0, |trimmed| 2 | u8::from(trimmed.at_last_hop) << 2);
        (*kind, *flags) = (answer.kind as u8, u8::from(answer.congestion_echo) | of_trimmed);
        let named = answer.selective.or(answer.trimmed.map(|trimmed| trimmed.seq));
        *ahead = named.unwrap_or(u64::MAX).to_be_bytes();
        self.0.tag(!flow, answer.seq, &body)
    }

    /// Adds the tag behind the first `len` bytes and returns the new length. Without room nothing changes.
    pub fn seal(&self, flow: u64, answer: &SealedAnswer, bytes: &mut [u8], len: usize) -> usize {
        let Some(place) = bytes.get_mut(len..).and_then(<[u8]>::first_chunk_mut) else { return len };
        *place = self.tag(flow, answer);
        len + TAG_LEN
    }

    /// The bytes without the tag; `None` if it is not that of this answer.
    pub fn open<'a>(&self, flow: u64, answer: &SealedAnswer, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (telemetry, tag) = bytes.split_last_chunk()?;
        (u32::from_be_bytes(*tag) == u32::from_be_bytes(self.tag(flow, answer))).then_some(telemetry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: SealedAnswer =
        SealedAnswer { kind: PacketKind::Ack, seq: 9_000, congestion_echo: false, selective: None, trimmed: None };

    #[test]
    fn a_tag_is_of_one_answer_of_one_flow_and_leaves_telemetry_alone() {
        let seal = AnswerSeal::new(&[7; 16]);
        let mut bytes = [5; 12];
        assert_eq!((seal.seal(3, &ANSWER, &mut bytes, 8), seal.seal(3, &ANSWER, &mut bytes, 9)), (12, 9));
        assert_eq!(seal.open(3, &ANSWER, &bytes), Some(&[5; 8][..]));
        bytes[0] = 6;
        assert!(seal.open(3, &ANSWER, &bytes).is_some());
        for other in [
            SealedAnswer { kind: PacketKind::Nack, ..ANSWER },
            SealedAnswer { seq: 9_001, ..ANSWER },
            SealedAnswer { congestion_echo: true, ..ANSWER },
            SealedAnswer { selective: Some(0), ..ANSWER },
            SealedAnswer { trimmed: Some(Trimmed { seq: u64::MAX, at_last_hop: false }), ..ANSWER },
        ] {
            assert_eq!(seal.open(3, &other, &bytes), None, "{other:?}");
        }
        assert_eq!(seal.open(4, &ANSWER, &bytes), None);
        assert_eq!(AnswerSeal::new(&[8; 16]).open(3, &ANSWER, &bytes), None);
        assert_eq!(seal.open(3, &ANSWER, &bytes[..3]), None);
    }

    #[test]
    fn a_tag_of_telemetry_is_none_of_an_answer() {
        let mut section = [0; 14];
        section[0] = ANSWER.kind as u8;
        section[2..10].fill(0xff);
        assert_eq!(SealKey::new(&[7; 16]).seal(3, ANSWER.seq, &mut section, 10), 14);
        assert_eq!(AnswerSeal::new(&[7; 16]).open(3, &ANSWER, &section), None);
    }
}
