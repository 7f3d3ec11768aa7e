// SPDX-License-Identifier: GPL-2.0-only
//! Deadlocks, storms and trees of pauses, from the shipped files to what a user sees.

use hpcc_tests::Bench;

fn config(name: &str) -> String {
    format!("{}/../configs/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_deadlock_is_named_and_may_end_the_run() {
    let bench = Bench::new(&[]);
    let run = |set: &[&str]| {
        let told = bench.hpcc(&[&["run", &config("deadlock"), "--out", "out", "--force"], set].concat());
        (told.code, told.err)
    };
    let circle = "switches 6, 7, 8, 9, 5, 6 are in a deadlock";
    let (code, told) = run(&[]);
    assert!(code == Some(1) && told.contains(&format!("the run ended early, at 80.000 us: {circle}")), "{told}");
    let (code, told) = run(&["--set", "run.on_deadlock=go_on"]);
    assert!(code == Some(3) && told.contains(&format!("note: since 80.000 us {circle}")), "{told}");
    let (code, told) = run(&["--set", "congestion_control.algorithm=hpcc"]);
    assert!(code == Some(0) && !told.contains("deadlock"), "{told}");
}

#[test]
fn pauses_have_their_root_and_a_watchdog_ends_them() {
    let bench = Bench::new(&[]);
    let told = bench.hpcc(&["run", &config("pause-storm"), "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let root = told.out.lines().find(|line| line.starts_with(" node 4 ")).unwrap_or_else(|| panic!("{}", told.out));
    assert_eq!(root.split_whitespace().collect::<Vec<_>>(), ["node", "4", "6", "29.248", "ms", "6", "4"]);
    let pauses = bench.read("out/pauses.csv");
    assert_eq!(pauses.lines().nth(1), Some("50000,4950000,4,1,9,3,,,0,0"), "the NIC of host 4 holds switch 9");
    assert!(bench.read("out/report.html").contains("\"root\":\"node 4\""));
    let watched = ["--set", "switch.pfc_watchdog=drop", "--set", "switch.pfc_watchdog_after=100us"];
    let told = bench.hpcc(&[&["run", &config("pause-storm"), "--out", "watched"], &watched[..]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("watched/summary.json")).expect("JSON");
    let storms = bench.read("watched/storms.csv");
    let storm: Vec<&str> = storms.lines().nth(1).expect("a storm").split(',').collect();
    assert_eq!((&storm[..3], storm[5]), (&["9", "1", "3"][..], summary["drops"].to_string().as_str()));
}

#[test]
fn a_storm_is_of_a_host_and_ends_after_it_begins() {
    let bench = Bench::new(&[]);
    for (storm, words) in [
        ("{ host = 9, time = \"1us\" }", "node 9 is no host; expected the number of one"),
        ("{ host = 99, time = \"1us\" }", "node 99 is no host"),
        ("{ host = 1, time = \"5us\", until = \"5us\" }", "until is 5000 ns, not after 5000 ns; expected a later time"),
    ] {
        let set = format!("failures.storms=[{storm}]");
        let told = bench.hpcc(&["run", &config("pause-storm"), "--out", "out", "--set", &set]);
        assert!(told.code == Some(2) && told.err.contains(words), "{storm}: {}", told.err);
    }
}

/// What operators ask of a switch: each claim is a verdict. Storms are found and ended at polls of 200 ms.
#[test]
fn a_switch_passes_its_acceptance_test() {
    let bench = Bench::new(&[]);
    let told = bench.hpcc(&["sweep", &config("acceptance"), "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}\n{}", told.out, told.err);
    let verdicts: serde_json::Value = serde_json::from_str(&bench.read("out/verdicts.json")).expect("JSON");
    let claims = verdicts["claims"].as_array().expect("claims");
    assert!(claims.len() > 15 && claims.iter().all(|claim| claim["verdict"] == "holds"), "{verdicts}");
    let storms = bench.read("out/storm-drop/seed-1/storms.csv");
    let storm: Vec<&str> = storms.lines().nth(1).expect("a storm").split(',').collect();
    assert_eq!(storm[3..5], ["400000000", "1200000000"]);
}

/// A switch fails by what its own file says: of the watchdog, and of marks.
#[test]
fn a_switch_whose_file_says_something_else_fails_its_acceptance_test() {
    let shipped =
        |name: &str| std::fs::read_to_string(format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))).expect("shipped");
    let file = shipped("configs/acceptance-config_db.json");
    let sweep = shipped("configs/acceptance.toml");
    let sweep = sweep.replace("seeds = [1, 2, 3, 4, 5, 6, 7, 8]", "seeds = [1]");
    let switch = shipped("configs/acceptance-switch.toml");
    let failed = |from: &str, to: &str| {
        assert!(file.contains(from), "{from}");
        let file = file.replace(from, to);
        let bench = Bench::new(&[
            ("acceptance.toml", &sweep),
            ("acceptance-switch.toml", &switch),
            ("acceptance-config_db.json", &file),
        ]);
        let told = bench.hpcc(&["sweep", "acceptance.toml", "--out", "out"]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let verdicts: serde_json::Value = serde_json::from_str(&bench.read("out/verdicts.json")).expect("JSON");
        let claims = verdicts["claims"].as_array().expect("claims").iter();
        let failed = claims.filter(|claim| claim["verdict"] != "holds");
        failed.map(|claim| claim["claim"].as_str().expect("text").to_string()).collect::<Vec<_>>()
    };
    let alert = failed("\"action\": \"drop\"", "\"action\": \"alert\"");
    assert!(alert.iter().any(|claim| claim.starts_with("What goes to a NIC that storms is dropped")), "{alert:?}");
    let late = failed("\"detection_time\": \"200\"", "\"detection_time\": \"1000\"");
    assert!(late.iter().any(|claim| claim.starts_with("What goes to a NIC that storms is dropped")), "{late:?}");
    let marks = failed("\"green_min_threshold\": \"500000\"", "\"green_min_threshold\": \"1900000\"");
    assert!(matches!(&marks[..], [only] if only.starts_with("ecn, 1,900 packets")), "{marks:?}");
    for claims in [alert, late, marks] {
        assert!(claims.iter().all(|claim| !claim.starts_with("Simulator")), "{claims:?}");
    }
}
