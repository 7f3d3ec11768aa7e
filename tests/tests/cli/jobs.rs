// SPDX-License-Identifier: GPL-2.0-only
//! Jobs, from a file to the table of nccl-tests.

use hpcc_model::results::collectives_csv::{self, CollectiveRow};
use hpcc_model::results::{fct_csv, jobs_csv, timeline_csv};
use hpcc_tests::{Bench, has_mpi};
use std::fs;

/// Two racks of four hosts, without congestion control: times can be reckoned.
const TOML: &str = r#"
run.stop = "50ms"
congestion_control.algorithm = "none"
topology = { kind = "leaf_spine", leaves = 2, spines = 4, hosts_per_leaf = 4, rate = "100Gbps", delay = "1us" }
traffic = [{ kind = "collective", name = "job", operation = "all_reduce", size = "4MB" }]
"#;

fn run(bench: &Bench, set: &[&str]) -> Vec<CollectiveRow> {
    let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
    let told = bench.hpcc(&[&["run", "job.toml", "--out", "out", "--force", "--quiet"], &set[..]].concat());
    assert_eq!(told.code, Some(0), "{set:?}: {}", told.err);
    collectives_csv::read(&bench.path("out/collectives.csv")).expect("collectives")
}

/// With 2 ranks on one switch and data in one direction all is known: frames leave one behind the other.
#[test]
fn a_message_ends_at_its_receiver_when_its_last_byte_arrives() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let pair = ["traffic.0.ranks=[0, 1]", "traffic.0.operation=broadcast", "traffic.0.iterations=2"];
    let rows = run(&bench, &[&pair[..], &["traffic.0.chunk=1GB"]].concat());
    let summary = fs::read_to_string(bench.path("out/fct.csv")).expect("flows");
    let ideal: u64 = summary.lines().nth(1).and_then(|line| line.split(',').nth(9)?.parse().ok()).expect("a time");
    // 4,000 packets of 1,048 bytes at 100 Gb/s, each for 83.84 ns; the last one takes two links of 1 us.
    let arrival = (4_001_u64 * 8_384).div_ceil(100) + 2_000;
    let (first, second) = (&rows[0], &rows[1]);
    assert_eq!(first.time_ns, ideal, "the sender's end is the acknowledgement");
    // The acknowledgement has 60 bytes or so, and the same way.
    assert!((arrival + 2_000..arrival + 2_030).contains(&ideal), "{ideal}, {arrival}");
    assert_eq!(second.start_ns, arrival, "the receiver begins its second iteration before the sender does");
}

/// Each algorithm moves as many bytes as its name promises, and is as fast as links allow, but not faster.
#[test]
fn collectives_take_what_their_bytes_take() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let size = 4_000_000.0;
    for (operation, algorithm, bytes, slack) in [
        ("all_reduce", "ring", 14.0 / 8.0, 1.2),
        ("all_gather", "ring", 7.0 / 8.0, 1.2),
        ("reduce_scatter", "ring", 7.0 / 8.0, 1.2),
        ("all_to_all", "direct", 7.0 / 8.0, 1.5),
        ("all_reduce", "halving_doubling", 14.0 / 8.0, 3.0),
        ("send_receive", "ring", 1.0, 1.2),
    ] {
        let rows =
            run(&bench, &[&format!("traffic.0.operation={operation}"), &format!("traffic.0.algorithm={algorithm}")]);
        let least = size * bytes * 1_048.0 / 1_000.0 * 0.08;
        let time = rows[0].time_ns as f64;
        assert!(
            time > least && time < least * slack + 30_000.0,
            "{operation} {algorithm}: {time} ns, at least {least}"
        );
        assert!((rows[0].algbw - size / time).abs() < 1e-3, "{rows:?}");
        let jobs = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs");
        assert_eq!((jobs[0].bytes as f64, jobs[0].finished), (size * bytes * 8.0, 8), "{operation}");
    }
}

/// A job beside a long flow of the same two hosts, or beside a job, shares the link with it, and does not stand behind it.
#[test]
fn jobs_have_queue_pairs_of_their_own() {
    let one = "kind = 'collective', name = 'job', operation = 'all_reduce', ranks = '0-3', size = '4MB'";
    let time = |beside: &str| {
        let toml = format!(
            "run.stop = '50ms'\ntopology = {{ kind = 'star', hosts = 4, rate = '100Gbps', delay = '1us' }}\n\
             traffic = [{{ {one} }}{beside}]\n"
        );
        run(&Bench::new(&[("job.toml", &toml)]), &[])[0].time_ns as f64
    };
    let alone = time("");
    for beside in [
        ", { kind = 'flow', src = 0, dst = 1, size = '50MB' }",
        ", { kind = 'collective', operation = 'send_receive', ranks = [0, 1], size = '50MB' }",
    ] {
        let both = time(beside);
        assert!((1.5..2.5).contains(&(both / alone)), "{beside}: {both} ns, {alone} alone");
    }
}

/// A message of an exchange of experts does not wait for a bucket of gradients between the same two ranks.
#[test]
fn groups_of_a_job_have_queue_pairs_of_their_own() {
    let toml = "run.stop = \"1s\"
topology = { kind = \"star\", hosts = 2, rate = \"100Gbps\", delay = \"1us\" }
[[traffic]]
kind = \"transformer\"
layers = 4
hidden = 2048
sequence = 256
experts = 2
expert = 2
teraflops = 400
buckets = 4
";
    let bench = Bench::new(&[("job.toml", toml)]);
    let rows = run(&bench, &[]);
    let exchanges = || rows.iter().filter(|row| row.operation == "all_to_all").map(|row| row.time_ns);
    let (shortest, longest) = (exchanges().min().expect("one"), exchanges().max().expect("one"));
    assert!(rows.iter().any(|row| row.operation == "all_reduce") && longest < 4 * shortest, "{shortest}, {longest}");
}

/// Messages one way that nobody disturbs take exactly the job's ideal time, whatever its pieces are, and others no less.
#[test]
fn nothing_is_faster_than_ideal() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let both = |set: &[&str]| {
        run(&bench, set);
        let jobs = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs");
        (jobs[0].time_ns.expect("an end"), jobs[0].ideal_ns.expect("known"))
    };
    for chunk in ["traffic.0.chunk=3kB", "traffic.0.chunk=100kB"] {
        let alone = ["traffic.0.operation=broadcast", "traffic.0.ranks=[0, 4]", "traffic.0.depth=64", chunk];
        let (time, ideal) = both(&alone);
        assert_eq!(time, ideal, "{chunk}");
        let (time, ideal) = both(&[chunk]);
        assert!((1.0..1.1).contains(&(time as f64 / ideal as f64)), "{chunk}: {time}, {ideal}");
    }
    for size in ["8kB", "800kB"] {
        let (time, ideal) = both(&["traffic.0.operation=all_to_all", &format!("traffic.0.size={size}")]);
        assert!(time >= ideal, "{size}: {time}, {ideal}");
    }
}

/// With new queue pairs for all messages, with losses, by two threads, and by two processes.
#[test]
fn jobs_end_whatever_is_beside_them() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    for set in [
        ["transport.queue_pairs=per_flow", "traffic.0.iterations=4"],
        ["topology.loss=0.001", "transport.timeout=100us"],
        ["traffic.0.channels=3", "traffic.0.chunk=100kB"],
        ["traffic.0.send_latency=5us", "traffic.0.gap=10us"],
    ] {
        let rows = run(&bench, &[&set[..], &["congestion_control.algorithm=hpcc"]].concat());
        assert!(rows.iter().all(|row| row.busbw > 1.0), "{set:?}: {rows:?}");
    }
    // A host's link fails while more queue pairs than a port asks one by one are on it.
    let fails = "failures.links=[{ time = \"5us\", a = 0, b = 16, until = \"20us\" }]";
    let many = ["topology.hosts_per_leaf=8", "traffic.0.operation=all_to_all", "traffic.0.size=160kB"];
    run(&bench, &[&many[..], &[fails, "transport.timeout=100us", "congestion_control.algorithm=hpcc"]].concat());
    let timeline = "monitor.timeline=true";
    run(&bench, &[timeline]);
    for sharing in ["threads"].into_iter().chain(has_mpi().then_some("ranks")) {
        let option = format!("--{sharing}=2");
        let two = bench.hpcc(&["run", "job.toml", &option, "--set", timeline, "--out", sharing, "--quiet"]);
        assert_eq!(two.code, Some(0), "{}", two.err);
        for file in ["fct.csv", "collectives.csv", "jobs.csv", "timeline.csv"] {
            let of = |out: &str| fs::read(bench.path(out).join(file)).ok();
            assert_eq!(of(sharing), of("out"), "{sharing}: {file}");
        }
    }
}

#[test]
fn a_job_that_does_not_end_says_who_waits_for_whom() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let told = bench.hpcc(&["run", "job.toml", "--set", "run.stop=100us", "--out", "short"]);
    assert_eq!(told.code, Some(3), "{}", told.err);
    assert!(
        told.err.contains("8 of 8 ranks are not over: rank 0 (host 0) waits for a message of a collective from rank 7"),
        "{}",
        told.err
    );
}

const GOAL: &str = "num_ranks 2
rank 0 {
a: calc 5000
b: send 4000b to 1 tag 7
b requires a
c: recv 1000b from 1 tag 8
c requires b
}
rank 1 {
x: recv 4000b from 0 tag 7
y: calc 2500
y requires x
z: send 1000b to 0 tag 8
z requires y
}
";

/// The same in binary form: operations are type, peer, size, tag, and how many require the end of each, from where in the list.
fn goal_in_binary() -> Vec<u8> {
    type Entry = (u8, u32, u64, u32, u32, u32);
    let rank = |operations: [Entry; 3]| {
        let mut bytes: Vec<u8> = [3_u32, 1, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
        for (what, peer, size, tag, count, first) in operations {
            bytes.extend([&[0; 4][..], &[what], &peer.to_le_bytes(), &size.to_le_bytes(), &tag.to_le_bytes()].concat());
            bytes.extend([&[0; 2][..], &count.to_le_bytes(), &first.to_le_bytes(), &[0; 8]].concat());
        }
        bytes.extend([1_u32, 2].iter().flat_map(|number| number.to_le_bytes()));
        bytes
    };
    let ranks = [
        rank([(3, 0, 5000, 0, 1, 0), (1, 1, 4000, 7, 1, 1), (2, 1, 1000, 8, 0, 0)]),
        rank([(2, 0, 4000, 7, 1, 0), (3, 0, 2500, 0, 1, 1), (1, 0, 1000, 8, 0, 0)]),
    ];
    let mut bytes = [&4223_u64.to_le_bytes()[..], &2_u32.to_le_bytes(), &[0, 0]].concat();
    let middle = 38 + ranks[0].len() as u64;
    for offset in [38, middle, middle, middle + ranks[1].len() as u64] {
        bytes.extend(offset.to_le_bytes());
    }
    bytes.extend(ranks.concat());
    bytes
}

/// The time of a job in a file, which keys name, and how many messages it has.
fn of_file(bench: &Bench, kind: &str, keys: &str) -> (u64, u64) {
    let traffic = format!("traffic=[{{ kind = \"{kind}\", {keys} }}]");
    let told = bench.hpcc(&["run", "job.toml", "--out", "out", "--force", "--quiet", "--set", &traffic]);
    assert_eq!(told.code, Some(0), "{kind}: {}", told.err);
    let jobs = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs");
    (jobs[0].time_ns.expect("a time"), jobs[0].messages)
}

/// On the way of a message of so many packets of 1,000 bytes between hosts of a rack.
fn arrival(packets: u64) -> u64 {
    (packets + 1) * 84 + 2_000
}

/// Text and binary form of GOAL, whose times are known: both ranks compute, and a message goes there and one back.
#[test]
fn goal_runs_as_text_and_in_binary() {
    let bench = Bench::new(&[("job.toml", TOML), ("a.goal", GOAL)]);
    fs::write(bench.path("b.goal"), goal_in_binary()).expect("written");
    let (time, messages) = of_file(&bench, "goal", "path = 'a.goal'");
    let flows = fs::read(bench.path("out/fct.csv")).expect("flows");
    let computed = 5_000 + arrival(4) + 2_500;
    // The last rank to end is the one that sends the answer: it waits for the acknowledgement.
    let acknowledged = computed + arrival(1) + 2_000;
    assert!((acknowledged..acknowledged + 30).contains(&time), "{time}, {acknowledged}");
    assert_eq!(messages, 2);
    assert_eq!(of_file(&bench, "goal", "path = 'b.goal'"), (time, messages));
    assert_eq!(fs::read(bench.path("out/fct.csv")).expect("flows"), flows);
    // Two overheads of each message are on the way, and the receiver's of the last one beside its acknowledgement.
    let (with_costs, _) = of_file(&bench, "goal", "path = 'a.goal', o = '700ns'");
    assert_eq!(with_costs, time + 3 * 700);
}

/// What each rank did, and what of it a job's figures are: rank 0 computes, sends and waits; rank 1 waits, computes and answers.
#[test]
fn a_timeline_tells_what_ranks_did_and_in_which_order() {
    let bench = Bench::new(&[("job.toml", TOML), ("a.goal", GOAL)]);
    let traffic = "traffic=[{ kind = 'goal', path = 'a.goal' }]";
    let told =
        bench.hpcc(&["run", "job.toml", "--out", "out", "--quiet", "--set", "monitor.timeline=true", "--set", traffic]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let (there, back) = (5_000 + arrival(4), 5_000 + arrival(4) + 2_500 + arrival(1));
    let rows = timeline_csv::read(&bench.path("out/timeline.csv")).expect("rows");
    let found: Vec<_> = rows.iter().map(|row| (row.rank, row.what.as_str(), row.begin_ns, row.cause)).collect();
    let acknowledged = rows[1].end_ns;
    assert!((there + 2_000..there + 2_030).contains(&acknowledged), "{rows:?}");
    let expected = [
        (0, "compute", 0, None),
        (0, "send", 5_000, Some(0)),
        (0, "receive", acknowledged, Some(1)),
        (1, "receive", 0, None),
        (1, "compute", there, Some(0)),
        (1, "send", there + 2_500, Some(1)),
    ];
    assert_eq!(found, expected);
    assert_eq!((rows[2].end_ns, rows[3].end_ns, rows[1].message), (back, there, rows[3].message));
    let job = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs")[0];
    let time = job.time_ns.expect("a time");
    // Nothing is in the way of anything. Both ranks compute, for 7,500 ns, and are over when the answer is there, or known to be.
    assert_eq!((job.ideal_ns, job.slowest, job.spread_ns), (Some(time), 1, time - back));
    assert_eq!((job.compute_ns, job.exposed_ns), (3_750, (time + back - 7_500) / 2));
    let told = bench.hpcc(&["report", "out", "--perfetto"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let trace: serde_json::Value = serde_json::from_str(&bench.read("out/timeline.json")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of_phase = |phase: &str| -> Vec<_> {
        let events = events.iter().filter(|event| event["ph"] == phase);
        events.map(|event| (event["pid"].as_u64(), event["ts"].as_f64())).collect()
    };
    let micros = |ns: u64| Some(ns as f64 / 1e3);
    assert_eq!(of_phase("s"), [(Some(1), micros(5_000)), (Some(2), micros(there + 2_500))]);
    assert_eq!(of_phase("f"), [(Some(1), micros(back)), (Some(2), micros(there))]);
    assert_eq!(of_phase("X").len(), 6);
    let without = bench.hpcc(&["run", "job.toml", "--out", "other", "--quiet"]);
    assert_eq!(without.code, Some(0), "{}", without.err);
    let told = bench.hpcc(&["report", "other", "--perfetto"]);
    assert!(told.code == Some(2) && told.err.contains("monitor.timeline=true"), "{}", told.err);
}

/// A ring disturbs nobody, but acknowledgements take some 5 % of its links; an all-to-all by one spine waits there.
#[test]
fn time_that_congestion_costs_is_told() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    let lost = |set: &[&str]| {
        run(&bench, set);
        let job = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs")[0];
        let (time, ideal) = (job.time_ns.expect("a time"), job.ideal_ns.expect("a time"));
        (time as f64 - ideal as f64) / time as f64
    };
    let ring = lost(&["topology.spines=8"]);
    let one_spine = lost(&["topology.spines=1", "traffic.0.operation=all_to_all"]);
    assert!((0.0..0.06).contains(&ring), "{ring}");
    assert!(one_spine > 0.5, "{one_spine}");
}

const CHAIN: &str = "Nodes 8\nConnections 2\nTriggers 1\n0->1 id 1 start 3000000 size 4000 send_done_trigger 1\n\
        0->2 id 2 trigger 1 size 1000\ntrigger id 1 oneshot\n";

/// A trigger starts the next connection when the one before is acknowledged.
#[test]
fn connections_follow_each_other_by_triggers() {
    let bench = Bench::new(&[("job.toml", TOML), ("a.cm", CHAIN)]);
    let (time, messages) = of_file(&bench, "connection_matrix", "path = 'a.cm'");
    let expected = 3_000 + arrival(4) + 2_000 + arrival(1) + 2_000;
    assert!((expected..expected + 60).contains(&time), "{time}, {expected}");
    assert_eq!(messages, 2);
}

/// An all-to-all whose receivers are not alike, and one by a file; flags of a protocol; servers whose messages change rails inside.
#[test]
fn exchanges_may_be_uneven_and_take_other_rails() {
    let matrix = "0 100000 0 0\n0 0 100000 0\n0,0,0,50000\n300000 0 0 0\n";
    let rails = r#"
run.stop = "50ms"
congestion_control.algorithm = "none"
topology = { kind = "rails", servers = 2, rails = 2, spines = 1, rate = "100Gbps", delay = "1us" }
servers = { gpus = 2, rate = "1Tbps", latency = "1us" }
traffic = [{ kind = "collective", name = "job", operation = "all_to_all", size = "400kB" }]
"#;
    let bench = Bench::new(&[("job.toml", TOML), ("rails.toml", rails), ("m.txt", matrix)]);
    let flows = |file: &str, set: &[&str]| {
        let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
        let told = bench.hpcc(&[&["run", file, "--out", "out", "--force", "--quiet"], &set[..]].concat());
        assert_eq!(told.code, Some(0), "{set:?}: {}", told.err);
        let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
        let mut flows: Vec<(u32, u32, u64)> = flows.iter().map(|flow| (flow.src, flow.dst, flow.size)).collect();
        flows.sort_unstable();
        flows
    };
    let four = ["traffic.0.ranks=0-3", "traffic.0.operation=all_to_all"];
    let by_file = flows("job.toml", &[&four[..], &["traffic.0.matrix=m.txt", "traffic.0.size=300kB"]].concat());
    assert_eq!(by_file, [(0, 1, 100_000), (1, 2, 100_000), (2, 3, 50_000), (3, 0, 300_000)]);
    // The first of four gets 12/25 of all.
    let skewed = flows("job.toml", &[&four[..], &["traffic.0.skew=1", "traffic.0.size=250kB"]].concat());
    let to_first: Vec<u64> = skewed.iter().filter(|flow| flow.1 == 0).map(|flow| flow.2).collect();
    assert!(to_first.len() == 3 && to_first.iter().all(|size| size.abs_diff(120_000) < 2), "{skewed:?}");
    let pair = ["traffic.0.ranks=0-1", "traffic.0.operation=broadcast", "traffic.0.protocol=ll"];
    // By default in messages of 512 KiB: eight of 500 kB, each with as many flags.
    assert_eq!(flows("job.toml", &pair), [(0, 1, 1_000_000); 8]);
    assert_eq!(flows("job.toml", &[&pair[..], &["traffic.0.chunk=1GB"]].concat()), [(0, 1, 8_000_000)]);
    // Rank 0 of server 0 and rank 3 of server 1 are on different rails.
    let direct = flows("rails.toml", &["servers.pxn=false"]);
    // On rails nobody has to ask for PXN.
    let by_rail = flows("rails.toml", &[]);
    assert_eq!(by_rail, flows("rails.toml", &["servers.pxn=true"]));
    let around_one = ["topology={ kind = 'star', hosts = 4, rate = '100Gbps', delay = '1us' }"];
    assert!(flows("rails.toml", &around_one).contains(&(0, 3, 100_000)), "one switch for all");
    assert!(direct.contains(&(0, 3, 100_000)) && !by_rail.iter().any(|flow| flow.0 % 2 != flow.1 % 2), "{by_rail:?}");
    assert_eq!(by_rail.iter().filter(|flow| **flow == (1, 3, 100_000)).count(), 2, "{by_rail:?}");
    let ends = |set: &[&str]| {
        flows("rails.toml", set);
        collectives_csv::read(&bench.path("out/collectives.csv")).expect("rows")[0].algorithm.clone()
    };
    let auto = ["traffic.0.algorithm=auto", "traffic.0.operation=all_reduce", "topology.servers=8"];
    assert_eq!(ends(&[&auto[..], &["traffic.0.size=64"]].concat()), "tree");
    assert_eq!(ends(&[&auto[..], &["traffic.0.size=64MB"]].concat()), "ring", "NVLS needs three GPUs of a server");
    for (set, words) in [
        (
            ["traffic.0.matrix=m.txt", "traffic.0.operation=all_to_all"],
            "m.txt:1: there are 4 numbers; expected one for each of 8",
        ),
        (["traffic.0.skew=1", "traffic.0.ranks=0-3"], "all_reduce has no skew; expected all_to_all"),
    ] {
        let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
        let told = bench.hpcc(&[&["run", "job.toml", "--out", "none"], &set[..]].concat());
        assert!(told.code == Some(2) && told.err.contains(words), "{set:?}: {}", told.err);
    }
}

/// On quiet rails as many channels as NICs have the bandwidth of all NICs, whatever the order and the number of ranks: with one
/// NIC they would take four times as long.
#[test]
fn all_nics_of_servers_share_a_collective() {
    let toml = r#"
run.stop = "50ms"
congestion_control.algorithm = "none"
transport.mtu = 4096
switch.buffer = "256MB"
topology = { kind = "rails", servers = 4, rails = 4, spines = 4, rate = "400Gbps", delay = "1us" }
servers = { gpus = 4, rate = "3600Gbps", latency = "1us" }
traffic = [{ kind = "collective", operation = "all_reduce", size = "32MB", channels = 4, chunk = "256kB" }]
"#;
    let bench = Bench::new(&[("job.toml", toml)]);
    let (bytes, nic) = (32e6, 50.0);
    // Bytes that the busiest NIC sends in proportion to all, over the number of NICs that there are.
    for (set, nics, times) in [
        (&["traffic.0.algorithm=ring"][..], 4.0, 30.0 / 16.0),
        (&["traffic.0.placement=random"], 4.0, 30.0 / 16.0),
        (&["traffic.0.ranks=0,4,8,12,1,5,9,13,2,6,10,14,3,7,11,15"], 4.0, 30.0 / 16.0),
        (&["traffic.0.ranks=0-11"], 4.0, 22.0 / 12.0),
        (&["traffic.0.ranks=0-5"], 2.0, 10.0 / 6.0),
        (&["traffic.0.algorithm=tree"], 4.0, 2.0),
        (&["traffic.0.algorithm=tree", "traffic.0.placement=random"], 4.0, 2.0),
        (&["traffic.0.operation=broadcast", "traffic.0.chunk=64kB"], 4.0, 1.0),
        (&["traffic.0.operation=reduce", "traffic.0.chunk=64kB"], 4.0, 1.0),
        (&["traffic.0.operation=all_gather"], 4.0, 15.0 / 16.0),
    ] {
        let rows = run(&bench, set);
        let (time, least) = (rows[0].time_ns as f64, bytes * times / nics / nic);
        assert!(time > least && time < 1.5 * least, "{set:?}: {time} ns, at least {least}");
    }
}

/// Two servers of 8 GPUs with a NIC each, of whose collectives nobody says more than what they are.
const SERVERS: &str = r#"
run.stop = "1s"
congestion_control.algorithm = "none"
transport.mtu = 8192
topology = { kind = "rails", servers = 2, rails = 8, spines = 8, rate = "400Gbps", delay = "1us" }
servers = { gpus = 8, rate = "3600Gbps", latency = "1us" }
traffic = [{ kind = "collective", operation = "all_reduce", size = "64MB" }]
"#;

/// Nobody has to know NCCL's ways to get them: all NICs, and pieces that follow each other.
#[test]
fn defaults_have_the_bandwidth_of_all_nics() {
    let bench = Bench::new(&[("job.toml", SERVERS)]);
    let row = |set: &[&str]| run(&bench, set)[0].clone();
    let ways = |row: &CollectiveRow| (row.algorithm.clone(), row.protocol.clone(), row.channels);
    let lost = || {
        let job = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs")[0];
        1.0 - job.ideal_ns.expect("known") as f64 / job.time_ns.expect("an end") as f64
    };
    let ring = row(&[]);
    assert_eq!(ways(&ring), ("ring".into(), "simple".into(), 8));
    // Eight NICs of 50 GB/s; one is lost time, which is told.
    assert!((370.0..400.0).contains(&ring.busbw) && lost() < 0.02, "{ring:?}");
    let one = row(&["traffic.0.channels=1"]);
    assert!((46.0..50.0).contains(&one.busbw) && (0.86..0.89).contains(&lost()), "{one:?}");
    // 8 MB for each NIC: 160 us. Whole, a channel of the broadcast waits for 15 ranks, and a tree for the way up.
    for (set, most) in [("traffic.0.operation=broadcast", 1.8), ("traffic.0.algorithm=tree", 1.8)] {
        let (piped, whole) = (row(&[set]), row(&[set, "traffic.0.chunk=1GB"]));
        assert!((160_000.0..160_000.0 * most).contains(&(piped.time_ns as f64)), "{piped:?}");
        assert!(piped.time_ns * 5 < whole.time_ns * 4 && piped.channels == 8, "{piped:?}, {whole:?}");
    }
    // The smallest server decides.
    let small = row(&["traffic.0.ranks=0-9"]);
    assert!(small.channels == 2 && (92.0..100.0).contains(&small.busbw), "{small:?}");
    let ll = row(&["traffic.0.protocol=ll"]);
    assert!(ll.protocol == "ll" && (185.0..200.0).contains(&ll.busbw), "{ll:?}");
}

/// Where there is nothing to divide, defaults change nothing.
#[test]
fn defaults_leave_exchanges_and_single_servers_alone() {
    let bench = Bench::new(&[("job.toml", SERVERS)]);
    let time = |set: &[&str]| run(&bench, set)[0].time_ns;
    let exchange = ["traffic.0.operation=all_to_all", "servers.pxn=false"];
    let plain = ["traffic.0.channels=1", "traffic.0.chunk=1GB"];
    assert_eq!(time(&exchange), time(&[exchange, plain].concat()));
    let rows = run(&bench, &["traffic.0.ranks=0-7"]);
    assert!(rows[0].channels == 1 && (440.0..450.0).contains(&rows[0].busbw), "NVLink: {rows:?}");
    assert_eq!(rows[0].time_ns, time(&["traffic.0.ranks=0-7", "traffic.0.channels=1"]));
}

/// What nobody has said and decides how fast a collective is stands in a note, with the keys that say it.
#[test]
fn chosen_ways_are_told() {
    let bench = Bench::new(&[("job.toml", SERVERS)]);
    let told = |set: &[&str]| {
        let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
        bench.hpcc(&[&["run", "job.toml", "--out", "out", "--force"], &set[..]].concat())
    };
    let first = told(&[]);
    assert!(first.err.contains("channels = 8 (the NICs of the smallest server), chunk such that"), "{}", first.err);
    assert!(first.err.contains("servers.pxn = true") && !first.err.contains("gpu"), "{}", first.err);
    let header = first.out.lines().find(|line| line.contains("busbw")).expect("a table");
    assert!(header.contains("protocol") && header.contains("channels"), "{header}");
    let auto = told(&["traffic.0.algorithm=auto", "traffic.0.cpu=amd"]);
    assert!(auto.err.contains("gpu = hopper") && !auto.err.contains("cpu"), "{}", auto.err);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    let assumed = summary["assumed"].as_array().expect("a list");
    assert!(assumed.iter().any(|one| one["key"] == "traffic.gpu" && one["value"] == "hopper"), "{assumed:?}");
    let all = told(&["traffic.0.channels=8", "traffic.0.chunk=4MB", "servers.pxn=false"]);
    assert!(!all.err.contains("collectives"), "{}", all.err);
}

/// The collectives of files are in as many channels, and one of them costs a job of files as much.
#[test]
fn layers_use_all_nics_by_default() {
    let layers = "HYBRID_TRANSFORMER model_parallel_NPU_group: 16 ep: 1 pp: 1 all_gpus: 16\n1\n\
        a -1 5000 ALLREDUCE 64000000 0 NONE 0 0 NONE 0 0\n";
    let toml = SERVERS.replace(
        "kind = \"collective\", operation = \"all_reduce\", size = \"64MB\"",
        "kind = \"simai\", path = \"layers.txt\"",
    );
    let bench = Bench::new(&[("job.toml", &toml), ("layers.txt", layers)]);
    let lost = |set: &[&str]| {
        let channels = run(&bench, set)[0].channels;
        let job = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs")[0];
        (channels, 1.0 - job.ideal_ns.expect("known") as f64 / job.time_ns.expect("an end") as f64)
    };
    let (all, one) = (lost(&[]), lost(&["traffic.0.channels=1"]));
    assert!(all.0 == 8 && all.1 < 0.02 && one.0 == 1 && one.1 > 0.85, "{all:?}, {one:?}");
}

/// Without a scenario, on a network of a file or around one switch.
#[test]
fn a_job_alone_runs_and_is_described() {
    let tree = "Nodes 8\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 500\n\
        Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500\n";
    let bench = Bench::new(&[("a.cm", CHAIN), ("a.topo", tree)]);
    let told = bench.hpcc(&["run", "a.cm", "--topology", "a.topo", "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(!told.err.contains("around one switch"), "{}", told.err);
    let jobs = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs");
    let ideal = |line: &str| line.split(',').nth(9).and_then(|time| time.parse::<u64>().ok()).expect("a time");
    let flows = fs::read_to_string(bench.path("out/fct.csv")).expect("flows");
    let times: Vec<u64> = flows.lines().skip(1).map(ideal).collect();
    assert_eq!((times.len(), jobs[0].time_ns), (2, Some(3_000 + times.iter().sum::<u64>())));
    // The second connection leaves its rack.
    assert!(times[1] > 4 * 500 + 4 * 500, "{times:?}");
    let described = bench.hpcc(&["workload", "a.cm"]);
    // 400 Gb/s and 1 us, and a start at 3 us.
    let words: Vec<&str> = described.out.lines().nth(2).unwrap_or_default().split_whitespace().collect();
    assert_eq!(words, ["connection_matrix", "8", "2", "5.00", "kB", "2", "5.100", "us"], "{}", described.out);
    assert!(bench.hpcc(&["run", "a.cm", "--out", "other"]).err.contains("around one switch"));
}

/// A collective of a trace, or of a layer, is the collective of a section.
#[test]
fn collectives_of_files_are_those_of_sections() {
    let node = r#"{"workload_graph": [{"Id": 0, "NodeType": 4, "runtime": 5},
        {"Id": 1, "NodeType": 7, "data_deps": [0], "comm_type": 0, "comm_size": 400000}]}"#;
    let layers = "HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ep: 1 pp: 1 all_gpus: 4\n1\n\
        a -1 5000 ALLREDUCE 400000 0 NONE 0 0 NONE 0 0\n";
    let names = ["a.0.json", "a.1.json", "a.2.json", "a.3.json"];
    let bench =
        Bench::new(&[&[("job.toml", TOML), ("layers.txt", layers)], &names.map(|name| (name, node))[..]].concat());
    let rows = run(&bench, &["traffic.0.ranks=0-3", "traffic.0.size=400000"]);
    let known = rows[0].time_ns;
    for (kind, keys) in [("chakra", "path = 'a'"), ("simai", "path = 'layers.txt'")] {
        let (time, messages) = of_file(&bench, kind, keys);
        let rows = collectives_csv::read(&bench.path("out/collectives.csv")).expect("collectives");
        assert_eq!((rows[0].start_ns, rows[0].time_ns, messages), (5_000, known, 24), "{kind}");
        assert!((5_000 + known..5_000 + known + 10).contains(&time), "{kind}: {time}");
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let bench = Bench::new(&[("job.toml", TOML)]);
    for (set, words) in [
        (
            &["traffic.0.algorithm=butterfly"][..],
            "expected auto, fastest, or one of ring, tree, nvls, nvls_tree, halving_doubling",
        ),
        (&["traffic.0.ranks=0-6", "traffic.0.algorithm=halving_doubling"], "it needs 2, 4, 8, 16 ... ranks"),
        (&["traffic.0.ranks=5"], "there are 1 ranks; expected at least 2"),
        (&["traffic.0.ranks=0-8"], "host"),
        (&["traffic.0.operation=barrier"], "a barrier has no size"),
        (&["traffic.0.chunk=1"], "are too many"),
        (&["traffic.0.chunk=0"], "expected"),
        (&["traffic.0.channels=0"], "expected"),
        (&["traffic.0.channels=257"], "expected"),
        (&["traffic.0.channels=all"], "expected"),
        (&["traffic.0.gpu=volta"], "expected"),
        (&["servers={ gpus = 4, rate = '1Tbps', latency = '1us', pxn = 'perhaps' }"], "expected"),
        (&["transport.protocol=tcp"], "messages of jobs go by RDMA"),
    ] {
        let set: Vec<&str> = set.iter().flat_map(|pair| ["--set", pair]).collect();
        let told = bench.hpcc(&[&["run", "job.toml", "--out", "none"], &set[..]].concat());
        assert!(told.code == Some(2) && told.err.contains(words), "{set:?}: {}", told.err);
        assert!(!bench.path("none").exists());
    }
}

/// A model whose network is so fast that only its computations take time, and the same on a slow one.
#[test]
fn a_transformer_takes_its_computations_and_what_the_network_adds() {
    let text = r#"
run.stop = "10s"
topology = { kind = "rails", servers = 2, rails = 2, spines = 1, rate = "400Gbps", delay = "100ns" }
servers = { gpus = 2, rate = "10Tbps", latency = "100ns" }
traffic = [{ kind = "transformer", name = "job", layers = 4, hidden = 512, sequence = 256, micro_batches = 2, tensor = 2, pipeline = 2, teraflops = 0.1 }]
"#;
    let bench = Bench::new(&[("job.toml", text)]);
    let time = |set: &[&str]| {
        run(&bench, set);
        let jobs = jobs_csv::read(&bench.path("out/jobs.csv")).expect("jobs");
        jobs[0].time_ns.expect("it ends") as f64
    };
    // Two stages of two layers: forward takes a third of a micro-batch's time; a bubble of one micro-batch is in front and behind.
    let layer = (24 * 256 * 512 * 512 + 4 * 256 * 256 * 512) as f64 / 2.0 / 100.0;
    let compute = 3.0 * 3.0 * 2.0 * layer;
    let fast = time(&[]);
    assert!(fast > compute && fast < compute * 1.05, "{fast} {compute}");
    let slow = time(&["traffic.0.teraflops=1000", "topology.rate=10Gbps"]);
    // Two stages, each sending 4 micro-batches of 256 kB/2 forward and back, can hide none of it.
    assert!(slow > 2.0 * 128.0 * 1024.0 * 0.8 && slow < fast, "{slow}");
}

/// A scenario of a known model, and what cannot be divided.
#[test]
fn a_language_model_becomes_a_scenario() {
    let bench = Bench::new(&[]);
    let llm = |more: &[&str]| bench.hpcc(&[&["generate", "llm", "--gpus", "16", "--tp", "8"], more].concat());
    let told = llm(&["--model", "mixtral-8x7b", "--pp", "1", "--dp", "2", "--ep", "2", "--out", "llm.toml"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let described = bench.hpcc(&["workload", "llm.toml"]);
    let words: Vec<&str> = described.out.lines().nth(2).unwrap_or_default().split_whitespace().collect();
    assert_eq!(words[..2], ["mixtral-8x7b", "16"], "{}{}", described.out, described.err);
    let text = bench.read("llm.toml");
    for line in ["queries_per_key = 4", "feed_forward = 21504", "experts = 8", "top_k = 2", "expert = 2"] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(!text.contains("channels"), "as many as NICs, unless --channels says otherwise: {text}");
    // Each copy has all experts, unless they are divided; four NICs of eight have rings.
    for (more, line) in [
        (&["--model", "mixtral-8x7b"][..], "experts = 8"),
        (&["--model", "llama-405b", "--pp", "2", "--channels", "4"], "channels = 4"),
        (&["--model", "llama-7b", "--congestion-control", "hpcc"], "algorithm = \"hpcc\""),
    ] {
        let told = llm(more);
        assert!(told.code == Some(0) && told.out.contains(line), "{more:?}: {}{}", told.out, told.err);
    }
    // What Megatron does: fp32, buckets of 40 million parameters, sequences in parts with experts; and as many spines as ports to servers.
    for line in
        ["gradient_bytes = 4", "bucket_parameters = 40000000", "sequence_parallel = true", "spines = 2", "pxn = true"]
    {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    // Pods, where a leaf has too few ports; half as many spines as asked; more parameters a bucket for more copies.
    let told = bench.hpcc(&[
        "generate",
        "llm",
        "--model",
        "llama-7b",
        "--gpus",
        "1024",
        "--micro-batches",
        "1",
        "--oversubscription",
        "2",
    ]);
    for line in
        ["segments = 2", "servers = 64", "spines = 32", "bucket_parameters = 1024000000", "algorithm = \"dcqcn\""]
    {
        assert!(told.out.lines().any(|other| other == line), "{line}: {}{}", told.out, told.err);
    }
    // More operations than fit: the option says how many would, of which one more does not.
    let large = |batches: &str| {
        bench.hpcc(&[
            "generate",
            "llm",
            "--model",
            "llama-7b",
            "--gpus",
            "100000",
            "--tp",
            "8",
            "--micro-batches",
            batches,
        ])
    };
    let told = large("8");
    assert!(told.code == Some(2) && told.err.contains("--micro-batches 8: there would be "), "{}", told.err);
    // What cannot be divided, as a run refuses it.
    let expert = "the 2 data-parallel ranks are no multiple of 3; expected one";
    let told = bench.hpcc(&["run", "llm.toml", "--simulator", "core", "--set", "traffic.0.expert=3", "--out", "none"]);
    assert!(told.code == Some(2) && told.err.contains(expert), "{}", told.err);
    for (more, words) in [
        (&["--model", "llama-7b", "--pp", "3"][..], "16 ranks are no multiple of tensor times pipeline, 24"),
        (&["--model", "llama-7b", "--dp", "4"], "leave 2 copies"),
        (&["--model", "llama-7b", "--ep", "2"], "the 1 experts are no multiple of 2; expected one"),
        (&["--model", "mixtral-8x7b", "--ep", "3"], expert),
    ] {
        let told = llm(more);
        assert!(told.code == Some(2) && told.err.contains(words), "{more:?}: {}", told.err);
    }
}

/// The figure of a sweep has the times of its jobs.
#[test]
fn a_sweep_draws_its_jobs_by_the_axis() {
    let sweep = "title = \"T\"\nbase = \"job.toml\"\n[[variant]]\nname = \"a\"\n[report]\ncolumns = [\"job_time_ns\"]\n\
                 plots = [\"job-by-axis\"]\n[[axis]]\nname = \"size\"\nvalues = [\"1MB\", \"4MB\"]\nset = \"traffic.0.size={}\"\n";
    let bench = Bench::new(&[("job.toml", TOML), ("sweep.toml", sweep)]);
    let told = bench.hpcc(&["sweep", "sweep.toml", "--simulator", "core", "--out", "out", "--quiet"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let data = bench.read("out/job-by-axis.plot.csv");
    for size in ["1MB", "4MB"] {
        let job = &jobs_csv::read(&bench.path(&format!("out/a/size-{size}/jobs.csv"))).expect("jobs")[0];
        let time = job.time_ns.expect("over") as f64 / 1e3;
        assert!(data.contains(&format!("{time}")), "{size}, {time}: {data}");
    }
}

/// The tables have the times of requests by percentile, and on request what failures cost, also in the summary.
#[test]
fn requests_and_costs_of_failures_are_told() {
    let toml = "run.stop = \"1s\"
failures.links = [{ time = \"8ms\", until = \"9ms\", a = 0, b = 2 }]
topology = { kind = \"star\", hosts = 2, rate = \"100Gbps\", delay = \"1us\" }
[[traffic]]
kind = \"inference\"
layers = 10
hidden = 1000
teraflops = 1000
memory_rate = 1000
trace = \"a.csv\"
";
    let bench = Bench::new(&[("job.toml", toml), ("a.csv", "0,2000,11\n0.01,2000,1\n")]);
    let told = bench.hpcc(&["run", "job.toml", "--out", "out", "--failure-cost"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    // The prompt takes 560.04 us, and 80 MB of keys and values 6.7 ms: they arrive before the failure.
    assert!(told.err.contains("failures cost job inference 0 ns, of which 0 ns are exposed"), "{}", told.err);
    let lines: Vec<Vec<&str>> = told.out.lines().map(|line| line.split_whitespace().collect()).collect();
    let row =
        |what: &str| lines.iter().find(|line| line.contains(&what)).unwrap_or_else(|| panic!("{}", told.out)).clone();
    assert_eq!(
        row("(TTFT)")[1..],
        ["2", "of", "2", "first", "token", "(TTFT)", "560.04", "560.04", "560.04", "560.04", "560.04"]
    );
    assert_eq!(row("(TPOT)")[..6], ["inference", "2", "of", "2", "further", "token"]);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
    assert_eq!(summary["failure_cost"]["jobs"][0]["cost_ns"], 0);
    assert!(bench.path("out-without-failures/summary.json").exists());
    // Meanwhile, it costs at least the millisecond that it lasts.
    let earlier = "failures.links=[{ time = \"3ms\", until = \"4ms\", a = 0, b = 2 }]";
    let told = bench.hpcc(&["run", "job.toml", "--out", "other", "--failure-cost", "--set", earlier]);
    let cost = bench.read("other/summary.json").parse::<serde_json::Value>().expect("JSON")["failure_cost"]["jobs"][0]
        ["cost_ns"]
        .clone();
    assert!((1_000_000..1_050_000).contains(&cost.as_i64().expect("a cost")), "{cost}: {}", told.err);
    let none = bench.hpcc(&["run", "job.toml", "--out", "none", "--failure-cost", "--set", "failures={}"]);
    assert!(none.code == Some(2) && none.err.contains("there are none"), "{}", none.err);
}

/// Two broadcasts behind each other, each by a link of its own: the busiest in its time.
#[test]
fn the_busiest_link_of_a_phase_is_told() {
    let broadcast = |ranks: &str, size: u32, start: u32| {
        format!(
            "{{ kind = \"collective\", operation = \"broadcast\", ranks = {ranks}, size = \"{size}MB\", start = \"{start}us\" }}"
        )
    };
    let toml = format!(
        "run.stop = \"10ms\"\nmonitor.sent_interval = \"1us\"\ncongestion_control.algorithm = \"none\"\n\
         topology = {{ kind = \"star\", hosts = 4, rate = \"100Gbps\", delay = \"1us\" }}\ntraffic = [{}, {}]\n",
        broadcast("[0, 1]", 1, 0),
        broadcast("[2, 3]", 2, 500)
    );
    let bench = Bench::new(&[("job.toml", &toml)]);
    let told = bench.hpcc(&["run", "job.toml", "--out", "out"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let links: Vec<Vec<&str>> = (told.out.lines().filter(|line| line.contains(" port ")))
        .map(|line| line.split_whitespace().rev().take(7).collect::<Vec<_>>().into_iter().rev().collect())
        .collect();
    let ends: Vec<_> = links.iter().filter(|words| words[1] == "port").map(|words| (words[0], words[4])).collect();
    // Both links of a broadcast carry the same.
    let is_of = |place: usize, ways: [(&str, &str); 2]| ways.contains(&ends[place]);
    assert!(is_of(0, [("0", "4"), ("4", "1")]) && is_of(1, [("2", "4"), ("4", "3")]), "{}", told.out);
    for words in links.iter().filter(|words| words[1] == "port") {
        // Busy but for the two delays there and back.
        let used: f64 = words[5].parse().expect("percent");
        assert!((90.0..100.0).contains(&used), "{words:?}");
    }
}
