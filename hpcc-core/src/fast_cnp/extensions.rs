// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of an IPv6 packet, wherever its extension headers have them.
//!
//! Not by `etherparse`, whose iterator over the headers of a packet that is cut off (0.21, `from_slice_lax`) reads
//! behind its end. Quotes in ICMPv6 messages are cut off.

use super::OptionTypes;
use crate::telemetry::ipv6_options::{OptionsHeader, UNIT};
use etherparse::{Ipv6Header, Ipv6HeaderSlice};

/// IPv6 next headers (RFC 8200, RFC 4302).
mod next_header {
    pub const HOP_BY_HOP: u8 = 0;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const AUTHENTICATION: u8 = 51;
    pub const DESTINATION: u8 = 60;
}

/// An option's type, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionAt {
    /// IPv6 option type.
    pub kind: u8,
    /// Where, counted from the start of the packet.
    pub offset: usize,
    /// Whether for the destination; otherwise for every hop.
    pub for_destination: bool,
}

/// An extension header.
struct Extension<'a> {
    kind: u8,
    offset: usize,
    bytes: &'a [u8],
}

/// The extension headers of a packet, up to the first that is cut off or encrypted.
struct Extensions<'a> {
    next: u8,
    offset: usize,
    rest: &'a [u8],
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Extension<'a>;

    fn next(&mut self) -> Option<Extension<'a>> {
        let &[next, length, fragment @ ..] = self.rest.first_chunk::<4>()?;
        let len = match self.next {
            next_header::HOP_BY_HOP | next_header::ROUTING | next_header::DESTINATION => {
                UNIT * (usize::from(length) + 1)
            }
            // Only the first fragment is followed by a header.
            next_header::FRAGMENT if u16::from_be_bytes(fragment) >> 3 == 0 => UNIT,
            next_header::AUTHENTICATION => 4 * (usize::from(length) + 2),
            _ => return None,
        };
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        let extension = Extension { kind: self.next, offset: self.offset, bytes };
        *self = Extensions { next, offset: self.offset + len, rest };
        Some(extension)
    }
}

/// The options without padding, in the order of the packet, up to the first thing that cannot be read. Bytes that are
/// no IPv6 packet have none.
pub fn options(packet: &[u8]) -> impl Iterator<Item = OptionAt> {
    let ip = Ipv6HeaderSlice::from_slice(packet).ok();
    let extensions = ip.zip(packet.get(Ipv6Header::LEN..)).map(|(ip, rest)| Extensions {
        next: ip.next_header().0,
        offset: Ipv6Header::LEN,
        rest,
    });
    extensions.into_iter().flatten().flat_map(|Extension { kind, offset, bytes }| {
        let for_destination = kind == next_header::DESTINATION;
        let has_options = for_destination || kind == next_header::HOP_BY_HOP;
        let header = OptionsHeader::parse(bytes).ok().filter(|_| has_options);
        let options = header.into_iter().flat_map(|(header, _)| header.options().map_while(Result::ok));
        options.map(move |option| OptionAt { kind: option.kind, offset: offset + option.offset, for_destination })
    })
}

/// Where a packet has a Fast CNP option, whatever is in it.
pub fn fast_cnp(packet: &[u8], types: &OptionTypes) -> Option<usize> {
    let found = options(packet).find(|option| option.for_destination && types.contains(option.kind));
    found.map(|option| option.offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::vector;
    use alloc::vec::Vec;

    fn packet(name: &str) -> Vec<u8> {
        vector(name).split_off(14)
    }

    /// IPv6 header 40, header prefix 2; padding 2 in front of option 2.
    #[test]
    fn options_know_their_place_in_the_packet() {
        let types = OptionTypes::default();
        assert_eq!(fast_cnp(&packet("fastcnp_opt1"), &types), Some(42));
        assert_eq!(fast_cnp(&packet("fastcnp_opt2"), &types), Some(44));
        assert_eq!(fast_cnp(&packet("roce_cnp_ipv6"), &types), None);
        let trace: Vec<_> = options(&packet("ioam_linux_0xf22000_after_hop1")).collect();
        assert_eq!(trace, [OptionAt { kind: 0x31, offset: 44, for_destination: false }]);
    }

    #[test]
    fn other_extension_headers_hide_nothing() {
        let plain = packet("fastcnp_opt1");
        let (ip, rest) = plain.split_at(40);
        let hop_by_hop = [43, 0, 1, 4, 0, 0, 0, 0];
        let routing = [44, 0, 253, 0, 0, 0, 0, 0];
        let fragment = [51, 0, 0, 1, 0, 0, 0, 7];
        let authentication = [60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut hidden = [ip, &hop_by_hop, &routing, &fragment, &authentication, rest].concat();
        hidden[6] = 0;
        assert_eq!(fast_cnp(&hidden, &OptionTypes::default()), Some(42 + 36));
        hidden[40 + 16 + 3] = 9;
        assert_eq!(fast_cnp(&hidden, &OptionTypes::default()), None, "in the middle of a packet");
    }

    #[test]
    fn an_option_for_every_hop_is_no_notification() {
        let mut bytes = packet("fastcnp_opt1");
        bytes[6] = 0;
        assert_eq!(fast_cnp(&bytes, &OptionTypes::default()), None);
        assert_eq!(options(&bytes).next().map(|option| option.kind), Some(0x9e));
    }

    #[test]
    fn cut_packets_lose_options_and_nothing_else() {
        let bytes = packet("fastcnp_opt1");
        for len in 0..bytes.len() {
            let expected = (len >= 64).then_some(42);
            assert_eq!(fast_cnp(&bytes[..len], &OptionTypes::default()), expected, "{len}");
        }
    }
}
