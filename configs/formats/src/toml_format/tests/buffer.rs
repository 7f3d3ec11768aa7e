// SPDX-License-Identifier: GPL-2.0-only
//! Pools and profiles of switches' memory.

use super::*;
use hpcc_core::switch::WatchdogAction;
use hpcc_core::units::Nanos;

const SEED: &str = include_str!("../../../../../tests/fuzz/seeds/scenario/buffer-pools.toml");

fn wrong(set: &str, expected: &str) {
    let error = load_with(SEED, &[set]).expect_err(set).to_string();
    assert!(error.contains(expected), "{set}: {error}");
}

#[test]
fn pools_and_profiles_are_read_and_echoed() {
    let scenario = load_with(SEED, &[]).expect("valid");
    let plan = scenario.settings.buffer_plan.as_ref().expect("a plan");
    assert_eq!((plan.cell, plan.pools.len(), plan.profiles.len()), (254, 2, 5));
    assert_eq!(plan.groups[1].ports.as_deref(), Some(&[0, 1][..]), "ports count from 1 in files");
    let switch = &scenario.effective()["switch"];
    assert_eq!((&switch["pfc_priorities"], &switch["lossy_priorities"]), (&"3, 4".into(), &"1".into()));
    assert_eq!(switch["buffer_pools"][0]["xoff_bytes"], 60_000);
    assert_eq!(switch["buffer_profiles"][0]["dynamic_th"], -2);
    assert!(["alpha", "headroom", "class_alpha", "pause_threshold"].iter().all(|key| switch.get(key).is_none()));
    let other = load_with(SEED, &["switch.buffer_cell=208"]).expect("valid");
    assert_ne!(scenario.digest().expect("a digest"), other.digest().expect("a digest"));
    assert!(scenario.notes.iter().all(|note| !note.contains("buffer_queues")));
}

#[test]
fn limits_of_lossless_queues_are_told() {
    let scenario = load_with(SEED, &["switch.buffer_queues.0.priorities=[1, 3]"]).expect("valid");
    let told = "switch.buffer_queues limit queues of lossless priorities 3 below their pool";
    assert!(scenario.notes.iter().any(|note| note.starts_with(told)), "{:?}", scenario.notes);
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    for (set, expected) in [
        (
            "switch.buffer_profiles.0.dynamic_th=5",
            "buffer_profiles.0.dynamic_th: the value is 5; expected a number from -7",
        ),
        ("switch.buffer_profiles.0.dynamic_th=1.5", "the value is 1.5; expected a whole number n from -7 to 4"),
        ("switch.buffer_profiles.0.xoff=10", "\"lossless\" has an xoff of 10 bytes, less than a packet; expected"),
        ("switch.buffer_profiles.1.pool=inn", "unknown pool \"inn\"; did you mean in?"),
        ("switch.buffer_profiles.1.name=lossy", "there are two of name \"lossy\"; expected one"),
        ("switch.buffer_profiles.2.static_th=3", "both or neither; expected dynamic_th or static_th"),
        ("switch.buffer_profiles.2.xon=3", "has xon or xon_offset, but pauses nobody"),
        ("switch.buffer_pools.1.xoff=300", "of egress, where nothing is paused; expected no xoff"),
        ("switch.buffer_pools.0.xoff=0", "buffer_pools: pool \"in\" has an xoff of 0 bytes, less than a packet takes;"),
        // The frame's 1176 bytes take 5 cells, of which 1200 bytes have only 4.
        ("switch.buffer_pools.0.xoff=1200", "an xoff of 1200 bytes, less than a packet takes; expected 1270 or more"),
        ("switch.buffer_profiles.1.xon=40000", "\"lossless-1\" has an xon of 40000 bytes, more than its reserve and"),
        ("switch.buffer_profiles.1.xon_offset=31000", "has an xon_offset of 31000 bytes, more than its reserve and"),
        (
            "switch.buffer_profiles.4.static_th=500",
            "\"queue-static\" has room for 254 bytes by its reserve and threshold",
        ),
        (
            "switch.buffer_groups.1.ports=9",
            "buffer_groups.1.ports: none of these switches has a port of number 9 that runs at 100Gbps, so the entry holds",
        ),
        ("switch.buffer_groups.1.rate=33Gbps", "that runs at 33Gbps, so the entry holds nowhere; expected ports"),
        ("switch.buffer_queues.1.ports=5", "no switch has a port of number 5, so the entry holds nowhere"),
        ("switch.buffer_groups.0.profile=x", "unknown profile \"x\"; expected one of lossless"),
        ("switch.buffer_groups.2.priorities=[1, 3]", "expected each priority to be lossless at all ports, or at none"),
        ("switch.buffer_groups.0.ports=1", "priority 3 has no profile at port 3 of switch 4"),
        ("switch.buffer_groups.0.ports=0", "\"0\" is no list of ports, counted from 1"),
        ("switch.buffer_queues.0.profile=lossy", "of ingress pool \"in\"; expected one of an egress pool"),
        ("switch.headroom=9KB", "switch.headroom: headroom belongs to switches without buffer_pools"),
        ("switch.alpha=2", "switch.alpha: alpha belongs to switches without buffer_pools"),
        ("switch.mode=lossy", "switch.mode: mode = \"lossy\" has no groups"),
        ("switch.buffer=200KB", "headroom and reserves of switch 4's ports take"),
        (
            "switch.pfc_priorities=3",
            "switch.pfc_priorities: buffer_groups with xoff are of priorities 3, 4; expected these",
        ),
        ("compatibility.short_headroom=true", "buffer_groups exclude the 2019 simulator's short_headroom"),
    ] {
        wrong(set, expected);
    }
    for key in ["xon", "xon_offset"] {
        load_with(SEED, &[&format!("switch.buffer_profiles.1.{key}=30000")]).expect("as much as the threshold");
    }
    let small = SEED.replace("pool = \"in\", dynamic_th = 3", "pool = \"in\", static_th = 1000");
    let error = load_with(small, &[]).expect_err("a lossy group without room").to_string();
    assert!(error.contains("\"lossy\" has room for 762 bytes by its reserve and threshold, less than a"), "{error}");
    let without = SEED.replace("buffer_cell = 254\n", "");
    let error = load_with(without, &[]).expect_err("no cell").to_string();
    assert!(
        error.contains(
            "buffer_cell is missing from [switch], which has buffer_pools; expected such as buffer_cell = 254"
        )
    );
    let error = load_with(MINIMAL, &["switch.buffer_cell=254"]).expect_err("no pools").to_string();
    assert!(error.contains("switch.buffer_cell: buffer_cell belongs to buffer_pools"), "{error}");
}

/// The file's own `buffer_queues` hold, and so does what the command line says.
#[test]
fn a_profile_of_sonic_fills_in_what_the_scenario_does_not_say() {
    let folder = tempfile::tempdir().expect("folder");
    let database = r#"{
        "BUFFER_POOL": { "in": { "type": "ingress", "size": "400000" }, "out": { "type": "egress", "size": "1000" } },
        "BUFFER_PROFILE": { "lossless": { "pool": "in", "size": "18796", "dynamic_th": "0", "xoff": "40000" } },
        "BUFFER_PG": { "Ethernet0|3-4": { "profile": "lossless" } },
        "DSCP_TO_TC_MAP": { "AZURE": { "3": "3" } }
    }"#;
    std::fs::write(folder.path().join("sonic.json"), database).expect("written");
    let keys = "[switch]\nprofile = \"sonic.json\"\nbuffer_cell = 254\nbuffer_queues = []\n";
    let file = folder.path().join("a.toml");
    std::fs::write(&file, format!("{MINIMAL}{keys}")).expect("written");
    let scenario = crate::load(&file, &[]).expect("valid");
    let plan = scenario.settings.buffer_plan.as_ref().expect("a plan");
    assert_eq!((plan.pools.len(), plan.profiles[0].xoff, plan.queues.len()), (2, Some(40_000), 0));
    assert!(
        scenario.notes.iter().any(|note| note.starts_with("sonic.json: DSCP_TO_TC_MAP: not read")),
        "{:?}",
        scenario.notes
    );
    let refused = |set: &str| crate::load(&file, &[set.to_string()]).expect_err(set).to_string();
    assert!(refused("switch.buffer_profiles=[]").contains("unknown profile \"lossless\""));
    assert!(refused("switch.profile=none.json").contains("switch.profile: none.json cannot be read: No such file"));
}

/// A scenario with this database beside it, and more keys of its switches.
fn with_database(database: &str, keys: &str) -> Result<hpcc_model::scenario::Scenario, String> {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("sonic.json"), database).expect("written");
    let file = folder.path().join("a.toml");
    let keys = format!("[switch]\nprofile = \"sonic.json\"\nbuffer_cell = 254\n{keys}");
    std::fs::write(&file, format!("{MINIMAL}{keys}")).expect("written");
    crate::load(&file, &[]).map_err(|error| error.to_string().replace(&*folder.path().to_string_lossy(), "F"))
}

const DATABASE: &str = r#"{
    "PORT": { "Ethernet0": { "speed": "100000" }, "Ethernet8": { "speed": "10000" } },
    "BUFFER_POOL": { "in": { "type": "ingress", "size": "400000" } },
    "BUFFER_PROFILE": {
        "lossless": { "pool": "in", "size": "18796", "dynamic_th": "0", "xoff": "40000" },
        "slow": { "pool": "in", "size": "18796", "dynamic_th": "0", "xoff": "20000" }
    },
    "BUFFER_PG": { "Ethernet0|3-4": { "profile": "lossless" }, "Ethernet8|3-4": { "profile": "slow" } },
    "WRED_PROFILE": { "W": { "ecn": "ecn_all", "green_min_threshold": "9000", "green_max_threshold": "90000" } },
    "QUEUE": { "Ethernet0,Ethernet8|3": { "wred_profile": "W" } }
}"#;

#[test]
fn errors_about_a_profile_of_sonic_name_its_file() {
    let line = format!("F/a.toml:{}", MINIMAL.lines().count() + 2);
    let wrong = |from: &str, to: &str| with_database(&DATABASE.replace(from, to), "").expect_err(to);
    for (from, to, expected) in [
        ("\"slow\": {", "\"fast\": {", "switch.buffer_groups.profile: unknown profile \"slow\"; expected one of"),
        (
            "\"xoff\": \"40000\"",
            "\"xoff\": \"40\"",
            "switch.buffer_profiles: profile \"lossless\" has an xoff of 40 bytes",
        ),
        ("\"100000\"", "\"40000\"", "switch.ecn_thresholds: no ECN thresholds for 100Gbps"),
    ] {
        let error = wrong(from, to);
        let place = format!("sonic.json (switch.profile, {line}): {expected}");
        assert!(error.starts_with(&place), "{to}: {error}, not {place}");
    }
    let error = wrong("\"100000\"", "\"x\"");
    let expected =
        format!("{line}: switch.profile: sonic.json cannot be read: PORT|Ethernet0: speed is \"x\"; expected a");
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_profile_may_have_ports_that_are_not_there() {
    let scenario = with_database(DATABASE, "").expect("valid");
    let note = "switch.profile has ports of 10Gbps, which no switch has here";
    assert!(scenario.notes.iter().any(|own| own == note), "{:?}", scenario.notes);
    assert_eq!(scenario.settings.buffer_plan.as_ref().map(|plan| plan.groups.len()), Some(2));
    assert_eq!(scenario.settings.ecn_thresholds.as_ref().map(Vec::len), Some(1));
    assert_eq!(scenario.effective()["switch"]["class_ecn"], "1:none, 2:none, 4:none, 5:none, 6:none, 7:none");
}

#[test]
fn own_thresholds_take_the_place_of_a_profiles() {
    for (keys, expected) in
        [("ecn_kmin = \"50KB\"\n", (50_000, 1_600_000)), ("ecn_kmax = \"3MB\"\n", (400_000, 3_000_000))]
    {
        let scenario = with_database(DATABASE, keys).expect("valid");
        let thresholds = scenario.settings.ecn_thresholds.as_ref().map(|all| (all[0].kmin, all[0].kmax));
        assert_eq!(thresholds, Some(expected));
        let key = keys.split(' ').next().unwrap_or_default();
        let note = format!("sonic.json: WRED_PROFILE: the scenario's switch.{key} takes the place of its thresholds");
        assert!(scenario.notes.contains(&note), "{:?}", scenario.notes);
    }
}

#[test]
fn a_scenario_turns_the_watchdog_of_its_profile_off_or_changes_it() {
    let database = r#"{
        "BUFFER_POOL": { "in": { "type": "ingress", "size": "400000" } },
        "BUFFER_PROFILE": { "lossless": { "pool": "in", "size": "18796", "dynamic_th": "0", "xoff": "40000" } },
        "BUFFER_PG": { "Ethernet0|3-4": { "profile": "lossless" } },
        "PFC_WD": { "Ethernet0": { "detection_time": "300", "restoration_time": "400" } }
    }"#;
    let watchdog = |keys: &str| {
        let switch = with_database(database, keys).expect(keys).settings.switch.clone();
        (switch.pfc_watchdog, switch.pfc_watchdog_after)
    };
    assert_eq!(watchdog(""), (WatchdogAction::Drop, Nanos(300_000_000)));
    assert_eq!(watchdog("pfc_watchdog = \"alert\"\n"), (WatchdogAction::Alert, Nanos(300_000_000)));
    assert_eq!(watchdog("pfc_watchdog = \"off\"\n").0, WatchdogAction::Off);
    // What a run then does not test is told.
    let notes = |keys: &str| with_database(database, keys).expect(keys).notes.join("\n");
    let told = "sonic.json: the scenario's own values take the place of the file's: switch.pfc_watchdog (\"drop\" in the file)";
    assert!(notes("pfc_watchdog = \"alert\"\n").contains(told), "{}", notes("pfc_watchdog = \"alert\"\n"));
    assert!(notes("pfc_watchdog = \"off\"\n").contains("PFC_WD: the scenario turns switch.pfc_watchdog off"));
    assert!(!notes("").contains("own values"), "{}", notes(""));
}
