// SPDX-License-Identifier: GPL-2.0-only
//! Sections that no structure of settings declares, drawn from the schema of files: a key that is added takes part by its type,
//! and what some keys mean - hosts, nodes, sizes - is known by their names.

use crate::ScenarioRng;
use crate::document::time;
use hpcc_core::topology::Network;
use serde_json::Value as Json;
use std::sync::LazyLock;
use toml::{Table, Value};

pub(crate) const RATES: &[&str] = &["8Gbps", "10Gbps", "25Gbps", "50Gbps", "100Gbps", "100Gbps", "400Gbps", "800Gbps"];
pub(crate) const DELAYS: &[&str] = &["0ns", "10ns", "500ns", "1us", "1us", "5us"];

/// Least bytes of flows that come as a load asks for.
const SMALL: i64 = 8_000;

/// What sections may name.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Hosts, ascending.
    pub hosts: Vec<u32>,
    /// The two ends of links.
    pub links: Vec<(u32, u32)>,
    /// Whether these are all hosts.
    is_all: bool,
    nodes: u64,
}

impl Scope {
    /// A whole network.
    pub fn new(network: &Network) -> Scope {
        let links = network.links.iter().map(|link| (link.a, link.b)).collect();
        Scope { hosts: network.hosts().collect(), links, is_all: true, nodes: network.nodes.len() as u64 }
    }

    /// Some of its hosts and links.
    pub fn of(network: &Network, hosts: Vec<u32>, links: Vec<(u32, u32)>) -> Scope {
        Scope { hosts, links, is_all: false, nodes: network.nodes.len() as u64 }
    }

    fn host(&self, rng: &mut ScenarioRng) -> i64 {
        self.hosts[rng.below(self.hosts.len() as u64) as usize].into()
    }

    /// At least so many of its hosts, in their order.
    fn some(&self, rng: &mut ScenarioRng, least: usize) -> Value {
        let mut hosts = self.hosts.clone();
        rng.shuffle(&mut hosts);
        let most = hosts.len().max(least);
        hosts.truncate(least + rng.below((most - least + 1) as u64) as usize);
        hosts.sort_unstable();
        hosts.into_iter().map(i64::from).collect::<Vec<_>>().into()
    }
}

/// The schema of a scenario's file.
pub(crate) struct Schema(&'static Json);

/// It takes longer to make than a scenario to draw.
static SCHEMA: LazyLock<Json> = LazyLock::new(hpcc_formats::toml_format::schema);

impl Schema {
    pub fn new() -> Schema {
        Schema(&SCHEMA)
    }

    /// A small network of any kind that needs no file.
    pub fn topology(&self, rng: &mut ScenarioRng) -> Table {
        let scope = Scope { hosts: Vec::new(), links: Vec::new(), is_all: true, nodes: 0 };
        let kind = one_of_kinds(&self.0["properties"]["topology"], rng, &["links"]);
        drawn(kind, rng, &scope, 15)
    }

    /// Traffic of any kind that needs no file.
    pub fn traffic(&self, rng: &mut ScenarioRng, scope: &Scope) -> Table {
        let kind = one_of_kinds(&self.0["properties"]["traffic"]["items"], rng, &[]);
        let mut traffic = drawn(kind, rng, scope, 25);
        let has = |name: &str| !kind["properties"][name].is_null();
        if has("sender_count") && !traffic.contains_key("senders") {
            let receiver = traffic.get("receiver").cloned();
            let others = scope.hosts.iter().map(|&host| Value::from(i64::from(host)));
            let mut senders: Vec<Value> = others.filter(|host| Some(host) != receiver.as_ref()).collect();
            senders.truncate(1 + rng.below(senders.len().max(1) as u64) as usize);
            traffic.insert("senders".into(), senders.into());
        }
        traffic.remove("sender_count");
        // A load of small flows is many.
        if has("load") && traffic.get("size").and_then(Value::as_integer).is_some_and(|size| size < SMALL) {
            traffic.insert("size".into(), SMALL.into());
        }
        for name in ["hosts", "ranks"].into_iter().filter(|name| has(name) && !scope.is_all) {
            let all = || scope.hosts.iter().copied().map(i64::from).collect::<Vec<_>>();
            traffic.entry(name).or_insert_with(|| all().into());
        }
        if let (Some(src), Some(dst)) = (traffic.get("src").cloned(), traffic.get("dst").cloned())
            && src == dst
        {
            let other = scope.hosts.iter().map(|&host| Value::from(i64::from(host))).find(|host| *host != src);
            traffic.extend(other.map(|host| ("dst".to_owned(), host)));
        }
        traffic
    }

    /// A section with some of its keys.
    pub fn section(&self, name: &str, rng: &mut ScenarioRng, scope: &Scope, percent: u64) -> Table {
        drawn(&self.0["properties"][name], rng, scope, percent)
    }
}

/// One of the kinds of a section, none that reads a file.
fn one_of_kinds<'a>(section: &'a Json, rng: &mut ScenarioRng, but: &[&str]) -> &'a Json {
    let names =
        |kind: &Json, word: &str| kind["required"].as_array().is_some_and(|keys| keys.iter().any(|key| key == word));
    let is_wanted = |kind: &&Json| {
        let name = kind["properties"]["kind"]["const"].as_str().unwrap_or_default();
        !names(kind, "path") && !but.contains(&name)
    };
    let kinds: Vec<&Json> = section["oneOf"].as_array().into_iter().flatten().filter(is_wanted).collect();
    kinds[rng.below(kinds.len() as u64) as usize]
}

/// The keys that must be there, and of others so many in a hundred.
fn drawn(section: &Json, rng: &mut ScenarioRng, scope: &Scope, percent: u64) -> Table {
    let required = |key: &str| section["required"].as_array().is_some_and(|keys| keys.iter().any(|other| other == key));
    let mut table = Table::new();
    for (key, schema) in section["properties"].as_object().into_iter().flatten() {
        if (required(key) || rng.chance(percent))
            && let Some(value) = value(key, schema, rng, scope)
        {
            table.insert(key.clone(), value);
        }
    }
    // Both ends of a link, and an end behind a beginning.
    if table.contains_key("a") && !scope.links.is_empty() {
        let (a, b) = scope.links[rng.below(scope.links.len() as u64) as usize];
        table.extend([("a".to_owned(), i64::from(a).into()), ("b".to_owned(), i64::from(b).into())]);
    }
    table
}

/// A value of a key; nothing if there is none that could be drawn.
fn value(key: &str, schema: &Json, rng: &mut ScenarioRng, scope: &Scope) -> Option<Value> {
    if let Some(known) = by_name(key, rng, scope) {
        return known;
    }
    if let Some(only) = schema["const"].as_str() {
        return Some(only.into());
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[rng.below(words.len() as u64) as usize].as_str().map(Value::from);
    }
    if schema["type"] == "boolean" {
        return Some(rng.chance(50).into());
    }
    if schema["type"] == "number" {
        let range = ["minimum", "maximum"].map(|end| schema[end].as_f64().unwrap_or_default());
        return Some((range[0] + (range[1].min(4.0) - range[0]) * rng.below(1_000) as f64 / 1_000.0).into());
    }
    if schema["type"] == "integer" {
        let [least, most] = ["minimum", "maximum"].map(|end| schema[end].as_u64().unwrap_or_default());
        let drawn = if least == 0 { 1 + rng.below(3) } else { least + rng.below(3) };
        return Some((drawn.min(most) as i64).into());
    }
    if schema["type"] == "array" && schema["items"]["type"] == "object" {
        let sections = (0..=rng.below(2)).map(|_| drawn(&schema["items"], rng, scope, 50).into());
        return Some(sections.collect::<Vec<Value>>().into());
    }
    let title = schema["title"].as_str().unwrap_or_default();
    if title.starts_with("a time") {
        return Some(time(1_000 + rng.below(40_000)));
    }
    if title.starts_with("a rate") {
        return Some(rng.one_of(RATES).into());
    }
    title.starts_with("a size").then(|| bytes(rng))
}

/// A value of a key whose name says what it means; nothing inside if it is left out.
fn by_name(key: &str, rng: &mut ScenarioRng, scope: &Scope) -> Option<Option<Value>> {
    let is_of_network = scope.nodes == 0;
    let value = match key {
        "src" | "dst" | "receiver" | "host" => scope.host(rng).into(),
        "senders" => return Some(None),
        // Switches have the higher numbers.
        "switch" if !scope.links.is_empty() => {
            let (a, b) = scope.links[rng.below(scope.links.len() as u64) as usize];
            i64::from(a.max(b)).into()
        }
        "hosts" if is_of_network => ((2 + rng.below(5)) as i64).into(),
        "k" if is_of_network => (2 * (1 + rng.below(2)) as i64).into(),
        "hosts" | "ranks" => scope.some(rng, 2),
        "delay" | "fabric_delay" | "bottleneck_delay" | "core_delay" | "global_delay" => rng.one_of(DELAYS).into(),
        "loss" => [0.0, 0.001, 0.01][rng.below(3) as usize].into(),
        "size" if rng.chance(5) => "endless".into(),
        "size" | "chunk" => bytes(rng),
        "load" => (0.05 + rng.below(90) as f64 / 100.0).into(),
        "start" => time(rng.below(60_000)),
        "until" | "stop" => time(40_000 + rng.below(200_000)),
        "sizes" => rng.one_of(&["websearch", "fb_hadoop"]).into(),
        "algorithm" | "all_reduce" | "all_gather" | "reduce_scatter" | "all_to_all" => {
            rng.one_of(&["ring", "tree", "direct", "auto", "recursive_doubling", "halving_doubling", "nvls"]).into()
        }
        "hidden" => ((64 << rng.below(3)) as i64).into(),
        "sequence" => ((8 << rng.below(3)) as i64).into(),
        "feed_forward" => (256_i64).into(),
        "request_rate" => (10_000.0 + rng.below(90_000) as f64).into(),
        "teraflops" => (1.0 + rng.below(4) as f64).into(),
        "bit_errors" => [1e-9, 1e-7, 1e-6][rng.below(3) as usize].into(),
        "weight" => ((1 + rng.below(4)) as i64).into(),
        "trace_nodes" | "capture_nodes" => vec![rng.below(scope.nodes) as i64].into(),
        "control_flows" => vec![0].into(),
        "dport" => (rng.below(1_000) as i64).into(),
        // Names are given where a relation needs them; a histogram prints at multiples of 100 ms.
        "name" | "matrix" | "link" | "queue_histogram_start" | "queue_histogram_end" => return Some(None),
        _ => return None,
    };
    Some(Some(value))
}

/// The size of a flow.
fn bytes(rng: &mut ScenarioRng) -> Value {
    let most = 1 << (6 + rng.below(12));
    ((1 + rng.below(most)) as i64).into()
}
