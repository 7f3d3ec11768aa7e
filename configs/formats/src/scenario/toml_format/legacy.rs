// SPDX-License-Identifier: GPL-2.0-only
//! `[legacy]`: nodes of a mixed deployment that know nothing of telemetry.

use super::document::Document;
use crate::error::{InputError, suggestion};
use crate::scenario::Legacy;
use hpcc_core::cc::{Algorithm, DcqcnConfig, DctcpConfig};
use hpcc_core::topology::Network;
use serde::Deserialize;
use toml::Spanned;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LegacyKeys {
    nodes: Vec<Spanned<u32>>,
    algorithm: Option<Spanned<String>>,
}

/// What a host without telemetry can run, with its defaults.
const ALGORITHMS: [&str; 3] = ["dcqcn", "dctcp", "none"];

pub(super) fn read(document: &mut Document<'_>, network: &Network) -> Result<Legacy, InputError> {
    let (keys, _) = document.optional::<LegacyKeys>("legacy")?;
    let count = network.nodes.len();
    if let Some(node) = keys.nodes.iter().find(|node| *node.get_ref() as usize >= count) {
        let message = format!("there is no node {}; expected 0 to {}", node.get_ref(), count.saturating_sub(1));
        return Err(document.place(node.span()).key_error("legacy.nodes", message));
    }
    let algorithm = match keys.algorithm.as_ref().map(|name| name.get_ref().as_str()) {
        None => Legacy::default().algorithm,
        Some("dcqcn") => Algorithm::Dcqcn(DcqcnConfig::default()),
        Some("dctcp") => Algorithm::Dctcp(DctcpConfig::default()),
        Some("none") => Algorithm::LineRate,
        Some(name) => {
            let message = format!("unknown algorithm \"{name}\"{}", suggestion(name, &ALGORITHMS));
            let span = keys.algorithm.as_ref().map(Spanned::span).unwrap_or_default();
            return Err(document.place(span).key_error("legacy.algorithm", message));
        }
    };
    let mut nodes: Vec<u32> = keys.nodes.into_iter().map(Spanned::into_inner).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(Legacy { nodes, algorithm })
}
