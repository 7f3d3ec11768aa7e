// SPDX-License-Identifier: GPL-2.0-only
//! Links of receivers on which so many flows are at a time that their least rates fill them: nothing controls them then.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::cc::Algorithm;
use hpcc_core::transport::{Protocol, QueuePairs};
use hpcc_core::units::BitRate;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The flows to one host that cannot have ended yet, and their least rates.
#[derive(Default)]
struct Arriving {
    ends: BinaryHeap<Reverse<(u64, u64)>>,
    least: u64,
}

/// A link that the flows that it has at a time fill by themselves: a control needs more than a twentieth of it.
struct Crowd {
    host: u32,
    flows: usize,
    least: BitRate,
}

/// Counts flows at a time.
pub(crate) struct Crowded {
    /// `None` where flows have no least rate, or share queue pairs.
    algorithm: Option<Box<dyn Algorithm>>,
    /// The capacity of each node's links together.
    rates: Vec<u64>,
    arriving: Vec<Arriving>,
    worst: Option<Crowd>,
}

impl Crowded {
    pub fn new(scenario: &Scenario) -> Crowded {
        let settings = &scenario.settings;
        let counts =
            settings.protocol.protocol == Protocol::Rdma && settings.transport.queue_pairs != QueuePairs::PerPair;
        let mut rates = vec![0_u64; scenario.network.nodes.len()];
        for link in &scenario.network.links {
            for end in [link.a, link.b] {
                rates[end as usize] = rates[end as usize].saturating_add(link.rate.0);
            }
        }
        let arriving = rates.iter().map(|_| Arriving::default()).collect();
        Crowded { algorithm: counts.then(|| scenario.algorithm().clone_algorithm()), rates, arriving, worst: None }
    }

    /// Looks at a flow. None ends before its receiver's links could have carried it. Returns how many go to its receiver at that
    /// time, 0 where they are not counted.
    pub fn see(&mut self, flow: &Flow) -> usize {
        let rate = |node: u32| self.rates[node as usize].max(1);
        let Some(least) = self.algorithm.as_ref().and_then(|known| known.min_rate(BitRate(rate(flow.src)))) else {
            return 0;
        };
        let room = rate(flow.dst);
        let lasts = u128::from(flow.size) * 8_000_000_000 / u128::from(room);
        let end = flow.start.0.saturating_add(u64::try_from(lasts).unwrap_or(u64::MAX));
        let arriving = &mut self.arriving[flow.dst as usize];
        while let Some(&Reverse((_, rate))) = arriving.ends.peek().filter(|first| first.0.0 <= flow.start.0) {
            arriving.ends.pop();
            arriving.least -= rate;
        }
        arriving.ends.push(Reverse((end, least.0)));
        arriving.least += least.0;
        let known = self.worst.as_ref().map_or(0, |worst| worst.least.0);
        if arriving.least > (room / 20 * 19).max(known) {
            let (flows, least) = (arriving.ends.len(), BitRate(arriving.least));
            self.worst = Some(Crowd { host: flow.dst, flows, least });
        }
        arriving.ends.len()
    }

    /// What the user should know.
    pub fn note(&self) -> Option<String> {
        let Crowd { host, flows, least } = self.worst.as_ref()?;
        Some(format!(
            "{flows} flows at a time go to host {host}, and their least rates add up to {least} of its {}: nothing is left to \
             control. Expected a lower congestion_control.min_rate",
            BitRate(self.rates[*host as usize])
        ))
    }
}
