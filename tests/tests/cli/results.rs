// SPDX-License-Identifier: GPL-2.0-only
//! The output folder of a run that went well.

use hpcc_tests::{Bench, REFERENCE, TOML, is_complete};
use serde_json::Value;
use std::fs;

/// All files of an output folder but the plots.
const FILES: &[&str] = &[
    "fct.csv",
    "fct.txt",
    "goodput.csv",
    "pfc.txt",
    "ports.csv",
    "qlen.txt",
    "queue.csv",
    "summary.json",
    "unfinished.csv",
];

const PLOTS: &[&str] = &["goodput.svg", "queue.svg", "slowdown.svg"];

const PAGE: &str = "report.html";

/// The experiment in TOML, run into `out`.
fn finished() -> Bench {
    let bench = Bench::new(TOML);
    let output = bench.run("scenario.toml", &[]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    bench
}

fn files(bench: &Bench) -> Vec<String> {
    let entries = fs::read_dir(bench.path("out")).expect("output folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().into_string().expect("name")).collect();
    names.sort();
    names
}

fn summary(bench: &Bench) -> Value {
    serde_json::from_str(&bench.read("out/summary.json")).expect("summary.json is JSON")
}

#[test]
fn a_run_leaves_its_files_and_says_what_was_run_and_what_it_cost() {
    let bench = finished();
    let mut expected = [FILES, PLOTS, &[PAGE]].concat();
    expected.sort_unstable();
    assert_eq!(files(&bench), expected);
    assert!(!bench.path("out.partial").exists());

    let summary = summary(&bench);
    for key in ["flows_total", "events", "simulated_ns", "peak_rss_bytes", "setup_cpu_s", "run_cpu_s", "wall_s"] {
        assert!(summary[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {}", summary[key]);
    }
    // 300 packets cross two links, and so do their acknowledgements.
    assert_eq!((&summary["flows_finished"], &summary["packet_hops"]), (&2.into(), &1200.into()));
    let version = summary["versions"]["hpcc"].as_str().expect("version");
    assert!(version.starts_with(|digit: char| digit.is_ascii_digit()), "{version}");
    assert_eq!(summary["versions"]["ns3"], "none", "the engine is what runs");
    let scenario = &summary["scenario"];
    assert_eq!((&scenario["congestion_control"]["eta"], &scenario["stop_ns"]), (&0.95.into(), &10_000_000.into()));
    assert_eq!(scenario["congestion_control"]["max_stage"], 5, "a default");
    assert_eq!((&scenario["network"]["hosts"], &scenario["network"]["switches"]), (&3.into(), &1.into()));

    for (file, header) in [
        ("fct.csv", "flow,src,dst,sport,dport,priority,size_bytes,start_ns,fct_ns,ideal_ns,slowdown,group"),
        ("unfinished.csv", "flow,src,dst,sport,dport,priority,size_bytes,start_ns,acked_bytes,group"),
        ("queue.csv", "time_ns,node,port,qlen_bytes"),
        ("goodput.csv", "time_ns,flow,goodput_bps,bytes"),
        ("ports.csv", "node,port,is_switch,peer,peer_port,rate_bps,delay_ns,paused_ns,sent_bytes,fcs_errors"),
    ] {
        assert_eq!(bench.read(&format!("out/{file}")).lines().next(), Some(header), "{file}");
    }
    for plot in PLOTS {
        let text = bench.read(&format!("out/{plot}"));
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{plot}: {error}"));
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        assert!(texts.iter().any(|text| text.len() > 3), "{plot} has no words on its axes");
    }
}

/// Rows of a CSV file, as numbers.
fn rows(bench: &Bench, file: &str) -> Vec<Vec<f64>> {
    let text = bench.read(file);
    let numbers = |line: &str| line.split(',').map(|word| word.parse().expect("a number")).collect();
    text.lines().skip(1).map(numbers).collect()
}

#[test]
fn every_byte_that_arrives_is_in_the_goodput() {
    // The first flow lasts some 15 us of the 20, so a coarse interval leaves it a single row; the second is cut off.
    for (interval, stop) in [("2us", "10ms"), ("1ms", "10ms"), ("3us", "20us")] {
        let bench = Bench::new(TOML);
        let output =
            bench.run("scenario.toml", &[&format!("monitor.goodput_interval={interval}"), &format!("run.stop={stop}")]);
        assert!(matches!(output.code, Some(0 | 3)), "{}", output.err);
        let finished = rows(&bench, "out/fct.csv").into_iter().map(|row| (row[0], row[7], row[7] + row[8], row[6]));
        let simulated = summary(&bench)["simulated_ns"].as_f64().expect("end");
        let others = rows(&bench, "out/unfinished.csv").into_iter().map(|row| (row[0], row[7], simulated, row[8]));
        for (flow, start, end, bytes) in finished.chain(others) {
            let own: Vec<Vec<f64>> = rows(&bench, "out/goodput.csv").into_iter().filter(|row| row[1] == flow).collect();
            // What was acknowledged has arrived; more had, of the flow that is cut off.
            let arrived = own.iter().map(|row| row[3]).sum::<f64>();
            let on_its_way_back = if arrived > bytes && end == simulated { 100_000.0 } else { 0.0 };
            assert!(
                (bytes..=bytes + on_its_way_back).contains(&arrived),
                "flow {flow} every {interval}: {arrived} {bytes}"
            );
            assert_eq!(own.last().map(|row| row[0]), Some(end), "flow {flow} every {interval}");
            // Each rate is its bytes over the time since the row before, so the rates add up as well.
            let mut since = start;
            for row in &own {
                let bits = row[2] * (row[0] - since) / 1e9;
                assert!((bits / 8.0 - row[3]).abs() < 1.0, "{row:?} since {since}");
                since = row[0];
            }
        }
    }
}

#[test]
fn flows_carry_the_group_of_their_section() {
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", "size = \"100KB\"", "size = \"100KB\"\nname = \"long\"");
    let incast = "[[traffic]]\nkind = \"incast\"\nreceiver = 2\nsender_count = 2\nsize = \"20KB\"\n\n[monitor]";
    bench.edit("scenario.toml", "[monitor]", incast);
    let output = bench.run("scenario.toml", &[]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert_eq!(summary(&bench)["groups"], serde_json::json!(["long", "flow", "incast"]));
    let mut groups: Vec<(u64, u64)> =
        rows(&bench, "out/fct.csv").iter().map(|row| (row[6] as u64, row[11] as u64)).collect();
    groups.sort_unstable();
    assert_eq!(groups, [(20_000, 2), (20_000, 2), (100_000, 0), (200_000, 1)]);
    let only = bench.hpcc(&["report", "out", "--group", "incast"]);
    assert!(only.out.lines().any(|line| line.split_whitespace().take(2).eq(["all", "2"])), "{}", only.out);
}

#[test]
fn ports_say_what_they_lead_to() {
    let bench = finished();
    let text = bench.read("out/ports.csv");
    let ports: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(ports.len(), 6);
    assert!(ports[1].starts_with("1,1,0,3,2,100000000000,1000,0,") && ports[1].ends_with(",0"), "{}", ports[1]);
    let of_host: Option<u64> = ports[1].split(',').nth(8).and_then(|bytes| bytes.parse().ok());
    assert!(of_host > Some(0), "hosts count what they send: {}", ports[1]);
    assert!(ports[5].starts_with("3,3,1,2,1,"), "{}", ports[5]);
    let sent = ports[5].split(',').nth(8).and_then(|bytes| bytes.parse().ok());
    let received: f64 = rows(&bench, "out/fct.csv").iter().filter(|row| row[2] == 2.0).map(|row| row[6]).sum();
    let headers = 1.0..1.2;
    assert!(received > 0.0 && sent.is_some_and(|sent: f64| headers.contains(&(sent / received))), "{}", ports[5]);
}

/// Runs that start at once, each with a load of its own, into one folder: every one that ends well has left results that
/// fit together, and they are the results of one run.
#[test]
fn runs_into_one_folder_never_mix() {
    let bench = Bench::new(TOML);
    for _ in 0..4 {
        let sizes = ["150KB", "250KB", "350KB", "450KB"];
        let codes: Vec<Option<i32>> = std::thread::scope(|scope| {
            let start = |size: &&str| {
                let setting = format!("traffic.1.size={size}");
                let bench = &bench;
                scope.spawn(move || bench.run("scenario.toml", &[&setting]))
            };
            let runs: Vec<_> = sizes.iter().map(start).collect();
            runs.into_iter().map(|run| run.join().expect("thread")).map(|output| output.code).collect()
        });
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 2))) && codes.contains(&Some(0)), "{codes:?}");
        // Reading checks every file against the summary.
        let output = bench.hpcc(&["report", "out"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let payload = summary(&bench)["scenario"]["traffic"]["payload_bytes"].as_f64();
        let sizes: f64 = rows(&bench, "out/fct.csv").iter().map(|row| row[6]).sum();
        assert_eq!(payload, Some(sizes), "flows of one run with the summary of another");
        assert!(!bench.path("out.partial").exists());
    }
}

/// Results go where a link leads, the second time, too, and one that leads nowhere is refused before the simulation.
#[test]
fn a_link_to_a_folder_can_take_results() {
    let bench = Bench::new(TOML);
    fs::create_dir(bench.path("real")).expect("folder");
    std::os::unix::fs::symlink("real", bench.path("link")).expect("link");
    for _ in 0..2 {
        let output = bench.run_to("link", "scenario.toml", &[]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        assert!(is_complete(&bench.path("real")) && bench.path("link").is_symlink());
        assert!(!bench.path("link.partial").exists() && !bench.path("real.partial").exists());
    }
    fs::remove_dir_all(bench.path("real")).expect("removed");
    let output = bench.run_to("link", "scenario.toml", &[]);
    assert!(output.code == Some(2) && output.err.contains("link: a symbolic link to no folder"), "{}", output.err);
}

/// The 2019 simulator's config sets what our defaults have otherwise. Either format can repeat the 2019 simulator's
/// faults, and either can do without.
#[test]
fn both_formats_describe_the_same_experiment() {
    // With its faults the 2019 simulator reads 2.000005 s as 2000004999 ns.
    for (profile, start) in [("reference", "4999ns"), ("correct", "5us")] {
        let (toml, reference) = (Bench::new(TOML), Bench::new(REFERENCE));
        let profile = format!("compatibility.profile={profile}");
        let first = format!("traffic.1.start={start}");
        let output =
            toml.run("scenario.toml", &[&first, &profile, "run.order=insertion", "telemetry.layout=reference"]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        let output = reference.run("config.txt", &["MULTI_RATE=0", "VAR_WIN=1", "MIN_RATE=100Mb/s", &profile]);
        assert_eq!(output.code, Some(0), "{}", output.err);
        same_times(&toml, &reference);
    }
}

fn same_times(toml: &Bench, reference: &Bench) {
    let times = |bench: &Bench| -> Vec<String> {
        let text = bench.read("out/fct.txt");
        text.lines().map(|line| line.split(' ').skip(6).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(times(toml).len(), 2);
    assert_eq!(times(toml), times(reference));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let bench = Bench::new(TOML);
    let random =
        "[[traffic]]\nkind = \"poisson\"\nload = 0.4\nsizes = \"sizes.cdf\"\nduration = \"100us\"\n\n[monitor]";
    bench.edit("scenario.toml", "[monitor]", random);
    bench.edit("scenario.toml", "{ a = 2, b = 3 }", "{ a = 2, b = 3, loss = 0.001 }");
    bench.write("sizes.cdf", "1000 0\n50000 100\n");
    for (out, seed) in [("a", "run.seed=7"), ("b", "run.seed=7"), ("other", "run.seed=8")] {
        let output = bench.run_to(out, "scenario.toml", &[seed]);
        assert!(matches!(output.code, Some(0 | 3)), "{}", output.err);
    }
    for file in ["fct.csv", "fct.txt", "queue.csv", "goodput.csv", "unfinished.csv", "queue.svg"] {
        let read = |out: &str| bench.read(&format!("{out}/{file}"));
        assert!(read("a") == read("b"), "{file} differs between two runs of one seed");
    }
    assert!(bench.read("a/fct.csv") != bench.read("other/fct.csv"), "the seed changes nothing");
}
