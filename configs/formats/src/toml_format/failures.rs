// SPDX-License-Identifier: GPL-2.0-only
//! `[failures]`.

use super::document::Document;
use super::keys::{INTERVAL, Read, SHARE, Tables, keys};
use hpcc_core::balance::LoadBalancingSettings;
use hpcc_core::engine::{LinkFailure, Quality};
use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::error::InputError;
use hpcc_model::place::Place;
use hpcc_model::scenario::{DegradedLinks, NicStorm};

keys! {
    Failures {
        /// Links that fail during the run, and may come up again, as a list of `{ time, a, b }` with `until`, `link`, `detection`,
        /// `period` and `count` where needed.
        links: Option<Tables<FailedLink>> {"{ time = \"1ms\", a = 4, b = 5 }"};
        /// Switches that reboot: all their links fail, what waits there is lost, and they begin anew with memory, telemetry and
        /// notifications.
        reboots: Option<Tables<Reboot>> {"{ switch = 4, time = \"1ms\", until = \"2ms\" }"};
        /// How long after nodes notice that a link has failed, or is there again, routes stay as they were. Until then switches drop
        /// what would leave by it.
        convergence: Nanos = Nanos(0);
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
    Reboot {
        /// Number of the switch.
        switch: u32;
        /// Simulated time at which it goes off.
        time: Nanos;
        /// Simulated time at which it is there again.
        until: Nanos;
        /// How long its neighbours do not notice that it is off, or there again.
        #[assumed = "neighbours notice a reboot at once; BFD takes 3 x 50 ms"]
        detection: Nanos = Nanos(0);
    }
    FailedLink {
        /// Simulated time at which it fails.
        time: Nanos;
        /// Simulated time at which it comes up again; without it never.
        until: Option<Nanos>;
        /// How long the nodes at both ends do not notice that it has failed, or is there again: the debounce of ports, or three
        /// times the interval of BFD. What they send meanwhile is lost; a failure that is over by then is not noticed at all.
        #[assumed = "both ends notice a failure at once; ports take a debounce of ms, BFD 3 x 50 ms"]
        detection: Nanos = Nanos(0);
        /// How long after a failure the next one begins, for links that flap.
        period: Option<Nanos> {INTERVAL};
        /// How many times it fails.
        count: Option<u32> {1..=MOST_FLAPS};
        /// Number of the node at one end.
        a: u32;
        /// Number of the node at the other end.
        b: u32;
        /// Which of several links between the two nodes, counted from 0 in the order of the topology; without it all.
        link: Option<u32>;
    }
}

/// How often a link flaps at most.
const MOST_FLAPS: u32 = 1_000;

/// Links that fail, those that become worse with their places, both by ascending time, and NICs that storm.
type Found = (Vec<LinkFailure>, (Vec<DegradedLinks>, Vec<Place>), Vec<NicStorm>);

pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    balancing: &LoadBalancingSettings,
) -> Result<Found, InputError> {
    let section = document.section("failures");
    let keys: Read<Failures> = Read::of_optional("failures", section, document.file())?;
    let mut spans = Vec::new();
    let mut failures = Vec::new();
    for entry in keys.links.iter().flat_map(|links| &links.0) {
        let error = |message| entry.origin.section().key_error("failures.links", message);
        let &FailedLink { time, until, detection, a, b, link, .. } = &**entry;
        let span = Span::of((time, until), [a, b], link, network).map_err(error)?;
        span.is_long_enough(network).map_err(error)?;
        let first = LinkFailure { time, until, links: span.links, detection, ..LinkFailure::default() };
        failures.extend(flaps(first, entry, &mut spans).map_err(error)?);
    }
    for entry in keys.reboots.iter().flat_map(|reboots| &reboots.0) {
        let error = |message| entry.origin.section().key_error("failures.reboots", message);
        failures.push(reboot(entry, network, balancing, &mut spans).map_err(error)?);
    }
    failures.iter_mut().for_each(|failure| failure.convergence = keys.convergence);
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

/// A link's failures, each a period after the last.
fn flaps(first: LinkFailure, keys: &FailedLink, spans: &mut Vec<Span>) -> Result<Vec<LinkFailure>, String> {
    let (period, count) = match (keys.period, keys.count) {
        (None, None) => (Nanos(0), 1),
        (Some(period), Some(count)) => (period, u64::from(count)),
        _ => return Err("a link flaps with period and count; expected both of them, or none".into()),
    };
    let known = first.known_until();
    match known {
        None if count > 1 => return Err("the link never comes up; expected until, as it fails several times".into()),
        Some(known) if count > 1 && known.0 >= first.time.0.saturating_add(period.0) => {
            return Err(format!(
                "the period is {}; expected more than {}, after which the nodes at both ends know that the link is there again",
                human(period),
                human(Nanos(known.0 - first.time.0))
            ));
        }
        _ => {}
    }
    let later = |time: Nanos, turn: u64| Nanos(time.0.saturating_add(period.0.saturating_mul(turn)));
    let until = known.map(|known| later(known, count - 1));
    let span = Span { time: first.time, until, links: first.links.clone() };
    spans.push(span.apart(spans, "failures")?);
    let turn = |turn| {
        let until = first.until.map(|until| later(until, turn));
        LinkFailure { time: later(first.time, turn), until, ..first.clone() }
    };
    Ok((0..count).map(turn).collect())
}

fn reboot(
    &Reboot { switch, time, until, detection }: &Reboot,
    network: &Network,
    balancing: &LoadBalancingSettings,
    spans: &mut Vec<Span>,
) -> Result<LinkFailure, String> {
    if switch as usize >= network.nodes.len() || network.is_host(switch) {
        return Err(format!("node {switch} is no switch; expected the number of one"));
    }
    if balancing.tags() {
        let scheme = balancing.chosen().name();
        return Err(format!(
            "with load_balancing.scheme = \"{scheme}\" switches keep packets for each other; expected another scheme"
        ));
    }
    let links = network.links.iter().zip(0..).filter(|(link, _)| [link.a, link.b].contains(&switch));
    let span = Span { time, until: Some(until), links: links.map(|(_, index)| index).collect() };
    if until <= time {
        return Err(format!("until is {}, not after {}; expected a later time", human(until), human(time)));
    }
    if span.links.is_empty() {
        return Err(format!("switch {switch} has no links; expected the number of one that has"));
    }
    span.is_long_enough(network)?;
    let (links, reboots) = (span.links, Some(switch));
    let failure = LinkFailure { time, until: Some(until), links, detection, reboots, ..LinkFailure::default() };
    let known = Span { time, until: failure.known_until(), links: failure.links.clone() };
    spans.push(known.apart(spans, "failures")?);
    Ok(failure)
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
