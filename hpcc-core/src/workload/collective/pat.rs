// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parallel aggregated trees, as NCCL's PAT: each rank's part goes through a tree of its own, the farthest rank first, and what
//! goes to one rank in a step is one message. Any number of ranks takes the logarithm of it in steps.

use super::pattern::{Pattern, Shape, Step, never};
use super::{Kind, Order, ring};

/// Distances are halved in each step.
pub(super) const ALL_GATHER: Pattern = Pattern {
    name: "pat",
    order: Order::Listed,
    steps: |ranks, _| steps(ranks),
    refuses: never,
    step: |shape, number, step| {
        let distance = 1 << (steps(shape.ranks) - 1 - number);
        step.sends.push((shape.after(distance), parts(shape, shape.rank, distance)));
        step.receives.push(shape.before(distance));
    },
    ..ring::ALL_GATHER
};

/// The same, the other way and in the other direction.
pub(super) const REDUCE_SCATTER: Pattern = Pattern {
    kind: Kind::ReduceScatter,
    step: |shape: &Shape<'_>, number, step: &mut Step| {
        let distance = 1 << number;
        let to = shape.before(distance);
        step.sends.push((to, parts(shape, to, distance)));
        step.receives.push(shape.after(distance));
    },
    ..ALL_GATHER
};

fn steps(ranks: u32) -> u32 {
    ranks.next_power_of_two().ilog2()
}

/// The parts that a rank passes over a distance: its own, and those that have come over multiples of twice that.
fn parts(shape: &Shape<'_>, rank: u32, distance: u32) -> u64 {
    let at = Shape { rank, ..*shape };
    (0..shape.ranks - distance).step_by(2 * distance as usize).map(|before| shape.part(at.before(before))).sum()
}
