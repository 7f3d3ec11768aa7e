// SPDX-License-Identifier: GPL-2.0-only
//! Requests of jobs of inference, from a scenario: against closed forms of one request, of a queue, and of bytes.

use hpcc_formats::load;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::requests_csv::RequestRow;
use hpcc_model::results::{CsvRow, Rows};
use hpcc_simulate::{How, run};
use std::fs;
use tempfile::TempDir;

/// Of a packet of 1,000 bytes.
const OVERHEAD: f64 = 1.048;
const RULES: &str = "run.stop = \"100s\"\ntransport.mtu = 1000\ncongestion_control.algorithm = \"none\"\n";
/// Four layers that a GPU reads in 24 us each, and of which it computes a token in 24 ns.
const MODEL: &str = "kind = \"inference\", layers = 4, hidden = 1000, teraflops = 1000, memory_rate = 1000";

fn star(hosts: u32) -> String {
    format!("topology = {{ kind = \"star\", hosts = {hosts}, rate = \"100Gbps\", delay = \"1us\" }}\n")
}

/// A run of a scenario; `trace` lies beside it as `a.csv`.
fn ran(network: &str, keys: &str, trace: &str) -> TempDir {
    ran_by(network, keys, trace, 1)
}

/// The same by so many threads.
fn ran_by(network: &str, keys: &str, trace: &str, threads: u32) -> TempDir {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("a.csv"), trace).expect("written");
    let file = folder.path().join("a.toml");
    fs::write(&file, format!("{RULES}{network}traffic = [{{ {MODEL}, {keys} }}]\n")).expect("written");
    let scenario = load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    run(scenario, &folder.path().join("out"), How { is_quiet: true, is_watched: false, threads }).expect("a run");
    folder
}

fn rows<T: CsvRow>(folder: &TempDir) -> Vec<T> {
    let file = folder.path().join("out").join(T::FILE);
    Rows::open(&file).and_then(Iterator::collect).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// A step in which sequences together have so many tokens: parameters of 4 and 8 MB, 4,000 bytes of keys and values a token, at 1,000
/// bytes a nanosecond, in four layers.
fn step(tokens: u64) -> u64 {
    4 * (8_000 + 4 * tokens + 16_000)
}

/// The first token is there when the prompt has passed, further ones when keys and values have arrived, a step after the other.
#[test]
fn a_request_alone_takes_its_closed_form() {
    let row = rows::<RequestRow>(&ran(&star(2), "trace = \"a.csv\"", "0.001,2000,11\n"))[0];
    // 2,000 tokens of 8 and 16 million operations at a million a nanosecond, and 4,000 for each of 2,001,000 pairs.
    let prompt = 4 * (16_000 + 8_004 + 32_000);
    assert_eq!((row.arrival_ns, row.ttft_ns), (1_000_000, Some(prompt)));
    let steps: u64 = (2_001..2_011).map(step).sum();
    // 32,000 packets and one more hop, two links of 1 us.
    let transfer = (32_001.0 * 1_000.0 * OVERHEAD / 12.5 + 2_000.0) as u64;
    let end = row.end_ns.expect("an end");
    assert!(end.abs_diff(1_000_000 + prompt + transfer + steps) < 10, "{row:?}: {transfer} {steps}");
    assert_eq!(row.tpot_ns, Some((end - 1_000_000 - prompt) / 10));
    let job = rows::<JobRow>(&ran(&star(2), "trace = \"a.csv\"", "0.001,2000,11\n"))[0];
    assert_eq!((job.messages, job.bytes), (1, 4 * 2 * 1_000 * 2 * 2_000), "keys and values");
}

/// Prompts wait for those before them: to the nanosecond as Lindley says, and on average as in a queue M/D/1.
#[test]
fn prompts_wait_as_in_a_queue_with_one_server() {
    // 100 tokens are read in 24.4 us a layer, longer than they are computed.
    let service = 4 * (8_000 + 400 + 16_000);
    for load in [0.2, 0.5] {
        let rate = load * 1e9 / f64::from(service as u32);
        let keys = format!("requests = 20000, request_rate = {rate}, prompt = 100, output = 1, decode = 0");
        let rows = rows::<RequestRow>(&ran(&star(2), &format!("{keys}, ranks = [0]"), ""));
        let (mut free, mut waited) = (0, 0.0);
        for row in &rows {
            free = row.arrival_ns.max(free) + service;
            assert_eq!(row.end_ns, Some(free), "{row:?}");
            assert_eq!((row.ttft_ns, row.tpot_ns), (Some(free - row.arrival_ns), None));
            waited += (free - service - row.arrival_ns) as f64;
        }
        let expected = load * service as f64 / (2.0 * (1.0 - load));
        let mean = waited / rows.len() as f64;
        assert!((mean / expected - 1.0).abs() < 0.08, "load {load}: {mean} ns, expected {expected}");
    }
}

/// Two requests of one batch share steps; in batches of one the second waits for the end of the first.
#[test]
fn requests_of_a_batch_share_steps() {
    let ends = |batch: u32| {
        let rows = rows::<RequestRow>(&ran(
            &star(3),
            &format!("trace = \"a.csv\", prefill = 2, batch = {batch}"),
            "0,10,21\n0,10,21\n",
        ));
        [rows[0], rows[1]].map(|row| (row.end_ns.expect("an end"), row.ttft_ns.expect("a token")))
    };
    let alone: u64 = (11..31).map(step).sum();
    let shared: u64 = (11..31).map(|tokens| step(2 * tokens)).sum();
    let [(first, token), (second, _)] = ends(2);
    // Both transfers share the link of the replica that decodes: 160 packets each.
    let transfers = ((321.0 * 1_000.0 * OVERHEAD / 12.5) as u64) + 2_000;
    assert_eq!(first, second);
    assert!(
        (token + shared..token + transfers + shared + 100).contains(&first),
        "{first} {token} {shared} {transfers}"
    );
    let [(first, token), (second, _)] = ends(1);
    assert!((token + alone..token + transfers + alone + 100).contains(&first), "{first}");
    assert_eq!(second - first, alone);
}

/// Tensor- and expert-parallel ranks send what the formulas of the page say.
#[test]
fn bytes_of_a_replica_are_exact() {
    let bytes = |keys: &str, hosts: u32| {
        rows::<JobRow>(&ran(&star(hosts), &format!("trace = \"a.csv\", {keys}"), "0,100,3\n"))[0].bytes
    };
    // A ring of t ranks sends 2 (t - 1) times what it sums: 2,000 bytes a token, twice in each of 4 layers; 100 tokens, then 1 and 1.
    let kv = 4 * 4_000 * 100;
    assert_eq!(bytes("tensor = 4", 8), kv + 2 * 3 * 2_000 * 8 * 102);
    assert_eq!(bytes("tensor = 4, queries_per_key = 10, kv_bytes = 1", 8), kv / 20 + 2 * 3 * 2_000 * 8 * 102);
    // Each rank sends all that latent attention keeps.
    assert_eq!(bytes("tensor = 4, latent = 100", 8), 4 * kv / 20 + 2 * 3 * 2_000 * 8 * 102);
    // Of two groups each has half of the prompt's tokens, and a whole one in a step; half of what goes to two experts stays.
    assert_eq!(bytes("expert = 2, experts = 4", 4), kv + 2 * 8 * (2 * 2_000 * (50 + 1 + 1) / 2));
}

/// Requests of replicas at hosts of two threads are those of one.
#[test]
fn threads_change_no_time() {
    let network = "topology = { kind = \"leaf_spine\", leaves = 2, spines = 2, hosts_per_leaf = 4, rate = \"100Gbps\", delay = \"1us\" }\n";
    let file = |threads: u32| {
        let keys = "requests = 30, request_rate = 3000, prompt = 500, output = 5, tensor = 2, prefill = 2, decode = 2, jitter = 0.1";
        let folder = ran_by(network, keys, "", threads);
        fs::read_to_string(folder.path().join("out").join(RequestRow::FILE)).expect("a file")
    };
    assert!(file(1).lines().count() == 31 && file(1) == file(2));
}

/// What does not fit is refused with its reason.
#[test]
fn what_cannot_serve_is_refused() {
    let wrong = |keys: &str| {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("a.toml");
        fs::write(&file, format!("{RULES}{}traffic = [{{ {MODEL}, {keys} }}]\n", star(2))).expect("written");
        load(&file, &[]).map(drop).expect_err(keys).to_string()
    };
    let requests = "requests = 10, request_rate = 100, prompt = 10";
    for (keys, told) in [
        (format!("{requests}, output = 2, tensor = 2"), "2 replicas of 2 ranks are 4 GPUs, and there are 2"),
        (format!("{requests}, output = 2, decode = 0, ranks = [0]"), "no replica decodes"),
        (format!("{requests}, output = 1, decode = 0, experts = 3, expert = 2"), "no multiple of 2"),
        (format!("{requests}, output = 2, top_k = 2"), "more than the 1 experts"),
        (requests.to_owned(), "output is missing"),
        (format!("{requests}, trace = \"a.csv\""), "expected one of both"),
        ("requests = 100000, request_rate = 1, prompt = 10, output = 10000000".to_owned(), "answers have"),
        (
            "requests = 1000, request_rate = 1, prompt = 10, output = 100000, batch = 1".to_owned(),
            "passes; expected fewer",
        ),
    ] {
        let said = wrong(&keys);
        assert!(said.contains(told), "{keys}: {said}");
    }
}
