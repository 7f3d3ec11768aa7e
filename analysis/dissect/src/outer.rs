// SPDX-License-Identifier: GPL-2.0-only
//! What a capture has around a frame: link types other than Ethernet, VLAN tags, MPLS labels, and tunnels; and RoCEv1 as if it
//! were RoCEv2.

use crate::layers::Object;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use hpcc_core::roce::{self, icrc::GLOBAL_LEN};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The kinds of link that a capture can be of, by their numbers in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Ethernet,
    /// IPv4 or IPv6 without anything in front.
    RawIp,
    /// Linux's header of `tcpdump -i any`: bytes of it, and where the type stands.
    Cooked {
        len: usize,
        kind: usize,
    },
    /// BSD's loopback: a family of 4 bytes.
    Loopback,
}

impl Link {
    /// The number's meaning; the bits above 16 have another.
    pub fn of(number: u32) -> Option<Link> {
        match number & 0xffff {
            1 => Some(Link::Ethernet),
            12 | 14 | 101 | 228 | 229 => Some(Link::RawIp),
            113 => Some(Link::Cooked { len: 16, kind: 14 }),
            276 => Some(Link::Cooked { len: 20, kind: 0 }),
            0 | 108 => Some(Link::Loopback),
            _ => None,
        }
    }
}

/// A frame without what is around it.
pub struct Inner<'a> {
    /// As Ethernet without tags.
    pub frame: Cow<'a, [u8]>,
    /// How much further back the packet stood in what was captured.
    shift: isize,
    /// Where its Ethernet header stood, if it had one.
    pub ethernet: Option<usize>,
    /// The global routing header of RoCEv1, in whose place `frame` has IPv6 and UDP headers.
    pub global: Option<[u8; GLOBAL_LEN]>,
    /// Tag control information, the outermost first.
    tags: Vec<u16>,
    /// MPLS's label stack, the outermost first.
    labels: Vec<u32>,
    tunnels: Vec<Value>,
}

const ETHERNET: usize = 14;
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Ethernet in a tunnel.
const BRIDGED: u16 = 0x6558;
pub const MPLS: [u16; 2] = [0x8847, 0x8848];
const BOTTOM_OF_STACK: u32 = 1 << 8;
const ROCE_V1: u16 = 0x8915;
/// Next header of a global routing header: the base transport header.
const BASE_TRANSPORT: u8 = 0x1b;
const UDP: u8 = 17;
const UDP_LEN: u16 = 8;
const GRE: u8 = 47;
/// Tunnels within each other at most.
const DEPTH: usize = 4;

/// Takes off what is around a frame, as far as it is known.
pub fn strip(link: Link, bytes: &[u8]) -> Inner<'_> {
    let mut inner = Inner {
        frame: Cow::Borrowed(bytes),
        shift: 0,
        ethernet: None,
        global: None,
        tags: Vec::new(),
        labels: Vec::new(),
        tunnels: Vec::new(),
    };
    let Some((mut kind, mut at)) = inner.at(link, bytes, 0) else { return inner };
    for _ in 0..DEPTH {
        let Some((link, behind, tunnel)) = tunnel(kind, bytes, at) else { break };
        inner.tags.clear();
        inner.labels.clear();
        let Some((inner_kind, inner_at)) = inner.at(link, bytes, behind) else { break };
        (kind, at) = (inner_kind, inner_at);
        inner.tunnels.push(tunnel);
    }
    inner.shift = at as isize - ETHERNET as isize;
    let macs = inner.ethernet.and_then(|at| bytes.get(at..at + 12)).unwrap_or(&[0; 12]);
    if let Some((header, packet)) = as_rocev2(kind, &bytes[at..]) {
        inner.global = Some(header);
        inner.frame = [macs, &IPV6.to_be_bytes(), &packet].concat().into();
    } else if inner.ethernet != Some(0) || inner.shift != 0 {
        inner.frame = [macs, &kind.to_be_bytes(), &bytes[at..]].concat().into();
    }
    inner
}

impl Inner<'_> {
    /// The type and the place of what a header of a link carries.
    fn at(&mut self, link: Link, bytes: &[u8], at: usize) -> Option<(u16, usize)> {
        let word =
            |at: usize| bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map(|word| u16::from_be_bytes(*word));
        let by_version = |at: usize| match bytes.get(at)? >> 4 {
            4 => Some((IPV4, at)),
            6 => Some((IPV6, at)),
            _ => None,
        };
        let (mut kind, mut at) = match link {
            Link::Ethernet => {
                let kind = word(at + 12)?;
                self.ethernet = Some(at);
                (kind, at + ETHERNET)
            }
            Link::RawIp => {
                self.ethernet = None;
                by_version(at)?
            }
            Link::Cooked { len, kind } => (word(at + kind)?, at + len),
            Link::Loopback => by_version(at + 4)?,
        };
        while TAGS.contains(&kind) {
            self.tags.push(word(at)?);
            (kind, at) = (word(at + 2)?, at + 4);
        }
        if MPLS.contains(&kind) {
            at = self.behind_labels(bytes, at)?;
            (kind, at) = by_version(at).unwrap_or((kind, at));
        }
        (at <= bytes.len()).then_some((kind, at))
    }

    /// Where a label stack ends.
    fn behind_labels(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        for (entry, behind) in bytes.get(at..)?.as_chunks().0.iter().zip((at + 4..).step_by(4)) {
            let entry = u32::from_be_bytes(*entry);
            self.labels.push(entry);
            if entry & BOTTOM_OF_STACK != 0 {
                return Some(behind);
            }
        }
        None
    }

    /// Where a byte of `frame` stood in what was captured.
    pub fn place(&self, offset: usize) -> usize {
        let is_behind_udp = self.global.is_some() && offset > ETHERNET + GLOBAL_LEN;
        let put_in = if is_behind_udp { usize::from(UDP_LEN) } else { 0 };
        if offset == 0 { 0 } else { (offset - put_in).saturating_add_signed(self.shift) }
    }

    /// Says what was around the frame.
    pub fn tell(&self, frame: &mut Object) {
        if !self.tunnels.is_empty() {
            frame.insert("tunnels".into(), self.tunnels.clone().into());
        }
        let tag = |tag: &u16| json!({ "id": tag & 0xfff, "priority": tag >> 13 });
        if let Some(inner) = self.tags.last() {
            frame.insert("vlan".into(), tag(inner));
        }
        if self.tags.len() > 1 {
            frame.insert("vlans".into(), self.tags.iter().map(tag).collect());
        }
        if !self.labels.is_empty() {
            frame.insert("mpls".into(), self.labels.iter().map(label).collect());
        }
    }
}

fn label(entry: &u32) -> Value {
    json!({ "label": entry >> 12, "class": entry >> 9 & 7, "ttl": entry & 0xff })
}

/// A packet of RoCEv1: its global routing header, which has the fields of IPv6, and the same packet with IPv6 and UDP headers.
fn as_rocev2(kind: u16, packet: &[u8]) -> Option<([u8; GLOBAL_LEN], Vec<u8>)> {
    let (header, transport) = packet.split_first_chunk::<GLOBAL_LEN>()?;
    if kind != ROCE_V1 || header[0] >> 4 != 6 || header[6] != BASE_TRANSPORT {
        return None;
    }
    let len = u16::from_be_bytes([header[4], header[5]]).checked_add(UDP_LEN)?.to_be_bytes();
    let mut ip = *header;
    ip[4..6].copy_from_slice(&len);
    ip[6] = UDP;
    let udp = [[0, 0], roce::PORT.to_be_bytes(), len, [0, 0]].concat();
    Some((*header, [&ip, &udp[..], transport].concat()))
}

/// What a tunnel in an IP packet carries, where it begins, and how the tunnel presents itself.
fn tunnel(kind: u16, bytes: &[u8], at: usize) -> Option<(Link, usize, Value)> {
    if ![IPV4, IPV6].contains(&kind) {
        return None;
    }
    let packet = LaxSlicedPacket::from_ip(bytes.get(at..)?).ok()?;
    let (src, dst, protocol, behind_ip) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let (header, payload) = (ip.header(), ip.payload());
            (
                header.source_addr().to_string(),
                header.destination_addr().to_string(),
                payload.ip_number.0,
                payload.payload,
            )
        }
        LaxNetSlice::Ipv6(ip) => {
            let (header, payload) = (ip.header(), ip.payload());
            (
                header.source_addr().to_string(),
                header.destination_addr().to_string(),
                payload.ip_number.0,
                payload.payload,
            )
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let place = |part: &[u8]| part.as_ptr() as usize - bytes.as_ptr() as usize;
    let named = |name: &str, id: Option<u32>| json!({ "kind": name, "src": src, "dst": dst, "id": id });
    let network = |header: &[u8]| header.get(4..7).map(|id| u32::from_be_bytes([0, id[0], id[1], id[2]]));
    match &packet.transport {
        Some(TransportSlice::Udp(udp)) if udp.destination_port() == 4789 => {
            Some((Link::Ethernet, place(udp.payload()) + 8, named("vxlan", network(udp.payload()))))
        }
        Some(TransportSlice::Udp(udp)) if udp.destination_port() == 6081 => {
            let header = udp.payload();
            let len = 8 + 4 * usize::from(header.first()? & 0x3f);
            let carried = u16::from_be_bytes([*header.get(2)?, *header.get(3)?]);
            (carried == BRIDGED).then(|| (Link::Ethernet, place(header) + len, named("geneve", network(header))))
        }
        None if protocol == GRE => {
            gre(behind_ip).map(|(link, len, name)| (link, place(behind_ip) + len, named(name, None)))
        }
        _ => None,
    }
}

/// What GRE carries, behind how many bytes; switches mirror frames in its ERSPAN.
fn gre(header: &[u8]) -> Option<(Link, usize, &'static str)> {
    let &[flags, _, high, low] = header.first_chunk()?;
    let has = |bit: u8| usize::from(flags & bit != 0);
    let len = 4 + 4 * (has(0x80) + has(0x20) + has(0x10));
    match u16::from_be_bytes([high, low]) {
        IPV4 | IPV6 => Some((Link::RawIp, len, "gre")),
        BRIDGED => Some((Link::Ethernet, len, "gre")),
        0x88be => Some((Link::Ethernet, len + 8 * has(0x10), "erspan")),
        0x22eb => Some((Link::Ethernet, len + 12 + 8 * usize::from(header.get(len + 11)? & 1), "erspan")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3032: label 20 bits, class 3, bottom of stack 1, time to live 8.
    #[test]
    fn labels_are_taken_off_until_the_bottom_of_their_stack() {
        let frame = |stack: &[u8], packet: u8| [&[2; 12][..], &[0x88, 0x47], stack, &[packet, 9, 9, 9]].concat();
        let labels = [0, 0x06, 0x4a, 63, 0xff, 0xff, 0xfd, 64];
        for (version, ether_type) in [(0x45, [0x08, 0x00]), (0x60, [0x86, 0xdd]), (0x00, [0x88, 0x47])] {
            let bytes = frame(&labels, version);
            let inner = strip(Link::Ethernet, &bytes);
            assert_eq!(inner.frame[..], [&[2; 12][..], &ether_type, &[version, 9, 9, 9]].concat());
            assert_eq!(inner.place(14), 22);
            let mut told = Object::new();
            inner.tell(&mut told);
            let outer = json!({ "label": 100, "class": 5, "ttl": 63 });
            assert_eq!(told["mpls"], json!([outer, { "label": 0xf_ffff, "class": 6, "ttl": 64 }]));
        }
        let whole = frame(&labels, 0x45);
        assert_eq!(strip(Link::Ethernet, &whole[..18]).frame[..], whole[..18], "a stack without a bottom");
    }

    /// VXLAN in UDP that ends with its own header, or within the next one.
    #[test]
    fn a_tunnel_that_was_cut_off_has_no_frame_in_it() {
        let ip = [0x45, 0, 0, 78, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let udp = [0, 1, 0x12, 0xb5, 0, 58, 0, 0];
        let bytes = [&[2; 12][..], &[8, 0], &ip, &udp, &[8, 0, 0, 0, 0, 0, 5, 0], &[3; 50]].concat();
        for len in 0..bytes.len() {
            let inner = strip(Link::Ethernet, &bytes[..len]);
            let at = if len < ETHERNET { None } else { Some(if len < 50 + ETHERNET { 0 } else { 50 }) };
            assert_eq!(inner.ethernet, at, "{len}");
        }
    }
}
