// SPDX-License-Identifier: GPL-2.0-only
//! `parity`: every run of the 2019 simulator that we hold, repeated and compared.
//!
//! | module | idea |
//! | --- | --- |
//! | [`golden`] | the folder with the runs |
//! | [`run`] | a row of its table: one configuration of one scenario |
//! | [`case`] | a run with its files, which can be unpacked and run unchanged |
//! | [`replay`] | a run, repeated by our simulator |
//! | [`verdict`] | what differs between two sets of outputs |

mod archive;
mod case;
mod fat_tree;
mod golden;
mod replay;
mod run;
mod verdict;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

pub use case::Case;
pub use replay::Replay;
pub use run::Run;
use run::Source;

use hpcc_analysis::Outcome;
use hpcc_analysis::human;
use hpcc_analysis::script::source_tree;
use hpcc_analysis::simulator::{self, Kind, Simulator};
use hpcc_analysis::table::table;

/// Where the 2019 simulator's runs are.
#[derive(clap::Args)]
pub struct Data {
    /// Folder with the 2019 simulator's runs [default: tests/golden of the source tree].
    #[arg(long = "data", value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Data {
    /// The runs that are wanted.
    ///
    /// # Errors
    /// If the folder does not hold them.
    pub fn read(&self, wanted: impl Fn(&Run) -> bool) -> Result<Vec<Case>> {
        match &self.folder {
            Some(folder) => golden::read(folder, wanted),
            None => golden::read(&source_tree()?.join("tests/golden"), wanted),
        }
    }
}

/// Repeats the runs whose name (`SCENARIO/RUN`) contains `filter`, `jobs` at a time and with keys `set`, and prints how each
/// compares with the 2019 simulator. Only with one at a time do processor times mean something.
///
/// # Errors
/// If the runs or the simulator cannot be found, or no name contains `filter`.
pub fn parity(filter: &str, data: &Data, set: &[String], jobs: NonZeroUsize) -> Result<Outcome> {
    let cases = data.read(|run| run.to_string().contains(filter))?;
    let simulator = Simulator::find(simulator::chosen().unwrap_or(Kind::Core))?;
    ensure!(!cases.is_empty(), "no run's name contains \"{filter}\"; expected a part of SCENARIO/RUN");
    let mut chosen: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
    if jobs.get() > 1 {
        // The longest first, so that no processor waits at the end.
        chosen.sort_by_key(|(_, case)| std::cmp::Reverse(case.run.packet_hops));
    }
    let replay = |(place, case): &(usize, &Case)| {
        human::show_step(&case.run.to_string());
        (*place, Replay::of(case, &simulator, set))
    };
    let pool = ThreadPoolBuilder::new().num_threads(jobs.get().min(chosen.len())).build()?;
    let mut replays: Vec<_> = pool.install(|| chosen.par_iter().with_max_len(1).map(replay).collect());
    human::clear_step();
    replays.sort_by_key(|(place, _)| *place);
    let rows: Vec<(&Run, Result<Replay>)> =
        replays.into_iter().map(|(place, replay)| (&cases[place].run, replay)).collect();
    human::print(&render(&rows))?;
    let exact = rows.iter().all(|(_, replay)| is_exact(replay));
    Ok(if exact { Outcome::Good } else { Outcome::Failed })
}

fn is_exact(replay: &Result<Replay>) -> bool {
    replay.as_ref().is_ok_and(|replay| replay.verdict.is_exact())
}

const TITLES: [&str; 8] = ["run", "flows", "exact", "largest diff (ns)", "CPU (s)", "ns/hop", "reference", "ratio"];

fn render(replays: &[(&Run, Result<Replay>)]) -> String {
    // The small runs of the campaigns are too many to be listed, unless nothing else was asked for.
    let is_small = |run: &Run| run.source() == Source::Campaign;
    let all_small = replays.iter().all(|(run, _)| is_small(run));
    let listed = replays.iter().filter(|(run, _)| all_small || !is_small(run));
    let mut text = table(&TITLES, listed.filter_map(|(run, replay)| Some(row(run, replay.as_ref().ok()?))));
    let sources = [
        (Source::Reference, "the 2019 simulator"),
        (Source::Campaign, "the 2019 simulator's campaigns"),
        (Source::Oracle, "its oracle"),
    ];
    for (source, name) in sources {
        let of_source = || replays.iter().filter(|(run, _)| run.source() == source);
        let (total, exact) = (of_source().count(), of_source().filter(|(_, replay)| is_exact(replay)).count());
        if total > 0 {
            text += &format!("\n {exact} of {total} runs of {name} exact");
        }
    }
    text.push('\n');
    for (run, replay) in replays {
        let trouble = match replay {
            Ok(replay) => replay.verdict.differences(),
            Err(error) => vec![human::reason(error)],
        };
        text.extend(trouble.iter().map(|trouble| format!(" {run}: {trouble}\n")));
    }
    text
}

fn row(run: &Run, replay: &Replay) -> Vec<String> {
    let Replay { verdict, summary } = replay;
    let reference = run.ns_per_packet_hop();
    let ratio = reference.map(|reference| reference / summary.ns_per_packet_hop);
    let number = |value: Option<f64>, digits| value.map_or_else(String::new, |value| format!("{value:.digits$}"));
    vec![
        run.to_string(),
        (verdict.flows.pairs.len() + verdict.flows.only_a).to_string(),
        verdict.flows.exact().to_string(),
        verdict.flows.largest_ns().to_string(),
        number(Some(summary.run_cpu_s), 2),
        number(Some(summary.ns_per_packet_hop), 0),
        number(reference, 0),
        number(ratio, 1),
    ]
}
