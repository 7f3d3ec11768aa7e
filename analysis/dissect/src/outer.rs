// SPDX-License-Identifier: GPL-2.0-only
//! What a capture has around a frame: link types other than Ethernet, VLAN tags, and tunnels.

use crate::layers::Object;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
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
    pub shift: isize,
    /// Where its Ethernet header stood, if it had one.
    pub ethernet: Option<usize>,
    /// Tag control information, the outermost first.
    tags: Vec<u16>,
    tunnels: Vec<Value>,
}

const ETHERNET: usize = 14;
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Ethernet in a tunnel.
const BRIDGED: u16 = 0x6558;
const GRE: u8 = 47;
/// Tunnels within each other at most.
const DEPTH: usize = 4;

/// Takes off what is around a frame, as far as it is known.
pub fn strip(link: Link, bytes: &[u8]) -> Inner<'_> {
    let mut inner =
        Inner { frame: Cow::Borrowed(bytes), shift: 0, ethernet: None, tags: Vec::new(), tunnels: Vec::new() };
    let Some((mut kind, mut at)) = inner.at(link, bytes, 0) else { return inner };
    for _ in 0..DEPTH {
        let Some((link, behind, tunnel)) = tunnel(kind, bytes, at) else { break };
        inner.tags.clear();
        let Some((inner_kind, inner_at)) = inner.at(link, bytes, behind) else { break };
        (kind, at) = (inner_kind, inner_at);
        inner.tunnels.push(tunnel);
    }
    inner.shift = at as isize - ETHERNET as isize;
    if inner.ethernet != Some(0) || inner.shift != 0 {
        let macs = inner.ethernet.and_then(|at| bytes.get(at..at + 12)).unwrap_or(&[0; 12]);
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
                self.ethernet = Some(at);
                (word(at + 12)?, at + ETHERNET)
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
        (at <= bytes.len()).then_some((kind, at))
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
    }
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
