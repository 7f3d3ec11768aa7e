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
#[serde(deny_unknown_fields, default)]
struct FailureKeys {
    links: Vec<Spanned<FailedLink>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedLink {
    time: Time,
    a: u32,
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
