// SPDX-License-Identifier: GPL-2.0-only
//! The packet trace. The file's fields are narrower than the simulator's: what does not fit is cut off.

use crate::ffi::{PacketEvent, PacketEventKind, PacketKind};
use crate::results::Results;
use crate::scenario::Scenario;
use hpcc_core::topology::Network;
use hpcc_formats::results::packet_trace::{self, PortRate, TraceEvent, TraceRecord};

impl From<&PacketEvent> for TraceRecord {
    fn from(e: &PacketEvent) -> Self {
        TraceRecord {
            time_ns: e.time_ns,
            node: e.node as u16,
            port: e.port as u8,
            queue: e.queue,
            qlen_bytes: e.qlen_bytes as u32,
            event: match e.event {
                PacketEventKind::Receive => TraceEvent::Receive,
                PacketEventKind::Enqueue => TraceEvent::Enqueue,
                PacketEventKind::Dequeue => TraceEvent::Dequeue,
                _ => TraceEvent::Drop,
            },
            kind: match e.kind {
                PacketKind::Data => packet_trace::PacketKind::Data,
                PacketKind::Ack => packet_trace::PacketKind::Ack,
                PacketKind::Nack => packet_trace::PacketKind::Nack,
                PacketKind::Probe => packet_trace::PacketKind::Probe,
                PacketKind::Feedback => packet_trace::PacketKind::Feedback,
                PacketKind::Cnp => packet_trace::PacketKind::Cnp,
                PacketKind::FastCnp => packet_trace::PacketKind::FastCnp,
                PacketKind::Icmpv6 => packet_trace::PacketKind::Icmpv6,
                _ => packet_trace::PacketKind::Pfc,
            },
            is_switch: e.is_switch,
            src_address: e.src_address,
            dst_address: e.dst_address,
            sport: e.sport,
            dport: e.dport,
            priority: e.priority,
            ecn: e.ecn,
            size_bytes: e.size_bytes as u16,
            payload_bytes: e.payload_bytes as u16,
            seq: e.seq as u32,
            sent_ns: e.sent_ns,
            congestion_echo: e.congestion_echo,
            pause: e.pause_us,
        }
    }
}

fn port_rates(network: &Network) -> Vec<PortRate> {
    let of_node = |(node, ports): (usize, Vec<hpcc_core::topology::Port>)| {
        let rate = |(index, port): (usize, hpcc_core::topology::Port)| PortRate {
            node: node as u16,
            port: index as u8 + 1,
            rate: network.links[port.link as usize].rate,
        };
        ports.into_iter().enumerate().map(rate).collect::<Vec<_>>()
    };
    network.ports().into_iter().enumerate().flat_map(of_node).collect()
}

impl Results {
    pub fn begin_trace(&mut self, scenario: &Scenario, window_bytes: u64) {
        let Some(writer) = self.writer_mut() else { return };
        writer.begin_trace(&port_rates(&scenario.get().network), window_bytes as u32);
    }

    pub fn packet(&mut self, event: &PacketEvent) {
        let Some(writer) = self.writer_mut() else { return };
        writer.packet(&event.into());
    }
}
