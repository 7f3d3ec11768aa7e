// SPDX-License-Identifier: GPL-2.0-only
//! A scenario for every seed: what sections hold is drawn from the declarations of settings, and from the schema of files, so
//! that a new key takes part by itself.

use crate::document::{Document, time};
use crate::keys::{Schema, Scope};
use crate::{ScenarioRng, values};
use hpcc_core::attack::AttackSettings;
use hpcc_core::balance;
use hpcc_core::node::{NodeSettings, Owner, Part};
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::{Setting, Settings};
use hpcc_core::topology::Network;
use std::path::Path;
use toml::{Table, Value};

/// Larger networks take long.
const MOST_HOSTS: usize = 20;

/// Where a text would be as a file.
pub(crate) fn place() -> &'static Path {
    Path::new("scenario.toml")
}

/// Draws scenarios.
pub struct Draw<'a> {
    /// The choices.
    pub rng: &'a mut ScenarioRng,
    /// What was drawn.
    pub document: Document,
    /// What hosts and links there are.
    pub network: Network,
    schema: Schema,
    has_stack: bool,
}

impl Draw<'_> {
    /// A network, and nothing on it yet. Hosts may run TCP and UDP if there is a stack for it.
    ///
    /// # Panics
    /// If no network can be drawn.
    pub fn new(rng: &mut ScenarioRng, seed: u64, has_stack: bool) -> Draw<'_> {
        let schema = Schema::new();
        for _ in 0..1_000 {
            let mut document = Document::default();
            document.set("run", "seed", seed as i64);
            document.set("run", "stop", rng.one_of(&["100us", "300us", "1ms", "3ms"]));
            let topology = topology(rng, &schema);
            document.0.insert("topology".into(), topology.into());
            if let Ok(scenario) = hpcc_formats::load_text(place(), &document.text())
                && (2..=MOST_HOSTS).contains(&scenario.network.hosts().count())
            {
                return Draw { rng, document, network: scenario.network, schema, has_stack };
            }
        }
        panic!("no network of {seed} is one");
    }

    /// A whole scenario, which may contradict itself.
    pub fn all(mut self) -> Document {
        let scope = self.scope();
        self.settings();
        self.events();
        for _ in 0..1 + self.rng.below(4) {
            let section = self.traffic(&scope);
            self.document.push("traffic", section);
        }
        self.of_jobs();
        self.document
    }

    /// What traffic may name: all hosts.
    pub fn scope(&self) -> Scope {
        Scope::new(&self.network)
    }

    /// Several settings, with what they need around them to count.
    pub fn settings(&mut self) {
        let node = NodeSettings::default();
        let parts = node.parts();
        let is_of_stack = self.has_stack && self.rng.chance(15);
        if is_of_stack {
            self.stack();
        }
        let algorithms: Vec<&str> = parts.iter().filter_map(|part| part.algorithm).collect();
        let algorithm = if is_of_stack || self.rng.chance(30) { "hpcc_plus" } else { self.rng.one_of(&algorithms) };
        self.set("congestion_control", "algorithm", algorithm);
        if self.rng.chance(30) {
            let layout = self.rng.one_of(&["paper", "draft", "int_md", "ifa", "ioam", "ioam_slim"]);
            self.set("telemetry", "layout", layout);
        }
        if self.rng.chance(30) {
            let names: Vec<&str> = balance::all().iter().map(|scheme| scheme.name()).collect();
            let scheme = self.rng.one_of(&names);
            self.set("load_balancing", "scheme", scheme);
        }
        if self.rng.chance(30) && !is_of_stack {
            self.set("wire", "profile", "rocev2_ipv6");
            self.set("fast_cnp", "enabled", true);
        }
        if self.rng.chance(25) && !is_of_stack {
            let host = self.rng.below(self.scope().hosts.len() as u64).to_string();
            let hosts = self.rng.one_of(&["hosts", "0", &host]);
            self.set("receive", "hosts", hosts);
            let rate = self.rng.one_of(&["90Gbps", "40Gbps", "10Gbps", "9Gbps", "1Gbps"]);
            self.set("receive", "rate", rate);
        }
        let (are_slow, notifies) = (self.has("receive", "hosts"), self.has("fast_cnp", "enabled"));
        let is_used = |part: &&Part<'_>| {
            part.algorithm.is_none_or(|name| name == algorithm)
                && (part.section != "fast_cnp" || notifies)
                && (part.section != "receive" || are_slow)
                && (part.owner != Owner::Nobody || is_of_stack)
        };
        let usable: Vec<&Part<'_>> = parts.iter().filter(is_used).collect();
        let repeats_faults = self.rng.chance(10);
        // Defaults, and settings that nobody changes, have to be met alike.
        let most = if self.rng.chance(50) { 4 } else { 20 };
        for _ in 0..self.rng.below(most) {
            let part = usable[self.rng.below(usable.len() as u64) as usize];
            if part.section == "compatibility" {
                if repeats_faults {
                    let fault = self.rng.one_of(ReferenceFaults::NAMES);
                    self.set(part.section, fault, true);
                }
                continue;
            }
            let list = part.settings.list();
            if !list.is_empty() {
                let setting = &list[self.rng.below(list.len() as u64) as usize];
                self.setting(part.section, setting);
            }
        }
    }

    /// Hosts that run TCP, or send datagrams.
    fn stack(&mut self) {
        const TCP: &[&str] = &["hpcc_plus", "hpcc_plus", "ns3::TcpDctcp", "ns3::TcpCubic"];
        let protocol = self.rng.one_of(&["tcp", "udp"]);
        let algorithm = if protocol == "tcp" { self.rng.one_of(TCP) } else { "hpcc_plus" };
        self.set("transport", "protocol", protocol);
        self.set("congestion_control", "algorithm", algorithm);
        // ns-3's sockets take time by the square of the packets in flight.
        let mtu = [100, 536, 1448, 9000][self.rng.below(4) as usize];
        self.set("transport", "mtu", mtu);
        if algorithm == "hpcc_plus" {
            self.set("telemetry", "sampling", "probes");
        }
    }

    fn setting(&mut self, section: &str, setting: &Setting) {
        if let Some(condition) = setting.condition {
            let value = self.rng.one_of(condition.values);
            let switch = value.parse::<bool>().map(Value::from);
            let number = || value.parse::<i64>().map_or_else(|_| value.into(), Value::from);
            self.set(section, condition.key, switch.unwrap_or_else(|_| number()));
        }
        let nodes = self.network.nodes.len() as u64;
        let value = values::of(self.rng, setting, self.network.hosts().count() as u64, nodes);
        self.set(section, setting.key, value);
    }

    fn has(&self, section: &str, key: &str) -> bool {
        self.document.get(section, key).is_some()
    }

    /// Sets a key, unless it is set.
    fn set(&mut self, section: &str, key: &str, value: impl Into<Value>) {
        if !self.has(section, key) {
            self.document.set(section, key, value);
        }
    }

    /// Failing links, nodes without telemetry, attackers, monitors.
    fn events(&mut self) {
        let scope = self.scope();
        if self.rng.chance(30) {
            self.failures(&scope);
        }
        if self.rng.chance(25) {
            let node = self.rng.below(self.network.nodes.len() as u64) as i64;
            self.document.set("legacy", "nodes", vec![node]);
            let algorithm = self.rng.one_of(&["dcqcn", "dctcp", "timely", "swift", "none"]);
            self.document.set("legacy", "algorithm", algorithm);
        }
        if self.rng.chance(40) {
            self.monitor();
        }
        if self.rng.chance(15) {
            self.document.set("run", "order", "insertion");
        }
        if self.rng.chance(10) && self.has("fast_cnp", "enabled") {
            let borders = vec![Value::from(vec![self.network.hosts().count() as i64, 0])];
            self.document.set("fast_cnp", "borders", borders);
        }
        if self.rng.chance(15) {
            self.attack();
        }
    }

    /// Time series.
    pub fn monitor(&mut self) {
        let scope = self.scope();
        let monitor = self.schema.section("monitor", self.rng, &scope, 30);
        if !monitor.is_empty() {
            self.document.0.insert("monitor".into(), monitor.into());
        }
    }

    /// Links that fail or become worse, and NICs that pause, on the links and hosts of a scope.
    pub fn failures(&mut self, scope: &Scope) {
        let failures = self.schema.section("failures", self.rng, scope, 40);
        if !failures.is_empty() {
            self.document.0.insert("failures".into(), failures.into());
        }
    }

    fn attack(&mut self) {
        let (hosts, nodes) = (self.network.hosts().count() as u64, self.network.nodes.len() as u64);
        let mut attack = Table::new();
        for setting in AttackSettings::default().list() {
            if ["kind", "from"].contains(&setting.key) || self.rng.chance(30) {
                attack.insert(setting.key.into(), values::of(self.rng, &setting, hosts, nodes));
            }
        }
        attack.insert("from".into(), (self.rng.below(nodes) as i64).into());
        if self.rng.chance(50) {
            attack.insert("stop".into(), time(30_000 + self.rng.below(50_000)));
        }
        self.document.push("attack", attack);
    }

    /// Traffic of any kind between hosts of a scope.
    pub fn traffic(&mut self, scope: &Scope) -> Table {
        self.schema.traffic(self.rng, scope)
    }

    /// Servers, which only jobs have.
    fn of_jobs(&mut self) {
        let is_job = self.document.list("traffic").any(|section| section.contains_key("operation"));
        if is_job && self.rng.chance(30) {
            let scope = self.scope();
            let servers = self.schema.section("servers", self.rng, &scope, 40);
            self.document.0.insert("servers".into(), servers.into());
        }
    }
}

fn topology(rng: &mut ScenarioRng, schema: &Schema) -> Table {
    if rng.chance(15) { links(rng) } else { schema.topology(rng) }
}

/// Switches in a row, or in two rows that are apart, with hosts at each: more than one at the first, for the flow that is
/// left when all other traffic is refused.
fn links(rng: &mut ScenarioRng) -> Table {
    let (hosts, switches) = (5 + rng.below(3), 2 + rng.below(3));
    let cut = rng.chance(60).then(|| 1 + rng.below(switches - 1));
    let mut links: Vec<Value> = Vec::new();
    let mut link = |a: u64, b: u64| {
        links.push(Table::from_iter([("a".to_owned(), Value::from(a as i64)), ("b".into(), (b as i64).into())]).into());
    };
    (0..hosts).for_each(|host| link(host, hosts + host * switches / hosts));
    (1..switches).filter(|&next| Some(next) != cut).for_each(|next| link(hosts + next - 1, hosts + next));
    let mut topology = Table::new();
    topology.insert("kind".into(), "links".into());
    topology.insert("hosts".into(), (hosts as i64).into());
    topology.insert("switches".into(), (switches as i64).into());
    topology.insert("rate".into(), rng.one_of(crate::keys::RATES).into());
    topology.insert("delay".into(), rng.one_of(crate::keys::DELAYS).into());
    topology.insert("links".into(), links.into());
    topology
}
