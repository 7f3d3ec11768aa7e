// SPDX-License-Identifier: GPL-2.0-only
//! A scenario's switch as SONiC's tables, and these read again.

use hpcc_tests::Bench;

/// A star that pauses: its memory is the simulator's usual one, without pools.
const PAUSED: &str = r#"
run.stop = "20ms"
topology = { kind = "star", hosts = 16, rate = "100Gbps", delay = "1us" }
congestion_control.algorithm = "none"
traffic = [
    { kind = "incast", receiver = 0, sender_count = 12, size = "300KB" },
    { kind = "permutation", size = "500KB" },
]
"#;

/// Runs the scenario with these keys of its switch, then with what is exported of it in their place; both results, but for settings.
fn both(own: &str, beside: &str) -> [String; 3] {
    let scenario = |switch: &str| format!("{PAUSED}\n[switch]\n{switch}\n");
    let tables = format!("{beside}\nbuffer_cell = 1\nprofile = \"switch.json\"");
    let bench = Bench::new(&[("own.toml", &scenario(own)), ("tables.toml", &scenario(&tables))]);
    let export = bench.hpcc(&["export", "sonic", "own.toml", "--out", "switch.json"]);
    assert_eq!(export.code, Some(0), "{}", export.err);
    let results = [("own.toml", "own"), ("tables.toml", "tables")].map(|(file, out)| {
        let run = bench.hpcc(&["run", file, "--out", out]);
        assert_eq!(run.code, Some(0), "{file}: {}", run.err);
        bench.read(&format!("{out}/fct.csv")) + &bench.read(&format!("{out}/ports.csv"))
    });
    let [own, tables] = results;
    [own, tables, bench.read("own/summary.json")]
}

/// Two memories that were written apart, by bytes and by cells, agree in each frame once one is configured as the other.
#[test]
fn usual_memory_and_exported_pools_are_equal_to_the_byte() {
    for buffer in ["700KB", "1MB"] {
        let keys = format!("buffer = \"{buffer}\"");
        let [own, tables, summary] = both(&keys, &keys);
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        assert!(summary["pfc_pauses"].as_u64().expect("a count") > 100, "{buffer}");
        assert_eq!(own, tables, "{buffer}");
    }
}

#[test]
fn marks_classes_and_the_watchdog_come_back_as_they_went() {
    let keys = "buffer = \"1MB\"\necn_kmin = \"50KB\"\necn_kmax = \"200KB\"\necn_pmax = 0.1\nclasses = \"3:4500\"\n\
                pfc_watchdog = \"drop\"\npfc_watchdog_after = \"2ms\"\npfc_watchdog_restore = \"3ms\"\npfc_watchdog_poll = \"1ms\"";
    let [own, tables, _] = both(keys, "buffer = \"1MB\"");
    assert_eq!(own, tables);
    let bench = Bench::new(&[("own.toml", &format!("{PAUSED}\n[switch]\n{keys}\n"))]);
    let tables: serde_json::Value =
        serde_json::from_str(&bench.hpcc(&["export", "sonic", "own.toml"]).out).expect("JSON");
    let found = |pointer: &str| tables.pointer(pointer).and_then(serde_json::Value::as_str);
    assert_eq!(found("/PFC_WD/Ethernet15/detection_time"), Some("2"));
    assert_eq!(found("/PFC_WD/GLOBAL/POLL_INTERVAL"), Some("1"));
    assert_eq!(found("/SCHEDULER/scheduler.3/weight"), Some("3"));
    assert_eq!(found("/WRED_PROFILE/hpcc_50000_200000_10/green_drop_probability"), Some("10"));
    assert_eq!(found("/PORT_QOS_MAP/Ethernet0/pfc_enable"), Some("3"));
}

#[test]
fn trimming_comes_back_with_its_size_and_queue() {
    let toml = "run.stop = \"5ms\"\ntopology = { kind = \"star\", hosts = 9, rate = \"100Gbps\", delay = \"1us\" }\n\
                transport = { recovery = \"selective_repeat\", ack_priority = 0 }\n\
                traffic = [{ kind = \"incast\", receiver = 8, sender_count = 8, size = \"200KB\" }]\n";
    let own = format!(
        "{toml}switch = {{ mode = \"lossy\", overflow = \"trim\", trim_size = \"256B\", trim_queue = 6, buffer = \"300KB\" }}\n"
    );
    let tables = format!("{toml}switch = {{ profile = \"switch.json\", buffer = \"300KB\", buffer_cell = 1 }}\n");
    let bench = Bench::new(&[("own.toml", &own), ("tables.toml", &tables)]);
    let export = bench.hpcc(&["export", "sonic", "own.toml", "--out", "switch.json"]);
    assert!(export.err.contains("trim_threshold, trim_headers and trim_last"), "{}", export.err);
    let run = bench.hpcc(&["run", "tables.toml", "--out", "out"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert_eq!(
        (&summary["scenario"]["switch"]["trim_size_bytes"], &summary["scenario"]["switch"]["trim_queue"]),
        (&256.into(), &6.into()),
        "{}",
        summary["scenario"]["switch"]
    );
    let cut = summary["trims"]["cut"].as_u64().expect("a count");
    assert!(cut > 50 && summary["trims"]["heard"].as_u64() == Some(cut), "{cut}");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let bench = Bench::new(&[("a.toml", &format!("{PAUSED}\n")), ("there.json", "{}")]);
    for (arguments, words) in [
        (&["--switch", "3"][..], "node 3 is no switch; expected one of 16"),
        (&["--switch", "99"], "node 99 is no switch"),
        (&["--out", "there.json"], "there.json"),
    ] {
        let told = bench.hpcc(&[&["export", "sonic", "a.toml"], arguments].concat());
        assert_eq!(told.code, Some(2), "{arguments:?}");
        assert!(told.err.contains(words), "{arguments:?}: {}", told.err);
    }
    assert_eq!(bench.read("there.json"), "{}");
}

/// What is rounded is told once, and what is exact but for the last bit of a float is not.
#[test]
fn what_has_no_exact_counterpart_is_told_once() {
    let told = |keys: &str| {
        let bench = Bench::new(&[("a.toml", &format!("{PAUSED}\n[switch]\n{keys}\n"))]);
        let export = bench.hpcc(&["export", "sonic", "a.toml"]);
        assert_eq!(export.code, Some(0), "{}", export.err);
        export.err
    };
    assert!(!told("ecn_pmax = 0.07").contains("whole percents"));
    let rounded = told("ecn_pmax = 0.075\nclass_alpha = \"3:0.001953125\"");
    for words in ["WRED has whole percents; 8 is nearest", "alpha 2^-9 of priority 3"] {
        assert_eq!(rounded.matches(words).count(), 1, "{words}: {rounded}");
    }
}

/// Telemetry marks the DSCP of its packets, and NICs give CNPs their own.
#[test]
fn all_dscps_of_frames_are_mapped_to_the_class_of_their_priority() {
    let map = |keys: &str| {
        let toml = PAUSED.replace("congestion_control.algorithm = \"none\"", keys);
        let bench = Bench::new(&[("a.toml", &toml)]);
        let export = bench.hpcc(&["export", "sonic", "a.toml"]);
        assert_eq!(export.code, Some(0), "{}", export.err);
        let tables: serde_json::Value = serde_json::from_str(&export.out).expect("JSON");
        (tables["DSCP_TO_TC_MAP"]["hpcc"].clone(), export.err)
    };
    let (plain, _) = map("congestion_control.algorithm = \"none\"");
    assert_eq!(plain.as_object().map(serde_json::Map::len), Some(8), "8 n for class n: {plain}");
    let (marked, _) = map("congestion_control.algorithm = \"hpcc\"\nwire.profile = \"rocev2_ipv4\"");
    assert_eq!((&marked["24"], &marked["25"], &marked["57"]), (&"3".into(), &"3".into(), &"7".into()), "{marked}");
    let nic = "congestion_control.algorithm = \"dcqcn\"\ntransport = { congestion_notification = \"cnp\", cnp_priority = 5, \
               cnp_dscp = DSCP }\nwire.profile = \"rocev2_ipv4\"";
    let (of_cnps, told) = map(&nic.replace("DSCP", "46"));
    assert_eq!((&of_cnps["46"], &of_cnps["40"], of_cnps.get("25")), (&"5".into(), &"5".into(), None), "{of_cnps}");
    assert!(!told.contains("cnp_dscp"), "{told}");
    let (of_cnps, told) = map(&nic.replace("DSCP", "24"));
    assert_eq!(of_cnps["24"], "3");
    assert!(told.contains("DSCP 24 of CNPs (transport.cnp_dscp) is that of a class"), "{told}");
}
