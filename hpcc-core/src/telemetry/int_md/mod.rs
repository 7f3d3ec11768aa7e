// SPDX-License-Identifier: MIT OR Apache-2.0
//! P4 INT v2.1, embedded data (INT-MD): shim, metadata header and a stack of hops between UDP and BTH, and the
//! profile in which HPCC uses them (REQ-59).
//!
//! ```text
//! shim    Type (4) | NPT (2) | R (2) | Length (8) words | depends on NPT (16)
//! header  Ver (4) | D | E | M | R (12) | HopML (5) words | Remaining (8)
//!         instructions (16) | domain id (16) | domain instructions (16) | domain flags (16)
//! stack   HopML words a hop, newest hop first, big-endian
//! ```
//! A *section* is all of that, as it is on the wire.
//!
//! | file | holds |
//! | --- | --- |
//! | [`shim`], [`header`], [`metadata`] | the headers and the fields of a hop, read and written |
//! | [`transit`] | what a hop does to a section, whoever defined its contents |
//! | [`hpcc`] | the profile that carries rate, time, sent bytes and queue |
//!
//! Where the sources are silent or leave a choice:
//! - INT has no field for sent bytes or for the link rate: they travel as domain-specific metadata;
//! - domain-specific metadata follow the baseline fields and precede the checksum complement, which is last;
//! - a reserved instruction bit and an unknown domain are answered with ones, not by skipping the hop;
//! - a shim length that would pass 255 words counts as "would exceed the MTU" (M), and so does a full buffer;
//! - a malformed section, one of another version, or one that asks for no metadata is left as it is;
//! - queue occupancy is in bytes, timestamps are in nanoseconds; both units are the profile's;
//! - a link rate without code is "unknown", all ones: the hop is there, and the reader refuses the section;
//! - the UDP checksum is the frame builder's business: 0 stays 0, else it is computed anew.

pub mod header;
pub mod hpcc;
pub mod metadata;
pub mod shim;
pub mod transit;

#[cfg(test)]
mod testing {
    /// `int_md_udp_example` from the shim on, the worked example of the INT v2.1 specification: bitmap 0x9000,
    /// two switches, original port 4791.
    pub const UDP_EXAMPLE: [u8; 32] = [
        0x14, 0x07, 0x12, 0xb7, 0x20, 0x00, 0x02, 0x06, 0x90, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x02, 0x03, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x01, 0x00,
    ];
}
