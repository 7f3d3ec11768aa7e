// SPDX-License-Identifier: GPL-2.0-only
//! What a file leads to after time 0 does not end the program: flows wait for their way, and share source ports.

use hpcc_model::results::{FctRecord, fct_csv};
use hpcc_tests::{Bench, Run};

/// Host 0 sends to host 1 over switch 2.
const PAIR: &str = r#"
[run]
stop = "5ms"
[topology]
kind = "star"
hosts = 2
rate = "100Gbps"
delay = "1us"
"#;

const FLOW: &str = r#"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1MB"
start = "500us"
"#;

const STAR: &str = "[run]\nstop = '20ms'\n[topology]\nkind = 'star'\nhosts = 4\nrate = '100Gbps'\ndelay = '1us'\n\
                            [congestion_control]\nalgorithm = 'dctcp'\n";

/// The flows of a run that ends well.
fn rows(bench: &Bench, set: &[&str]) -> Vec<FctRecord> {
    let output = bench.run("run.toml", set);
    assert_eq!(output.code, Some(0), "{set:?}: {}", output.err);
    fct_csv::read(&bench.path("out/fct.csv")).unwrap_or_else(|error| panic!("{error}"))
}

/// It was asked for at 500 us, and finishes so long after the link came up, at 1 ms, as it would have after 500 us.
#[test]
fn a_flow_that_is_cut_off_as_it_begins_waits_for_its_way() {
    let bench = Bench::new(&[("run.toml", &format!("{PAIR}{FLOW}"))]);
    for algorithm in ["hpcc", "dcqcn", "swift"] {
        for queue_pairs in ["per_flow", "per_pair"] {
            let common =
                [format!("congestion_control.algorithm={algorithm}"), format!("transport.queue_pairs={queue_pairs}")];
            let fct = |more: &[&str]| {
                let set: Vec<&str> = common.iter().map(String::as_str).chain(more.iter().copied()).collect();
                let rows = rows(&bench, &set);
                assert_eq!((rows.len(), rows[0].start_ns), (1, 500_000));
                rows[0].fct_ns
            };
            let alone = fct(&[]);
            for end in ["a=0", "a=1"] {
                let waited = fct(&[&format!("failures.links=[{{time='0us',{end},b=2,until='1ms'}}]")]) - 500_000;
                assert!(waited.abs_diff(alone) < 1_000, "{common:?} {end}: {waited} {alone}");
            }
        }
    }
}

#[test]
fn a_flow_that_waits_for_good_is_unfinished() {
    for queue_pairs in ["per_flow", "per_pair"] {
        let set = [format!("transport.queue_pairs={queue_pairs}"), "failures.links=[{time='0us',a=1,b=2}]".into()];
        let run = Run::ending(&format!("{PAIR}{FLOW}"), &[&set[0], &set[1]], 3);
        assert_eq!((run.count("/flows_finished"), run.count("/flows_total")), (0, 1));
    }
}

/// More flows of one pair at a time than there are UDP source ports from 10000 on: all of them are sent.
#[test]
fn flows_beyond_the_source_ports_share_them() {
    let traffic = "[[traffic]]\nkind = 'poisson'\nload = 1.0\nsizes = 'one.cdf'\nduration = '250us'\n";
    let bench = Bench::new(&[("run.toml", &format!("{PAIR}{traffic}")), ("one.cdf", "40 0\n41 100\n")]);
    let mut changes = Vec::new();
    for row in rows(&bench, &[]).iter().filter(|row| row.src == 0) {
        changes.extend([(row.start_ns, 1), (row.start_ns + row.fct_ns, -1)]);
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    assert!(most > 55_536, "{most} at a time");
}

/// Thresholds that no queue reaches leave DCTCP without a mark; with others each flow hears of some.
#[test]
fn flows_that_nothing_controls_are_counted() {
    let traffic = "[[traffic]]\nkind = 'incast'\nreceiver = 1\nsenders = [0, 2, 3]\nsize = '2MB'\n";
    let star = STAR.to_owned() + traffic;
    let bench = Bench::new(&[("run.toml", &star)]);
    let output = bench.run("run.toml", &["switch.ecn_kmin=20MB", "switch.ecn_kmax=30MB"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.err.contains(" never changed rate or window"), "{}", output.err);
    let output = bench.run("run.toml", &["switch.ecn_kmin=100KB", "switch.ecn_kmax=200KB", "run.seed=2"]);
    assert!(output.code == Some(0) && !output.err.contains("never changed"), "{}", output.err);
    // Three that share nothing but the port of their host may rightly hear of no congestion.
    let flow = |host: u32| format!("[[traffic]]\nkind = 'flow'\nsrc = 4\ndst = {host}\nsize = '2MB'\n");
    let more = star.replace("hosts = 4", "hosts = 8") + &flow(5) + &flow(6) + &flow(7);
    let bench = Bench::new(&[("run.toml", &more)]);
    let output = bench.run("run.toml", &["switch.ecn_kmin=100KB", "switch.ecn_kmax=200KB", "run.seed=2"]);
    let words = "3 flows, the first of them flow 3, never changed rate or window";
    assert!(output.err.contains(words) && output.err.contains("or waited at their own host"), "{}", output.err);
}
