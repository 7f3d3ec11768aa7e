// SPDX-License-Identifier: GPL-2.0-only
//! The summary of a run as text that reads well on a terminal and in a log.

use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use hpcc_core::units::Nanos;
use hpcc_formats::results::{Summary, UnfinishedFlow};

use crate::human;
use crate::results::Results;
use crate::stats::{FctStats, SIZE_CLASSES};

/// Columns apart, a rule below the header, no frame.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));
/// More unfinished flows than this are only counted.
const UNFINISHED_SHOWN: usize = 20;

/// The whole text: completion times by flow size, totals, unfinished flows.
pub fn render(results: &Results) -> String {
    let mut text = String::new();
    if !results.flows.is_empty() {
        text += &completion_times(results);
        text.push('\n');
    }
    text += &totals(&results.summary);
    if !results.unfinished.is_empty() {
        text += &unfinished(&results.unfinished);
    }
    text
}

/// A table in the house's style, its columns right-aligned but for the first.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.to_vec()).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
}

fn completion_times(results: &Results) -> String {
    let header = ["flow size", "flows", "slowdown mean", "p50", "p95", "p99", "FCT p99 (us)"];
    let mut rows = Vec::new();
    for class in SIZE_CLASSES {
        let stats = FctStats::of(results.flows.iter().filter(|flow| class.contains(flow.size)));
        if stats.flows > 0 {
            rows.push(row(class.label, &stats));
        }
    }
    rows.push(row("all", &FctStats::of(&results.flows)));
    let groups = results.groups();
    if groups.len() > 1 {
        for (number, name) in groups {
            let stats = FctStats::of(results.flows.iter().filter(|flow| flow.group == number));
            rows.push(row(name, &stats));
        }
    }
    table(&header, rows)
}

fn row(label: &str, stats: &FctStats) -> Vec<String> {
    vec![
        label.to_owned(),
        human::count(stats.flows as u64),
        format!("{:.2}", stats.slowdown_mean),
        format!("{:.2}", stats.slowdown_p50),
        format!("{:.2}", stats.slowdown_p95),
        format!("{:.2}", stats.slowdown_p99),
        format!("{:.1}", stats.fct_p99_ns as f64 / 1e3),
    ]
}

/// What the run amounts to, each with its name.
pub fn total_lines(s: &Summary) -> [(&'static str, String); 7] {
    [
        ("flows", format!("{} of {} finished", human::count(s.flows_finished), human::count(s.flows_total))),
        ("queue", queue(s)),
        ("PFC", format!("{}, {} paused", human::counted(s.pfc_pauses, "pause"), Nanos(s.pfc_pause_ns))),
        ("frames", format!("{} dropped, {} lost on links", human::count(s.drops), human::count(s.losses))),
        (
            "recovery",
            format!("{} packets sent again, {} timeouts", human::count(s.resent_packets), human::count(s.timeouts)),
        ),
        (
            "simulated",
            format!(
                "{}, {}, {}",
                Nanos(s.simulated_ns),
                human::counted(s.events, "event"),
                human::counted(s.packet_hops, "packet-hop")
            ),
        ),
        ("cost", cost(s)),
    ]
}

fn totals(s: &Summary) -> String {
    let mut text = String::new();
    for (name, value) in total_lines(s) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {name:<10} {value}");
    }
    text
}

fn queue(s: &Summary) -> String {
    let Some(port) = s.queue_busiest else { return "always empty".to_owned() };
    let (p99, max) = (human::bytes(s.queue_p99_bytes), human::bytes(s.queue_max_bytes));
    format!("p99 {p99}, max {max} at the busiest port (node {}, port {})", port.node, port.port)
}

fn cost(s: &Summary) -> String {
    let mut text = format!(
        "{} ns per packet-hop, {:.2} s CPU ({:.2} s set-up), {:.2} s wall, {} memory",
        human::three_digits(s.ns_per_packet_hop),
        s.setup_cpu_s + s.run_cpu_s,
        s.setup_cpu_s,
        s.wall_s,
        human::bytes(s.peak_rss_bytes)
    );
    if !s.build_profile.is_empty() {
        let _ = write!(text, ", {} build", s.build_profile);
    }
    text
}

fn unfinished(flows: &[UnfinishedFlow]) -> String {
    let header = ["unfinished flow", "src", "dst", "size (B)", "acked (B)", "start (us)"];
    let rows = flows.iter().take(UNFINISHED_SHOWN).map(|flow| {
        vec![
            flow.flow.to_string(),
            flow.src.to_string(),
            flow.dst.to_string(),
            human::count(flow.size),
            human::count(flow.acked_bytes),
            format!("{:.1}", flow.start_ns as f64 / 1e3),
        ]
    });
    let mut text = format!("\n{}", table(&header, rows));
    if flows.len() > UNFINISHED_SHOWN {
        let _ = writeln!(text, " and {} more in unfinished.csv", flows.len() - UNFINISHED_SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::in_memory;
    use hpcc_formats::results::{FctRecord, Port};

    fn results(unfinished: u32) -> Results {
        let flow = |size, fct_ns| FctRecord { size, fct_ns, ideal_ns: 1_000, ..FctRecord::default() };
        let summary = Summary {
            flows_total: 3 + u64::from(unfinished),
            flows_finished: 3,
            simulated_ns: 2_000_123_456,
            events: 1_234_567,
            queue_p99_bytes: 22_900,
            queue_max_bytes: 61_300,
            queue_busiest: Some(Port { node: 9, port: 3 }),
            groups: vec!["background".into(), "incast".into()],
            ..Summary::default()
        };
        let large = FctRecord { group: 1, ..flow(2_000_000, 4_000) };
        let unfinished = (0..unfinished).map(|flow| UnfinishedFlow { flow, ..UnfinishedFlow::default() }).collect();
        in_memory(summary, vec![flow(1_000, 1_500), flow(1_000, 1_700), large], unfinished)
    }

    #[test]
    fn each_group_has_a_line() {
        let text = render(&results(0));
        let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).map(str::to_owned);
        assert!(line("incast").is_some_and(|line| line.contains("4.00")), "{text}");
        assert!(line("background").is_some_and(|line| line.contains("1.60") && !line.contains("4.00")), "{text}");
    }

    #[test]
    fn empty_classes_are_left_out() {
        let text = render(&results(0));
        assert!(text.contains("up to 10 kB") && text.contains("over 1 MB") && !text.contains("10 - 100 kB"), "{text}");
        assert!(text.contains("p99 22.9 kB, max 61.3 kB at the busiest port (node 9, port 3)"), "{text}");
        assert!(text.contains("3 of 3 finished") && text.contains("1,234,567 events"), "{text}");
        assert!(!text.contains("unfinished"), "{text}");
    }

    #[test]
    fn unfinished_flows_are_listed_up_to_a_limit() {
        let text = render(&results(23));
        assert!(text.contains("3 of 26 finished") && text.contains("and 3 more in unfinished.csv"), "{text}");
        assert!(!render(&results(20)).contains("more in"));
    }
}
