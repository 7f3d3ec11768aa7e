// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared-buffer switch: route, admission, pause, ECN mark, telemetry stamp.
//!
//! The queues themselves belong to the simulator: it tells the switch when a frame [arrives](Switch::arrive)
//! and when one [departs](Switch::depart), and does what the answers say.

mod ecmp;
mod ecn;
mod shared_buffer;

pub use ecmp::{FlowKey, HOST_SEED, host_address};
pub use ecn::EcnThreshold;
pub use shared_buffer::{Admission, PRIORITIES, RESERVE, SharedBuffer};

use crate::random::StreamPerDraw;
use crate::telemetry::{Layout, Snapshot};
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, Nanos};
use alloc::vec::Vec;

/// What all switches of a network are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchConfig {
    /// Shared packet memory in bytes.
    pub buffer_bytes: u64,
    /// Whether packets are ECN-marked at all.
    pub ecn: bool,
    /// One entry for each link rate in the network.
    pub ecn_thresholds: Vec<EcnThreshold>,
}

/// A port's fixed properties and counters.
#[derive(Clone, Debug)]
struct EgressPort {
    rate: BitRate,
    ecn: Option<EcnThreshold>,
    /// Bytes that left, all frames.
    tx_bytes: u64,
    /// Bytes that wait, by priority; priority 0 (PFC frames) is not accounted.
    queued: [u32; PRIORITIES],
}

/// What becomes of a frame that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its destination cannot be reached.
    NoRoute,
    /// The buffer has no room.
    Overflow,
    /// It waits at port `egress`.
    Forward {
        /// Port to queue the frame at.
        egress: u16,
        /// First send a PFC pause of the frame's priority out of the ingress port.
        pause: bool,
    },
}

/// A frame at the head of an egress queue.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Port by which it came in.
    pub ingress: u16,
    /// Its priority.
    pub priority: u8,
    /// Its bytes on the link, before this switch adds telemetry.
    pub size: u32,
}

/// What happens to a frame that departs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Set its ECN bits to "congestion experienced".
    pub mark: bool,
    /// Before it is sent: send a PFC resume of its priority out of its ingress port.
    pub resume: bool,
}

/// One switch.
#[derive(Clone, Debug)]
pub struct Switch {
    id: u32,
    layout: Layout,
    routes: RouteTable,
    buffer: SharedBuffer,
    ports: Vec<EgressPort>,
}

impl Switch {
    /// Switch `id` with ports of these rates and delays, counted from 0.
    pub fn new(
        id: u32,
        config: &SwitchConfig,
        layout: Layout,
        host_rate: BitRate,
        ports: &[(BitRate, Nanos)],
        routes: RouteTable,
    ) -> Self {
        let threshold = |rate| config.ecn_thresholds.iter().copied().find(|t| t.rate == rate && config.ecn);
        let port = |&(rate, _): &(BitRate, Nanos)| EgressPort {
            rate,
            ecn: threshold(rate),
            tx_bytes: 0,
            queued: [0; PRIORITIES],
        };
        Switch {
            id,
            layout,
            routes,
            buffer: SharedBuffer::new(config.buffer_bytes, host_rate, ports),
            ports: ports.iter().map(port).collect(),
        }
    }

    /// A frame for host `dst` came in by port `ingress`. Priority 0 is never refused.
    #[inline]
    pub fn arrive(&mut self, ingress: u16, dst: u32, key: &FlowKey, priority: u8, size: u32) -> Arrival {
        let Some(egress) = key.choose(self.id, self.routes.next_hops(dst)) else { return Arrival::NoRoute };
        let priority = usize::from(priority) % PRIORITIES;
        if priority == 0 {
            return Arrival::Forward { egress, pause: false };
        }
        match self.buffer.admit(usize::from(ingress), priority, size) {
            Admission::Drop => Arrival::Overflow,
            Admission::Admit { pause } => {
                self.ports[usize::from(egress)].queued[priority] += size;
                Arrival::Forward { egress, pause }
            }
        }
    }

    /// A frame leaves port `egress`: accounts for it and decides on mark and resume.
    #[inline]
    pub fn depart(&mut self, egress: u16, head: &Head, draws: &mut StreamPerDraw) -> Departure {
        let priority = usize::from(head.priority) % PRIORITIES;
        if priority == 0 {
            return Departure { mark: false, resume: false };
        }
        let ingress = usize::from(head.ingress);
        let port = &mut self.ports[usize::from(egress)];
        port.queued[priority] = port.queued[priority].saturating_sub(head.size);
        let queue = u64::from(port.queued[priority]);
        self.buffer.release(ingress, priority, head.size);
        let mark = port.ecn.is_some_and(|ecn| ecn.marks(queue, || draws.uniform()));
        Departure { mark, resume: self.buffer.take_resume(ingress, priority) }
    }

    /// Writes this hop into the telemetry section of a data frame that departs; returns the section's length.
    #[inline]
    pub fn stamp(&self, egress: u16, now: Nanos, qlen: u64, section: &mut [u8], len: usize) -> usize {
        let port = &self.ports[usize::from(egress)];
        let snapshot = Snapshot { switch_id: self.id, rate: port.rate, now, tx_bytes: port.tx_bytes, qlen };
        self.layout.stamp(section, len, &snapshot)
    }

    /// Counts a frame of `size` bytes that port `egress` puts on the link.
    #[inline]
    pub fn count_sent(&mut self, egress: u16, size: u32) {
        self.ports[usize::from(egress)].tx_bytes += u64::from(size);
    }

    /// Bytes that wait at a port, PFC frames excepted.
    #[inline]
    pub fn queued(&self, egress: u16) -> u32 {
        self.ports[usize::from(egress)].queued.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Link, Network, NodeKind};

    /// Three hosts (0, 1, 2) on switch 3.
    fn star() -> Switch {
        let link = |a| Link { a, b: 3, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
        let network = Network {
            nodes: alloc::vec![NodeKind::Host, NodeKind::Host, NodeKind::Host, NodeKind::Switch],
            links: alloc::vec![link(0), link(1), link(2)],
        };
        let mut routes = crate::topology::routes::Routes::new(&network, 1000);
        let threshold = EcnThreshold { rate: BitRate::gbps(100), kmin: 1_000, kmax: 2_000, pmax: 0.0 };
        let config = SwitchConfig { buffer_bytes: 1 << 20, ecn: true, ecn_thresholds: alloc::vec![threshold] };
        let layout = Layout::Reference { multiplier: 1 };
        let ports = [(BitRate::gbps(100), Nanos(1_000)); 3];
        Switch::new(3, &config, layout, BitRate::gbps(100), &ports, routes.take_table(3))
    }

    fn arrive(switch: &mut Switch, dst: u32) -> Arrival {
        switch.arrive(0, dst, &FlowKey::default(), 3, 1090)
    }

    #[test]
    fn frames_go_where_the_destination_is() {
        let mut switch = star();
        assert_eq!(arrive(&mut switch, 2), Arrival::Forward { egress: 2, pause: false });
        assert_eq!(arrive(&mut switch, 3), Arrival::NoRoute);
        assert_eq!(arrive(&mut switch, 99), Arrival::NoRoute);
        assert_eq!(switch.queued(2), 1090);
    }

    #[test]
    fn the_queue_left_behind_decides_the_mark() {
        let mut switch = star();
        let mut draws = StreamPerDraw::new(26);
        for _ in 0..3 {
            arrive(&mut switch, 2);
        }
        let mut marks = || {
            let head = Head { ingress: 0, priority: 3, size: 1090 };
            switch.depart(2, &head, &mut draws).mark
        };
        assert_eq!([marks(), marks(), marks()], [true, false, false]);
    }

    #[test]
    fn pause_and_resume_pair_up() {
        let mut switch = star();
        let mut draws = StreamPerDraw::new(26);
        let mut frames = 1;
        while arrive(&mut switch, 2) == (Arrival::Forward { egress: 2, pause: false }) {
            frames += 1;
        }
        let head = Head { ingress: 0, priority: 3, size: 1090 };
        let resumes = (0..frames).filter(|_| switch.depart(2, &head, &mut draws).resume).count();
        assert_eq!(resumes, 1);
        assert_eq!(switch.queued(2), 0);
    }

    /// REQ-01: the stamp shows the port's counters before this packet.
    #[test]
    fn req_01_the_stamp_shows_the_port() {
        let mut switch = star();
        switch.count_sent(2, 1_280);
        let mut section = [0; 64];
        let len = switch.layout.prepare(&mut section);
        let len = switch.stamp(2, Nanos(77), 800, &mut section, len);
        let stack = switch.layout.read(&section[..len]).expect("one hop");
        let hop = stack.hops()[0];
        assert_eq!((hop.rate, hop.ts, hop.tx_bytes, hop.qlen), (BitRate::gbps(100), 77, 1_280, 800));
    }
}
