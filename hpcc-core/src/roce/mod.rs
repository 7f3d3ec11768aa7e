// SPDX-License-Identifier: MIT OR Apache-2.0
//! RoCEv2: the InfiniBand headers behind UDP port 4791, and the CRC that ends a packet
//! (draft-xiao-rtgwg-rocev2-fast-cnp-01, section 3; REQ-33).
//!
//! Each header is a plain record with `parse` and `emit`; for every record `parse(emit(r)) == r`. What follows a
//! header is a slice of the packet: nothing is copied, and no input makes anything here panic. Reserved bits are
//! sent as 0 and ignored on arrival.
// Untrusted bytes are read here: what indexes them must say why it cannot panic.
#![warn(clippy::indexing_slicing)]

pub mod aeth;
pub mod bth;
pub mod deth;
pub mod icrc;
pub mod opcode;
pub mod reth;

pub use aeth::{Aeth, NakCode, Syndrome};
pub use bth::Bth;
pub use deth::Deth;
pub use opcode::Opcode;
pub use reth::Reth;

/// UDP destination port of RoCEv2 (REQ-33).
pub const PORT: u16 = 4791;

/// Zero bytes behind the base header of a congestion notification (REQ-33).
pub const CNP_RESERVED: usize = 16;

/// The bytes end before the header does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

/// The 24 bits of a number, big-endian.
fn bits_24(number: u32) -> [u8; 3] {
    let [_, a, b, c] = number.to_be_bytes();
    [a, b, c]
}
