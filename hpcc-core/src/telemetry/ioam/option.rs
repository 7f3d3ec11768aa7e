// SPDX-License-Identifier: MIT OR Apache-2.0
//! The option header: `type 8 | length 8 | reserved 8 | IOAM option type 8`, aligned to 4 bytes.

use super::Malformed;
use crate::telemetry::ipv6_options::{OptionsHeader, Tlv};

/// IPv6 option type of data that change on the way: traces. Unknown to a node, it is skipped.
pub const CHANGING: u8 = 0x31;
/// IPv6 option type of data that do not: edge to edge, direct export.
pub const FIXED: u8 = 0x11;
/// Bytes between the IPv6 option's length and the IOAM data.
pub const PREFIX: usize = 2;

/// A kind of IOAM data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Trace whose room the encapsulating node makes.
    PreallocatedTrace,
    /// Trace that grows; not used in IPv6, whose packets may not.
    IncrementalTrace,
    /// Proof of transit.
    ProofOfTransit,
    /// Edge to edge.
    EdgeToEdge,
    /// Direct export.
    DirectExport,
    /// An option type that is not assigned.
    Unknown(u8),
}

impl Kind {
    /// The kind of an IOAM option type.
    pub fn from_code(code: u8) -> Kind {
        match code {
            0 => Kind::PreallocatedTrace,
            1 => Kind::IncrementalTrace,
            2 => Kind::ProofOfTransit,
            3 => Kind::EdgeToEdge,
            4 => Kind::DirectExport,
            _ => Kind::Unknown(code),
        }
    }

    /// Its IOAM option type.
    pub fn code(self) -> u8 {
        match self {
            Kind::PreallocatedTrace => 0,
            Kind::IncrementalTrace => 1,
            Kind::ProofOfTransit => 2,
            Kind::EdgeToEdge => 3,
            Kind::DirectExport => 4,
            Kind::Unknown(code) => code,
        }
    }
}

/// IOAM data in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoamOption<'a> {
    /// Which kind of IOAM data.
    pub kind: Kind,
    /// Where the data begin, counted from the start of the header.
    pub offset: usize,
    /// The IOAM data, without the option's header.
    pub data: &'a [u8],
}

impl<'a> IoamOption<'a> {
    /// The IOAM data of an IPv6 option; `None` if it is another option.
    ///
    /// # Errors
    /// An option too short for its header.
    pub fn of(option: &Tlv<'a>) -> Result<Option<IoamOption<'a>>, Malformed> {
        if option.kind != CHANGING && option.kind != FIXED {
            return Ok(None);
        }
        let (&[_, code], data) = option.data.split_first_chunk::<PREFIX>().ok_or(Malformed)?;
        let offset = option.offset + 2 + PREFIX;
        Ok(Some(IoamOption { kind: Kind::from_code(code), offset, data }))
    }

    /// The first IOAM data of a header; `None` if there are none, or none that can be read.
    pub fn find(header: &OptionsHeader<'a>) -> Option<IoamOption<'a>> {
        header.options().map_while(Result::ok).find_map(|option| IoamOption::of(&option).ok().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::vector;

    #[test]
    fn the_kernels_option_is_found() {
        let packet = vector("ioam_linux_0xf22000_after_hop1");
        let (header, rest) = OptionsHeader::parse(&packet[54..]).expect("a header");
        let option = IoamOption::find(&header).expect("IOAM");
        assert_eq!((option.kind, option.offset, option.data.len()), (Kind::PreallocatedTrace, 8, 0x62 - 2));
        assert_eq!((header.next_header, &rest[2..4]), (17, &[0x12, 0xb7][..]));
    }

    #[test]
    fn short_and_foreign_options_are_told_apart() {
        assert_eq!(IoamOption::of(&Tlv { kind: CHANGING, offset: 4, data: &[0] }), Err(Malformed));
        assert_eq!(IoamOption::of(&Tlv { kind: 0x9e, offset: 4, data: &[] }), Ok(None));
        for code in 0..=u8::MAX {
            assert_eq!(Kind::from_code(code).code(), code);
        }
    }
}
