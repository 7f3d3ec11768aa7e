// SPDX-License-Identifier: GPL-2.0-only
//! What is written of frames and pauses as they happen.

use crate::fleet::lock;
use hpcc_core::address::host_address;
use hpcc_core::engine::{Detail, Event, Frame, Hold, Observer, Place, Sight};
use hpcc_core::frame::{Encapsulation, PacketKind};
use hpcc_core::ids::FrameId;
use hpcc_core::simulated_frame::SimulatedFrame;
use hpcc_core::telemetry::timestamp;
use hpcc_model::results::ResultWriter;
use hpcc_model::results::packet_trace::{TraceEvent, TraceRecord};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// ECN field of IP: congestion experienced.
const CE: u8 = 3;
/// Where the 2019 simulator's PFC frames go.
const BROADCAST: u32 = 0xffff_ffff;

/// The nodes that are watched, and how their frames are written.
pub struct Sights {
    /// Who is told as well.
    pub faces: Option<Box<dyn Observer>>,
    pub writer: Arc<Mutex<ResultWriter>>,
    /// Pauses by those who send them, if they are recorded.
    pub holds: Arc<Mutex<Vec<Hold>>>,
    /// How often each record of a node is written: the 2019 simulator writes it as often as its list names the node.
    pub traced: HashMap<u32, u32>,
    pub captured: HashSet<u32>,
    /// Whether telemetry is the time when a packet left its sender.
    pub is_stamped: bool,
    /// Whether the trace tells of packets that a switch as a whole drops.
    pub traces_overflow: bool,
    /// Microseconds that a pause says.
    pub pause_us: u32,
    /// Addresses of each node's ports, which PFC frames come from, and of the ports at the other ends.
    pub addresses: Vec<Vec<(u32, u32)>>,
    /// MAC addresses of each node's ports.
    pub macs: Vec<Vec<u64>>,
    /// The port at the other end of each node's ports.
    pub peers: Vec<Vec<(u32, u16)>>,
    pub ipv6: bool,
    pub mtu: u32,
    pub encapsulation: Option<Encapsulation>,
    /// DSCP of receivers' CNPs, if it is not that of their priority.
    pub cnp_dscp: Option<u8>,
}

/// Watches nothing.
pub struct Nobody;

impl Observer for Nobody {
    fn on_pause(&mut self, _: &Place, _: u8, _: bool) {}
    fn on_frame(&mut self, _: Sight, _: &Place, _: FrameId, _: &Frame, _: &[u8]) {}
}

impl Observer for Sights {
    fn on_pause(&mut self, place: &Place, priority: u8, pause: bool) {
        if let Some(faces) = &mut self.faces {
            faces.on_pause(place, priority, pause);
        }
        lock(&self.writer).pfc(place.now, place.node, place.is_switch, u32::from(place.port) + 1, pause);
    }

    fn on_hold(&mut self, hold: &Hold) {
        lock(&self.holds).push(*hold);
    }

    fn on_frame(&mut self, sight: Sight, place: &Place, id: FrameId, frame: &Frame, section: &[u8]) {
        if let Some(faces) = &mut self.faces {
            faces.on_frame(sight, place, id, frame, section);
        }
        let is_whole = matches!(sight, Sight::Departure | Sight::Arrival);
        if is_whole && self.captured.contains(&place.node) {
            let bytes = self.bytes(sight, place, frame, section);
            lock(&self.writer).capture(place.now, place.node, &bytes);
        }
        for _ in 0..self.traced.get(&place.node).copied().unwrap_or(0) {
            self.trace(sight, place, frame, section);
        }
    }

    fn on_event(&mut self, event: &Event, place: &Place, frame: Option<(&Frame, &[u8])>) {
        if let Some(faces) = &mut self.faces {
            faces.on_event(event, place, frame);
        }
    }
}

impl Sights {
    fn trace(&self, sight: Sight, place: &Place, frame: &Frame, section: &[u8]) {
        let event = match sight {
            Sight::Arrival => TraceEvent::Receive,
            Sight::Enqueue => TraceEvent::Enqueue,
            Sight::Dequeue => TraceEvent::Dequeue,
            Sight::LinkDrop | Sight::Lost => TraceEvent::Drop,
            Sight::Drop if self.traces_overflow => TraceEvent::Drop,
            Sight::Drop | Sight::Departure | Sight::Chance => return,
        };
        let has_queue = matches!(sight, Sight::Enqueue | Sight::Dequeue | Sight::LinkDrop);
        let has_port = sight != Sight::Drop;
        let queued = if sight == Sight::Enqueue { place.queued - u64::from(frame.size) } else { place.queued };
        let row = TraceRecord {
            time_ns: place.now.0,
            node: place.node as u16,
            port: if has_port { (place.port + 1) as u8 } else { 0 },
            queue: place.queue,
            qlen_bytes: if place.is_switch && has_port { queued as u32 } else { 0 },
            event,
            kind: frame.kind,
            is_switch: place.is_switch,
            src_address: host_address(frame.src),
            dst_address: host_address(frame.dst),
            sport: 0,
            dport: 0,
            priority: frame.priority,
            ecn: 0,
            size_bytes: frame.size as u16,
            payload_bytes: 0,
            seq: frame.seq as u32,
            sent_ns: 0,
            congestion_echo: false,
            pause: 0,
        };
        let row = if frame.kind == PacketKind::Pfc {
            let (own, peer) = self.addresses[place.node as usize][usize::from(place.port)];
            let src_address = if has_queue { own } else { peer };
            let pause = if frame.detail == Detail::Pause { self.pause_us } else { 0 };
            TraceRecord { src_address, dst_address: BROADCAST, pause, ..row }
        } else {
            TraceRecord {
                sport: frame.sport,
                dport: frame.dport,
                payload_bytes: frame.payload() as u16,
                sent_ns: self.sent_ns(frame, section),
                ecn: if frame.congestion_marked { CE } else { 0 },
                congestion_echo: matches!(frame.kind, PacketKind::Ack | PacketKind::Nack) && frame.congestion_echo,
                ..row
            }
        };
        lock(&self.writer).packet(&row);
    }

    /// When a packet, or the one that it answers, left its sender; 0 if its telemetry does not say.
    fn sent_ns(&self, frame: &Frame, section: &[u8]) -> u64 {
        let says = self.is_stamped && frame.kind.has_telemetry();
        if says { timestamp::read(section).map_or(0, |sent| sent.0) } else { 0 }
    }

    fn mac(&self, node: u32, port: u16) -> [u8; 6] {
        let bytes = self.macs[node as usize][usize::from(port)].to_be_bytes();
        [bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]
    }

    fn bytes(&self, sight: Sight, place: &Place, frame: &Frame, section: &[u8]) -> Vec<u8> {
        let own = (place.node, place.port);
        let peer = self.peers[place.node as usize][usize::from(place.port)];
        let (from, to) = if sight == Sight::Departure { (own, peer) } else { (peer, own) };
        let frame = SimulatedFrame {
            src_mac: self.mac(from.0, from.1),
            dst_mac: self.mac(to.0, to.1),
            ipv6: self.ipv6,
            mtu: self.mtu,
            cnp_dscp: self.cnp_dscp.filter(|_| frame.detail != Detail::BySwitch),
            ..frame.on_wire()
        };
        frame.bytes(self.encapsulation, section).unwrap_or_default()
    }
}
