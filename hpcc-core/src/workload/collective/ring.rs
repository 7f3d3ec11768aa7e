// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rings, as NCCL sends them: each rank sends to the next one, in a step what it received in the step before.

use super::pattern::{Pattern, Shape, Step, never};
use super::{Kind, Order};

/// The ring's reduce-scatter, then its all-gather.
pub(super) const ALL_REDUCE: Pattern = Pattern {
    kind: Kind::AllReduce,
    name: "ring",
    is_chain: true,
    order: Order::Ring,
    in_servers: false,
    ways: 1,
    refuses: never,
    steps: |ranks, _| 2 * (ranks - 1),
    step: |shape, number, step| pass_on(shape, shape.before(number), step),
};

/// Each rank begins with its own part.
pub(super) const ALL_GATHER: Pattern = Pattern { kind: Kind::AllGather, steps: |ranks, _| ranks - 1, ..ALL_REDUCE };

/// Each rank ends with the sum of its own part.
pub(super) const REDUCE_SCATTER: Pattern = Pattern {
    kind: Kind::ReduceScatter,
    steps: |ranks, _| ranks - 1,
    step: |shape, number, step| pass_on(shape, shape.before(number + 1), step),
    ..ALL_REDUCE
};

/// The ring from the first rank on, but for its last step.
pub(super) const BROADCAST: Pattern = Pattern {
    kind: Kind::Broadcast,
    steps: |_, _| 2,
    step: |shape, number, step| {
        step.tag = 0;
        match number {
            0 => step.receives.extend(shape.rank.checked_sub(1)),
            _ => step.sends.extend(Some((shape.rank + 1, shape.size)).filter(|&(to, _)| to < shape.ranks)),
        }
    },
    ..ALL_REDUCE
};

/// The same, the other way.
pub(super) const REDUCE: Pattern = Pattern {
    kind: Kind::Reduce,
    steps: |_, _| 2,
    step: |shape, number, step| {
        step.tag = 0;
        match number {
            0 => step.receives.extend(Some(shape.rank + 1).filter(|&from| from < shape.ranks)),
            _ => step.sends.extend(shape.rank.checked_sub(1).map(|to| (to, shape.size))),
        }
    },
    ..ALL_REDUCE
};

/// Once round by one place.
pub(super) const SEND_RECEIVE: Pattern = Pattern {
    kind: Kind::SendReceive,
    order: Order::Listed,
    steps: |_, _| 1,
    step: |shape, _, step| {
        step.sends.push((shape.after(1), shape.size));
        step.receives.push(shape.before(1));
    },
    ..ALL_REDUCE
};

/// A rank passes on a part and receives another.
fn pass_on(shape: &Shape<'_>, part: u32, step: &mut Step) {
    step.sends.push((shape.after(1), shape.part(part)));
    step.receives.push(shape.before(1));
}
