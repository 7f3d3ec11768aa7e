// SPDX-License-Identifier: GPL-2.0-only
//! `[fast_cnp]`: congestion notifications by switches.

#[cfg(test)]
mod tests;

use super::document::Document;
use super::values::{Bounded, Fraction, Interval, Probability, Size};
use crate::error::{InputError, suggestion};
use crate::scenario::{FastCnp, FastCnpBorder, FastCnpTrigger};
use hpcc_core::fast_cnp::{DetourConfig, OptionType, OptionTypes, RateLimit};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::units::Nanos;
use hpcc_core::wire::WireProfile;
use serde::Deserialize;
use toml::Spanned;

const SECTION: &str = "fast_cnp";
const TRIGGERS: [&str; 2] = ["queue", "utilisation"];
const DEFAULT_BOUND: f64 = 1.0;

type Nodes = Option<Vec<Spanned<u32>>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FastCnpKeys {
    enabled: Option<Spanned<bool>>,
    trigger: Option<Spanned<String>>,
    kmin: Option<Spanned<Size>>,
    kmax: Option<Spanned<Size>>,
    pmax: Option<Spanned<Probability>>,
    bound: Option<Spanned<Fraction<200>>>,
    flow_interval: Option<Interval>,
    port_interval: Option<Interval>,
    port_burst: Option<Bounded<1, { u32::MAX }>>,
    mark_unknown: Option<bool>,
    domain: Nodes,
    capable: Nodes,
    incapable: Nodes,
    accept_from: Nodes,
    accept_interval: Option<Interval>,
    option_type: Option<Spanned<Bounded<0, 255>>>,
    trace_option_type: Option<Spanned<Bounded<0, 255>>>,
    borders: Vec<Spanned<[u32; 2]>>,
    detour: Option<bool>,
    detour_after: Option<Bounded<1, { u32::MAX }>>,
    detour_within: Option<Interval>,
    detour_hold: Option<Interval>,
    detour_max_hold: Option<Interval>,
}

/// An error for one key.
fn refuse<T>(document: &Document<'_>, key: &str, at: &Spanned<T>, message: String) -> InputError {
    document.place(at.span()).key_error(format!("{SECTION}.{key}"), message)
}

pub(super) fn read(document: &mut Document<'_>, network: &Network, wire: WireProfile) -> Result<FastCnp, InputError> {
    let (keys, _) = document.optional::<FastCnpKeys>(SECTION)?;
    let (default, detour) = (FastCnp::default(), DetourConfig::default());
    if let Some(enabled) = keys.enabled.as_ref().filter(|on| *on.get_ref() && wire != WireProfile::RoceV6) {
        let message = "Fast CNP is over IPv6; expected wire.profile = \"rocev2_ipv6\"";
        return Err(refuse(document, "enabled", enabled, message.into()));
    }
    if let Some(border) = keys.borders.first().filter(|_| wire != WireProfile::RoceV6) {
        let message = "no notification comes but over IPv6; expected wire.profile = \"rocev2_ipv6\"";
        return Err(refuse(document, "borders", border, message.into()));
    }
    let interval = |key: Option<Interval>, default: Nanos| key.map_or(default, |interval| interval.0);
    let incapable = nodes(document, "incapable", keys.incapable.as_deref(), network, Some(NodeKind::Host))?;
    let hosts = || network.hosts().collect::<Vec<_>>();
    let list = |key, given: &Nodes, kind| {
        given.as_deref().map(|given| nodes(document, key, Some(given), network, kind)).transpose()
    };
    let understanding = || hosts().into_iter().filter(|host| !incapable.contains(host)).collect();
    Ok(FastCnp {
        enabled: keys.enabled.as_ref().is_some_and(|enabled| *enabled.get_ref()),
        trigger: trigger(document, &keys)?,
        flow_interval: interval(keys.flow_interval, default.flow_interval),
        port_limit: RateLimit {
            interval: interval(keys.port_interval, default.port_limit.interval),
            burst: keys.port_burst.map_or(default.port_limit.burst, |burst| burst.0),
        },
        mark_unknown: keys.mark_unknown.unwrap_or(default.mark_unknown),
        domain: list("domain", &keys.domain, Some(NodeKind::Host))?.unwrap_or_else(hosts),
        capable: list("capable", &keys.capable, Some(NodeKind::Host))?.unwrap_or_else(understanding),
        accept_from: list("accept_from", &keys.accept_from, None)?.unwrap_or_else(|| network.switches().collect()),
        accept_interval: interval(keys.accept_interval, default.accept_interval),
        types: OptionTypes {
            destination: option_type(document, "option_type", keys.option_type.as_ref())?,
            trace: option_type(document, "trace_option_type", keys.trace_option_type.as_ref())?,
        },
        borders: keys.borders.iter().map(|pair| border(document, pair, network)).collect::<Result<_, _>>()?,
        detour: DetourConfig {
            enabled: keys.detour.unwrap_or(detour.enabled),
            notifications: keys.detour_after.map_or(detour.notifications, |after| after.0),
            within: interval(keys.detour_within, detour.within),
            hold: interval(keys.detour_hold, detour.hold),
            max_hold: interval(keys.detour_max_hold, detour.max_hold.max(interval(keys.detour_hold, detour.hold))),
        },
        incapable,
    })
}

/// Keys of one trigger do not go with the other.
fn trigger(document: &Document<'_>, keys: &FastCnpKeys) -> Result<FastCnpTrigger, InputError> {
    let name = keys.trigger.as_ref().map_or(TRIGGERS[0], |name| name.get_ref());
    if let Some(unknown) = keys.trigger.as_ref().filter(|_| !TRIGGERS.contains(&name)) {
        let message = format!("unknown trigger \"{name}\"{}", suggestion(name, &TRIGGERS));
        return Err(refuse(document, "trigger", unknown, message));
    }
    let belongs = |other: &str| format!("belongs to trigger = \"{other}\"");
    if name == TRIGGERS[1] {
        let place = [("kmin", keys.kmin.as_ref()), ("kmax", keys.kmax.as_ref())];
        if let Some((key, Some(size))) = place.into_iter().find(|(_, size)| size.is_some()) {
            return Err(refuse(document, key, size, format!("{key} {}", belongs(TRIGGERS[0]))));
        }
        if let Some(pmax) = &keys.pmax {
            return Err(refuse(document, "pmax", pmax, format!("pmax {}", belongs(TRIGGERS[0]))));
        }
        return Ok(FastCnpTrigger::Utilisation(keys.bound.as_ref().map_or(DEFAULT_BOUND, |bound| bound.get_ref().0)));
    }
    if let Some(bound) = &keys.bound {
        return Err(refuse(document, "bound", bound, format!("bound {}", belongs(TRIGGERS[1]))));
    }
    thresholds(document, keys)
}

/// All three or none.
fn thresholds(document: &Document<'_>, keys: &FastCnpKeys) -> Result<FastCnpTrigger, InputError> {
    let (kmin, kmax) = match (&keys.kmin, &keys.kmax, &keys.pmax) {
        (None, None, None) => return Ok(FastCnpTrigger::Marks),
        (Some(kmin), Some(kmax), _) => (kmin.get_ref().0, kmax),
        (Some(kmin), None, _) => return Err(refuse(document, "kmin", kmin, "kmin without kmax; expected both".into())),
        (None, Some(kmax), _) => return Err(refuse(document, "kmax", kmax, "kmax without kmin; expected both".into())),
        (None, None, Some(pmax)) => {
            return Err(refuse(document, "pmax", pmax, "pmax without kmin and kmax; expected all three".into()));
        }
    };
    let most = kmax.get_ref().0;
    if most == 0 || kmin > most {
        let message = format!("kmax is {most} bytes; expected more than 0 and at least kmin, {kmin}");
        return Err(refuse(document, "kmax", kmax, message));
    }
    let pmax = keys.pmax.as_ref().map_or(1.0, |pmax| pmax.get_ref().0);
    Ok(FastCnpTrigger::Queue { kmin, kmax: most, pmax })
}

/// The nodes that a key lists, in ascending order; all must be there, and of the kind.
fn nodes(
    document: &Document<'_>,
    key: &str,
    list: Option<&[Spanned<u32>]>,
    network: &Network,
    kind: Option<NodeKind>,
) -> Result<Vec<u32>, InputError> {
    let mut nodes = Vec::new();
    for node in list.unwrap_or_default() {
        let index = *node.get_ref();
        match network.nodes.get(index as usize) {
            None => {
                let last = network.nodes.len().saturating_sub(1);
                return Err(refuse(document, key, node, format!("there is no node {index}; expected 0 to {last}")));
            }
            Some(&found) if kind.is_some_and(|kind| kind != found) => {
                return Err(refuse(document, key, node, format!("node {index} is a switch; expected hosts")));
            }
            Some(_) => nodes.push(index),
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

fn option_type(
    document: &Document<'_>,
    key: &str,
    given: Option<&Spanned<Bounded<0, 255>>>,
) -> Result<OptionType, InputError> {
    let Some(given) = given else { return Ok(OptionType::EXPERIMENTAL) };
    let code = given.get_ref().0;
    let known = u8::try_from(code).ok().and_then(OptionType::new);
    known.ok_or_else(|| {
        let message = format!("{key} is {code:#04x}; expected 0x80 to 0x9f, which who does not know it reports");
        refuse(document, key, given, message)
    })
}

fn border(document: &Document<'_>, pair: &Spanned<[u32; 2]>, network: &Network) -> Result<FastCnpBorder, InputError> {
    let &[node, outside] = pair.get_ref();
    let linked = network.links.iter().any(|link| [(link.a, link.b), (link.b, link.a)].contains(&(node, outside)));
    if network.nodes.get(node as usize) != Some(&NodeKind::Switch) || !linked {
        let message = format!("[{node}, {outside}] is no border; expected a switch, and a node that it has a link to");
        return Err(refuse(document, "borders", pair, message));
    }
    Ok(FastCnpBorder { node, outside })
}
