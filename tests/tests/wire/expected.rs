// SPDX-License-Identifier: GPL-2.0-only
//! What a frame must say, from the simulator's trace and the scenario alone.

use crate::simulation::{FLOW, MTU, RECEIVER, SWITCHES};
use hpcc_model::results::packet_trace::{PacketKind, TraceEvent, TraceRecord};
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Hop limit with which frames leave their host.
const HOP_LIMIT: u8 = 64;
const CE: u64 = 3;
const ECT_0: u64 = 2;

/// A switch's state when a packet left it.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    pub switch: u64,
    /// Ports, counted from 0.
    pub ingress: u64,
    pub egress: u64,
    pub time_ns: u64,
    pub queue_bytes: u64,
    /// Bytes that the port sent before.
    pub sent_bytes: u64,
    pub hop_limit: u64,
}

/// Address, port, first byte, kind, and how many such packets came before: a flow that may not send goes on to probe.
type PacketId = (u32, u16, u32, PacketKind, usize);

/// Follows data packets and probes, which do not overtake their like, through a trace in its order.
#[derive(Default)]
pub struct Journeys {
    hops: HashMap<PacketId, Vec<Hop>>,
    ingress: HashMap<(u16, PacketId), u8>,
    sent: HashMap<(u16, u8), u64>,
    /// How often each event happened at a node.
    events: HashMap<(u16, TraceEvent, PacketId), usize>,
}

impl Journeys {
    /// The hops that a packet has behind it after this event, the first hop first.
    pub fn follow(&mut self, record: &TraceRecord) -> &[Hop] {
        let first = (record.src_address, record.sport, record.seq, record.kind, 0);
        let events = self.events.entry((record.node, record.event, first)).or_default();
        let id = (first.0, first.1, first.2, first.3, *events);
        *events += 1;
        let collects = collects(record);
        if record.event == TraceEvent::Receive && record.is_switch {
            self.ingress.insert((record.node, id), record.port);
        }
        if record.event == TraceEvent::Dequeue && record.is_switch {
            let sent = self.sent.entry((record.node, record.port)).or_default();
            let sent_bytes = *sent;
            *sent += u64::from(record.size_bytes);
            if collects {
                let hop = Hop {
                    switch: record.node.into(),
                    ingress: u64::from(self.ingress[&(record.node, id)]) - 1,
                    egress: u64::from(record.port) - 1,
                    time_ns: record.time_ns,
                    queue_bytes: record.qlen_bytes.into(),
                    sent_bytes,
                    hop_limit: hop_limit(record).into(),
                };
                self.hops.entry(id).or_default().push(hop);
            }
        }
        if collects { self.hops.get(&id).map_or(&[], Vec::as_slice) } else { &[] }
    }
}

/// Whether a frame is of a kind that may collect telemetry.
fn collects(record: &TraceRecord) -> bool {
    matches!(record.kind, PacketKind::Data | PacketKind::Probe)
}

/// The hop limit of a frame, which switches decrement when they send it.
pub fn hop_limit(record: &TraceRecord) -> u8 {
    let towards_receiver = collects(record);
    let [near, far] = SWITCHES;
    let (first, second) = if towards_receiver { (near, far) } else { (far, near) };
    let before = match record.node {
        node if node == first => 0,
        node if node == second => 1,
        node if (node == RECEIVER) == towards_receiver => 2,
        _ => 0,
    };
    HOP_LIMIT - before - u8::from(record.is_switch && record.event == TraceEvent::Dequeue)
}

/// An address as tshark prints it.
pub fn address(ipv6: bool, address: u32) -> String {
    let ipv4 = Ipv4Addr::from(address);
    if !ipv6 {
        return ipv4.to_string();
    }
    let prefix: Ipv6Addr = "2001:db8::".parse().expect("an address");
    Ipv6Addr::from(u128::from(prefix) | u128::from(address)).to_string()
}

/// The ECN field, which the trace has only where it is a mark.
pub fn ecn(record: &TraceRecord) -> u64 {
    if record.ecn == 0 { ECT_0 } else { CE }
}

/// Whether a packet opens its flow.
pub fn is_first(record: &TraceRecord) -> bool {
    record.seq == 0
}

/// Whether a packet ends its flow.
pub fn is_last(record: &TraceRecord) -> bool {
    record.seq + u32::from(record.payload_bytes) >= FLOW
}

/// InfiniBand's opcode: WRITE first, middle, last and only, ACKNOWLEDGE, or a manufacturer's own.
pub fn opcode(record: &TraceRecord) -> u64 {
    match record.kind {
        PacketKind::Data | PacketKind::Trimmed => {}
        PacketKind::Probe => return 0xc0,
        PacketKind::Feedback => return 0xc1,
        PacketKind::Ack | PacketKind::Nack => return 0x11,
        PacketKind::Pfc | PacketKind::Cnp | PacketKind::FastCnp | PacketKind::Icmpv6 => {
            panic!("{:?} is no RC packet", record.kind)
        }
    }
    match (is_first(record), is_last(record)) {
        (true, false) => 0x06,
        (false, false) => 0x07,
        (false, true) => 0x08,
        (true, true) => 0x0a,
    }
}

/// The number of the packet, of the last packet acknowledged, of the missing one, or of the next one.
pub fn psn(record: &TraceRecord) -> u64 {
    u64::from(match record.kind {
        PacketKind::Ack => record.seq.saturating_sub(1) / MTU,
        // Behind a short last packet no number ends at `seq`.
        PacketKind::Probe | PacketKind::Feedback => record.seq.div_ceil(MTU),
        PacketKind::Data | PacketKind::Trimmed | PacketKind::Nack => record.seq / MTU,
        PacketKind::Pfc | PacketKind::Cnp | PacketKind::FastCnp | PacketKind::Icmpv6 => {
            panic!("{:?} numbers no packet of a flow", record.kind)
        }
    })
}
