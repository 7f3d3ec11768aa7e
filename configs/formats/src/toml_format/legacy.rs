// SPDX-License-Identifier: GPL-2.0-only
//! `[legacy]`: nodes of a mixed deployment that know nothing of telemetry.

use super::assign::set_all;
use super::document::Document;
use super::keys::{Group, Read, keys};
use super::source::Entry;
use hpcc_core::cc::{Algorithm, Reads};
use hpcc_core::node::{LinkRates, Located, NodeSettings, lowest_rate};
use hpcc_core::settings::{Conflict, Named};
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::transport::{CongestionNotification, TransportSettings};
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::place::Place;
use hpcc_model::scenario::{Legacy, Scenario};
use toml::Value;

const SECTION: &str = "legacy";
const ALGORITHM: &str = "algorithm";

keys! {
    Nodes {
        /// The hosts and switches that know nothing of telemetry. Give it to study a network that is only partly upgraded.
        nodes: String = "none".into();
        /// As `transport.window`, for these hosts; by default that, or what their algorithm needs where that is `auto`.
        window: Option<bool>;
        /// As `transport.ack_priority`, for these hosts; by default that, or what their algorithm needs where that is `auto`.
        ack_priority: Option<u8> {0..=7};
        /// As `transport.cnp_priority`, for these hosts; by default that.
        cnp_priority: Option<u8> {1..=7};
    }
}

/// The keys of the section that are no parameters of the algorithm.
fn own() -> Vec<&'static str> {
    [ALGORITHM].into_iter().chain(Nodes::keys().iter().map(|key| key.setting.key)).collect()
}

/// The nodes, and the algorithm of those that are hosts.
pub(super) struct LegacyNodes {
    nodes: Vec<u32>,
    algorithm: Box<dyn Algorithm>,
    window: Option<bool>,
    ack_priority: Option<u8>,
    cnp_priority: Option<u8>,
}

/// Reads the section, beside settings that may not be resolved yet.
pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    settings: &NodeSettings,
) -> Result<LegacyNodes, InputError> {
    let section = document.section(SECTION);
    let place = section.as_ref().map_or_else(|| document.file(), Entry::place);
    let mut entries = section.map_or_else(|| Ok(Vec::new()), |section| section.section())?;
    let algorithm = algorithm(&mut entries, &place, network, settings)?;
    let keys: Read<Nodes> = Read::new(SECTION, place, entries)?;
    let nodes = NodeSet::parse(&keys.nodes, network);
    let nodes = nodes.map_err(|message| keys.origin.error(&["nodes"], message))?;
    let transport = &settings.host_transport;
    let protocol = settings.protocol.protocol;
    let without = if protocol.is_of_stack() {
        Some(("protocol", protocol.name(), "RDMA's"))
    } else {
        (!transport.is_queue_pairs()).then(|| ("kind", transport.chosen().name(), "one of queue pairs"))
    };
    if let Some((key, value, whose)) = without
        && let Some(host) = nodes.iter().find(|node| network.is_host(*node))
    {
        let message = format!(
            "host {host} cannot be a legacy one with transport.{key} = \"{value}\": a legacy host's algorithm is {whose}; \
             expected switches"
        );
        return Err(keys.origin.error(&["nodes"], message));
    }
    let notifies = settings.transport.congestion_notification == CongestionNotification::Packet;
    if keys.cnp_priority.is_some() && !notifies {
        let message = "cnp_priority belongs to transport.congestion_notification = \"cnp\"";
        return Err(keys.origin.error(&["cnp_priority"], message));
    }
    let nodes = nodes.iter().collect();
    let (window, ack_priority, cnp_priority) = (keys.window, keys.ack_priority, keys.cnp_priority);
    Ok(LegacyNodes { nodes, algorithm, window, ack_priority, cnp_priority })
}

impl LegacyNodes {
    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Has switches mark for legacy hosts, if there are some and they are the only ones who read marks.
    pub(super) fn mark(&self, network: &Network, settings: &mut NodeSettings) {
        if self.nodes.iter().any(|node| network.is_host(*node)) {
            settings.mark_for(&*self.algorithm);
        }
    }

    /// What they run by beside these settings, which are resolved; `given` is the transport as it was before.
    pub(super) fn settle(self, given: &TransportSettings, settings: &NodeSettings, network: &Network) -> Legacy {
        let LegacyNodes { nodes, algorithm, window, ack_priority, cnp_priority } = self;
        let (window, ack_priority) = (window.or(given.window), ack_priority.or(given.ack_priority));
        let cnp_priority = cnp_priority.or(given.cnp_priority);
        let given = TransportSettings { window, ack_priority, cnp_priority, ..given.clone() };
        Legacy { nodes, settings: Some(settings.without_telemetry(&given, algorithm, network)) }
    }
}

/// The algorithms that a host without telemetry can run.
pub(super) fn usable(settings: &NodeSettings) -> impl Iterator<Item = &dyn Algorithm> {
    settings.control.all().filter(|algorithm| algorithm.needs().reads == Reads::Nothing)
}

/// The algorithm of legacy hosts, with the parameters that the section has for it, which are taken out of it.
fn algorithm(
    entries: &mut Vec<Entry<'_>>,
    section: &Place,
    network: &Network,
    settings: &NodeSettings,
) -> Result<Box<dyn Algorithm>, InputError> {
    let mut algorithm = match Entry::take(entries, ALGORITHM) {
        None => settings.control.named(Legacy::algorithm().name()).unwrap_or_else(|_| Legacy::algorithm()),
        Some(entry) => chosen(&entry, settings).map_err(|message| entry.error(SECTION, message))?,
    };
    let known = own();
    let (own, parameters) = entries.drain(..).partition(|entry| known.contains(&&*entry.key));
    *entries = own;
    set_all(&mut *algorithm, SECTION, &parameters, &known)?;
    let given = |key: &str| parameters.iter().find(|entry| entry.key == key);
    let wrong = |conflict: Conflict| {
        let place = given(conflict.key).map_or_else(|| section.clone(), Entry::place);
        place.key_error(format!("{SECTION}.{}", conflict.key), conflict.message)
    };
    algorithm.check().map_err(wrong)?;
    if given("min_rate").is_some() {
        lowest_rate(&*algorithm, &LinkRates::of(network)).map_err(wrong)?;
    }
    Ok(algorithm)
}

/// An algorithm that legacy hosts can run: one that reads no telemetry, or of ns-3's TCP.
fn chosen(entry: &Entry<'_>, settings: &NodeSettings) -> Result<Box<dyn Algorithm>, String> {
    let known: Vec<&str> = usable(settings).map(|algorithm| algorithm.name()).collect();
    let Some(Value::String(name)) = entry.value() else {
        return Err(format!("the value is {}; expected one of {}", entry.written(), known.join(", ")));
    };
    let found = settings.control.named(&name).ok();
    found
        .filter(|algorithm| algorithm.needs().reads == Reads::Nothing)
        .ok_or_else(|| format!("unknown algorithm \"{name}\"{}", suggestion(&name, &known)))
}

/// Checks that no switch that knows nothing of telemetry is one that must hide it from its neighbours.
pub(super) fn borders(scenario: &Scenario) -> Result<(), Located> {
    let unaware = |node: &u32| !scenario.settings.switch.stamp_telemetry || scenario.legacy.nodes.contains(node);
    for node in scenario.network.switches().filter(unaware) {
        scenario.node_settings(node).border(node, &scenario.network, false)?;
    }
    Ok(())
}
