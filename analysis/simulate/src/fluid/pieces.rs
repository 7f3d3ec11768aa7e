// SPDX-License-Identifier: GPL-2.0-only
//! Longer pieces of the rings of large jobs, where nobody says how long they are.
//!
//! The ranks of a ring send all the time, piece behind piece: shorter pieces let the latency of one pass while another is sent,
//! for which a few are enough, if each takes longer than that. In chains that fill up, such as trees and broadcasts, each piece
//! counts: these keep theirs.

use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::collective::{Kind, Plan};
use hpcc_model::job::JobSpec;
use hpcc_model::scenario::Scenario;

/// So many pieces of a channel.
const PIECES: u64 = 4;
/// Jobs of fewer messages keep theirs.
const MANY: u64 = 1 << 20;

/// The scenario with such pieces, and what to say of it, if it has longer rings.
pub fn with_fewer(scenario: &Scenario, latency: Nanos) -> Option<(Scenario, String)> {
    of_jobs_above(scenario, latency, MANY)
}

fn of_jobs_above(scenario: &Scenario, latency: Nanos, many: u64) -> Option<(Scenario, String)> {
    let fastest = scenario.network.links.iter().map(|link| link.rate).max()?;
    let ring = |plan: &Plan| longer(plan, fastest, latency);
    let is_changed = |job: &JobSpec| {
        job.has_usual_pieces
            && job.collectives().iter().any(|plan| ring(plan).is_some())
            && job.traffic(scenario.servers).0 > many
    };
    if !scenario.flows.jobs.iter().any(is_changed) {
        return None;
    }
    let mut changed = scenario.clone();
    for job in changed.flows.jobs.iter_mut().filter(|job| is_changed(job)) {
        *job = job.with_plans(|plan| ring(plan).unwrap_or_else(|| plan.clone()));
    }
    let note = format!(
        "fluid: rings have {PIECES} pieces a channel, for so large a job takes hours with all: chunk sets others"
    );
    Some((changed, note))
}

/// A ring in which all ranks send all the time, if it has more pieces, of which as many as may be under way take longer than the
/// latency on the fastest link.
fn longer(plan: &Plan, fastest: BitRate, latency: Nanos) -> Option<Plan> {
    let is_ring = plan.pattern.name == "ring"
        && matches!(plan.pattern.kind, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter);
    let under_way = plan.chunk / plan.group.len().max(1) as u64 * u64::from(plan.depth - 1);
    let hides_latency = fastest.time_for(under_way) > latency;
    let chunk = plan.size.div_ceil(plan.channels.into()).div_ceil(PIECES);
    (is_ring && hides_latency && chunk > plan.chunk).then(|| Plan { chunk, ..plan.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{FluidHow, run};
    use hpcc_model::results::Rows;
    use hpcc_model::results::jobs_csv::JobRow;

    /// The time of an operation of 512 MB among 16 GPUs, in ns, with all pieces, and with fewer where there may be.
    fn times(operation: &str, delay: &str) -> (f64, Option<f64>) {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("a.toml");
        let text = format!(
            "run.stop = \"10s\"\ntransport.mtu = 4096\ncongestion_control.algorithm = \"none\"\nswitch.buffer = \"256MB\"\n\
             topology = {{ kind = \"rails\", servers = 4, rails = 4, spines = 4, rate = \"400Gbps\", delay = \"{delay}\" }}\n\
             servers = {{ gpus = 4, rate = \"3600Gbps\", latency = \"1us\" }}\n\
             traffic = [{{ kind = \"collective\", operation = \"{operation}\", size = \"512MB\" }}]\n"
        );
        std::fs::write(&file, text).expect("written");
        let scenario = hpcc_formats::load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
        let latency = crate::fluid::fabric(&scenario).max_rtt();
        let fewer = of_jobs_above(&scenario, latency, 0).map(|(scenario, _)| scenario);
        let time = |scenario: &Scenario| {
            let out = folder.path().join("out");
            run(scenario, &out, FluidHow { is_quiet: true, check: None }).expect("a run");
            let row =
                Rows::<JobRow>::open(&out.join("jobs.csv")).expect("a file").next().expect("a job").expect("a row");
            row.time_ns.expect("an end") as f64
        };
        assert!(with_fewer(&scenario, latency).is_none(), "few messages");
        (time(&scenario), fewer.as_ref().map(time))
    }

    /// NCCL's pieces have 512 KiB of each of 16 ranks.
    #[test]
    fn four_pieces_take_the_time_of_all() {
        for operation in ["all_reduce", "all_gather", "reduce_scatter"] {
            let (all, fewer) = times(operation, "1us");
            let fewer = fewer.expect("a ring");
            assert!((fewer / all - 1.0).abs() < 1e-3, "{operation}: {all} {fewer}");
        }
        assert_eq!(times("broadcast", "1us").1, None, "chains that fill up keep theirs");
        assert_eq!(times("all_reduce", "50us").1, None, "eight pieces do not hide so long a latency");
    }
}
