// SPDX-License-Identifier: MIT OR Apache-2.0
//! The destination options header of a notification, with exactly one of two options (REQ-39).
//!
//! ```text
//! option 1, at 4n + 2   type 8 | length 8, 16 | original destination 128
//! option 2, at 4n       type 8 | length 8 | reserved 8 | IOAM option type 8 | trace | original destination 128
//! ```
//! The address begins at a multiple of 4 in both.

use super::copied_trace::MAX_DATA;
use super::{Address, CopiedTrace, OptionTypes};
use crate::telemetry::ioam::{option as ioam_option, trace};
use crate::telemetry::ipv6_options::{OPTION_PREFIX, OptionsHeader, PREFIX, Tlv, UNIT, pad};

/// IPv6 next header: UDP.
const UDP: u8 = 17;
/// Bytes of an address, and of option 1's data.
const ADDRESS: usize = 16;
/// Where option 2 begins: behind two bytes of padding.
const ALIGNED: usize = 4;
/// Bytes of option 2 beside the trace's data.
const AROUND_DATA: usize = ioam_option::PREFIX + trace::LEN + ADDRESS;
/// Bytes of a header with option 1.
pub const PLAIN_HEADER: usize = (OPTION_PREFIX + ADDRESS + PREFIX).next_multiple_of(UNIT);
/// Most bytes of a header.
pub const MAX_HEADER: usize = (OPTION_PREFIX + AROUND_DATA + ALIGNED + MAX_DATA).next_multiple_of(UNIT);

/// A notification's description of the data packet that met congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastCnpOption<'a> {
    /// The packet's destination.
    pub original_destination: Address,
    /// Its IOAM trace, if it carried one (option 2).
    pub trace: Option<CopiedTrace<'a>>,
}

/// Why a destination options header is not a notification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Header or option end early.
    Truncated,
    /// What follows is not UDP.
    NextHeader,
    /// There is neither of the options.
    Missing,
    /// There is another option.
    NotAlone,
    /// An option of another length than it must have.
    Length,
    /// Option 2 with other data than a trace.
    Trace,
}

impl<'a> FastCnpOption<'a> {
    /// Reads a whole header.
    ///
    /// # Errors
    /// See [`Malformed`].
    pub fn parse(header: &'a [u8], types: &OptionTypes) -> Result<FastCnpOption<'a>, Malformed> {
        let (header, _) = OptionsHeader::parse(header).map_err(|_| Malformed::Truncated)?;
        if header.next_header != UDP {
            return Err(Malformed::NextHeader);
        }
        let mut options = header.options();
        let option = options.next().ok_or(Malformed::Missing)?.map_err(|_| Malformed::Truncated)?;
        match options.next() {
            None => Self::of(&option, types),
            Some(Ok(_)) => Err(Malformed::NotAlone),
            Some(Err(_)) => Err(Malformed::Truncated),
        }
    }

    fn of(option: &Tlv<'a>, types: &OptionTypes) -> Result<FastCnpOption<'a>, Malformed> {
        if !types.contains(option.kind) {
            return Err(Malformed::Missing);
        }
        let (before, &original_destination) = option.data.split_last_chunk().ok_or(Malformed::Length)?;
        if before.is_empty() {
            let is_first = option.kind == types.destination.code();
            return is_first.then_some(FastCnpOption { original_destination, trace: None }).ok_or(Malformed::Length);
        }
        if option.kind != types.trace.code() || option.data.len() < AROUND_DATA {
            return Err(Malformed::Length);
        }
        let &[_, code, ref trace @ ..] = before else { return Err(Malformed::Length) };
        let kind = ioam_option::Kind::from_code(code);
        let trace = CopiedTrace::new(kind, trace).map_err(|_| Malformed::Trace)?;
        Ok(FastCnpOption { original_destination, trace: Some(trace) })
    }

    /// Where the option begins, and the length of its data.
    fn layout(&self) -> (usize, usize) {
        self.trace.map_or((PREFIX, ADDRESS), |trace| (ALIGNED, AROUND_DATA + trace.data().len()))
    }

    /// Bytes of the header.
    pub fn header_len(&self) -> usize {
        let (start, data) = self.layout();
        (start + OPTION_PREFIX + data).next_multiple_of(UNIT)
    }

    /// Writes the header into the front of `room`, and returns it. UDP follows.
    pub fn emit<'r>(&self, types: &OptionTypes, room: &'r mut [u8; MAX_HEADER]) -> &'r [u8] {
        let (start, data_len) = self.layout();
        let len = self.header_len();
        let header = &mut room[..len];
        header[..PREFIX].copy_from_slice(&[UDP, (len / UNIT - 1) as u8]);
        pad(&mut header[PREFIX..start]);
        let (option, padding) = header[start..].split_at_mut(OPTION_PREFIX + data_len);
        pad(padding);
        let kind = if self.trace.is_some() { types.trace } else { types.destination };
        let (front, address) = option.split_at_mut(OPTION_PREFIX + data_len - ADDRESS);
        address.copy_from_slice(&self.original_destination);
        front[..OPTION_PREFIX].copy_from_slice(&[kind.code(), data_len as u8]);
        if let Some(trace) = self.trace {
            let (ioam, data) = front[OPTION_PREFIX..].split_at_mut(ioam_option::PREFIX + trace::LEN);
            ioam[..ioam_option::PREFIX].copy_from_slice(&[0, trace.kind().code()]);
            ioam[ioam_option::PREFIX..].copy_from_slice(trace.header());
            data.copy_from_slice(trace.data());
        }
        &*header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_cnp::OptionType;
    use crate::telemetry::ioam::option::Kind;
    use crate::testing::{hex, vector};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const TYPES: OptionTypes = OptionTypes { destination: OptionType::EXPERIMENTAL, trace: OptionType::EXPERIMENTAL };
    /// 2001:db8::2, the receiver of both vectors.
    const RECEIVER: Address = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

    /// The destination options header of a vector, which stands behind Ethernet and IPv6 header.
    fn header(name: &str) -> Vec<u8> {
        let packet = vector(name);
        let len = 8 * (usize::from(packet[55]) + 1);
        packet[54..54 + len].to_vec()
    }

    fn parse(bytes: &[u8]) -> Result<FastCnpOption<'_>, Malformed> {
        FastCnpOption::parse(bytes, &TYPES)
    }

    /// tshark accepted the structure.
    #[test]
    fn req_42_option_1_is_the_original_destination() {
        let option = FastCnpOption { original_destination: RECEIVER, trace: None };
        let mut room = [0xff; MAX_HEADER];
        let bytes = hex("11029e1020010db800000000000000000000000201020000");
        assert_eq!(option.emit(&TYPES, &mut room), bytes);
        assert_eq!(header("fastcnp_opt1"), bytes);
        assert_eq!(parse(&bytes), Ok(option));
        assert_eq!(bytes[3], 16);
    }

    /// Option 2; the trace is the node a2 of the kernel's vectors, of type 0x920000.
    #[test]
    fn req_43_option_2_is_the_trace_and_the_original_destination() {
        let trace = hex("007b1800920000003f0000a20009113d00000400");
        let copied = CopiedTrace::of_packet(Kind::PreallocatedTrace, &trace).expect("a trace");
        let option = FastCnpOption { original_destination: RECEIVER, trace: Some(copied) };
        let mut room = [0xff; MAX_HEADER];
        let bytes =
            hex("110501009e260000007b1800920000003f0000a20009113d0000040020010db800000000000000000000000201020000");
        assert_eq!(option.emit(&TYPES, &mut room), bytes);
        assert_eq!(header("fastcnp_opt2"), bytes);
        assert_eq!(parse(&bytes), Ok(option));
    }

    #[test]
    fn req_39_exactly_one_of_the_options_is_there() {
        let with = |options: &str| {
            let options = hex(options);
            let mut bytes = [&[UDP, 0][..], &options].concat();
            let len = bytes.len();
            bytes.resize(len.next_multiple_of(UNIT), 0);
            bytes[1] = (bytes.len() / UNIT - 1) as u8;
            bytes
        };
        let one = "9e1020010db8000000000000000000000002";
        assert!(parse(&with(one)).is_ok());
        assert_eq!(parse(&with(&[one, one].concat())), Err(Malformed::NotAlone));
        assert_eq!(parse(&with(&["1e0100", one].concat())), Err(Malformed::NotAlone));
        assert_eq!(parse(&with("0104000000000000")), Err(Malformed::Missing));
        assert_eq!(parse(&with("1e1020010db8000000000000000000000002")), Err(Malformed::Missing));
    }

    /// 16 is option 1; 26, with an empty trace, the least of option 2.
    #[test]
    fn other_lengths_are_refused() {
        for len in 0..=255u8 {
            let mut bytes = [&[UDP, 0, 1, 0, 0x9e, len][..], &[0; 264]].concat();
            bytes.truncate((6 + usize::from(len)).next_multiple_of(UNIT));
            bytes[1] = (bytes.len() / UNIT - 1) as u8;
            let expected = len == 16 || (len >= 26 && (len - 26) % 4 == 0);
            assert_eq!(parse(&bytes).is_ok(), expected, "{len}");
            bytes[4] = OptionType::EXPERIMENTAL.code() ^ 1;
            assert_eq!(parse(&bytes), Err(Malformed::Missing), "{len}");
        }
        let mut bytes = header("fastcnp_opt1");
        bytes[0] = 6;
        assert_eq!(parse(&bytes), Err(Malformed::NextHeader));
        assert_eq!(parse(&bytes[..23]), Err(Malformed::Truncated));
        let mut bytes = header("fastcnp_opt2");
        bytes[7] = Kind::EdgeToEdge.code();
        assert_eq!(parse(&bytes), Err(Malformed::Trace));
    }

    #[test]
    fn assigned_types_are_not_mixed_up() {
        let [destination, trace] = [0x8a, 0x8b].map(|code| OptionType::new(code).expect("bits 100"));
        let types = OptionTypes { destination, trace };
        for (name, at, own, other) in [("fastcnp_opt1", 2, 0x8a, 0x8b), ("fastcnp_opt2", 4, 0x8b, 0x8a)] {
            let mut bytes = header(name);
            assert_eq!(FastCnpOption::parse(&bytes, &types), Err(Malformed::Missing));
            bytes[at] = other;
            assert_eq!(FastCnpOption::parse(&bytes, &types), Err(Malformed::Length));
            bytes[at] = own;
            let option = FastCnpOption::parse(&bytes, &types).expect("an option");
            assert_eq!(option.emit(&types, &mut [0; MAX_HEADER]), bytes);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn what_is_written_is_read(
            original_destination: Address,
            trace in prop::option::of((any::<[u8; 8]>(), prop::collection::vec(any::<[u8; 4]>(), 0..=57), 0u8..2)),
        ) {
            let bytes = trace.as_ref().map(|(header, words, _)| [&header[..], &words.concat()].concat());
            let kind = trace.as_ref().map(|&(_, _, code)| Kind::from_code(code));
            let trace = kind.zip(bytes.as_deref()).and_then(|(kind, bytes)| CopiedTrace::new(kind, bytes).ok());
            let option = FastCnpOption { original_destination, trace };
            let mut room = [0xff; MAX_HEADER];
            let header = option.emit(&TYPES, &mut room);
            prop_assert_eq!(header.len(), UNIT * (usize::from(header[1]) + 1));
            prop_assert_eq!(parse(header), Ok(option));
        }
    }
}
