// SPDX-License-Identifier: GPL-2.0-only
//! Whether what the parts of a scenario come to together is a number that there is: each part alone is within its range.

use crate::draft::Draft;
use crate::error::InputError;
use crate::flows::{FlowSource, FlowTotals};
use crate::job::{JobSpec, JobWork};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::Graph;
use hpcc_core::workload::collective::Plan;

/// Nanoseconds that all links, or all computations of a job, may take together: sums of them, and their small multiples, are still
/// times.
const LONGEST_SUM: u128 = 1 << 60;

/// Bytes that all flows, or all messages of a job, may have together.
const MOST_BYTES: u64 = 1 << 62;

/// Of which a job has some.
const KEYS: &[&str] = &["iterations", "kind"];

/// Refuses networks whose rates or delays have no sum.
pub fn sums(draft: &Draft) -> Result<(), InputError> {
    let (mut rates, mut delays) = (0_u128, 0_u128);
    for (index, link) in draft.scenario.network.links.iter().enumerate() {
        // At both its ends.
        rates += 2 * u128::from(link.rate.0);
        delays += u128::from(link.delay.0);
        let wrong = if rates > u64::MAX.into() {
            format!("up to this one, links have more than {} together; expected lower rates", BitRate(u64::MAX / 2))
        } else if delays > LONGEST_SUM {
            let sum = LONGEST_SUM / u128::from(Nanos::SECOND.0);
            format!("up to this one, links have delays of more than {sum} s together; expected shorter ones")
        } else {
            continue;
        };
        let places = &draft.places;
        let Some(place) = places.network.as_ref().or(places.links.get(index)) else { continue };
        return Err(place.key_error("topology", wrong));
    }
    Ok(())
}

/// Why flows are too much, if they are.
pub(super) fn flows(totals: &FlowTotals) -> Result<(), String> {
    match totals.bytes > MOST_BYTES {
        true => Err(format!("with this flow there are {} bytes; expected at most {MOST_BYTES} in all", totals.bytes)),
        false => Ok(()),
    }
}

/// Refuses a job whose messages or computations have no sum.
pub(super) fn job(source: &FlowSource) -> Result<(), InputError> {
    let FlowSource::Job { job, origin } = source else { return Ok(()) };
    alone(job).map_err(|message| origin.error(KEYS, message))
}

fn alone(job: &JobSpec) -> Result<(), String> {
    let (bytes, times) = match &job.work {
        JobWork::Collective(plan) => {
            // The bound costs nothing, and is seldom too much.
            let bytes = if most(plan) > MOST_BYTES.into() { plan.traffic(|_, _| true).1 } else { 0 };
            (bytes.into(), u128::from(plan.gap.0) * u128::from(plan.iterations))
        }
        JobWork::Graphs { graphs, collectives, .. } => {
            let of_graphs = graphs.iter().map(|graph| u128::from(graph.traffic(|_| true).1)).sum::<u128>();
            let of_plans = collectives.iter().map(most).sum::<u128>();
            let times = graphs.iter().flat_map(Graph::computations).map(|time| u128::from(time.0)).sum();
            (of_graphs + of_plans, times)
        }
        JobWork::Outside => (0, 0),
    };
    if bytes > MOST_BYTES.into() {
        return Err(format!(
            "the job's messages have more than {MOST_BYTES} bytes together; expected fewer or shorter ones"
        ));
    }
    if times > LONGEST_SUM {
        let sum = LONGEST_SUM / u128::from(Nanos::SECOND.0);
        return Err(format!("the job computes or waits for more than {sum} s in all; expected less"));
    }
    Ok(())
}

/// More bytes than the messages of a collective have: no algorithm sends an array more than twice from each rank, and no message is
/// shorter than a byte.
fn most(plan: &Plan) -> u128 {
    let ranks = plan.group.len() as u128;
    let wire = u128::from(plan.wire.0.div_ceil(plan.wire.1.max(1)));
    (2 * u128::from(plan.size) * ranks * wire.max(1) + u128::from(plan.operations())) * u128::from(plan.iterations)
}
