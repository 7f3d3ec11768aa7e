// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which settings there are: the section of files that each belongs to, and whose it is: the network's, a host's, a switch's. In
//! ns-3 that is the object whose attribute it is.

use super::{NodeSettings, control};
use crate::settings::{Setting, Settings, Value, camel_case};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Who has settings, in ns-3 as attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The network: all nodes share them.
    Network,
    /// Each host.
    Host,
    /// Each switch.
    Switch,
    /// What hosts do about Fast CNP.
    FastCnpHost,
    /// What switches do about Fast CNP.
    FastCnpSwitch,
    /// None: a program says it by the objects that it makes.
    Nobody,
}

/// Settings that belong together.
#[derive(Clone)]
pub struct Part<'a> {
    /// The section of files.
    pub section: &'static str,
    /// Who has them, but for those that are [of the network](Setting::of_network).
    pub owner: Owner,
    /// What the names of the attributes begin with.
    pub prefix: String,
    /// The algorithm whose parameters they are, if they are.
    pub algorithm: Option<&'a str>,
    /// Their present values.
    pub settings: &'a dyn Settings,
}

impl Part<'_> {
    /// Who has a setting.
    pub fn owner_of(&self, setting: &Setting) -> Owner {
        if setting.of_network { Owner::Network } else { self.owner }
    }

    /// The attribute of a setting. The choice of an algorithm has the name of its part.
    pub fn attribute(&self, key: &str) -> String {
        if key == control::KEY { self.prefix.clone() } else { self.prefix.clone() + &camel_case(key) }
    }
}

/// All parts, in the order of documentation.
pub(super) fn parts(node: &NodeSettings) -> Vec<Part<'_>> {
    let part = |section, owner, prefix: &str, settings| Part {
        section,
        owner,
        prefix: prefix.into(),
        algorithm: None,
        settings,
    };
    let mut parts = vec![
        part("compatibility", Owner::Network, "", &node.faults as &dyn Settings),
        part("wire", Owner::Network, "Wire", &node.wire),
        part("telemetry", Owner::Network, "Telemetry", &node.layout),
        part("telemetry", Owner::Host, "Telemetry", &node.feedback),
        part("transport", Owner::Nobody, "", &node.protocol),
        part("transport", Owner::Network, "Transport", &node.host_transport),
        part("transport", Owner::Host, "", &node.transport),
        part("receive", Owner::Host, "Receive", &node.receive),
        part("switch", Owner::Switch, "", &node.switch),
        part("load_balancing", Owner::Switch, "LoadBalancing", &node.load_balancing),
        part("fast_cnp", Owner::FastCnpSwitch, "", &node.fast_cnp_switch),
        part("fast_cnp", Owner::Network, "FastCnp", &node.fast_cnp),
        part("fast_cnp", Owner::FastCnpHost, "", &node.fast_cnp_host),
        part("congestion_control", Owner::Host, "CongestionControl", &node.control),
    ];
    parts.extend(node.control.algorithms.iter().map(|algorithm| Part {
        section: "congestion_control",
        owner: Owner::Host,
        prefix: camel_case(algorithm.name()),
        algorithm: Some(algorithm.name()),
        settings: algorithm.as_ref(),
    }));
    parts
}

/// The value of a setting of a section; of algorithms that of the one that is named, or else the choice.
pub(super) fn value(node: &NodeSettings, section: &str, algorithm: Option<&str>, key: &str) -> Option<Value> {
    let algorithm = algorithm.filter(|_| section == "congestion_control");
    let is_it = |part: &Part<'_>| part.section == section && part.algorithm == algorithm;
    parts(node).into_iter().filter(is_it).find_map(|part| part.settings.get(key))
}

/// The settings of a section. Of algorithms those of the one that is named, or of the chosen one.
pub(super) fn of_section<'a>(
    node: &'a mut NodeSettings,
    section: &str,
    algorithm: Option<&str>,
) -> Vec<&'a mut dyn Settings> {
    match section {
        "congestion_control" => match algorithm {
            None => vec![&mut node.control],
            Some(name) => match node.control.algorithms.iter_mut().find(|known| known.name() == name) {
                Some(algorithm) => vec![algorithm.as_mut()],
                None => Vec::new(),
            },
        },
        "compatibility" => vec![&mut node.faults],
        "wire" => vec![&mut node.wire],
        "telemetry" => vec![&mut node.layout, &mut node.feedback],
        "transport" => vec![&mut node.protocol, &mut node.host_transport, &mut node.transport],
        "receive" => vec![&mut node.receive],
        "switch" => vec![&mut node.switch],
        "load_balancing" => vec![&mut node.load_balancing],
        "fast_cnp" => vec![&mut node.fast_cnp_switch, &mut node.fast_cnp, &mut node.fast_cnp_host],
        _ => Vec::new(),
    }
}
