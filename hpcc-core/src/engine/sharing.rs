// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports that a host's queue pairs share with the packets of its stack, as a NIC's traffic classes share a link.

use super::state::Engine;
use crate::ids::{FrameId, PortId};
use alloc::vec;

/// Which of both has its turn at a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    /// The part of the link that packets have while data wait, too, in percent.
    percent: u8,
    /// How far data are ahead of their part, in hundredths of bytes: less than a frame either way.
    lead: i64,
}

impl Sharing {
    /// Whether a packet that waits goes before data.
    fn favours_packets(&self) -> bool {
        self.percent > 0 && self.lead >= 0
    }

    /// A packet was sent though data may have waited.
    fn sent_packet(&mut self, bytes: u32) {
        self.lead -= i64::from(bytes) * i64::from(100 - self.percent);
    }

    /// Data were sent though a packet waited.
    fn sent_data(&mut self, bytes: u32) {
        self.lead += i64::from(bytes) * i64::from(self.percent);
    }
}

impl Engine {
    /// A host with queue pairs has a stack besides. While both have something to send packets have `percent` of a link, of the bytes
    /// of frames: with 0 data go first, with 100 packets. Answers go ahead of both, and what one leaves is the other's.
    pub fn share_ports(&mut self, host: u32, percent: u8) {
        let ports = self.fabric.ports(host).len();
        let host = self.nodes.host(host);
        (host.is_shared, host.sharing) = (true, vec![Sharing { percent: percent.min(100), lead: 0 }; ports]);
    }

    /// The frame that such a port sends next, in one of whose queues something waits.
    #[cold]
    pub(super) fn next_of_shared(&mut self, p: PortId) -> Option<FrameId> {
        let port = &mut self.all.ports[p];
        let (node, number, paused) = (port.node, usize::from(port.number), port.paused);
        let packets = port.packets(&self.all.frames);
        let host = self.nodes.host(node);
        if let Some(answer) = port.dequeue_of(host.open_queues(paused) & !packets, &self.all.frames) {
            return Some(answer);
        }
        let ready = packets & !paused;
        let is_packets_turn = ready != 0 && host.sharing[number].favours_packets();
        if !is_packets_turn && let Some(data) = self.next_of_flows(p) {
            if ready != 0 {
                let bytes = self.all.frames.get(data).size;
                self.nodes.host(node).sharing[number].sent_data(bytes);
            }
            return Some(data);
        }
        let packet = self.all.ports[p].dequeue_of(ready, &self.all.frames)?;
        if is_packets_turn {
            let bytes = self.all.frames.get(packet).size;
            self.nodes.host(node).sharing[number].sent_packet(bytes);
        }
        Some(packet)
    }
}
