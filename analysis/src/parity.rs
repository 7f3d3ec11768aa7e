// SPDX-License-Identifier: GPL-2.0-only
//! `parity`: every run of the reference simulator that we hold, repeated and compared.

use anyhow::Result;
use hpcc_golden::{Golden, Replay, Run, Simulator, Source, is_claimed};

use crate::human;
use crate::outcome::Outcome;
use crate::table::table;

/// Repeats the runs whose name (`SCENARIO/RUN`) contains `filter`, one after the other so that processor times
/// mean something, and prints how each compares with the reference.
///
/// # Errors
/// If the reference's runs or the simulator cannot be found.
pub fn parity(filter: &str) -> Result<Outcome> {
    let golden = Golden::in_tree()?;
    let simulator = Simulator::from_environment()?;
    let chosen = |run: &Run| run.to_string().contains(filter);
    let mut cases = Vec::new();
    for run in golden.runs().iter().filter(|run| run.source() == Source::Reference && chosen(run)) {
        cases.push(golden.case(run)?);
    }
    let listed = cases.len();
    for campaign in Golden::CAMPAIGNS {
        cases.extend(golden.campaign(campaign)?.into_iter().filter(|case| chosen(&case.run)));
    }
    let (mut exact, total) = (0, cases.len());
    let (mut rows, mut trouble) = (Vec::new(), Vec::new());
    for (index, case) in cases.iter().enumerate() {
        let run = &case.run;
        if !is_claimed(case) {
            trouble.push(format!("{run}: not available in this version"));
            continue;
        }
        human::show_step(&run.to_string());
        match simulator.replay(case) {
            Ok(replay) => {
                exact += usize::from(replay.verdict.is_exact());
                trouble.extend(replay.verdict.differences().iter().map(|difference| format!("{run}: {difference}")));
                // The small runs of the campaigns are too many to be listed, unless nothing else was asked for.
                if index < listed || listed == 0 {
                    rows.push(row(run, &replay));
                }
            }
            Err(error) => trouble.push(error.to_string()),
        }
    }
    human::clear_step();
    println!("{}\n {exact} of {total} runs exact", table(&TITLES, rows));
    for line in &trouble {
        println!(" {line}");
    }
    Ok(if exact == total && total > 0 { Outcome::Good } else { Outcome::Failed })
}

const TITLES: [&str; 8] = ["run", "flows", "exact", "largest diff (ns)", "CPU (s)", "ns/hop", "reference", "ratio"];

fn row(run: &Run, replay: &Replay) -> Vec<String> {
    let Replay { verdict, summary } = replay;
    let reference = run.ns_per_packet_hop();
    let ratio = reference.map(|reference| reference / summary.ns_per_packet_hop);
    let number = |value: Option<f64>, digits| value.map_or_else(String::new, |value| format!("{value:.digits$}"));
    vec![
        run.to_string(),
        verdict.flows.to_string(),
        verdict.exact.to_string(),
        verdict.largest_ns.to_string(),
        number(Some(summary.run_cpu_s), 2),
        number(Some(summary.ns_per_packet_hop), 0),
        number(reference, 0),
        number(ratio, 1),
    ]
}
