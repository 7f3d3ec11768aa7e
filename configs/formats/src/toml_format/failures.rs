// SPDX-License-Identifier: GPL-2.0-only
//! `[failures]`.

use super::document::Document;
use super::values::Time;
use crate::error::InputError;
use crate::scenario::LinkFailure;
use hpcc_core::topology::Network;
use serde::Deserialize;
use toml::Spanned;

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(super) struct FailureKeys {
    /// Links that fail for good.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<FailedLink>"))]
    links: Vec<Spanned<FailedLink>>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct FailedLink {
    /// Simulated time at which it fails.
    time: Time,
    /// Node at one end.
    a: u32,
    /// Node at the other end.
    b: u32,
}

/// The links that fail, by ascending time.
pub(super) fn read(document: &mut Document<'_>, network: &Network) -> Result<Vec<LinkFailure>, InputError> {
    let (keys, _) = document.optional::<FailureKeys>("failures")?;
    let mut failures = Vec::new();
    for link in keys.links {
        let place = document.place(link.span());
        let FailedLink { time, a, b } = link.into_inner();
        if !network.has_link(a, b) {
            let message = format!("nodes {a} and {b} are not linked; expected the two ends of a link");
            return Err(place.key_error("failures.links", message));
        }
        failures.push(LinkFailure { time: time.0, a, b });
    }
    failures.sort_by_key(|failure| failure.time);
    Ok(failures)
}
