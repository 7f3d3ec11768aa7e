// SPDX-License-Identifier: GPL-2.0-only
//! `bench`: what whole runs cost, repeatably; and the comparison of two such measurements.

use anyhow::{Context, Result, ensure};
use hpcc_formats::input;
use hpcc_measures::stats::median;
use serde::{Deserialize, Serialize};
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use crate::parity::{Data, Replay};
use hpcc_analysis::Outcome;
use hpcc_analysis::human;
use hpcc_analysis::save;
use hpcc_analysis::script::Parts;
use hpcc_analysis::simulator::Simulator;
use hpcc_analysis::table::table;

/// The runs that are measured: a fat tree of 320 hosts, briefly and for longer.
pub const WORKLOADS: [(&str, &str); 2] = [("fat-fbhdp30-short", "hp"), ("fat-websearch30", "hp")];

/// What runs took, of which program and on which machine.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    /// Version of this project.
    hpcc: String,
    /// Version of ns-3.
    ns3: String,
    /// How the simulator was compiled.
    build_profile: String,
    /// Model name of the processor.
    cpu: String,
    workloads: Vec<Workload>,
}

/// What one workload costs. Times are medians over the repetitions.
#[derive(Debug, Serialize, Deserialize)]
struct Workload {
    name: String,
    repetitions: u32,
    events: u64,
    packet_hops: u64,
    ns_per_packet_hop: f64,
    /// The fastest repetition's: what the machine does when it is left alone.
    ns_per_packet_hop_min: f64,
    events_per_s: f64,
    run_cpu_s: f64,
    setup_cpu_s: f64,
    peak_rss_bytes: u64,
}

/// Measures every workload `repetitions` times, prints a table and, if told so, writes JSON.
///
/// # Errors
/// If the workloads or the simulator cannot be found, a run fails, or `out` cannot be written.
pub fn bench(repetitions: NonZeroU32, data: &Data, out: Option<&Path>) -> Result<Outcome> {
    let repetitions = repetitions.get();
    out.map_or(Ok(()), save::ensure_writable)?;
    let golden = data.open()?;
    let simulator = Simulator::find(Parts::default())?;
    let mut report = Report {
        hpcc: String::new(),
        ns3: String::new(),
        build_profile: String::new(),
        cpu: cpu_name(),
        workloads: Vec::new(),
    };
    for (scenario, name) in WORKLOADS {
        let run = golden.run(scenario, name).with_context(|| format!("there is no run {scenario}/{name}"))?;
        let case = golden.case(run)?;
        let mut summaries = Vec::new();
        for repetition in 1..=repetitions {
            human::show_step(&format!("{run}, {repetition} of {repetitions}"));
            summaries.push(Replay::of(&case, &simulator)?.summary);
        }
        human::clear_step();
        let first = &summaries[0];
        report.hpcc.clone_from(&first.versions.hpcc);
        report.ns3.clone_from(&first.versions.ns3);
        report.build_profile.clone_from(&first.build_profile);
        let cost = |f: fn(&hpcc_formats::results::Summary) -> f64| summaries.iter().map(f).collect::<Vec<_>>();
        let run_cpu_s = median(&cost(|s| s.run_cpu_s));
        report.workloads.push(Workload {
            name: run.to_string(),
            repetitions,
            events: first.events,
            packet_hops: first.packet_hops,
            ns_per_packet_hop: median(&cost(|s| s.ns_per_packet_hop)),
            ns_per_packet_hop_min: cost(|s| s.ns_per_packet_hop).into_iter().fold(f64::INFINITY, f64::min),
            events_per_s: first.events as f64 / run_cpu_s,
            run_cpu_s,
            setup_cpu_s: median(&cost(|s| s.setup_cpu_s)),
            peak_rss_bytes: summaries.iter().map(|s| s.peak_rss_bytes).max().unwrap_or(0),
        });
    }
    print(&report)?;
    if let Some(path) = out {
        let text = serde_json::to_string_pretty(&report)?;
        save::replace(path, &(text + "\n"))?;
    }
    Ok(Outcome::Good)
}

/// Prints how the measurement in `b` differs from that in `a`.
///
/// # Errors
/// If a file is no measurement, or they have no workload in common.
pub fn compare(a: &Path, b: &Path) -> Result<Outcome> {
    let (before, after) = (read(a)?, read(b)?);
    let mut rows = Vec::new();
    for new in &after.workloads {
        let Some(old) = before.workloads.iter().find(|old| old.name == new.name) else { continue };
        let per_hop = |w: &Workload| format!("{:.2}", w.events as f64 / w.packet_hops as f64);
        rows.push(vec![
            new.name.clone(),
            format!("{:.0}", old.ns_per_packet_hop),
            format!("{:.0}", new.ns_per_packet_hop),
            format!("{:.2}", new.ns_per_packet_hop / old.ns_per_packet_hop),
            per_hop(old),
            per_hop(new),
        ]);
    }
    ensure!(!rows.is_empty(), "{} and {} have no workload in common", a.display(), b.display());
    let titles = ["workload", "ns/hop before", "after", "ratio", "events/hop before", "after"];
    human::print(&format!("{}\n", table(&titles, rows)))?;
    Ok(Outcome::Good)
}

fn read(path: &Path) -> Result<Report> {
    let text = input::read_text(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| format!("{} is no measurement of ./hpcc bench", path.display()))
}

fn print(report: &Report) -> Result<()> {
    let mut rows = Vec::new();
    for w in &report.workloads {
        rows.push(vec![
            w.name.clone(),
            w.packet_hops.to_string(),
            w.events.to_string(),
            format!("{:.0}", w.ns_per_packet_hop),
            format!("{:.0}", w.ns_per_packet_hop_min),
            format!("{:.1}", w.events_per_s / 1e6),
            format!("{:.3}", w.setup_cpu_s),
            format!("{:.0}", w.peak_rss_bytes as f64 / 1e6),
        ]);
    }
    let titles = ["workload", "packet-hops", "events", "ns/hop", "min", "M events/s", "set-up (s)", "RSS (MB)"];
    let Report { hpcc, ns3, build_profile, cpu, .. } = report;
    human::print(&format!("{}\n\n hpcc {hpcc}, ns-3 {ns3} ({build_profile} build), {cpu}\n", table(&titles, rows)))
}

/// The processor's own name, for the record.
fn cpu_name() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "unknown processor".into(), |(_, name)| name.trim().to_owned())
}
