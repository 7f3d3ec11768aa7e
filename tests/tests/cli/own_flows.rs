// SPDX-License-Identifier: GPL-2.0-only
//! Flows with a link, a rate or an end of their own, from a file to the results.

use hpcc_tests::{Bench, Run};

/// Two hosts with a link to each of four switches.
const TOML: &str = r#"
run.stop = "2ms"
congestion_control.algorithm = "dcqcn"
topology = { kind = "links", hosts = 2, switches = 4, rate = "200Gbps", delay = "300ns", links = [
    { a = 0, b = 2 }, { a = 0, b = 3 }, { a = 0, b = 4 }, { a = 0, b = 5 },
    { a = 1, b = 2 }, { a = 1, b = 3 }, { a = 1, b = 4 }, { a = 1, b = 5 },
] }
traffic = [
    { kind = "flow", src = 0, dst = 1, size = "6MB", nic = 0 },
    { kind = "flow", src = 0, dst = 1, size = "6MB", nic = 1 },
    { kind = "flow", src = 0, dst = 1, size = "6MB", nic = 2 },
    { kind = "flow", src = 0, dst = 1, size = "6MB", nic = 3 },
]
"#;

#[test]
fn a_flow_for_each_link_takes_the_time_of_one() {
    let run = Run::of(TOML, &[]);
    assert!(run.slowdowns().iter().all(|slowdown| *slowdown < 1.01), "{:?}", run.slowdowns());
    assert!(run.durations().iter().all(|time| (252_000..253_000).contains(time)), "{:?}", run.durations());
    let slow = Run::of(TOML, &["traffic.0.rate=50Gbps"]);
    assert!(slow.slowdowns()[0] < 1.01 && slow.durations()[0] > 1_000_000, "its ideal time is by its own rate");
}

#[test]
fn background_has_no_end_and_the_run_does_not_wait_for_it() {
    let run = Run::of(TOML, &["traffic.3.size=endless", "traffic.2.stop=100us"]);
    assert_eq!((run.count("/flows_total"), run.count("/flows_finished"), run.count("/flows_endless")), (3, 3, 1));
    assert!(run.acked().is_empty(), "it is not unfinished");
    let (size, acked) = (run.column("endless.csv", "size_bytes"), run.column("endless.csv", "acked_bytes"));
    // 2 ms at 200 Gb/s are 50 MB of frames.
    assert!(size == acked && (46e6..49e6).contains(&acked[0].expect("bytes")), "{acked:?}");
    let stopped = run.flows()[2].size;
    assert!((2_300_000..2_500_000).contains(&stopped), "{stopped} bytes in 100 us");

    let late = Run::ending(TOML, &["traffic.3.size=endless", "traffic.3.stop=99us", "run.stop=100us"], 3);
    assert_eq!(late.acked().len(), 4, "one that was to stop is unfinished");
    assert!(late.column("unfinished.csv", "size_bytes").iter().all(|size| size.expect("bytes") <= 6e6));

    let bench = Bench::new(&[("run.toml", TOML)]);
    let told = bench.hpcc(&["run", "run.toml", "--out", "out", "--set", "traffic.3.size=endless"]);
    assert!(told.out.contains("3 of 3 finished, 1 without end") && told.code == Some(0), "{}{}", told.out, told.err);
}
