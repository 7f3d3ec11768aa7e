// SPDX-License-Identifier: GPL-2.0-only
//! Attacks against the flows that there are: one that can hit none tells nothing.

use crate::error::InputError;
use crate::flow::Flow;
use crate::flows::Traffic;
use crate::scenario::{Places, Scenario};
use hpcc_core::attack::{Aim, AttackKind, AttackSettings};
use hpcc_core::topology::{Network, NodeSet};

/// The attacks that need flows and have found none yet.
pub(super) struct Attacked {
    network: Network,
    /// Each with its number and its victims.
    waiting: Vec<(usize, AttackSettings, NodeSet)>,
}

impl Attacked {
    pub fn new(scenario: &Scenario) -> Attacked {
        let network = if scenario.attacks.is_empty() { Network::default() } else { scenario.network.clone() };
        let needs_flows = |(_, attack): &(usize, &AttackSettings)| attack.kind != AttackKind::FloodedFastCnp;
        let with_victims = |(number, attack): (usize, &AttackSettings)| {
            // Checked: the text names hosts.
            Some((number, attack.clone(), attack.victims(&scenario.network).ok()?))
        };
        let waiting = scenario.attacks.iter().enumerate().filter(needs_flows).filter_map(with_victims).collect();
        Attacked { network, waiting }
    }

    /// Looks at a flow of this traffic.
    pub fn see(&mut self, traffic: &str, flow: &Flow) {
        let Attacked { network, waiting } = self;
        let aim = Aim { traffic, src: flow.src, dst: flow.dst, start: flow.start };
        waiting.retain(|(_, attack, victims)| !attack.aims_at(victims, &aim, network));
    }

    /// Refuses an attack that has nothing to hit; where the traffic is random, another seed may bring some, and this is a note.
    pub fn settle(&self, scenario: &mut Scenario, traffic: &[Traffic], places: &Places) -> Result<(), InputError> {
        for (number, attack, _) in &self.waiting {
            let about = attack.traffic.as_ref().map_or_else(String::new, |names| format!(" of traffic \"{names}\""));
            let is_receiver = attack.kind.needs_receiver() && self.network.is_host(attack.from);
            let to = if is_receiver { format!(" to host {}, which attacks", attack.from) } else { String::new() };
            let early = attack.stop.map_or_else(String::new, |stop| format!(" that starts before {stop}"));
            let reason = format!("no victim sends a flow{about}{early}{to}");
            let is_about = |name: &str| attack.traffic().is_none_or(|mut names| names.any(|about| about == name));
            let may_come = traffic.iter().any(|traffic| traffic.offer.is_some() && is_about(&traffic.group));
            match places.victims.get(*number).filter(|_| !may_come) {
                Some(place) => return Err(place.error(format!("{reason}; expected victims that do"))),
                None => scenario.notes.push(format!("attack {} can hit nobody: {reason}", number + 1)),
            }
        }
        Ok(())
    }
}
