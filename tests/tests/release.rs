// SPDX-License-Identifier: GPL-2.0-only
//! What a release says of itself. `./hpcc dist --check` tries one out.

use hpcc_tests::{Bench, TOML, skipped};
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).expect(name)
}

/// Version and date of the newest release in CHANGELOG.md, above which changes stand that are in none.
fn newest_release() -> String {
    let changes = read("CHANGELOG.md");
    let releases = changes.lines().filter_map(|line| line.strip_prefix("## "));
    let newest = releases.into_iter().find(|title| title.starts_with(|first: char| first.is_ascii_digit()));
    newest.expect("a version in CHANGELOG.md").to_owned()
}

#[test]
fn one_version_is_told_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CITATION.cff").lines().any(|line| line == format!("version: {version}")), "CITATION.cff: {version}");
    let line = format!("version = \"{version}\"");
    assert!(read("analysis/python/control/Cargo.toml").lines().any(|told| told == line), "hpcc-control: {version}");
    for folder in ["", "analysis/python/control/", "hpcc-core/fuzz/", "tests/fuzz/"] {
        let lock = read(&format!("{folder}Cargo.lock"));
        assert!(
            lock.contains(&format!("name = \"hpcc-core\"\nversion = \"{version}\"")),
            "{folder}Cargo.lock: {version}"
        );
    }
    assert_eq!(newest_release().split(' ').next(), Some(version), "CHANGELOG.md");
}

/// Dates as pages write them, "28 November 2026", in an order that can be compared: year, month, day.
fn dates(text: &str) -> Vec<(u32, usize, u32)> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let date = |three: &[&str]| {
        let month = MONTHS.iter().position(|month| *month == three[1])? + 1;
        Some((three[2].parse().ok()?, month, three[0].parse().ok()?))
    };
    words.windows(3).filter_map(date).collect()
}

/// What a reader decides by, the wait for a first result and the cost of a packet, is measured again for each release: `./hpcc bench
/// --first` and `./hpcc bench --suite`.
#[test]
fn measured_times_are_of_this_release() {
    let newest = newest_release();
    let released = newest.split(['(', ')']).nth(1).expect("a date in brackets");
    let numbers: Vec<u32> = released.split('-').map(|number| number.parse().expect("a date")).collect();
    let released = (numbers[0], numbers[1] as usize, numbers[2]);
    for (page, begin, end) in [
        ("README.md", "## Quick start", "```text"),
        ("ns3-module/doc/performance.md", "## Cost and memory", "| --- |"),
        ("ns3-module/doc/performance.md", "## Without ns-3", "| --- |"),
        ("ns3-module/doc/performance.md", "## Beside other simulators", "| --- |"),
    ] {
        let text = read(page);
        let rest = &text[text.find(begin).unwrap_or_else(|| panic!("{page}: {begin}"))..];
        let dates = dates(&rest[..rest.find(end).expect(end)]);
        assert!(!dates.is_empty(), "{page}, {begin}: no date of the measurement");
        assert!(dates.iter().all(|date| *date >= released), "{page}, {begin}: older than the release: {dates:?}");
    }
}

/// Files that others wrote, and data.
const FOREIGN: [&str; 2] = ["analysis/vendor/", "tests/golden/"];

#[test]
fn every_source_file_names_its_licence() {
    if !Path::new(ROOT).join(".git").exists() {
        skipped("this is no git repository, which would list its files");
        return;
    }
    let listed = Command::new("git").args(["-C", ROOT, "ls-files"]).output().expect("git starts").stdout;
    let listed = String::from_utf8(listed).expect("names");
    let kinds = [".rs", ".cc", ".h", ".py", ".lua", ".md", ".rst", ".cmake", "CMakeLists.txt"];
    let sources = listed.lines().filter(|name| {
        kinds.iter().any(|kind| name.ends_with(kind)) && !FOREIGN.iter().any(|folder| name.starts_with(folder))
    });
    let mut count = 0;
    for name in sources {
        let licence = if name.starts_with("hpcc-core/") { "MIT OR Apache-2.0" } else { "GPL-2.0-only" };
        let wanted = format!("SPDX-License-Identifier: {licence}");
        let text = read(name);
        let head: Vec<&str> = text.lines().take(6).collect();
        assert!(head.iter().any(|line| line.contains(&wanted)), "{name}: {wanted}");
        // As ns-3 has it.
        let is_of_ns3 = [".cc", ".h"].iter().any(|kind| name.ends_with(kind));
        assert!(
            !is_of_ns3 || head.iter().any(|line| line.starts_with(" * Copyright (c) ")),
            "{name}: a copyright line"
        );
        count += 1;
    }
    assert!(count > 300, "{count} files");
}

/// Programs of users read them by name: columns are added, and stay (CONTRIBUTING.md).
#[test]
fn columns_of_results_are_those_that_users_read() {
    let bench = Bench::new(TOML);
    bench.write("sweep.toml", "title = \"One\"\nbase = \"scenario.toml\"\n[[variant]]\nname = \"a\"\n");
    let set = ["monitor.control_interval=1us", "monitor.control_flows=[0]"].map(|pair| format!("--set={pair}"));
    let out = bench.hpcc(&["sweep", "sweep.toml", "--out", "out", "--simulator", "core", &set[0], &set[1]]);
    assert_eq!(out.code, Some(0), "{}", out.err);
    for (file, columns) in [
        ("a/fct.csv", "flow,src,dst,sport,dport,priority,size_bytes,start_ns,fct_ns,ideal_ns,slowdown,group"),
        ("a/unfinished.csv", "flow,src,dst,sport,dport,priority,size_bytes,start_ns,acked_bytes,group"),
        ("a/queue.csv", "time_ns,node,port,qlen_bytes"),
        ("a/goodput.csv", "time_ns,flow,goodput_bps,bytes"),
        ("a/control.csv", "time_ns,flow,rate_bps,window_bytes,in_flight_bytes,utilisation,bottleneck,rtt_ns"),
        ("a/ports.csv", "node,port,is_switch,peer,peer_port,rate_bps,delay_ns,paused_ns,sent_bytes,fcs_errors"),
        ("sweep.csv", "variant,axis,seed,metric,value"),
        ("queue-cdf.plot.csv", "chart,line,x,value,low,high,few_flows"),
    ] {
        let text = bench.read(&format!("out/{file}"));
        let there: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let missing: Vec<&str> = columns.split(',').filter(|column| !there.contains(column)).collect();
        assert!(missing.is_empty(), "{file} has lost {missing:?}: {there:?}");
    }
}
