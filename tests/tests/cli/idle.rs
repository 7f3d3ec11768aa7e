// SPDX-License-Identifier: GPL-2.0-only
//! Flows alone in the network: what the simulator calls ideal, and T, is what they take.

use hpcc_tests::Bench;
use serde_json::Value;
use std::fmt::Write;

/// One packet or less, a little more, and many.
const SIZES: [u64; 12] = [1, 63, 999, 1_000, 1_001, 2_000, 2_310, 4_123, 9_001, 18_000, 123_456, 1_000_000];
const PROFILES: [&str; 3] = ["reference", "rocev2_ipv4", "rocev2_ipv6"];

/// The figures of one row of `fct.csv`.
#[derive(Debug)]
struct Row {
    size: u64,
    fct: u64,
    ideal: u64,
}

/// Runs flows of these sizes, one every 10 ms, from the first host to another at line rate. Switches have room for the
/// headroom of long cables.
fn alone(sections: &str, dst: u64, sizes: &[u64]) -> (Vec<Row>, Value) {
    let mut toml = format!("[run]\nstop = \"1s\"\n[switch]\nbuffer = \"1GB\"\n{sections}\n");
    for (n, size) in sizes.iter().enumerate() {
        let start = format!("{}ms", 10 * n);
        write!(toml, "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = {dst}\nsize = {size}\nstart = \"{start}\"\n")
            .expect("memory");
    }
    let bench = Bench::new(&[("alone.toml", &toml)]);
    let output = bench.run("alone.toml", &[]);
    assert_eq!(output.code, Some(0), "{toml}{}", output.err);
    let table = bench.read("out/fct.csv");
    let rows = table.lines().skip(1).map(|line| {
        let fields: Vec<u64> = line.split(',').take(10).map(|field| field.parse().expect("a number")).collect();
        Row { size: fields[6], fct: fields[8], ideal: fields[9] }
    });
    (rows.collect(), serde_json::from_str(&bench.read("out/summary.json")).expect("JSON"))
}

/// Networks of one, two and three tiers, and the last host of each.
const TOPOLOGIES: [(&str, u64); 3] = [
    ("kind = \"star\"\nhosts = 20\nrate = \"100Gbps\"\ndelay = \"1us\"", 19),
    ("kind = \"dumbbell\"\nleft = 2\nright = 2\nrate = \"100Gbps\"\ndelay = \"1us\"\nbottleneck_rate = \"25Gbps\"", 3),
    (
        "kind = \"fat_tree\"\npods = 2\ntors_per_pod = 2\naggs_per_pod = 2\ncores_per_agg = 2\nhosts_per_tor = 2\n\
         rate = \"100Gbps\"\ndelay = \"1us\"\nfabric_rate = \"400Gbps\"",
        7,
    ),
];

#[test]
fn the_ideal_completion_time_is_that_of_the_flow_alone() {
    for (topology, last) in TOPOLOGIES {
        for profile in PROFILES {
            for (mtu, layout) in [(1_000, "none"), (9_000, "none"), (1_000, "paper")] {
                let sections = format!(
                    "[topology]\n{topology}\n[wire]\nprofile = \"{profile}\"\n[transport]\nmtu = {mtu}\n[telemetry]\nlayout = \"{layout}\"\n\
                     [congestion_control]\nalgorithm = \"none\""
                );
                let (rows, _) = alone(&sections, last, &SIZES);
                assert_eq!(rows.len(), SIZES.len());
                for Row { size, fct, ideal } in rows {
                    assert_eq!(fct, ideal, "{size} bytes: {sections}");
                }
            }
        }
    }
}

/// Links of four rates: a packet waits behind the one before where it comes to a slower link.
#[test]
fn paths_of_many_rates_are_measured_to_the_nanosecond_too() {
    let rates = ["40Gbps", "100Gbps", "25Gbps", "400Gbps"];
    let nodes = [0, 2, 3, 4, 1];
    let mut links = String::new();
    for (pair, rate) in nodes.windows(2).zip(rates) {
        write!(links, "{{ a = {}, b = {}, rate = \"{rate}\" }}, ", pair[0], pair[1]).expect("memory");
    }
    let topology =
        format!("[topology]\nkind = \"links\"\nhosts = 2\nswitches = 3\ndelay = \"700ns\"\nlinks = [{links}]\n");
    for layout in ["paper", "draft", "int_md", "ifa", "ioam", "ioam_slim"] {
        for mtu in [1_000, 9_000] {
            let sections = format!(
                "{topology}[wire]\nprofile = \"rocev2_ipv6\"\n[transport]\nmtu = {mtu}\n[telemetry]\nlayout = \"{layout}\"\n\
                 [congestion_control]\nalgorithm = \"none\"\n"
            );
            for Row { size, fct, ideal } in alone(&sections, 1, &SIZES).0 {
                assert_eq!(fct, ideal, "{size} bytes, {layout}, packets of {mtu}");
            }
        }
    }
}

/// REQ-09, REQ-62: T is the time of a full packet and its acknowledgement, whatever comes back in what, or what was set.
#[test]
fn t_is_what_a_packet_alone_takes() {
    let star = "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\ndelay = \"2us\"\n[wire]\nprofile = \"rocev2_ipv6\"\n\
                [congestion_control]\nalgorithm = \"hpcc_plus\"\n";
    let ways = [
        "layout = \"paper\"",
        "layout = \"ioam\"",
        "layout = \"int_md\"\nreturn_path = \"notification\"",
        "layout = \"ifa\"\nseal = \"000102030405060708090a0b0c0d0e0f\"",
        "layout = \"draft\"\nsampling = \"rtt\"",
        // Nothing but notifications steers it then.
        "layout = \"draft\"\nsampling = \"none\"\n[fast_cnp]\nenabled = true",
    ];
    for way in ways {
        let (rows, summary) = alone(&format!("{star}[telemetry]\n{way}"), 1, &[1_000]);
        // T is rounded up once, a frame's time on each of the four links.
        let base_rtt = summary["base_rtt_ns"].as_u64().expect("T");
        assert!((base_rtt..base_rtt + 4).contains(&rows[0].fct), "{way}: {base_rtt}, {}", rows[0].fct);
        assert_eq!(rows[0].fct, rows[0].ideal, "{way}");
    }
    let (_, summary) = alone(&format!("{star}[transport]\nbase_rtt = \"5us\""), 1, &[1_000]);
    assert_eq!(summary["base_rtt_ns"].as_u64(), Some(5_000), "the drafts' 5 us");
}
