// SPDX-License-Identifier: GPL-2.0-only
//! A scenario for every seed with several settings at once.

use crate::values;
use hpcc_core::balance;
use hpcc_core::node::{NodeSettings, Owner, Part};
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Setting;
use hpcc_formats::error::InputError;
use hpcc_tests::ScenarioRng;
use std::path::Path;

/// A line of a scenario.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    /// Whether the scenario is one without it.
    optional: bool,
}

/// A scenario, one setting or section in each line.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    lines: Vec<Line>,
}

/// The network's nodes, and some of its links.
struct Network {
    hosts: u64,
    nodes: u64,
    links: Vec<(u64, u64)>,
}

impl Network {
    /// Hosts, switches, and links between switches. Host 0 is at the first switch.
    fn new(hosts: u64, switches: u64, fabric: &[(u64, u64)]) -> Network {
        let mut links = vec![(0, hosts)];
        links.extend(fabric.iter().map(|(a, b)| (hosts + a, hosts + b)));
        Network { hosts, nodes: hosts + switches, links }
    }

    fn switch(&self, rng: &mut ScenarioRng) -> u64 {
        self.hosts + rng.below(self.nodes - self.hosts)
    }
}

impl Draft {
    /// The scenario of a seed, which may run TCP and UDP if there is a stack for it. It may contradict itself.
    pub fn new(rng: &mut ScenarioRng, seed: u64, has_stack: bool) -> Draft {
        let mut draft = Draft::default();
        draft.fixed(format!("run.seed = {seed}"));
        draft.fixed(format!("run.stop = '{}'", rng.one_of(&["100us", "1ms", "3ms"])));
        let network = draft.topology(rng);
        if rng.chance(15) && has_stack {
            draft.stack(rng);
        }
        draft.settings(rng, &network);
        draft.events(rng, &network);
        draft.traffic(rng, &network);
        draft
    }

    /// The file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.clone() + "\n").collect()
    }

    /// Takes out what an error blames, or else anything, until the scenario at `path` is accepted. Returns the errors.
    ///
    /// # Errors
    /// If nothing is left to take out.
    pub fn repair(&mut self, rng: &mut ScenarioRng, path: &Path) -> Result<Vec<InputError>, InputError> {
        let mut errors = Vec::new();
        loop {
            std::fs::write(path, self.text()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let Err(error) = hpcc_formats::load(path, &[]) else { return Ok(errors) };
            let Some(line) = self.culprit(rng, &error) else { return Err(error) };
            self.lines.remove(line);
            errors.push(error);
        }
    }

    /// The line to take out.
    fn culprit(&self, rng: &mut ScenarioRng, error: &InputError) -> Option<usize> {
        let is_optional = |line: &usize| self.lines.get(*line).is_some_and(|line| line.optional);
        let of_line = error.line.map(|line| line as usize - 1).filter(is_optional);
        of_line.or_else(|| self.mentioned(&error.without_place())).or_else(|| {
            let optional: Vec<usize> = (0..self.lines.len()).filter(is_optional).collect();
            (!optional.is_empty()).then(|| optional[rng.below(optional.len() as u64) as usize])
        })
    }

    /// A line whose key a message has.
    fn mentioned(&self, message: &str) -> Option<usize> {
        let is_in = |line: &Line| line.text.split_once(" = ").is_some_and(|(key, _)| message.contains(key));
        self.lines.iter().position(|line| line.optional && is_in(line))
    }

    /// The line that sets a key.
    fn position(&self, key: &str) -> Option<usize> {
        let sets = |line: &Line| line.text.strip_prefix(key).is_some_and(|rest| rest.starts_with(" = "));
        self.lines.iter().position(sets)
    }

    fn fixed(&mut self, text: String) {
        self.lines.push(Line { text, optional: false });
    }

    fn optional(&mut self, text: String) {
        self.lines.push(Line { text, optional: true });
    }

    fn topology(&mut self, rng: &mut ScenarioRng) -> Network {
        const RATES: &[&str] = &["25Gbps", "50Gbps", "100Gbps", "100Gbps", "400Gbps"];
        const DELAYS: &[&str] = &["0ns", "10ns", "1us", "1us", "20us"];
        let (rate, fabric) = (rng.one_of(RATES), rng.one_of(RATES));
        let (delay, fabric_delay) = (rng.one_of(DELAYS), rng.one_of(DELAYS));
        let (a, b, c) = (1 + rng.below(3), 1 + rng.below(3), 1 + rng.below(3));
        let (kind, network) = match rng.below(4) {
            0 => (format!("'star', hosts = {}", a + 2), Network::new(a + 2, 1, &[])),
            1 => {
                let links = format!("bottleneck_rate = '{fabric}', bottleneck_delay = '{fabric_delay}'");
                (format!("'dumbbell', left = {a}, right = {b}, {links}"), Network::new(a + b, 2, &[(0, 1)]))
            }
            2 => {
                let links = format!("fabric_rate = '{fabric}', fabric_delay = '{fabric_delay}'");
                let text = format!("'dual_homed', pairs = 2, hosts_per_pair = {a}, aggs = {b}, {links}");
                (text, Network::new(2 * a, 4 + b, &[(0, 4), (2, 4)]))
            }
            _ => {
                let links = format!("fabric_rate = '{fabric}', fabric_delay = '{fabric_delay}'");
                let text = format!("'leaf_spine', leaves = 2, spines = {a}, hosts_per_leaf = {c}, {links}");
                (text, Network::new(2 * c, 2 + a, &[(0, 2), (1, 2)]))
            }
        };
        self.fixed(format!("topology = {{ kind = {kind}, rate = '{rate}', delay = '{delay}' }}"));
        network
    }

    /// Hosts that run TCP, or send datagrams.
    fn stack(&mut self, rng: &mut ScenarioRng) {
        const TCP: &[&str] = &["hpcc_plus", "hpcc_plus", "ns3::TcpDctcp", "ns3::TcpCubic"];
        let protocol = rng.one_of(&["tcp", "udp"]);
        let algorithm = if protocol == "tcp" { rng.one_of(TCP) } else { "hpcc_plus" };
        self.set("transport", "protocol", format!("'{protocol}'"));
        self.set("congestion_control", "algorithm", format!("'{algorithm}'"));
        // ns-3's sockets take time by the square of the packets in flight.
        self.set("transport", "mtu", rng.one_of(&["100", "536", "1448", "9000"]).into());
        if algorithm == "hpcc_plus" {
            self.set("telemetry", "sampling", "'probes'".into());
        }
    }

    /// Several settings, with what they need around them to count.
    fn settings(&mut self, rng: &mut ScenarioRng, network: &Network) {
        let node = NodeSettings::default();
        let parts = node.parts();
        let algorithms: Vec<&str> = parts.iter().filter_map(|part| part.algorithm).collect();
        let is_of_stack = self.position("transport.protocol").is_some();
        let algorithm = if is_of_stack || rng.chance(30) { "hpcc_plus" } else { rng.one_of(&algorithms) };
        self.set("congestion_control", "algorithm", format!("'{algorithm}'"));
        if rng.chance(30) {
            let layout = rng.one_of(&["paper", "draft", "int_md", "ifa", "ioam", "ioam_slim"]);
            self.set("telemetry", "layout", format!("'{layout}'"));
        }
        if rng.chance(30) {
            let names: Vec<&str> = balance::all().iter().map(|scheme| scheme.name()).collect();
            self.set("load_balancing", "scheme", format!("'{}'", rng.one_of(&names)));
        }
        if rng.chance(30) && !is_of_stack {
            self.set("wire", "profile", "'rocev2_ipv6'".into());
            self.set("fast_cnp", "enabled", "true".into());
        }
        if rng.chance(25) && !is_of_stack {
            let rate = rng.one_of(&["90Gbps", "40Gbps", "9Gbps", "1Gbps"]);
            self.set("receive", "hosts", format!("'{}'", rng.below(network.hosts)));
            self.set("receive", "rate", format!("'{rate}'"));
        }
        let are_slow = self.position("receive.hosts").is_some();
        let notifies = self.position("fast_cnp.enabled").is_some();
        let is_used = |part: &&Part<'_>| {
            part.algorithm.is_none_or(|name| name == algorithm)
                && (part.section != "fast_cnp" || notifies)
                && (part.section != "receive" || are_slow)
                && (part.owner != Owner::Nobody || is_of_stack)
        };
        let usable: Vec<&Part<'_>> = parts.iter().filter(is_used).collect();
        let repeats_faults = rng.chance(20);
        for _ in 0..2 + rng.below(18) {
            let part = usable[rng.below(usable.len() as u64) as usize];
            if part.section == "compatibility" {
                if !repeats_faults {
                    continue;
                }
                self.set(part.section, rng.one_of(ReferenceFaults::NAMES), "true".into());
                continue;
            }
            let list = part.settings.list();
            if !list.is_empty() {
                let setting = &list[rng.below(list.len() as u64) as usize];
                self.setting(rng, network, part, setting);
            }
        }
    }

    fn setting(&mut self, rng: &mut ScenarioRng, network: &Network, part: &Part<'_>, setting: &Setting) {
        if let Some(condition) = setting.condition {
            let value = rng.one_of(condition.values);
            let is_word = !["true", "false"].contains(&value) && value.parse::<u64>().is_err();
            self.set(part.section, condition.key, if is_word { format!("'{value}'") } else { value.into() });
        }
        let value = values::of(rng, setting, network.hosts, network.nodes);
        self.set(part.section, setting.key, value);
    }

    /// Sets a key, unless it is set.
    fn set(&mut self, section: &str, key: &str, value: String) {
        let path = format!("{section}.{key}");
        if self.position(&path).is_none() {
            self.optional(format!("{path} = {value}"));
        }
    }

    /// Failing links, nodes without telemetry, attackers, monitors.
    fn events(&mut self, rng: &mut ScenarioRng, network: &Network) {
        if rng.chance(30) {
            let (a, b) = network.links[rng.below(network.links.len() as u64) as usize];
            let until = rng.one_of(&["", ", until = '40us'", ", until = '200us'"]);
            self.optional(format!("failures.links = [{{ time = '{}us', a = {a}, b = {b}{until} }}]", rng.below(40)));
        }
        if rng.chance(40) {
            let node = if rng.chance(70) { rng.below(network.hosts) } else { rng.below(network.nodes) };
            self.optional(format!("legacy.nodes = [{node}]"));
            let algorithm = rng.one_of(&["dcqcn", "dctcp", "timely", "swift", "none"]);
            self.optional(format!("legacy.algorithm = '{algorithm}'"));
        }
        if rng.chance(25) {
            self.set("receive", "hosts", rng.one_of(&["'hosts'", "'0'"]).into());
            self.set("receive", "rate", rng.one_of(&["'1Gbps'", "'10Gbps'", "'40Gbps'"]).into());
            self.set("receive", "buffer", rng.one_of(&["'10KB'", "'100KB'", "'1MB'"]).into());
        }
        if rng.chance(50) {
            self.optional("monitor.goodput_interval = '5us'".into());
            self.optional("monitor.queue_interval = '1us'".into());
        }
        if rng.chance(20) {
            self.optional("monitor.control_interval = '10us'".into());
        }
        if rng.chance(20) {
            self.optional(format!("monitor.trace_nodes = [{}]", rng.below(network.nodes)));
            self.optional(format!("monitor.capture_nodes = [{}]", rng.below(network.nodes)));
        }
        if rng.chance(20) {
            self.optional("run.order = 'insertion'".into());
        }
        if rng.chance(20) {
            self.optional(format!("fast_cnp.borders = [[{}, 0]]", network.hosts));
        }
        if rng.chance(15) {
            self.attack(rng, network);
        }
    }

    fn attack(&mut self, rng: &mut ScenarioRng, network: &Network) {
        const NOTIFICATIONS: &[&str] =
            &["forged_fast_cnp", "replayed_fast_cnp", "flooded_fast_cnp", "spoofed_icmpv6", "tampered_feedback"];
        const OTHERS: &[&str] = &[
            "tampered_feedback",
            "stripped_feedback",
            "lying_feedback",
            "dropped_feedback",
            "delayed_feedback",
            "bleached_ecn",
            "forged_ack",
            "forged_nack",
            "forged_cnp",
            "forged_pfc",
        ];
        let notifies = self.position("fast_cnp.enabled").is_some();
        let kind = rng.one_of(if notifies { NOTIFICATIONS } else { OTHERS });
        let from = if rng.chance(60) { network.switch(rng) } else { rng.below(network.hosts) };
        let rest = match kind {
            "tampered_feedback" | "lying_feedback" => rng.one_of(&["claim = 'idle'", "claim = 'busy'"]),
            "dropped_feedback" => rng.one_of(&["share = 0.5", "share = 1", "stop = '30us'"]),
            "delayed_feedback" => rng.one_of(&["delay = '1us'", "delay = '30us'", "stop = '30us'"]),
            "forged_fast_cnp" => {
                rng.one_of(&["records = true", "rate = '5Gbps'", "rate = '1kbps'", "spoofed_source = 1"])
            }
            "forged_ack" => rng.one_of(&["acknowledged = 'sent'", "rate = '5Gbps'", "victims = 'hosts'"]),
            "forged_pfc" => rng.one_of(&["priority = 3", "stop = '30us'", "rate = '1kbps'"]),
            _ => rng.one_of(&["victims = 'hosts'", "start = '10us'", "stop = '30us'"]),
        };
        self.optional(format!("attack = [{{ kind = '{kind}', from = {from}, {rest} }}]"));
    }

    fn traffic(&mut self, rng: &mut ScenarioRng, &Network { hosts, .. }: &Network) {
        self.fixed("traffic = [".into());
        self.fixed(flow(rng, hosts, 3));
        for _ in 0..rng.below(5) {
            let priority = if rng.chance(60) { 3 } else { 1 + rng.below(7) };
            let text = match rng.below(5) {
                0 => format!("kind = 'incast', receiver = 0, sender_count = {}", 1 + rng.below(hosts - 1)),
                1 => "kind = 'permutation'".into(),
                2 => {
                    let times = "interval = '7us', duration = '50us'";
                    format!("kind = 'periodic_incast', receiver = 0, sender_count = 1, {times}")
                }
                _ => {
                    self.optional(flow(rng, hosts, priority));
                    continue;
                }
            };
            self.optional(format!("  {{ {text}, size = {}, priority = {priority} }},", bytes(rng)));
        }
        self.fixed("]".into());
    }
}

/// The size of a flow.
fn bytes(rng: &mut ScenarioRng) -> u64 {
    let most = 1 << rng.below(18);
    1 + rng.below(most)
}

fn flow(rng: &mut ScenarioRng, hosts: u64, priority: u64) -> String {
    let dst = rng.below(hosts);
    let src = (dst + 1 + rng.below(hosts - 1)) % hosts;
    let start = rng.below(60);
    let ends = format!("kind = 'flow', src = {src}, dst = {dst}, priority = {priority}");
    format!("  {{ {ends}, size = {}, start = '{start}us' }},", bytes(rng))
}
