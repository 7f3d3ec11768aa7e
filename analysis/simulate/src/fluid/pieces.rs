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
