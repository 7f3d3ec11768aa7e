// SPDX-License-Identifier: GPL-2.0-only
//! The variants side by side, as text.

use super::file::SweepFile;
use super::group::Group;
use super::metrics::Sizes;
use super::report::TableKind;
use crate::human;
use crate::table::table;

/// A column: its title, its metric, and how its value is written.
type Column = (&'static str, &'static str, fn(f64) -> String);

/// A heading, the columns below it, and what follows the names of their metrics: the group whose flows they are of.
type Part = (String, &'static [Column], String);

/// Every table that the file asks for, one below the other, with a row for each variant and step of the axes.
pub fn render(file: &SweepFile, groups: &[Group<'_>], sizes: Sizes) -> String {
    let mut text = format!("{}\n", file.title);
    let names = group_names(groups);
    for (heading, columns, of) in file.tables.iter().flat_map(|kind| parts(*kind, sizes, &names)) {
        text += &format!("\n{heading}\n\n{}", render_one(file, columns, &of, groups));
    }
    if file.seeds.len() > 1 {
        text += &format!("\nmean of {} seeds ± standard deviation\n", file.seeds.len());
    }
    text
}

/// The groups of flows that any run has, if there are several.
fn group_names(groups: &[Group<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let runs = groups.iter().flat_map(|group| &group.runs);
    for (_, name) in runs.flat_map(|run| run.results.groups()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if names.len() > 1 { names } else { Vec::new() }
}

/// What one choice shows.
fn parts(kind: TableKind, sizes: Sizes, names: &[String]) -> Vec<Part> {
    let (small, large) = (human::bytes(sizes.small_up_to), human::bytes(sizes.large_above));
    let all = |heading: String, columns: &'static [Column]| (heading, columns, String::new());
    let of_groups = |what: &str, columns: &'static [Column]| -> Vec<Part> {
        names.iter().map(|name| (format!("{what} of the group {name}"), columns, format!("[{name}]"))).collect()
    };
    match kind {
        TableKind::Slowdown => {
            let mut parts = vec![
                all("Slowdown of all flows".to_owned(), ALL_FLOWS),
                all(format!("Slowdown of small flows (up to {small})"), SMALL_FLOWS),
                all(format!("Slowdown of large flows (over {large})"), LARGE_FLOWS),
            ];
            parts.extend(of_groups("Slowdown", GROUP_FLOWS));
            parts
        }
        TableKind::Goodput => {
            let mut parts = vec![all(format!("Goodput of large flows (over {large}) in Gb/s"), GOODPUT)];
            parts.extend(of_groups("Goodput in Gb/s", GROUP_GOODPUT));
            parts
        }
        TableKind::Queue => vec![all("Queue of the busiest port, and what queues led to".to_owned(), QUEUE)],
        TableKind::Overhead => vec![
            all("Bytes of telemetry in a frame that collects it".to_owned(), OVERHEAD),
            all("What telemetry and its way back took".to_owned(), FEEDBACK),
        ],
    }
}

const ALL_FLOWS: &[Column] = &[
    ("flows", "flows", whole),
    ("unfinished", "flows_unfinished", whole),
    ("mean", "slowdown_mean", two_digits),
    ("p50", "slowdown_p50", two_digits),
    ("p95", "slowdown_p95", two_digits),
    ("p99", "slowdown_p99", two_digits),
];
const SMALL_FLOWS: &[Column] = &[
    ("mean", "slowdown_small_mean", two_digits),
    ("p50", "slowdown_small_p50", two_digits),
    ("p95", "slowdown_small_p95", two_digits),
    ("p99", "slowdown_small_p99", two_digits),
];
const LARGE_FLOWS: &[Column] = &[
    ("mean", "slowdown_large_mean", two_digits),
    ("p50", "slowdown_large_p50", two_digits),
    ("p95", "slowdown_large_p95", two_digits),
    ("p99", "slowdown_large_p99", two_digits),
];
const GROUP_FLOWS: &[Column] = &[
    ("flows", "flows", whole),
    ("mean", "slowdown_mean", two_digits),
    ("p50", "slowdown_p50", two_digits),
    ("p95", "slowdown_p95", two_digits),
    ("p99", "slowdown_p99", two_digits),
];
const GROUP_GOODPUT: &[Column] = &[
    ("median", "goodput_p50_gbps", two_digits),
    ("mean", "goodput_mean_gbps", two_digits),
    ("Jain's index", "goodput_jain", |index| format!("{index:.3}")),
];
const GOODPUT: &[Column] = &[
    ("median", "goodput_large_p50_gbps", two_digits),
    ("mean", "goodput_large_mean_gbps", two_digits),
    ("Jain's index", "goodput_large_jain", |index| format!("{index:.3}")),
];
const QUEUE: &[Column] = &[
    ("p50 (kB)", "queue_p50_bytes", kilobytes),
    ("p95 (kB)", "queue_p95_bytes", kilobytes),
    ("p99 (kB)", "queue_p99_bytes", kilobytes),
    ("max (kB)", "queue_max_bytes", kilobytes),
    ("grew for (us)", "queue_growth_ns", |ns| human::three_digits(ns / 1e3)),
    ("PFC pauses", "pfc_pauses", whole),
    ("paused (us)", "pfc_pause_ns", |ns| human::three_digits(ns / 1e3)),
    ("of all time (%)", "pfc_paused_percent", human::three_digits),
    ("drops", "drops", whole),
    ("sent again", "resent_packets", whole),
];
const OVERHEAD: &[Column] =
    &[("from the sender", "telemetry_sender_bytes", whole), ("added by each switch", "telemetry_hop_bytes", whole)];
const FEEDBACK: &[Column] = &[
    ("bytes on links per kB of payload", "telemetry_per_kb", human::three_digits),
    ("feedback packets per ms", "feedback_per_ms", whole),
    ("probes", "probes", whole),
];

fn render_one(file: &SweepFile, columns: &[Column], of: &str, groups: &[Group<'_>]) -> String {
    let mut header = vec!["variant"];
    header.extend(file.axes.iter().map(|axis| axis.name.as_str()));
    header.extend(columns.iter().map(|(title, ..)| *title));
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.variant.to_owned()];
        row.extend(group.values.iter().map(|value| (*value).to_owned()));
        row.extend(columns.iter().map(|(_, metric, format)| cell(group, &format!("{metric}{of}"), *format)));
        row
    });
    table(&header, rows)
}

/// The mean over the runs, with its spread if there are several.
fn cell(group: &Group<'_>, metric: &str, format: fn(f64) -> String) -> String {
    let values = group.metric(metric);
    if group.runs.is_empty() {
        return "failed".to_owned();
    }
    if values.is_empty() {
        return "-".to_owned();
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() == 1 {
        return format(mean);
    }
    match deviation(&values, mean) {
        0.0 => format(mean),
        spread => format!("{} ±{}", format(mean), format(spread)),
    }
}

/// Standard deviation of a sample of at least two.
fn deviation(values: &[f64], mean: f64) -> f64 {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

fn two_digits(value: f64) -> String {
    format!("{value:.2}")
}

fn kilobytes(bytes: f64) -> String {
    human::three_digits(bytes / 1e3)
}

/// Counts; small means over seeds need not be whole.
fn whole(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        return human::count(value.round() as u64);
    }
    human::three_digits(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(deviation(&[2.0, 4.0, 6.0], 4.0), 2.0);
        assert_eq!(deviation(&[5.0, 5.0], 5.0), 0.0);
    }

    #[test]
    fn counts_stay_whole_and_means_may_not() {
        assert_eq!(whole(12_345.0), "12,345");
        assert_eq!(whole(2.5), "2.50");
        assert_eq!(whole(8_393.4), "8,393");
    }
}
