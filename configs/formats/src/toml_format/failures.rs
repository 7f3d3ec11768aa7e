// SPDX-License-Identifier: GPL-2.0-only
//! `[failures]`.

use super::document::Document;
use super::keys::{Read, SHARE, Tables, keys};
use crate::error::InputError;
use crate::place::Place;
use crate::scenario::{DegradedLinks, LinkFailure, NicStorm};
use hpcc_core::engine::Quality;
use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};

keys! {
    Failures {
        /// Links that fail during the run, and may come up again, as a list of `{ time, a, b }` with `until` and `link`
        /// where needed.
        links: Option<Tables<FailedLink>> {"{ time = \"1ms\", a = 4, b = 5 }"};
        /// Links that become worse during the run, and may be as before again, as a list of `{ time, a, b }` with `rate`,
        /// `bit_errors`, `until` and `link` where needed. Give it for lanes that are lost, and for bad cables.
        degraded: Option<Tables<DegradedLink>> {"{ time = \"1ms\", a = 4, b = 5, rate = \"25Gbps\" }"};
        /// Hosts whose NICs pause without end, as a list of `{ host, time }` with `until` and `priority` where needed. Give it to
        /// see how far a storm of pauses spreads, and what `switch.pfc_watchdog` does about it.
        storms: Option<Tables<Storm>> {"{ host = 3, time = \"100us\" }"};
    }
    Storm {
        /// Number of the host.
        host: u32;
        /// Simulated time at which its NICs pause their switches.
        time: Nanos;
        /// Simulated time at which they resume; without it never.
        until: Option<Nanos>;
        /// Priority that they pause.
        priority: u8 {1..=7} = 3;
    }
    DegradedLink {
        /// Simulated time at which it becomes worse.
        time: Nanos;
        /// Simulated time at which it is again as it was; without it never.
        until: Option<Nanos>;
        /// Number of the node at one end.
        a: u32;
        /// Number of the node at the other end.
        b: u32;
        /// Which of several links between the two nodes, counted from 0 in the order of the topology; without it all.
        link: Option<u32>;
        /// Data rate that it has meanwhile, in each direction; without it its own. Telemetry and load balancers tell it; paths,
        /// thresholds, headroom and ideal times stay those of the topology.
        rate: Option<BitRate>;
        /// Probability that a bit is wrong meanwhile (BER). A frame with a wrong bit, other than PFC's, is discarded where it arrives,
        /// and counted there: `fcs_errors` in `ports.csv`.
        bit_errors: f64 {SHARE} = 0.0;
    }
    FailedLink {
        /// Simulated time at which it fails.
        time: Nanos;
        /// Simulated time at which it comes up again; without it never.
        until: Option<Nanos>;
        /// Number of the node at one end.
        a: u32;
        /// Number of the node at the other end.
        b: u32;
        /// Which of several links between the two nodes, counted from 0 in the order of the topology; without it all.
        link: Option<u32>;
    }
}

/// Links that fail, those that become worse with their places, both by ascending time, and NICs that storm.
type Found = (Vec<LinkFailure>, (Vec<DegradedLinks>, Vec<Place>), Vec<NicStorm>);

pub(super) fn read(document: &mut Document<'_>, network: &Network) -> Result<Found, InputError> {
    let section = document.section("failures");
    let keys: Read<Failures> = Read::of_optional("failures", section, document.file())?;
    let mut spans = Vec::new();
    let mut failures = Vec::new();
    for entry in keys.links.iter().flat_map(|links| &links.0) {
        let error = |message| entry.origin.section().key_error("failures.links", message);
        let &FailedLink { time, until, a, b, link } = &**entry;
        let span = Span::of((time, until), [a, b], link, network);
        let span = span.and_then(|span| span.apart(&spans, "failures")).map_err(error)?;
        span.is_long_enough(network).map_err(error)?;
        spans.push(span.clone());
        failures.push(LinkFailure { time: span.time, until: span.until, links: span.links });
    }
    failures.sort_by_key(|failure| failure.time);
    spans.clear();
    let mut degraded = Vec::new();
    for entry in keys.degraded.iter().flat_map(|links| &links.0) {
        let error = |message| entry.origin.section().key_error("failures.degraded", message);
        let &DegradedLink { time, until, a, b, link, rate, bit_errors } = &**entry;
        let span = Span::of((time, until), [a, b], link, network);
        let span = span.and_then(|span| span.apart(&spans, "changes")).map_err(error)?;
        let quality = Quality { rate, bit_errors };
        if quality == Quality::default() {
            return Err(error("the link is as before; expected rate or bit_errors".into()));
        }
        let own = span.links.iter().map(|&index| network.links[index as usize].rate).min().unwrap_or_default();
        if let Some(rate) = quality.rate.filter(|rate| !(BitRate(1)..=own).contains(rate)) {
            return Err(error(format!("the rate is {rate}; expected more than 0, and at most {own}, the link's own")));
        }
        spans.push(span.clone());
        let place = entry.origin.section().clone();
        degraded.push((DegradedLinks { time: span.time, until: span.until, links: span.links, quality }, place));
    }
    degraded.sort_by_key(|(degraded, _)| degraded.time);
    let mut storms = Vec::new();
    for keys in keys.storms.iter().flat_map(|storms| &storms.0) {
        let place = keys.origin.section();
        let storm = storm(keys, network).map_err(|message| place.key_error("failures.storms", message))?;
        storms.push(storm);
    }
    Ok((failures, degraded.into_iter().unzip(), storms))
}

fn storm(&Storm { time, until, host, priority }: &Storm, network: &Network) -> Result<NicStorm, String> {
    let storm = NicStorm { time, until, host, priority };
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

/// Links for a time.
#[derive(Clone)]
struct Span {
    time: Nanos,
    until: Option<Nanos>,
    links: Vec<u32>,
}

impl Span {
    fn of(
        (time, until): (Nanos, Option<Nanos>),
        [a, b]: [u32; 2],
        link: Option<u32>,
        network: &Network,
    ) -> Result<Span, String> {
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
        match until {
            Some(until) if until <= time => {
                Err(format!("until is {}, not after {}; expected a later time", human(until), human(time)))
            }
            _ => Ok(Span { time, until, links }),
        }
    }

    /// What was on a link that fails is gone when it comes up again.
    fn is_long_enough(&self, network: &Network) -> Result<(), String> {
        let least =
            self.links.iter().map(|&index| network.links[index as usize].least_outage()).max().unwrap_or_default();
        match self.until {
            Some(until) if until.0 < self.time.0.saturating_add(least.0) => Err(format!(
                "until is {}, and the link fails at {}; expected {} or more in between, until what was on it is gone",
                human(until),
                human(self.time),
                human(least)
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a link that has another such time while this one lasts.
    fn apart(self, others: &[Span], what: &str) -> Result<Span, String> {
        match others.iter().find(|other| overlap(other, &self)) {
            Some(other) => Err(format!(
                "the {what} at {} and {} are of the same link; expected the later one after until of the other one",
                human(other.time),
                human(self.time)
            )),
            None => Ok(self),
        }
    }
}

/// Whether two have a link in common at one time.
fn overlap(a: &Span, b: &Span) -> bool {
    let begins_within =
        |first: &Span, second: &Span| second.time >= first.time && first.until.is_none_or(|until| second.time < until);
    a.links.iter().any(|link| b.links.contains(link)) && (begins_within(a, b) || begins_within(b, a))
}

fn human(time: Nanos) -> String {
    format!("{} ns", time.0)
}
