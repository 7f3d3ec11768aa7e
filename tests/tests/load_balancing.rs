// SPDX-License-Identifier: GPL-2.0-only
//! Each scheme of load balancing gives the same results in ns-3 and without it, with one thread and two.

use hpcc_core::balance;
use hpcc_core::settings::Named;
use hpcc_core::transport::Entropy;
use hpcc_tests::Bench;

/// An incast into one of three racks, whose way there is narrow from one of the spines: queues and pauses tell schemes where to
/// send, and packets overtake each other.
const SCENARIO: &str = "
run = { seed = 7, stop = '10ms' }
switch = { buffer = '400KB' }
topology = { kind = 'links', hosts = 9, switches = 7, rate = '100Gbps', delay = '1us', links = [
    { a = 0, b = 9 }, { a = 1, b = 9 }, { a = 2, b = 9 },
    { a = 3, b = 10 }, { a = 4, b = 10 }, { a = 5, b = 10 },
    { a = 6, b = 11 }, { a = 7, b = 11 }, { a = 8, b = 11 },
    { a = 9, b = 12 }, { a = 9, b = 13 }, { a = 9, b = 14 }, { a = 9, b = 15 },
    { a = 10, b = 12 }, { a = 10, b = 13 }, { a = 10, b = 14 }, { a = 10, b = 15 },
    { a = 11, b = 12, rate = '25Gbps' }, { a = 11, b = 13 }, { a = 11, b = 14 }, { a = 11, b = 15 },
] }
failures.links = [{ time = '60us', a = 9, b = 14, until = '120us' }]
traffic = [
    { kind = 'permutation', size = 200000 },
    { kind = 'incast', receiver = 8, sender_count = 6, size = 100000, start = '20us' },
]
";

#[test]
fn both_simulators_balance_alike() {
    let bench = Bench::new(&[("scenario.toml", SCENARIO)]);
    let mut results = Vec::new();
    let schemes = balance::all().into_iter().map(|scheme| format!("load_balancing.scheme={}", scheme.name()));
    let parameters = ["ecmp_seed=none", "ecmp_weighted=true"].map(|set| format!("load_balancing.{set}"));
    let entropies = Entropy::NAMES[1..].iter().map(|name| format!("transport.entropy={name}"));
    for set in schemes.chain(parameters).chain(entropies) {
        let set = [set, "transport.recovery=selective_repeat".into(), "switch.ecn_kmin=20KB".into()];
        let output = bench.simulate("scenario.toml", &set, "60");
        assert_eq!(output.code, Some(0), "{set:?}: {}", output.err);
        bench.core_agrees("scenario.toml", &set, "60").unwrap_or_else(|why| panic!("{set:?}: {why}"));
        let pauses = bench.read("out/pfc.txt").lines().count();
        assert!(pauses > 10, "{set:?}: {pauses} pauses");
        let flows = bench.read("out/fct.csv");
        assert!(!results.contains(&flows), "{set:?} is as another one");
        results.push(flows);
    }
}
