// SPDX-License-Identifier: GPL-2.0-only
//! Records of paths that look alike: a lone flow gets its link whatever balances its packets, or the file is warned of.

use hpcc_core::balance;
use hpcc_core::random::GlibcRand;
use hpcc_core::settings::Named;
use hpcc_core::telemetry::Layout;
use hpcc_core::transport::Entropy;
use hpcc_tests::{Bench, Run};

/// Networks whose hosts have several equally long paths between them, and two hosts far from each other.
const NETWORKS: [(&str, u32, u32); 9] = [
    ("kind = 'leaf_spine', leaves = 2, hosts_per_leaf = 2, spines = 1, bundle = 2", 0, 2),
    ("kind = 'leaf_spine', leaves = 3, hosts_per_leaf = 1, spines = 3, bundle = 3", 0, 2),
    ("kind = 'k_ary_fat_tree', k = 4", 0, 15),
    ("kind = 'k_ary_fat_tree', k = 6", 0, 53),
    ("kind = 'multi_plane', segments = 2, servers = 2, planes = 2, spines = 2", 0, 3),
    ("kind = 'torus', x = 2, y = 2, z = 2", 0, 7),
    ("kind = 'torus', x = 4, y = 4", 0, 10),
    ("kind = 'dragonfly', hosts_per_switch = 1, switches_per_group = 4, global_links = 2, groups = 3", 0, 9),
    // Two diamonds one behind the other.
    (
        "kind = 'links', hosts = 2, switches = 7, links = [{ a = 0, b = 2 }, { a = 1, b = 8 }, { a = 2, b = 3 }, { a = 2, b = 4 },
          { a = 3, b = 5 }, { a = 4, b = 5 }, { a = 5, b = 6 }, { a = 5, b = 7 }, { a = 6, b = 8 }, { a = 7, b = 8 }]",
        0,
        1,
    ),
];
const ALGORITHMS: [&str; 4] = ["hpcc", "hpcc_plus", "rx_hpcc", "power_tcp"];
/// What a warning says.
const WARNED: &str = "A flow then compares those of different links";

fn scenario((topology, src, dst): (&str, u32, u32)) -> String {
    format!(
        "run = {{ stop = '20ms' }}\ntopology = {{ {topology}, rate = '100Gbps', delay = '1us' }}\n\
         traffic = [{{ kind = 'flow', src = {src}, dst = {dst}, size = '4MB' }}]\n\
         transport = {{ recovery = 'selective_repeat', reorder_window = 64 }}\n"
    )
}

/// All balancers and entropies, as settings.
fn spreads() -> Vec<String> {
    let schemes = balance::all().into_iter().map(|scheme| format!("load_balancing.scheme={}", scheme.name()));
    schemes.chain(Entropy::NAMES[1..].iter().map(|name| format!("transport.entropy={name}"))).collect()
}

#[test]
fn a_lone_flow_gets_its_link_or_the_file_is_warned_of() {
    let (spreads, layouts) = (spreads(), Layout::with_records().collect::<Vec<_>>());
    let mut random = GlibcRand::new(3);
    let mut below = |end: usize| random.draw() as usize / 8 % end;
    let (mut warned, mut fast) = (0, 0);
    for round in 0..60 {
        let network = NETWORKS[round % NETWORKS.len()];
        let (spread, algorithm) = (&spreads[below(spreads.len())], ALGORITHMS[below(ALGORITHMS.len())]);
        let layout = layouts.get(below(layouts.len() + 3)).map_or("auto", |layout| layout.name());
        let set = [
            spread.clone(),
            format!("congestion_control.algorithm={algorithm}"),
            format!("telemetry.layout={layout}"),
            "wire.profile=rocev2_ipv6".into(),
        ];
        let bench = Bench::new(&[("a.toml", &scenario(network))]);
        let output = bench.run("a.toml", &set.each_ref().map(String::as_str));
        if output.err.contains(WARNED) {
            assert_ne!(layout, "auto", "{network:?} {set:?}: {}", output.err);
            warned += 1;
            continue;
        }
        if output.code == Some(2) {
            continue;
        }
        assert_eq!(output.code, Some(0), "{network:?} {set:?}: {}", output.err);
        let flows = hpcc_model::results::fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
        // `eta`, and the first round trips of a short flow, take a tenth.
        assert!(flows[0].slowdown() < 1.15, "{network:?} {set:?}: {}", flows[0].slowdown());
        fast += 1;
    }
    assert!(warned > 5 && fast > 30, "{warned} {fast}");
}

#[test]
fn a_bundle_is_told_by_another_layout_and_named_where_it_is_not() {
    let toml = scenario(NETWORKS[0]);
    let spread = "load_balancing.scheme=random";
    let run = Run::of(&toml, &[spread]);
    assert!(run.slowest() < 400_000, "{} ns", run.slowest());
    let told = |set: &[&str]| {
        let bench = Bench::new(&[("a.toml", &toml)]);
        bench.run("a.toml", set).err
    };
    let two = "from host 2 to host 0 by one or another of the parallel links from switch 6 to switch 4";
    let note = told(&[spread]);
    assert!(
        note.contains("telemetry.layout is \"int_md\": records of \"paper\" do not tell apart") && note.contains(two),
        "{note}"
    );
    for layout in ["paper", "draft", "reference"] {
        let warned = told(&[spread, &format!("telemetry.layout={layout}")]);
        assert!(warned.contains(two) && warned.contains("expected layout = int_md or ifa"), "{layout}: {warned}");
    }
    for quiet in [&[][..], &["load_balancing.scheme=random", "congestion_control.algorithm=dcqcn"]] {
        assert!(!told(quiet).contains("tell apart"), "{quiet:?}");
    }
    // One of the links fails, and the flow goes on by the other.
    let failed = told(&["failures.links=[{time='50us',a=4,b=6,link=0}]", "telemetry.layout=paper"]);
    assert!(failed.contains("links fail") && failed.contains(two), "{failed}");
}
