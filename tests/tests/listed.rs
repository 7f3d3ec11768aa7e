// SPDX-License-Identifier: GPL-2.0-only
//! What a file says a program can say, with the same defaults: each scenario of `configs/`, and each run of each sweep, is
//! run by its file and by a program that makes the calls that the file stands for (`ns3-module/examples/hpcc-listed-example.cc`).
//! Every flow takes the same time, to the nanosecond. The engine without ns-3 leaves the same results, to the byte. Only traffic is another than in the file, to be cheap and crowded.

use hpcc_core::node::{NodeSettings, Owner, Part};
use hpcc_core::settings::{Setting, Value};
use hpcc_core::topology::NodeKind;
use hpcc_formats::load_with;
use hpcc_model::results::fct_csv;
use hpcc_model::scenario::{EventOrder, OnDeadlock, Scenario};
use hpcc_tests::{Bench, ProcessOutput, Shipped, example, is_of_tcp};
use rayon::iter::Either;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value as Toml};

/// Folders below `configs/`.
const FOLDERS: [&str; 3] = ["", "paper", "paper/scenarios"];
/// Runs have the seeds from 1 to this in turn.
const SEEDS: usize = 3;
/// Seconds of processor time that a run may take.
const SECONDS: &str = "120";
/// The stream from which a file's losses are drawn.
const FIRST_LOSS_STREAM: u64 = (1 << 63) + 50;

/// When a run ends whose flows a file lists.
const STOP_NS: u64 = 6_000_000;
/// Bits that a host can receive in a run with drawn flows.
const BITS_OF_DRAWN: u64 = 150_000_000;
/// Flows are shorter than some of the files', so that some finish.
const LARGEST_FLOW: i64 = 8_000_000;
const LARGEST_ANSWER: i64 = 4_000_000;
/// Flows of all hosts at once last until links fail.
const LARGEST_OF_ALL: i64 = 16_000_000;

#[derive(Deserialize)]
struct Sweep {
    base: PathBuf,
    variant: Vec<Variant>,
    #[serde(default)]
    axis: Vec<Axis>,
    quick: Option<Variant>,
}

#[derive(Deserialize)]
struct Variant {
    #[serde(default)]
    set: Vec<String>,
}

#[derive(Deserialize)]
struct Axis {
    values: Vec<Toml>,
    set: String,
}

/// A run of a file.
struct Run {
    path: PathBuf,
    set: Vec<String>,
    seed: usize,
}

impl Run {
    fn of_scenario(path: PathBuf) -> Run {
        Run { path, set: Vec::new(), seed: 1 }
    }

    /// All runs of a sweep, with one seed.
    fn of_sweep(path: &Path) -> Vec<Run> {
        let sweep: Sweep = toml::from_str(&fs::read_to_string(path).expect("text")).expect("a sweep");
        let base = path.with_file_name(&sweep.base);
        let forms = [Vec::new()].into_iter().chain(sweep.quick.map(|quick| quick.set));
        let mut runs = Vec::new();
        for form in forms {
            for variant in &sweep.variant {
                for step in steps(&sweep.axis) {
                    let set = [form.clone(), variant.set.clone(), step].concat();
                    runs.push(Run { path: base.clone(), set, seed: 1 });
                }
            }
        }
        runs
    }

    /// Whether it is more than settings and flows.
    fn is_more(&self) -> bool {
        let Ok(scenario) = load_with(&self.path, &self.set, NodeSettings::default()) else { return false };
        !scenario.flows.jobs.is_empty()
            || !scenario.storms.is_empty()
            || scenario.on_deadlock == OnDeadlock::End
            || !scenario.degraded.is_empty()
            || scenario.settings.buffer_plan.is_some()
    }

    /// Runs file and program. Returns how many flows have finished, or what is wrong.
    fn compare(&self) -> Result<usize, String> {
        let bench = Bench::new(&[]);
        let set = self.cheap();
        let scenario = load_with(&self.path, &set, NodeSettings::default()).map_err(|error| error.to_string())?;
        bench.write("list", &calls(&scenario, &self.given()).join("\n"));
        let output = bench.simulate(self.path.to_str().expect("UTF-8"), &set, SECONDS);
        if !matches!(output.code, Some(0 | 3)) {
            return Err(format!("the file ends with {:?}: {}", output.code, output.err));
        }
        if scenario.attacks.is_empty() {
            bench.core_agrees(self.path.to_str().expect("UTF-8"), &set, SECONDS)?;
        }
        let mut program = Command::new(example("hpcc-listed-example"));
        program.arg(format!("--list={}", bench.path("list").display())).arg(format!("--stop={}ns", scenario.stop.0));
        program.arg(format!("--canonical={}", scenario.order == EventOrder::Canonical));
        let of_program =
            ProcessOutput::from(program.arg(format!("--RngRun={}", self.seed)).output().expect("the program starts"));
        if of_program.code != Some(0) {
            return Err(format!("the program ends with {:?}: {}", of_program.code, of_program.err));
        }
        let rows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
        let of_file: BTreeMap<u32, u64> = rows.iter().map(|flow| (flow.flow, flow.fct_ns)).collect();
        differences(&of_file, &times(&of_program.out))
    }

    /// The settings of the run, `section.key`, that the file or the sweep gives.
    fn given(&self) -> BTreeSet<String> {
        let file: Table = toml::from_str(&fs::read_to_string(&self.path).expect("text")).expect("TOML");
        let sections = file.iter().filter_map(|(name, section)| Some((name, section.as_table()?)));
        let mut given: BTreeSet<String> = sections.flat_map(|(name, keys)| paths(name, keys)).collect();
        for (path, value) in self.set.iter().filter_map(|set| set.split_once('=')) {
            // A table takes the place of the whole section.
            match toml::from_str::<Table>(&format!("it={value}")).ok().and_then(|it| it["it"].as_table().cloned()) {
                Some(keys) => {
                    given.retain(|known| !known.starts_with(&format!("{path}.")));
                    given.extend(paths(path, &keys));
                }
                None => {
                    given.insert(path.to_owned());
                }
            }
        }
        given
    }

    /// The sweep's settings with cheap traffic: no flow is too large, drawn flows arrive early, and they meet two
    /// incasts: one of all hosts, which fills switches, and one that ends.
    fn cheap(&self) -> Vec<String> {
        let file: Table = toml::from_str(&fs::read_to_string(&self.path).expect("text")).expect("TOML");
        let of_network = |set: &&String| set.starts_with("topology") || set.starts_with("traffic");
        let set: Vec<String> = self.set.iter().filter(of_network).cloned().collect();
        let network = load_with(&self.path, &set, NodeSettings::default()).expect("a scenario").network;
        let mut entries = file["traffic"].as_array().expect("a list").clone();
        entries.iter_mut().for_each(shorten);
        // Variants' own settings of traffic hold.
        let (of_traffic, mut others): (Vec<_>, Vec<_>) =
            self.set.iter().cloned().partition(|set| set.starts_with("traffic."));
        others.retain(|set| !set.starts_with("run.stop="));
        of_traffic.iter().for_each(|set| change(&mut entries, set));
        let is_drawn = entries.iter().any(|entry| entry.get("load").is_some());
        let arrivals = 20_000 + 2_000_000 / network.nodes.len();
        for duration in entries.iter_mut().filter_map(|entry| entry.get_mut("duration")) {
            *duration = format!("{arrivals}ns").into();
        }
        if is_drawn {
            let senders = network.hosts().count() as i64 - 1;
            entries.push(incast("500KB", 0, senders));
            entries.push(incast("300KB", 1, 8));
        }
        let farthest = network.links.iter().map(|link| link.delay.0).max().expect("links");
        // The first links are the hosts'.
        let drawn_stop = BITS_OF_DRAWN * 1_000_000_000 / network.links[0].rate.0;
        let stop = if is_drawn { drawn_stop } else { STOP_NS } + 3 * farthest;
        let run = vec![format!("run.seed={}", self.seed), format!("run.stop={stop}ns")];
        [vec![format!("traffic={}", Toml::Array(entries))], others, run].concat()
    }
}

/// The keys of a section, with its name.
fn paths(section: &str, keys: &Table) -> Vec<String> {
    keys.keys().map(|key| format!("{section}.{key}")).collect()
}

/// Sets a key of a section of traffic, by `traffic.INDEX.KEY=VALUE`.
fn change(entries: &mut [Toml], set: &str) {
    let (path, value) = set.split_once('=').expect("a value");
    let (index, key) = path["traffic.".len()..].split_once('.').expect("index and key");
    let value = toml::from_str::<Table>(&format!("it={value}")).map_or_else(|_| value.into(), |it| it["it"].clone());
    let entry = entries[index.parse::<usize>().expect("an index")].as_table_mut().expect("a section");
    entry.insert(key.into(), value);
}

fn incast(size: &str, receiver: i64, senders: i64) -> Toml {
    let words = [("kind", "incast"), ("size", size)].map(|(key, word)| (key.to_owned(), word.into()));
    let numbers = [("receiver", receiver), ("sender_count", senders)];
    Toml::Table(words.into_iter().chain(numbers.map(|(key, number)| (key.to_owned(), number.into()))).collect())
}

/// Makes the flows of a section smaller, if they are too large.
fn shorten(entry: &mut Toml) {
    let most = match entry["kind"].as_str().expect("a kind") {
        "flow" => LARGEST_FLOW,
        "permutation" => LARGEST_OF_ALL,
        _ => LARGEST_ANSWER,
    };
    if let Some(size) = entry.get_mut("size")
        && hpcc_core::settings::quantity::size(size.as_str().expect("a size with its unit")).expect("a size")
            > most as u64
    {
        *size = most.into();
    }
}

/// Settings of each step of the axes.
fn steps(axes: &[Axis]) -> Vec<Vec<String>> {
    let step = |axis: &Axis, value: &Toml| {
        vec![axis.set.replace("{}", &value.as_str().map_or_else(|| value.to_string(), str::to_owned))]
    };
    axes.iter().fold(vec![Vec::new()], |steps: Vec<Vec<String>>, axis| {
        let with = |set: &Vec<String>| {
            axis.values.iter().map(|value| [set.clone(), step(axis, value)].concat()).collect::<Vec<_>>()
        };
        steps.iter().flat_map(with).collect()
    })
}

/// The calls that a scenario stands for, which sets the `given` keys.
fn calls(scenario: &Scenario, given: &BTreeSet<String>) -> Vec<String> {
    let network = &scenario.network;
    let mut calls = attributes(scenario, given);
    let hosts = network.hosts().count();
    assert_eq!(scenario.default_loss, 0.0, "links that lose by one generator");
    assert!(network.hosts().eq(0..hosts as u32), "hosts stand first");
    calls.push(format!("install {hosts} {}", network.nodes.len() - hosts));
    for link in &network.links {
        calls.push(format!("link {} {} {}bps {}ns", link.a, link.b, link.rate.0, link.delay.0));
        if link.loss > 0.0 {
            calls.push(format!("loss {} {FIRST_LOSS_STREAM}", link.loss));
        }
    }
    calls.extend(slow_hosts(scenario, given));
    calls.extend(legacy_nodes(scenario));
    calls.extend(scenario.borders.iter().map(|border| format!("border {} {}", border.node, border.outside)));
    calls.push("start".into());
    for flow in scenario.flows.walk().map(|flow| flow.expect("a flow")).filter(|flow| flow.start < scenario.stop) {
        let (ends, start) = (format!("{} {}", flow.src, flow.dst), flow.start.0);
        calls.push(format!("flow {ends} {} {} {} {start}ns", flow.size, flow.priority, flow.dport));
    }
    for failure in &scenario.link_failures {
        for link in failure.links.iter().map(|&link| network.links[link as usize]) {
            calls.push(format!("down {} {} {}ns", link.a, link.b, failure.time.0));
            calls.extend(failure.until.map(|until| format!("up {} {} {}ns", link.a, link.b, until.0)));
        }
    }
    for attack in &scenario.attacks {
        use hpcc_core::settings::{Named, Settings};
        let of_call = attack.list().into_iter().filter(|setting| !["kind", "from"].contains(&setting.key));
        let set = of_call.filter(|setting| attack.get(setting.key).is_some_and(|value| value != setting.default));
        let words = set.map(|setting| format!(" {}={}", setting.key, attack.get(setting.key).expect("a value").text()));
        calls.push(format!("attack {} {}{}", attack.kind.name(), attack.from, words.collect::<String>()));
    }
    calls
}

/// The parts whose settings count, with the settings of each.
fn settings<'a>(parts: &'a [Part<'a>], algorithm: &'a str) -> impl Iterator<Item = (&'a Part<'a>, Setting, Value)> {
    let chosen = parts.iter().filter(move |part| part.algorithm.is_none_or(|name| name == algorithm));
    chosen.flat_map(|part| {
        part.settings.list().into_iter().filter_map(move |setting| {
            let value = part.settings.get(setting.key).filter(|value| *value != Value::Auto)?;
            Some((part, setting, value))
        })
    })
}

/// Attributes of the network, and of hosts and switches before they are made.
fn attributes(scenario: &Scenario, given: &BTreeSet<String>) -> Vec<String> {
    let mut calls = Vec::new();
    let parts = scenario.settings.parts();
    for (part, setting, value) in settings(&parts, scenario.algorithm().name()) {
        let key = setting.key;
        let of_all = part.section == "switch" && key == "pfc_priorities";
        let is_given = given.contains(&format!("{}.{key}", part.section));
        if !(is_given || of_all) || ["compatibility", "receive"].contains(&part.section) {
            continue;
        }
        let owner = match part.owner_of(&setting) {
            Owner::Network => "network",
            Owner::Host => "host",
            Owner::Switch => "switch",
            Owner::FastCnpHost => "fast-cnp-host",
            Owner::FastCnpSwitch => "fast-cnp-switch",
            Owner::Nobody => continue,
        };
        calls.push(format!("{owner} {} {}", part.attribute(key), value.text()));
    }
    let faults: Vec<&str> = scenario.faults().iter().filter(|&(_, on)| on).map(|(name, _)| name).collect();
    if !faults.is_empty() {
        calls.push(format!("network ReferenceFaults {}", faults.join(",")));
    }
    calls
}

/// Attributes of slow hosts.
fn slow_hosts(scenario: &Scenario, given: &BTreeSet<String>) -> Vec<String> {
    let (receive, network) = (&scenario.settings.receive, &scenario.network);
    let slow = receive.slow(network).expect("hosts");
    let parts = scenario.settings.parts();
    let part = parts.iter().find(|part| part.section == "receive").expect("settings of receivers");
    let keys: Vec<_> = part.settings.list().into_iter().map(|setting| setting.key).collect();
    let rest = keys.iter().filter(|key| **key != "hosts" && given.contains(&format!("receive.{key}")));
    let rest: Vec<String> = rest
        .map(|key| format!("{} {}", part.attribute(key), part.settings.get(key).expect("a value").text()))
        .collect();
    let attributes = [vec![format!("{} hosts", part.attribute("hosts"))], rest].concat();
    let hosts = network.hosts().filter(|&host| receive.is_any() && slow.contains(host));
    hosts.flat_map(|host| attributes.iter().map(move |attribute| format!("node {host} {attribute}"))).collect()
}

/// Attributes of legacy nodes that differ from the others'.
fn legacy_nodes(scenario: &Scenario) -> Vec<String> {
    let mut calls = Vec::new();
    let others = scenario.settings.parts();
    for &node in &scenario.legacy.nodes {
        let own = scenario.node_settings(node);
        let owner = if scenario.network.nodes[node as usize] == NodeKind::Host { Owner::Host } else { Owner::Switch };
        let parts = own.parts();
        let of_node = settings(&parts, own.control.chosen().name());
        for (part, setting, value) in of_node.filter(|(part, setting, _)| part.owner_of(setting) == owner) {
            let key = setting.key;
            let same = |other: &&Part<'_>| (other.section, other.algorithm) == (part.section, part.algorithm);
            if others.iter().filter(same).any(|other| other.settings.get(key).as_ref() == Some(&value)) {
                continue;
            }
            calls.push(format!("node {node} {} {}", part.attribute(key), value.text()));
        }
    }
    calls
}

/// The completion times that a program has printed, by flow.
fn times(text: &str) -> BTreeMap<u32, u64> {
    let row = |line: &str| {
        let (flow, time) = line.split_once(',').expect("two columns");
        (flow.parse().expect("a flow"), time.parse().expect("a time"))
    };
    text.lines().map(row).collect()
}

/// How many flows have finished, or those that differ.
fn differences(of_file: &BTreeMap<u32, u64>, of_program: &BTreeMap<u32, u64>) -> Result<usize, String> {
    let flows: BTreeSet<&u32> = of_file.keys().chain(of_program.keys()).collect();
    let mut different = flows.into_iter().map(|flow| (flow, of_file.get(flow), of_program.get(flow)));
    match different.find(|(_, file, program)| file != program) {
        None => Ok(of_file.len()),
        Some((flow, file, program)) => Err(format!("flow {flow}: {file:?} by the file, {program:?} by the program")),
    }
}

#[test]
fn programs_give_what_files_give() {
    let shipped = FOLDERS.map(Shipped::find);
    let scenarios = shipped.iter().flat_map(|folder| folder.scenarios.iter().cloned().map(Run::of_scenario));
    let sweeps = shipped.iter().flat_map(|folder| folder.sweeps.iter().flat_map(|path| Run::of_sweep(path)));
    let mut runs: Vec<Run> = scenarios.chain(sweeps).filter(|run| !is_of_tcp(&run.path) && !run.is_more()).collect();
    assert!(runs.len() > 100, "{} runs", runs.len());
    runs.iter_mut().enumerate().for_each(|(index, run)| run.seed = index % SEEDS + 1);
    let compared = runs.par_iter().map(|run| {
        let name = run.path.file_name().expect("a name").display();
        run.compare().map_err(|wrong| format!("{name} {:?}: {wrong}", run.set))
    });
    let (finished, wrong): (Vec<_>, Vec<_>) = compared.partition_map(|run| match run {
        Ok(flows) => Either::Left(flows),
        Err(wrong) => Either::Right(wrong),
    });
    assert!(wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
    // Attacks by PFC stop all flows.
    let idle = finished.iter().filter(|&&flows| flows == 0).count();
    assert!(50 * idle < finished.len(), "{idle} runs without a flow that finished");
}
