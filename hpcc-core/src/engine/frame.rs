// SPDX-License-Identifier: MIT OR Apache-2.0
//! A frame in the simulation: a plain record, with its telemetry section in the arena beside it.

use super::paths::{KNOWN, Ports, UNKNOWN};
use crate::address::host_address;
use crate::frame::{INITIAL_HOP_LIMIT, PacketKind};
use crate::simulated_frame::SimulatedFrame;
use crate::switch::{Arriving, Departing, FlowKey, Head, TrimConfig};
use crate::transport::Trimmed;
use crate::units::Nanos;
use crate::wire::FrameSizes;
use core::mem::offset_of;

/// Bytes of a bitmap behind an acknowledgement's telemetry.
pub(super) const BITMAP: usize = size_of::<u64>();

/// What frames of one kind alone say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Detail {
    /// Nothing; PFC: a resume.
    #[default]
    None,
    /// PFC: a pause.
    Pause,
    /// A packet whose payload a switch has cut, or the negative acknowledgement that answers it.
    Trimmed {
        /// That switch was the last one before the host.
        at_last_hop: bool,
    },
    /// Acknowledgement: a bitmap stands behind its telemetry, which begins with the packet `payload` bytes from `seq`.
    Bitmap,
    /// Acknowledgement: an attacker has made it up.
    Forged,
    /// PFC: none, but credits of the link, as many as the payload.
    Credits,
    /// CNP: a switch sends it for a reason of its own, and not because of a mark.
    BySwitch,
}

const _: () = assert!(size_of::<Detail>() == 1);

/// A frame. What switches look at fills the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    /// When it arrives at the end of its link, or came to the present node.
    pub(super) at: u64,
    /// The ports by which it leaves switches, as far as they are known.
    pub(super) ports: Ports,
    /// First byte of the payload; of an acknowledgement the first byte still expected.
    pub seq: u64,
    /// Bytes on the link, telemetry included.
    pub size: u32,
    /// Payload bytes; of a negative acknowledgement the bytes from `seq` to the packet that arrived in its place, or 0.
    pub(super) payload: u32,
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// Queue pair that it is for, at its destination.
    pub queue_pair: u32,
    /// Queue pair that an answer is for.
    pub reply_queue_pair: u32,
    // What is written where a frame arrives stands apart from what is read at once: a wider read would have to wait.
    /// Port by which it came to the present node.
    pub(super) ingress: u16,
    /// Length of the telemetry section.
    pub telemetry_len: u16,
    /// UDP source port.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// What it is for.
    pub kind: PacketKind,
    /// Priority group, 0 (highest) to 7.
    pub priority: u8,
    /// IPv4 time to live or IPv6 hop limit.
    pub hop_limit: u8,
    /// How many switches it has come to.
    pub(super) passed: u8,
    /// ECN: congestion experienced.
    pub congestion_marked: bool,
    /// Acknowledgement: the data frame was marked.
    pub congestion_echo: bool,
    /// Data: the receiver is to acknowledge it at once.
    pub ack_requested: bool,
    /// What frames of its kind alone say.
    pub detail: Detail,
    /// Bytes of the flow.
    pub flow_bytes: u64,
    /// Packets before the flow's first one on its queue pair.
    pub earlier_packets: u32,
    /// RDMA WRITEs before it.
    pub earlier_writes: u32,
}

/// Where answers go that no queue pair takes.
pub(super) const STACK: u32 = u32::MAX;

const _: () = assert!(offset_of!(Frame, flow_bytes) == 64);

impl Default for Frame {
    fn default() -> Self {
        Frame {
            at: 0,
            ports: [UNKNOWN; KNOWN],
            seq: 0,
            size: 0,
            payload: 0,
            src: 0,
            dst: 0,
            queue_pair: 0,
            reply_queue_pair: 0,
            sport: 0,
            dport: 0,
            ingress: 0,
            telemetry_len: 0,
            kind: PacketKind::Data,
            priority: 0,
            hop_limit: INITIAL_HOP_LIMIT,
            passed: 0,
            congestion_marked: false,
            congestion_echo: false,
            ack_requested: false,
            detail: Detail::None,
            flow_bytes: 0,
            earlier_packets: 0,
            earlier_writes: 0,
        }
    }
}

impl Frame {
    /// Bytes of payload.
    #[inline]
    pub fn payload(&self) -> u32 {
        if matches!(self.kind, PacketKind::Nack | PacketKind::Ack) { 0 } else { self.payload }
    }

    /// Negative acknowledgement: the packet that arrived in the place of byte `seq`, by its first byte, if the receiver tells.
    #[inline]
    pub fn selective(&self) -> Option<u64> {
        (self.kind == PacketKind::Nack && self.detail == Detail::None && self.payload > 0)
            .then(|| self.seq + u64::from(self.payload))
    }

    /// The receiver tells which packet arrived, up to 4 GiB ahead.
    #[inline]
    pub(super) fn set_selective(&mut self, arrived: Option<u64>) {
        self.payload = arrived.and_then(|arrived| u32::try_from(arrived - self.seq).ok()).unwrap_or(0);
    }

    /// Negative acknowledgement: the packet without payload that it answers.
    #[inline]
    pub fn trimmed(&self) -> Option<Trimmed> {
        let Detail::Trimmed { at_last_hop } = self.detail else { return None };
        let trimmed = || Trimmed { seq: self.seq + u64::from(self.payload), at_last_hop };
        (self.kind == PacketKind::Nack).then(trimmed)
    }

    /// Acknowledgement with a bitmap: the first byte of its first packet.
    #[inline]
    pub fn sacked(&self) -> Option<u64> {
        (self.detail == Detail::Bitmap).then(|| self.seq + u64::from(self.payload))
    }

    /// It answers such a packet, or none.
    #[inline]
    pub(super) fn set_trimmed(&mut self, trimmed: Option<Trimmed>) {
        self.detail = Detail::None;
        if let Some(Trimmed { seq, at_last_hop }) = trimmed {
            self.set_selective(Some(seq));
            self.detail = Detail::Trimmed { at_last_hop };
        }
    }

    /// An attacker has made up this acknowledgement.
    pub(super) fn is_forged(&self) -> bool {
        self.detail == Detail::Forged
    }

    /// A switch cuts off the payload, and its telemetry as far as it is configured.
    pub(super) fn trim(&mut self, trimming: &TrimConfig, sizes: &FrameSizes, at_last_hop: bool) {
        let payload = self.payload.next_multiple_of(sizes.alignment);
        (self.size, self.telemetry_len) = trimming.cut(self.size, payload, self.telemetry_len);
        (self.kind, self.priority, self.detail) =
            (PacketKind::Trimmed, trimming.queue, Detail::Trimmed { at_last_hop });
    }

    /// What ECMP hashes.
    #[inline]
    pub fn key(&self) -> FlowKey {
        let (src_address, dst_address) = (host_address(self.src), host_address(self.dst));
        FlowKey { src_address, dst_address, sport: self.sport, dport: self.dport }
    }

    /// What routing looks at.
    pub(super) fn arriving(&self) -> Arriving {
        Arriving {
            dst: self.dst,
            key: self.key(),
            hop_limit: self.hop_limit,
            priority: self.priority,
            is_data: self.collects(),
        }
    }

    /// The priority for which switches keep its memory: headers are counted apart, in whichever queue they wait.
    #[inline]
    pub(super) fn account(&self) -> u8 {
        if self.kind == PacketKind::Trimmed { 0 } else { self.priority }
    }

    /// Whether switches stamp their telemetry into it.
    #[inline]
    pub(super) fn collects(&self) -> bool {
        match self.kind {
            PacketKind::Data => !self.is_of_stack(),
            PacketKind::Probe | PacketKind::Trimmed => true,
            PacketKind::Ack
            | PacketKind::Nack
            | PacketKind::Pfc
            | PacketKind::Feedback
            | PacketKind::Cnp
            | PacketKind::FastCnp
            | PacketKind::Icmpv6 => false,
        }
    }

    /// Whether it is a packet of a host's stack, or a probe of its flows or the answer, which the engine carries and does not read.
    #[inline]
    pub fn is_of_stack(&self) -> bool {
        self.reply_queue_pair == STACK
    }

    /// What it is on the wire, where it goes over IPv4 from and to no MAC address, and packets of its flow have one byte.
    pub fn on_wire(&self) -> SimulatedFrame {
        SimulatedFrame {
            kind: self.kind,
            src_mac: [0; 6],
            dst_mac: [0; 6],
            ipv6: false,
            src: host_address(self.src),
            dst: host_address(self.dst),
            sport: self.sport,
            priority: self.priority,
            hop_limit: self.hop_limit,
            congestion_marked: self.congestion_marked,
            congestion_echo: self.congestion_echo,
            queue_pair: self.queue_pair,
            seq: self.seq,
            flow_bytes: self.flow_bytes,
            earlier_packets: self.earlier_packets,
            earlier_writes: self.earlier_writes,
            mtu: 1,
            payload: self.payload(),
            size: self.size,
            ack_requested: self.ack_requested,
            selective: self.selective(),
            trimmed: self.trimmed(),
            sacked: self.sacked(),
            pause: self.detail == Detail::Pause,
            cnp_dscp: None,
        }
    }

    /// Whether a sender would have heard of a mark by it: it has one, or answers such a packet.
    pub(super) fn tells_mark(&self) -> bool {
        match self.kind {
            PacketKind::Data | PacketKind::Trimmed => self.congestion_marked && !self.is_of_stack(),
            PacketKind::Ack | PacketKind::Nack => self.congestion_echo,
            PacketKind::Cnp => self.detail != Detail::BySwitch,
            PacketKind::Probe | PacketKind::Pfc | PacketKind::Feedback | PacketKind::FastCnp | PacketKind::Icmpv6 => {
                false
            }
        }
    }

    /// Its section has so many bytes now.
    #[inline]
    pub(super) fn set_telemetry_len(&mut self, len: usize) {
        self.size = self.size + len as u32 - u32::from(self.telemetry_len);
        self.telemetry_len = len as u16;
    }

    /// The port by which it leaves the switch that it comes to, if that is known.
    #[inline]
    pub(super) fn next_port(&self) -> Option<u16> {
        self.ports.get(usize::from(self.passed)).copied().filter(|&port| port != UNKNOWN).map(u16::from)
    }

    /// Bytes on the link that only telemetry needs.
    pub(super) fn telemetry_cost(&self) -> u64 {
        match self.kind {
            PacketKind::Probe | PacketKind::Feedback => self.size.into(),
            PacketKind::Ack if self.detail == Detail::Bitmap => {
                u64::from(self.telemetry_len).saturating_sub(BITMAP as u64)
            }
            PacketKind::Data | PacketKind::Trimmed | PacketKind::Ack | PacketKind::Nack => self.telemetry_len.into(),
            PacketKind::Pfc | PacketKind::Cnp | PacketKind::FastCnp | PacketKind::Icmpv6 => 0,
        }
    }
}

/// A frame that leaves a switch's queue, in which so many bytes stay.
pub(super) struct Leaving<'a> {
    pub frame: &'a Frame,
    pub behind: u32,
}

impl Departing for Leaving<'_> {
    #[inline]
    fn head(&self) -> Head {
        let frame = self.frame;
        Head {
            ingress: frame.ingress,
            priority: frame.account(),
            is_data: frame.collects(),
            is_trimmed: frame.kind == PacketKind::Trimmed,
            size: frame.size,
            queue: self.behind.into(),
            arrived: Nanos(frame.at),
            hop_limit: frame.hop_limit,
        }
    }
}
