// SPDX-License-Identifier: GPL-2.0-only
//! `fct.csv`: one row per completed flow, in the order of completion.

use serde::{Deserialize, Serialize};

use super::csv_row::csv_row;

csv_row! {
    /// A completed flow.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FctRecord in "fct.csv" {
        /// Number of the flow, in the order of the scenario.
        flow: u32,
        /// Sending node.
        src: u32,
        /// Receiving node.
        dst: u32,
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
        /// Priority group, 0 to 7.
        priority: u8,
        /// Payload in bytes.
        size as size_bytes: u64,
        /// When the queue pair was created, in ns.
        start_ns: u64,
        /// From the start until the sender has the last acknowledgement, in ns.
        fct_ns: u64,
        /// What it would be with the flow alone in the network, in ns.
        ideal_ns: u64,
        [slowdown],
        /// Number of its group in the list of the summary.
        group: u32,
    }
}

impl FctRecord {
    /// Completion time relative to the ideal one.
    ///
    /// Below 1 only where the ideal time is no bound: by the formula of the 2019 simulator's profile. An ideal time of
    /// 0, of a flow that had no path, gives 1.
    pub fn slowdown(&self) -> f64 {
        if self.ideal_ns == 0 {
            return 1.0;
        }
        self.fct_ns as f64 / self.ideal_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowdown_hides_nothing() {
        let flow = |fct_ns, ideal_ns| FctRecord { fct_ns, ideal_ns, ..FctRecord::default() };
        assert_eq!(flow(300, 200).slowdown(), 1.5);
        assert_eq!(flow(199, 200).slowdown(), 0.995, "a fault of the ideal time is seen");
        assert_eq!(flow(199, 0).slowdown(), 1.0);
    }
}
