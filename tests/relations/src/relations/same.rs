// SPDX-License-Identifier: GPL-2.0-only
//! The same results, byte for byte.

use super::{Broken, Context, Second, Verdict, verdict};
use crate::Document;
use crate::run::{NoRun, Results, difference, difference_told};
use serde_json::Value as Json;
use std::process::{Command, Stdio};
use toml::{Table, Value};

/// Files of what happened, whoever watched.
const HAPPENED: &[&str] = &[
    "fct.csv",
    "fct.txt",
    "unfinished.csv",
    "endless.csv",
    "ports.csv",
    "pfc.txt",
    "jobs.csv",
    "collectives.csv",
    "requests.csv",
    "storms.csv",
];
/// Keys of a summary of who watched how.
const WATCHED: &[&str] = &["scenario", "queue_p99_bytes", "queue_max_bytes", "queue_busiest", "notes"];

fn happened(name: &str) -> bool {
    HAPPENED.contains(&name)
}

pub(super) fn threads(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let threads = 2 + context.rng().below(2) as u32;
    let Ok(other) = context.bench.run_text(&document.text(), threads) else { return Verdict::Idle };
    let why = difference(&one, &other, |_| true).or_else(|| difference_told(&one.told, &other.told, &[]));
    verdict(why, || Second::Options(format!("--threads {threads}")))
}

pub(super) fn observers(document: &Document, context: &Context<'_>) -> Verdict {
    let mut watched = document.clone();
    watched.0.remove("monitor");
    let Ok(one) = context.bench.run(&watched) else { return Verdict::Idle };
    let mut rng = context.rng();
    for (key, value) in [("queue_interval", "700ns"), ("goodput_interval", "3us"), ("control_interval", "5us")] {
        watched.set("monitor", key, value);
    }
    watched.set("monitor", "pauses", true);
    watched.set("monitor", "timeline", true);
    watched.set("monitor", "trace_nodes", "all");
    let mut captured = watched.clone();
    captured.set("monitor", "capture_nodes", "all");
    captured.set("monitor", "capture_format", rng.one_of(&["pcap", "pcapng"]));
    // Captures need headers that others can read.
    let (second, other) = match context.bench.run(&captured) {
        Ok(other) => (captured, Ok(other)),
        Err(_) => (watched.clone(), context.bench.run(&watched)),
    };
    compared(&one, other, second.text(), WATCHED)
}

pub(super) fn order(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let text = document.shuffled(&mut context.rng());
    let other = match context.bench.run_text(&text, 1) {
        Ok(other) => other,
        Err(no_run) => return refused(no_run, text),
    };
    let why = difference(&one, &other, |_| true).or_else(|| difference_told(&one.told, &other.told, &[]));
    verdict(why, || Second::File(text))
}

/// What happened is the same.
fn compared(one: &Results, other: Result<Results, NoRun>, text: String, but: &[&str]) -> Verdict {
    match other {
        Ok(other) => {
            let why = difference(one, &other, happened).or_else(|| difference_told(&one.told, &other.told, but));
            verdict(why, || Second::File(text))
        }
        Err(no_run) => refused(no_run, text),
    }
}

fn refused(no_run: NoRun, text: String) -> Verdict {
    match no_run {
        NoRun::Refused(why) => Verdict::Broken(Broken { why: format!("refused: {why}"), second: Second::File(text) }),
        NoRun::NotSo => Verdict::Broken(Broken { why: "does not run".into(), second: Second::File(text) }),
    }
}

/// Sections whose settings a summary tells.
const TOLD: &[&str] = &[
    "congestion_control",
    "telemetry",
    "wire",
    "transport",
    "receive",
    "switch",
    "load_balancing",
    "fast_cnp",
    "compatibility",
];

pub(super) fn effective(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    // A key that is told nowhere: the seal of a domain is a secret.
    if ["telemetry", "fast_cnp", "transport"].iter().any(|section| document.get(section, "seal").is_some()) {
        return Verdict::Idle;
    }
    let mut again = document.clone();
    for section in TOLD {
        again.0.remove(*section);
        let told = &one.summary.scenario[*section];
        match told {
            Json::Object(keys) => _ = again.0.insert((*section).into(), table(keys).into()),
            Json::Array(sections) => {
                for keys in sections.iter().filter_map(Json::as_object) {
                    again.push(section, table(keys));
                }
            }
            _ => {}
        }
    }
    // Without borders they have no side.
    if again.get("fast_cnp", "borders").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        again.remove("fast_cnp", "border_side");
        again.remove("fast_cnp", "borders");
    }
    if let Some(legacy) = one.summary.scenario["legacy"].as_object() {
        again.0.insert("legacy".into(), table(legacy).into());
    }
    // What is said is not assumed, and nothing is taken in its place.
    compared(&one, context.bench.run(&again), again.text(), &["scenario", "assumed", "notes"])
}

/// Settings of a summary as a file has them: units are in the values.
fn table(told: &serde_json::Map<String, Json>) -> Table {
    const UNITS: &[(&str, &str)] = &[("_bytes", ""), ("_ns", "ns"), ("_bps", "bps")];
    let mut table = Table::new();
    // Whether there is a key of a seal is told, and not which.
    for (key, value) in told.iter().filter(|(key, _)| *key != "seal") {
        let unit = UNITS.iter().find_map(|(ending, unit)| Some((key.strip_suffix(ending)?, *unit)));
        let key = if key == "pmax_probability" { "pmax" } else { key };
        // Its own name ends with its unit.
        let (key, unit) = unit.filter(|_| key != "uec_ack_bytes").unwrap_or((key, ""));
        let value = match value {
            Json::Bool(on) => (*on).into(),
            Json::Number(number) if !unit.is_empty() => format!("{number}{unit}").into(),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole.into(),
                (None, Some(_)) if number.is_u64() => number.to_string().into(),
                (None, real) => real.unwrap_or_default().into(),
            },
            Json::String(text) => text.clone().into(),
            Json::Array(list) => list.iter().filter_map(listed).collect::<Vec<Value>>().into(),
            Json::Null | Json::Object(_) => continue,
        };
        table.insert(key.into(), value);
    }
    table
}

fn listed(value: &Json) -> Option<Value> {
    match value {
        Json::Object(keys) => Some(table(keys).into()),
        Json::Array(list) => Some(list.iter().filter_map(listed).collect::<Vec<Value>>().into()),
        _ => value.as_i64().map(Value::from),
    }
}

pub(super) fn longer(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let mut long = document.clone();
    long.set("run", "stop", crate::document::time(one.summary.simulated_ns * 3));
    let other = match context.bench.run(&long) {
        Ok(other) => other,
        Err(no_run) => return refused(no_run, long.text()),
    };
    if one.summary.stopped.is_some() {
        return Verdict::Idle;
    }
    let ended = |results: &Results| -> Vec<String> {
        let mut lines: Vec<String> =
            results.files.get("fct.csv").map(String::as_str).unwrap_or_default().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let later = ended(&other);
    let lost = ended(&one).into_iter().find(|line| !later.contains(line));
    verdict(lost.map(|line| format!("fct.csv has no longer {line}")), || Second::File(long.text()))
}

pub(super) fn written(document: &Document, context: &Context<'_>) -> Verdict {
    let Some(hpcc) = context.hpcc else { return Verdict::Idle };
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let [file, flows] = ["written.toml", "flows.txt"].map(|name| context.bench.path(name));
    let _ = std::fs::remove_file(&flows);
    if std::fs::write(&file, document.text()).is_err() {
        return Verdict::Idle;
    }
    let mut command = Command::new(hpcc);
    command.arg("workload").arg(&file).arg("--write").arg(&flows).stdout(Stdio::null()).stderr(Stdio::null());
    if !command.status().is_ok_and(|status| status.success()) {
        // What a file cannot say is refused.
        return Verdict::Idle;
    }
    let mut again = document.clone();
    again.0.remove("traffic");
    let mut section = Table::new();
    section.insert("kind".into(), "file".into());
    section.insert("path".into(), flows.to_string_lossy().into_owned().into());
    again.push("traffic", section);
    // Attacks may name sections that are gone.
    let second = || {
        Second::Commands(
            "hpcc workload FILE --write flows.txt\nhpcc run FILE --set 'traffic=[{kind=\"file\",path=\"flows.txt\"}]' --out b".into(),
        )
    };
    let other = match context.bench.run(&again) {
        Ok(other) => other,
        Err(NoRun::Refused(why)) => {
            return Verdict::Broken(Broken { why: format!("refused: {why}"), second: second() });
        }
        Err(NoRun::NotSo) => return Verdict::Idle,
    };
    let times = |results: &Results| -> Vec<[u64; 6]> {
        let columns = ["src", "dst", "dport", "size_bytes", "start_ns", "fct_ns"];
        let mut rows: Vec<_> =
            results.rows("fct.csv").iter().map(|row| columns.map(|key| Results::number(row, key))).collect();
        rows.sort_unstable();
        rows
    };
    let (before, after) = (times(&one), times(&other));
    let mut pairs = before.iter().zip(&after);
    let why = pairs.find(|(a, b)| a != b).map(|(a, b)| format!("src, dst, dport, size, start, fct: {a:?} and {b:?}"));
    let why = why
        .or_else(|| (before.len() != after.len()).then(|| format!("{} and {} flows end", before.len(), after.len())));
    verdict(why, second)
}
