// SPDX-License-Identifier: GPL-2.0-only
//! A configuration of two ports of different speeds, with the names and the texts of SONiC.

use super::sonic::read;

const DATABASE: &str = r#"{
  "PORT": { "Ethernet0": { "speed": "400000" }, "Ethernet8": { "speed": "100000" } },
  "BUFFER_POOL": {
    "lossless_pool": { "type": "ingress", "mode": "dynamic", "size": "60981844", "xoff": "14760448" },
    "egress_lossy_pool": { "type": "egress", "mode": "dynamic", "size": "60981844" }
  },
  "BUFFER_PROFILE": {
    "pg_400g": { "pool": "[BUFFER_POOL|lossless_pool]", "size": "18796", "dynamic_th": "0", "xoff": "393192",
      "xon": "0", "xon_offset": "3556" },
    "pg_100g": { "pool": "lossless_pool", "size": "18796", "dynamic_th": "-2", "xoff": "117348" },
    "ingress_lossy": { "pool": "lossless_pool", "size": "0", "static_th": "60981844" },
    "q_lossy": { "pool": "egress_lossy_pool", "size": "1778", "dynamic_th": "0" }
  },
  "BUFFER_PG": {
    "Ethernet0|3-4": { "profile": "[BUFFER_PROFILE|pg_400g]" },
    "Ethernet8|3-4": { "profile": "pg_100g" },
    "Ethernet0,Ethernet8|0": { "profile": "ingress_lossy" }
  },
  "BUFFER_QUEUE": { "Ethernet0,Ethernet8|0-2": { "profile": "q_lossy" } },
  "TC_TO_PRIORITY_GROUP_MAP": { "AZURE": { "0": "0", "1": "0", "2": "0", "3": "3", "4": "4", "7": "7" } },
  "WRED_PROFILE": { "AZURE_LOSSLESS": { "ecn": "ecn_all", "green_min_threshold": "1048576",
    "green_max_threshold": "2097152", "green_drop_probability": "5" } },
  "QUEUE": { "Ethernet0|3": { "wred_profile": "AZURE_LOSSLESS", "scheduler": "scheduler.1" } },
  "DSCP_TO_TC_MAP": { "AZURE": { "3": "3" } },
  "SCHEDULER": { "scheduler.1": { "type": "DWRR", "weight": "30" } }
}"#;

#[test]
fn tables_of_sonic_become_keys() {
    let found = read(DATABASE).expect("a configuration");
    let expected = r#"
        buffer_pools = [
            { name = "lossless_pool", side = "ingress", size = 60981844, xoff = 14760448 },
            { name = "egress_lossy_pool", side = "egress", size = 60981844 },
        ]
        buffer_profiles = [
            { name = "pg_400g", pool = "lossless_pool", size = 18796, dynamic_th = 0, xoff = 393192, xon = 0, xon_offset = 3556 },
            { name = "pg_100g", pool = "lossless_pool", size = 18796, dynamic_th = -2, xoff = 117348 },
            { name = "ingress_lossy", pool = "lossless_pool", size = 0, static_th = 60981844 },
            { name = "q_lossy", pool = "egress_lossy_pool", size = 1778, dynamic_th = 0 },
        ]
        buffer_groups = [
            { priorities = [1], profile = "ingress_lossy" },
            { priorities = [2], profile = "ingress_lossy" },
            { priorities = [3], profile = "pg_100g", rate = "100000Mbps" },
            { priorities = [3], profile = "pg_400g", rate = "400000Mbps" },
            { priorities = [4], profile = "pg_100g", rate = "100000Mbps" },
            { priorities = [4], profile = "pg_400g", rate = "400000Mbps" },
        ]
        buffer_queues = [{ priorities = [1], profile = "q_lossy" }, { priorities = [2], profile = "q_lossy" }]
        ecn_thresholds = [
            { rate = "100000Mbps", kmin = 1048576, kmax = 2097152, pmax = 0.05 },
            { rate = "400000Mbps", kmin = 1048576, kmax = 2097152, pmax = 0.05 },
        ]
    "#;
    let mut expected: toml::Table = toml::from_str(expected).expect("TOML");
    let by_name = |list: &mut toml::Value| {
        list.as_array_mut().expect("a list").sort_by_key(|entry| entry.get("name").map(ToString::to_string));
    };
    let mut keys = found.keys;
    for key in ["buffer_pools", "buffer_profiles"] {
        by_name(&mut expected[key]);
        by_name(&mut keys[key]);
    }
    assert_eq!(keys, expected);
    let named = |what: &str| found.left_out.iter().any(|left_out| left_out.starts_with(what));
    let all = ["BUFFER_PG of traffic class 0", "BUFFER_QUEUE of traffic class 0", "DSCP_TO_TC_MAP", "SCHEDULER"];
    assert!(all.iter().all(|what| named(what)), "{:?}", found.left_out);
}

#[test]
fn what_is_no_configuration_is_refused() {
    let wrong = |from: &str, to: &str| read(&DATABASE.replace(from, to)).expect_err(to);
    assert!(read("{").expect_err("half").starts_with("no JSON"));
    assert_eq!(read("{}").expect_err("none"), "there is no BUFFER_POOL; expected it, as in SONiC's config_db.json");
    assert!(wrong("\"size\": \"60981844\", \"xoff\"", "\"xoff\"").contains("lossless_pool: size is missing"));
    assert!(wrong("\"type\": \"egress\"", "\"type\": \"both\"").contains("expected ingress or egress"));
    assert_eq!(
        wrong("\"3\": \"3\", \"4\"", "\"3\": \"9\", \"4\""),
        "TC_TO_PRIORITY_GROUP_MAP|AZURE: 3 is mapped to \"9\"; expected 0 to 7"
    );
    assert!(wrong("\"speed\": \"400000\"", "\"speed\": \"100000\"").contains("several profiles at ports of one speed"));
    assert!(wrong("Ethernet0|3-4", "Ethernet0|4-3").contains("4-3 is no range of numbers"));
    assert!(wrong("\"dynamic_th\": \"-2\"", "\"dynamic_th\": \"x\"").contains("pg_100g: dynamic_th is x"));
}

#[test]
fn no_headroom_to_share_is_none() {
    let found = read(&DATABASE.replace("14760448", "0")).expect("a configuration");
    let pools = found.keys["buffer_pools"].as_array().expect("a list");
    assert!(pools.iter().all(|pool| pool.get("xoff").is_none()), "{pools:?}");
}
