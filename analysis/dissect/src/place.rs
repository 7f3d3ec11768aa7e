// SPDX-License-Identifier: GPL-2.0-only
//! Where telemetry stands behind UDP: where the DSCP has a mark, where the user says so, or where INT-MD proves to be.

use crate::{foreign, telemetry};
use etherparse::{LaxNetSlice, TransportSlice};
use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{
    Dialect, Encapsulation, INT_MARK, MARK_BITS, ParseError, RoceFrame, RocePacket, Section, SectionLen, TELEMETRY_MARK,
};
use hpcc_core::telemetry::Layout;
use std::str::FromStr;

/// Packets that have telemetry behind UDP though nothing of ours announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Those to RoCEv2's port with this DSCP, 0 to 63.
    Dscp(u8),
    /// Those to this UDP port.
    Port(u16),
}

impl FromStr for At {
    type Err = String;

    /// `dscp=24` or `port=5000`.
    fn from_str(text: &str) -> Result<At, String> {
        let at = match text.split_once('=') {
            Some(("dscp", number)) => number.parse().ok().filter(|dscp| *dscp < 64).map(At::Dscp),
            Some(("port", number)) => number.parse().ok().map(At::Port),
            _ => None,
        };
        at.ok_or_else(|| "expected dscp=N, 0 to 63, or port=N, 0 to 65535".into())
    }
}

/// What stands where.
pub struct Places {
    /// What packets have whose DSCP has the mark of our telemetry.
    pub marked: Layout,
    /// What others have.
    pub asked: Option<(At, Layout)>,
}

type Read<'a> = Result<Content<'a>, ParseError>;

/// Reads a frame in which nothing stands behind UDP but RoCEv2.
pub fn plain(bytes: &[u8]) -> Read<'_> {
    read(bytes, &[], &[])
}

fn read<'a>(bytes: &'a [u8], marks: &[(u8, SectionLen)], ports: &[(u16, SectionLen)]) -> Read<'a> {
    parse(bytes, &Dialect { marks, ports, ..Dialect::default() }).map(|parsed| parsed.content)
}

impl Places {
    /// Reads a frame. Others have the DSCPs that mark our telemetry, too: it is there if the ICRC, or else its own header,
    /// says so. Of a frame that was cut the ICRC says nothing.
    pub fn read<'a>(&self, bytes: &'a [u8], cut: bool) -> Read<'a> {
        let plain = plain(bytes);
        let is_right = |read: &Read<'_>| !cut && packet_of(read, |packet| packet.verdict().is_some());
        if is_right(&plain) {
            return plain;
        }
        let Some(behind) = Behind::of(bytes) else { return plain };
        let mark = self.mark(&behind);
        let port = self.port(&behind);
        let marked = read(bytes, mark.as_slice(), port.as_slice());
        if !matches!(plain, Ok(Content::Roce(_))) {
            return marked;
        }
        let is_int = port.map(|(_, len)| len).or(mark.map(|(_, len)| len)) == Some(SectionLen::IntMd);
        let is_known = |read: &Read<'_>| packet_of(read, |packet| packet.frame.bth.opcode.is_assigned());
        let is_telemetry = if is_int {
            telemetry::begins_as_int(behind.bytes)
        } else {
            marked.is_ok() && (is_known(&marked) || !is_known(&plain))
        };
        if is_right(&marked) || is_telemetry { marked } else { plain }
    }

    /// The mark that the DSCP of a packet then is, and the length of what it announces.
    fn mark(&self, behind: &Behind<'_>) -> Option<(u8, SectionLen)> {
        let mark = behind.dscp & MARK_BITS;
        let asked = self.asked_at(At::Dscp(behind.dscp)).map(|layout| layout.section_len());
        let len = match mark {
            // Who says where it stands is right, whatever it looks like.
            _ if asked.is_some() => asked,
            _ if telemetry::is_int(behind.bytes) => Some(SectionLen::IntMd),
            TELEMETRY_MARK => Some(self.marked.section_len()),
            INT_MARK => Some(SectionLen::IntMd),
            _ => None,
        };
        len.map(|len| (mark, len))
    }

    fn port(&self, behind: &Behind<'_>) -> Option<(u16, SectionLen)> {
        self.asked_at(At::Port(behind.port)).map(|layout| (behind.port, layout.section_len()))
    }

    fn asked_at(&self, at: At) -> Option<&Layout> {
        self.asked.as_ref().filter(|(asked, _)| *asked == at).map(|(_, layout)| layout)
    }

    /// The layout of a section behind UDP whose bytes do not say it.
    pub fn layout(&self, sent: &RoceFrame<'_>, section: &Section<'_>) -> Option<&Layout> {
        let is_int = || telemetry::is_int(section.behind_udp());
        let layout = match section.encapsulation() {
            Encapsulation::BehindUdp { port } => self.asked_at(At::Port(port)),
            Encapsulation::Marked { mark } => {
                let ours = || (mark == TELEMETRY_MARK && !is_int()).then_some(&self.marked);
                self.asked_at(At::Dscp(sent.dscp | mark)).or_else(ours)
            }
            Encapsulation::HopByHop | Encapsulation::Ifa { .. } | Encapsulation::Tag { .. } => None,
        };
        layout.filter(|layout| layout.section_len() != SectionLen::IntMd)
    }
}

fn packet_of(read: &Read<'_>, is: impl Fn(&RocePacket<'_>) -> bool) -> bool {
    matches!(read, Ok(Content::Roce(packet)) if is(packet))
}

/// What stands behind the UDP header of a packet.
struct Behind<'a> {
    dscp: u8,
    port: u16,
    bytes: &'a [u8],
}

impl Behind<'_> {
    fn of(bytes: &[u8]) -> Option<Behind<'_>> {
        let (_, sliced) = foreign::sliced(bytes);
        let sliced = sliced?;
        let Some(TransportSlice::Udp(udp)) = sliced.transport else { return None };
        let dscp = match sliced.net? {
            LaxNetSlice::Ipv4(ip) => ip.header().dcp().value(),
            LaxNetSlice::Ipv6(ip) => ip.header().traffic_class() >> 2,
            LaxNetSlice::Arp(_) => return None,
        };
        Some(Behind { dscp, port: udp.destination_port(), bytes: udp.payload() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Dissector, Object};
    use hpcc_core::telemetry::Form;
    use serde_json::json;

    /// P4 INT v2.1 with the DSCP 26 in its shim and the node ids of two hops.
    const INT: [u8; 24] = [0x10, 5, 0, 26 << 2, 0x20, 0, 1, 6, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1];
    /// One hop of 100 Gb/s (code 4), 7 units of 80 bytes queued, in the paper's layout, switch 0x0a1.
    const PAPER: [u8; 10] = [0x10, 0xa1, 0x40, 0, 0, 0, 0, 0, 0, 7];
    /// A SEND of 4 bytes, and an ICRC that nobody computed.
    const SEND: [u8; 20] = [4, 0, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 1, 2, 3, 4, 9, 9, 9, 9];

    fn packet(dscp: u8, port: u16, telemetry: &[u8]) -> Vec<u8> {
        let behind = [telemetry, &SEND].concat();
        let udp = (8 + behind.len() as u16).to_be_bytes();
        let [high, low] = (28 + behind.len() as u16).to_be_bytes();
        let mut ip = [0x45, dscp << 2, high, low, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        let sum = !((sum >> 16) + (sum & 0xffff)) as u16;
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        [&[2; 12][..], &[8, 0], &ip, &[0xc3, 0x50], &port.to_be_bytes(), &udp, &[0, 0], &behind].concat()
    }

    fn told(asked: Option<(At, &str)>, bytes: Vec<u8>) -> Object {
        let asked = asked.map(|(at, name)| (at, Layout::named(name).expect("a layout")));
        Dissector::new(Layout::new(Form::Paper)).asked_for(asked).frame(1, &Captured::alone(bytes))
    }

    #[test]
    fn int_is_read_at_any_dscp_and_no_dscp_changes() {
        for dscp in 0..64 {
            let told = told(None, packet(dscp, 4_791, &INT));
            let telemetry = &told["telemetry"];
            assert_eq!(
                (&telemetry["hops"][1]["node_id"], &telemetry["original_dscp"]),
                (&json!(2), &json!(26)),
                "{dscp}"
            );
            assert_eq!((&told["ipv4"]["dscp"], &told["bth"]["psn"]), (&json!(dscp), &json!(7)));
        }
    }

    #[test]
    fn telemetry_that_nothing_announces_is_read_where_the_user_says() {
        let queue = |told: &Object| told.get("telemetry").map(|it| it["hpcc"]["hops"][0]["qlen_bytes"].clone());
        for (at, port, dscp) in [(At::Dscp(24), 4_791, 24), (At::Dscp(10), 4_791, 10), (At::Port(5_000), 5_000, 24)] {
            let asked = Some((at, "paper"));
            let read = told(asked, packet(dscp, port, &PAPER));
            assert_eq!((queue(&read), &read["bth"]["psn"]), (Some(json!(560)), &json!(7)), "{at:?}: {read:?}");
            assert_eq!((&read["ipv4"]["dscp"], &read["udp"]["dport"]), (&json!(dscp), &json!(port)));
            assert_eq!(queue(&told(asked, packet(16, 4_791, &PAPER))), None, "another DSCP");
            assert_eq!(queue(&told(asked, packet(25, 4_791, &PAPER))), Some(json!(560)), "a mark of ours");
        }
        // INT-MD that is taken for another format by its user's word; at other places it is recognised.
        let (asked, int) = (Some((At::Dscp(24), "paper")), json!("int-md"));
        let format = |told: &Object| told.get("telemetry").map(|it| it["format"].clone());
        assert_ne!(format(&told(asked, packet(24, 4_791, &INT))), Some(int.clone()));
        assert_eq!(format(&told(asked, packet(16, 4_791, &INT))), format(&told(None, packet(24, 4_791, &INT))));
        let plain = told(Some((At::Dscp(24), "int_md")), packet(24, 4_791, &[]));
        assert!(!plain.contains_key("telemetry"), "an acknowledgement has none: {plain:?}");
    }

    #[test]
    fn places_are_written_as_the_help_says() {
        assert_eq!("dscp=24".parse(), Ok(At::Dscp(24)));
        assert_eq!("port=65535".parse(), Ok(At::Port(65_535)));
        for wrong in ["dscp=64", "dscp=-1", "port=65536", "dscp", "24", "vlan=3", "dscp=0x18", ""] {
            assert!(wrong.parse::<At>().is_err_and(|told| told.contains("dscp=N")), "{wrong}");
        }
    }
}
