// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one form that a frame has on its way: a plain record, with its telemetry section in the arena beside it.

use super::ways::{KNOWN, Ports, UNKNOWN};
use crate::address::host_address;
use crate::frame::{INITIAL_HOP_LIMIT, PacketKind};
use crate::simulated_frame::SimulatedFrame;
use crate::switch::{Departing, FlowKey, Head};
use crate::units::Nanos;
use alloc::vec::Vec;
use core::mem::offset_of;

/// No frame.
pub(super) const NO_FRAME: u32 = u32::MAX;

/// A frame. What switches look at fills the first cache line, what hosts look at the second.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Frame {
    /// The frame behind it in its queue.
    pub(super) next: u32,
    /// The node at which it arrives next, and by which port.
    pub(super) node: u32,
    pub(super) in_port: u16,
    /// Port by which it came into the present switch.
    pub(super) ingress: u16,
    /// Length of the telemetry section.
    pub telemetry_len: u16,
    /// What it is for.
    pub kind: PacketKind,
    /// Priority group, 0 (highest) to 7.
    pub priority: u8,
    /// IPv4 time to live or IPv6 hop limit.
    pub hop_limit: u8,
    /// ECN: congestion experienced.
    pub congestion_marked: bool,
    /// How many switches it has come to.
    pub(super) passed: u8,
    /// Bytes on the link, telemetry included.
    pub size: u32,
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// UDP source port.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Bytes that wait behind it, as a switch tells its core.
    pub(super) behind: u32,
    /// When it came into the present switch.
    pub(super) arrived: u64,
    /// The ports by which it leaves switches, as far as they are known.
    pub(super) ports: Ports,
    /// First byte of the payload; of an acknowledgement the first byte still expected.
    pub seq: u64,
    /// Negative acknowledgement: the packet that arrived in its place, by its first byte.
    pub selective: Option<u64>,
    /// Bytes of the flow.
    pub flow_bytes: u64,
    /// Queue pair that it is for, at its destination.
    pub queue_pair: u32,
    /// Queue pair that an answer is for.
    pub reply_queue_pair: u32,
    /// Packets before the flow's first one on its queue pair.
    pub earlier_packets: u32,
    /// RDMA WRITEs before it.
    pub earlier_writes: u32,
    /// Payload bytes.
    pub payload: u32,
    /// Acknowledgement: the data frame was marked.
    pub congestion_echo: bool,
    /// Data: the receiver is to acknowledge it at once.
    pub ack_requested: bool,
    /// PFC: pause or resume.
    pub pause: bool,
}

const _: () = assert!(size_of::<Frame>() == 128 && offset_of!(Frame, seq) == 64);

impl Default for Frame {
    fn default() -> Self {
        Frame {
            next: NO_FRAME,
            node: 0,
            in_port: 0,
            ingress: 0,
            telemetry_len: 0,
            kind: PacketKind::Data,
            priority: 0,
            hop_limit: INITIAL_HOP_LIMIT,
            congestion_marked: false,
            passed: 0,
            size: 0,
            src: 0,
            dst: 0,
            sport: 0,
            dport: 0,
            behind: 0,
            arrived: 0,
            ports: [UNKNOWN; KNOWN],
            seq: 0,
            selective: None,
            flow_bytes: 0,
            queue_pair: 0,
            reply_queue_pair: 0,
            earlier_packets: 0,
            earlier_writes: 0,
            payload: 0,
            congestion_echo: false,
            ack_requested: false,
            pause: false,
        }
    }
}

impl Frame {
    /// What ECMP hashes.
    #[inline]
    pub fn key(&self) -> FlowKey {
        let (src_address, dst_address) = (host_address(self.src), host_address(self.dst));
        FlowKey { src_address, dst_address, sport: self.sport, dport: self.dport }
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
            payload: self.payload,
            ack_requested: self.ack_requested,
            selective: self.selective,
            pause: self.pause,
        }
    }

    /// It leaves a queue in which so many bytes stay.
    #[inline]
    pub(super) fn leave(&mut self, behind: u32) {
        self.behind = behind;
    }

    /// The port by which it leaves the switch that it comes to, if that is known.
    #[inline]
    pub(super) fn next_port(&self) -> Option<u16> {
        self.ports.get(usize::from(self.passed)).copied().filter(|&port| port != UNKNOWN)
    }

    /// Bytes on the link that only telemetry needs.
    pub(super) fn telemetry_cost(&self) -> u64 {
        match self.kind {
            PacketKind::Probe | PacketKind::Feedback => self.size.into(),
            PacketKind::Data | PacketKind::Ack | PacketKind::Nack => self.telemetry_len.into(),
            PacketKind::Pfc | PacketKind::Cnp | PacketKind::FastCnp | PacketKind::Icmpv6 => 0,
        }
    }
}

impl Departing for Frame {
    #[inline]
    fn head(&self) -> Head {
        Head {
            ingress: self.ingress,
            priority: self.priority,
            is_data: matches!(self.kind, PacketKind::Data | PacketKind::Probe),
            size: self.size,
            queue: self.behind.into(),
            arrived: Nanos(self.arrived),
            hop_limit: self.hop_limit,
        }
    }
}

/// All frames of a network, and their telemetry sections.
pub(super) struct Frames {
    frames: Vec<Frame>,
    sections: Vec<u8>,
    /// Room for each section.
    room: usize,
    /// The frame that was released last is taken first, for it is in the cache.
    free: Vec<u32>,
}

impl Frames {
    pub fn new(room: usize) -> Frames {
        Frames { frames: Vec::new(), sections: Vec::new(), room, free: Vec::new() }
    }

    /// A frame, whose fields are those of its last use.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.frames.push(Frame::default());
            self.sections.resize(self.frames.len() * self.room, 0);
            self.frames.len() as u32 - 1
        })
    }

    #[inline]
    pub fn release(&mut self, frame: u32) {
        self.free.push(frame);
    }

    #[inline]
    pub fn get(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, frame: u32) -> &mut Frame {
        &mut self.frames[frame as usize]
    }

    /// A frame with its section and room behind it.
    #[inline]
    pub fn with_section(&mut self, frame: u32) -> (&mut Frame, &mut [u8]) {
        let start = frame as usize * self.room;
        (&mut self.frames[frame as usize], &mut self.sections[start..start + self.room])
    }

    /// How many there are, those that nobody uses included.
    #[inline]
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// Loads a frame and its section.
    #[inline]
    pub fn load(&self, frame: u32) -> u32 {
        let entry = self.get(frame);
        let section = self.sections.get(frame as usize * self.room).copied().unwrap_or(0);
        entry.size ^ entry.payload ^ u32::from(section)
    }

    /// Room for a section.
    pub fn room(&self) -> usize {
        self.room
    }

    /// The section of a frame.
    #[inline]
    pub fn section(&self, frame: u32) -> &[u8] {
        let start = frame as usize * self.room;
        &self.sections[start..start + usize::from(self.frames[frame as usize].telemetry_len)]
    }

    /// These bytes become the section of a frame; returns their length, 0 without room.
    pub fn put(&mut self, frame: u32, bytes: &[u8]) -> usize {
        let (entry, room) = self.with_section(frame);
        let front = room.get_mut(..bytes.len());
        let len = front.as_ref().map_or(0, |front| front.len());
        if let Some(front) = front {
            front.copy_from_slice(bytes);
        }
        entry.telemetry_len = len as u16;
        len
    }

    /// Routes have changed: frames on their way are routed anew.
    pub fn forget_ways(&mut self) {
        for frame in &mut self.frames {
            frame.ports = [UNKNOWN; KNOWN];
        }
    }

    /// Copies a section from one frame to another.
    pub fn copy_section(&mut self, from: u32, to: u32, len: usize) {
        let (start, end) = (from as usize * self.room, to as usize * self.room);
        self.sections.copy_within(start..start + len, end);
    }
}
