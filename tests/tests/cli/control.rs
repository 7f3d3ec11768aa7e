// SPDX-License-Identifier: GPL-2.0-only
//! `control.csv`: what congestion control makes of flows over time.

use hpcc_tests::Bench;

/// Two flows onto one link of 100 Gb/s, the second from 100 us on.
const SHARED: &str = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
    [congestion_control]\nalgorithm = \"hpcc_plus\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"3MB\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 2\nsize = \"2MB\"\nstart = \"100us\"\n\
    [monitor]\ncontrol_interval = \"10us\"\n";

/// Time in us, flow, rate in Gb/s, window and bytes in flight in kB, U.
type Row = (u64, u32, f64, f64, f64, Option<f64>);

fn rows(overrides: &[&str]) -> Vec<Row> {
    let bench = Bench::new(&[("shared.toml", SHARED)]);
    let told = bench.run("shared.toml", overrides);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let figure = bench.read("out/control.svg");
    assert!(figure.contains("Rate (Gb/s)") && figure.contains("flow, 1"), "no such figure");
    assert_eq!(figure.contains("U of the busiest link"), overrides.is_empty(), "U where there is one");
    let table = bench.read("out/control.csv");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
        let utilisation = (!fields[5].is_empty()).then(|| number(5));
        let (time, flow) = (number(0) as u64 / 1_000, number(1) as u32);
        (time, flow, number(2) / 1e9, number(3) / 1e3, number(4) / 1e3, utilisation)
    };
    table.lines().skip(1).map(row).collect()
}

/// At line rate until another comes, then at half of 95 % each, where U is 0.95.
#[test]
fn rate_window_and_utilisation_are_recorded() {
    let rows = rows(&[]);
    let of = |flow: u32, from: u64, until: u64| {
        rows.iter().filter(move |row| row.1 == flow && (from..until).contains(&row.0)).collect::<Vec<_>>()
    };
    assert_eq!(of(0, 0, 100).len(), 9, "a row each 10 us");
    assert!(of(1, 0, 100).is_empty(), "before its start");
    for row in of(0, 40, 90) {
        assert!((90.0..=100.0).contains(&row.2), "alone: {row:?}");
    }
    let shared = of(0, 250, 350);
    assert_eq!(shared.len(), 10);
    for row in shared.iter().chain(&of(1, 250, 350)) {
        let &&(_, _, rate, window, in_flight, utilisation) = row;
        assert!((40.0..=56.0).contains(&rate), "shared: {row:?}");
        assert!(utilisation.is_some_and(|u| (0.85..=1.05).contains(&u)), "{row:?}");
        assert!(in_flight > 0.0 && in_flight <= window + 1.0, "{row:?}");
    }
}

/// Two flows meet at the second switch of a row, where the second one begins: its bottleneck is the first link behind a switch,
/// that of the other one the second. A packet waits there, and the round-trip time says so.
#[test]
fn the_bottleneck_and_the_round_trip_time_are_recorded() {
    let row =
        SHARED.replace("kind = \"star\"\nhosts = 3\n", "kind = \"parking_lot\"\nswitches = 3\nhosts_per_switch = 1\n");
    let bench = Bench::new(&[("row.toml", &row)]);
    // In finer units the link behind the bottleneck, which carries the same, is the busier one at times.
    let told = bench.run("row.toml", &["telemetry.layout=reference", "congestion_control.eta=0.95"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let table = bench.read("out/control.csv");
    let of = |flow: &str, from: u64, until: u64| {
        let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let wanted = move |row: &Vec<&str>| {
            row[1] == flow && (from..until).contains(&(row[0].parse::<u64>().expect("a time") / 1_000))
        };
        rows.filter(wanted).map(|row| (row[6].to_owned(), row[7].parse::<u64>().expect("ns"))).collect::<Vec<_>>()
    };
    for (flow, place) in [("0", "1"), ("1", "0")] {
        let rows = of(flow, 120, 300);
        assert_eq!(rows.len(), 18);
        assert!(rows.iter().all(|(bottleneck, _)| bottleneck == place), "flow {flow}: {rows:?}");
    }
    // Eight links of 1 us, and an MTU at four of 100 Gb/s.
    let alone = of("0", 20, 100);
    assert!(alone.iter().all(|(_, rtt)| (8_300..8_800).contains(rtt)), "{alone:?}");
    let waits = of("0", 110, 120);
    assert!(waits.iter().all(|(_, rtt)| *rtt > 9_300), "{waits:?}");
}

#[test]
fn flows_can_be_chosen_and_algorithms_without_u_leave_it_out() {
    let rows = rows(&["monitor.control_flows=[1]", "congestion_control.algorithm=dcqcn"]);
    assert!(rows.len() > 10 && rows.iter().all(|row| row.1 == 1 && row.3 == 0.0 && row.5.is_none()), "{rows:?}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    for (overrides, message) in [
        (&["monitor.control_flows=[0, 2]"][..], "control_flows names flow 2, but there are 2"),
        (&["transport.protocol=tcp"], "control_interval"),
    ] {
        let bench = Bench::new(&[("shared.toml", SHARED)]);
        let told = bench.run("shared.toml", overrides);
        assert_eq!(told.code, Some(2), "{overrides:?}: {}", told.err);
        assert!(told.err.contains(message), "{overrides:?}: {}", told.err);
    }
    let bench = Bench::new(&[("shared.toml", &SHARED.replace("control_interval = \"10us\"", "control_flows = [0]"))]);
    let told = bench.run("shared.toml", &[]);
    assert!(told.err.contains("expected control_interval as well"), "{}", told.err);
}
