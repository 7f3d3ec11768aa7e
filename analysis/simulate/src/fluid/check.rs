// SPDX-License-Identifier: GPL-2.0-only
//! The same scenario as packets, as a whole or its first part, and how far off the fluid run was.

use crate::outcome::{Outcome, say};
use crate::run::{How, run};
use crate::usage::cpu_time;
use hpcc_core::units::Nanos;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::{ErrorFigures, FctRecord, JobError, MeasuredError, Rows};
use hpcc_model::scenario::Scenario;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// Until when packets are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// Simulated time; the end of the run if that is earlier.
    pub until: Nanos,
}

/// What is compared: a flow of the scenario by its number, messages of a job by their group, hosts, destination port and size.
/// Numbers of messages depend on the order in which ranks send, but those of a queue pair end in order.
type Key = (Option<u32>, u32, u32, u32, u16, u64);

fn key(row: &FctRecord, is_of_job: bool) -> Key {
    let &FctRecord { flow, src, dst, dport, group, size, .. } = row;
    if is_of_job { (None, group, src, dst, dport, size) } else { (Some(flow), 0, 0, 0, 0, size) }
}

/// Completion times of a fluid run, in the order of the ends.
#[derive(Debug, Default)]
pub struct Times(HashMap<Key, VecDeque<u64>>);

impl Times {
    /// A flow, or a message of a job, is over.
    pub fn add(&mut self, row: &FctRecord, is_of_job: bool) {
        self.0.entry(key(row, is_of_job)).or_default().push_back(row.fct_ns);
    }

    /// The next time of what was over as packets, too.
    fn take(&mut self, row: &FctRecord, is_of_job: bool) -> Option<u64> {
        self.0.get_mut(&key(row, is_of_job))?.pop_front()
    }
}

/// Simulates packets, whose results go to a folder beside `out`, and compares. Flows that are over in both count; without any,
/// or a job, there is no error.
///
/// # Errors
/// The outcome, where packets have no results.
pub fn check(
    scenario: &Scenario,
    check: Check,
    mut times: Times,
    jobs: &[JobRow],
    (is_quiet, out): (bool, &Path),
) -> Result<Option<MeasuredError>, Outcome> {
    let until = scenario.stop.min(check.until);
    let before = cpu_time();
    let packets = beside(out);
    let how = How { is_quiet, is_watched: false, threads: 1 };
    run(Scenario { stop: until, ..scenario.clone() }, &packets, how)?;
    let failed = |error: hpcc_model::results::ResultError| Outcome::refused(&error);
    let groups_of_jobs: HashSet<u32> = scenario.flows.jobs.iter().map(|job| job.group).collect();
    let mut both = Vec::new();
    for row in Rows::<FctRecord>::open(&packets.join("fct.csv")).map_err(failed)? {
        let row = row.map_err(failed)?;
        let fluid = times.take(&row, groups_of_jobs.contains(&row.group));
        both.extend(fluid.map(|fluid| (row.size, fluid, row.fct_ns)));
    }
    let as_packets =
        || Rows::<JobRow>::open(&packets.join("jobs.csv")).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let jobs = if jobs.is_empty() { Vec::new() } else { of_jobs(jobs, &as_packets().map_err(failed)?) };
    if both.is_empty() && jobs.is_empty() {
        say(&format!("--check: nothing to compare: up to {until}, no flow is over in both runs"));
        return Ok(None);
    }
    let packets_cpu_s = cpu_time().saturating_sub(before).as_secs_f64();
    let error = MeasuredError { until_ns: until.0, packets_cpu_s, ..MeasuredError::of(both, jobs) };
    if !is_quiet {
        say(&shown(&error, scenario));
    }
    Ok(Some(error))
}

/// The folder of the packets.
fn beside(out: &Path) -> PathBuf {
    // Of `DIR/` beside it, not in it; a path that ends in `..` has a name elsewhere.
    let named = if out.file_name().is_none() { out.canonicalize().ok() } else { None };
    let mut name = named.unwrap_or_else(|| out.components().collect()).into_os_string();
    name.push("-packets");
    name.into()
}

fn of_jobs(fluid: &[JobRow], packets: &[JobRow]) -> Vec<JobError> {
    let both = fluid.iter().zip(packets);
    let error = |(fluid, packets): (&JobRow, &JobRow)| {
        let (fluid_ns, packets_ns) = fluid.time_ns.zip(packets.time_ns)?;
        let error = fluid_ns as f64 / packets_ns.max(1) as f64 - 1.0;
        Some(JobError { group: fluid.group, fluid_ns, packets_ns, error })
    };
    both.filter_map(error).collect()
}

/// The errors as text.
fn shown(error: &MeasuredError, scenario: &Scenario) -> String {
    let line = |name: String, figures: &ErrorFigures| {
        let percent =
            [figures.mean, figures.p50, figures.p90, figures.p99, figures.max, figures.of_p50, figures.of_p99];
        let percent = percent.map(|part| format!("{:8.2}", 100.0 * part)).join(" ");
        format!("\n  {name:>14} {:>8} {percent}", figures.flows)
    };
    let head = format!(
        "fluid against packets, up to {}: errors of completion times in % ({:.2} s of processor time for packets)\n  \
         {:>14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        Nanos(error.until_ns),
        error.packets_cpu_s,
        "size up to",
        "flows",
        "mean",
        "|p50|",
        "|p90|",
        "|p99|",
        "|max|",
        "of p50",
        "of p99"
    );
    let sizes = error.by_size.iter().map(|figures| line(format!("{} B", figures.most_bytes), figures));
    let job = |job: &JobError| {
        let name = scenario.flows.groups.get(job.group as usize).map_or("", String::as_str);
        let (fluid, packets) = (Nanos(job.fluid_ns), Nanos(job.packets_ns));
        format!("\n  job {name}: {fluid}, as packets {packets}: {:+.2} %", 100.0 * job.error)
    };
    let jobs = error.jobs.iter().map(job);
    head + &sizes.collect::<String>() + &line("all".into(), &error.all) + &jobs.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_beside_a_folder_however_it_is_written() {
        for out in ["a/out", "a/out/", "a/out//", "a/./out/."] {
            assert_eq!(beside(Path::new(out)), Path::new("a/out-packets"), "{out}");
        }
    }
}
