// SPDX-License-Identifier: MIT OR Apache-2.0
//! A RoCEv2 frame that was read.

use super::{Addresses, Encapsulation, RoceFrame};
use crate::roce;
use crate::roce::icrc::{self, Coverage, Covered, Headers};
use alloc::vec::Vec;

/// A RoCEv2 frame that was read. Its lengths and checksums are right; whether its ICRC is, [`RocePacket::verdict`]
/// says.
///
/// Built again, `frame` gives the same bytes except for what it does not describe: a VLAN tag, IPv4 options, a missing
/// don't-fragment flag, an IPv6 flow label, reserved bits, padding other than zeros, and a wrong ICRC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocePacket<'a> {
    /// Its contents. `zeros` is 0: all payload is in `payload`.
    pub frame: RoceFrame<'a>,
    /// Where its parts begin.
    pub offsets: Offsets,
    /// The ICRC that it has.
    pub icrc: [u8; icrc::LEN],
    /// The IP header, without extensions.
    pub(super) ip: &'a [u8],
    pub(super) udp: [u8; 8],
    /// From the base transport header to the padding.
    pub(super) transport: &'a [u8],
}

/// Where the parts of a frame begin, in bytes. Each ends where another begins; the payload, padding included, at
/// the ICRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Offsets {
    pub ip: usize,
    pub udp: usize,
    pub base_transport: usize,
    pub payload: usize,
    pub icrc: usize,
}

impl RocePacket<'_> {
    /// From the base transport header to the padding of the payload.
    pub fn transport(&self) -> &[u8] {
        self.transport
    }

    /// The ICRC that the frame should have.
    pub fn expected_icrc(&self, coverage: Coverage) -> [u8; icrc::LEN] {
        let telemetry = self.frame.telemetry;
        Covered {
            sent: Headers { ip: self.ip, udp: self.udp },
            plain: Headers { ip: &self.plain_ip(), udp: self.plain_udp() },
            before_udp: telemetry.map_or(&[], |section| section.before_udp),
            extensions: self.frame.destination_options,
            behind_udp: telemetry.map_or(&[], |section| section.behind_udp),
            transport: self.transport,
        }
        .icrc(coverage)
    }

    /// The first coverage by which the ICRC is right, `None` if it is wrong.
    pub fn verdict(&self) -> Option<Coverage> {
        Coverage::ALL.into_iter().find(|&coverage| self.expected_icrc(coverage) == self.icrc)
    }

    /// The IP header without the telemetry: length and protocol.
    fn plain_ip(&self) -> Vec<u8> {
        let mut ip = self.ip.to_vec();
        let Some(section) = self.frame.telemetry else { return ip };
        let (length_at, protocol_at) = match self.frame.addresses {
            Addresses::V4 { .. } => (2, 9),
            Addresses::V6 { .. } => (4, 6),
        };
        subtract(&mut ip, length_at, section.total_len());
        if let (Some(protocol), Some(next)) = (ip.get_mut(protocol_at), section.next_header()) {
            *protocol = next;
        }
        ip
    }

    /// The UDP header without the telemetry: length and destination port.
    fn plain_udp(&self) -> [u8; 8] {
        let mut udp = self.udp;
        let Some(section) = self.frame.telemetry else { return udp };
        if let Encapsulation::BehindUdp { .. } | Encapsulation::Marked { .. } = section.encapsulation {
            udp[2..4].copy_from_slice(&roce::PORT.to_be_bytes());
            subtract(&mut udp, 4, section.behind_udp.len());
        }
        udp
    }
}

/// Makes a 16-bit length at an offset smaller.
fn subtract(header: &mut [u8], at: usize, less: usize) {
    if let Some(field) = header.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *field = u16::from_be_bytes(*field).saturating_sub(less as u16).to_be_bytes();
    }
}
