// SPDX-License-Identifier: GPL-2.0-only
//! `[failures]`.

use super::document::Document;
use super::values::Time;
use crate::error::InputError;
use crate::scenario::LinkFailure;
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use serde::Deserialize;
use toml::Spanned;

#[derive(Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FailureKeys {
    /// Links that fail during the run, and may come up again, as a list of `{ time, a, b }` with `until` and `link`
    /// where needed.
    #[schemars(with = "Vec<FailedLink>")]
    links: Vec<Spanned<FailedLink>>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a failure such as { time = \"1ms\", a = 4, b = 5 }")]
struct FailedLink {
    /// Simulated time at which it fails.
    time: Time,
    /// Simulated time at which it comes up again; without it never.
    until: Option<Time>,
    /// Number of the node at one end.
    a: u32,
    /// Number of the node at the other end.
    b: u32,
    /// Which of several links between the two nodes, counted from 0 in the order of the topology; without it all.
    link: Option<u32>,
}

/// The links that fail, by ascending time.
pub(super) fn read(document: &mut Document<'_>, network: &Network) -> Result<Vec<LinkFailure>, InputError> {
    let (keys, _) = document.optional::<FailureKeys>("failures")?;
    let mut failures = Vec::new();
    for link in keys.links {
        let place = document.place(link.span());
        let failure =
            failure(&link.into_inner(), network).map_err(|message| place.key_error("failures.links", message))?;
        if let Some(earlier) = failures.iter().find(|earlier| overlap(earlier, &failure)) {
            let message = format!(
                "the failures at {} and {} are of the same link; expected the later one after until of the other one",
                human(earlier.time),
                human(failure.time)
            );
            return Err(place.key_error("failures.links", message));
        }
        failures.push(failure);
    }
    failures.sort_by_key(|failure| failure.time);
    Ok(failures)
}

fn failure(link: &FailedLink, network: &Network) -> Result<LinkFailure, String> {
    let &FailedLink { time: Time(time), until, a, b, link } = link;
    let between = network.links_between(a, b);
    if between.is_empty() {
        return Err(format!("nodes {a} and {b} are not linked; expected the two ends of a link"));
    }
    let links = match link {
        None => between,
        Some(link) => {
            let known = between.get(link as usize).copied();
            let most = between.len() - 1;
            vec![known.ok_or_else(|| format!("nodes {a} and {b} have no link {link}; expected 0 to {most}"))?]
        }
    };
    let until = until.map(|Time(until)| until);
    if let Some(until) = until {
        let least = links.iter().map(|&index| network.links[index as usize].least_outage()).max().unwrap_or_default();
        if until.0 < time.0.saturating_add(least.0) {
            return Err(format!(
                "until is {}, and the link fails at {}; expected {} or more in between, until what was on it is gone",
                human(until),
                human(time),
                human(least)
            ));
        }
    }
    Ok(LinkFailure { time, until, links })
}

/// Whether two failures have a link in common that is down at one time.
fn overlap(a: &LinkFailure, b: &LinkFailure) -> bool {
    let begins_within = |first: &LinkFailure, second: &LinkFailure| {
        second.time >= first.time && first.until.is_none_or(|until| second.time < until)
    };
    a.links.iter().any(|link| b.links.contains(link)) && (begins_within(a, b) || begins_within(b, a))
}

fn human(time: Nanos) -> String {
    format!("{} ns", time.0)
}
