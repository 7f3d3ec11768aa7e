// SPDX-License-Identifier: MIT OR Apache-2.0
//! NVLink SHARP: the switch in a server sums what its GPUs send, and copies what it sends to them. GPUs at one place of all
//! servers share a part of the data, which they sum up over the network.

use super::pattern::{Pattern, Shape, Step, never};
use super::{Kind, Line, Order};
use super::{ring, share, tree};

/// A ring of each part between servers.
pub(super) const RING: Pattern = Pattern {
    kind: Kind::AllReduce,
    name: "nvls",
    is_chain: true,
    order: Order::Chains,
    in_servers: true,
    ways: ring::ALL_REDUCE.ways,
    refuses: never,
    steps: |ranks, of_server| 2 + (ring::ALL_REDUCE.steps)(ranks / of_server, 1),
    step: |shape, number, step| sum(shape, number, &ring::ALL_REDUCE, step),
};

/// NVLSTree: two binary trees of each part between servers.
pub(super) const TREE: Pattern = Pattern {
    name: "nvls_tree",
    ways: tree::ALL_REDUCE.ways,
    steps: |ranks, of_server| 2 + (tree::ALL_REDUCE.steps)(ranks / of_server, 1),
    step: |shape, number, step| sum(shape, number, &tree::ALL_REDUCE, step),
    ..RING
};

/// Each rank gets the server's sum of its part, the whole sum from those that have this part of other servers, and gives all of
/// its server that.
fn sum(shape: &Shape<'_>, number: u32, between: &Pattern, step: &mut Step) {
    let gpus = shape.per_server;
    let (server, own) = (shape.rank / gpus, shape.rank % gpus);
    let part = |place: u32| share(shape.size, place.into(), gpus.into());
    let servers = shape.ranks / gpus;
    let steps = (between.steps)(servers, 1);
    if (1..=steps).contains(&number) {
        let outer =
            Shape { ranks: servers, rank: server, size: part(own), line: Line::LISTED, per_server: 1, ..*shape };
        step.tag -= 1;
        (between.step)(&outer, number - 1, step);
        step.tag += 1;
        let at_place = |server: &mut u32| *server = *server * gpus + own;
        step.sends.iter_mut().for_each(|(to, _)| at_place(to));
        return step.receives.iter_mut().for_each(at_place);
    }
    step.is_copied = number > steps;
    for place in (1..gpus).map(|distance| (own + distance) % gpus) {
        step.sends.push((server * gpus + place, part(if step.is_copied { own } else { place })));
        step.receives.push(server * gpus + place);
    }
}
