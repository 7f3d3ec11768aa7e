// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch that does not report to every packet: once in some time, or upon congestion
//! (draft-pan-tsvwg-hpccplus-02, section 6; REQ-60).
//!
//! A sender chooses which of its packets collect; a switch chooses to which of these it adds its record, each hop by
//! itself, with nothing but a time for each port. So a packet arrives with the records of some hops, and only layouts whose
//! records say which link they are of can leave a hop out:
//! [`Layout::names_links`](crate::telemetry::Layout::names_links). What a sender makes of them is in
//! [`KnownLinks`](crate::telemetry::KnownLinks).

use crate::units::Nanos;
use alloc::vec::Vec;

crate::named! {
    /// To which packets that collect telemetry a switch adds its record.
    #[derive(Default)]
    pub enum Reported {
        /// To all of them.
        #[default]
        All = "all",
        /// To the first that leaves a port so much later than the last one.
        Interval = "interval",
        /// To these, and to each behind which a queue waits.
        Congestion = "congestion",
    }
}

/// When a switch adds its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordsConfig {
    /// To which packets.
    pub to: Reported,
    /// Least time between two records of a port without congestion; `None`: T.
    pub interval: Option<Nanos>,
    /// A longer queue than so many bytes is congestion.
    pub threshold: u64,
}

/// The choice of one switch.
#[derive(Clone, Debug)]
pub struct Records {
    config: RecordsConfig,
    interval: Nanos,
    /// When the next record of each port is due.
    due: Vec<Nanos>,
}

impl Records {
    /// Of a switch with so many ports that has not reported yet; `base_rtt` is T.
    pub fn new(config: RecordsConfig, base_rtt: Nanos, ports: usize) -> Self {
        Records { config, interval: config.interval.unwrap_or(base_rtt), due: alloc::vec![Nanos(0); ports] }
    }

    /// Whether a packet that collects and leaves `egress` before a queue of so many bytes gets a record.
    pub fn reports(&mut self, egress: u16, now: Nanos, queue: u64) -> bool {
        let congested = match self.config.to {
            Reported::All => true,
            Reported::Interval => false,
            Reported::Congestion => queue > self.config.threshold,
        };
        let Some(due) = self.due.get_mut(usize::from(egress)) else { return false };
        if now < *due && !congested {
            return false;
        }
        *due = now + self.interval;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet each 100 ns for 10 us at port 0, a queue behind those of the last 2 us; port 1 has its own time.
    #[test]
    fn req_60_a_port_reports_once_in_a_time_and_upon_congestion() {
        let reports = |to| {
            let config = RecordsConfig { to, interval: Some(Nanos(1_000)), threshold: 500 };
            let mut records = Records::new(config, Nanos(7), 2);
            let count = (0..100u64).filter(|n| records.reports(0, Nanos(n * 100), if *n < 80 { 500 } else { 501 }));
            (count.count(), records.reports(1, Nanos(0), 0), records.reports(1, Nanos(999), 0))
        };
        assert_eq!(reports(Reported::All), (100, true, true));
        assert_eq!(reports(Reported::Interval), (10, true, false));
        assert_eq!(reports(Reported::Congestion), (8 + 20, true, false));
    }

    /// Upon congestion at 500 and 600 ns, the next without it is due at 1.6 us, not at 1 us.
    #[test]
    fn a_record_upon_congestion_begins_the_time_anew() {
        let config = RecordsConfig { to: Reported::Congestion, interval: Some(Nanos(1_000)), threshold: 500 };
        let mut records = Records::new(config, Nanos(7), 1);
        let queue = |n| if n == 5 || n == 6 { 501 } else { 0 };
        let reported: Vec<u64> = (0..30).filter(|&n| records.reports(0, Nanos(n * 100), queue(n))).collect();
        assert_eq!(reported, [0, 5, 6, 16, 26]);
    }
}
