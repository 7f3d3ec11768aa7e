// SPDX-License-Identifier: MIT OR Apache-2.0
//! What telemetry reports of a port with several classes (REQ-28, REQ-29; draft-miao-rtgwg-hpccplus-00, section 9.3).
//!
//! HPCC++ adds qlen / (B * T) and txRate / B. To a class that is sure of a share of the link, B is that share, and its
//! queue is its own. To any class, the time that a packet waited says more than bytes, for who knows when they
//! are served. Layouts have codes for the rates of links only, and most no field for a waiting time; so neither B nor
//! the fields change, but what is written into them (IFA has such a field: there the queue stays the queue):
//!
//! | reported | stands for |
//! | --- | --- |
//! | txBytes of the queue * link / share | txRate / share, once divided by the link's rate |
//! | qlen of the queue * link / share | qlen / (share * T) |
//! | sojourn time * link | sojourn / T, for qlen / (B * T) |

use super::{Head, PRIORITIES, Scheduler, Service, SwitchConfig};
use crate::telemetry::Layout;
use crate::units::{BitRate, Nanos};
use alloc::vec::Vec;

crate::named! {
    /// Whose bytes are reported.
    #[derive(Default)]
    pub enum Scope {
        /// The port's, against the link.
        #[default]
        Port = "port",
        /// The queue's, against the share that its class is sure of.
        Queue = "queue",
    }
}

crate::named! {
    /// What is reported in place of a queue.
    #[derive(Default)]
    pub enum Wait {
        /// The bytes behind the packet.
        #[default]
        Length = "length",
        /// The time that the packet spent in the switch.
        Sojourn = "sojourn",
    }
}

/// What telemetry reports of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportConfig {
    /// Whose bytes and rate are reported: the port's or the queue's.
    pub scope: Scope,
    /// What for a queue.
    pub wait: Wait,
}

/// A port's counters by queue.
#[derive(Clone, Debug)]
struct PortReport {
    rate: BitRate,
    /// What each queue is sure of; the link's rate where it is sure of nothing.
    shares: [BitRate; PRIORITIES],
    sent: [u64; PRIORITIES],
}

/// The reports of a switch that does not report the ports' own counters.
#[derive(Clone, Debug)]
pub struct Report {
    config: ReportConfig,
    ports: Vec<PortReport>,
}

impl Report {
    /// That of a switch with ports of these rates; `None` if telemetry reports their own counters.
    pub fn if_asked(config: &SwitchConfig, layout: &Layout, rates: impl Iterator<Item = BitRate>) -> Option<Self> {
        // Where the layout has a field for the time in the switch, that of the queue stays the queue's.
        let wait = if layout.by_sojourn().is_some() { Wait::Length } else { config.report.wait };
        let report = ReportConfig { wait, ..config.report };
        if report == ReportConfig::default() {
            return None;
        }
        let services = config.classes.map_or([Service::Strict { place: 0 }; PRIORITIES], |classes| classes.services());
        Some(Report::new(report, &Scheduler::new(services), rates))
    }

    /// Of ports with these rates, whose queues `scheduler` serves.
    fn new(config: ReportConfig, scheduler: &Scheduler, rates: impl Iterator<Item = BitRate>) -> Self {
        let port = |rate| PortReport {
            rate,
            shares: core::array::from_fn(|queue| match scheduler.guaranteed(queue as u8, rate, BitRate(0)) {
                BitRate(0) => rate,
                share => share,
            }),
            sent: [0; PRIORITIES],
        };
        Report { config, ports: rates.map(port).collect() }
    }

    /// txBytes and qlen for a frame that leaves now; `tx_bytes` and `queued` are the port's and the queue's.
    pub fn read(&self, egress: u16, now: Nanos, head: &Head, tx_bytes: u64, queued: u64) -> (u64, u64) {
        let Some(port) = self.ports.get(usize::from(egress)) else { return (tx_bytes, queued) };
        let queue = usize::from(head.priority) % PRIORITIES;
        let (tx_bytes, qlen) = match self.config.scope {
            Scope::Port => (tx_bytes, head.queue),
            Scope::Queue => (port.of_share(queue, port.sent[queue]), port.of_share(queue, queued)),
        };
        match self.config.wait {
            Wait::Length => (tx_bytes, qlen),
            Wait::Sojourn => (tx_bytes, port.rate.bytes_in(now.saturating_sub(head.arrived))),
        }
    }

    /// A frame has left.
    pub fn count(&mut self, egress: u16, priority: u8, size: u32) {
        if let Some(port) = self.ports.get_mut(usize::from(egress)) {
            port.sent[usize::from(priority) % PRIORITIES] += u64::from(size);
        }
    }
}

impl PortReport {
    /// Bytes against a queue's share, as so many against the link.
    fn of_share(&self, queue: usize, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(self.rate.0) / u128::from(self.shares[queue].0.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Classes;
    use super::*;
    use crate::telemetry::{Comparison, Hop, Modulus};
    use approx::assert_abs_diff_eq;

    fn report(scope: Scope, wait: Wait) -> Report {
        let classes = Classes::parse("3:3000,4:1000,6:strict").expect("a list");
        let rates = [BitRate::gbps(100)].into_iter();
        Report::new(ReportConfig { scope, wait }, &Scheduler::new(classes.services()), rates)
    }

    fn head(priority: u8) -> Head {
        Head { priority, is_data: true, size: 1_000, queue: 90_000, arrived: Nanos(1_000), ..Head::default() }
    }

    #[test]
    fn req_29_a_class_is_measured_against_its_share() {
        let mut report = report(Scope::Queue, Wait::Length);
        report.count(0, 3, 3_000);
        report.count(0, 4, 3_000);
        report.count(0, 6, 3_000);
        // Three quarters and one quarter.
        let read = |priority| report.read(0, Nanos(2_000), &head(priority), 1_000_000, 7_500);
        assert_eq!(read(3), (4_000, 10_000));
        assert_eq!(read(4), (12_000, 30_000));
        assert_eq!(read(6), (3_000, 7_500), "a strict class has the link");
    }

    /// What is written with the link's code of B comes to the same U as the class's own counters with its share for B,
    /// and as its sojourn times: 2 and 3 us in the switch, 6000 and 7500 bytes behind, 9000 bytes sent in 4 us.
    #[test]
    fn req_28_and_29_scaled_counters_give_the_load_that_the_draft_means() {
        let modulus = Modulus { ts: 1 << 24, tx_bytes: 1 << 40 };
        let t = Nanos(13_000);
        let load = |comparison| {
            let Comparison::Load(load) = comparison else { panic!("{comparison:?}") };
            load.utilisation
        };
        let share = BitRate::gbps(25);
        let own = [(8_000, 0, 7_500), (12_000, 9_000, 6_000)];
        let own = own.map(|(ts, tx_bytes, qlen)| Hop { rate: share, ts, tx_bytes, qlen });
        let sojourns = [Nanos(3_000), Nanos(2_000)];
        let written = |wait| {
            let mut report = report(Scope::Queue, wait);
            [0, 1].map(|n| {
                let Hop { ts, tx_bytes, qlen, .. } = own[n];
                report.count(0, 4, if n == 0 { 0 } else { tx_bytes as u32 });
                let head = Head { arrived: Nanos(ts).saturating_sub(sojourns[n]), ..head(4) };
                let (tx_bytes, qlen) = report.read(0, Nanos(ts), &head, 1_000_000, qlen);
                Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen }
            })
        };
        let of = |[earlier, later]: &[Hop; 2]| load(Comparison::of(&modulus, earlier, later, t));
        assert_abs_diff_eq!(of(&written(Wait::Length)), of(&own), epsilon = 1e-9);
        // 18 of 25 Gb/s; 6000 bytes take 1.92 us at 25 Gb/s.
        assert_abs_diff_eq!(of(&own), 0.72 + 1.92 / 13.0, epsilon = 1e-9);
        assert_abs_diff_eq!(of(&written(Wait::Sojourn)), 0.72 + 2.0 / 13.0, epsilon = 1e-9);
    }

    #[test]
    fn req_28_the_time_in_the_switch_stands_for_its_queue() {
        let read = |scope| report(scope, Wait::Sojourn).read(0, Nanos(3_000), &head(3), 1_000_000, 7_500);
        assert_eq!(read(Scope::Port), (1_000_000, 25_000), "2 us at 100 Gb/s");
        assert_eq!(read(Scope::Queue), (0, 25_000));
    }
}
