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

/// A frame. What switches look at fills the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
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
    /// UDP source port.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Port by which it came to the present node.
    pub(super) ingress: u16,
    /// Length of the telemetry section.
    pub telemetry_len: u16,
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
    /// PFC: pause or resume.
    pub pause: bool,
    /// Bytes of the flow.
    pub flow_bytes: u64,
    /// Packets before the flow's first one on its queue pair.
    pub earlier_packets: u32,
    /// RDMA WRITEs before it.
    pub earlier_writes: u32,
}

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
            pause: false,
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
        if self.kind == PacketKind::Nack { 0 } else { self.payload }
    }

    /// Negative acknowledgement: the packet that arrived in the place of byte `seq`, by its first byte, if the receiver tells.
    #[inline]
    pub fn selective(&self) -> Option<u64> {
        (self.kind == PacketKind::Nack && self.payload > 0).then(|| self.seq + u64::from(self.payload))
    }

    /// The receiver tells which packet arrived, up to 4 GiB ahead.
    #[inline]
    pub(super) fn set_selective(&mut self, arrived: Option<u64>) {
        self.payload = arrived.and_then(|arrived| u32::try_from(arrived - self.seq).ok()).unwrap_or(0);
    }

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
            payload: self.payload(),
            ack_requested: self.ack_requested,
            selective: self.selective(),
            pause: self.pause,
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
            PacketKind::Data | PacketKind::Ack | PacketKind::Nack => self.telemetry_len.into(),
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
            priority: frame.priority,
            is_data: matches!(frame.kind, PacketKind::Data | PacketKind::Probe),
            size: frame.size,
            queue: self.behind.into(),
            arrived: Nanos(frame.at),
            hop_limit: frame.hop_limit,
        }
    }
}

/// Bytes of a section that stand beside their frame.
const SHORT: usize = 48;

/// A frame, and its telemetry section where that fits: two cache lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Entry {
    frame: Frame,
    section: [u8; SHORT],
}

const _: () = assert!(size_of::<Entry>() == 128);

/// All frames of a network, and their telemetry sections.
pub(super) struct Frames {
    entries: Vec<Entry>,
    /// The sections, where they may be longer.
    sections: Vec<u8>,
    /// Room for each section.
    room: usize,
    /// The frame that was released last is taken first, for it is in the cache.
    free: Vec<u32>,
}

impl Frames {
    /// None, with room for sections of so many bytes.
    pub fn new(room: usize) -> Frames {
        Frames { entries: Vec::new(), sections: Vec::new(), room, free: Vec::new() }
    }

    /// A frame, whose fields are those of its last use.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.add())
    }

    #[cold]
    fn add(&mut self) -> u32 {
        self.entries.push(Entry { frame: Frame::default(), section: [0; SHORT] });
        if self.room > SHORT {
            self.sections.resize(self.entries.len() * self.room, 0);
        }
        self.entries.len() as u32 - 1
    }

    #[inline]
    pub fn release(&mut self, frame: u32) {
        self.free.push(frame);
    }

    #[inline]
    pub fn get(&self, frame: u32) -> &Frame {
        &self.entries[frame as usize].frame
    }

    #[inline]
    pub fn get_mut(&mut self, frame: u32) -> &mut Frame {
        &mut self.entries[frame as usize].frame
    }

    /// A frame with its section and room behind it.
    #[inline]
    pub fn with_section(&mut self, frame: u32) -> (&mut Frame, &mut [u8]) {
        let entry = &mut self.entries[frame as usize];
        if self.room <= SHORT {
            return (&mut entry.frame, &mut entry.section[..self.room]);
        }
        let start = frame as usize * self.room;
        (&mut entry.frame, &mut self.sections[start..start + self.room])
    }

    /// Loads all lines of a frame.
    #[inline]
    pub fn load(&self, frame: u32) -> u32 {
        let Entry { frame, section } = &self.entries[frame as usize];
        frame.size ^ u32::from(section[0])
    }

    /// Sections need so much room from now on.
    pub fn widen(&mut self, room: usize) {
        let mut wider = Frames { room, entries: core::mem::take(&mut self.entries), ..Frames::new(room) };
        wider.free = core::mem::take(&mut self.free);
        wider.sections.resize(if room > SHORT { wider.entries.len() * room } else { 0 }, 0);
        for frame in 0..wider.entries.len() as u32 {
            let section = if self.room <= SHORT {
                wider.entries[frame as usize].section.into()
            } else {
                Vec::from(&self.sections[frame as usize * self.room..][..self.room])
            };
            wider.with_section(frame).1[..section.len()].copy_from_slice(&section);
        }
        *self = wider;
    }

    /// Room for a section.
    pub fn room(&self) -> usize {
        self.room
    }

    /// The section of a frame.
    #[inline]
    pub fn section(&self, frame: u32) -> &[u8] {
        let entry = &self.entries[frame as usize];
        let len = usize::from(entry.frame.telemetry_len);
        if self.room <= SHORT { &entry.section[..len] } else { &self.sections[frame as usize * self.room..][..len] }
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
        for entry in &mut self.entries {
            entry.frame.ports = [UNKNOWN; KNOWN];
        }
    }

    /// Copies a section of so many bytes from one frame to another.
    pub fn copy_section(&mut self, from: u32, to: u32, len: usize) {
        if self.room <= SHORT {
            self.entries[to as usize].section = self.entries[from as usize].section;
            return;
        }
        let (start, end) = (from as usize * self.room, to as usize * self.room);
        self.sections.copy_within(start..start + len, end);
    }
}

/// A frame on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InFlight {
    /// When it arrives.
    pub at: u64,
    /// When it was put on its link, among all events that were added.
    pub rank: u64,
    pub frame: u32,
}

/// The frames on their way to a port, in the order in which they arrive: a ring of times and places.
#[derive(Default)]
pub(super) struct Flight {
    /// The port is of another part of the network.
    pub leads_away: bool,
    entries: Vec<InFlight>,
    first: usize,
    count: usize,
}

/// Frames of a ring that was never full.
const FEW: usize = 16;

impl Flight {
    /// The first frame.
    #[inline]
    pub fn first(&self) -> Option<&InFlight> {
        self.entries.get(self.first).filter(|_| self.count > 0)
    }

    /// When the first frame arrives.
    #[inline]
    pub fn first_at(&self) -> Option<u64> {
        self.first().map(|first| first.at)
    }

    /// A frame leaves a node. Returns whether it is the only one.
    #[inline]
    pub fn push(&mut self, frame: InFlight) -> bool {
        if self.count == self.entries.len() {
            self.grow();
        }
        let last = (self.first + self.count) & (self.entries.len() - 1);
        self.count += 1;
        self.entries[last] = frame;
        self.count == 1
    }

    #[cold]
    fn grow(&mut self) {
        let more = FEW.max(self.entries.len());
        self.entries.rotate_left(self.first);
        self.entries.resize(self.entries.len() + more, InFlight::default());
        self.first = 0;
    }

    /// The first frame, of which there is one, comes to a node. Also returns when the next arrives.
    #[inline]
    pub fn pop(&mut self) -> (u32, Option<u64>) {
        let InFlight { frame, .. } = self.entries[self.first];
        self.first = (self.first + 1) & (self.entries.len() - 1);
        self.count -= 1;
        (frame, self.first_at())
    }

    /// Loads the frames that arrive before `end`: these loads do not wait for each other.
    #[inline]
    pub fn load(&self, end: u64, frames: &Frames) -> u32 {
        let mut sum = 0;
        for place in 0..self.count {
            let InFlight { at, frame, .. } = self.entries[(self.first + place) & (self.entries.len() - 1)];
            if at >= end {
                break;
            }
            sum ^= frames.load(frame);
        }
        sum
    }
}

/// Frames on their way from one part of a network to another, as they are.
#[derive(Default)]
pub(super) struct Crossings {
    /// When each arrives, and at which port.
    entries: Vec<(u64, u32, Entry)>,
    sections: Vec<u8>,
}

impl Crossings {
    /// When the first of them arrives.
    pub fn first_at(&self) -> Option<Nanos> {
        self.entries.iter().map(|&(at, ..)| Nanos(at)).min()
    }

    /// A frame leaves this part.
    pub fn load(&mut self, frames: &mut Frames, frame: u32, at: u64, port: u32) {
        self.entries.push((at, port, frames.entries[frame as usize]));
        if frames.room > SHORT {
            self.sections.extend_from_slice(&frames.sections[frame as usize * frames.room..][..frames.room]);
        }
        frames.release(frame);
    }

    /// All frames come to this part; `arrive` is given each with its port.
    pub fn unload(&mut self, frames: &mut Frames, mut arrive: impl FnMut(u32, InFlight)) {
        for (place, (at, port, entry)) in self.entries.drain(..).enumerate() {
            let frame = frames.take();
            frames.entries[frame as usize] = entry;
            if frames.room > SHORT {
                let room = frames.room;
                frames.sections[frame as usize * room..][..room]
                    .copy_from_slice(&self.sections[place * room..][..room]);
            }
            arrive(port, InFlight { at, rank: 0, frame });
        }
        self.sections.clear();
    }
}
