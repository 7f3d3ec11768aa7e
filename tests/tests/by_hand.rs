// SPDX-License-Identifier: GPL-2.0-only
//! What a file says a program can say, with the same defaults: each scenario of `configs/`, and each run of each sweep, is
//! run by its file and by a program that sets by hand what the file sets (`ns3-module/examples/hpcc-by-hand.cc`). Every flow
//! takes the same time, to the nanosecond, with several seeds. Only traffic is another than in the file, to be cheap and crowded.

use hpcc_core::node::NodeSettings;
use hpcc_formats::load_with;
use hpcc_formats::results::fct_csv;
use hpcc_tests::{Bench, Shipped, Told, example, has_tcp, is_of_tcp};
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

/// Folders below `configs/`.
const FOLDERS: [&str; 3] = ["", "paper", "paper/scenarios"];
/// Runs have the seeds from 1 to this in turn.
const SEEDS: usize = 3;
/// Seconds of processor time that a run may take.
const SECONDS: &str = "120";

/// When a run ends whose flows a file lists.
const STOP_NS: u64 = 6_000_000;
/// What a host can receive until a run ends whose flows are drawn.
const BITS_OF_DRAWN: u64 = 150_000_000;
/// Flows are shorter than some of the files', so that some finish.
const LARGEST_FLOW: i64 = 8_000_000;
const LARGEST_ANSWER: i64 = 4_000_000;
/// Those of all hosts at once last until links fail.
const LARGEST_OF_ALL: i64 = 16_000_000;

#[derive(Deserialize)]
struct Sweep {
    base: PathBuf,
    variant: Vec<Variant>,
    #[serde(default)]
    axis: Vec<Axis>,
    quick: Option<Quick>,
}

#[derive(Deserialize)]
struct Variant {
    name: String,
    #[serde(default)]
    set: Vec<String>,
}

#[derive(Deserialize)]
struct Axis {
    name: String,
    values: Vec<Value>,
    set: String,
}

#[derive(Deserialize)]
struct Quick {
    #[serde(default)]
    set: Vec<String>,
}

/// A run, as the file has it and as the program is told.
struct Run {
    scenario: PathBuf,
    set: Vec<String>,
    arguments: Vec<String>,
    seed: usize,
}

/// Traffic as settings.
struct Traffic {
    /// All sections.
    entries: String,
    /// How long flows arrive.
    durations: Vec<String>,
    /// When the run ends, in ns.
    stop: u64,
}

impl Run {
    fn of_scenario(path: PathBuf) -> Run {
        let arguments = vec![format!("--scenario={}", stem(&path))];
        Run { scenario: path, set: Vec::new(), arguments, seed: 1 }
    }

    /// All runs of a sweep, with one seed.
    fn of_sweep(path: &Path) -> Vec<Run> {
        let sweep: Sweep = toml::from_str(&fs::read_to_string(path).expect("text")).expect("a sweep");
        let scenario = path.with_file_name(&sweep.base);
        let quick = sweep.quick.as_ref().map(|quick| (quick.set.clone(), vec!["--quick".to_owned()]));
        let forms = [(Vec::new(), Vec::new())].into_iter().chain(quick);
        let mut runs = Vec::new();
        for ((form_set, form), variant) in forms.flat_map(|form| sweep.variant.iter().map(move |it| (form.clone(), it)))
        {
            for (step_set, step) in steps(&sweep.axis) {
                let names = [format!("--sweep={}", stem(path)), format!("--variant={}", variant.name)];
                runs.push(Run {
                    scenario: scenario.clone(),
                    set: [form_set.clone(), variant.set.clone(), step_set].concat(),
                    arguments: [names.to_vec(), step, form.clone()].concat(),
                    seed: 1,
                });
            }
        }
        runs
    }

    /// Runs file and program. Returns how many flows have finished, or what is wrong.
    fn compare(&self) -> Result<usize, String> {
        let bench = Bench::new(&[]);
        let Traffic { entries, durations, stop } = self.traffic();
        // What variants say of their traffic holds.
        let set = [vec![entries], self.set.clone(), durations, self.run(stop)].concat();
        let told = bench.simulate(text(&self.scenario), &set, SECONDS);
        if !matches!(told.code, Some(0 | 3)) {
            return Err(format!("the file ends with {:?}: {}", told.code, told.err));
        }
        let out = bench.path("out");
        let mut program = by_hand(&self.scenario);
        program.args(&self.arguments).arg(format!("--flows={}", text(&out))).arg(format!("--stop={stop}ns"));
        program.arg(format!("--RngRun={}", self.seed));
        let of_program = Told::from(program.output().expect("the program starts"));
        if of_program.code != Some(0) {
            return Err(format!("the program ends with {:?}: {}", of_program.code, of_program.err));
        }
        let rows = fct_csv::read(&out.join("fct.csv")).expect("flows");
        let of_file: BTreeMap<u32, u64> = rows.iter().map(|flow| (flow.flow, flow.fct_ns)).collect();
        differences(&of_file, &times(&of_program.out))
    }

    /// Seed and stop time.
    fn run(&self, stop: u64) -> Vec<String> {
        vec![format!("run.seed={}", self.seed), format!("run.stop={stop}ns")]
    }

    /// The traffic of the file, but that no flow is too large, that what is drawn arrives early only, and that it meets two
    /// incasts: one of all hosts, which fills switches, and one that ends.
    fn traffic(&self) -> Traffic {
        let file: Table = toml::from_str(&fs::read_to_string(&self.scenario).expect("text")).expect("TOML");
        let of_network = |set: &&String| set.starts_with("topology") || set.starts_with("traffic");
        let set: Vec<String> = self.set.iter().filter(of_network).cloned().collect();
        let network = load_with(&self.scenario, &set, NodeSettings::default()).expect("a scenario").network;
        let mut entries = file["traffic"].as_array().expect("a list").clone();
        entries.iter_mut().for_each(shorten);
        let is_drawn = entries.iter().any(|entry| entry.get("load").is_some());
        let arrivals = 20_000 + 2_000_000 / network.nodes.len();
        let lasting = entries.iter().enumerate().filter(|(_, entry)| entry.get("duration").is_some());
        let durations = lasting.map(|(index, _)| format!("traffic.{index}.duration={arrivals}ns")).collect();
        if is_drawn {
            let others = network.hosts().count() as i64 - 1;
            entries.push(entry("incast", "500KB", &[("receiver", 0), ("sender_count", others)]));
            entries.push(entry("incast", "300KB", &[("receiver", 1), ("sender_count", 8)]));
        }
        let farthest = network.links.iter().map(|link| link.delay.0).max().expect("links");
        // The first links are those of hosts.
        let drawn_stop = BITS_OF_DRAWN * 1_000_000_000 / network.links[0].rate.0;
        let stop = if is_drawn { drawn_stop } else { STOP_NS } + 3 * farthest;
        Traffic { entries: format!("traffic={}", Value::Array(entries)), durations, stop }
    }
}

/// A section of traffic.
fn entry(kind: &str, size: &str, numbers: &[(&str, i64)]) -> Value {
    let words = [("kind", kind), ("size", size)].map(|(key, word)| (key.to_owned(), word.into()));
    let numbers = numbers.iter().map(|&(key, number)| (key.to_owned(), number.into()));
    Value::Table(words.into_iter().chain(numbers).collect())
}

/// Makes the flows of a section smaller, if they are too large.
fn shorten(entry: &mut Value) {
    let most = match entry["kind"].as_str().expect("a kind") {
        "flow" => LARGEST_FLOW,
        "permutation" => LARGEST_OF_ALL,
        _ => LARGEST_ANSWER,
    };
    if let Some(size) = entry.get_mut("size")
        && bytes(size) > most
    {
        *size = most.into();
    }
}

/// A size as files have it.
fn bytes(size: &Value) -> i64 {
    let text = size.as_str().expect("a size with its unit");
    let units = [("MB", 1_000_000), ("KB", 1_000), ("B", 1)];
    let number = |(unit, factor)| Some(text.strip_suffix(unit)?.parse::<i64>().ok()? * factor);
    units.into_iter().find_map(number).unwrap_or_else(|| panic!("the size {text}"))
}

/// What each step of the axis sets, and how the program calls it.
fn steps(axes: &[Axis]) -> Vec<(Vec<String>, Vec<String>)> {
    let step = |axis: &Axis, value: &Value| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (vec![axis.set.replace("{}", &value)], vec![format!("--step={}-{value}", axis.name)])
    };
    match axes {
        [] => vec![(Vec::new(), Vec::new())],
        [axis] => axis.values.iter().map(|value| step(axis, value)).collect(),
        _ => panic!("a sweep has several axes: the program knows one"),
    }
}

/// The program that stands for a scenario.
fn by_hand(scenario: &Path) -> Command {
    Command::new(example(if is_of_tcp(scenario) { "hpcc-tcp-by-hand" } else { "hpcc-by-hand" }))
}

/// The completion times that a program has printed, by flow.
fn times(csv: &str) -> BTreeMap<u32, u64> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("flow,fct_ns"));
    let row = |line: &str| {
        let (flow, time) = line.split_once(',').expect("two columns");
        (flow.parse().expect("a flow"), time.parse().expect("a time"))
    };
    lines.map(row).collect()
}

/// How many flows have finished, or those that differ.
fn differences(of_file: &BTreeMap<u32, u64>, of_program: &BTreeMap<u32, u64>) -> Result<usize, String> {
    if of_file.is_empty() {
        return Err("no flow has finished".into());
    }
    if of_file == of_program {
        return Ok(of_file.len());
    }
    let flows = of_file.keys().chain(of_program.keys().filter(|flow| !of_file.contains_key(flow)));
    let different: Vec<String> = flows
        .map(|flow| (flow, of_file.get(flow), of_program.get(flow)))
        .filter(|(_, file, program)| file != program)
        .map(|(flow, file, program)| format!("flow {flow}: {file:?} by the file, {program:?} by the program"))
        .collect();
    Err(format!("{} of {} flows differ, such as {}", different.len(), of_file.len(), different[0]))
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// What the files have.
fn runs() -> Vec<Run> {
    let shipped = FOLDERS.map(Shipped::find);
    let scenarios = shipped.iter().flat_map(|folder| folder.scenarios.iter().cloned().map(Run::of_scenario));
    let sweeps = shipped.iter().flat_map(|folder| folder.sweeps.iter().flat_map(|path| Run::of_sweep(path)));
    let mut runs: Vec<Run> = scenarios.chain(sweeps).collect();
    runs.iter_mut().enumerate().for_each(|(index, run)| run.seed = index % SEEDS + 1);
    runs
}

/// What the program that stands for a scenario knows, a line for each.
fn known(scenario: &str) -> BTreeSet<String> {
    let told = Told::from(by_hand(Path::new(scenario)).arg("--list").output().expect("the program starts"));
    assert_eq!(told.code, Some(0), "{}", told.err);
    told.out.lines().map(str::to_owned).collect()
}

#[test]
fn programs_give_what_files_give() {
    let runs = runs();
    assert!(runs.len() > 100, "{} runs", runs.len());
    let compared =
        runs.par_iter().map(|run| run.compare().map_err(|wrong| format!("{}: {wrong}", run.arguments.join(" "))));
    let wrong: Vec<String> = compared.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

#[test]
fn the_programs_know_what_files_have_and_no_more() {
    for (scenario, of_tcp) in [("quickstart.toml", false), ("tcp.toml", true)] {
        if of_tcp && !has_tcp() {
            continue;
        }
        let mut files = runs();
        files.retain(|run| is_of_tcp(&run.scenario) == of_tcp);
        let files: BTreeSet<String> = files.iter().map(|run| run.arguments.join(" ")).collect();
        let program = known(scenario);
        let only = |these: &BTreeSet<String>, those| these.difference(those).cloned().collect::<Vec<_>>().join("\n");
        assert!(
            files == program,
            "files alone:\n{}\nprogram alone:\n{}",
            only(&files, &program),
            only(&program, &files)
        );
    }
}

#[test]
fn what_the_program_does_not_know_ends_it() {
    for (arguments, expected) in [
        ("--scenario=quick", "there is no scenario \"quick\""),
        ("--sweep=pink", "there is no sweep \"pink\""),
        ("--sweep=pint --variant=INTO", "there is no variant \"INTO\""),
        ("--sweep=pint --variant=INT --step=load-0.5", "there is no step \"load-0.5\""),
        ("--sweep=fig10 --variant=HPCC --step=load-0.4", "there is no step \"load-0.4\""),
        ("--sweep=fig10 --variant=HPCC", "there is no step \"\""),
        ("--sweep=controllers --variant=hpcc --quick", "the sweep controllers has no quick form"),
        ("--scenario=quickstart --sweep=pint", "expected --scenario or --sweep, and one of them"),
        ("", "expected --scenario or --sweep, and one of them"),
        ("--scenario=quickstart --stop=1ms", "expected --flows: the folder"),
        ("--scenario=quickstart --flows=nowhere", "expected --stop: a time"),
        ("--scenario=quickstart --flows=nowhere --stop=1ms", "nowhere/fct.csv cannot be read"),
    ] {
        let mut program = by_hand(Path::new("any"));
        let told = Told::from(program.args(arguments.split_whitespace()).output().expect("the program starts"));
        assert_ne!(told.code, Some(0), "{arguments}");
        assert!(told.err.contains(expected), "{arguments}: {}", told.err);
    }
}
