// SPDX-License-Identifier: GPL-2.0-only
//! One run of a sweep, and what is to be known of its scenario.

use std::path::PathBuf;

use hpcc_core::telemetry::{Layout, Snapshot};
use hpcc_core::topology::NodeKind;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::scenario::Scenario;

use crate::simulator::Kind;
use hpcc_measures::quantity::Series;

/// One run of the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Index of the variant.
    pub variant: usize,
    /// Number of the combination of the axes' values; 0 without an axis.
    pub step: usize,
    /// The seed, if the sweep file gives any.
    pub seed: Option<u64>,
    /// Folder below the sweep's: `dcqcn/load-0.5/seed-2`.
    pub folder: PathBuf,
    /// `KEY=VALUE` each.
    pub overrides: Vec<String>,
    /// Facts of the scenario that no result has.
    pub facts: Facts,
    /// Hash of all that the run is made from, without the program.
    pub inputs: String,
    /// What simulates it.
    pub simulator: Kind,
    /// What it needs ns-3 for, if nobody has chosen that.
    pub needs_ns3: Option<String>,
}

/// Facts of a scenario for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of telemetry in a frame as it leaves its sender.
    pub sender_bytes: usize,
    /// Bytes that each switch adds.
    pub hop_bytes: usize,
    /// Ports of switches.
    pub switch_ports: usize,
    /// Ports of switches and hosts.
    pub ports: usize,
    /// Whether the run records each [`Series`].
    pub records: [bool; 3],
}

impl Facts {
    /// Whether the run records a time series.
    pub fn records(&self, series: Series) -> bool {
        self.records[series as usize]
    }

    /// The facts of a scenario.
    pub fn of(scenario: &Scenario) -> Facts {
        let network = &scenario.network;
        let ends = network.links.iter().flat_map(|link| [link.a, link.b]);
        let is_switch = |node: &u32| network.nodes.get(*node as usize) == Some(&NodeKind::Switch);
        let sender = scenario.layout().initial_len();
        Facts {
            sender_bytes: sender,
            hop_bytes: after_a_hop(scenario.layout()).saturating_sub(sender),
            switch_ports: ends.filter(is_switch).count(),
            ports: 2 * network.links.len(),
            records: [
                scenario.monitor.queue_interval.is_some(),
                scenario.monitor.goodput_interval.is_some(),
                scenario.monitor.control_interval.is_some(),
            ],
        }
    }
}

/// Bytes of the telemetry section behind the first switch, by the codec itself.
fn after_a_hop(layout: Layout) -> usize {
    let snapshot = Snapshot {
        switch_id: 1,
        ingress: 1,
        egress: 2,
        queue: 3,
        hop_limit: 63,
        rate: BitRate::gbps(100),
        arrived: Nanos(0),
        now: Nanos(0),
        tx_bytes: 0,
        qlen: 0,
    };
    let mut section = [0; hpcc_core::telemetry::MAX_SECTION];
    let len = layout.prepare(&mut section, Nanos(0));
    layout.stamp(&mut section, len, &snapshot)
}
