// SPDX-License-Identifier: GPL-2.0-only
//! Algorithms of congestion control and their parameters.

use super::*;
use hpcc_core::telemetry::{Pint, Timestamp};

fn boxed(algorithm: impl Algorithm + 'static) -> Box<dyn Algorithm> {
    Box::new(algorithm)
}

#[test]
fn every_algorithm_has_the_preset_of_the_reference() {
    let load = |name: &str| {
        let setting = format!("congestion_control.algorithm={name}");
        let scenario = load_with(MINIMAL, &[&setting]).expect(name);
        let transport = (scenario.transport().window, scenario.transport().ack_priority);
        (scenario.algorithm().clone_algorithm(), scenario.layout(), transport, thresholds(&scenario)[0].kmin)
    };
    let (pint, timely) = (HpccPintConfig::default(), TimelyConfig::default());
    assert_eq!(load("hpcc_pint"), (boxed(pint), Layout::new(Pint::new(1.05, false)), (true, 3), 400_000));
    assert_eq!(load("dcqcn"), (boxed(DcqcnConfig::default()), Layout::none(), (false, 0), 400_000));
    assert_eq!(load("timely"), (boxed(timely), Layout::new(Timestamp), (false, 0), 400_000));
    assert_eq!(load("dctcp"), (boxed(DctcpConfig::default()), Layout::none(), (true, 3), 300_000));
}

/// HPCC weighs queues by the path's own bytes then, unless the 2019 simulator's division by the window is on.
#[test]
fn hpcc_runs_without_a_window_and_a_note_says_where_it_divides_by_it() {
    let text = format!("{MINIMAL}[transport]\nwindow = false\n");
    let scenario = load_with(text.clone(), &[]).expect("valid");
    assert!(!scenario.transport().window && scenario.notes.is_empty());
    let notes = load_with(text, &["compatibility.windowless_hpcc=true"]).expect("valid").notes;
    assert!(notes[0].contains("HPCC divides by 0"), "{notes:?}");
}

#[test]
fn another_algorithm_on_the_command_line_drops_the_files_parameters() {
    let text = format!("{MINIMAL}[congestion_control]\neta=0.9\n[telemetry]\nlayout='paper'\n");
    let choose = "congestion_control.algorithm=";
    let dctcp = load_with(&text, &[&format!("{choose}dctcp"), "congestion_control.gain=0.5"]).expect("valid");
    let value = |scenario: &Scenario, key| scenario.algorithm().get(key);
    assert_eq!((value(&dctcp, "gain"), dctcp.layout()), (Some(Value::Real(0.5)), Layout::none()));
    assert!(dctcp.notes.iter().any(|note| note.contains("another algorithm than the file's")), "{:?}", dctcp.notes);
    let same = load_with(&text, &[&format!("{choose}hpcc")]).expect("valid");
    assert_eq!((value(&same, "eta"), same.layout()), (Some(Value::Real(0.9)), Layout::new(Form::Paper)));
    assert!(load_with(&text, &[&format!("{choose}dctcp"), "congestion_control.eta=0.5"]).is_err());
}

#[test]
fn algorithms_refuse_what_is_not_theirs() {
    for (section, expected) in [
        (
            "algorithm='dctcp'\ngian=0.9",
            "18: congestion_control.gian: unknown key gian in [congestion_control]; did you mean gain? (algorithm = \"dctcp\")",
        ),
        (
            "algorithm='hpcc'\nbase_target='10us'",
            "18: congestion_control.base_target: unknown key base_target in [congestion_control]; it belongs to algorithm = \"swift\" (",
        ),
        (
            "algorithm='timely'\nlow='600us'\nhigh='500us'",
            "18: congestion_control.low: low is 600.000 us, more than high, 500.000 us",
        ),
        ("algorithm=5", "17: congestion_control.algorithm: the value is 5; expected one of \"hpcc\""),
    ] {
        refused(&format!("{MINIMAL}\n[congestion_control]\n{section}\n"), &[], &format!("test.toml:{expected}"));
    }
    refused(MINIMAL, &["congestion_control=5"], "--set: congestion_control is no section");
}

#[test]
fn zero_needs_no_unit() {
    for zero in ["0", "'0'", "0ns"] {
        let keys = ["topology.delay", "traffic.0.start", "transport.timeout"].map(|key| format!("{key}={zero}"));
        let scenario = load_with(MINIMAL, &keys.each_ref().map(String::as_str)).expect(zero);
        assert_eq!((scenario.network.links[0].delay, scenario.transport().timeout), (Nanos(0), None), "{zero}");
    }
    for (set, expected) in [
        ("run.stop=0", "--set: run.stop: the value is 0; expected a time"),
        ("topology.rate=0", "--set: topology.rate: the rate is 0; expected more"),
        ("traffic.0.start='00'", "--set: traffic.0.start: \"00\" has no unit; expected a time such as"),
    ] {
        refused(MINIMAL, &[set], expected);
    }
}
