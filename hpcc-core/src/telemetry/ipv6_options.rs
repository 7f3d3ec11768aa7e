// SPDX-License-Identifier: MIT OR Apache-2.0
//! IPv6 hop-by-hop and destination options headers, and the options in them (RFC 8200 section 4.2).
//!
//! ```text
//! header   next header 8 | length 8, in units of 8 bytes beyond the first | options
//! option   type 8 | length 8 | data        Pad1 is a single zero byte, PadN type 1
//! ```

/// Pad1.
const PAD_1: u8 = 0;
/// PadN.
const PAD_N: u8 = 1;
/// Bytes in front of the options.
pub const PREFIX: usize = 2;
/// Bytes in front of an option's data.
pub const OPTION_PREFIX: usize = 2;
/// Header lengths are multiples of this.
pub const UNIT: usize = 8;

/// The bytes end before the header does, or before an option in it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// Where, counted from the start of the header.
    pub offset: usize,
}

/// What a node does with an option that it does not know: the upper two bits of the type (REQ-40, REQ-54).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The node skips the option and goes on.
    Skip,
    /// Discard the packet.
    Discard,
    /// Discard it and tell the source by ICMPv6 Parameter Problem, code 2.
    Report,
    /// Discard it, and tell the source unless the destination is a multicast address.
    ReportUnicast,
}

/// What a node does with an option of this type that it does not know.
pub fn action(kind: u8) -> Action {
    match kind >> 6 {
        0 => Action::Skip,
        1 => Action::Discard,
        2 => Action::Report,
        _ => Action::ReportUnicast,
    }
}

/// Whether the data of an option of this type may change on the way (REQ-41).
pub fn may_change(kind: u8) -> bool {
    kind & 0x20 != 0
}

/// A hop-by-hop or destination options header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionsHeader<'a> {
    /// What follows the header.
    pub next_header: u8,
    /// The bytes behind next header and length.
    options: &'a [u8],
}

impl<'a> OptionsHeader<'a> {
    /// Reads a header and returns what follows it.
    ///
    /// # Errors
    /// Fewer bytes than the header says that it has.
    pub fn parse(bytes: &'a [u8]) -> Result<(OptionsHeader<'a>, &'a [u8]), Truncated> {
        let truncated = Truncated { offset: bytes.len() };
        let &[next_header, length, ..] = bytes else { return Err(truncated) };
        let (header, rest) = bytes.split_at_checked(UNIT * (usize::from(length) + 1)).ok_or(truncated)?;
        let (_, options) = header.split_at_checked(PREFIX).ok_or(truncated)?;
        Ok((OptionsHeader { next_header, options }, rest))
    }

    /// Its options without padding, up to the first that does not end within the header.
    pub fn options(&self) -> Options<'a> {
        Options { rest: self.options, offset: PREFIX }
    }
}

/// An option of a header, other than padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// IPv6 option type.
    pub kind: u8,
    /// Where its type is, counted from the start of the header.
    pub offset: usize,
    /// What follows type and length.
    pub data: &'a [u8],
}

/// The options of a header.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Options<'a> {
    /// Takes `len` bytes.
    fn skip(&mut self, len: usize) -> Result<&'a [u8], Truncated> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Truncated { offset: self.offset })?;
        self.rest = rest;
        self.offset += len;
        Ok(taken)
    }

    fn take(&mut self) -> Result<Option<Tlv<'a>>, Truncated> {
        while let Some(&kind) = self.rest.first() {
            if kind == PAD_1 {
                self.skip(1)?;
                continue;
            }
            let offset = self.offset;
            let length = *self.rest.get(1).ok_or(Truncated { offset })?;
            let option = self.skip(OPTION_PREFIX + usize::from(length))?;
            if kind != PAD_N {
                return Ok(Some(Tlv { kind, offset, data: option.get(OPTION_PREFIX..).unwrap_or_default() }));
            }
        }
        Ok(None)
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<Tlv<'a>, Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.take().transpose();
        if matches!(item, Some(Err(_))) {
            self.rest = &[];
        }
        item
    }
}

/// Fills bytes with padding: Pad1 for one, PadN for up to 257.
pub fn pad(bytes: &mut [u8]) {
    bytes.fill(0);
    if let [kind, length, data @ ..] = bytes {
        *kind = PAD_N;
        *length = data.len().min(255) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_skipped_and_options_know_their_place() {
        let bytes = [17, 1, 1, 0, 0x9e, 2, 0xaa, 0xbb, 0, 0x31, 1, 7, 1, 2, 0, 0, 0xff];
        let (header, rest) = OptionsHeader::parse(&bytes).expect("16 bytes");
        assert_eq!((header.next_header, rest), (17, &[0xff][..]));
        let options: alloc::vec::Vec<_> = header.options().collect();
        assert_eq!(
            options,
            [Ok(Tlv { kind: 0x9e, offset: 4, data: &[0xaa, 0xbb] }), Ok(Tlv { kind: 0x31, offset: 9, data: &[7] })]
        );
    }

    #[test]
    fn lying_lengths_are_noticed() {
        assert_eq!(OptionsHeader::parse(&[17, 1, 0, 0, 0, 0, 0, 0]), Err(Truncated { offset: 8 }));
        assert_eq!(OptionsHeader::parse(&[17]), Err(Truncated { offset: 1 }));
        let (header, _) = OptionsHeader::parse(&[17, 0, 1, 0, 0x9e, 3, 0, 0]).expect("8 bytes");
        let options: alloc::vec::Vec<_> = header.options().collect();
        assert_eq!(options, [Err(Truncated { offset: 4 })]);
    }

    /// RFC 8200, section 4.2; for 0x9e draft-xiao-rtgwg-rocev2-fast-cnp-01, section 4.
    #[test]
    fn req_40_the_upper_bits_of_a_type_say_what_to_do() {
        let actions = [0x11, 0x51, 0x9e, 0xd1].map(action);
        assert_eq!(actions, [Action::Skip, Action::Discard, Action::Report, Action::ReportUnicast]);
        assert_eq!((may_change(0x31), may_change(0x11), may_change(0x9e)), (true, false, false));
    }

    #[test]
    fn padding_has_the_two_forms_of_the_standard() {
        for (length, expected) in [(0, &[][..]), (1, &[0]), (2, &[1, 0]), (4, &[1, 2, 0, 0])] {
            let mut bytes = [0xff; 4];
            pad(&mut bytes[..length]);
            assert_eq!(bytes[..length], *expected);
        }
    }
}
