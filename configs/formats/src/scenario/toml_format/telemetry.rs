// SPDX-License-Identifier: GPL-2.0-only
//! `[telemetry]`: the byte layout, which packets collect it, and how it comes back.

use super::congestion_control::Control;
use super::document::Document;
use super::named;
use super::values::Bounded;
use crate::error::{InputError, suggestion};
use hpcc_core::cc::MAX_PATHS;
use hpcc_core::telemetry::seal::key_of;
use hpcc_core::telemetry::{Layout, LayoutOptions, Sampling};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::feedback::{Answer, FeedbackConfig, Return};
use hpcc_core::transport::path_probes::PathConfig;
use hpcc_core::units::BitRate;
use hpcc_core::wire::WireProfile;
use serde::Deserialize;
use toml::Spanned;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TelemetryKeys {
    layout: Option<Spanned<String>>,
    multiplier: Option<Spanned<Bounded<1, { u32::MAX }>>>,
    hops: Option<Spanned<Bounded<1, 15>>>,
    packets: Option<Spanned<String>>,
    every: Option<Spanned<Bounded<1, 1_000_000>>>,
    answer: Option<Spanned<String>>,
    feedback: Option<Spanned<String>>,
    guard: Option<Spanned<bool>>,
    seal: Option<Spanned<String>>,
    paths: Option<Spanned<Bounded<1, { MAX_PATHS as u32 }>>>,
    path_interval: Option<Bounded<1, 1_000_000>>,
}

const DEFAULT_LAYOUT: &str = "reference";
/// A sender makes room in every packet for as many hops as it expects: what a three-tier network has.
const IOAM_HOPS: u8 = 5;
const DEFAULT_EVERY: u32 = 8;

/// `[telemetry]`.
pub(super) struct Telemetry {
    pub layout: Layout,
    pub feedback: FeedbackConfig,
}

pub(super) fn telemetry(
    document: &mut Document<'_>,
    network: &Network,
    control: &Control,
    wire: WireProfile,
) -> Result<Telemetry, InputError> {
    let (keys, _) = document.optional::<TelemetryKeys>("telemetry")?;
    let layout = layout(document, &keys, network, control, wire)?;
    let feedback = feedback(document, &keys)?;
    if let Some((setting, needs)) = feedback.unsuitable(&control.algorithm, &layout) {
        let spans = [
            ("packets", keys.packets.as_ref().map(Spanned::span)),
            ("answer", keys.answer.as_ref().map(Spanned::span)),
            ("feedback", keys.feedback.as_ref().map(Spanned::span)),
            ("guard", keys.guard.as_ref().map(Spanned::span)),
            ("seal", keys.seal.as_ref().map(Spanned::span)),
            ("paths", keys.paths.as_ref().map(Spanned::span)),
        ];
        let span = spans.into_iter().find(|(name, _)| *name == setting).and_then(|(_, span)| span).unwrap_or_default();
        return Err(document.place(span).key_error(format!("telemetry.{setting}"), format!("{setting} {needs}")));
    }
    Ok(Telemetry { layout, feedback })
}

/// The multiplier grows with the fastest host link, 1 for each 25 Gb/s, so that the counters
/// wrap after the same time.
///
/// The layout is HPCC's: other algorithms bring the layout that they read, or have no use for telemetry.
fn layout(
    document: &Document<'_>,
    keys: &TelemetryKeys,
    network: &Network,
    control: &Control,
    wire: WireProfile,
) -> Result<Layout, InputError> {
    if let Some(layout) = control.layout {
        return Ok(layout);
    }
    let name = keys.layout.as_ref().map_or(DEFAULT_LAYOUT, |name| name.get_ref());
    if let Some(unknown) = keys.layout.as_ref().filter(|name| !Layout::HOP_NAMES.contains(&name.get_ref().as_str())) {
        let message = format!("unknown layout \"{name}\"{}", suggestion(name, &Layout::HOP_NAMES));
        return Err(document.place(unknown.span()).key_error("telemetry.layout", message));
    }
    if let Some(multiplier) = keys.multiplier.as_ref().filter(|_| name != "reference") {
        let place = document.place(multiplier.span());
        return Err(place.key_error("telemetry.multiplier", "multiplier belongs to layout = \"reference\""));
    }
    let is_bounded = !matches!(name, "reference" | "paper" | "draft");
    if let Some(hops) = keys.hops.as_ref().filter(|_| !is_bounded) {
        let place = document.place(hops.span());
        return Err(place.key_error("telemetry.hops", format!("layout = \"{name}\" has a fixed number of hops")));
    }
    let is_ioam = name.starts_with("ioam");
    if let Some(layout) = keys.layout.as_ref().filter(|_| is_ioam && wire == WireProfile::RoceV4) {
        let message = format!("layout = \"{name}\" is an IPv6 option; expected wire.profile = \"rocev2_ipv6\"");
        return Err(document.place(layout.span()).key_error("telemetry.layout", message));
    }
    let default = LayoutOptions::default();
    let default = LayoutOptions { hops: if is_ioam { IOAM_HOPS } else { default.hops }, ..default };
    let options = LayoutOptions {
        multiplier: keys.multiplier.as_ref().map_or_else(|| default_multiplier(network), |value| value.get_ref().0),
        hops: keys.hops.as_ref().map_or(default.hops, |hops| hops.get_ref().0 as u8),
        ..default
    };
    Ok(Layout::from_name(name, &options).unwrap_or(Layout::None))
}

fn default_multiplier(network: &Network) -> u32 {
    let is_host = |node: u32| network.nodes[node as usize] == NodeKind::Host;
    let at_host = network.links.iter().filter(|link| is_host(link.a) || is_host(link.b));
    let fastest = at_host.map(|link| link.rate.0).max().unwrap_or(0);
    u32::try_from(fastest / BitRate::gbps(25).0).unwrap_or(u32::MAX).max(1)
}

fn feedback(document: &Document<'_>, keys: &TelemetryKeys) -> Result<FeedbackConfig, InputError> {
    let default = FeedbackConfig::default();
    Ok(FeedbackConfig {
        sampling: sampling(document, keys)?,
        answer: named(document, keys.answer.as_ref(), "telemetry.answer", &Answer::NAMES)?.unwrap_or(default.answer),
        by: named(document, keys.feedback.as_ref(), "telemetry.feedback", &Return::NAMES)?.unwrap_or(default.by),
        guard: keys.guard.as_ref().is_some_and(|guard| *guard.get_ref()),
        seal: keys.seal.as_ref().map(|key| seal(document, key)).transpose()?,
        paths: PathConfig {
            candidates: keys.paths.as_ref().map_or(default.paths.candidates, |paths| paths.get_ref().0 as u8),
            interval: keys.path_interval.as_ref().map_or(default.paths.interval, |interval| interval.0),
        },
    })
}

fn sampling(document: &Document<'_>, keys: &TelemetryKeys) -> Result<Sampling, InputError> {
    let name = keys.packets.as_ref().map_or("all", |name| name.get_ref());
    if let Some(every) = keys.every.as_ref().filter(|_| name != "nth") {
        return Err(document.place(every.span()).key_error("telemetry.every", "every belongs to packets = \"nth\""));
    }
    let every = keys.every.as_ref().map_or(DEFAULT_EVERY, |every| every.get_ref().0);
    Sampling::from_name(name, every).ok_or_else(|| {
        let message = format!("unknown choice of packets \"{name}\"{}", suggestion(name, &Sampling::NAMES));
        let span = keys.packets.as_ref().map(Spanned::span).unwrap_or_default();
        document.place(span).key_error("telemetry.packets", message)
    })
}

fn seal(document: &Document<'_>, digits: &Spanned<String>) -> Result<[u8; 16], InputError> {
    key_of(digits.get_ref()).ok_or_else(|| {
        document.place(digits.span()).key_error("telemetry.seal", "expected a key of 32 hexadecimal digits")
    })
}
