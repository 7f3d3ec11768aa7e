// SPDX-License-Identifier: MIT OR Apache-2.0
//! The priority-based flow control frame of IEEE 802.1Qbb.
//!
//! ```text
//! opcode 16 = 0x0101 | class-enable vector 16 (bit n: priority n) | 8 times pause 16, priority 0 first | zeros
//! ```
// Untrusted bytes are read here: what indexes them must say why it cannot panic.
#![warn(clippy::indexing_slicing)]

/// Where PFC frames go: they never leave the link.
pub const DESTINATION: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// EtherType of MAC control frames.
pub const ETHER_TYPE: u16 = 0x8808;
/// Bytes behind the Ethernet header, padding included: a frame has at least 60 without its check sequence.
pub const LEN: usize = 46;
/// The longest pause.
pub const MAX_QUANTA: u16 = u16::MAX;

const OPCODE: [u8; 2] = [0x01, 0x01];
/// Priorities of a link, each of which has a queue of its own.
pub const PRIORITIES: usize = 8;
/// The priority of data, its acknowledgements and what ns-3's stack sends, unless something else is said.
pub const DATA_PRIORITY: u8 = 3;

/// A PFC frame: for each priority how long it pauses, `None` where it says nothing. 0 resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pfc {
    /// In quanta of 512 bit times.
    pub pause: [Option<u16>; PRIORITIES],
}

/// Why bytes are no PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPfc {
    /// They end before the last pause time does.
    Truncated,
    /// Another MAC control frame.
    OtherOpcode,
}

impl Pfc {
    /// Pauses one priority, modulo 8, or resumes it with 0.
    pub fn of(priority: u8, quanta: u16) -> Pfc {
        let mut pfc = Pfc::default();
        if let Some(pause) = pfc.pause.get_mut(usize::from(priority) % PRIORITIES) {
            *pause = Some(quanta);
        }
        pfc
    }

    /// Reads what follows the Ethernet header.
    ///
    /// # Errors
    /// See [`NotPfc`].
    pub fn parse(bytes: &[u8]) -> Result<Pfc, NotPfc> {
        let (opcode, rest) = bytes.split_first_chunk().ok_or(NotPfc::Truncated)?;
        if *opcode != OPCODE {
            return Err(NotPfc::OtherOpcode);
        }
        let (&[_, enabled], rest) = rest.split_first_chunk().ok_or(NotPfc::Truncated)?;
        let (times, _) = rest.split_first_chunk::<{ 2 * PRIORITIES }>().ok_or(NotPfc::Truncated)?;
        let mut pfc = Pfc::default();
        for (priority, (pause, &time)) in pfc.pause.iter_mut().zip(times.as_chunks().0).enumerate() {
            *pause = (enabled >> priority & 1 == 1).then_some(u16::from_be_bytes(time));
        }
        Ok(pfc)
    }

    /// What follows the Ethernet header, padding included.
    #[expect(clippy::indexing_slicing, reason = "the frame has a place for each priority")]
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..2].copy_from_slice(&OPCODE);
        for (priority, pause) in self.pause.iter().enumerate() {
            let Some(quanta) = pause else { continue };
            bytes[3] |= 1 << priority;
            bytes[4 + 2 * priority..6 + 2 * priority].copy_from_slice(&quanta.to_be_bytes());
        }
        bytes
    }
}
