// SPDX-License-Identifier: GPL-2.0-only
//! What numbers say: totals of different files agree, no flow beats its ideal time, nothing arrives faster than links carry it,
//! and what is left out, noted or assumed stands beside them.

use hpcc_core::balance;
use hpcc_core::settings::Named;
use hpcc_core::transport::Entropy;
use hpcc_model::results::{fct_csv, goodput_csv, pauses_csv};
use hpcc_tests::{Bench, Run, ScenarioRng, seeds};
use serde_json::Value;
use std::collections::BTreeMap;

/// Paths of different rates and lengths, bundles, and hosts with several links.
fn topology(rng: &mut ScenarioRng) -> &'static str {
    rng.one_of(&[
        "kind = 'leaf_spine', leaves = 2, spines = 3, hosts_per_leaf = 3, fabric_rate = '40Gbps', bundle = 2",
        "kind = 'multi_plane', segments = 2, servers = 3, rails = 1, planes = 2, spines = 2, fabric_rate = '25Gbps'",
        "kind = 'links', hosts = 6, switches = 4, links = [
            { a = 0, b = 6 }, { a = 1, b = 6 }, { a = 2, b = 6 }, { a = 3, b = 7 }, { a = 4, b = 7 }, { a = 5, b = 7 },
            { a = 6, b = 8, rate = '25Gbps' }, { a = 6, b = 9, rate = '400Gbps', delay = '3us' },
            { a = 7, b = 8 }, { a = 7, b = 9, rate = '40Gbps' }]",
    ])
}

/// Something that lets a flow take several paths, or another one than a hash says.
fn spread(rng: &mut ScenarioRng) -> String {
    let schemes = balance::all();
    let names: Vec<&str> = schemes.iter().map(|scheme| scheme.name()).collect();
    let recovery = rng.one_of(&["selective_repeat", "sack", "go_back_n"]);
    match rng.below(4) {
        0 => "transport.kind = 'uec'\n".into(),
        1 => "transport.kind = 'paced'\ntransport.paced_rate = '400Gbps'\n".into(),
        2 => format!("transport.entropy = '{}'\ntransport.recovery = 'sack'\n", rng.one_of(&Entropy::NAMES[1..])),
        _ => format!("load_balancing.scheme = '{}'\ntransport.recovery = '{recovery}'\n", rng.one_of(&names)),
    }
}

#[test]
fn no_flow_beats_its_ideal_time_and_nothing_arrives_faster_than_links_carry_it() {
    for seed in seeds(24) {
        let mut rng = ScenarioRng::new(seed, 91);
        let failure = rng.one_of(&["", "failures.links = [{ time = '20us', until = '60us', a = 6, b = 8 }]\n"]);
        let (network, spread) = (topology(&mut rng), spread(&mut rng));
        let failure = if network.contains("'links'") { failure } else { "" };
        // Other transports have a control of their own.
        let control =
            if rng.chance(50) && !spread.contains("kind") { "congestion_control.algorithm = 'dcqcn'\n" } else { "" };
        let size = 1 + rng.below(60_000);
        let text = format!(
            "run = {{ seed = {seed}, stop = '20ms' }}\ntopology = {{ {network}, rate = '100Gbps', delay = '500ns' }}\n\
             monitor = {{ goodput_interval = '5us', pauses = true }}\n{control}{spread}{failure}\
             traffic = [{{ kind = 'permutation', size = {size} }}, {{ kind = 'incast', receiver = 5, sender_count = 3, \
             size = 150001, start = '10us' }}]\n"
        );
        let bench = Bench::new(&[("run.toml", &text)]);
        let told = bench.run("run.toml", &[]);
        assert!([Some(0), Some(3)].contains(&told.code), "{text}{}", told.err);
        for flow in fct_csv::read(&bench.path("out/fct.csv")).expect("flows") {
            assert!(flow.fct_ns >= flow.ideal_ns && flow.ideal_ns > 0, "{text}{flow:?}");
        }
        let mut arrived: BTreeMap<u32, u64> = BTreeMap::new();
        for row in goodput_csv::rows(&bench.path("out/goodput.csv")).expect("goodput") {
            let row = row.expect("a row");
            *arrived.entry(row.flow).or_default() += row.bytes;
            // A packet that began before the interval counts in it whole.
            let most = 100_000_000_000 * if network.contains("planes") { 2 } else { 1 };
            assert!(row.bytes <= 4_200 || row.goodput_bps <= most + most / 50, "{text}{row:?}");
        }
        let pauses = pauses_csv::read(&bench.path("out/pauses.csv")).expect("pauses").len() as u64;
        let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        assert!(Some(pauses) >= summary["pfc_pauses"].as_u64(), "{text}: {pauses} rows");
        for flow in fct_csv::read(&bench.path("out/fct.csv")).expect("flows") {
            assert_eq!(arrived.get(&flow.flow), Some(&flow.size), "{text}{flow:?}");
        }
    }
}

/// Every pause has a row, whoever sends it.
#[test]
fn pauses_of_hosts_have_rows_as_well() {
    let toml = "run.stop = '200us'\ntopology = { kind = 'star', hosts = 4, rate = '100Gbps', delay = '1us' }\nmonitor.pauses = true\n\
                failures.storms = [{ host = 1, time = '10us', until = '50us' }]\n\
                traffic = [{ kind = 'flow', src = 0, dst = 1, size = 100000 }]\n";
    let run = Run::of(toml, &[]);
    let rows = pauses_csv::read(&run.bench.path("out/pauses.csv")).expect("rows");
    assert_eq!(rows.len() as u64, run.count("/pfc_pauses"));
    assert!(rows.iter().any(|row| row.node == 1), "{rows:?}");
}

#[test]
fn what_is_left_out_assumed_or_noted_is_said() {
    let toml = "run.stop = '100us'\ntopology = { kind = 'star', hosts = 4, rate = '100Gbps', delay = '1us' }\n\
                congestion_control.algorithm = 'none'\nswitch.buffer = '1MB'\n\
                traffic = [{ kind = 'flow', src = 0, dst = 1, size = 5000 }, { kind = 'flow', src = 2, dst = 1, size = 9000000 }]\n";
    let bench = Bench::new(&[("run.toml", toml)]);
    let told = bench.run("run.toml", &[]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    let all = told.out.lines().find(|line| line.starts_with(" all ")).unwrap_or_else(|| panic!("{}", told.out));
    assert!(all.contains("1 of 2") && told.out.contains("leaves 3 out"), "{}", told.out);
    let summary: Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let keys: Vec<&str> =
        summary["assumed"].as_array().expect("a list").iter().filter_map(|one| one["key"].as_str()).collect();
    assert!(keys.contains(&"transport.recovery") && keys.contains(&"load_balancing.scheme"), "{keys:?}");
    for given in ["switch.buffer", "congestion_control.algorithm", "switch.ecn_kmin"] {
        assert!(!keys.contains(&given), "{given}: given, or read by nobody");
    }
    let explained = bench.hpcc(&["explain", "--assumed", "run.toml", "--set", "transport.recovery=sack"]);
    assert!(
        explained.out.contains("transport.mtu") && !explained.out.contains("transport.recovery "),
        "{}",
        explained.out
    );
    assert!(bench.read("out/report.html").contains("\"assumed\":[["), "on the page as well");
    let ends = Run::of(toml, &["traffic.1.size=5000", "run.stop=1s"]);
    assert!((2_000..20_000).contains(&ends.count("/busy_until_ns")), "{:#}", ends.summary);
}
