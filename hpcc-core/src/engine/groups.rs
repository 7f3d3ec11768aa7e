// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which nodes have something to do when.
//!
//! In canonical order a node runs alone through a window that is no longer than any link's delay: whatever others do meanwhile
//! reaches it later. What it touches stays in the caches then. Nodes between which a link has no delay are a group that runs
//! together. In insertion order all nodes are one, whose events come one by one.

use crate::ids::{AlarmId, Id, PortId, Table};
use crate::units::Nanos;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// No group.
pub(super) const NOBODY: u32 = u32::MAX;
/// Slots ahead that are looked up directly.
const AHEAD: u64 = 64;

/// The groups, and when each is due.
pub(super) struct Groups {
    /// Nanoseconds of a window.
    window: u64,
    /// Times are listed by their bits above these: a slot is at least as long as a window.
    shift: u32,
    /// The group of each node.
    of_node: Vec<u32>,
    /// Of each group, whether it is more than one node.
    several: Vec<bool>,
    /// The ports of all groups, and where those of each begin and end.
    ports: Vec<PortId>,
    first: Vec<u32>,
    /// When something happens at each port, or earlier; `u64::MAX`: never.
    port_due_at: Table<PortId, u64>,
    /// When each has something to do at the latest known; `u64::MAX`: nothing.
    due_at: Vec<u64>,
    /// Those that are due in one of the next slots, by the slot's number.
    near: Vec<Vec<u32>>,
    /// The first slot that may have any.
    first_slot: u64,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// What each is to do besides what its ports know: time, rank and place of alarms.
    alarms: Vec<BinaryHeap<Reverse<(u64, u64, AlarmId)>>>,
    /// The group that runs now.
    pub running: u32,
    /// When something happens at its ports behind its window, as far as was known when it began.
    later: u64,
    /// The groups that are due in the present window, and the ports of one at which something happens in it: lists that are used
    /// again.
    pub due: Vec<u32>,
    pub due_ports: Vec<PortId>,
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
        let mut ports: Vec<PortId> = (0..).zip(nodes.clone()).map(|(port, _)| PortId(port)).collect();
        let nodes: Vec<u32> = nodes.collect();
        ports.sort_by_key(|&port| of_node[nodes[port.place()] as usize]);
        Groups {
            window,
            shift: window.next_power_of_two().trailing_zeros(),
            port_due_at: vec![u64::MAX; ports.len()].into(),
            of_node,
            several,
            ports,
            first,
            due_at: vec![u64::MAX; count],
            near: vec![Vec::new(); AHEAD as usize],
            first_slot: 0,
            far: BinaryHeap::new(),
            alarms: vec![BinaryHeap::new(); count],
            running: NOBODY,
            later: u64::MAX,
            due: Vec::new(),
            due_ports: Vec::new(),
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

    /// Something happens at a port at a time.
    #[inline]
    pub fn note_port(&mut self, group: u32, port: PortId, at: u64) {
        let due_at = &mut self.port_due_at[port];
        *due_at = at.min(*due_at);
        self.note(group, at);
    }

    /// An alarm goes off in a group: its time, rank and place.
    pub fn note_alarm(&mut self, group: u32, alarm: (u64, u64, AlarmId)) {
        self.alarms[group as usize].push(Reverse(alarm));
        if group != self.running {
            self.note(group, alarm.0);
        }
    }

    /// All alarms, with their times.
    pub fn alarms(&self) -> impl Iterator<Item = (u64, AlarmId)> + '_ {
        self.alarms.iter().flatten().map(|&Reverse((at, _, alarm))| (at, alarm))
    }

    /// Takes all alarms: group, time, rank and place of each.
    pub fn take_alarms(&mut self) -> Vec<(u32, u64, u64, AlarmId)> {
        let mut all = Vec::new();
        for (group, alarms) in (0..).zip(&mut self.alarms) {
            all.extend(alarms.drain().map(|Reverse((at, rank, alarm))| (group, at, rank, alarm)));
        }
        all
    }

    /// Puts them back.
    pub fn put_alarms(&mut self, all: Vec<(u32, u64, u64, AlarmId)>) {
        for (group, at, rank, alarm) in all {
            self.alarms[group as usize].push(Reverse((at, rank, alarm)));
        }
    }

    /// Forgets when ports are due; groups are due by their alarms alone until ports are noted anew.
    pub fn forget_times(&mut self) {
        self.port_due_at.iter_mut().for_each(|due_at| *due_at = u64::MAX);
        self.due_at.fill(u64::MAX);
        self.near.iter_mut().for_each(Vec::clear);
        self.far.clear();
        for group in 0..self.alarms.len() {
            if let Some(&Reverse((at, ..))) = self.alarms[group].peek() {
                self.note(group as u32, at);
            }
        }
    }

    /// A group begins its window. Takes its ports at which something may happen before `end`.
    #[inline]
    pub fn begin_turn(&mut self, group: u32, end: u64, due: &mut Vec<PortId>) {
        let ports = &self.ports[self.first[group as usize] as usize..self.first[group as usize + 1] as usize];
        due.resize(ports.len(), PortId::default());
        let (mut later, mut count) = (u64::MAX, 0);
        for &port in ports {
            // No branch: which ports these are could not be foreseen.
            let due_at = &mut self.port_due_at[port];
            let is_due = *due_at < end;
            due[count] = port;
            count += usize::from(is_due);
            *due_at = if is_due { u64::MAX } else { *due_at };
            later = later.min(*due_at);
        }
        due.truncate(count);
        (self.running, self.later) = (group, later);
    }

    /// Takes an alarm that goes off in the group that runs before `end`, with its time.
    #[inline]
    pub fn take_alarm(&mut self, end: u64) -> Option<(u64, AlarmId)> {
        let alarms = &mut self.alarms[self.running as usize];
        let &Reverse((at, _, alarm)) = alarms.peek().filter(|first| first.0.0 < end)?;
        alarms.pop();
        Some((at, alarm))
    }

    /// The window of the group that runs is over.
    #[inline]
    pub fn end_turn(&mut self) {
        let group = core::mem::replace(&mut self.running, NOBODY);
        if let Some(alarms) = self.alarms.get(group as usize) {
            let alarm = alarms.peek().map_or(u64::MAX, |first| first.0.0);
            self.note(group, self.later.min(alarm));
        }
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
        let slot = at >> self.shift;
        if slot < self.first_slot {
            self.turn_back(slot);
        }
        if slot < self.first_slot + AHEAD {
            self.near[(slot % AHEAD) as usize].push(group);
        } else {
            self.far.push(Reverse((slot, group)));
        }
    }

    /// Something is due before all that is listed.
    #[cold]
    fn turn_back(&mut self, slot: u64) {
        let Groups { near, far, due_at, .. } = self;
        let listed = near.iter_mut().flat_map(|listed| listed.drain(..));
        for group in listed.filter(|&group| due_at[group as usize] != u64::MAX) {
            far.push(Reverse((due_at[group as usize] >> self.shift, group)));
        }
        self.first_slot = slot;
        self.take_far();
    }

    /// The time at which the next group is due; `None` if none is.
    pub fn next_time(&mut self) -> Option<Nanos> {
        loop {
            self.take_far();
            let Groups { near, due_at, first_slot, shift, far, .. } = self;
            let listed = &mut near[(*first_slot % AHEAD) as usize];
            // A group that has become due earlier, or has run since, is listed elsewhere.
            listed.retain(|&group| due_at[group as usize] >> *shift == *first_slot);
            if let Some(first) = listed.iter().map(|&group| due_at[group as usize]).min() {
                return Some(Nanos(first));
            }
            let next = (1..AHEAD).find(|ahead| !near[((*first_slot + ahead) % AHEAD) as usize].is_empty());
            match (next, far.peek()) {
                (Some(ahead), _) => *first_slot += ahead,
                (None, Some(&Reverse((slot, _)))) => *first_slot = slot,
                (None, None) => return None,
            }
        }
    }

    /// What was far comes near.
    fn take_far(&mut self) {
        while let Some(&Reverse((slot, group))) = self.far.peek()
            && slot < self.first_slot + AHEAD
        {
            self.far.pop();
            self.near[(slot % AHEAD) as usize].push(group);
        }
    }

    /// Takes the groups that are due before `end`, which is in the first slot or the one behind it.
    pub fn take_due(&mut self, end: u64, due: &mut Vec<u32>) {
        due.clear();
        for slot in [self.first_slot, self.first_slot + 1] {
            if slot << self.shift >= end {
                return;
            }
            let due_at = &mut self.due_at;
            self.near[(slot % AHEAD) as usize].retain(|&group| {
                let at = &mut due_at[group as usize];
                let is_due = *at < end;
                if is_due {
                    *at = u64::MAX;
                    due.push(group);
                }
                !is_due && *at >> self.shift == slot
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
        assert_eq!((groups.of(1), groups.of(2)), (1, 0));
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

    /// A turn takes the ports at which something happens in it; what is left is noted when it ends.
    #[test]
    fn a_turn_takes_the_ports_that_are_due() {
        let mut groups = Groups::new(vec![0, 1, 0], [0, 0, 1, 2].into_iter(), 100);
        [(0, 340), (1, 120), (3, 180), (3, 150)]
            .into_iter()
            .for_each(|(port, at)| groups.note_port(0, PortId(port), at));
        groups.note_alarm(0, (190, 7, AlarmId(5)));
        groups.note_alarm(0, (320, 8, AlarmId(6)));
        let (mut due, mut ports) = (Vec::new(), Vec::new());
        assert_eq!(groups.next_time(), Some(Nanos(120)));
        groups.take_due(220, &mut due);
        assert_eq!(due, [0]);
        groups.begin_turn(0, 220, &mut ports);
        assert_eq!(ports, [1, 3].map(PortId));
        assert_eq!((groups.take_alarm(220), groups.take_alarm(220)), (Some((190, AlarmId(5))), None));
        groups.note_port(0, PortId(1), 360);
        groups.end_turn();
        assert_eq!(groups.next_time(), Some(Nanos(320)), "the other alarm");
        groups.take_due(420, &mut due);
        groups.begin_turn(0, 420, &mut ports);
        assert_eq!((ports.as_slice(), groups.take_alarm(420)), (&[0, 1].map(PortId)[..], Some((320, AlarmId(6)))));
        groups.end_turn();
        assert_eq!(groups.next_time(), None);
    }
}
