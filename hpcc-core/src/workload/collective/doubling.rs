// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks exchange with partners at distances that are halved or doubled.

use super::pattern::{Pattern, Shape, Step, never};
use super::{Kind, Order, share};

/// Halving, then doubling.
pub(super) const ALL_REDUCE: Pattern = Pattern {
    kind: Kind::AllReduce,
    name: "halving_doubling",
    is_chain: true,
    order: Order::Listed,
    in_servers: false,
    ways: 1,
    refuses: only_powers,
    steps: |ranks, _| 2 * rounds(ranks),
    step: |shape, number, step| {
        let rounds = rounds(shape.ranks);
        if number < rounds { halve(shape, number, step) } else { double(shape, number - rounds, step) }
    },
};

/// What a rank has doubles in each step.
pub(super) const ALL_GATHER: Pattern =
    Pattern { kind: Kind::AllGather, steps: |ranks, _| rounds(ranks), step: double, ..ALL_REDUCE };

/// What a rank is concerned with is halved in each step.
pub(super) const REDUCE_SCATTER: Pattern =
    Pattern { kind: Kind::ReduceScatter, steps: |ranks, _| rounds(ranks), step: halve, ..ALL_REDUCE };

/// After step n a rank has heard of 2^(n + 1) ranks.
pub(super) const BARRIER: Pattern = Pattern {
    kind: Kind::Barrier,
    name: "dissemination",
    refuses: never,
    steps: |ranks, _| ranks.next_power_of_two().ilog2(),
    step: |shape, number, step| {
        step.sends.push((shape.after(1 << number), 0));
        step.receives.push(shape.before(1 << number));
    },
    ..ALL_REDUCE
};

fn only_powers(ranks: u32) -> Option<&'static str> {
    (!ranks.is_power_of_two()).then_some("it needs 2, 4, 8, 16 ... ranks")
}

fn rounds(ranks: u32) -> u32 {
    ranks.ilog2()
}

/// Sends the half that the partner, at half the distance of the step before, goes on with.
fn halve(shape: &Shape<'_>, number: u32, step: &mut Step) {
    let distance = shape.ranks >> (number + 1);
    exchange(shape, distance, shape.rank ^ distance, step);
}

/// Sends all that a rank has to a partner at twice the distance of the step before.
fn double(shape: &Shape<'_>, number: u32, step: &mut Step) {
    exchange(shape, 1 << number, shape.rank, step);
}

/// Exchanges with the rank at a distance as many parts as the distance, of those ranks among which `of` is.
fn exchange(shape: &Shape<'_>, distance: u32, of: u32, step: &mut Step) {
    let (partner, number) = (shape.rank ^ distance, of / distance);
    // The parts of so many ranks are divided as one part of fewer.
    step.sends.push((partner, share(shape.size, number.into(), (shape.ranks / distance).into())));
    step.receives.push(partner);
}
