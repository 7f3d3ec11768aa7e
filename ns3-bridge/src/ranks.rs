// SPDX-License-Identifier: GPL-2.0-only
//! Runs that several processes share: their windows, and who simulates which node.

use crate::network::Network;
use crate::scenario::Scenario;
use hpcc_core::topology::partition::Units;
use hpcc_core::units::Nanos;
use hpcc_formats::scenario::EventOrder;
use hpcc_formats::share;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    extern "C++" {
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/scenario.rs.h");
        type Network = crate::network::Network;
        type Scenario = crate::scenario::Scenario;
    }

    extern "Rust" {
        /// Whether events of the same nanosecond run in an order that does not depend on the number of processes.
        fn is_canonical(scenario: &Scenario) -> bool;
        /// Divides the network of a run: the process, from 0 on, of each node. Says why if processes cannot share the run.
        fn divide_scenario(scenario: &Scenario, processes: u32) -> Result<Vec<u32>>;
        /// Time in ns in which nothing that happens in one process matters to another, however the network is divided.
        fn window_ns(network: &Network) -> u64;
        /// Divides the network: the process, from 0 on, of each node. Says why if that cannot be.
        fn divide(network: &Network, processes: u32) -> Result<Vec<u32>>;
    }
}

/// The end of a run is noticed at the end of a window, however long the links are.
const LONGEST_WINDOW: Nanos = Nanos(10_000);

pub fn is_canonical(scenario: &Scenario) -> bool {
    scenario.get().order == EventOrder::Canonical
}

pub fn divide_scenario(scenario: &Scenario, processes: u32) -> Result<Vec<u32>, String> {
    share::divide(scenario.get(), processes)
}

pub fn window_ns(network: &Network) -> u64 {
    Units::new(network.get()).window().map_or(LONGEST_WINDOW, |window| window.min(LONGEST_WINDOW)).0
}

pub fn divide(network: &Network, processes: u32) -> Result<Vec<u32>, String> {
    share::divide_network(network.get(), processes)
}
