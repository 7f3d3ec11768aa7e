// SPDX-License-Identifier: GPL-2.0-only
//! A configuration as TOML: what differs from our defaults.

use super::descendant::TomlKey;
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::NodeSettings;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::{Named, Setting, Value};
use hpcc_core::units::Nanos;
use hpcc_model::scenario::{EventOrder, Scenario};
use std::fmt::Write;
use std::path::PathBuf;

/// The files that the TOML names.
pub(super) struct Files {
    pub topology: PathBuf,
    pub flows: Option<PathBuf>,
    /// The columns of the flows, if they are not those of the 2019 simulator.
    pub columns: Option<String>,
}

/// The text, with `keys` in place of what the scenario has for them. The settings are not resolved yet.
pub(super) fn toml(scenario: &Scenario, files: &Files, keys: &[TomlKey]) -> String {
    let mut text = Toml::default();
    run(&mut text, scenario);
    text.set("topology", "kind", quoted("file"));
    text.set("topology", "path", quoted(&files.topology.display().to_string()));
    if scenario.default_loss > 0.0 {
        text.set("topology", "default_loss", scenario.default_loss.to_string());
    }
    if let Some(flows) = &files.flows {
        text.set("traffic", "kind", quoted("file"));
        text.set("traffic", "path", quoted(&flows.display().to_string()));
        if let Some(columns) = &files.columns {
            text.set("traffic", "columns", quoted(columns));
        }
    }
    settings(&mut text, scenario);
    failures(&mut text, scenario);
    monitor(&mut text, scenario);
    for (section, key, value) in keys {
        text.set(section, key, value.clone());
    }
    text.print()
}

fn run(text: &mut Toml, scenario: &Scenario) {
    if scenario.order != EventOrder::default() {
        text.set("run", "order", quoted(scenario.order.name()));
    }
    text.set("run", "stop", time(scenario.stop));
    let faults = scenario.faults();
    if faults == ReferenceFaults::NONE {
        return;
    }
    text.set("compatibility", "profile", quoted("reference"));
    for (name, _) in faults.iter().filter(|(_, on)| !on) {
        text.set("compatibility", name, "false".into());
    }
}

/// The settings of nodes that count and are not as without a file.
fn settings(text: &mut Toml, scenario: &Scenario) {
    let (given, mut resolved) = (&scenario.settings, scenario.settings.clone());
    resolved.resolve(&scenario.network);
    let usual = NodeSettings::default();
    let chosen = given.control.chosen().name();
    for part in resolved.parts() {
        if part.section == "compatibility" || part.algorithm.is_some_and(|name| name != chosen) {
            continue;
        }
        let counts = |setting: &Setting| resolved.counts(&part, setting);
        for setting in part.settings.list().into_iter().filter(counts) {
            let value = |node: &NodeSettings| node.get(part.section, part.algorithm, setting.key);
            if let Some(value) = value(given).filter(|given| value(&usual).as_ref() != Some(given)) {
                text.set(part.section, setting.key, written(&value));
            }
        }
    }
    let threshold = |entry: &EcnThreshold| {
        let rate = written(&Value::Rate(entry.rate));
        format!("    {{ rate = {rate}, kmin = {}, kmax = {}, pmax = {} }},\n", entry.kmin, entry.kmax, entry.pmax)
    };
    if let Some(entries) = &given.ecn_thresholds {
        let lines: String = entries.iter().map(threshold).collect();
        text.set("switch", "ecn_thresholds", format!("[\n{lines}]"));
    }
}

fn failures(text: &mut Toml, scenario: &Scenario) {
    let links = &scenario.network.links;
    let failed = scenario.link_failures.iter().filter_map(|failure| {
        let link = &links[*failure.links.first()? as usize];
        Some(format!("{{ time = {}, a = {}, b = {} }}", time(failure.time), link.a, link.b))
    });
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        text.set("failures", "links", format!("[{}]", failed.join(", ")));
    }
}

fn monitor(text: &mut Toml, scenario: &Scenario) {
    let monitor = &scenario.monitor;
    if let Some(histogram) = monitor.queue_histogram {
        // One that ends before it starts is a single sample.
        let end = histogram.end.max(Nanos(histogram.start.0 + 1));
        text.set("monitor", "queue_histogram_start", time(histogram.start));
        text.set("monitor", "queue_histogram_end", time(end));
    }
    for (key, interval) in [("queue_interval", monitor.queue_interval), ("goodput_interval", monitor.goodput_interval)]
    {
        if let Some(interval) = interval {
            text.set("monitor", key, time(interval));
        }
    }
    if !monitor.trace_nodes.is_empty() {
        text.set("monitor", "trace_nodes", format!("{:?}", monitor.trace_nodes));
    }
}

/// Sections in the order of their first keys, each key once.
#[derive(Default)]
struct Toml(Vec<(&'static str, Vec<(String, String)>)>);

impl Toml {
    fn set(&mut self, section: &'static str, key: &str, value: String) {
        let found = self.0.iter().position(|(name, _)| *name == section);
        let index = found.unwrap_or_else(|| {
            self.0.push((section, Vec::new()));
            self.0.len() - 1
        });
        let keys = &mut self.0[index].1;
        match keys.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => keys.push((key.into(), value)),
        }
    }

    fn print(&self) -> String {
        let mut text = String::new();
        for (section, keys) in &self.0 {
            let (open, close) = if *section == "traffic" { ("[[", "]]") } else { ("[", "]") };
            let _ = writeln!(text, "{}{open}{section}{close}", if text.is_empty() { "" } else { "\n" });
            for (key, value) in keys {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        text
    }
}

fn time(time: Nanos) -> String {
    written(&Value::Time(time))
}

/// A value as TOML.
fn written(value: &Value) -> String {
    match value {
        Value::Switch(_) | Value::Count(_) | Value::Real(_) => value.text(),
        Value::Text(text) => quoted(text),
        Value::Bytes(_) | Value::Time(_) | Value::Rate(_) | Value::Word(_) | Value::Auto => quoted(&value.pretty()),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
