// SPDX-License-Identifier: GPL-2.0-only
//! The variants side by side, as text.

use super::columns::{LARGE, SMALL, Word};
use super::file::SweepFile;
use super::group::Group;
use super::metrics::Sizes;
use super::report::TableKind;
use crate::human;
use crate::table::table;

/// A column below a heading: its title and its metric.
type Column = (&'static str, &'static str);

/// A heading, the columns below it, and what follows the names of their metrics: the group whose flows they are of.
type Part = (String, &'static [Column], String);

/// The columns that the file asks for, then its tables, one below the other, with a row for each variant and step of the axes.
pub fn render(file: &SweepFile, groups: &[Group<'_>], sizes: Sizes) -> String {
    let mut text = format!("{}\n", file.title);
    if !file.columns.is_empty() {
        text += &format!("\n{}", chosen(file, sizes, groups));
    }
    let names = group_names(groups);
    for (heading, columns, of) in file.tables.iter().flat_map(|kind| parts(*kind, sizes, &names)) {
        text += &format!("\n{heading}\n\n{}", render_one(file, columns, &of, groups));
    }
    if file.seeds.len() > 1 {
        let lacks_runs = groups.iter().any(|group| group.runs.len() < file.seeds.len());
        let fewer = if lacks_runs { "; of fewer where runs are missing" } else { "" };
        text += &format!("\nmean of {} seeds ± standard deviation{fewer}\n", file.seeds.len());
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
    ("flows", "flows"),
    ("unfinished", "flows_unfinished"),
    ("mean", "slowdown_mean"),
    ("p50", "slowdown_p50"),
    ("p95", "slowdown_p95"),
    ("p99", "slowdown_p99"),
];
const SMALL_FLOWS: &[Column] = &[
    ("mean", "slowdown_small_mean"),
    ("p50", "slowdown_small_p50"),
    ("p95", "slowdown_small_p95"),
    ("p99", "slowdown_small_p99"),
];
const LARGE_FLOWS: &[Column] = &[
    ("mean", "slowdown_large_mean"),
    ("p50", "slowdown_large_p50"),
    ("p95", "slowdown_large_p95"),
    ("p99", "slowdown_large_p99"),
];
const GROUP_FLOWS: &[Column] = &[
    ("flows", "flows"),
    ("mean", "slowdown_mean"),
    ("p50", "slowdown_p50"),
    ("p95", "slowdown_p95"),
    ("p99", "slowdown_p99"),
];
const GROUP_GOODPUT: &[Column] =
    &[("median", "goodput_p50_gbps"), ("mean", "goodput_mean_gbps"), ("Jain's index", "goodput_jain")];
const GOODPUT: &[Column] = &[
    ("median", "goodput_large_p50_gbps"),
    ("mean", "goodput_large_mean_gbps"),
    ("Jain's index", "goodput_large_jain"),
];
const QUEUE: &[Column] = &[
    ("p50 (kB)", "queue_p50_bytes"),
    ("p95 (kB)", "queue_p95_bytes"),
    ("p99 (kB)", "queue_p99_bytes"),
    ("max (kB)", "queue_max_bytes"),
    ("grew for (us)", "queue_growth_ns"),
    ("PFC pauses", "pfc_pauses"),
    ("paused (us)", "pfc_pause_ns"),
    ("of all time (%)", "pfc_paused_percent"),
    ("drops", "drops"),
    ("sent again", "resent_packets"),
];
const OVERHEAD: &[Column] =
    &[("from the sender", "telemetry_sender_bytes"), ("added by each switch", "telemetry_hop_bytes")];
const FEEDBACK: &[Column] = &[
    ("bytes on links per kB of payload", "telemetry_per_kb"),
    ("feedback packets per ms", "feedback_per_ms"),
    ("probes", "probes"),
];

fn render_one(file: &SweepFile, columns: &[Column], of: &str, groups: &[Group<'_>]) -> String {
    let columns: Vec<(String, String)> =
        columns.iter().map(|(title, metric)| ((*title).to_owned(), format!("{metric}{of}"))).collect();
    rows(file, "", &columns, groups)
}

/// The table of the columns that the file chose, with what small and large flows are if any is of those.
fn chosen(file: &SweepFile, sizes: Sizes, groups: &[Group<'_>]) -> String {
    let columns: Vec<(String, String)> =
        file.columns.iter().map(|column| (column.value.head(), column.value.name.clone())).collect();
    let mut text = rows(file, "\n", &columns, groups);
    let notes = [
        (SMALL, format!("up to {}", human::bytes(sizes.small_up_to))),
        (LARGE, format!("over {}", human::bytes(sizes.large_above))),
    ];
    let notes = notes.iter().filter(|(whose, _)| file.columns.iter().any(|column| column.value.is_of(whose)));
    let notes: Vec<String> = notes.map(|(whose, sizes)| format!("{whose}: {sizes}")).collect();
    if !notes.is_empty() {
        text += &format!("\n{}\n", notes.join("; "));
    }
    text
}

/// A row for each variant and step of the axes; columns are titles and metrics. What is ahead of the titles that have one line
/// moves these to the last line of the others.
fn rows(file: &SweepFile, ahead: &str, columns: &[(String, String)], groups: &[Group<'_>]) -> String {
    let names = ["variant"].into_iter().chain(file.axes.iter().map(|axis| axis.name.as_str()));
    let mut header: Vec<String> = names.map(|name| format!("{ahead}{name}")).collect();
    header.extend(columns.iter().map(|(title, _)| title.clone()));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.variant.to_owned()];
        row.extend(group.values.iter().map(|value| (*value).to_owned()));
        row.extend(columns.iter().map(|(_, metric)| cell(group, metric)));
        row
    });
    table(&header, rows)
}

/// The mean over the runs, with its spread if there are several.
fn cell(group: &Group<'_>, metric: &str) -> String {
    let values = group.metric(metric);
    if group.runs.is_empty() {
        return "missing".to_owned();
    }
    let Some(word) = Word::of(metric).filter(|_| !values.is_empty()) else { return "-".to_owned() };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() == 1 {
        return word.write(mean);
    }
    match deviation(&values, mean) {
        0.0 => word.write(mean),
        spread => format!("{} ±{}", word.write(mean), word.write(spread)),
    }
}

/// The columns that the file asks for as data: a row for each variant and step of the axes, the mean of each metric in the unit
/// of its name, and with several seeds the standard deviation beside it; empty where a run has no such metric.
///
/// # Errors
/// Never: it is written to memory.
pub fn wide(file: &SweepFile, groups: &[Group<'_>]) -> anyhow::Result<String> {
    let spreads = file.seeds.len() > 1;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = vec!["variant".to_owned()];
    header.extend(file.axes.iter().map(|axis| axis.name.clone()));
    for column in &file.columns {
        header.push(column.value.name.clone());
        header.extend(spreads.then(|| format!("{}_std", column.value.name)));
    }
    writer.write_record(&header)?;
    for group in groups {
        let mut row: Vec<String> = [group.variant].iter().chain(&group.values).map(|word| (*word).to_owned()).collect();
        for column in &file.columns {
            let values = group.metric(&column.value.name);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            row.push(if values.is_empty() { String::new() } else { mean.to_string() });
            let spread = || if values.len() > 1 { deviation(&values, mean).to_string() } else { String::new() };
            row.extend(spreads.then(spread));
        }
        writer.write_record(&row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Standard deviation of a sample of at least two.
fn deviation(values: &[f64], mean: f64) -> f64 {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(deviation(&[2.0, 4.0, 6.0], 4.0), 2.0);
        assert_eq!(deviation(&[5.0, 5.0], 5.0), 0.0);
    }
}
