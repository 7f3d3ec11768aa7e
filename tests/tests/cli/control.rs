// SPDX-License-Identifier: GPL-2.0-only
//! `control.csv`: what congestion control makes of flows over time.

use hpcc_tests::Run;

/// Two flows onto one link of 100 Gb/s, the second from 100 us on.
const SHARED: &str = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
    [congestion_control]\nalgorithm = \"hpcc_plus\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"3MB\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 2\nsize = \"2MB\"\nstart = \"100us\"\n\
    [monitor]\ncontrol_interval = \"10us\"\n";

/// Rows of `control.csv` of a flow, between two times in us: rate in Gb/s, window and bytes in flight in kB, U,
/// bottleneck and round-trip time in ns.
fn rows(run: &Run, flow: f64, from: f64, until: f64) -> Vec<[Option<f64>; 6]> {
    let columns = ["rate_bps", "window_bytes", "in_flight_bytes", "utilisation", "bottleneck", "rtt_ns"];
    let columns = columns.map(|name| run.column("control.csv", name));
    let (times, flows) = (run.column("control.csv", "time_ns"), run.column("control.csv", "flow"));
    let is_in = |row: &usize| {
        flows[*row] == Some(flow) && times[*row].is_some_and(|ns| (from..until).contains(&(ns / 1e3).floor()))
    };
    (0..times.len()).filter(is_in).map(|row| columns.each_ref().map(|column| column[row])).collect()
}

/// At line rate until another comes, then at half of 95 % each, where U is 0.95.
#[test]
fn rate_window_and_utilisation_are_recorded() {
    let run = Run::of(SHARED, &[]);
    let figure = run.bench.read("out/control.svg");
    assert!(["Rate (Gb/s)", "flow, 1", "U of the busiest link"].iter().all(|words| figure.contains(words)));
    assert_eq!(rows(&run, 0.0, 0.0, 100.0).len(), 9, "a row each 10 us");
    assert!(rows(&run, 1.0, 0.0, 100.0).is_empty(), "before its start");
    for row in rows(&run, 0.0, 40.0, 90.0) {
        assert!(row[0].is_some_and(|rate| (90e9..=100e9).contains(&rate)), "alone: {row:?}");
    }
    assert_eq!(rows(&run, 0.0, 250.0, 350.0).len(), 10);
    for row in [0.0, 1.0].iter().flat_map(|&flow| rows(&run, flow, 250.0, 350.0)) {
        let [Some(rate), Some(window), Some(in_flight), Some(u), ..] = row else { panic!("{row:?}") };
        assert!((40e9..=56e9).contains(&rate) && (0.85..=1.05).contains(&u), "shared: {row:?}");
        assert!(in_flight > 0.0 && in_flight <= window + 1_000.0, "{row:?}");
    }
}

/// Two flows meet at the second switch of a row, where the second one begins: its bottleneck is the first link behind a
/// switch, the other flow's the second. A packet waits there, and the round-trip time says so.
#[test]
fn the_bottleneck_and_the_round_trip_time_are_recorded() {
    let row =
        SHARED.replace("kind = \"star\"\nhosts = 3\n", "kind = \"parking_lot\"\nswitches = 3\nhosts_per_switch = 1\n");
    // In finer units the link behind the bottleneck, which carries the same, is the busier one at times.
    let run = Run::of(&row, &["telemetry.layout=reference", "congestion_control.eta=0.95"]);
    for (flow, place) in [(0.0, 1.0), (1.0, 0.0)] {
        let rows = rows(&run, flow, 120.0, 300.0);
        assert!(rows.len() == 18 && rows.iter().all(|row| row[4] == Some(place)), "flow {flow}: {rows:?}");
    }
    let rtt = |from, until| rows(&run, 0.0, from, until).into_iter().filter_map(|row| row[5]).collect::<Vec<_>>();
    // Eight links of 1 us, and an MTU at four of 100 Gb/s.
    assert!(rtt(20.0, 100.0).iter().all(|rtt| (8_300.0..8_800.0).contains(rtt)), "{:?}", rtt(20.0, 100.0));
    assert!(rtt(110.0, 120.0).iter().all(|rtt| *rtt > 9_300.0), "{:?}", rtt(110.0, 120.0));
}

#[test]
fn flows_can_be_chosen_and_algorithms_without_u_leave_it_out() {
    let run = Run::of(SHARED, &["monitor.control_flows=[1]", "congestion_control.algorithm=dcqcn"]);
    let rows = rows(&run, 1.0, 0.0, 1e6);
    assert_eq!(run.column("control.csv", "flow").len(), rows.len(), "of flow 1 alone");
    assert!(rows.len() > 10 && rows.iter().all(|row| row[1] == Some(0.0) && row[3].is_none()), "{rows:?}");
    assert!(!run.bench.read("out/control.svg").contains("U of the busiest link"));
}
