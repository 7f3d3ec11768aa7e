// SPDX-License-Identifier: GPL-2.0-only
//! What is written means the same when it is read again, or is refused.

use hpcc_model::scenario::Scenario;
use hpcc_tests::{Bench, Shipped};
use serde_json::Value;
use std::path::Path;

/// Sections whose keys the effective configuration has under names that end in a unit.
const PLAIN: &[&str] = &[
    "congestion_control",
    "telemetry",
    "wire",
    "transport",
    "receive",
    "switch",
    "load_balancing",
    "fast_cnp",
    "legacy",
];

/// A value of the effective configuration as an override; `None` where it says that there is none.
fn setting(section: &str, key: &str, value: &Value) -> Option<String> {
    let units = [("_bytes", "B"), ("_ns", "ns"), ("_bps", "bps")];
    let unit = units.iter().find_map(|(end, unit)| Some((key.strip_suffix(end)?, *unit))).filter(|_| value.is_number());
    // Its own name ends with its unit.
    let unit = if key == "uec_ack_bytes" { Some((key, "B")) } else { unit };
    let value = match value {
        // No seal; keys of seals stay secret.
        Value::Null | Value::Bool(false) if value.is_null() || key == "seal" => return None,
        Value::String(text) => format!("\"{text}\""),
        Value::Array(list) if key == "ecn_thresholds" => {
            let entry = |entry: &Value| {
                format!(
                    "{{ rate = \"{}bps\", kmin = {}, kmax = {}, pmax = {} }}",
                    entry["rate_bps"], entry["kmin_bytes"], entry["kmax_bytes"], entry["pmax_probability"]
                )
            };
            format!("[{}]", list.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            format!("[{}]", list.iter().map(table).collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) if key == "nodes" => {
            format!("\"{}\"", list.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    };
    Some(match unit {
        Some((name, unit)) => format!("{section}.{name}=\"{value}{unit}\""),
        None => format!("{section}.{key}={value}"),
    })
}

/// An element of a list as a table.
fn table(entry: &Value) -> String {
    let key = |(key, value): (&String, &Value)| match (key.strip_suffix("_bytes"), key.strip_suffix("_bps")) {
        (Some(key), _) => format!("{key} = {value}"),
        (None, Some(key)) => format!("{key} = \"{value}bps\""),
        (None, None) => format!("{key} = {value}"),
    };
    let keys: Vec<String> = entry.as_object().into_iter().flatten().map(key).collect();
    format!("{{ {} }}", keys.join(", "))
}

/// The overrides that an effective configuration is.
fn settings(effective: &Value) -> Vec<String> {
    let sections = PLAIN.iter().filter_map(|section| Some((section, effective.get(section)?.as_object()?)));
    let keys = sections.flat_map(|(section, keys)| keys.iter().map(move |(key, value)| (section, key, value)));
    keys.filter_map(|(section, key, value)| setting(section, key, value)).collect()
}

fn effective(scenario: &Scenario) -> Value {
    let mut effective = scenario.effective();
    effective["notes"] = Value::Null;
    effective
}

/// The first difference of two configurations.
fn difference(path: &str, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            one.iter().find_map(|(key, value)| difference(&format!("{path}.{key}"), value, &other[key.as_str()]))
        }
        _ if a == b => None,
        _ => Some(format!("{path}: {a} and {b}")),
    }
}

fn check(path: &Path) -> Result<(), String> {
    let first = hpcc_formats::load(path, &[]).map_err(|error| error.to_string())?;
    // A seal is a secret, and hosts of several speeds of receiving are a list of sections.
    let effective_first = effective(&first);
    if effective_first["receive"].is_array()
        || ["transport", "telemetry"].iter().any(|section| effective_first[*section]["seal"] == true)
        || first.stack().is_some()
    {
        return Ok(());
    }
    let set = settings(&effective_first);
    let again = hpcc_formats::load(path, &set).map_err(|error| error.to_string())?;
    difference("", &effective_first, &effective(&again)).map_or(Ok(()), Err)
}

#[test]
fn an_effective_configuration_is_itself_when_read_again() {
    let mut wrong = Vec::new();
    for folder in ["", "paper"] {
        for path in Shipped::find(folder).scenarios {
            if let Err(why) = check(&path) {
                wrong.push(format!("{}: {why}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Hosts with DCQCN beside others with HPCC: what the transport leaves to the algorithm, each leaves to its own.
#[test]
fn legacy_hosts_keep_what_was_theirs() {
    let text = format!("{STAR}{FLOW}[legacy]\nnodes = '1'\nalgorithm = 'dcqcn'\n");
    let bench = Bench::new(&[("run.toml", &text)]);
    assert_eq!(check(&bench.path("run.toml")), Ok(()));
    let scenario =
        hpcc_formats::load(&bench.path("run.toml"), &["transport.window=true".into(), "legacy.window=false".into()]);
    let legacy = scenario.expect("valid").effective()["legacy"].clone();
    assert_eq!(legacy["window"], false);
}

const STAR: &str = "[run]\nstop = '5ms'\n[topology]\nkind = 'star'\nhosts = 3\nrate = '100Gbps'\ndelay = '1us'\n";
const FLOW: &str = "[[traffic]]\nkind = 'flow'\nsrc = 0\ndst = 1\nsize = '1MB'\n";

#[test]
fn flows_that_flow_files_cannot_say_are_not_written() {
    for (more, words) in [
        ("rate = '10Gbps'\n", "has a rate, which flow files of the 2019 simulator cannot say"),
        ("nic = 0\n", "has a nic of its own, which"),
        ("stop = '10us'\n", "has a time to stop, which"),
        ("[[traffic]]\nkind = 'flow'\nsrc = 1\ndst = 2\nsize = 'endless'\n", "has no end, which"),
        (
            "[[traffic]]\nkind = 'on_off'\nsrc = 2\ndst = 0\non = '50us'\noff = '50us'\nduration = '400us'\nrate = '10Gbps'\n",
            "has a rate and a time to stop and no end, which",
        ),
    ] {
        let bench = Bench::new(&[("run.toml", &format!("{STAR}{FLOW}{more}"))]);
        for file in ["flows.txt", "flows.cm"] {
            let output = bench.hpcc(&["workload", "run.toml", "--write", file]);
            let words = words.replace(
                "flow files of the 2019 simulator",
                if file == "flows.cm" { "connection matrices" } else { "flow files of the 2019 simulator" },
            );
            assert!(output.code == Some(2) && output.err.contains(&words), "{more}: {:?} {}", output.code, output.err);
            assert!(!bench.path(file).exists());
        }
    }
}

/// Flows at odd times, of random sizes, ports and priorities.
#[test]
fn written_flows_run_as_before() {
    let sections = "[[traffic]]\nkind = 'poisson'\nload = 0.5\nsizes = 'websearch'\nduration = '300us'\npriority = 4\n\
                    [[traffic]]\nkind = 'random_incast'\nfan_in = 2\nload = 0.1\nsize = '7001B'\nduration = '200us'\nstart = '1ns'\n";
    let bench = Bench::new(&[
        ("run.toml", &format!("{STAR}{sections}")),
        ("again.toml", &format!("{STAR}[[traffic]]\nkind = 'file'\npath = 'flows.txt'\n")),
    ]);
    let written = bench.hpcc(&["workload", "run.toml", "--write", "flows.txt"]);
    assert_eq!(written.code, Some(0), "{}", written.err);
    let run = |file: &str| {
        let output = bench.run(file, &[]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        bench.read("out/fct.txt")
    };
    assert_eq!(run("run.toml"), run("again.toml"));
}

/// Another algorithm has what both have, and says which keys do not count, also where it is to be quiet.
#[test]
fn another_algorithm_keeps_what_is_its_own_too() {
    let text = format!(
        "{STAR}{FLOW}[congestion_control]\nalgorithm = 'hpcc_plus'\nexpected_flows = 10\nmin_rate = '2Gbps'\neta = 0.9\n\
         [telemetry]\nlayout = 'paper'\n"
    );
    let bench = Bench::new(&[("run.toml", &text)]);
    let run = |algorithm: &str| {
        let output = bench.hpcc(&[
            "run",
            "run.toml",
            "-q",
            "--simulator",
            "core",
            "--out",
            algorithm,
            "--set",
            &format!("congestion_control.algorithm={algorithm}"),
        ]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let summary: Value = serde_json::from_str(&bench.read(&format!("{algorithm}/summary.json"))).expect("JSON");
        (summary["scenario"].clone(), output.err)
    };
    let (rx_hpcc, told) = run("rx_hpcc");
    let control = &rx_hpcc["congestion_control"];
    assert_eq!((&control["expected_flows"], &control["eta"]), (&10.into(), &0.9.into()), "{rx_hpcc:#}");
    assert_eq!((&rx_hpcc["telemetry"]["layout"], told.as_str()), (&"paper".into(), ""));
    let (power_tcp, _) = run("power_tcp");
    assert_eq!(power_tcp["congestion_control"]["expected_flows"], 10);
    let (dctcp, told) = run("dctcp");
    assert_eq!(dctcp["congestion_control"]["min_rate_bps"], 2_000_000_000_u64, "{dctcp:#}");
    for key in ["congestion_control.expected_flows", "congestion_control.eta", "telemetry.layout"] {
        assert!(told.contains(key), "{key}: {told}");
    }
    assert!(told.contains("do not count") && !told.contains("min_rate"), "{told}");
    let (_, told) = run("none");
    assert!(told.contains("congestion_control.min_rate"), "{told}");
}
