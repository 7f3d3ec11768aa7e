// SPDX-License-Identifier: GPL-2.0-only
//! The summary of a run as text that reads well on a terminal and in a log.

use std::fmt::Write;
use std::iter;

use anyhow::Result;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use hpcc_core::units::Nanos;
use hpcc_measures::quantity::Quantity;
use hpcc_measures::results::{Results, Window};
use hpcc_measures::spread::EXACT;
use hpcc_measures::stats::{self, FctStats, SIZE_BOUNDS, SIZE_CLASSES};
use hpcc_model::results::summary::FLUID;
use hpcc_model::results::{FailedLinks, LinkRetry, MeasuredError, Summary};
use serde::{Deserialize, Serialize};

use crate::chart::Spread;
use crate::{human, jobs, pauses};

/// Columns apart, a rule below the header, no frame.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));
/// Packets are cut in vain where that part of all packet-hops is.
const MANY_CUTS: u64 = 10;
/// More unfinished flows than this are only counted.
const UNFINISHED_SHOWN: usize = 20;

/// How many totals are about the network; the others are about the work of simulation.
const OF_NETWORK: usize = 5;

/// The whole text: completion times by flow size, totals, unfinished flows.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn render(results: &Results) -> Result<String> {
    compose(results, &total_lines(&results.summary))
}

/// The text without lines that depend on machine and version.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn lasting(results: &Results) -> Result<String> {
    compose(results, &total_lines(&results.summary)[..OF_NETWORK])
}

fn compose(results: &Results, totals: &[(&str, String)]) -> Result<String> {
    let mut text = heading(&results.summary) + &jobs::render(results)? + &pauses::render(&results.dir)?;
    if results.finished() > 0 {
        text += &completion_times(results)?;
        text.push('\n');
    }
    if results.is_part() {
        text += &selected(results);
    }
    for (name, value) in totals {
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {name:<10} {value}");
    }
    if results.unfinished() > 0 {
        text += &unfinished(results)?;
    }
    Ok(text)
}

/// The words before all tables of a run without packets.
fn heading(s: &Summary) -> String {
    if s.is_fluid() { "Fluid: flows at max-min fair rates, no packets.\n\n".to_owned() } else { String::new() }
}

/// The words where flows, or a part of the run, were selected: totals are not of the selection.
fn selected(results: &Results) -> String {
    let Window { from_ns, until_ns, chosen, .. } = results.window;
    let part = if chosen { format!(", from {} to {}", Nanos(from_ns), Nanos(until_ns)) } else { String::new() };
    let (finished, all) = (results.finished(), results.finished() + results.unfinished());
    let total = human::count(results.summary.flows_total);
    format!(
        " selected   {} of {total} flows{part}; {} of them finished\n\n The whole run, whatever is selected:\n",
        human::count(all),
        human::count(finished)
    )
}

/// The words where percentiles are rounded.
pub fn rounding(flows: u64) -> Option<String> {
    let most = human::count(EXACT);
    (flows > EXACT).then(|| format!("Percentiles are within 0.05 %, as there are more than {most} flows."))
}

/// The figures of some runs' flows by size, of all, and by group if there are several, each with its name. Rows without
/// flows are left out.
///
/// # Errors
/// If a file of the results cannot be read.
fn size_rows<'a>(runs: impl Iterator<Item = &'a Results> + Clone) -> Result<Vec<(String, FctStats)>> {
    let groups = runs.clone().next().map(Results::groups).unwrap_or_default();
    let groups = if groups.len() > 1 { groups } else { Vec::new() };
    let splits = stats::split(runs, &groups, &[SIZE_BOUNDS.as_slice(), &[u64::MAX]].concat())?;
    let classes = SIZE_CLASSES.into_iter().zip(splits[0].bin_stats());
    let names = ["all"].into_iter().chain(groups.iter().map(|(_, name)| *name));
    let rows = classes.chain(names.zip(splits.iter().map(|split| split.all.stats())));
    let has_some = |(_, stats): &(&str, FctStats)| stats.flows + stats.left_out > 0;
    Ok(rows.filter(has_some).map(|(name, stats)| (name.to_owned(), stats)).collect())
}

/// A table in the house's style: the first column is left-aligned, the others right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.to_vec()).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
}

/// A table of words: all columns are left-aligned.
pub fn left_aligned(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.to_vec()).add_rows(rows);
    table.trim_fmt() + "\n"
}

/// A table with a heading.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Titled {
    /// The heading; empty if the table stands alone.
    pub heading: String,
    /// Titles of its columns.
    pub header: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// What has to be said below it; may be empty.
    pub note: String,
}

impl Titled {
    /// As text.
    pub fn render(&self) -> String {
        let heading = if self.heading.is_empty() { String::new() } else { format!("\n{}\n", self.heading) };
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let note = if self.note.is_empty() { String::new() } else { format!("\n{}\n", self.note) };
        format!("{heading}\n{}{note}", table(&header, self.rows.iter().cloned()))
    }
}

fn completion_times(results: &Results) -> Result<String> {
    let header = ["flow size", "flows", "slowdown mean", "p50", "p95", "p99", "FCT p99 (us)"];
    let mut rows = rows(iter::once(results), Spread::None)?;
    let few = align_marked(&mut rows).then(|| FEW.to_owned());
    let left_out = (results.unfinished() > 0).then(|| LEFT_OUT.to_owned());
    let notes = few.into_iter().chain(left_out).chain(rounding(results.finished()));
    Ok(table(&header, rows) + &notes.map(|sentence| format!(" {sentence}\n")).collect::<String>())
}

/// Puts a blank where other figures of a column have a mark, and says whether any has.
fn align_marked(rows: &mut [Vec<String>]) -> bool {
    let columns = rows.first().map_or(0, Vec::len);
    let is_marked = |cell: &String| cell.ends_with(MARK);
    let marked: Vec<bool> = (0..columns).map(|column| rows.iter().any(|row| is_marked(&row[column]))).collect();
    for row in rows {
        let unmarked = row.iter_mut().zip(&marked).filter(|(cell, marked)| **marked && !is_marked(cell));
        unmarked.for_each(|(cell, _)| cell.push(' '));
    }
    marked.contains(&true)
}

/// The mark of a percentile that rests on few flows.
const MARK: char = '*';
/// What it means.
pub const FEW: &str = "* Fewer than 10 flows are above this percentile.";

/// What a number of flows means where fewer finished.
pub const LEFT_OUT: &str = "Figures are of flows that finished: \"2 of 5\" leaves 3 out, which can be the slowest.";

/// The table of completion times: by size, of all, and by group if there are several. Of several seeds, the mean of each
/// figure with its spread, and all flows.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn rows<'a>(runs: impl Iterator<Item = &'a Results> + Clone, spread: Spread) -> Result<Vec<Vec<String>>> {
    let seeds: Vec<_> = runs.clone().map(|run| size_rows(iter::once(run))).collect::<Result<_>>()?;
    let row = |(label, all): &(String, FctStats)| {
        let of_seeds = seeds.iter().flat_map(|rows| rows.iter().filter(|(other, _)| other == label));
        row(label, all, &of_seeds.map(|(_, stats)| *stats).collect::<Vec<_>>(), (seeds.len(), spread))
    };
    Ok(size_rows(runs)?.iter().map(row).collect())
}

fn row(label: &str, all: &FctStats, of_seeds: &[FctStats], (seeds, spread): (usize, Spread)) -> Vec<String> {
    let figure = |percent, quantity: Quantity, digits: usize, of: fn(&FctStats) -> f64| {
        let values: Vec<f64> = of_seeds.iter().filter(|stats| stats.flows > 0).map(of).collect();
        if values.is_empty() {
            return "-".to_owned();
        }
        let mean = spread.words_of(&values, quantity.possible(), |value| format!("{value:.digits$}"));
        let of = if values.len() < seeds { format!(" of {}", values.len()) } else { String::new() };
        let few = percent > 0 && stats::rests_on_few(all.flows, percent);
        format!("{mean}{of}{}", if few { "*" } else { "" })
    };
    let flows = match all.left_out {
        0 => human::count(all.flows),
        left_out => format!("{} of {}", human::count(all.flows), human::count(all.flows + left_out)),
    };
    vec![
        label.to_owned(),
        flows,
        figure(0, Quantity::Slowdown, 2, |stats| stats.slowdown_mean),
        figure(50, Quantity::Slowdown, 2, |stats| stats.slowdown_p50),
        figure(95, Quantity::Slowdown, 2, |stats| stats.slowdown_p95),
        figure(99, Quantity::Slowdown, 2, |stats| stats.slowdown_p99),
        figure(99, Quantity::CompletionTime, 1, |stats| stats.fct_p99_ns as f64 / 1e3),
    ]
}

fn flows(s: &Summary) -> String {
    let endless =
        if s.flows_endless > 0 { format!(", {} without end", human::count(s.flows_endless)) } else { String::new() };
    format!("{} of {} finished{endless}", human::count(s.flows_finished), human::count(s.flows_total))
}

/// The run's totals, each with its name.
pub fn total_lines(s: &Summary) -> [(&'static str, String); 7] {
    let lines = lines_of_packets(s);
    if !s.is_fluid() {
        return lines;
    }
    let error =
        s.measured_error.as_ref().map_or_else(|| "not measured: --check TIME does, if flows end by then".into(), error);
    lines.map(|(name, value)| match name {
        "queue" => (FLUID, "no packets: no queues, pauses, drops and repetitions".into()),
        "PFC" => ("error", error.clone()),
        "frames" | "recovery" => (name, "none".into()),
        "simulated" => (name, format!("{}, {}", simulated(s), human::counted(s.events, "event"))),
        _ => (name, value),
    })
}

/// How far a fluid run is from packets.
/// The errors of jobs, where there are any, before those of flows.
fn error(measured: &MeasuredError) -> String {
    let all = &measured.all;
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let jobs: Vec<String> = measured.jobs.iter().map(|job| format!("{:+.1} %", 100.0 * job.error)).collect();
    let jobs = if jobs.is_empty() { String::new() } else { format!("time of jobs {}; ", jobs.join(", ")) };
    let flows = match all.flows {
        0 => "no flow is over in both".into(),
        count => format!(
            "mean {}, median {}, p99 {} of {} flows",
            percent(all.mean),
            percent(all.p50),
            percent(all.p99),
            human::count(count)
        ),
    };
    format!("{jobs}{flows}, against packets up to {}", Nanos(measured.until_ns))
}

fn lines_of_packets(s: &Summary) -> [(&'static str, String); 7] {
    [
        ("flows", flows(s)),
        ("queue", queue(s)),
        ("PFC", pauses(s)),
        (
            "frames",
            format!("{}, {} lost on links{}{}", drops(s), human::count(s.losses), failed(s) + &retries(s), trims(s)),
        ),
        ("recovery", recovery(s)),
        (
            "simulated",
            format!(
                "{}, {}, {}",
                simulated(s),
                human::counted(s.events, "event"),
                human::counted(s.packet_hops, "packet-hop")
            ),
        ),
        ("cost", cost(s)),
    ]
}

/// For how long something went on, and how long the run would have been.
fn simulated(s: &Summary) -> String {
    match s.busy_until_ns {
        until @ 1.. if until < s.simulated_ns => {
            format!("{} until the last flow ended, of {}", Nanos(until), Nanos(s.simulated_ns))
        }
        _ => Nanos(s.simulated_ns).to_string(),
    }
}

fn pauses(s: &Summary) -> String {
    let mut all = format!("{}, {} paused", human::counted(s.pfc_pauses, "pause"), Nanos(s.pfc_pause_ns));
    if let Some(sent) = s.pfc_sent {
        all += &format!("; nodes sent {}", human::count(sent));
    }
    if let Some(credits) = &s.credits {
        let waits = human::counted(credits.waits, "wait");
        all += &format!("; {waits} for credits, {} in all", Nanos(credits.waited_ns));
    }
    if let Some(asked) = s.source_pauses {
        all += &format!("; switches asked sources for {}", human::counted(asked, "pause"));
    }
    s.receive.as_ref().map_or(all.clone(), |slow| format!("{all}; slow hosts sent {}", human::count(slow.pauses)))
}

fn drops(s: &Summary) -> String {
    let slow = s.receive.as_ref().map(|slow| format!(" ({} by slow hosts)", human::count(slow.dropped)));
    let own = (s.host_drops > 0).then(|| format!(" ({} by their own hosts)", human::count(s.host_drops)));
    let dropped = human::count(s.dropped());
    format!("{dropped} dropped{}{}{}", slow.unwrap_or_default(), own.unwrap_or_default(), no_room(s))
}

/// What of that failed links are the reason of.
fn failed(s: &Summary) -> String {
    let costs = s.failed_links.as_ref().filter(|failed| failed.lost.max(failed.dropped) > 0);
    let told = |failed: &FailedLinks| {
        format!(" (by failed links: {} dropped, {} lost)", human::count(failed.dropped), human::count(failed.lost))
    };
    costs.map(told).unwrap_or_default()
}

/// What links lost and sent again.
fn retries(s: &Summary) -> String {
    let told = |retry: &LinkRetry| {
        format!(
            " ({} more sent again by links, {} frames in all)",
            human::count(retry.lost),
            human::count(retry.resent)
        )
    };
    s.link_retry.as_ref().map(told).unwrap_or_default()
}

/// Why switches with pools had no room for frames.
fn no_room(s: &Summary) -> String {
    let reasons = s.no_room.iter().flatten().filter(|&(_, &frames)| frames > 0);
    let reasons = reasons.map(|(why, &frames)| format!("{why} {}", human::count(frames))).collect::<Vec<_>>();
    if reasons.is_empty() { String::new() } else { format!(" (full: {})", reasons.join(", ")) }
}

fn trims(s: &Summary) -> String {
    s.trims.as_ref().map_or(String::new(), |trims| {
        format!(", {} cut to headers ({} lost)", human::count(trims.cut), human::count(trims.headers_lost))
    })
}

fn recovery(s: &Summary) -> String {
    let cut = s.trims.as_ref().map_or(0, |trims| trims.cut);
    // Timeouts without any loss.
    let needless = s.timeouts > 0 && s.dropped() == 0 && s.losses == 0 && cut == 0;
    let advice = if needless {
        "; no frame was lost, so transport.timeout is too short here"
    } else if s.flows_finished < s.flows_total && cut > s.packet_hops / MANY_CUTS {
        "; cut packets take the links of flows that do not finish: expected a smaller switch.trim_size, or rates that are controlled"
    } else {
        ""
    };
    format!("{} packets sent again, {} timeouts{advice}", human::count(s.resent_packets), human::count(s.timeouts))
}

fn queue(s: &Summary) -> String {
    let Some(port) = s.queue_busiest else { return "always empty".to_owned() };
    let (p99, max) = (human::bytes(s.queue_p99_bytes), human::bytes(s.queue_max_bytes));
    format!("p99 {p99}, max {max} at the busiest port (node {}, port {})", port.node, port.port)
}

fn cost(s: &Summary) -> String {
    let mut text = match s.packet_hops {
        0 => String::new(),
        _ => format!("{} ns per packet-hop, ", human::three_digits(s.ns_per_packet_hop)),
    };
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{:.2} s CPU ({:.2} s set-up), {:.2} s wall, {} memory",
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

fn unfinished(results: &Results) -> Result<String> {
    let header = ["unfinished flow", "src", "dst", "size (B)", "acked (B)", "start (us)"];
    let mut rows = Vec::new();
    results.each_unfinished(|flow| {
        if rows.len() < UNFINISHED_SHOWN {
            rows.push(vec![
                flow.flow.to_string(),
                flow.src.to_string(),
                flow.dst.to_string(),
                human::count(flow.size),
                human::count(flow.acked_bytes),
                format!("{:.1}", flow.start_ns as f64 / 1e3),
            ]);
        }
    })?;
    let more = results.unfinished() - rows.len() as u64;
    let mut text = format!("\n{}", table(&header, rows));
    if more > 0 {
        let _ = writeln!(text, " and {more} more in unfinished.csv");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::transport::receive::ReceiveCounters;
    use hpcc_measures::results::in_memory;
    use hpcc_measures::select::Selection;
    use hpcc_model::results::{FctRecord, Port, UnfinishedFlow};

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
    fn totals_of_the_whole_run_are_told_from_what_is_selected() {
        assert!(!render(&results(2)).expect("in memory").contains("whole run"));
        let some = Selection { groups: vec!["incast".into()], until: Some(5_000), ..Selection::default() };
        let text = render(&results(2).selected(&some).expect("in memory")).expect("in memory");
        let head = " selected   1 of 5 flows, from 0 ns to 5.000 us; 1 of them finished\n\n The whole run, whatever is selected:\n";
        assert!(text.contains(&format!("{head} flows      3 of 5 finished")), "{text}");
    }

    #[test]
    fn percentiles_of_few_flows_have_a_mark() {
        let flow = |flow: u64| FctRecord { size: 1_000, fct_ns: 1_000 + flow, ideal_ns: 1_000, ..FctRecord::default() };
        let of = |flows| {
            let results = in_memory(Summary::default(), (0..flows).map(flow).collect(), Vec::new());
            let text = completion_times(&results).expect("in memory");
            let all = text.lines().find(|line| line.trim_start().starts_with("all ")).expect("a line").to_owned();
            (all.split_whitespace().skip(3).map(|cell| cell.ends_with('*')).collect::<Vec<_>>(), text.contains(FEW))
        };
        assert_eq!(of(16), (vec![true; 4], true));
        assert_eq!(of(300), (vec![false, false, true, true], true));
        assert_eq!(of(1_001), (vec![false; 4], false));
    }

    #[test]
    fn empty_classes_are_left_out() {
        let text = render(&results(0)).expect("in memory");
        assert!(text.contains("up to 10 kB") && text.contains("over 1 MB") && !text.contains("10 - 100 kB"), "{text}");
        assert!(text.contains("p99 22.9 kB, max 61.3 kB at the busiest port (node 9, port 3)"), "{text}");
        assert!(text.contains("3 of 3 finished") && text.contains("1,234,567 events"), "{text}");
        assert!(!text.contains("unfinished"), "{text}");
        let begin = lasting(&results(0)).expect("in memory");
        assert!(text.strip_prefix(&begin).is_some_and(|rest| rest.starts_with(" simulated ")), "{begin}");
    }

    #[test]
    fn what_slow_hosts_drop_counts_as_dropped() {
        let mut results = results(0);
        results.summary.timeouts = 1;
        let text = render(&results).expect("in memory");
        assert!(text.contains("0 dropped, 0 lost") && text.contains("no frame was lost"), "{text}");
        results.summary.drops = 2;
        results.summary.receive = Some(ReceiveCounters { dropped: 5, pauses: 9 });
        let text = render(&results).expect("in memory");
        assert!(text.contains("7 dropped (5 by slow hosts), 0 lost") && text.contains("slow hosts sent 9"), "{text}");
        assert!(!text.contains("no frame was lost"), "{text}");
        (results.summary.receive, results.summary.host_drops) = (None, 2);
        let text = render(&results).expect("in memory");
        assert!(text.contains("2 dropped (2 by their own hosts), 0 lost"), "{text}");
    }

    #[test]
    fn unfinished_flows_are_listed_up_to_a_limit() {
        let text = render(&results(23)).expect("in memory");
        assert!(text.contains("3 of 26 finished") && text.contains("and 3 more in unfinished.csv"), "{text}");
        assert!(!render(&results(20)).expect("in memory").contains("more in"));
    }
}
