// SPDX-License-Identifier: GPL-2.0-only
//! The same at another time, at another pace, between other hosts.

use super::{Broken, Context, Second, Verdict, verdict};
use crate::document::{Document, nanos, time};
use crate::draw::Draw;
use crate::run::{Results, difference_told};
use hpcc_core::settings::Value as Setting;
use hpcc_model::scenario::Scenario;
use toml::{Table, Value};

/// Shifts, in ns: small ones, and one beyond counters of 32 bits.
const SHIFTS: &[u64] = &[1, 1_000, 1_000_000, 1 << 33];
/// Counts of a summary that do not depend on when it was.
const COUNTS: &[&str] = &[
    "flows_total",
    "flows_finished",
    "drops",
    "losses",
    "marks",
    "marks_merged",
    "marks_heard",
    "marks_lost",
    "resent_packets",
    "timeouts",
    "probes",
    "feedback_packets",
    "rejected_feedback",
    "baseline_resets",
    "path_moves",
    "cnps",
    "pfc_pauses",
    "trims",
    "receive",
    "fast_cnp",
    "attacks",
    "packet_hops",
    "telemetry_bytes",
];

pub(super) fn shift(document: &Document, context: &Context<'_>) -> Verdict {
    // The sender asks for one half of the load or the other by the time.
    let asks_by_time = document.get("telemetry", "layout").and_then(Value::as_str) == Some("csig")
        && document.get("telemetry", "csig_signal").is_none_or(|signal| signal.as_str() == Some("load"));
    if asks_by_time {
        return Verdict::Idle;
    }
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let by = SHIFTS[context.rng().below(SHIFTS.len() as u64) as usize];
    let Some(late) = shifted(document, by) else { return Verdict::Idle };
    let other = match context.bench.run(&late) {
        Ok(other) => other,
        Err(crate::run::NoRun::Refused(why)) if why.contains("the most that can be given") => return Verdict::Idle,
        Err(crate::run::NoRun::Refused(why)) => {
            return Verdict::Broken(Broken { why: format!("refused: {why}"), second: Second::File(late.text()) });
        }
        Err(crate::run::NoRun::NotSo) => return Verdict::Idle,
    };
    let why = ["fct.csv", "unfinished.csv", "endless.csv", "jobs.csv", "collectives.csv", "goodput.csv", "pauses.csv"]
        .iter()
        .find_map(|name| rows_differ(&one, &other, name, by))
        .or_else(|| counts_differ(&one, &other));
    verdict(why.map(|why| format!("{by} ns later: {why}")), || Second::File(late.text()))
}

/// All times that are points in time, later; nothing if some are written as a text of their own.
fn shifted(document: &Document, by: u64) -> Option<Document> {
    let mut late = document.clone();
    let later = |table: &mut Table, key: &str, default: Option<u64>| {
        if let Some(now) = table.get(key).map_or(default, nanos) {
            table.insert(key.into(), time(now + by));
        }
    };
    later(late.0.get_mut("run")?.as_table_mut()?, "stop", None);
    for list in ["traffic", "attack"] {
        for section in late.list_mut(list) {
            later(section, "start", Some(0));
            later(section, "stop", None);
        }
    }
    for list in ["links", "degraded", "storms", "reboots"] {
        let events =
            late.0.get_mut("failures").and_then(|failures| failures.get_mut(list)).and_then(Value::as_array_mut);
        for event in events.into_iter().flatten().filter_map(Value::as_table_mut) {
            later(event, "time", None);
            later(event, "until", None);
        }
    }
    // Rates of receivers over time are one text.
    let is_scheduled = document.get("receive", "schedule").is_some_and(|text| text.as_str() != Some("none"));
    (!is_scheduled).then_some(late)
}

/// How rows of two runs differ, of which the other is so much later.
fn rows_differ(one: &Results, other: &Results, name: &str, by: u64) -> Option<String> {
    let lines = |results: &Results, by: u64| -> Vec<String> {
        let line = |row: &std::collections::BTreeMap<&str, &str>| {
            let cells = row.iter().map(|(column, text)| {
                // Of jobs it is how long they took.
                let is_time = *column == "start_ns" || *column == "time_ns" && name == "goodput.csv";
                let text = match text.parse::<u64>() {
                    Ok(now) if is_time && now >= by => (now - by).to_string(),
                    _ => (*text).to_owned(),
                };
                format!("{column} {text}")
            });
            cells.collect::<Vec<_>>().join(", ")
        };
        results.rows(name).iter().map(line).collect()
    };
    let (a, b) = (lines(one, 0), lines(other, by));
    let mut pairs = a.iter().zip(&b);
    let differ = pairs.find(|(a, b)| a != b).map(|(a, b)| format!("{name}: {a}; {b}"));
    differ.or_else(|| (a.len() != b.len()).then(|| format!("{name}: {} and {} rows", a.len(), b.len())))
}

fn counts_differ(one: &Results, other: &Results) -> Option<String> {
    let all: Vec<&str> = one.told.as_object()?.keys().map(String::as_str).filter(|key| !COUNTS.contains(key)).collect();
    difference_told(&one.told, &other.told, &all)
}

/// Hosts of the star that may be others.
const STAR: i64 = 9;
/// Hosts that take part.
const PART: u64 = 4;

/// Traffic between the first hosts of a star, none of which has settings of its own.
pub(super) fn draw_star(mut draw: Draw<'_>) -> Document {
    let mut topology = Table::new();
    topology.insert("kind".into(), "star".into());
    topology.insert("hosts".into(), STAR.into());
    for key in ["rate", "delay"] {
        let drawn = draw.document.get("topology", key).cloned();
        topology.insert(key.into(), drawn.unwrap_or_else(|| if key == "rate" { "100Gbps" } else { "1us" }.into()));
    }
    draw.document.0.insert("topology".into(), topology.into());
    if let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &draw.document.text()) {
        draw.network = scenario.network;
    }
    draw.settings();
    let scope = crate::Scope::of(&draw.network, (0..PART as u32).collect(), Vec::new());
    for _ in 0..1 + draw.rng.below(3) {
        let section = draw.traffic(&scope);
        draw.document.push("traffic", section);
    }
    draw.document
}

/// Whether ports drew: each has chances of its own, by the number of its node.
fn is_by_chance(results: &Results) -> bool {
    let has = |pointer: &str| results.told.pointer(pointer).is_some_and(|count| count.as_u64() != Some(0));
    let has_pint = results.told["scenario"]["congestion_control"]["algorithm"] == "hpcc_pint";
    has("/marks") || has("/losses") || has("/fast_cnp/sent") || has_pint
}

pub(super) fn relabel(document: &Document, context: &Context<'_>) -> Verdict {
    let is_named = |section: &str, key: &str| {
        document
            .get(section, key)
            .is_some_and(|value| !["hosts", "none", "all", "switches"].contains(&value.as_str().unwrap_or("")))
    };
    let names_hosts = [("receive", "hosts"), ("legacy", "nodes"), ("fast_cnp", "borders"), ("fast_cnp", "incapable")]
        .iter()
        .any(|(section, key)| is_named(section, key))
        // Each host's rounds begin by its own number.
        || document.get("transport", "uec_oversubscription").is_some()
        || document.0.contains_key("attack")
        || document.0.contains_key("failures")
        || document.0.contains_key("servers")
        || document.get("topology", "kind").and_then(Value::as_str) != Some("star")
        || ["telemetry", "fast_cnp", "switch", "load_balancing"].iter().any(|section| {
            [
                "hidden_from",
                "telemetry_hidden_from",
                "csig_strip",
                "domain",
                "capable",
                "accept_from",
                "switches",
                "incapable",
            ]
            .iter()
            .any(|key| is_named(section, key))
        });
    if names_hosts {
        return Verdict::Idle;
    }
    let mut document = document.clone();
    // By its name a section keeps its chances: without one it is known by what it says, its hosts among that.
    for (number, section) in document.list_mut("traffic").enumerate() {
        section.entry("name").or_insert_with(|| format!("traffic-{number}").into());
    }
    let Ok(one) = context.bench.run(&document) else { return Verdict::Idle };
    if is_by_chance(&one) {
        return Verdict::Idle;
    }
    let mut rng = context.rng();
    let mut others: Vec<i64> =
        (0..document.get("topology", "hosts").and_then(Value::as_integer).unwrap_or(0)).collect();
    rng.shuffle(&mut others);
    others.truncate(PART as usize);
    others.sort_unstable();
    let mut other = document.clone();
    for section in other.list_mut("traffic") {
        let of = |host: &Value| host.as_integer().and_then(|host| others.get(host as usize)).copied();
        for key in ["src", "dst", "receiver", "senders", "hosts", "ranks"] {
            let Some(value) = section.get(key) else { continue };
            let mapped = match value {
                Value::Array(hosts) => hosts.iter().map(of).collect::<Option<Vec<i64>>>().map(Value::from),
                host => of(host).map(Value::from),
            };
            let Some(mapped) = mapped else { return Verdict::Idle };
            section.insert(key.into(), mapped);
        }
        // Words would name others.
        if section
            .get("kind")
            .and_then(Value::as_str)
            .is_some_and(|kind| !["flow", "on_off", "incast", "periodic_incast"].contains(&kind))
            && !section.contains_key("hosts")
            && !section.contains_key("ranks")
        {
            return Verdict::Idle;
        }
        for weights in section.get_mut("weights").and_then(Value::as_array_mut).into_iter().flatten() {
            if weights.get("hosts").is_some() {
                return Verdict::Idle;
            }
        }
    }
    let Ok(moved) = context.bench.run(&other) else { return Verdict::Idle };
    if is_by_chance(&moved) {
        return Verdict::Idle;
    }
    let rows = |results: &Results, name: &str, is_moved: bool| -> Vec<String> {
        let host = |text: &str| {
            let number: i64 = text.parse().unwrap_or(-1);
            let place = others.iter().position(|&other| other == number).filter(|_| is_moved);
            place.map_or(number, |place| place as i64)
        };
        let row = |row: &std::collections::BTreeMap<&str, &str>| {
            let cells = row.iter().map(|(column, text)| {
                let text = if ["src", "dst"].contains(column) { host(text).to_string() } else { (*text).to_owned() };
                format!("{column} {text}")
            });
            cells.collect::<Vec<_>>().join(", ")
        };
        results.rows(name).iter().map(row).collect()
    };
    let why = ["fct.csv", "unfinished.csv", "endless.csv", "jobs.csv"].iter().find_map(|name| {
        let (a, b) = (rows(&one, name, false), rows(&moved, name, true));
        let mut pairs = a.iter().zip(&b);
        let differ = pairs.find(|(a, b)| a != b).map(|(a, b)| format!("{name}: {a}; {b}"));
        differ.or_else(|| (a.len() != b.len()).then(|| format!("{name}: {} and {} rows", a.len(), b.len())))
    });
    let why = why.or_else(|| counts_differ(&one, &moved));
    verdict(why.map(|why| format!("hosts {others:?}: {why}")), || Second::File(other.text()))
}

/// Rates at which a byte takes whole nanoseconds, also where they are halved.
const WHOLE: &str = "8Gbps";
/// Algorithms whose laws have no times or rates but those of their settings.
const LAWS: &[&str] = &["none", "dctcp", "hpcc", "swift"];

/// A network whose times are whole.
pub(super) fn draw_scale(mut draw: Draw<'_>) -> Document {
    if let Some(topology) = draw.document.0.get_mut("topology").and_then(Value::as_table_mut) {
        for (key, value) in topology.iter_mut() {
            if key == "rate" || key.ends_with("_rate") {
                *value = WHOLE.into();
            }
        }
        topology.remove("loss");
    }
    let algorithm = draw.rng.one_of(LAWS);
    draw.document.set("congestion_control", "algorithm", algorithm);
    if draw.rng.chance(50) {
        draw.document.set("transport", "recovery", "selective_repeat");
    }
    if draw.rng.chance(50) {
        draw.document.set("wire", "profile", "rocev2_ipv4");
    }
    if draw.rng.chance(30) {
        draw.document.set("switch", "mode", "lossy");
    }
    let scope = draw.scope();
    for _ in 0..1 + draw.rng.below(3) {
        let mut section = draw.traffic(&scope);
        section.remove("rate");
        draw.document.push("traffic", section);
    }
    draw.document.set("telemetry", "layout", "auto");
    draw.document
}

/// So far may times be apart: what is rounded to a nanosecond or a code is rounded elsewhere.
const NEAR: f64 = 0.02;

pub(super) fn scale(document: &Document, context: &Context<'_>) -> Verdict {
    let Ok(scenario) = hpcc_formats::load_text(crate::draw::place(), &document.text()) else { return Verdict::Idle };
    let is_plain = document.list("traffic").all(|section| {
        section
            .get("kind")
            .and_then(Value::as_str)
            .is_some_and(|kind| ["flow", "incast", "on_off", "periodic_incast"].contains(&kind))
            && !section.contains_key("rate")
    }) && !["failures", "attack", "servers", "legacy", "monitor", "receive"]
        .iter()
        .any(|name| document.0.contains_key(*name))
        && scenario.network.links.iter().all(|link| link.rate.0 == 8_000_000_000 && link.loss == 0.0)
        && LAWS.contains(&scenario.algorithm().name())
        && ["class_ecn", "ecn_thresholds"].iter().all(|key| document.get("switch", key).is_none());
    if !is_plain {
        return Verdict::Idle;
    }
    let Ok(one) = context.bench.run(document) else { return Verdict::Idle };
    let mut slow = document.clone();
    let twice = |table: &mut Table| {
        for (key, value) in table.iter_mut() {
            if key == "rate" || key.ends_with("_rate") {
                *value = "4Gbps".into();
            } else if let Some(now) = nanos(value).filter(|_| value.is_str()) {
                *value = time(2 * now);
            }
        }
    };
    for name in ["run", "topology"] {
        slow.0.get_mut(name).and_then(Value::as_table_mut).map(twice);
    }
    slow.list_mut("traffic").for_each(twice);
    slower(&scenario, &mut slow);
    let other = match context.bench.run(&slow) {
        Ok(other) => other,
        Err(crate::run::NoRun::Refused(why)) => {
            return Verdict::Broken(Broken { why: format!("refused: {why}"), second: Second::File(slow.text()) });
        }
        Err(crate::run::NoRun::NotSo) => return Verdict::Idle,
    };
    let times = |results: &Results| -> Vec<(u64, u64)> {
        let row = |row: &std::collections::BTreeMap<&str, &str>| {
            (Results::number(row, "flow"), Results::number(row, "fct_ns"))
        };
        let mut times: Vec<_> = results.rows("fct.csv").iter().map(row).collect();
        times.sort_unstable();
        times
    };
    let (a, b) = (times(&one), times(&other));
    let far = |near: f64| {
        let far = move |(a, b): &(&(u64, u64), &(u64, u64))| {
            let (one, half) = (a.1 as f64, b.1 as f64 / 2.0);
            a.0 != b.0 || (one - half).abs() > near * one + 200.0
        };
        a.iter().zip(&b).find(far)
    };
    // Instants of paced packets are rounded to a nanosecond. Under HPCC half of one decides which of two packets comes first, and
    // so what windows become: a flow may be off twice as far as nanoseconds of delay move flows of this scenario.
    let is_fed_back = scenario.algorithm().name().starts_with("hpcc");
    let far = far(NEAR)
        .filter(|_| !is_fed_back || far(NEAR + 2.0 * moved_by_nanoseconds(document, context, &times, &a)).is_some());
    let is_exact = scenario.algorithm().name() == "none";
    let off = || a.iter().zip(&b).find(|(a, b)| 2 * a.1 != b.1).filter(|_| is_exact);
    let why = far.or_else(off).map(|(a, b)| format!("flow {}: {} ns, and {} ns at half the rates", a.0, a.1, b.1));
    verdict(why, || Second::File(slow.text()))
}

const OF_100G: [&str; 2] = ["ecn_kmin", "ecn_kmax"];

/// Settings that are in force, with twice the times and half the rates.
/// The largest share by which one to three nanoseconds more of each link's delay change a flow's time.
fn moved_by_nanoseconds(
    document: &Document,
    context: &Context<'_>,
    times: &impl Fn(&Results) -> Vec<(u64, u64)>,
    flows: &[(u64, u64)],
) -> f64 {
    let share = |(a, b): (&(u64, u64), &(u64, u64))| {
        if a.0 == b.0 { a.1.abs_diff(b.1) as f64 / a.1 as f64 } else { 1.0 }
    };
    let share_by = |more: u64| {
        let mut later = document.clone();
        if let Some(topology) = later.0.get_mut("topology").and_then(Value::as_table_mut) {
            for (_, value) in topology.iter_mut().filter(|(key, _)| key.ends_with("delay")) {
                *value = time(nanos(value).unwrap_or(0) + more);
            }
        }
        let Ok(other) = context.bench.run(&later) else { return 0.0 };
        flows.iter().zip(&times(&other)).map(share).fold(0.0, f64::max)
    };
    (1..=3).map(share_by).fold(0.0, f64::max)
}

fn slower(scenario: &Scenario, slow: &mut Document) {
    let algorithm = scenario.algorithm().name();
    for part in scenario.settings.parts() {
        if part.algorithm.is_some_and(|name| name != algorithm)
            || ["compatibility", "receive", "fast_cnp"].contains(&part.section)
        {
            continue;
        }
        for setting in part.settings.list() {
            // Whoever sets timeout_low turns it on.
            let is_off = setting.key == "timeout_low" && scenario.settings.transport.timeout_low_packets == Some(0);
            if is_off || !scenario.settings.counts(&part, &setting) {
                continue;
            }
            let value = match part.settings.get(setting.key) {
                Some(Setting::Time(now)) => time(2 * now.0),
                Some(Setting::Rate(rate)) => format!("{}bps", rate.0 / 2).into(),
                // Thresholds are those of 100 Gb/s, and grow with the rate of a port.
                Some(Setting::Bytes(bytes)) if OF_100G.contains(&setting.key) => format!("{}B", 2 * bytes).into(),
                _ => continue,
            };
            slow.set(part.section, setting.key, value);
        }
    }
}
