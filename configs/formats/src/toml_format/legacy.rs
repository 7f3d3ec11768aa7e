// SPDX-License-Identifier: GPL-2.0-only
//! `[legacy]`: nodes of a mixed deployment that know nothing of telemetry.

use super::document::Document;
use crate::error::{InputError, suggestion};
use crate::scenario::{Legacy, Scenario};
use hpcc_core::cc::Reads;
use hpcc_core::node::{Located, NodeSettings};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::Protocol;
use serde::Deserialize;
use toml::Spanned;

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct LegacyKeys {
    /// Hosts and switches that know nothing of telemetry.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>"))]
    nodes: Vec<Spanned<u32>>,
    /// Congestion control of flows from those hosts: one that reads no telemetry.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    algorithm: Option<Spanned<String>>,
}

pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    settings: &NodeSettings,
) -> Result<Legacy, InputError> {
    let (keys, _) = document.optional::<LegacyKeys>("legacy")?;
    let count = network.nodes.len();
    if let Some(node) = keys.nodes.iter().find(|node| *node.get_ref() as usize >= count) {
        let message = format!("there is no node {}; expected 0 to {}", node.get_ref(), count.saturating_sub(1));
        return Err(document.place(node.span()).key_error("legacy.nodes", message));
    }
    let is_host = |node: &&Spanned<u32>| network.nodes[*node.get_ref() as usize] == NodeKind::Host;
    if settings.protocol.protocol == Protocol::Tcp
        && let Some(host) = keys.nodes.iter().find(is_host)
    {
        let message = format!(
            "host {} cannot be a legacy one with transport.protocol = \"tcp\": a legacy host's algorithm is RDMA's; expected \
             switches",
            host.get_ref()
        );
        return Err(document.place(host.span()).key_error("legacy.nodes", message));
    }
    // What a host without telemetry can run, with its defaults.
    let usable = || settings.control.all().filter(|algorithm| algorithm.needs().reads == Reads::Nothing);
    let algorithm = match &keys.algorithm {
        None => Legacy::default().algorithm,
        Some(name) if usable().any(|algorithm| algorithm.name() == name.get_ref()) => name.get_ref().clone(),
        Some(name) => {
            let known: Vec<&str> = usable().map(|algorithm| algorithm.name()).collect();
            let message = format!("unknown algorithm \"{}\"{}", name.get_ref(), suggestion(name.get_ref(), &known));
            return Err(document.place(name.span()).key_error("legacy.algorithm", message));
        }
    };
    let mut nodes: Vec<u32> = keys.nodes.into_iter().map(Spanned::into_inner).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(Legacy { nodes, algorithm })
}

/// Checks that no legacy switch is one that must hide telemetry from its neighbours.
pub(super) fn borders(scenario: &Scenario) -> Result<(), Located> {
    for &node in &scenario.legacy.nodes {
        scenario.node_settings(node).border(node, &scenario.network, false)?;
    }
    Ok(())
}
