// SPDX-License-Identifier: GPL-2.0-only
//! What the 2019 simulator did with such files, to the nanosecond, and what a run says of them.

use hpcc_tests::{Bench, REFERENCE};

/// Two hosts, a link of 400 Gb/s between them, and a flow of HPCC.
const PAIR: &str = "ENABLE_QCN 1 PACKET_PAYLOAD_SIZE 1000 TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt CC_MODE 3 RATE_AI 50Mb/s \
                    L2_CHUNK_SIZE 4000 L2_ACK_INTERVAL 1 MI_THRESH 0 INT_MULTI 4 MULTI_RATE 0 QLEN_MON_START 0 QLEN_MON_END 0 \
                    MIN_RATE 100Mb/s ENABLE_TRACE 0\n";

/// The pair, whose link has this delay; a flow of so many bytes.
fn pair(delay: &str, size: u64, more: &str) -> Bench {
    Bench::new(&[
        ("config.txt", &format!("{PAIR}{more}\n")),
        ("topology.txt", &format!("2 0 1\n\n0 1 400Gbps {delay} 0\n")),
        ("flow.txt", &format!("1\n0 1 3 100 {size} 2.0\n")),
    ])
}

#[track_caller]
fn run(bench: &Bench, code: i32, set: &[&str]) -> String {
    let set = set.iter().flat_map(|set| ["--set", set]);
    let words = ["run", "config.txt", "--simulator", "core", "--out", "o", "--force"];
    let output = bench.hpcc(&words.into_iter().chain(set).collect::<Vec<_>>());
    assert_eq!(output.code, Some(code), "{}", output.err);
    output.err
}

/// 46.2 ms times 400 Gb/s are more than 2^64: a window of 4 MB is left of 2.3 GB.
#[test]
fn a_window_wraps_with_its_product() {
    let bench = pair("23.1ms", 50_000_000, "SIMULATOR_STOP_TIME 4");
    run(&bench, 0, &[]);
    assert_eq!(bench.read("o/fct.txt"), "0b000001 0b000101 10000 100 50000000 2000000000 600602449 47248020\n");
    run(&bench, 0, &["compatibility.wrapping_window=false"]);
    assert!(bench.read("o/fct.txt").contains(" 47250001 "), "{}", bench.read("o/fct.txt"));
}

/// Without its link a flow stands still for ever. Samples of that are not worth a row each; what there is adds up to the end.
#[test]
fn a_stuck_flow_is_not_sampled_to_the_end_of_time() {
    let bench = pair("1us", 60_000_000, "LINK_DOWN 100 0 1 SIMULATOR_STOP_TIME 100");
    run(&bench, 3, &[]);
    let rows: Vec<String> = bench.read("o/goodput.csv").lines().skip(1).map(str::to_owned).collect();
    assert!((1_000..3_000).contains(&rows.len()), "{} rows", rows.len());
    let field = |row: &String, place| row.split(',').nth(place).and_then(|word| word.parse().ok()).unwrap_or(0_u64);
    assert_eq!(rows.last().map(|row| field(row, 0)), Some(100_000_000_000));
    let acked = bench.read("o/unfinished.csv").lines().nth(1).and_then(|row| row.split(',').nth(8)?.parse().ok());
    let arrived: u64 = rows.iter().map(|row| field(row, 3)).sum();
    // Acknowledgements of the last packets went down with the link.
    assert!(acked.is_some_and(|acked: u64| acked <= arrived && arrived - acked < 100_000), "{acked:?} of {arrived}");
}

#[test]
fn what_a_comment_sets_is_told() {
    let bench = Bench::new(REFERENCE);
    let plain = |bench: &Bench| {
        run(bench, 0, &[]);
        bench.read("o/fct.txt")
    };
    let before = plain(&bench);
    bench.write("config.txt", &(bench.read("config.txt") + "\n# U_TARGET 0.5 was tried\n"));
    assert!(run(&bench, 0, &[]).contains("U_TARGET in a comment counts all the same"));
    assert_ne!(plain(&bench), before);
    run(&bench, 0, &["compatibility.comments_set_keys=false"]);
    assert_eq!(bench.read("o/fct.txt"), before);
}

/// A key of TOML changes what it says and nothing else, whatever the 2019 simulator accepts.
#[test]
fn a_series_more_changes_no_flow() {
    let bench = Bench::new(REFERENCE);
    let config = bench.read("config.txt");
    for more in
        ["CC_MODE 1\nENABLE_QCN 0\nRP_TIMER 0\n", "RATE_BOUND 0\nVAR_WIN 0\n", "HAS_WIN 0\nRATE_BOUND 0\nCC_MODE 7\n"]
    {
        bench.write("config.txt", &format!("{config}\n{more}"));
        run(&bench, 0, &[]);
        let plain = ["fct", "pfc", "qlen"].map(|name| bench.read(&format!("o/{name}.txt")));
        run(&bench, 0, &["monitor.queue_interval=2us"]);
        assert_eq!(["fct", "pfc", "qlen"].map(|name| bench.read(&format!("o/{name}.txt"))), plain, "{more}");
    }
}
