// SPDX-License-Identifier: MIT OR Apache-2.0
//! NCCL's two binary trees of servers, each of which carries half of the data: a server inside one is a leaf of the other. The
//! ranks of a server are a chain behind the one that is in the trees.

use super::pattern::{Pattern, Shape, never};
use super::{Kind, Order};
use alloc::vec::Vec;

/// Sums go up, results come down.
pub(super) const ALL_REDUCE: Pattern = Pattern {
    kind: Kind::AllReduce,
    name: "tree",
    is_chain: true,
    order: Order::Chains,
    in_servers: false,
    ways: 2,
    refuses: never,
    steps: |_, _| 4,
    step: |shape, number, step| {
        let (parent, children) = neighbours(shape);
        step.tag = number / 2;
        match number {
            0 => step.receives.extend(children),
            1 => step.sends.extend(parent.map(|parent| (parent, shape.size))),
            2 => step.receives.extend(parent),
            _ => step.sends.extend(children.into_iter().map(|child| (child, shape.size))),
        }
    },
};

/// From whom a rank gets results, and to whom it passes them on.
fn neighbours(shape: &Shape<'_>) -> (Option<u32>, Vec<u32>) {
    let (server, begin, count) = shape.line.server_at(shape.rank);
    let next = Some(shape.rank + 1).filter(|&next| next < begin + count);
    if shape.rank > begin {
        return (Some(shape.rank - 1), next.into_iter().collect());
    }
    let (parent, children) = relatives(server, shape.line.servers(shape.ranks), shape.way == 1);
    let at = |server| shape.line.begin(server);
    (parent.map(at), children.into_iter().map(at).chain(next).collect())
}

/// The parent and the children of a server in one of the trees.
fn relatives(rank: u32, ranks: u32, second: bool) -> (Option<u32>, Vec<u32>) {
    // The second tree is the first one's mirror image, or is moved by one where the number of ranks is odd.
    let is_mirror = ranks.is_multiple_of(2);
    let turn = |rank: u32| match (second, is_mirror) {
        (false, _) => rank,
        (true, true) => ranks - 1 - rank,
        (true, false) => (rank + ranks - 1) % ranks,
    };
    let back = |rank: u32| if second && !is_mirror { (rank + 1) % ranks } else { turn(rank) };
    let place = turn(rank);
    if place == 0 {
        let child = (ranks > 1).then(|| 1 << (ranks - 1).ilog2());
        return (None, child.into_iter().map(back).collect());
    }
    let bit = 1 << place.trailing_zeros();
    let up = (place ^ bit) | bit << 1;
    let parent = if up < ranks { up } else { place ^ bit };
    let mut children = Vec::new();
    if bit > 1 {
        children.push(place - bit / 2);
        let mut half = bit / 2;
        while half > 0 && place + half >= ranks {
            half /= 2;
        }
        children.extend((half > 0).then_some(place + half));
    }
    (Some(back(parent)), children.into_iter().map(back).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parents(ranks: u32, second: bool) -> Vec<Option<u32>> {
        (0..ranks).map(|rank| relatives(rank, ranks, second).0).collect()
    }

    #[test]
    fn trees_of_eight_ranks_are_those_of_nccl() {
        let first = [None, Some(2), Some(4), Some(2), Some(0), Some(6), Some(4), Some(6)];
        let second = [Some(1), Some(3), Some(1), Some(7), Some(5), Some(3), Some(5), None];
        assert_eq!((parents(8, false), parents(8, true)), (first.into(), second.into()));
    }

    #[test]
    fn parents_and_children_know_each_other() {
        for ranks in 2..70 {
            for second in [false, true] {
                let mut edges = 0;
                for rank in 0..ranks {
                    let (_, children) = relatives(rank, ranks, second);
                    edges += children.len() as u32;
                    children.iter().for_each(|&child| assert_eq!(relatives(child, ranks, second).0, Some(rank)));
                }
                assert_eq!(edges, ranks - 1, "{ranks} ranks");
            }
        }
    }
}
