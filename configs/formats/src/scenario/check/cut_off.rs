// SPDX-License-Identifier: GPL-2.0-only
//! Flows that failed links have cut off as they begin: they wait for a way, which there must be.

use super::flows::Reach;
use crate::flow::Flow;
use crate::scenario::{LinkFailure, Scenario};
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use std::collections::BTreeSet;

/// Which hosts reach each other, from each time on at which a link fails or comes up.
pub(super) struct CutOff {
    /// By rising time; what is reached is found out when it is first asked for.
    states: Vec<(Nanos, BTreeSet<u32>, Option<Reach>)>,
}

impl CutOff {
    pub fn new(scenario: &Scenario) -> CutOff {
        let failures = &scenario.link_failures;
        let times = failures.iter().flat_map(|failure| [Some(failure.time), failure.until]).flatten();
        let times: BTreeSet<Nanos> = times.filter(|&time| time < scenario.stop).collect();
        let down =
            |now| failures.iter().filter(move |failure| is_down(failure, now)).flat_map(|failure| &failure.links);
        CutOff { states: times.into_iter().map(|now| (now, down(now).copied().collect(), None)).collect() }
    }

    /// When the last link failed, if there is no way for a flow from its start to the end of the run.
    pub fn for_good(&mut self, flow: &Flow, network: &Network) -> Option<Nanos> {
        let first = self.states.partition_point(|&(time, ..)| time <= flow.start).checked_sub(1)?;
        let mut reaches = |(_, down, reach): &mut (Nanos, BTreeSet<u32>, Option<Reach>)| {
            reach.get_or_insert_with(|| Reach::without(network, down)).connects(flow.src, flow.dst)
        };
        let (since, rest) = (self.states[first].0, &mut self.states[first..]);
        (!rest.iter_mut().any(&mut reaches)).then_some(since)
    }
}

fn is_down(failure: &LinkFailure, now: Nanos) -> bool {
    failure.time <= now && failure.until.is_none_or(|until| now < until)
}
