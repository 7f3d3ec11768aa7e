// SPDX-License-Identifier: GPL-2.0-only
//! The same run without its failures, and what these have cost.

use crate::outcome::{Outcome, say};
use hpcc_core::units::Nanos;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::{FailureCost, FctRecord, FlowCost, JobCost, ResultError, Rows, Summary};
use hpcc_model::scenario::Scenario;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Runs a scenario into `out`, and without failures into a folder beside it; says what failures have cost, and adds that to the
/// summary in `out`.
///
/// # Errors
/// The outcome, where one of both has no results, or there are no failures.
pub fn run_both(
    scenario: Scenario,
    out: &Path,
    run: impl Fn(Scenario, &Path) -> Result<Outcome, Outcome>,
) -> Result<Outcome, Outcome> {
    if scenario.link_failures.is_empty() && scenario.degraded.is_empty() && scenario.storms.is_empty() {
        let why = "--failure-cost compares with the same run without [failures], and there are none; expected some";
        return Err(Outcome::refused(&why));
    }
    let (beside, groups) = (without_failures(out), scenario.flows.groups.clone());
    let of_jobs: HashSet<u32> = scenario.flows.jobs.iter().map(|job| job.group).collect();
    let without = Scenario { link_failures: Vec::new(), degraded: Vec::new(), storms: Vec::new(), ..scenario.clone() };
    let outcome = run(scenario, out)?;
    if outcome == Outcome::Stopped {
        say(&"--failure-cost: the run was stopped, and is not compared");
        return Ok(outcome);
    }
    run(without, &beside)?;
    let failed = |error: ResultError| Outcome::refused(&error);
    let cost = compared(out, &beside, &of_jobs).map_err(failed)?;
    lines(&cost, &groups).iter().for_each(|line| say(line));
    let summary = Summary::read(&out.join("summary.json")).map_err(failed)?;
    Summary { failure_cost: Some(cost), ..summary }.replace(out).map_err(failed)?;
    Ok(outcome)
}

/// The folder of the run without failures.
fn without_failures(out: &Path) -> PathBuf {
    // Of `DIR/` beside it, not in it; a path that ends in `..` has a name elsewhere.
    let named = if out.file_name().is_none() { out.canonicalize().ok() } else { None };
    let mut name = named.unwrap_or_else(|| out.components().collect()).into_os_string();
    name.push("-without-failures");
    name.into()
}

fn compared(out: &Path, beside: &Path, of_jobs: &HashSet<u32>) -> Result<FailureCost, ResultError> {
    let jobs = |folder: &Path| match folder.join("jobs.csv") {
        file if file.exists() => Rows::<JobRow>::open(&file)?.collect::<Result<Vec<_>, _>>(),
        _ => Ok(Vec::new()),
    };
    let flows = |folder: &Path| {
        let rows = Rows::<FctRecord>::open(&folder.join("fct.csv"))?;
        // Messages of jobs differ in number where ranks go on in another order.
        let own = rows.filter(|row| row.as_ref().map_or(true, |row| !of_jobs.contains(&row.group)));
        own.map(|row| row.map(|row| (row.flow, row.fct_ns))).collect::<Result<HashMap<_, _>, _>>()
    };
    let (with, without) = (flows(out)?, flows(beside)?);
    let pairs = without.iter().map(|(flow, &time)| (with.get(flow).copied(), time));
    Ok(FailureCost {
        without: beside.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        jobs: jobs(out)?.iter().zip(&jobs(beside)?).map(|(with, without)| JobCost::of(with, without)).collect(),
        flows: (!without.is_empty()).then(|| FlowCost::of(pairs)),
    })
}

/// A line for each job, and one for flows.
fn lines(cost: &FailureCost, groups: &[String]) -> Vec<String> {
    let jobs = cost.jobs.iter().map(|job| {
        let name = groups.get(job.group as usize).map_or("", String::as_str);
        match (job.cost_ns.zip(job.exposed_ns), job.time_ns.zip(job.without_ns)) {
            (Some((cost, exposed)), Some((time, without))) => format!(
                "failures cost job {name} {}, of which {} are exposed communication: {}, without failures {}",
                signed(cost),
                signed(exposed),
                Nanos(time),
                Nanos(without)
            ),
            _ if job.without_ns.is_none() => {
                format!("failures cost job {name} nothing that is known: without them it is not over either; expected a later run.stop")
            }
            _ => format!(
                "failures cost job {name} its end: it is not over by run.stop, and without them after {}",
                job.without_ns.map_or_else(String::new, |time| Nanos(time).to_string())
            ),
        }
    });
    let flows = cost.flows.iter().map(|flows| {
        let unfinished =
            if flows.unfinished > 0 { format!(", and the end of {} others", flows.unfinished) } else { String::new() };
        format!(
            "failures cost {} flows {} on average, {} at most{unfinished}",
            flows.both,
            signed(flows.mean_ns.round() as i64),
            signed(flows.most_ns)
        )
    });
    jobs.chain(flows).collect()
}

/// A time that may be below 0.
fn signed(time: i64) -> String {
    let sign = if time < 0 { "-" } else { "" };
    format!("{sign}{}", Nanos(time.unsigned_abs()))
}
