// SPDX-License-Identifier: MIT OR Apache-2.0
//! The properties of the HPCC paper's appendix A, shown by the controllers themselves in a network of fluid: flows
//! update together, once in a round of T.
//!
//! In a round every link carries the windows of its flows. What exceeds its capacity * T stands in the queue.

use super::*;
use crate::cc::testing::{LIMITS, ack};
use crate::telemetry::{Hop, HopStack, Modulus};
use crate::units::Bytes;
use alloc::vec::Vec;
use approx::assert_relative_eq;

const MODULUS: Modulus = Modulus { ts: 1 << 40, tx_bytes: 1 << 50 };
const T: u64 = 13_000;
const BDP: f64 = 162_500.0;
const ETA: f64 = 0.95;

struct Network {
    flows: Vec<HpccPlus>,
    /// The links of each flow.
    paths: Vec<Vec<usize>>,
    windows: Vec<f64>,
    /// Capacity of each link, with 1.0 for the ports' line rate.
    capacity: Vec<f64>,
    sent: Vec<f64>,
    now: u64,
    rounds: u64,
}

impl Network {
    /// Every flow has heard once. `windows` are the first ones, in bandwidth-delay products.
    fn new(additive_increase: u64, capacity: &[f64], flows: &[(f64, &[usize])]) -> Self {
        let additive_increase = Some(Bytes(additive_increase));
        let law = WindowLaw { max_stage: 0, additive_increase, min_rate: Some(BitRate(1)), ..WindowLaw::default() };
        let mut network = Network {
            flows: flows
                .iter()
                .map(|_| HpccPlus::new(HpccPlusConfig { law, ..HpccPlusConfig::default() }, LIMITS))
                .collect(),
            paths: flows.iter().map(|(_, path)| path.to_vec()).collect(),
            windows: flows.iter().map(|(window, _)| window * BDP).collect(),
            capacity: capacity.to_vec(),
            sent: capacity.iter().map(|_| 0.0).collect(),
            now: 0,
            rounds: 0,
        };
        for (flow, (window, _)) in network.flows.iter_mut().zip(flows) {
            // Wc is what one commit at U = eta * W_init / W makes of W_init.
            flow.window.compute(ETA / window, true);
        }
        network.feed(&[], false);
        network
    }

    /// Bytes in flight on each link, with 1.0 for its capacity * T.
    fn loads(&self) -> Vec<f64> {
        let mut loads: Vec<f64> = self.capacity.iter().map(|_| 0.0).collect();
        for (window, path) in self.windows.iter().zip(&self.paths) {
            path.iter().for_each(|&link| loads[link] += window / (BDP * self.capacity[link]));
        }
        loads
    }

    /// Gives every flow the records of its links under these loads.
    fn feed(&mut self, loads: &[f64], commit: bool) {
        self.rounds += u64::from(commit);
        let hop = |link: usize| Hop {
            rate: BitRate((self.capacity[link] * 100e9) as u64),
            ts: self.now,
            tx_bytes: self.sent[link] as u64,
            qlen: loads.get(link).map_or(0, |load| ((load - 1.0).max(0.0) * BDP * self.capacity[link]) as u64),
        };
        for ((flow, path), window) in self.flows.iter_mut().zip(&self.paths).zip(&mut self.windows) {
            let mut stack = HopStack::new(MODULUS);
            path.iter().for_each(|&link| stack.push(hop(link)));
            let ack = ack(self.now, self.rounds, self.rounds);
            let decision = flow.decide(&Feedback { telemetry: Telemetry::Hops(&stack), ..ack });
            if let (RateDecision::Window { bytes, .. }, true) = (decision, commit) {
                *window = bytes as f64;
            }
        }
    }

    /// One round: the links carry the windows, then every flow updates. A sample before it keeps the shorter of two
    /// queues from being the former round's.
    fn step(&mut self) {
        let loads = self.loads();
        for commit in [false, true] {
            self.now += T;
            for (sent, (load, capacity)) in self.sent.iter_mut().zip(loads.iter().zip(&self.capacity)) {
                *sent += load.min(1.0) * BDP * capacity;
            }
            self.feed(&loads, commit);
        }
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-3
}

#[test]
fn one_step_brings_a_bottleneck_to_eta() {
    for windows in [[0.1, 0.35, 0.9], [0.01, 0.02, 0.03], [1.0, 1.0, 1.0]] {
        let mut network = Network::new(0, &[1.0], &windows.map(|window| (window, &[0][..])));
        network.step();
        assert!(close(network.loads()[0], ETA), "{:?}", network.loads());
    }
}

/// Three links of different capacity, six flows across one to three of them. After one step no link is above
/// eta, and the one that was fullest is at it; from then on no flow slows down, until each crosses a full link.
/// That takes one step for each link (appendix A of the HPCC paper) only where no flow of a full link crosses another: the part
/// of a link that such flows fill is the factor by which each step shrinks its distance to eta.
#[test]
fn allocations_become_pareto_optimal() {
    let flows: [(f64, &[usize]); 6] =
        [(0.9, &[0, 1, 2]), (0.2, &[0]), (0.7, &[0, 1]), (0.05, &[1, 2]), (0.3, &[2]), (0.6, &[1])];
    let mut network = Network::new(0, &[1.0, 0.5, 0.8], &flows);
    assert!(network.loads()[1] > 4.0);
    network.step();
    assert!(close(network.loads()[1], ETA));
    for _ in 0..30 {
        assert!(network.loads().iter().all(|&load| load < ETA + 1e-3), "{:?}", network.loads());
        let before = network.windows.clone();
        network.step();
        for (before, after) in before.iter().zip(&network.windows) {
            assert!(*after > before - 2.0, "{before} fell to {after}");
        }
    }
    let loads = network.loads();
    for path in &network.paths {
        assert!(path.iter().any(|&link| close(loads[link], ETA)), "{path:?} has room: {loads:?}");
    }
}

/// With W_ai = a the equilibrium is U = eta / (1 - a / W): below 1 if and only if a < W * (1 - eta).
#[test]
fn req_11_the_additive_increase_sets_the_equilibrium() {
    for (step, flows, overloaded) in [(80, 10, false), (70, 100, false), (500, 100, true)] {
        let mut network = Network::new(step, &[1.0], &alloc::vec![(0.05, &[0][..]); flows]);
        for _ in 0..300 {
            network.step();
        }
        let load = network.loads()[0];
        let expected = ETA / (1.0 - step as f64 / network.windows[0]);
        assert_relative_eq!(load, expected, max_relative = 2e-3);
        assert_eq!(load > 1.0, overloaded, "{flows} flows: {load}");
    }
}

/// The additive increase alone makes shares equal, slowly.
#[test]
fn unequal_flows_become_equal() {
    let mut network = Network::new(800, &[1.0], &[(0.9, &[0]), (0.05, &[0])]);
    for _ in 0..1_000 {
        network.step();
    }
    assert_relative_eq!(network.windows[0], network.windows[1], max_relative = 0.02);
}
