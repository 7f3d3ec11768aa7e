// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each rank exchanges with each other one directly, beginning with the next: no two ranks begin with the same.

use super::pattern::{Pattern, never};
use super::{Kind, Order};

/// Step n exchanges with the rank n + 1 places away, if there is anything.
pub(super) const ALL_TO_ALL: Pattern = Pattern {
    kind: Kind::AllToAll,
    name: "direct",
    is_chain: false,
    order: Order::Listed,
    in_servers: false,
    ways: 1,
    refuses: never,
    steps: |ranks, _| ranks - 1,
    step: |shape, number, step| {
        let (to, from) = (shape.after(number + 1), shape.before(number + 1));
        let is_any = |from, to| shape.parts.is_none() || shape.between(from, to) > 0;
        step.sends.extend(is_any(shape.rank, to).then(|| (to, shape.between(shape.rank, to))));
        step.receives.extend(is_any(from, shape.rank).then_some(from));
    },
};

/// Each sends its own part to all.
pub(super) const ALL_GATHER: Pattern = Pattern {
    kind: Kind::AllGather,
    step: |shape, number, step| {
        step.sends.push((shape.after(number + 1), shape.part(shape.rank)));
        step.receives.push(shape.before(number + 1));
    },
    ..ALL_TO_ALL
};

/// Each sends to all the part that they sum up.
pub(super) const REDUCE_SCATTER: Pattern = Pattern { kind: Kind::ReduceScatter, ..ALL_TO_ALL };
