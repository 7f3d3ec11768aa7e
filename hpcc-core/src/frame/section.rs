// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where telemetry travels in a frame.

use super::{Encapsulation, Unbuildable};
use alloc::vec::Vec;

/// Bytes of an IFA section in front of UDP.
pub(super) const IFA_HEADER: usize = 4;

/// A telemetry section and where it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    pub(super) encapsulation: Encapsulation,
    /// In front of the EtherType.
    pub(super) tag: &'a [u8],
    pub(super) before_udp: &'a [u8],
    pub(super) behind_udp: &'a [u8],
}

impl<'a> Section<'a> {
    /// The section that the codecs wrote into `bytes`.
    ///
    /// # Errors
    /// A hop-by-hop header of another length than it says; an IFA section of fewer than 4 bytes.
    pub fn new(encapsulation: Encapsulation, bytes: &'a [u8]) -> Result<Section<'a>, Unbuildable> {
        let (before_udp, behind_udp) = match encapsulation {
            Encapsulation::BehindUdp { .. } | Encapsulation::Marked { .. } => (&[][..], bytes),
            Encapsulation::Tag { .. } => return Ok(Section { tag: bytes, ..Section::empty(encapsulation) }),
            Encapsulation::HopByHop if is_whole_header(bytes) => (bytes, &[][..]),
            Encapsulation::HopByHop => return Err(Unbuildable),
            Encapsulation::Ifa { .. } => bytes.split_at_checked(IFA_HEADER).ok_or(Unbuildable)?,
        };
        Ok(Section { before_udp, behind_udp, ..Section::empty(encapsulation) })
    }

    pub(super) const fn empty(encapsulation: Encapsulation) -> Self {
        Section { encapsulation, tag: &[], before_udp: &[], behind_udp: &[] }
    }

    /// Where it travels.
    pub fn encapsulation(&self) -> Encapsulation {
        self.encapsulation
    }

    /// What stands between IP and UDP header.
    pub fn before_udp(&self) -> &'a [u8] {
        self.before_udp
    }

    /// What stands between UDP and base transport header.
    pub fn behind_udp(&self) -> &'a [u8] {
        self.behind_udp
    }

    /// The section as the codecs read it.
    pub fn to_vec(&self) -> Vec<u8> {
        [self.tag, self.before_udp, self.behind_udp].concat()
    }

    /// Bytes of the section behind the IP header.
    pub(super) fn total_len(&self) -> usize {
        self.before_udp.len() + self.behind_udp.len()
    }

    /// The protocol of what follows the part in front of UDP, which the IP header names in a packet without telemetry;
    /// `None` without such a part.
    pub(super) fn next_header(&self) -> Option<u8> {
        let at = if self.encapsulation == Encapsulation::HopByHop { 0 } else { 1 };
        self.before_udp.get(at).copied()
    }
}

/// Whether these are an IPv6 extension header, all of it, and nothing else: its second byte counts units of 8 bytes
/// behind the first 8.
pub(super) fn is_whole_header(bytes: &[u8]) -> bool {
    bytes.get(1).is_some_and(|&units| bytes.len() == 8 * (usize::from(units) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_its_encapsulation_is_refused() {
        assert_eq!(Section::new(Encapsulation::HopByHop, &[17, 1, 1, 4, 0, 0, 0, 0]), Err(Unbuildable));
        assert_eq!(Section::new(Encapsulation::HopByHop, &[]), Err(Unbuildable));
        assert_eq!(Section::new(Encapsulation::Ifa { protocol: 253 }, &[0x2f, 17, 4]), Err(Unbuildable));
    }
}
