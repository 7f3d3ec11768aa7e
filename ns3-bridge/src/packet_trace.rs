// SPDX-License-Identifier: GPL-2.0-only
//! The packet trace. The file's fields are narrower than the simulator's: what does not fit is cut off.

use crate::mirror::mirror;
use crate::results::Results;
use crate::results::ffi::{PacketEvent, PacketEventKind};
use crate::scenario::Scenario;
use hpcc_core::frame::PacketKind;
use hpcc_core::telemetry::timestamp;
use hpcc_core::topology::Network;
use hpcc_formats::results::packet_trace::{PortRate, TraceEvent, TraceRecord};

/// ECN field of IP: congestion experienced.
const CE: u8 = 3;

mirror! { PacketEventKind = TraceEvent { Receive, Enqueue, Dequeue, Drop } }

/// When a packet, or the one that it answers, left its sender; 0 if its telemetry does not say.
fn sent_ns(kind: PacketKind, telemetry: &[u8]) -> u64 {
    if kind.has_telemetry() { timestamp::read(telemetry).map_or(0, |sent| sent.0) } else { 0 }
}

/// The row of an event.
fn record(event: &PacketEvent, kind: PacketKind, sent_ns: u64) -> TraceRecord {
    let frame = &event.frame;
    let row = TraceRecord {
        time_ns: event.time_ns,
        node: event.node as u16,
        port: event.port as u8,
        queue: event.queue,
        qlen_bytes: event.qlen_bytes as u32,
        event: event.event.into(),
        kind,
        is_switch: event.is_switch,
        src_address: frame.src_address,
        dst_address: frame.dst_address,
        sport: 0,
        dport: 0,
        priority: frame.priority,
        ecn: 0,
        size_bytes: event.size_bytes as u16,
        payload_bytes: 0,
        seq: frame.seq as u32,
        sent_ns: 0,
        congestion_echo: false,
        pause: 0,
    };
    if kind == PacketKind::Pfc {
        return TraceRecord { pause: if frame.pause { event.pause_us } else { 0 }, ..row };
    }
    TraceRecord {
        sport: frame.sport,
        dport: frame.dport,
        payload_bytes: frame.payload_bytes as u16,
        sent_ns,
        ecn: if frame.congestion_marked { CE } else { 0 },
        congestion_echo: matches!(kind, PacketKind::Ack | PacketKind::Nack) && frame.congestion_echo,
        ..row
    }
}

/// The ports of the header, without the ports of `unused` links.
fn port_rates(network: &Network, unused: &[u32]) -> Vec<PortRate> {
    let of_node = |(node, ports): (usize, Vec<hpcc_core::topology::Port>)| {
        let rate = |(index, port): (usize, hpcc_core::topology::Port)| PortRate {
            node: node as u16,
            port: index as u8 + 1,
            rate: network.links[port.link as usize].rate,
        };
        let used = ports.into_iter().enumerate().filter(|(_, port)| !unused.contains(&port.link));
        used.map(rate).collect::<Vec<_>>()
    };
    network.ports().into_iter().enumerate().flat_map(of_node).collect()
}

impl Results {
    pub fn begin_trace(&mut self, scenario: &Scenario, window_bytes: u64) {
        self.is_stamped = scenario.stamps_send_time();
        let network = &scenario.get().network;
        let knows_one = scenario.get().faults().last_parallel_link;
        let unused = if knows_one { network.superseded_links() } else { Vec::new() };
        self.writer.begin_trace(&port_rates(network, &unused), window_bytes as u32);
    }

    pub fn packet(&mut self, event: &PacketEvent, telemetry: &[u8]) {
        let kind = PacketKind::from(event.frame.kind);
        let sent_ns = if self.is_stamped { sent_ns(kind, telemetry) } else { 0 };
        self.writer.packet(&record(event, kind, sent_ns));
    }
}
