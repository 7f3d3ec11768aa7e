// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which nodes have something to do when.
//!
//! In canonical order a node runs alone through a window that is no longer than any link's delay: whatever others do meanwhile
//! reaches it later. What it touches stays in the caches then. Nodes between which a link has no delay are a group that runs
//! together. In insertion order all nodes are one, whose events come one by one.

use crate::units::Nanos;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

/// No group.
pub(super) const NOBODY: u32 = u32::MAX;
/// Windows ahead that are looked up directly.
const AHEAD: u64 = 64;

/// The groups, and when each is due.
pub(super) struct Groups {
    /// Nanoseconds of a window.
    window: u64,
    /// The group of each node.
    of_node: Vec<u32>,
    /// Of each group, whether it is more than one node.
    several: Vec<bool>,
    /// The ports of all groups, and where those of each begin and end.
    ports: Vec<u32>,
    first: Vec<u32>,
    /// When each has something to do at the latest known; `u64::MAX`: nothing.
    due_at: Vec<u64>,
    /// Those that are due in one of the next windows, by the window's number.
    near: Vec<Vec<u32>>,
    /// The first window that may have any.
    first_window: u64,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// What each is to do besides what its ports know: time, rank and place of alarms.
    pub alarms: Vec<BinaryHeap<Reverse<(u64, u64, u32)>>>,
    /// The group that runs now.
    pub running: u32,
}

impl Groups {
    /// Groups that run through windows of so many nanoseconds. `of_node` is the group of each node, `nodes` the node of each port.
    pub fn new(of_node: Vec<u32>, nodes: impl Iterator<Item = u32> + Clone, window: u64) -> Groups {
        let count = of_node.iter().max().map_or(1, |&last| last as usize + 1);
        let mut several = vec![false; count];
        let mut seen = vec![false; count];
        for &group in &of_node {
            several[group as usize] = core::mem::replace(&mut seen[group as usize], true);
        }
        let mut first = vec![0; count + 1];
        nodes.clone().for_each(|node| first[of_node[node as usize] as usize + 1] += 1);
        for group in 0..count {
            first[group + 1] += first[group];
        }
        let mut ports: Vec<u32> = (0..).zip(nodes.clone()).map(|(port, _)| port).collect();
        let nodes: Vec<u32> = nodes.collect();
        ports.sort_by_key(|&port| of_node[nodes[port as usize] as usize]);
        Groups {
            window,
            of_node,
            several,
            ports,
            first,
            due_at: vec![u64::MAX; count],
            near: vec![Vec::new(); AHEAD as usize],
            first_window: 0,
            far: BinaryHeap::new(),
            alarms: vec![BinaryHeap::new(); count],
            running: NOBODY,
        }
    }

    /// The group of a node.
    #[inline]
    pub fn of(&self, node: u32) -> u32 {
        self.of_node[node as usize]
    }

    /// Whether a group is more than one node.
    #[inline]
    pub fn are_several(&self, group: u32) -> bool {
        self.several[group as usize]
    }

    /// Nanoseconds of a window.
    #[inline]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The ports of a group, by their places in [`Groups::port`].
    #[inline]
    pub fn ports(&self, group: u32) -> Range<usize> {
        self.first[group as usize] as usize..self.first[group as usize + 1] as usize
    }

    #[inline]
    pub fn port(&self, place: usize) -> u32 {
        self.ports[place]
    }

    /// A group has something to do at a time.
    #[inline]
    pub fn note(&mut self, group: u32, at: u64) {
        if at < self.due_at[group as usize] {
            self.list(group, at);
        }
    }

    fn list(&mut self, group: u32, at: u64) {
        self.due_at[group as usize] = at;
        let window = at / self.window;
        if window < self.first_window {
            self.turn_back(window);
        }
        if window < self.first_window + AHEAD {
            self.near[(window % AHEAD) as usize].push(group);
        } else {
            self.far.push(Reverse((window, group)));
        }
    }

    /// Something is due before all that is listed.
    #[cold]
    fn turn_back(&mut self, window: u64) {
        let Groups { near, far, due_at, .. } = self;
        let listed = near.iter_mut().flat_map(|listed| listed.drain(..));
        for group in listed.filter(|&group| due_at[group as usize] != u64::MAX) {
            far.push(Reverse((due_at[group as usize] / self.window, group)));
        }
        self.first_window = window;
        self.take_far();
    }

    /// The time at which the next group is due; `None` if none is.
    pub fn next_time(&mut self) -> Option<Nanos> {
        loop {
            self.take_far();
            let Groups { near, due_at, first_window, window, far, .. } = self;
            let listed = &mut near[(*first_window % AHEAD) as usize];
            // A group that has become due earlier, or has run since, is listed elsewhere.
            listed.retain(|&group| due_at[group as usize] / *window == *first_window);
            if let Some(first) = listed.iter().map(|&group| due_at[group as usize]).min() {
                return Some(Nanos(first));
            }
            let next = (1..AHEAD).find(|ahead| !near[((*first_window + ahead) % AHEAD) as usize].is_empty());
            match (next, far.peek()) {
                (Some(ahead), _) => *first_window += ahead,
                (None, Some(&Reverse((window, _)))) => *first_window = window,
                (None, None) => return None,
            }
        }
    }

    /// What was far comes near.
    fn take_far(&mut self) {
        while let Some(&Reverse((window, group))) = self.far.peek()
            && window < self.first_window + AHEAD
        {
            self.far.pop();
            self.near[(window % AHEAD) as usize].push(group);
        }
    }

    /// Takes the groups that are due before `end`, which is in the first window or the one behind it.
    pub fn take_due(&mut self, end: u64, due: &mut Vec<u32>) {
        due.clear();
        for window in [self.first_window, self.first_window + 1] {
            if window * self.window >= end {
                return;
            }
            let due_at = &mut self.due_at;
            self.near[(window % AHEAD) as usize].retain(|&group| {
                let at = &mut due_at[group as usize];
                let is_due = *at < end;
                if is_due {
                    *at = u64::MAX;
                    due.push(group);
                }
                !is_due && *at / self.window == window
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of many notes in any order the earliest of each group counts.
    #[test]
    fn groups_come_when_they_are_due() {
        let mut groups = Groups::new((0..50).collect(), 0..50, 100);
        let mut expected = Vec::new();
        for group in 0..50_u64 {
            let times = [3, 1, 2].map(|n| group * group * 7_919 % 20_000 * n + group % 7);
            times.iter().for_each(|&at| groups.note(group as u32, at));
            expected.push((times[1], group as u32));
        }
        expected.sort_unstable();
        let (mut taken, mut due) = (Vec::new(), Vec::new());
        while let Some(Nanos(next)) = groups.next_time() {
            if taken.len() == 20 {
                groups.note(0, 1);
                assert_eq!(groups.next_time(), Some(Nanos(1)), "what has passed for others");
                groups.take_due(2, &mut due);
                assert_eq!((due.as_slice(), groups.next_time()), (&[0][..], Some(Nanos(next))));
            }
            groups.take_due(next + 1, &mut due);
            due.sort_unstable();
            taken.extend(due.iter().map(|&group| (next, group)));
        }
        assert_eq!(taken, expected);
    }

    #[test]
    fn a_group_may_become_due_again_and_earlier() {
        let mut groups = Groups::new(vec![0, 1, 0], [0, 0, 1, 2].into_iter(), 100);
        let ports = |group| groups.ports(group).map(|place| groups.port(place)).collect::<Vec<_>>();
        assert_eq!((ports(0), ports(1), groups.of(2)), (vec![0, 1, 3], vec![2], 0));
        let mut due = Vec::new();
        groups.note(0, 1_000_000);
        assert_eq!(groups.next_time(), Some(Nanos(1_000_000)));
        groups.note(1, 150);
        groups.note(0, 190);
        assert_eq!(groups.next_time(), Some(Nanos(150)));
        groups.take_due(250, &mut due);
        assert_eq!(due, [1, 0]);
        groups.note(0, 240);
        assert_eq!(groups.next_time(), Some(Nanos(240)));
        groups.take_due(241, &mut due);
        assert_eq!((due.as_slice(), groups.next_time()), (&[0][..], None));
    }
}
