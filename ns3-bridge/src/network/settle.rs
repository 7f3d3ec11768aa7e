// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a network and its nodes: given one by one, settled and checked together.

use super::Network;
use crate::settings::ffi::Holder;
use crate::settings::{Settings, check_given, idle_parameters, told};
use hpcc_core::node::{self, Given, Kind, Misfit, NodeSettings};
use hpcc_core::settings::Named;
use hpcc_core::wire::WireProfile;
use std::rc::Rc;

pub fn accepts_notifications(network: &Network, node: u32, fast_cnp: &Settings) -> bool {
    let acceptor = fast_cnp.node.fast_cnp_host.acceptor(&fast_cnp.node.fast_cnp, node, &network.network);
    acceptor.is_ok_and(|acceptor| acceptor.enabled)
}

/// Refuses a border where frames are not IPv6: notifications are.
fn check_border(node: u32, profile: WireProfile) -> Result<(), String> {
    if profile == WireProfile::RoceV6 {
        return Ok(());
    }
    Err(format!(
        "node {node} is a border of Fast CNP (SetFastCnpBorder()), whose packets are IPv6; the wire profile is \"{}\"; \
         expected \"{}\"",
        profile.name(),
        WireProfile::RoceV6.name()
    ))
}

impl Network {
    pub fn add_settings(&mut self, settings: &Settings, fast_cnp: &Settings) {
        let kind = match settings.stack {
            _ if !self.network.is_host(self.given.len() as u32) => Kind::Switch,
            Some((protocol, ip, bytes)) => Kind::Stack(protocol, ip, bytes),
            None => Kind::Host,
        };
        let (own, agent) = (&settings.node, &fast_cnp.node);
        let is_known = |known: &&(Rc<NodeSettings>, Rc<NodeSettings>, Rc<NodeSettings>)| {
            Rc::ptr_eq(&known.0, own) && Rc::ptr_eq(&known.1, agent)
        };
        let both = match self.merged.as_ref().filter(is_known) {
            Some((.., both)) => Rc::clone(both),
            None => Rc::new(NodeSettings {
                fast_cnp_switch: agent.fast_cnp_switch.clone(),
                fast_cnp_host: agent.fast_cnp_host.clone(),
                ..(**own).clone()
            }),
        };
        self.merged = Some((Rc::clone(own), Rc::clone(agent), Rc::clone(&both)));
        self.given.push(Given { kind, settings: both });
        self.of_scenario = settings.of_scenario;
    }

    pub fn settle(&mut self, shared: &Settings) -> Result<(), String> {
        self.settings = match self.of_scenario {
            true => self.given.iter().map(|given| Rc::clone(&given.settings)).collect(),
            false => self.settle_given(&shared.node).map_err(|(node, wrong)| {
                let kind = if self.given[node].kind == Kind::Switch { "switch" } else { "host" };
                format!("{kind} {node}: {wrong}")
            })?,
        };
        let switches = self.given.iter().zip(&self.settings).filter(|(given, _)| given.kind == Kind::Switch);
        self.pfc_priorities = switches.map(|(_, own)| own).find_map(|own| own.priorities());
        let borders = || self.borders.iter().map(|&(node, _)| (node, self.settings[node as usize].wire.profile));
        borders().try_for_each(|(node, profile)| check_border(node, profile))
    }

    /// What nodes run by, or what is wrong, and at which.
    fn settle_given(&self, shared: &NodeSettings) -> Result<Vec<Rc<NodeSettings>>, (usize, String)> {
        idle_parameters(&self.given).iter().for_each(|note| eprintln!("hpcc: note: {note}"));
        let settled = node::settle(&self.network, shared, &self.given);
        let settled = settled.map_err(|Misfit { node, wrong }| (node, told(wrong)))?;
        if let Some(main) = settled.nodes.get(settled.main) {
            check_given(shared, main, &[Holder::Network]).map_err(|wrong| (settled.main, wrong))?;
        }
        let mut known: Option<&Rc<NodeSettings>> = None;
        for (place, (given, own)) in self.given.iter().zip(&settled.nodes).enumerate() {
            if known.replace(own).is_none_or(|known| !Rc::ptr_eq(known, own)) {
                let holders = match given.kind {
                    Kind::Switch => [Holder::Switch, Holder::FastCnpSwitch],
                    Kind::Host | Kind::Stack(..) => [Holder::Host, Holder::FastCnpHost],
                };
                check_given(&given.settings, own, &holders).map_err(|wrong| (place, wrong))?;
            }
        }
        Ok(settled.nodes)
    }

    pub fn settings_of(&self, node: u32) -> Box<Settings> {
        let own = Rc::clone(&self.settings[node as usize]);
        if self.of_scenario { Settings::settled(own) } else { Settings::of(own) }
    }

    pub fn check_priority(&self, what: &str, priority: u8) -> Result<(), String> {
        self.pfc_priorities.map_or(Ok(()), |kept| node::check_priority(kept, what, priority).map_err(told))
    }

    pub fn check_flow(&self, priority: u8, receiver: &Settings) -> Result<(), String> {
        let transport = receiver.node.transport();
        let (answers, cnps) = (transport.answer_priority(priority), transport.notification_priority());
        let check = |kept| {
            node::check_flow(kept, priority, answers).and_then(|()| node::check_notifications(kept, cnps)).map_err(told)
        };
        self.pfc_priorities.map_or(Ok(()), check)
    }

    pub fn check_hops(&self, host: &Settings, src: u32, dst: u32, bytes: u64) -> Result<(), String> {
        let engine = self.engine();
        let fabric = engine.fabric();
        if bytes <= fabric.max_bdp() {
            return Ok(());
        }
        host.check_hops(|| fabric.path(src, dst).map_or(0, |path| usize::from(path.links).saturating_sub(1)))
    }
}
