// SPDX-License-Identifier: GPL-2.0-only
//! What links can carry together from some nodes to others: a maximum flow, by Dinic's algorithm.

use std::collections::VecDeque;

/// One direction of a link.
struct Arc {
    to: usize,
    /// Its remaining capacity.
    left: u64,
    /// Place of the opposite direction among the arcs of `to`.
    back: usize,
}

/// Nodes, and the arcs that leave each of them.
pub struct Capacities {
    arcs: Vec<Vec<Arc>>,
}

impl Capacities {
    /// `nodes` nodes without links.
    pub fn new(nodes: usize) -> Capacities {
        Capacities { arcs: (0..nodes).map(|_| Vec::new()).collect() }
    }

    /// A link that carries `forth` from `a` to `b`, and `back` from `b` to `a`.
    pub fn link(&mut self, a: usize, b: usize, forth: u64, back: u64) {
        let (at_a, at_b) = (self.arcs[a].len(), self.arcs[b].len());
        self.arcs[a].push(Arc { to: b, left: forth, back: at_b });
        self.arcs[b].push(Arc { to: a, left: back, back: at_a });
    }

    /// The most that can flow from one node to another one, which uses it up.
    pub fn flow(&mut self, from: usize, to: usize) -> u64 {
        let mut sum = 0;
        while let Some(levels) = self.levels(from, to) {
            let mut next = vec![0; self.arcs.len()];
            while let Some(more) = self.push(from, to, &levels, &mut next) {
                sum += more;
            }
        }
        sum
    }

    /// How far each node is from the first one over arcs with something left, if the other end can be reached.
    fn levels(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        let mut levels = vec![u32::MAX; self.arcs.len()];
        levels[from] = 0;
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for arc in self.arcs[node].iter().filter(|arc| arc.left > 0) {
                if levels[arc.to] == u32::MAX {
                    levels[arc.to] = levels[node] + 1;
                    queue.push_back(arc.to);
                }
            }
        }
        (levels[to] != u32::MAX).then_some(levels)
    }

    /// Fills one path of ascending levels, and returns how much it took. `next` is where the search goes on at each
    /// node.
    fn push(&mut self, from: usize, to: usize, levels: &[u32], next: &mut [usize]) -> Option<u64> {
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut node = from;
        while node != to {
            let usable = |arc: &Arc| arc.left > 0 && levels[arc.to] == levels[node] + 1;
            match (next[node]..self.arcs[node].len()).find(|place| usable(&self.arcs[node][*place])) {
                Some(place) => {
                    next[node] = place;
                    path.push((node, place));
                    node = self.arcs[node][place].to;
                }
                None => {
                    // A dead end: back, and on with the next arc.
                    next[node] = self.arcs[node].len();
                    let (before, place) = path.pop()?;
                    next[before] = place + 1;
                    node = before;
                }
            }
        }
        let least = path.iter().map(|&(node, place)| self.arcs[node][place].left).min()?;
        for (node, place) in path {
            let arc = &mut self.arcs[node][place];
            arc.left -= least;
            let (peer, back) = (arc.to, arc.back);
            self.arcs[peer][back].left += least;
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_cut_counts() {
        // Two ways of 3 and 2 that share a link of 4, and a shortcut of 1 between them.
        let mut net = Capacities::new(6);
        for (a, b, rate) in [(0, 1, 3), (0, 2, 9), (1, 3, 9), (2, 3, 2), (1, 2, 1), (3, 4, 4), (4, 5, 9)] {
            net.link(a, b, rate, rate);
        }
        assert_eq!(net.flow(0, 5), 4);
        let mut apart = Capacities::new(3);
        apart.link(0, 1, 5, 5);
        assert_eq!(apart.flow(0, 2), 0);
    }
}
