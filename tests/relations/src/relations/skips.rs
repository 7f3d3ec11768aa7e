// SPDX-License-Identifier: GPL-2.0-only
//! Periods that are left out: all is as if they had been run.

use super::{Context, Second, Verdict, verdict};
use crate::document::Document;
use crate::draw::Draw;
use crate::run::{Results, difference, difference_told};
use serde_json::Value as Json;
use toml::{Table, Value};

/// Controllers that may recur, and one that never does.
const CONTROLLERS: &[&str] = &["none", "none", "swift", "dcqcn", "dctcp"];
/// Longer flows take long.
const SIZES: &[i64] = &[30_000, 200_000, 500_000, 1_000_000, 3_000_000];
/// Keys of what was left out.
const SKIPPED: &[&str] = &["skipped"];

/// Half of the scenarios are any. The others may recur: few long flows, on few links.
pub(super) fn draw(mut draw: Draw<'_>) -> Document {
    if draw.rng.chance(40) {
        return draw.all();
    }
    let hosts = draw.network.hosts().count() as u64;
    let controller = draw.rng.one_of(CONTROLLERS);
    draw.document.set("congestion_control", "algorithm", controller);
    draw.document.set("run", "stop", draw.rng.one_of(&["300us", "1ms", "3ms"]));
    if draw.rng.chance(30) {
        draw.settings();
    }
    if draw.rng.chance(20) {
        draw.document.set("monitor", "queue_interval", draw.rng.one_of(&["300ns", "1us", "17us"]));
    }
    for _ in 0..1 + draw.rng.below(3) {
        let section = steady(&mut draw, hosts);
        draw.document.push("traffic", section);
    }
    draw.document
}

/// Flows that last.
fn steady(draw: &mut Draw<'_>, hosts: u64) -> Table {
    let mut section = Table::new();
    let mut set = |key: &str, value: Value| _ = section.insert(key.into(), value);
    let size = SIZES[draw.rng.below(SIZES.len() as u64) as usize];
    let start = draw.rng.below(40_000);
    match draw.rng.below(4) {
        0 => {
            let src = draw.rng.below(hosts);
            set("kind", "flow".into());
            set("src", (src as i64).into());
            set("dst", (((src + 1 + draw.rng.below(hosts.max(2) - 1)) % hosts) as i64).into());
            set("size", size.into());
            set("start", format!("{start}ns").into());
        }
        1 => {
            set("kind", "incast".into());
            set("receiver", 0.into());
            let senders = (1..hosts.min(2 + draw.rng.below(4))).map(|host| Value::from(host as i64));
            set("senders", senders.collect::<Vec<_>>().into());
            set("size", size.into());
            set("start", format!("{start}ns").into());
        }
        2 => {
            set("kind", "permutation".into());
            set("size", size.into());
        }
        _ => {
            set("kind", "collective".into());
            set("operation", draw.rng.one_of(&["all_reduce", "all_gather", "all_to_all", "send_receive"]).into());
            set("size", (4 * size).into());
            if draw.rng.chance(50) {
                set("chunk", "1GB".into());
            }
        }
    }
    section
}

pub(super) fn skips(document: &Document, context: &Context<'_>) -> Verdict {
    let mut whole = document.clone();
    whole.remove("run", "skip");
    let mut short = whole.clone();
    short.set("run", "skip", "eager");
    let Ok(one) = context.bench.run(&whole) else { return Verdict::Idle };
    let Ok(other) = context.bench.run(&short) else { return Verdict::Idle };
    if other.summary.skipped.as_ref().is_none_or(|skipped| skipped.tries == 0) {
        return Verdict::Idle;
    }
    verdict(broken(&one, &other), || Second::File(short.text()))
}

/// What differs though it must not.
fn broken(one: &Results, other: &Results) -> Option<String> {
    let events = (one.summary.events, other.summary.events);
    difference(one, other, |_| true)
        .or_else(|| difference_told(&unskipped(one), &unskipped(other), SKIPPED))
        .or_else(|| (events.0 != events.1).then(|| format!("events: {} and {}", events.0, events.1)))
        .or_else(|| (one.trace != other.trace).then(|| "packets.tr".into()))
}

/// A summary without what it says of skips.
fn unskipped(results: &Results) -> Json {
    let mut told = results.told.clone();
    let notes = |holder: &mut Json| {
        if let Some(notes) = holder.get_mut("notes").and_then(Json::as_array_mut) {
            notes.retain(|note| {
                !note["text"].as_str().or(note.as_str()).is_some_and(|text| text.starts_with("run.skip"))
            });
        }
    };
    notes(&mut told);
    if told["notes"].as_array().is_some_and(Vec::is_empty) {
        told.as_object_mut().map(|told| told.remove("notes"));
    }
    if let Some(scenario) = told.get_mut("scenario") {
        notes(scenario);
        scenario.as_object_mut().map(|scenario| scenario.remove("skip"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Bench;

    /// Draws until time was left out in so many scenarios, and compares all.
    #[test]
    fn what_is_left_out_changes_nothing() {
        let bench = Bench::new();
        let relation = super::super::Relation::named("skips").expect("listed");
        let mut leaps = 0;
        for seed in 1..400 {
            let Some(document) = relation.scenario(seed) else { continue };
            let context = Context { bench: &bench, seed, hpcc: None };
            if let Verdict::Broken(broken) = skips(&document, &context) {
                panic!("seed {seed}: {}\n{}", broken.why, document.text());
            }
            let mut short = document.clone();
            short.set("run", "skip", "eager");
            let skipped = bench.run(&short).ok().and_then(|results| results.summary.skipped);
            leaps += u64::from(skipped.is_some_and(|skipped| skipped.leaps > 0));
            if leaps >= 12 {
                return;
            }
        }
        panic!("time was left out in {leaps} scenarios of 399");
    }
}
