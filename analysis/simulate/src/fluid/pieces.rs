// SPDX-License-Identifier: GPL-2.0-only
//! Longer pieces of rings, where nobody says how long they are.
//!
//! The ranks of a ring send all the time, piece behind piece: shorter pieces let the latency of one pass while another is sent,
//! for which a few are enough. Times of four pieces are within 0.1 % of those of hundreds, and so are their messages fewer.
//! In chains that fill up, such as trees and broadcasts, each piece counts: these keep theirs.

use hpcc_core::workload::collective::{Kind, Plan};
use hpcc_model::job::JobSpec;
use hpcc_model::scenario::Scenario;

/// So many pieces of a channel.
const PIECES: u64 = 4;

/// The scenario with such pieces, and what to say of it, if it has longer rings.
pub fn with_fewer(scenario: &Scenario) -> Option<(Scenario, String)> {
    let is_cut = |plan: &Plan| longer(plan).is_some();
    let is_changed = |job: &JobSpec| job.has_usual_pieces && job.collectives().iter().any(is_cut);
    if !scenario.flows.jobs.iter().any(is_changed) {
        return None;
    }
    let mut changed = scenario.clone();
    for job in changed.flows.jobs.iter_mut().filter(|job| is_changed(job)) {
        *job = job.with_plans(|plan| longer(plan).unwrap_or_else(|| plan.clone()));
    }
    Some((
        changed,
        format!("fluid: channels of rings are cut into {PIECES} pieces, which fluid runs sooner: chunk sets others"),
    ))
}

/// A ring in which all ranks send all the time, if it has more pieces.
fn longer(plan: &Plan) -> Option<Plan> {
    let is_ring = plan.pattern.name == "ring"
        && matches!(plan.pattern.kind, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter);
    let chunk = plan.size.div_ceil(plan.channels.into()).div_ceil(PIECES);
    (is_ring && chunk > plan.chunk).then(|| Plan { chunk, ..plan.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{FluidHow, run};
    use hpcc_model::results::Rows;
    use hpcc_model::results::jobs_csv::JobRow;

    /// The time of an operation of 512 MB among 16 GPUs, in ns; and whether its rings have other pieces.
    fn time(operation: &str, chunk: &str) -> (f64, bool) {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("a.toml");
        let text = format!(
            "run.stop = \"10s\"\ntransport.mtu = 4096\ncongestion_control.algorithm = \"none\"\n\
             topology = {{ kind = \"rails\", servers = 4, rails = 4, spines = 4, rate = \"400Gbps\", delay = \"1us\" }}\n\
             servers = {{ gpus = 4, rate = \"3600Gbps\", latency = \"1us\" }}\n\
             traffic = [{{ kind = \"collective\", operation = \"{operation}\", size = \"512MB\"{chunk} }}]\n"
        );
        std::fs::write(&file, text).expect("written");
        let scenario = hpcc_formats::load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
        let out = folder.path().join("out");
        run(&scenario, &out, FluidHow { is_quiet: true, check: None }).expect("a run");
        let row = Rows::<JobRow>::open(&out.join("jobs.csv")).expect("a file").next().expect("a job").expect("a row");
        (row.time_ns.expect("an end") as f64, with_fewer(&scenario).is_some())
    }

    /// NCCL's pieces have 512 KiB of each of 16 ranks.
    #[test]
    fn four_pieces_take_the_time_of_all() {
        for operation in ["all_reduce", "all_gather", "reduce_scatter"] {
            let (few, all) = (time(operation, ""), time(operation, ", chunk = 8388608"));
            assert!(few.1 && !all.1, "{operation}: who says chunk has it");
            assert!((few.0 / all.0 - 1.0).abs() < 1e-3, "{operation}: {few:?} {all:?}");
        }
        assert!(!time("broadcast", "").1, "chains that fill up keep theirs");
    }
}
