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
        class_ecn = "1:none, 2:none, 4:none, 5:none, 6:none, 7:none"
        classes = "3:45000"
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
    let all = [
        "BUFFER_PG of traffic class 0",
        "BUFFER_QUEUE of traffic class 0",
        "DSCP_TO_TC_MAP",
        "QUEUE: queues 3 have not the same scheduler at all ports",
        "no PORT_QOS_MAP has pfc_enable",
        "QUEUE: queues 3 have a wred_profile at some ports only",
    ];
    assert!(all.iter().all(|what| named(what)), "{:?}", found.left_out);
}

/// Packets of a priority have the DSCP of its class selector.
#[test]
fn maps_of_dscps_are_named_where_packets_would_have_another_class() {
    let note = |maps: &str| {
        let text = DATABASE.replace("{ \"AZURE\": { \"3\": \"3\" } }", maps);
        let left_out = read(&text).expect("a configuration").left_out;
        left_out.into_iter().find(|note| note.starts_with("DSCP_TO_TC_MAP"))
    };
    let usual = "DSCP_TO_TC_MAP: not read; flows name their priority, which is the traffic class";
    let same = r#"{ "8": "1", "16": "2", "24": "3", "32": "4", "40": "5", "48": "6", "56": "7", "46": "5" }"#;
    let of = |maps: &[&str]| {
        let maps: Vec<String> = maps.iter().enumerate().map(|(n, map)| format!("\"M{n}\": {map}")).collect();
        note(&format!("{{ {} }}", maps.join(", ")))
    };
    assert_eq!((of(&[same]), of(&[same, same]), of(&[])), (None, None, None));
    let other = same.replace("\"24\": \"3\"", "\"24\": \"1\"");
    assert_eq!(of(&[same, &other]), Some(format!("{usual}, while M1 maps the DSCP of priority 3, 24, to 1")));
    assert_eq!(of(&["{}"]), Some(format!("{usual}, while M0 maps the DSCP of priority 1, 8, to none")));
    assert_eq!((note("7"), of(&["7"]).is_some()), (Some(usual.into()), true));
}

#[test]
fn what_is_no_configuration_is_refused() {
    let wrong = |from: &str, to: &str| read(&DATABASE.replace(from, to)).expect_err(to);
    assert!(read("{").expect_err("half").starts_with("no JSON"));
    assert_eq!(read("{}").expect_err("none"), "there is no BUFFER_POOL; expected it, as in SONiC's config_db.json");
    assert!(wrong("\"size\": \"60981844\", \"xoff\"", "\"xoff\"").contains("lossless_pool: size is missing"));
    assert!(
        wrong("\"type\": \"egress\"", "\"type\": \"all\"")
            .contains("type is \"all\"; expected ingress, egress or both")
    );
    assert!(wrong("\"type\": \"egress\", ", "").contains("egress_lossy_pool: type is missing; expected"));
    assert_eq!(wrong("\"400000\"", "\"fast\""), "PORT|Ethernet0: speed is \"fast\"; expected a number");
    let port = wrong("\"Ethernet8|3-4\"", "\"Ethernet9|3-4\"");
    assert_eq!(port, "BUFFER_PG|Ethernet9|3-4: PORT has no Ethernet9; expected a port that is there");
    let profile = wrong("\"wred_profile\": \"AZURE", "\"wred_profile\": \"BLUE");
    assert_eq!(profile, "QUEUE|Ethernet0|3: WRED_PROFILE has no BLUE_LOSSLESS; expected one that is there");
    assert!(wrong("ecn_all", "ecn_some").contains("AZURE_LOSSLESS: ecn is ecn_some; expected such as ecn_all"));
    assert!(wrong("\"5\" } }", "\"500\" } }").contains("green_drop_probability is 500; expected 0 to 100"));
    assert!(wrong("\"1048576\"", "\"9048576\"").contains("expected at most green_max_threshold, 2097152"));
    let qos =
        |row: &str| wrong("\"SCHEDULER\"", &format!("\"PORT_QOS_MAP\": {{ \"Ethernet0\": {row} }}, \"SCHEDULER\""));
    assert!(qos("{ \"tc_to_pg_map\": \"ZZ\" }").contains("PORT_QOS_MAP|Ethernet0: TC_TO_PRIORITY_GROUP_MAP has no ZZ"));
    assert!(qos("{ \"pfc_enable\": \"3,x\" }").contains("pfc_enable is \"3,x\"; expected priorities such as"));
    assert_eq!(
        wrong("\"3\": \"3\", \"4\"", "\"3\": \"9\", \"4\""),
        "TC_TO_PRIORITY_GROUP_MAP|AZURE: 3 is mapped to \"9\"; expected 0 to 7"
    );
    assert!(wrong("Ethernet0|3-4", "Ethernet0|4-3").contains("4-3 is no range of numbers"));
    assert!(wrong("\"dynamic_th\": \"-2\"", "\"dynamic_th\": \"x\"").contains("pg_100g: dynamic_th is x"));
}

#[test]
fn no_headroom_to_share_is_none() {
    let found = read(&DATABASE.replace("14760448", "0")).expect("a configuration");
    let pools = found.keys["buffer_pools"].as_array().expect("a list");
    assert!(pools.iter().all(|pool| pool.get("xoff").is_none()), "{pools:?}");
}

const ALL_UNMARKED: &str = "1:none, 2:none, 3:none, 4:none, 5:none, 6:none, 7:none";

#[test]
fn profiles_that_do_not_mark_green_mark_nothing() {
    for (from, to, why) in [
        ("ecn_all", "ecn_none", "ecn is ecn_none"),
        ("ecn_all", "ecn_yellow", "ecn is ecn_yellow"),
        (
            "\"ecn\": \"ecn_all\"",
            "\"ecn\": \"ecn_all\", \"wred_green_enable\": \"false\"",
            "wred_green_enable is false",
        ),
        ("\"ecn\": \"ecn_all\", ", "", "there is no ecn"),
    ] {
        let found = read(&DATABASE.replace(from, to)).expect(to);
        assert_eq!(found.keys["class_ecn"].as_str(), Some(ALL_UNMARKED), "{to}");
        assert!(!found.keys.contains_key("ecn_thresholds"), "{to}");
        let told = format!("WRED_PROFILE|AZURE_LOSSLESS: {why}: its queues mark nothing");
        assert!(found.left_out.iter().any(|left_out| left_out.starts_with(&told)), "{:?}", found.left_out);
    }
    let found = read(&DATABASE.replace("\"wred_profile\": \"AZURE_LOSSLESS\", ", "")).expect("queues without");
    assert_eq!(found.keys["class_ecn"].as_str(), Some(ALL_UNMARKED));
    let neither = DATABASE.replace("\"QUEUE\"", "\"Q\"").replace("\"WRED_PROFILE\"", "\"W\"");
    let found = read(&neither).expect("neither");
    assert!(!found.keys.contains_key("class_ecn"), "nothing is said of marks");
    assert!(found.left_out.iter().any(|left_out| left_out.starts_with("there are neither QUEUE nor WRED_PROFILE")));
}

/// Thresholds of priorities are told for 100 Gb/s.
#[test]
fn queues_have_profiles_of_their_own() {
    let second = "\"WRED_PROFILE\": { \"B\": { \"ecn\": \"ecn_all\", \"green_min_threshold\": \"40000\",
        \"green_max_threshold\": \"80000\" },";
    let queue = "\"QUEUE\": { \"Ethernet0|4\": { \"wred_profile\": \"[WRED_PROFILE|B]\" },";
    let several = DATABASE.replace("\"WRED_PROFILE\": {", second).replace("\"QUEUE\": {", queue);
    // 40 and 80 kB at 400 Gb/s, whatever ports have another speed.
    let expected = "1:none, 2:none, 5:none, 6:none, 7:none, 4:10000 20000 1";
    let found = read(&several).expect("two speeds");
    assert_eq!(found.keys["class_ecn"].as_str(), Some(expected));
    let thresholds = found.keys["ecn_thresholds"].as_array().expect("a list").iter();
    assert_eq!(thresholds.map(|one| one["kmin"].as_integer()).collect::<Vec<_>>(), [Some(1_048_576); 2]);
    let one =
        several.replace(", \"Ethernet8\": { \"speed\": \"100000\" }", "").replace("Ethernet0,Ethernet8", "Ethernet0");
    let one = one.replace("\"Ethernet8|3-4\": { \"profile\": \"pg_100g\" },", "");
    let found = read(&one).expect("one speed");
    assert_eq!(found.keys["class_ecn"].as_str(), Some(expected));
    assert_eq!(found.keys["ecn_thresholds"].as_array().map(Vec::len), Some(1));
}

/// `class_ecn` scales with speed, `ecn_thresholds` has one for each speed: what neither can say is told by its class.
#[test]
fn thresholds_of_classes_and_speeds_are_told_where_keys_cannot_say_them() {
    let row = |name: &str, kmin: u32| {
        format!(
            "\"{name}\": {{ \"ecn\": \"ecn_all\", \"green_min_threshold\": \"{kmin}\", \"green_max_threshold\": \"{}\",
                \"green_drop_probability\": \"5\" }}",
            2 * kmin
        )
    };
    let with = |kmins: [u32; 4]| {
        let rows =
            ["A", "B", "C", "D"].iter().zip(kmins).map(|(name, kmin)| row(name, kmin)).collect::<Vec<_>>().join(", ");
        let profiles = format!("\"WRED_PROFILE\": {{ {rows}, \"UNUSED\": {{");
        let queues = r#""Ethernet8|3": { "wred_profile": "A" }, "Ethernet0|3": { "wred_profile": "B" },
            "Ethernet8|4": { "wred_profile": "C" }, "Ethernet0|4": { "wred_profile": "D" }, "Ethernet0|6": {"#;
        let text = DATABASE.replace("\"WRED_PROFILE\": { \"AZURE_LOSSLESS\": {", &profiles);
        let text = text.replace("\"Ethernet0|3\": { \"wred_profile\": \"AZURE_LOSSLESS\",", queues);
        let found = read(&text).expect("a configuration");
        let ecn = found.keys["class_ecn"].as_str().map(|text| text.rsplit(", ").next().unwrap_or_default().to_string());
        let thresholds = found.keys["ecn_thresholds"].as_array().expect("a list").iter();
        let kmins = thresholds.map(|one| one["kmin"].as_integer().expect("bytes")).collect::<Vec<_>>();
        (kmins, ecn.expect("text"), found.left_out.into_iter().find(|one| one.contains("class_ecn cannot differ")))
    };
    // Class 4 at 100 and 400 Gb/s: 100 and 400 kB are the same, scaled.
    assert_eq!(
        with([500_000, 700_000, 100_000, 400_000]),
        (vec![500_000, 700_000], "4:100000 200000 0.05".into(), None)
    );
    let (kmins, ecn, note) = with([500_000, 700_000, 100_000, 200_000]);
    assert_eq!((kmins, ecn.as_str()), (vec![500_000, 700_000], "4:100000 200000 0.05"));
    assert!(note.expect("a note").contains("of queues of class 4 that of 100 Gb/s, scaled, holds at all speeds"));
}

/// Cables of two lengths at one speed: the headroom differs.
#[test]
fn profiles_of_ports_of_one_speed_are_by_port() {
    let one_speed = DATABASE.replace("\"speed\": \"400000\"", "\"speed\": \"100000\"");
    let third = one_speed
        .replace("{ \"Ethernet0\": { \"sp", "{ \"Ethernet16\": { \"speed\": \"100000\" }, \"Ethernet0\": { \"sp")
        .replace("\"Ethernet8|3-4\"", "\"Ethernet8,Ethernet16|3-4\"");
    let found = read(&third).expect("a configuration");
    let groups = found.keys["buffer_groups"].as_array().expect("a list");
    let of_3 = groups.iter().filter(|group| group["priorities"][0].as_integer() == Some(3));
    let text = |group: &toml::Value, key: &str| group.get(key).map(|value| value.as_str().expect("text").to_string());
    let of_3: Vec<_> = of_3.map(|group| (text(group, "profile"), text(group, "ports"))).collect();
    // Ethernet0 is the first port, though Ethernet16 is listed before it.
    assert_eq!(of_3, [(Some("pg_100g".into()), None), (Some("pg_400g".into()), Some("1".into()))]);
    assert!(found.left_out.iter().any(|one| one.starts_with("BUFFER_PG: profiles differ at ports of one speed")));
}

/// A pool of both sides is one of each, and a profile that groups and queues share is two.
#[test]
fn pools_of_both_sides_become_two() {
    let both = DATABASE.replace("\"type\": \"ingress\"", "\"type\": \"both\"").replace(
        "\"Ethernet0,Ethernet8|0-2\": { \"profile\": \"q_lossy\"",
        "\"Ethernet0,Ethernet8|0-2\": { \"profile\": \"ingress_lossy\"",
    );
    let found = read(&both).expect("a configuration");
    let list = |key: &str| found.keys[key].as_array().expect("a list").clone();
    let named =
        |key: &str, name: &str| list(key).into_iter().find(|one| one["name"].as_str() == Some(name)).expect("there");
    let (ingress, egress) = (named("buffer_pools", "lossless_pool"), named("buffer_pools", "lossless_pool of egress"));
    assert_eq!((ingress["side"].as_str(), egress["side"].as_str()), (Some("ingress"), Some("egress")));
    assert_eq!((&ingress["size"], ingress.get("xoff").is_some()), (&egress["size"], true));
    assert!(egress.get("xoff").is_none());
    assert_eq!(named("buffer_profiles", "ingress_lossy of egress")["pool"].as_str(), Some("lossless_pool of egress"));
    assert_eq!(named("buffer_profiles", "ingress_lossy")["pool"].as_str(), Some("lossless_pool"));
    assert!(list("buffer_queues").iter().all(|queue| queue["profile"].as_str() == Some("ingress_lossy of egress")));
}

/// Classes 3 and 4 change queues: each has the profile, the marks and the scheduler of the queue that it waits in.
#[test]
fn a_class_has_what_its_queue_has() {
    let maps = r#""TC_TO_QUEUE_MAP": { "M": { "1": "1", "2": "1", "3": "4", "4": "3" } },
        "MAP_PFC_PRIORITY_TO_QUEUE": { "M": { "3": "3", "4": "3" } },
        "PORT_QOS_MAP": { "Ethernet0,Ethernet8": { "tc_to_queue_map": "M", "pfc_to_queue_map": "M", "pfc_enable": "3,4" } },
        "SCHEDULER""#;
    let text = DATABASE
        .replace("\"SCHEDULER\"", maps)
        .replace("|0-2\": { \"profile\": \"q_lossy", "|3\": { \"profile\": \"q_lossy");
    let found = read(&text).expect("a configuration");
    let queues = found.keys["buffer_queues"].as_array().expect("a list");
    assert_eq!(queues.iter().map(|one| one["priorities"][0].as_integer()).collect::<Vec<_>>(), [Some(4)]);
    assert_eq!(found.keys["class_ecn"].as_str(), Some("1:none, 2:none, 3:none, 5:none, 6:none, 7:none"));
    assert_eq!(found.keys["classes"].as_str(), Some("4:45000"));
    let told = |words: &str| found.left_out.iter().any(|one| one.contains(words));
    assert!(told("TC_TO_QUEUE_MAP|M: classes 1, 2 share queue 1"), "{:?}", found.left_out);
    let pause =
        "a pause of priority 3, for class 3, stops queue 3, while the class waits in queue 4; here it stops the class";
    assert!(told(pause) && !told("for class 4"), "{:?}", found.left_out);
    let none = DATABASE
        .replace("\"SCHEDULER\"", "\"PORT_QOS_MAP\": { \"Ethernet0\": { \"tc_to_queue_map\": \"M\" } }, \"SCHEDULER\"");
    assert_eq!(
        read(&none).expect_err("none"),
        "PORT_QOS_MAP|Ethernet0: TC_TO_QUEUE_MAP has no M, its tc_to_queue_map; expected one that is there"
    );
}

/// A class is paused by the priority of its group.
#[test]
fn a_class_that_shares_a_group_is_paused_with_it() {
    let text = DATABASE.replace("\"1\": \"0\", \"2\": \"0\"", "\"1\": \"3\", \"2\": \"0\"").replace(
        "\"SCHEDULER\"",
        "\"PORT_QOS_MAP\": { \"Ethernet0,Ethernet8\": { \"pfc_enable\": \"3,4\", \"tc_to_pg_map\": \"AZURE\" } }, \"SCHEDULER\"",
    );
    let found = read(&text).expect("a configuration");
    let groups = found.keys["buffer_groups"].as_array().expect("a list");
    let of_1 = groups.iter().find(|group| group["priorities"][0].as_integer() == Some(1)).expect("a group");
    assert_eq!(of_1["profile"].as_str(), Some("pg_100g"), "with headroom: {:?}", found.left_out);
}

/// A slip is told once, with the first row that has it.
#[test]
fn fields_that_nobody_reads_are_named() {
    let text = DATABASE
        .replace("\"xoff\": \"117348\"", "\"xoff\": \"117348\", \"xonn\": \"5\"")
        .replace("\"ecn\": \"ecn_all\"", "\"ecn\": \"ecn_all\", \"weight\": \"9\", \"yellow_min_threshold\": \"1\"");
    let left_out = read(&text).expect("a configuration").left_out;
    let told = |words: &str| left_out.iter().filter(|one| one.contains(words)).count();
    assert_eq!(told("BUFFER_PROFILE|pg_100g: xonn is not read; did you mean xon?"), 1, "{left_out:?}");
    assert_eq!(told("AZURE_LOSSLESS: weight is not read; marks follow the queue itself, not its average"), 1);
    assert_eq!((told("yellow"), told("is not read")), (0, 2), "{left_out:?}");
}

#[test]
fn priorities_that_are_not_paused_are_lossy() {
    let with = |row: &str| {
        let both = format!("\"PORT_QOS_MAP\": {{ \"Ethernet0,Ethernet8\": {row} }}, \"SCHEDULER\"");
        read(&DATABASE.replace("\"SCHEDULER\"", &both)).expect("a configuration")
    };
    let found = with("{ \"pfc_enable\": \"4\", \"tc_to_pg_map\": \"AZURE\" }");
    let groups = found.keys["buffer_groups"].as_array().expect("a list");
    let profile_of = |priority: i64| {
        let of = groups.iter().filter(|group| group["priorities"][0].as_integer() == Some(priority));
        of.map(|group| group["profile"].as_str().expect("a name")).collect::<Vec<_>>()
    };
    assert_eq!(profile_of(3), ["pg_100g without PFC", "pg_400g without PFC"]);
    assert_eq!(profile_of(4), ["pg_100g", "pg_400g"]);
    let profiles = found.keys["buffer_profiles"].as_array().expect("a list");
    let lossy =
        profiles.iter().find(|profile| profile["name"].as_str() == Some("pg_400g without PFC")).expect("a profile");
    assert!(["xoff", "xon", "xon_offset"].iter().all(|key| lossy.get(key).is_none()));
    assert_eq!(lossy["dynamic_th"].as_integer(), Some(0));
    let told = |found: &super::sonic::SonicSwitch, what: &str| {
        found.left_out.iter().any(|left_out| left_out.starts_with(what))
    };
    assert!(told(&found, "PORT_QOS_MAP: pfc_enable leaves out 3, whose groups have xoff"), "{:?}", found.left_out);
    let found = with("{ \"pfc_enable\": \"3,4\" }");
    assert!(!told(&found, "PORT_QOS_MAP") && !told(&found, "no PORT_QOS_MAP"), "{:?}", found.left_out);
    let found = with("{ \"pfc_enable\": \"3,4\" }, \"Ethernet0\": { \"pfc_enable\": \"3\" }");
    assert!(told(&found, "PORT_QOS_MAP: pfc_enable is not the same at all ports; here all pause 3, 4"));
}

#[test]
fn the_watchdog_is_read_with_its_times() {
    let with = |rows: &str| read(&DATABASE.replacen('{', &format!("{{ \"PFC_WD\": {{ {rows} }},"), 1));
    let text = |found: &super::sonic::SonicSwitch, key: &str| {
        found.keys.get(&format!("pfc_watchdog{key}")).map(|value| value.as_str().expect("text").to_owned())
    };
    let of_port = r#""Ethernet0": { "action": "forward", "detection_time": "400", "restoration_time": "300" }"#;
    let found = with(&format!(r#""GLOBAL": {{ "POLL_INTERVAL": "100" }}, {of_port}"#)).expect("a configuration");
    let all = ["", "_after", "_restore", "_poll"].map(|key| text(&found, key).expect("a key"));
    assert_eq!(all, ["forward", "400ms", "300ms", "100ms"]);
    let found = with(r#""Ethernet0": { "detection_time": 400 }"#).expect("a configuration");
    let all = ["", "_after", "_restore", "_poll"].map(|key| text(&found, key).expect("a key"));
    assert_eq!(all, ["drop", "400ms", "800ms", "200ms"]);
    assert!(found.left_out.iter().any(|left_out| left_out.contains("twice the detection time")));
    let found = with(r#""GLOBAL": { "POLL_INTERVAL": "100" }"#).expect("a configuration");
    assert_eq!(text(&found, ""), None, "no port has one");
    let differs = format!(r#"{of_port}, "Ethernet8": {{ "detection_time": "200", "restoration_time": "300" }}"#);
    let all = format!(
        r#"{of_port}, "Ethernet8": {{ "action": "forward", "detection_time": "400", "restoration_time": "300" }}"#
    );
    let found = with(&all).expect("a configuration");
    assert!(!found.left_out.iter().any(|left_out| left_out.starts_with("PFC_WD")), "{:?}", found.left_out);
    let found = with(&differs).expect("a configuration");
    assert!(found.left_out.iter().any(|left_out| left_out.starts_with("PFC_WD is not the same at all ports")));
    for (wrong, expected) in [
        (r#""Ethernet0": { "action": "dance", "detection_time": "1" }"#, "expected drop, forward or alert"),
        (r#""Ethernet0": { "detection_time": "0" }"#, "detection_time is 0; expected 1 to"),
        (r#""Ethernet0": {}"#, "detection_time is missing"),
        (r#""Ethernet0": "drop""#, "PFC_WD|Ethernet0 is \"drop\"; expected an object"),
        (r#""Ethernet7": { "detection_time": "200" }"#, "PORT has no Ethernet7"),
    ] {
        let error = with(wrong).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}

/// Of strict queues the one with the highest number goes first, as switches have it.
#[test]
fn strict_queues_keep_their_order() {
    let from =
        "\"QUEUE\": { \"Ethernet0|3\": { \"wred_profile\": \"AZURE_LOSSLESS\", \"scheduler\": \"scheduler.1\" } }";
    let to = "\"QUEUE\": { \"Ethernet0,Ethernet8|3-4\": { \"scheduler\": \"scheduler.1\" } }";
    let strict = DATABASE.replace(from, to).replace("\"type\": \"DWRR\", \"weight\": \"30\"", "\"type\": \"STRICT\"");
    let found = read(&strict).expect("a configuration");
    assert_eq!(found.keys["classes"].as_str(), Some("4:strict, 3:strict"));
}

/// What holds at some ports only, or is shared, is told.
#[test]
fn groups_that_are_not_as_here_are_told() {
    let told = |text: &str, words: &str| read(text).expect("read").left_out.iter().any(|one| one.contains(words));
    assert!(told(DATABASE, "classes 0, 1, 2 share group 0"));
    let apart = DATABASE.replace("\"1\": \"0\", \"2\": \"0\"", "\"1\": \"1\", \"2\": \"2\"");
    assert!(!told(&apart, "share group") && !told(&apart, "at some ports; those of the others"));
    let missing = DATABASE.replace("\"Ethernet8|3-4\": { \"profile\": \"pg_100g\" },", "");
    assert!(told(&missing, "BUFFER_PG: traffic classes 3, 4 have none at some ports"));
    let two = "\"QUEUE\": { \"Ethernet0|3\": { \"wred_profile\": \"AZURE_LOSSLESS\" }, \"Ethernet8|3\": { \"wred_profile\": \"SLOW\" },
        \"Ethernet0|4\": { \"wred_profile\": \"AZURE_LOSSLESS\" }, \"Ethernet8|4\": { \"wred_profile\": \"SLOW\" }";
    let slow = "\"WRED_PROFILE\": { \"SLOW\": { \"ecn\": \"ecn_all\", \"green_min_threshold\": \"250000\", \"green_max_threshold\": \"1050000\" },";
    let speeds = DATABASE.replace(
        "\"QUEUE\": { \"Ethernet0|3\": { \"wred_profile\": \"AZURE_LOSSLESS\", \"scheduler\": \"scheduler.1\" }",
        two,
    );
    let found = read(&speeds.replace("\"WRED_PROFILE\": {", slow)).expect("two speeds");
    let thresholds = found.keys["ecn_thresholds"].as_array().expect("a list");
    let kmin = |at: usize| thresholds[at]["kmin"].as_integer();
    assert_eq!((thresholds.len(), kmin(0), kmin(1)), (2, Some(250_000), Some(1_048_576)), "{:?}", found.left_out);
}

/// Weights of 8 and 30 share a link as 80 to 300, as those of a Tomahawk 5 are tested (sonic-mgmt).
#[test]
fn schedulers_are_classes() {
    let queues = |rows: &str| {
        let schedulers = r#""SCHEDULER": { "s.0": { "type": "DWRR", "weight": "8" }, "s.1": { "type": "DWRR", "weight": "30" },
            "s.2": { "type": "STRICT" }, "s.3": { "type": "DWRR", "weight": "8", "pir": "1000" }, "s.4": { "type": "DWRR" },
            "s.5": { "type": "FIFO" }, "s.6": { "type": "DWRR", "weight": "101" } }"#;
        let queue = format!("\"QUEUE\": {{ {rows} }}");
        let database = DATABASE
            .replace("\"SCHEDULER\": { \"scheduler.1\": { \"type\": \"DWRR\", \"weight\": \"30\" } }", schedulers);
        let from =
            "\"QUEUE\": { \"Ethernet0|3\": { \"wred_profile\": \"AZURE_LOSSLESS\", \"scheduler\": \"scheduler.1\" } }";
        read(&database.replace(from, &queue))
    };
    let both =
        |queue: &str, scheduler: u8| format!("\"Ethernet0,Ethernet8|{queue}\": {{ \"scheduler\": \"s.{scheduler}\" }}");
    let of = |rows: &[String]| queues(&rows.join(", ")).expect("a configuration");
    let found = of(&[both("0", 0), both("1-2", 0), both("3", 1), both("4", 2)]);
    assert_eq!(found.keys["classes"].as_str(), Some("4:strict, 3:45000, 2:12000, 1:12000"));
    assert!(found.left_out.iter().any(|one| one.starts_with("SCHEDULER of queue 0")), "{:?}", found.left_out);
    assert!(!found.left_out.iter().any(|one| one.contains("same scheduler")), "{:?}", found.left_out);
    assert!(of(&[both("3", 3)]).left_out.iter().any(|one| one.starts_with("SCHEDULER|s.3: cir, pir")));
    for (scheduler, words) in [
        (4, "SCHEDULER|s.4: weight is missing; expected 1 to 100"),
        (5, "SCHEDULER|s.5: type is \"FIFO\"; expected STRICT, DWRR or WRR"),
        (6, "SCHEDULER|s.6: weight is 101; expected 1 to 100"),
        (7, "QUEUE|Ethernet0,Ethernet8|3: SCHEDULER has no s.7; expected one that is there"),
    ] {
        assert_eq!(queues(&both("3", scheduler)).expect_err(words), words);
    }
}

/// SONiC's dynamic buffer model: groups whose profile it computes, and the tables that it computes it from.
#[test]
fn what_sonic_computes_itself_is_told() {
    let dynamic = DATABASE
        .replace(r#""profile": "pg_100g""#, r#""profile": "NULL""#)
        .replace("{\n  \"PORT\"", "{\n  \"CABLE_LENGTH\": {}, \"VLAN\": {},\n  \"PORT\"");
    let found = read(&dynamic).expect("a configuration");
    let groups = found.keys["buffer_groups"].as_array().expect("groups").len();
    assert_eq!(groups, 4, "{:?}", found.keys["buffer_groups"]);
    for what in ["BUFFER_PG|Ethernet8|3-4: no profile", "not read: CABLE_LENGTH, VLAN"] {
        assert!(found.left_out.iter().any(|left_out| left_out.starts_with(what)), "{what}: {:?}", found.left_out);
    }
    let plain = read(DATABASE).expect("a configuration").left_out;
    assert!(!plain.iter().any(|left_out| left_out.starts_with("not read")), "{plain:?}");
}
