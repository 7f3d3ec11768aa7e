// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame on the wire that a simulated frame stands for.
//!
//! | the simulation's | on the wire |
//! | --- | --- |
//! | flow | RDMA WRITEs of at most 1 GiB ([`message`]), to address 0 on |
//! | sequence number of a packet | PSN: that number divided by the flow's packet size |
//! | queue pair | the number 2 above, 24 bits of it: 0 and 1 are for InfiniBand's management |
//! | acknowledgement of all bytes before one | PSN of the packet that ends there; a negative one names the next |
//! | telemetry sent back | payload of the acknowledgement, as it arrived: switches on the way back do not touch it |
//! | packet that arrived out of order (selective repeat) | 4 bytes behind that: its PSN |
//! | packets that arrived out of order (SACK) | 8 bytes behind telemetry, a bit for each of 64 packets, and the PSN of the first |
//! | packet without payload | the data packet's headers and telemetry, in the class of priority 0 |
//! | its negative acknowledgement | the same 4 bytes, bit 31 set, and bit 30 if the last switch has cut it |
//! | congestion echo | BECN of the acknowledgement |
//! | probe | opcode 0xc0, one of a manufacturer's own, and no payload: the network sees a data packet |
//! | feedback that is no acknowledgement | opcode 0xc1; telemetry as its payload |
//! | seal of an answer | behind telemetry; of a CNP in its reserved bytes |
//! | notification of congestion | DSCP 48 unless set, and not ECN-capable; a switch's with destination options |
//! | ICMPv6 | the packet as its sender wrote it, but for the hop limit |
//! | priority of all others | DSCP, times 8 (class selectors) |
//! | pause, resume | the longest pause, a pause of 0 |

use crate::address::ipv6;
use crate::fast_cnp::packet;
use crate::frame::build;
use crate::frame::{Addresses, Encapsulation, Extension, PacketKind, RoceFrame, Section, Unbuildable};
use crate::pfc::{MAX_QUANTA, Pfc};
use crate::roce::icrc::Coverage;
use crate::roce::{Aeth, Bth, CNP_RESERVED, NakCode, Opcode, Reth, Syndrome};
use crate::transport::Trimmed;
use crate::transport::message::{self, Place};
use alloc::vec::Vec;
use etherparse::{EtherType, Ethernet2Header};

/// Bytes of an Ethernet header.
pub const ETHERNET: usize = Ethernet2Header::LEN;
/// ECN field of what may be marked, and of what was.
const ECT_0: u8 = 2;
const CE: u8 = 3;
/// The first queue pair that is not for management.
const FIRST_QUEUE_PAIR: u32 = 2;
/// A simulated frame. Fields that its kind does not have may be anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedFrame {
    /// What it is for.
    pub kind: PacketKind,
    /// Ethernet source.
    pub src_mac: [u8; 6],
    /// Ethernet destination.
    pub dst_mac: [u8; 6],
    /// Whether over IPv6.
    pub ipv6: bool,
    /// IPv4 source; over IPv6 the last 4 bytes.
    pub src: u32,
    /// Destination, likewise.
    pub dst: u32,
    /// UDP source port.
    pub sport: u16,
    /// Priority group, 0 to 7; of PFC: the one that is paused or resumed.
    pub priority: u8,
    /// Time to live or hop limit.
    pub hop_limit: u8,
    /// Whether a switch marked it.
    pub congestion_marked: bool,
    /// Whether the packet that an acknowledgement is for was marked.
    pub congestion_echo: bool,
    /// Queue pair at the destination.
    pub queue_pair: u32,
    /// First byte of the payload, or the first that the receiver still expects.
    pub seq: u64,
    /// Bytes of the flow.
    pub flow_bytes: u64,
    /// Packets before the flow's first one on its queue pair; 0 if the flow has it to itself.
    pub earlier_packets: u32,
    /// RDMA WRITEs before the flow's first one, likewise.
    pub earlier_writes: u32,
    /// Most payload bytes of the flow's packets; at least 1.
    pub mtu: u32,
    /// Data: payload bytes. PFC: quanta of a pause; 0: the most.
    pub payload: u32,
    /// A packet that was cut: bytes on the link, by which it is known how much of the payload is left.
    pub size: u32,
    /// Data: whether the receiver is to acknowledge it at once.
    pub ack_requested: bool,
    /// Negative acknowledgement under selective repeat: first byte of the packet that arrived.
    pub selective: Option<u64>,
    /// Negative acknowledgement: the packet without payload that it answers.
    pub trimmed: Option<Trimmed>,
    /// Acknowledgement with a bitmap, at the end of its section: the first byte of its first packet.
    pub sacked: Option<u64>,
    /// PFC: pause or resume.
    pub pause: bool,
    /// CNP of a receiver: its DSCP; `None`: that of its priority.
    pub cnp_dscp: Option<u8>,
}

/// The Ethernet check sequence, which links carry and captures leave out.
const FCS: u32 = 4;

impl SimulatedFrame {
    /// The frame's bytes. Its telemetry, which travels as `encapsulation` says, or back as payload, is `section`.
    ///
    /// # Errors
    /// [`Unbuildable`], which a simulated network's own frames are not.
    pub fn bytes(&self, encapsulation: Option<Encapsulation>, section: &[u8]) -> Result<Vec<u8>, Unbuildable> {
        match self.kind {
            PacketKind::Data | PacketKind::Trimmed => {
                let encapsulation = encapsulation.filter(|_| !section.is_empty());
                let telemetry = encapsulation.map(|encapsulation| Section::new(encapsulation, section)).transpose()?;
                self.data(telemetry)
            }
            PacketKind::Ack => {
                let first = self.sacked.map(|seq| self.psn(seq).to_be_bytes());
                let payload = [section, first.as_ref().map_or(&[][..], |psn| psn)].concat();
                self.answer(Syndrome::ACK, self.last_psn(), &payload)
            }
            PacketKind::Nack => {
                let arrived = self.selective.map(|seq| self.psn(seq));
                let named = self.trimmed.map(|cut| 1 << 31 | u32::from(cut.at_last_hop) << 30 | self.psn(cut.seq));
                let named = arrived.or(named).map(u32::to_be_bytes);
                let payload = [section, named.as_ref().map_or(&[][..], |word| word)].concat();
                self.answer(Syndrome::Nak(NakCode::SequenceError), self.psn(self.seq), &payload)
            }
            PacketKind::Probe => {
                let telemetry = encapsulation.map(|encapsulation| Section::new(encapsulation, section)).transpose()?;
                let frame = RoceFrame { telemetry, bth: self.bth(Opcode::PROBE), ..self.envelope() };
                build::roce(&frame, Coverage::default())
            }
            PacketKind::Feedback => {
                let frame = RoceFrame { bth: self.bth(Opcode::FEEDBACK), payload: section, ..self.envelope() };
                build::roce(&frame, Coverage::default())
            }
            PacketKind::Cnp => {
                let mut reserved = [0; CNP_RESERVED];
                reserved.iter_mut().zip(section).for_each(|(place, &byte)| *place = byte);
                build::roce(&RoceFrame { payload: &reserved, ..self.notification() }, Coverage::default())
            }
            PacketKind::FastCnp => {
                build::roce(&RoceFrame { destination_options: section, ..self.notification() }, Coverage::default())
            }
            PacketKind::Pfc => Ok(self.pfc()),
            PacketKind::Icmpv6 => Ok(self.icmpv6(section)),
        }
    }

    fn notification(&self) -> RoceFrame<'static> {
        let envelope = self.envelope();
        let (bth, udp_checksum) = (Bth::cnp(self.dest_qp()), envelope.udp_checksum);
        let usual = packet::notification(&envelope);
        let has_class = self.kind == PacketKind::Cnp && self.priority > 0;
        let of_class = if has_class { envelope.dscp } else { usual.dscp };
        let dscp = self.cnp_dscp.filter(|_| self.kind == PacketKind::Cnp).unwrap_or(of_class);
        RoceFrame { bth, udp_checksum, dscp, ..usual }
    }

    fn pfc(&self) -> Vec<u8> {
        let quanta = u16::try_from(self.payload).ok().filter(|&quanta| quanta > 0).unwrap_or(MAX_QUANTA);
        build::pfc(self.src_mac, &Pfc::of(self.priority, if self.pause { quanta } else { 0 }))
    }

    /// `packet` left its source with another hop limit.
    fn icmpv6(&self, packet: &[u8]) -> Vec<u8> {
        const HOP_LIMIT: usize = ETHERNET + 7;
        let ether_type = EtherType::IPV6;
        let ethernet = Ethernet2Header { source: self.src_mac, destination: self.dst_mac, ether_type };
        let mut bytes = [&ethernet.to_bytes()[..], packet].concat();
        if let Some(byte) = bytes.get_mut(HOP_LIMIT) {
            *byte = self.hop_limit;
        }
        bytes
    }

    fn data(&self, telemetry: Option<Section<'_>>) -> Result<Vec<u8>, Unbuildable> {
        let offset = self.offset();
        let place = Place::of(offset, self.payload, self.flow_bytes, self.mtu.max(1));
        let opcode = match (place.first, place.last) {
            (true, true) => Opcode::WRITE_ONLY,
            (true, false) => Opcode::WRITE_FIRST,
            (false, false) => Opcode::WRITE_MIDDLE,
            (false, true) => Opcode::WRITE_LAST,
        };
        let reth = Reth { address: offset, rkey: 0, length: place.length };
        let bth = Bth {
            opcode,
            dest_qp: self.dest_qp(),
            ack_requested: self.ack_requested || place.last,
            psn: self.psn(self.seq),
            ..Bth::default()
        };
        let extension = if place.first { Extension::Reth(reth) } else { Extension::None };
        let frame = |zeros| RoceFrame { telemetry, bth, extension, zeros, ..self.envelope() };
        if self.kind == PacketKind::Data {
            return build::roce(&frame(self.payload), Coverage::default());
        }
        let headers = build::roce(&frame(0), Coverage::default())?;
        match self.size.saturating_sub(headers.len() as u32 + FCS) / 4 * 4 {
            0 => Ok(headers),
            left => build::roce(&frame(left.min(self.payload)), Coverage::default()),
        }
    }

    fn answer(&self, syndrome: Syndrome, psn: u32, payload: &[u8]) -> Result<Vec<u8>, Unbuildable> {
        let bth = Bth {
            opcode: Opcode::ACKNOWLEDGE,
            becn: self.congestion_echo,
            dest_qp: self.dest_qp(),
            psn,
            ..Bth::default()
        };
        let completed = message::completed(self.offset(), self.flow_bytes, self.mtu.max(1)) as u32;
        let msn = self.earlier_writes.wrapping_add(completed);
        let extension = Extension::Aeth(Aeth { syndrome, msn });
        build::roce(&RoceFrame { bth, extension, payload, ..self.envelope() }, Coverage::default())
    }

    /// Of a packet beside the flow's own: its PSN is that of the next data packet, and takes no number away from it.
    fn bth(&self, opcode: Opcode) -> Bth {
        Bth { opcode, dest_qp: self.dest_qp(), psn: self.next_psn(), ..Bth::default() }
    }

    /// Addresses and what else does not depend on what the frame is for.
    fn envelope(&self) -> RoceFrame<'static> {
        RoceFrame {
            src_mac: self.src_mac,
            dst_mac: self.dst_mac,
            addresses: if self.ipv6 {
                Addresses::V6 { src: ipv6(self.src), dst: ipv6(self.dst) }
            } else {
                Addresses::V4 { src: self.src.to_be_bytes(), dst: self.dst.to_be_bytes() }
            },
            dscp: dscp(self.priority),
            ecn: if self.congestion_marked { CE } else { ECT_0 },
            hop_limit: self.hop_limit,
            identification: 0,
            sport: self.sport,
            udp_checksum: self.ipv6,
            telemetry: None,
            destination_options: &[],
            bth: Bth::default(),
            extension: Extension::None,
            payload: &[],
            zeros: 0,
        }
    }

    /// The sequence number as an offset in the flow.
    fn offset(&self) -> u64 {
        self.seq.saturating_sub(u64::from(self.earlier_packets) * u64::from(self.mtu))
    }

    /// The queue pair's number; BTH keeps 24 bits of it.
    fn dest_qp(&self) -> u32 {
        wire_queue_pair(self.queue_pair)
    }

    /// The number of the packet that begins with a byte; BTH keeps 24 bits of it.
    fn psn(&self, seq: u64) -> u32 {
        (seq / u64::from(self.mtu.max(1))) as u32 & 0xff_ffff
    }

    /// The number of the packet that begins at `seq` or, behind a short last one, would come next.
    fn next_psn(&self) -> u32 {
        self.seq.div_ceil(u64::from(self.mtu.max(1))) as u32 & 0xff_ffff
    }

    /// The number of the packet that ends before `seq`.
    fn last_psn(&self) -> u32 {
        self.psn(self.seq.saturating_sub(1))
    }
}

/// The differentiated services of a priority: its class selector.
pub fn dscp(priority: u8) -> u8 {
    (priority & 7) << 3
}

/// The number on the wire of a queue pair.
pub fn wire_queue_pair(key: u32) -> u32 {
    key.wrapping_add(FIRST_QUEUE_PAIR) & 0xff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::TELEMETRY_MARK;
    use crate::wire::WireProfile;
    use alloc::vec;

    fn frame(ipv6: bool, seq: u64, kind: PacketKind) -> SimulatedFrame {
        SimulatedFrame {
            kind,
            src_mac: [2, 0, 0, 0, 0, 1],
            dst_mac: [2, 0, 0, 0, 0, 2],
            ipv6,
            src: 0x0b00_0001,
            dst: 0x0b00_0101,
            sport: 10_000,
            priority: 3,
            hop_limit: 64,
            queue_pair: 0x0110_0007,
            seq,
            flow_bytes: 10_001,
            mtu: 1_000,
            payload: 1_000,
            pause: true,
            ..SimulatedFrame::default()
        }
    }

    /// 62 bytes of headers at the least, 16 more of the first packet; payload is left in words of four bytes.
    #[test]
    fn a_packet_that_was_cut_is_as_long_as_the_switch_has_left_it() {
        let length = |seq, size| {
            let cut = SimulatedFrame { size, ..frame(false, seq, PacketKind::Trimmed) };
            cut.bytes(None, &[]).expect("a frame").len() as u32 + FCS
        };
        assert_eq!([64, 66, 256, 1_062].map(|size| length(1_000, size)), [62, 66, 254, 1_062]);
        assert_eq!([78, 256].map(|size| length(0, size)), [78, 254]);
    }

    /// What the simulation counts and what it would send are the same.
    #[test]
    fn frames_have_the_sizes_of_their_profile() {
        let encapsulation = Encapsulation::Marked { mark: TELEMETRY_MARK };
        for (ipv6, profile) in [(false, WireProfile::RoceV4), (true, WireProfile::RoceV6)] {
            let sizes = profile.sizes();
            for section in [&[][..], &[0; 2], &[0; 42], &[0; 1]] {
                let encapsulation = (!section.is_empty()).then_some(encapsulation);
                let telemetry = section.len() as u32;
                for (seq, payload, first) in [(0, 1_000, true), (1_000, 1_000, false), (10_000, 1, false)] {
                    let data = SimulatedFrame { payload, ..frame(ipv6, seq, PacketKind::Data) };
                    let bytes = data.bytes(encapsulation, section).expect("a frame");
                    assert_eq!(bytes.len() + FCS as usize, sizes.data(payload, first, telemetry) as usize);
                }
                let ack = frame(ipv6, 3_000, PacketKind::Ack).bytes(encapsulation, section).expect("a frame");
                assert_eq!(ack.len() + FCS as usize, sizes.ack(telemetry) as usize);
                let nack = SimulatedFrame { selective: Some(5_000), ..frame(ipv6, 3_000, PacketKind::Nack) };
                let nack = nack.bytes(encapsulation, section).expect("a frame");
                assert_eq!(
                    nack.len() + FCS as usize,
                    sizes.ack(telemetry + crate::wire::FrameSizes::SELECTIVE_ACK) as usize
                );
                let trimmed = Some(Trimmed { seq: 5_000, at_last_hop: true });
                let cut = SimulatedFrame { trimmed, ..frame(ipv6, 3_000, PacketKind::Nack) };
                let cut = cut.bytes(encapsulation, section).expect("a frame");
                assert_eq!((cut.len(), &cut[..54]), (nack.len(), &nack[..54]));
                assert!(cut.windows(4).any(|word| word == [0xc0, 0, 0, 5]));
            }
            let pfc = frame(ipv6, 0, PacketKind::Pfc).bytes(None, &[]).expect("a frame");
            assert_eq!(pfc.len() + FCS as usize, sizes.pfc as usize);
        }
    }

    /// What the simulation counts and what it would send are the same. The vectors' UDP checksums are there too; scapy made
    /// the one without options.
    #[test]
    fn req_33_notifications_have_their_sizes_and_bytes() {
        let vector = crate::testing::vector("roce_cnp_ipv6");
        let frame = SimulatedFrame {
            src_mac: vector[6..12].try_into().expect("an address"),
            dst_mac: vector[..6].try_into().expect("an address"),
            queue_pair: 0x102 - FIRST_QUEUE_PAIR,
            ..frame(true, 0, PacketKind::FastCnp)
        };
        let bytes = frame.bytes(None, &[]).expect("a frame");
        assert_eq!(bytes[54 + 8..bytes.len() - 4], vector[54 + 8..vector.len() - 4], "transport header and reserved");
        for options in [&[][..], &crate::testing::vector("fastcnp_opt1")[54..78], &[17, 0, 1, 4, 0, 0, 0, 0]] {
            let bytes = frame.bytes(None, options).expect("a frame");
            assert_eq!(bytes.len() + FCS as usize, WireProfile::RoceV6.sizes().cnp(options.len() as u32) as usize);
            assert_eq!((bytes[14..16].to_vec(), bytes[20]), (vec![0x6c, 0], if options.is_empty() { 17 } else { 60 }));
        }
    }

    #[test]
    fn a_cnp_says_which_class_it_has() {
        let class = |priority| {
            let frame = SimulatedFrame { priority, ..frame(false, 0, PacketKind::Cnp) };
            frame.bytes(None, &[]).expect("a frame")[15]
        };
        assert_eq!([0, 1, 5, 7].map(class), [48 << 2, 8 << 2, 40 << 2, 56 << 2], "a DSCP and Not-ECT");
    }

    #[test]
    fn a_cnps_seal_stands_in_its_reserved_bytes() {
        let cnp = |tag: &[u8]| frame(false, 0, PacketKind::Cnp).bytes(None, tag).expect("a frame");
        let (plain, sealed) = (cnp(&[]), cnp(&[1, 2, 3, 4]));
        let reserved = plain.len() - 4 - CNP_RESERVED;
        assert_eq!((plain.len(), &plain[reserved..reserved + 4]), (sealed.len(), &[0; 4][..]));
        assert_eq!((&plain[..reserved], &sealed[reserved..reserved + 4]), (&sealed[..reserved], &[1, 2, 3, 4][..]));
    }

    #[test]
    fn an_icmpv6_packet_keeps_all_but_its_hop_limit() {
        let packet = crate::fast_cnp::unrecognised::report([1; 16], &crate::testing::vector("fastcnp_opt1")[14..], 42);
        let packet = packet.expect("a report");
        let bytes = SimulatedFrame { hop_limit: 63, ..frame(true, 0, PacketKind::Icmpv6) };
        let bytes = bytes.bytes(None, &packet).expect("a frame");
        assert_eq!(
            (bytes[..6].to_vec(), bytes[12..14].to_vec(), bytes[21]),
            (vec![2, 0, 0, 0, 0, 2], vec![0x86, 0xdd], 63)
        );
        assert_eq!((&bytes[14..21], &bytes[22..]), (&packet[..7], &packet[8..]));
    }

    #[test]
    fn headers_say_what_the_simulation_means() {
        let bth = |frame: SimulatedFrame| {
            let bytes = frame.bytes(None, &[]).expect("a frame");
            Bth::parse(&bytes[42..]).expect("a header").0
        };
        let data = |seq, payload| bth(SimulatedFrame { payload, ..frame(false, seq, PacketKind::Data) });
        let first = data(0, 1_000);
        assert_eq!(
            (first.opcode, first.psn, first.dest_qp, first.ack_requested),
            (Opcode::WRITE_FIRST, 0, 0x10_0009, false)
        );
        assert_eq!((data(1_000, 1_000).opcode, data(1_000, 1_000).psn), (Opcode::WRITE_MIDDLE, 1));
        let last = data(10_000, 1);
        assert_eq!((last.opcode, last.psn, last.pad_count, last.ack_requested), (Opcode::WRITE_LAST, 10, 3, true));
        assert_eq!(bth(frame(false, 3_000, PacketKind::Ack)).psn, 2, "packets 0 to 2 have arrived");
        assert_eq!(bth(frame(false, 10_001, PacketKind::Ack)).psn, 10);
        assert_eq!(bth(frame(false, 3_000, PacketKind::Nack)).psn, 3, "packet 3 is missing");
        let later = |frame| SimulatedFrame { earlier_packets: 3, earlier_writes: 1, flow_bytes: 1_500, ..frame };
        let last = bth(later(SimulatedFrame { payload: 500, ..frame(false, 4_000, PacketKind::Data) }));
        assert_eq!((last.opcode, last.psn), (Opcode::WRITE_LAST, 4), "of a message behind three packets");
        let msn = |frame: SimulatedFrame| {
            let bytes = frame.bytes(None, &[]).expect("a frame");
            u32::from_be_bytes([0, bytes[ETHERNET + 41], bytes[ETHERNET + 42], bytes[ETHERNET + 43]])
        };
        let acks = [4_000, 5_000].map(|seq| msn(later(frame(false, seq, PacketKind::Ack))));
        assert_eq!(acks, [1, 2], "the message before, then both");
        let feedback = |seq| bth(frame(false, seq, PacketKind::Feedback)).psn;
        assert_eq!([3_000, 10_001].map(feedback), [3, 11], "the packet after those that have arrived");
    }

    #[test]
    fn a_cnp_has_the_dscp_that_is_set_or_that_of_its_priority() {
        let dscp = |priority, cnp_dscp| {
            let cnp = SimulatedFrame { priority, cnp_dscp, ..frame(false, 0, PacketKind::Cnp) };
            // Behind the Ethernet header, the second byte of IPv4.
            cnp.bytes(None, &[]).expect("a frame")[ETHERNET + 1] >> 2
        };
        assert_eq!([dscp(0, None), dscp(5, None), dscp(5, Some(46)), dscp(0, Some(46))], [48, 40, 46, 46]);
        let data = SimulatedFrame { cnp_dscp: Some(46), ..frame(false, 0, PacketKind::Data) };
        assert_eq!(data.bytes(None, &[]).expect("a frame")[ETHERNET + 1] >> 2, 24, "of its priority");
    }
}
