// SPDX-License-Identifier: GPL-2.0-only
//! Counts PFC pauses and adds up how long they lasted.

use std::collections::BTreeMap;

use super::pfc_txt::PfcEvent;

/// Pauses so far. A port is taken as paused from its first pause frame to the next resume frame, whichever
/// priorities they name.
#[derive(Clone, Debug, Default)]
pub(crate) struct PauseMeter {
    pauses: u64,
    /// Time that each port (by node and port number) was paused in pauses that are over, in ns.
    paused_ns: BTreeMap<(u32, u32), u64>,
    /// Since when each port (by node and port number) is paused, in ns.
    since: BTreeMap<(u32, u32), u64>,
}

impl PauseMeter {
    /// Takes note of a frame.
    pub(crate) fn record(&mut self, event: &PfcEvent) {
        let port = (event.node, event.port);
        if event.pause {
            self.pauses += 1;
            self.since.entry(port).or_insert(event.time_ns);
            return;
        }
        if let Some(since) = self.since.remove(&port) {
            *self.paused_ns.entry(port).or_default() += event.time_ns.saturating_sub(since);
        }
    }

    /// Pause frames that were received; resumes do not count.
    pub(crate) fn pauses(&self) -> u64 {
        self.pauses
    }

    /// Time paused until `now_ns`, summed over ports, in ns.
    pub(crate) fn paused_ns(&self, now_ns: u64) -> u64 {
        let open: u64 = self.since.values().map(|since| now_ns.saturating_sub(*since)).sum();
        self.paused_ns.values().sum::<u64>() + open
    }

    /// Time that one port was paused until `now_ns`, in ns.
    pub(crate) fn port_paused_ns(&self, node: u32, port: u32, now_ns: u64) -> u64 {
        let over = self.paused_ns.get(&(node, port)).copied().unwrap_or(0);
        over + self.since.get(&(node, port)).map_or(0, |since| now_ns.saturating_sub(*since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_last_until_the_resume_or_the_end() {
        let mut meter = PauseMeter::default();
        let mut at = |time_ns, node, pause| {
            meter.record(&PfcEvent { time_ns, node, is_switch: false, port: 1, pause });
        };
        at(100, 1, true);
        at(110, 1, true);
        at(150, 1, false);
        at(160, 1, false);
        at(200, 2, true);
        assert_eq!(meter.pauses(), 3);
        assert_eq!(meter.paused_ns(230), 50 + 30);
        assert_eq!([1, 2, 3].map(|node| meter.port_paused_ns(node, 1, 230)), [50, 30, 0]);
    }
}
