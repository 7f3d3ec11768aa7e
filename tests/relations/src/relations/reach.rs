// SPDX-License-Identifier: GPL-2.0-only
//! What any controller, layout, balancer and transport reaches.

use super::{Context, Second, Verdict, verdict};
use crate::document::Document;
use crate::draw::Draw;
use crate::run::Results;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Kind;
use toml::{Table, Value};

/// Bytes of a lone flow: so many that its start does not count.
const LONG: i64 = 6_000_000;
/// Of its path's rate.
const REACHED: f64 = 0.9;
/// Round trips after which its start does not count.
const ROUNDS: u64 = 20;
/// Fewer packets in flight are rounded, and UEC's acknowledgements of 16 kB come one at a time.
const MANY: f64 = 32.0;

/// Only what is chosen, nothing that is tuned: each has its own part in the rate.
fn choices(draw: &mut Draw<'_>) {
    draw.settings();
    let node = NodeSettings::default();
    let mut all = Vec::new();
    for part in node.parts() {
        let choices =
            part.settings.list().into_iter().filter(|setting| matches!(setting.kind, Kind::Choice(_) | Kind::Switch));
        all.extend(choices.map(|setting| (part.section, setting.key)));
    }
    // The algorithm is a choice by name.
    all.extend([("congestion_control", "algorithm"), ("telemetry", "layout"), ("load_balancing", "scheme")]);
    for section in ["receive", "compatibility"] {
        draw.document.0.remove(section);
    }
    let names: Vec<String> =
        draw.document.0.keys().filter(|name| !["run", "topology"].contains(&name.as_str())).cloned().collect();
    for name in names {
        if let Some(section) = draw.document.0.get_mut(&name).and_then(Value::as_table_mut) {
            section.retain(|key, _| all.contains(&(name.as_str(), key)));
        }
    }
    if let Some(topology) = draw.document.0.get_mut("topology").and_then(Value::as_table_mut) {
        topology.remove("loss");
    }
}

fn flow(src: u32, dst: u32, size: impl Into<Value>) -> Table {
    let mut section = Table::new();
    section.insert("kind".into(), "flow".into());
    section.insert("src".into(), i64::from(src).into());
    section.insert("dst".into(), i64::from(dst).into());
    section.insert("size".into(), size.into());
    section
}

pub(super) fn draw_lone(mut draw: Draw<'_>) -> Document {
    choices(&mut draw);
    draw.document.set("run", "stop", "60ms");
    let hosts: Vec<u32> = draw.network.hosts().collect();
    let src = draw.rng.below(hosts.len() as u64) as usize;
    let dst = (src + 1 + draw.rng.below(hosts.len() as u64 - 1) as usize) % hosts.len();
    let mut section = flow(hosts[src], hosts[dst], LONG);
    if draw.rng.chance(50) {
        section.insert("start".into(), crate::document::time(draw.rng.below(100_000)));
    }
    draw.document.push("traffic", section);
    draw.document
}

pub(super) fn lone(document: &Document, context: &Context<'_>) -> Verdict {
    let mut flows = document.list("traffic");
    let (Some(only), None) = (flows.next(), flows.next()) else { return Verdict::Idle };
    if only.get("size").and_then(Value::as_integer) != Some(LONG)
        || only.contains_key("rate")
        || only.contains_key("stop")
    {
        return Verdict::Idle;
    }
    if !is_long_enough(document) || in_flight(document) < MANY || is_slow(document) {
        return Verdict::Idle;
    }
    // Who goes back for packets that overtake others says so.
    let word = |section: &str, key: &str| document.get(section, key).and_then(Value::as_str);
    let keeps_order = word("load_balancing", "scheme").is_none_or(|scheme| ["ecmp", "conweave"].contains(&scheme))
        && word("transport", "entropy").is_none_or(|entropy| entropy == "flow");
    if !keeps_order && word("transport", "recovery").is_none_or(|recovery| recovery == "go_back_n") {
        return Verdict::Idle;
    }
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let why = match one.rows("fct.csv").first() {
        Some(row) => {
            let [fct, ideal] = ["fct_ns", "ideal_ns"].map(|key| Results::number(row, key));
            if ideal < ROUNDS * one.told["base_rtt_ns"].as_u64().unwrap_or(0) {
                return Verdict::Idle;
            }
            (REACHED * fct as f64 > ideal as f64)
                .then(|| format!("{fct} ns, ideal {ideal}: {:.2} of the path", ideal as f64 / fct as f64))
        }
        None => {
            let rows = one.rows("unfinished.csv");
            let acked = rows.first().map_or(0, |row| Results::number(row, "acked_bytes"));
            Some(format!("{acked} of {LONG} bytes after {} ns", one.summary.simulated_ns))
        }
    };
    verdict(why, || Second::None)
}

/// Packets that fill the shortest path between hosts over a switch, at the lowest rate.
fn in_flight(document: &Document) -> f64 {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return 0.0 };
    let links = &scenario.network.links;
    let (Some(rate), Some(delay)) = (links.iter().map(|l| l.rate.0).min(), links.iter().map(|l| l.delay.0).min())
    else {
        return 0.0;
    };
    rate as f64 * (4 * delay) as f64 / 8e9 / f64::from(scenario.settings.full_frame())
}

/// Whether the law says that this flow is slow: a reaction to each acknowledgement takes one queue for many; TIMELY climbs by a few Mb/s in a round trip from where the first burst brought
/// it; a CSIG tag says a share of the rate in 32 steps at a time; a paced host sends at its own rate.
fn is_slow(document: &Document) -> bool {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return false };
    let rates = || scenario.network.links.iter().map(|link| link.rate);
    let is_paced = document.get("transport", "kind").and_then(Value::as_str) == Some("paced");
    let narrows = rates().min() != rates().max();
    let climbs = scenario.algorithm().name() == "timely" && narrows;
    // It moves from path to path, and the ideal time is that of all at once.
    let scheme = document.get("load_balancing", "scheme").and_then(Value::as_str);
    let moves = scheme == Some("conweave") && narrows || scheme == Some("conga");
    // Once in a round trip takes a window below eta before it comes back.
    let react = document.get("congestion_control", "react").and_then(Value::as_str);
    let reacts = react.is_some_and(|react| react != "both");
    reacts || climbs || moves || scenario.layout().name() == "csig" || is_paced
}

/// Whether the flow would end in time at 0.5 of the lowest rate.
fn is_long_enough(document: &Document) -> bool {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return false };
    let slowest = scenario.network.links.iter().map(|link| link.rate.0).min().unwrap_or(0);
    let is_lossless = scenario.network.links.iter().all(|link| link.loss == 0.0);
    is_lossless
        && u128::from(slowest) * u128::from(scenario.stop.0) / 16 > u128::from(LONG.unsigned_abs()) * 1_000_000_000
}

/// Flows that are equal.
const EQUAL: u32 = 3;
/// When the last interval ends in which they are looked at, and how long it is.
const LATE: (u64, u64) = (40_000_000, 20_000_000);
/// Jain's index that they reach.
const FAIR: f64 = 0.9;
/// Packets in flight that are a flow's share at least.
const SHARE: f64 = 4.0;
/// The same under HPCC: with fewer its flows wander about their share for long, or come to rest elsewhere.
const SHARE_OF_HPCC: f64 = 12.0;

pub(super) fn draw_fair(mut draw: Draw<'_>) -> Document {
    choices(&mut draw);
    let mut topology = Table::new();
    topology.insert("kind".into(), "star".into());
    topology.insert("hosts".into(), i64::from(EQUAL + 1).into());
    topology.insert("rate".into(), draw.rng.one_of(&["25Gbps", "100Gbps"]).into());
    topology.insert("delay".into(), draw.rng.one_of(&["1us", "2us", "4us"]).into());
    draw.document.0.insert("topology".into(), topology.into());
    draw.document.set("run", "stop", crate::document::time(LATE.0));
    draw.document.set("monitor", "goodput_interval", crate::document::time(LATE.1));
    for src in 0..EQUAL {
        let mut section = flow(src, EQUAL, "endless");
        if src == 0 && draw.rng.chance(50) {
            section.insert("start".into(), "500us".into());
        }
        draw.document.push("traffic", section);
    }
    draw.document
}

/// Packets of a flow's share that make flows fair.
fn share(document: &Document) -> f64 {
    let name = document.get("congestion_control", "algorithm").and_then(Value::as_str).unwrap_or("hpcc");
    if name.contains("hpcc") { SHARE_OF_HPCC } else { SHARE }
}

pub(super) fn fair(document: &Document, context: &Context<'_>) -> Verdict {
    let flows: Vec<&Table> = document.list("traffic").collect();
    let is_equal = flows.len() >= 2
        && flows.iter().all(|flow| {
            flow.get("size").and_then(Value::as_str) == Some("endless")
                && flow.get("dst") == flows[0].get("dst")
                && ["rate", "stop", "priority", "nic"].iter().all(|key| !flow.contains_key(*key))
        })
        && document.get("topology", "kind").and_then(Value::as_str) == Some("star")
        && document.get("run", "stop").and_then(crate::document::nanos) == Some(LATE.0)
        && document.get("monitor", "goodput_interval").and_then(crate::document::nanos) == Some(LATE.1);
    // Nothing random evens out flows of Bolt whose bursts always meet in the same order. What arrives at a link is what the drafts
    // do not go by, for windows do not come together. Fewer samples, or a decision at each acknowledgement, take them longer.
    let word = |section: &str, key: &str| document.get(section, key).and_then(Value::as_str);
    let is_unfair = word("congestion_control", "algorithm") == Some("bolt")
        || word("congestion_control", "link_rate") == Some("rx")
        || word("congestion_control", "react") == Some("ack")
        || word("telemetry", "sampling").is_some_and(|sampling| sampling != "all");
    if !is_equal || is_unfair || in_flight(document) < share(document) * flows.len() as f64 {
        return Verdict::Idle;
    }
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let rows = one.rows("goodput.csv");
    let Some(last) = rows.iter().map(|row| Results::number(row, "time_ns")).max() else { return Verdict::Idle };
    let mut shares = vec![0.0; flows.len()];
    for row in rows.iter().filter(|row| Results::number(row, "time_ns") == last) {
        if let Some(share) = shares.get_mut(Results::number(row, "flow") as usize) {
            *share = Results::number(row, "bytes") as f64;
        }
    }
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    let jain = sum * sum / (shares.len() as f64 * squares).max(1.0);
    let shares: Vec<String> = shares.iter().map(|share| format!("{:.2}", share * 8.0 / LATE.1 as f64)).collect();
    verdict((jain < FAIR).then(|| format!("Gb/s in the last 20 ms: {}; Jain {jain:.3}", shares.join(", "))), || {
        Second::None
    })
}
