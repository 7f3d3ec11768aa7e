// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc topology` and `hpcc workload`, and the networks and pairs that they describe, simulated.

use hpcc_model::results::fct_csv;
use hpcc_tests::{Bench, ProcessOutput};

const SIZES: (&str, &str) = ("sizes.cdf", "10000 50\n90000 100\n");

fn scenario(topology: &str, traffic: &str) -> String {
    format!("[run]\nstop = \"100ms\"\n[topology]\n{topology}\nrate = \"25Gbps\"\ndelay = \"1us\"\n{traffic}")
}

const FABRIC: &str = "kind = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\nfabric_rate = \"100Gbps\"";
const LOAD: &str =
    "[[traffic]]\nkind = \"poisson\"\nname = \"web\"\nload = 0.3\nsizes = \"sizes.cdf\"\nduration = \"1ms\"\n";
const BURST: &str =
    "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsender_count = 3\nsize = \"20KB\"\nstart = \"100us\"\n";

fn good(output: ProcessOutput) -> String {
    assert_eq!(output.code, Some(0), "{}", output.err);
    output.out
}

/// Host 0 is sent a seventh of 7 * 30 Gb/s, and has a link of 25 Gb/s.
#[test]
fn a_receiver_that_is_sent_too_much_is_named() {
    let links: String = (1..8).map(|host| format!(", {{ a = {host}, b = 8, rate = \"100Gbps\" }}")).collect();
    let star = format!("kind = \"links\"\nhosts = 8\nswitches = 1\nlinks = [{{ a = 0, b = 8 }}{links}]");
    let bench = Bench::new(&[SIZES, ("a.toml", &scenario(&star, LOAD))]);
    let words = "host 0 is offered 30.000 Gb/s on average, 120.0 % of its links";
    assert!(good(bench.hpcc(&["workload", "a.toml"])).contains(&format!("overbooks  {words}\n")));
    let output = bench.run("a.toml", &[]);
    assert!(output.err.contains(&format!("random traffic overbooks receivers: {words}\n")), "{}", output.err);
    assert!(!good(bench.hpcc(&["workload", "a.toml", "--set", "traffic.0.load=0.25"])).contains("overbooks"));
}

/// Flows as a connection matrix, and a job as GOAL.
#[test]
fn formats_of_others_are_written_too() {
    let star = "run.stop='10ms'\ntopology={kind='star',hosts=4,rate='25Gbps',delay='1us'}\n";
    let with = |traffic: &str| format!("{star}{traffic}\n");
    let goal = "num_ranks 4\nrank 0 {\na: calc 700 cpu 1\nb: send 50000b to 1 tag 7 nic 1\nb requires a\n}\n\
                rank 1 {\na: recv 50000b from 0 tag 7\nb: calc 900\nc: send 9b to 3\nb requires a\nc irequires b\n}\n\
                rank 3 {\na: recv 9b from 1\n}\n";
    let bench = Bench::new(&[
        ("flows.toml", &with("traffic=[{kind='incast',receiver=0,sender_count=3,size='20KB',start='3us'}]")),
        ("flows-of-cm.toml", &with("traffic=[{kind='connection_matrix',path='flows.cm'}]")),
        ("job.goal", goal),
        ("job.toml", &with("traffic=[{kind='goal',path='job.goal',links='hashed'}]")),
        ("job-of-goal.toml", &with("traffic=[{kind='goal',path='again.goal',links='hashed'}]")),
        ("collective.toml", &with("traffic=[{kind='collective',operation='all_reduce',size=400000}]")),
        ("collective-of-goal.toml", &with("traffic=[{kind='goal',path='x.goal'}]")),
        ("collective-of-traces.toml", &with("traffic=[{kind='chakra',path='x'}]")),
        ("next.toml", &with("traffic=[{kind='collective',operation='send_receive',size=4000}]")),
    ]);
    let told = bench.hpcc(&["workload", "flows.toml", "--write", "flows.cm"]);
    assert!(told.code == Some(0) && told.err.contains("neither priorities nor ports"), "{}", told.err);
    good(bench.hpcc(&["workload", "job.toml", "--write", "again.goal"]));
    let told = bench.hpcc(&["workload", "collective.toml", "--write", "x.goal"]);
    assert!(told.code == Some(0) && told.err.contains("as their messages"), "{}", told.err);
    let told = bench.hpcc(&["workload", "collective.toml", "--write", "x.et"]);
    assert!(told.code == Some(0) && told.err.contains("what the reader chooses"), "{}", told.err);
    for (file, of) in [
        ("flows.toml", "flows-of-cm.toml"),
        ("job.toml", "job-of-goal.toml"),
        ("collective.toml", "collective-of-goal.toml"),
        ("collective.toml", "collective-of-traces.toml"),
    ] {
        for (file, out) in [(file, "one"), (of, "other")] {
            good(bench.hpcc(&["run", file, "--out", out, "--force", "--quiet"]));
        }
        let times = |out: &str| -> Vec<(u32, u32, u64, u64, u64)> {
            let flows = fct_csv::read(&bench.path(&format!("{out}/fct.csv"))).expect("flows");
            flows.iter().map(|flow| (flow.src, flow.dst, flow.size, flow.start_ns, flow.fct_ns)).collect()
        };
        assert!(times("one") == times("other") && times("one").len() > 1, "{file}: {:?}", times("one"));
    }
    let told = bench.hpcc(&["workload", "next.toml", "--write", "y.et"]);
    assert!(told.code != Some(0) && told.err.contains("sends to the next rank"), "{}", told.err);
    assert!(!bench.path("y.0.et").exists());
    let told = bench.hpcc(&["workload", "next.toml", "--write", "y.toml"]);
    assert!(told.code == Some(2) && told.err.contains("expected FILE.goal or FILE.et"), "{}", told.err);
    assert!(!bench.path("y.toml").exists());
}

#[test]
fn what_is_written_runs_as_what_it_was_written_from() {
    let bench = Bench::new(&[SIZES, ("a.toml", &scenario(FABRIC, &format!("{LOAD}{BURST}")))]);
    let network = good(bench.hpcc(&["topology", "a.toml", "--write", "topology.txt"]));
    for part in ["8: with 1 link each", "4: 2 at hosts, 2 in tier 1 above", "200 Gb/s down, 400 Gb/s up, 0.50 to 1"] {
        assert!(network.contains(part), "{network} lacks {part}");
    }
    let flows = good(bench.hpcc(&["workload", "a.toml", "--write", "flow.txt"]));
    let row = |name: &str| flows.lines().find(|line| line.trim_start().starts_with(name)).expect(name).to_owned();
    assert!(row("incast").contains("20.0 kB") && row("incast").trim_end().ends_with('-'), "{flows}");
    let load: f64 =
        row("web").trim_end().trim_end_matches(" %").rsplit(' ').next().expect("a load").parse().expect("a number");
    assert!((15.0..45.0).contains(&load), "{flows}");
    // The files say the same by themselves, without headers and telemetry, which only a scenario knows.
    let alone = good(bench.hpcc(&["topology", "topology.txt"]));
    let without_rtt = |text: &str| {
        let network = text.split("\n\n wrote").next().unwrap_or_default().trim_end();
        network.lines().filter(|line| !line.contains("base RTT")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_rtt(&network), without_rtt(&alone));
    assert!(network.contains("as runs have it") && alone.contains("without headers"), "{network}{alone}");
    assert!(good(bench.hpcc(&["workload", "flow.txt"])).contains("of all bytes"));

    let files = "[run]\nstop = \"100ms\"\n[topology]\nkind = \"file\"\npath = \"topology.txt\"\n[[traffic]]\nkind = \"file\"\npath = \"flow.txt\"\n";
    bench.write("b.toml", files);
    good(bench.run_to("a", "a.toml", &[]));
    good(bench.run_to("b", "b.toml", &[]));
    assert_eq!(bench.read("a/fct.txt"), bench.read("b/fct.txt"));
}

#[test]
fn a_distribution_is_described() {
    let bench = Bench::new(&[SIZES]);
    let output = good(bench.hpcc(&["workload", "sizes.cdf"]));
    // Half uniform up to 10 kB, half up to 90 kB: 5 and 50 kB on average.
    for part in ["mean       27.5 kB", "p50 10.0 kB", "largest 90.0 kB", "454,545 a second"] {
        assert!(output.contains(part), "{output} lacks {part}");
    }
}

/// A run's flows as source, destination, size and completion time in ns.
fn flows(bench: &Bench) -> Vec<(u32, u32, u64, u64)> {
    good(bench.run("a.toml", &[]));
    let flows = fct_csv::read(&bench.path("out/fct.csv")).expect("flows");
    flows.iter().map(|flow| (flow.src, flow.dst, flow.size, flow.fct_ns)).collect()
}

#[test]
fn flows_stay_in_racks_and_go_to_heavy_hosts_as_asked() {
    for (keys, local, heavy) in [
        ("", 0.3..0.55, 0.06..0.2),
        ("rack_share = 1", 1.0..1.1, 0.06..0.2),
        ("rack_share = 0", 0.0..0.001, 0.06..0.2),
        ("rack_share = 0.8", 0.7..0.9, 0.06..0.2),
        ("weights = [{ hosts = [7], weight = 20 }]", 0.3..0.7, 0.6..0.8),
        ("weights = [{ hosts = [7], weight = 0 }]", 0.3..0.6, 0.0..0.001),
    ] {
        let bench = Bench::new(&[SIZES, ("a.toml", &scenario(FABRIC, &format!("{LOAD}{keys}\n")))]);
        let flows = flows(&bench);
        let share = |count: usize| count as f64 / flows.len() as f64;
        assert!(flows.len() > 150 && flows.iter().all(|flow| flow.0 != flow.1), "{keys}");
        let stay = share(flows.iter().filter(|flow| flow.0 / 4 == flow.1 / 4).count());
        let meet = share(flows.iter().filter(|flow| flow.1 == 7).count());
        assert!(local.contains(&stay) && heavy.contains(&meet), "{keys}: {stay} {meet}");
    }
}

#[test]
fn impossible_pairs_are_refused_with_their_line() {
    for (keys, expected) in [
        ("rack_share = 1.5", "a.toml:17: traffic.rack_share: the value is 1.5; expected a number from 0 to 1"),
        (
            "weights = [{ hosts = [1], weight = 2 }, { hosts = [0, 1], weight = 3 }]",
            "a.toml:17: traffic.weights: host 1 has two weights",
        ),
    ] {
        let bench = Bench::new(&[SIZES, ("a.toml", &scenario(FABRIC, &format!("{LOAD}{keys}\n")))]);
        let output = bench.run("a.toml", &[]);
        assert!(output.code == Some(2) && output.err.contains(expected), "{keys}: {}", output.err);
    }
}

/// One flow through all switches of the row takes longer than one to a neighbour, by the links that are more.
#[test]
fn a_parking_lot_is_as_long_as_its_row() {
    let row = "kind = \"parking_lot\"\nswitches = 4\nhosts_per_switch = 1";
    let flow = |dst: u32| format!("[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = {dst}\nsize = \"1KB\"\n");
    let time = |dst: u32| {
        let bench = Bench::new(&[("a.toml", &scenario(row, &flow(dst)))]);
        flows(&bench)[0].3
    };
    let (near, far) = (time(1), time(3));
    // Two links more, there and back: 1 us each.
    assert!((4_000..6_000).contains(&(far - near)), "{near} {far}");
}

/// Flows of one host take both of its links: together they are faster than one of 25 Gb/s.
#[test]
fn hosts_with_two_links_use_both() {
    let pod = "kind = \"dual_homed\"\npairs = 2\nhosts_per_pair = 4\naggs = 1\nfabric_rate = \"100Gbps\"";
    let flows_to = (1..8).map(|dst| format!("[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = {dst}\nsize = \"1MB\"\n"));
    let bench = Bench::new(&[("a.toml", &scenario(pod, &flows_to.collect::<String>()))]);
    let last = flows(&bench).iter().map(|flow| flow.3).max().expect("flows");
    let rate = 7.0 * 8e6 / last as f64;
    assert!((25.5..50.0).contains(&rate), "{rate} Gb/s");
}

#[test]
fn a_k_ary_tree_has_its_hosts_and_its_oversubscription() {
    let tree = |keys: &str| scenario(&format!("kind = \"k_ary_fat_tree\"\n{keys}"), BURST);
    let bench = Bench::new(&[("a.toml", &tree("k = 4\noversubscription = 1.5"))]);
    let output = good(bench.hpcc(&["topology", "a.toml"]));
    for part in ["24: with 1 link each", "20: 8 at hosts, 8 in tier 1 above, 4 in tier 2 above", "1.50 to 1", "66.7 %"]
    {
        assert!(output.contains(part), "{output} lacks {part}");
    }
    assert_eq!(flows(&bench).len(), 3);
}
