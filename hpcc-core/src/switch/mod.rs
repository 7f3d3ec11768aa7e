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

use crate::quirks::Quirks;
use crate::random::Chance;
use crate::telemetry::pint::{Codebook, PortMeter};
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
    /// Faults of the reference that are repeated.
    pub quirks: Quirks,
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

/// A frame that is about to be put on the link.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Whether it carries payload; only such frames are stamped.
    pub is_data: bool,
    /// Its bytes on the link, before this switch adds telemetry.
    pub size: u32,
    /// Bytes that wait at the port behind it, all frames.
    pub queue: u64,
}

/// What PINT keeps at a switch.
#[derive(Clone, Debug)]
struct Pint {
    codebook: Codebook,
    /// One for each port.
    meters: Vec<PortMeter>,
}

/// One switch.
#[derive(Clone, Debug)]
pub struct Switch {
    id: u32,
    layout: Layout,
    routes: RouteTable,
    buffer: SharedBuffer,
    ports: Vec<EgressPort>,
    pint: Option<Pint>,
}

impl Switch {
    /// Switch `id` with ports of these rates and delays, counted from 0. PINT averages over `base_rtt`, the
    /// longest of the network.
    pub fn new(
        id: u32,
        config: &SwitchConfig,
        layout: Layout,
        host_rate: BitRate,
        base_rtt: Nanos,
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
        let pint = |log_base| Pint {
            codebook: Codebook::new(log_base),
            meters: ports.iter().map(|&(rate, _)| PortMeter::new(rate, base_rtt)).collect(),
        };
        Switch {
            id,
            layout,
            routes,
            buffer: SharedBuffer::new(config.buffer_bytes, host_rate, ports),
            ports: ports.iter().map(port).collect(),
            pint: if let Layout::Pint { log_base, .. } = layout { Some(pint(log_base)) } else { None },
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
    pub fn depart(&mut self, egress: u16, head: &Head, chance: &mut Chance) -> Departure {
        let priority = usize::from(head.priority) % PRIORITIES;
        if priority == 0 {
            return Departure { mark: false, resume: false };
        }
        let ingress = usize::from(head.ingress);
        let port = &mut self.ports[usize::from(egress)];
        port.queued[priority] = port.queued[priority].saturating_sub(head.size);
        let queue = u64::from(port.queued[priority]);
        self.buffer.release(ingress, priority, head.size);
        let mark = port.ecn.is_some_and(|ecn| ecn.marks(queue, || chance.marks.uniform()));
        Departure { mark, resume: self.buffer.take_resume(ingress, priority) }
    }

    /// Port `egress` puts a frame on the link: stamps this hop into a data frame's telemetry, which stands in
    /// the first `len` bytes of `section`, and counts the frame. Returns the new length of the telemetry.
    #[inline]
    pub fn transmit(
        &mut self,
        egress: u16,
        now: Nanos,
        frame: &Outgoing,
        section: &mut [u8],
        len: usize,
        chance: &mut Chance,
    ) -> usize {
        let port = &mut self.ports[usize::from(egress)];
        let mut new_len = len;
        if frame.is_data {
            let (tx_bytes, qlen) = (port.tx_bytes, frame.queue);
            let snapshot = Snapshot { switch_id: self.id, rate: port.rate, now, tx_bytes, qlen };
            new_len = self.layout.stamp(section, len, &snapshot);
        }
        let size = frame.size + (new_len - len) as u32;
        port.tx_bytes += u64::from(size);
        if let Some(pint) = &mut self.pint {
            let meter = &mut pint.meters[usize::from(egress)];
            if frame.is_data {
                let utilisation = meter.update(now, frame.queue, &mut chance.rand);
                pint.codebook.stamp(section.get_mut(..len).unwrap_or_default(), utilisation, &mut chance.rand);
            }
            meter.on_sent(now, size);
        }
        new_len
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
    use crate::telemetry::Telemetry;
    use crate::topology::{Link, Network, NodeKind};

    /// Three hosts (0, 1, 2) on switch 3.
    fn star() -> Switch {
        star_with(Layout::Reference { multiplier: 1 })
    }

    fn star_with(layout: Layout) -> Switch {
        let link = |a| Link { a, b: 3, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
        let network = Network {
            nodes: alloc::vec![NodeKind::Host, NodeKind::Host, NodeKind::Host, NodeKind::Switch],
            links: alloc::vec![link(0), link(1), link(2)],
        };
        let mut routes = crate::topology::routes::Routes::new(&network, 1000);
        let threshold = EcnThreshold { rate: BitRate::gbps(100), kmin: 1_000, kmax: 2_000, pmax: 0.0 };
        let config = SwitchConfig {
            buffer_bytes: 1 << 20,
            ecn: true,
            ecn_thresholds: alloc::vec![threshold],
            ..SwitchConfig::default()
        };
        let ports = [(BitRate::gbps(100), Nanos(1_000)); 3];
        Switch::new(3, &config, layout, BitRate::gbps(100), Nanos(4_160), &ports, routes.take_table(3))
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
        let mut chance = Chance::new(26, 1);
        for _ in 0..3 {
            arrive(&mut switch, 2);
        }
        let mut marks = || {
            let head = Head { ingress: 0, priority: 3, size: 1090 };
            switch.depart(2, &head, &mut chance).mark
        };
        assert_eq!([marks(), marks(), marks()], [true, false, false]);
    }

    #[test]
    fn pause_and_resume_pair_up() {
        let mut switch = star();
        let mut chance = Chance::new(26, 1);
        let mut frames = 1;
        while arrive(&mut switch, 2) == (Arrival::Forward { egress: 2, pause: false }) {
            frames += 1;
        }
        let head = Head { ingress: 0, priority: 3, size: 1090 };
        let resumes = (0..frames).filter(|_| switch.depart(2, &head, &mut chance).resume).count();
        assert_eq!(resumes, 1);
        assert_eq!(switch.queued(2), 0);
    }

    /// REQ-01: the stamp shows the port's counters before this packet.
    #[test]
    fn req_01_the_stamp_shows_the_port() {
        let mut switch = star();
        let mut chance = Chance::new(26, 1);
        let mut section = [0; 64];
        let mut transmit = |is_data, size, section: &mut [u8], len| {
            switch.transmit(2, Nanos(77), &Outgoing { is_data, size, queue: 800 }, section, len, &mut chance)
        };
        assert_eq!(transmit(false, 1_280, &mut section, 0), 0);
        let layout = Layout::Reference { multiplier: 1 };
        let len = layout.prepare(&mut section, Nanos(0));
        let len = transmit(true, 1_090, &mut section, len);
        let Telemetry::Hops(stack) = layout.read(&section[..len]) else { panic!("one hop") };
        let hop = stack.hops()[0];
        assert_eq!((hop.rate, hop.ts, hop.tx_bytes, hop.qlen), (BitRate::gbps(100), 77, 1_280, 800));
    }

    /// A port that sends data without pause reports itself as full, and the same section as one byte of it.
    #[test]
    fn pint_reports_the_average_of_the_port() {
        let layout = Layout::pint(1.05, true);
        let mut switch = star_with(layout);
        let mut chance = Chance::new(26, 1);
        let mut section = [0; 8];
        for n in 0..500 {
            let len = layout.prepare(&mut section, Nanos(0));
            let frame = Outgoing { is_data: true, size: 1_050, queue: 0 };
            assert_eq!(switch.transmit(1, Nanos(n * 84), &frame, &mut section, len, &mut chance), 2);
        }
        let Telemetry::Utilisation(u) = layout.read(&section[..2]) else { panic!("a code") };
        assert!((0.9..1.1).contains(&u), "{u}");
    }
}
