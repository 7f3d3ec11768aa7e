// SPDX-License-Identifier: GPL-2.0-only
//! `[failures]`.

use super::document::Document;
use super::keys::{COUNT, Form, Need, TIME, Values, keys, whole};
use crate::error::InputError;
use crate::scenario::{LinkFailure, NicStorm};
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;

keys! {
    FAILURES {
        /// Links that fail during the run, and may come up again, as a list of `{ time, a, b }` with `until` and `link`
        /// where needed.
        links: Form::Tables(FAILED_LINK, "{ time = \"1ms\", a = 4, b = 5 }") => Need::Optional;
        /// Hosts whose NICs pause without end, as a list of `{ host, time }` with `until` and `priority` where needed. Give it to
        /// see how far a storm of pauses spreads, and what `switch.pfc_watchdog` does about it.
        storms: Form::Tables(STORM, "{ host = 3, time = \"100us\" }") => Need::Optional;
    }
    STORM {
        /// Number of the host.
        host: COUNT;
        /// Simulated time at which its NICs pause their switches.
        time: TIME;
        /// Simulated time at which they resume; without it never.
        until: TIME => Need::Optional;
        /// Priority that they pause.
        priority: whole(1, 7) => Need::Else("3");
    }
    FAILED_LINK {
        /// Simulated time at which it fails.
        time: TIME;
        /// Simulated time at which it comes up again; without it never.
        until: TIME => Need::Optional;
        /// Number of the node at one end.
        a: COUNT;
        /// Number of the node at the other end.
        b: COUNT;
        /// Which of several links between the two nodes, counted from 0 in the order of the topology; without it all.
        link: COUNT => Need::Optional;
    }
}

/// The links that fail, by ascending time, and NICs that storm.
pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
) -> Result<(Vec<LinkFailure>, Vec<NicStorm>), InputError> {
    let section = document.section("failures");
    let keys = Values::of_optional("failures", section, document.file(), FAILURES)?;
    let mut failures = Vec::new();
    for link in keys.tables("failures.links", FAILED_LINK, "links")? {
        let place = link.origin.section();
        let failure = failure(&link, network).map_err(|message| place.key_error("failures.links", message))?;
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
    let mut storms = Vec::new();
    for keys in keys.tables("failures.storms", STORM, "storms")? {
        let place = keys.origin.section();
        let storm = storm(&keys, network).map_err(|message| place.key_error("failures.storms", message))?;
        storms.push(storm);
    }
    Ok((failures, storms))
}

fn storm(keys: &Values<'_>, network: &Network) -> Result<NicStorm, String> {
    let storm = NicStorm {
        time: keys.the("time"),
        until: keys.get("until"),
        host: keys.the("host"),
        priority: keys.the("priority"),
    };
    if (storm.host as usize) >= network.nodes.len() || !network.is_host(storm.host) {
        return Err(format!("node {} is no host; expected the number of one", storm.host));
    }
    match storm.until {
        Some(until) if until <= storm.time => {
            Err(format!("until is {}, not after {}; expected a later time", human(until), human(storm.time)))
        }
        _ => Ok(storm),
    }
}

fn failure(keys: &Values<'_>, network: &Network) -> Result<LinkFailure, String> {
    let (time, until): (Nanos, Option<Nanos>) = (keys.the("time"), keys.get("until"));
    let (a, b) = (keys.the("a"), keys.the("b"));
    let between = network.links_between(a, b);
    if between.is_empty() {
        return Err(format!("nodes {a} and {b} are not linked; expected the two ends of a link"));
    }
    let links = match keys.get::<u32>("link") {
        None => between,
        Some(link) => {
            let known = between.get(link as usize).copied();
            let most = between.len() - 1;
            vec![known.ok_or_else(|| format!("nodes {a} and {b} have no link {link}; expected 0 to {most}"))?]
        }
    };
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
