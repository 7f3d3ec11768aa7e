// SPDX-License-Identifier: GPL-2.0-only
//! `[legacy]`: nodes of a mixed deployment that know nothing of telemetry.

use super::document::{Document, Entry};
use super::plain::assign;
use crate::error::{InputError, suggestion};
use crate::place::Place;
use crate::scenario::{Legacy, Scenario};
use hpcc_core::cc::{Algorithm, Reads};
use hpcc_core::node::{LinkRates, Located, NodeSettings, lowest_rate};
use hpcc_core::settings::Named;
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::TransportSettings;
use serde::Deserialize;
use toml::{Spanned, Value};

const SECTION: &str = "legacy";

#[derive(Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LegacyKeys {
    /// Numbers of the hosts and switches that know nothing of telemetry. Give it to study a network that is only
    /// partly upgraded.
    #[schemars(with = "Vec<u32>")]
    nodes: Vec<Spanned<u32>>,
}

/// The nodes, and the algorithm of those that are hosts.
pub(super) struct LegacyNodes {
    nodes: Vec<u32>,
    algorithm: Box<dyn Algorithm>,
}

/// Reads the section, beside settings that may not be resolved yet.
pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    settings: &NodeSettings,
) -> Result<LegacyNodes, InputError> {
    let (algorithm, given) = algorithm(document, network, settings)?;
    let (keys, _) = document.optional::<LegacyKeys>("legacy")?;
    let count = network.nodes.len();
    if let Some(node) = keys.nodes.iter().find(|node| *node.get_ref() as usize >= count) {
        let message = format!("there is no node {}; expected 0 to {}", node.get_ref(), count.saturating_sub(1));
        return Err(document.place(node.span()).key_error("legacy.nodes", message));
    }
    let is_host = |node: &&Spanned<u32>| network.nodes[*node.get_ref() as usize] == NodeKind::Host;
    if settings.protocol.protocol.is_of_stack()
        && let Some(host) = keys.nodes.iter().find(is_host)
    {
        let message = format!(
            "host {} cannot be a legacy one with transport.protocol = \"{}\": a legacy host's algorithm is RDMA's; expected \
             switches",
            host.get_ref(),
            settings.protocol.protocol.name()
        );
        return Err(document.place(host.span()).key_error("legacy.nodes", message));
    }
    if let Some((key, place)) = given.filter(|_| !keys.nodes.iter().any(|node| is_host(&node))) {
        let message =
            format!("{key} belongs to legacy hosts, and legacy.nodes names none; expected a host among legacy.nodes");
        return Err(place.key_error(format!("{SECTION}.{key}"), message));
    }
    let mut nodes: Vec<u32> = keys.nodes.into_iter().map(Spanned::into_inner).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(LegacyNodes { nodes, algorithm })
}

impl LegacyNodes {
    /// Has switches mark for legacy hosts, if there are some and they are the only ones who read marks.
    pub(super) fn mark(&self, network: &Network, settings: &mut NodeSettings) {
        if self.nodes.iter().any(|node| network.nodes[*node as usize] == NodeKind::Host) {
            settings.mark_for(&*self.algorithm);
        }
    }

    /// What they run by beside these settings, which are resolved; `given` is the transport as it was before.
    pub(super) fn settle(self, given: &TransportSettings, settings: &NodeSettings, network: &Network) -> Legacy {
        let LegacyNodes { nodes, algorithm } = self;
        Legacy { nodes, settings: Some(settings.without_telemetry(given, algorithm, network)) }
    }
}

/// The algorithms that a host without telemetry can run.
pub(super) fn usable(settings: &NodeSettings) -> impl Iterator<Item = &dyn Algorithm> {
    settings.control.all().filter(|algorithm| algorithm.needs().reads == Reads::Nothing)
}

/// A key that was given, with its place.
type GivenKey = (String, Place);

/// The algorithm of legacy hosts, with the parameters that the section has for it, and the first key that says something of
/// it.
fn algorithm(
    document: &mut Document<'_>,
    network: &Network,
    settings: &NodeSettings,
) -> Result<(Box<dyn Algorithm>, Option<GivenKey>), InputError> {
    let (name, given) = match document.take_key(SECTION, "algorithm") {
        None => (Legacy::algorithm().name().to_string(), None),
        Some(entry) => {
            let name =
                chosen(&entry, settings).map_err(|message| entry.place.key_error("legacy.algorithm", message))?;
            (name, Some((entry.key, entry.place)))
        }
    };
    let found = settings.control.all().find(|algorithm| algorithm.name() == name);
    let mut algorithm = found.map_or_else(Legacy::algorithm, <dyn Algorithm>::clone_algorithm);
    let Some((entries, section)) = document.entries(SECTION, &["nodes"])? else { return Ok((algorithm, given)) };
    let known = algorithm.list();
    let mut places = Vec::new();
    for entry in entries {
        let wrong = |message| entry.place.key_error(format!("{SECTION}.{}", entry.key), message);
        let Some(setting) = known.iter().find(|setting| setting.key == entry.key) else {
            let keys: Vec<&str> = known.iter().map(|setting| setting.key).chain(["nodes", "algorithm"]).collect();
            return Err(wrong(if entry.key == "nodes" {
                format!("the value is {}; expected a list of nodes", entry.written)
            } else {
                let hint = suggestion(&entry.key, &keys);
                format!("unknown key {} in [{SECTION}]{hint} (algorithm = \"{name}\")", entry.key)
            }));
        };
        assign(setting, &entry, |input| algorithm.set(setting.key, input)).map_err(wrong)?;
        places.push((setting, entry.place));
    }
    for (setting, place) in &places {
        if let Some(message) = setting.idle(&*algorithm) {
            return Err(place.key_error(format!("{SECTION}.{}", setting.key), message));
        }
    }
    algorithm.check().map_err(|conflict| {
        let place = places.iter().find(|(setting, _)| setting.key == conflict.key).map_or(&section, |(_, place)| place);
        place.key_error(format!("{SECTION}.{}", conflict.key), conflict.message)
    })?;
    if let Some((_, place)) = places.iter().find(|(setting, _)| setting.key == "min_rate") {
        lowest_rate(&*algorithm, &LinkRates::of(network))
            .map_err(|wrong| place.key_error("legacy.min_rate", wrong.message))?;
    }
    let parameter = || places.into_iter().next().map(|(setting, place)| (setting.key.to_string(), place));
    Ok((algorithm, given.or_else(parameter)))
}

/// The name of an algorithm that legacy hosts can run.
fn chosen(entry: &Entry, settings: &NodeSettings) -> Result<String, String> {
    let known: Vec<&str> = usable(settings).map(|algorithm| algorithm.name()).collect();
    match &entry.value {
        Some(Value::String(name)) if known.contains(&name.as_str()) => Ok(name.clone()),
        Some(Value::String(name)) => Err(format!("unknown algorithm \"{name}\"{}", suggestion(name, &known))),
        _ => Err(format!("the value is {}; expected one of {}", entry.written, known.join(", "))),
    }
}

/// Checks that no switch that knows nothing of telemetry is one that must hide it from its neighbours.
pub(super) fn borders(scenario: &Scenario) -> Result<(), Located> {
    let unaware = |node: &u32| !scenario.settings.switch.stamp_telemetry || scenario.legacy.nodes.contains(node);
    for node in scenario.network.switches().filter(unaware) {
        scenario.node_settings(node).border(node, &scenario.network, false)?;
    }
    Ok(())
}
