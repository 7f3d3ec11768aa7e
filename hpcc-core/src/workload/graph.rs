// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program that is a graph: operations with those that each of them requires.

use super::collective::{Collective, Plan};
use super::{Note, Operation, Peer, Peers, Program, Todo};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// What an operation of a graph is.
#[derive(Clone, Debug)]
pub enum Work {
    /// A message.
    Send {
        /// The rank that receives it.
        to: u32,
        /// Its tag.
        tag: u64,
        /// Bytes.
        size: u64,
        /// Its channel.
        channel: u16,
    },
    /// A message that arrives.
    Receive {
        /// From which rank; `None`: any.
        from: Option<u32>,
        /// With which tag; `None`: any.
        tag: Option<u64>,
    },
    /// A computation.
    Compute(Nanos),
    /// Time that has to pass before others begin; a rank that has nothing else left is over.
    Wait(Nanos),
    /// A collective that other ranks take part in.
    Collective(Box<Collective>),
    /// Nothing, for order alone.
    Nothing,
    /// Nothing but a note, by this number, of when it is reached.
    Mark(u32),
}

impl Work {
    /// Whether a rank is not over before it.
    fn has_to_end(&self) -> bool {
        !matches!(self, Work::Wait(_))
    }
}

#[derive(Clone, Debug)]
struct Node {
    work: Work,
    /// The resource that it takes while it lasts.
    resource: Option<u16>,
    /// Where those that wait for its end stand among all dependants, and from where on those that wait for its start do.
    first: u32,
    first_of_start: u32,
}

// Traces have millions.
const _: () = assert!(size_of::<Node>() == 48);

/// Something that at most one operation uses at a time.
#[derive(Clone, Debug, Default)]
struct Resource {
    is_busy: bool,
    /// Those that are ready for it; the lowest number is next.
    ready: BTreeSet<u32>,
}

/// Operations that wait for each other in a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circle {
    /// One of these operations.
    pub operation: u32,
}

/// How a graph is made.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    nodes: Vec<Node>,
    /// Which operation waits for which, and whether for its end.
    edges: Vec<(u32, u32, bool)>,
}

impl GraphBuilder {
    /// Adds an operation; returns its number, counted from 0. Of those with the same resource one runs at a time.
    pub fn add(&mut self, work: Work, resource: Option<u16>) -> u32 {
        self.nodes.push(Node { work, resource, first: 0, first_of_start: 0 });
        self.nodes.len() as u32 - 1
    }

    /// An operation begins when another one is over.
    pub fn require_end(&mut self, operation: u32, other: u32) {
        self.edges.push((other, operation, true));
    }

    /// An operation begins when another one has begun.
    pub fn require_start(&mut self, operation: u32, other: u32) {
        self.edges.push((other, operation, false));
    }

    /// How many operations there are.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The graph.
    ///
    /// # Errors
    /// Operations wait for each other in a circle.
    ///
    /// # Panics
    /// If a requirement names an operation that was not added.
    pub fn build(mut self) -> Result<Graph, Circle> {
        self.edges.sort_unstable_by_key(|&(before, after, at_end)| (before, !at_end, after));
        self.edges.dedup();
        let mut edges = self.edges.iter().peekable();
        let mut dependants = Vec::with_capacity(self.edges.len());
        for node in 0..self.nodes.len() as u32 {
            let mut take = |at_end: bool| {
                let first = dependants.len() as u32;
                while let Some(&(_, after, _)) = edges.next_if(|&&(before, _, end)| before == node && end == at_end) {
                    dependants.push(after);
                }
                first
            };
            let (first, first_of_start) = (take(true), take(false));
            let node = &mut self.nodes[node as usize];
            (node.first, node.first_of_start) = (first, first_of_start);
        }
        let mut missing = vec![0; self.nodes.len()];
        for &after in &dependants {
            missing[after as usize] += 1;
        }
        let resources =
            self.nodes.iter().filter_map(|node| node.resource).max().map_or(0, |last| usize::from(last) + 1);
        let graph = Graph {
            left: self.nodes.iter().filter(|node| node.work.has_to_end()).count() as u32,
            nodes: self.nodes.into(),
            dependants: dependants.into(),
            missing,
            resources: vec![Resource::default(); resources],
            running: BTreeMap::new(),
            has_least_times: false,
        };
        graph.find_circle().map_or(Ok(graph), Err)
    }
}

/// Operations of one rank, and which of them wait for which.
#[derive(Clone, Debug)]
pub struct Graph {
    /// What clones have in common.
    nodes: Arc<[Node]>,
    dependants: Arc<[u32]>,
    /// How many operations each one still waits for.
    missing: Vec<u32>,
    resources: Vec<Resource>,
    /// Collectives under way, by operation.
    running: BTreeMap<u32, Box<Collective>>,
    /// How many operations are not over that the rank waits for.
    left: u32,
    has_least_times: bool,
}

/// Tokens are those of an operation, or of a collective's part.
const SHIFT: u32 = 40;

impl Graph {
    /// What its operations are, by number.
    pub fn works(&self) -> impl Iterator<Item = &Work> {
        self.nodes.iter().map(|node| &node.work)
    }

    /// The resource that each takes while it lasts, by number.
    pub fn resources(&self) -> impl Iterator<Item = Option<u16>> {
        self.nodes.iter().map(|node| node.resource)
    }

    /// Which operations wait for which: the one that is waited for, the one that waits, and whether for its end.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, bool)> {
        let ends = self.nodes.iter().skip(1).map(|next| next.first).chain([self.dependants.len() as u32]);
        self.nodes.iter().zip(ends).zip(0..).flat_map(move |((node, end), other)| {
            (node.first..end).map(move |place| (other, self.dependants[place as usize], place < node.first_of_start))
        })
    }

    /// The graph with plenty of each resource.
    #[must_use]
    pub fn without_resources(self) -> Graph {
        Graph { resources: Vec::new(), ..self }
    }

    /// The graph, not begun, whose collectives take [at least a time](Collective::with_least_time).
    #[must_use]
    pub fn with_least_times(self) -> Graph {
        Graph { has_least_times: true, ..self }
    }

    /// The resource that the operation of a token takes.
    pub fn resource_of(&self, token: u64) -> Option<u16> {
        self.nodes.get(Graph::operation_of(token) as usize)?.resource
    }

    /// Whether the order in which messages come decides which receive takes which: where one of any rank or any tag may take what others
    /// may take, and these are not all alike and posted at the begin.
    pub fn order_decides_receives(&self) -> bool {
        let receives = || {
            self.nodes.iter().zip(&self.missing).filter_map(|(node, &missing)| {
                let Work::Receive { from, tag } = node.work else { return None };
                Some((from, tag, missing == 0 && node.resource.is_none()))
            })
        };
        // One of any tag may take what all others may take, or one of any rank what those of its tag may take.
        let is_any_tag = receives().any(|(_, tag, _)| tag.is_none());
        if !is_any_tag && receives().all(|(from, ..)| from.is_some()) {
            return false;
        }
        let mut groups = BTreeMap::new();
        for (from, tag, is_at_begin) in receives() {
            let group = tag.filter(|_| !is_any_tag);
            let (first, is_of_any, are_alike) = groups.entry(group).or_insert(((from, tag), false, true));
            *is_of_any |= from.is_none() || tag.is_none();
            *are_alike &= *first == (from, tag) && is_at_begin;
        }
        groups.values().any(|&(_, is_of_any, are_alike)| is_of_any && !are_alike)
    }

    /// The graph, not begun, with other plans of its collectives, by their numbers.
    #[must_use]
    pub fn with_plans(&self, plans: &[Plan]) -> Graph {
        let other = |node: &Node| {
            let Work::Collective(collective) = &node.work else { return node.clone() };
            Node { work: Work::Collective(Box::new(collective.with_plan(plans))), ..node.clone() }
        };
        Graph { nodes: self.nodes.iter().map(other).collect(), ..self.clone() }
    }

    /// The operation that a token of this program belongs to.
    pub fn operation_of(token: u64) -> u32 {
        (token >> SHIFT) as u32
    }

    /// How many messages it sends to ranks for which `counts` holds, and their bytes, at most 2^64 - 1, without those of collectives.
    pub fn traffic(&self, counts: impl Fn(u32) -> bool) -> (u64, u64) {
        let size = |work: &Work| {
            if let Work::Send { to, size, .. } = *work { Some(size).filter(|_| counts(to)) } else { None }
        };
        self.works().filter_map(size).fold((0, 0), |(count, bytes), size| (count + 1, u64::saturating_add(bytes, size)))
    }

    /// How long its computations take.
    pub fn computations(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.nodes.iter().filter_map(|node| if let Work::Compute(time) = node.work { Some(time) } else { None })
    }

    /// Gives computations other times.
    pub fn change_computations(&mut self, mut change: impl FnMut(Nanos) -> Nanos) {
        for node in Arc::make_mut(&mut self.nodes) {
            if let Work::Compute(time) = &mut node.work {
                *time = change(*time);
            }
        }
    }

    fn ends(&self, node: u32) -> core::ops::Range<u32> {
        self.nodes[node as usize].first..self.nodes[node as usize].first_of_start
    }

    fn starts(&self, node: u32) -> core::ops::Range<u32> {
        let end = self.nodes.get(node as usize + 1).map_or(self.dependants.len() as u32, |next| next.first);
        self.nodes[node as usize].first_of_start..end
    }

    /// Takes operations off in order; what remains goes round in a circle.
    fn find_circle(&self) -> Option<Circle> {
        let mut missing = self.missing.clone();
        let mut free: Vec<u32> = (0..self.nodes.len() as u32).filter(|&node| missing[node as usize] == 0).collect();
        let mut seen = 0;
        while let Some(node) = free.pop() {
            seen += 1;
            for edge in self.ends(node).chain(self.starts(node)) {
                let after = self.dependants[edge as usize];
                missing[after as usize] -= 1;
                if missing[after as usize] == 0 {
                    free.push(after);
                }
            }
        }
        let circle = || missing.iter().position(|&missing| missing > 0);
        if seen < self.nodes.len() { circle().map(|first| Circle { operation: first as u32 }) } else { None }
    }

    fn resource(&mut self, node: u32) -> Option<&mut Resource> {
        let resource = self.nodes[node as usize].resource?;
        self.resources.get_mut(usize::from(resource))
    }

    /// Begins operations for which nothing is missing, and what follows from that at once.
    fn begin_ready(&mut self, mut ready: Vec<u32>, todo: &mut Todo) {
        ready.reverse();
        while let Some(node) = ready.pop() {
            if let Some(resource) = self.resource(node) {
                if resource.is_busy {
                    resource.ready.insert(node);
                    continue;
                }
                resource.is_busy = true;
            }
            if self.begin(node, todo) {
                self.end(node, &mut ready);
            }
            let started = self.starts(node);
            self.release(started, &mut ready);
        }
    }

    /// Begins an operation. Returns whether it is over at once.
    fn begin(&mut self, node: u32, todo: &mut Todo) -> bool {
        let token = u64::from(node) << SHIFT;
        let operation = match self.nodes[node as usize].work.clone() {
            Work::Send { to, tag, size, channel } => {
                Operation::Send { to, tag, size, channel, is_copy: false, costs: None }
            }
            Work::Receive { from, tag } => Operation::Receive { from, tag },
            Work::Compute(time) => Operation::Compute(time),
            Work::Wait(time) => Operation::Wait(time),
            Work::Nothing => return true,
            Work::Mark(mark) => {
                todo.note(Note::Mark { mark });
                return true;
            }
            Work::Collective(mut collective) => {
                if self.has_least_times {
                    collective = Box::new(collective.with_least_time());
                }
                todo.within(token, |todo| collective.start(todo));
                let is_over = collective.is_over();
                if !is_over {
                    self.running.insert(node, collective);
                }
                return is_over;
            }
        };
        todo.begin(token, operation);
        false
    }

    /// An operation is over: what waited for its end, and one that waited for its resource, become ready.
    fn end(&mut self, node: u32, ready: &mut Vec<u32>) {
        self.left -= u32::from(self.nodes[node as usize].work.has_to_end());
        if let Some(resource) = self.resource(node) {
            resource.is_busy = false;
            ready.extend(resource.ready.pop_first());
        }
        let ended = self.ends(node);
        self.release(ended, ready);
    }

    fn release(&mut self, edges: core::ops::Range<u32>, ready: &mut Vec<u32>) {
        for edge in edges.rev() {
            let after = self.dependants[edge as usize];
            let missing = &mut self.missing[after as usize];
            *missing -= 1;
            if *missing == 0 {
                ready.push(after);
            }
        }
    }
}

impl Program for Graph {
    fn start(&mut self, todo: &mut Todo) {
        let ready = (0..self.nodes.len() as u32).filter(|&node| self.missing[node as usize] == 0).collect();
        self.begin_ready(ready, todo);
    }

    fn on_complete(&mut self, token: u64, todo: &mut Todo) {
        let node = Graph::operation_of(token);
        if let Some(collective) = self.running.get_mut(&node) {
            todo.within(u64::from(node) << SHIFT, |todo| collective.on_complete(token & ((1 << SHIFT) - 1), todo));
            if !collective.is_over() {
                return;
            }
            self.running.remove(&node);
        }
        let mut ready = Vec::new();
        self.end(node, &mut ready);
        ready.reverse();
        self.begin_ready(ready, todo);
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }

    fn peers(&self) -> Vec<Peer> {
        let mut peers = Peers::default();
        for node in self.nodes.iter() {
            match &node.work {
                Work::Send { to, channel, .. } => peers.add(*to, *channel, 1),
                Work::Collective(collective) => collective.add_peers(&mut peers),
                Work::Receive { .. } | Work::Compute(_) | Work::Wait(_) | Work::Nothing | Work::Mark(_) => {}
            }
        }
        peers.list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens of what begins, without their shift.
    fn begun(todo: &mut Todo) -> Vec<u64> {
        core::mem::take(&mut todo.operations).into_iter().map(|(token, _)| token >> SHIFT).collect()
    }

    #[test]
    fn operations_begin_when_what_they_require_is_over_or_has_begun() {
        let mut builder = GraphBuilder::default();
        let works = [10, 20, 30, 40].map(|time| builder.add(Work::Compute(Nanos(time)), None));
        builder.require_end(works[1], works[0]);
        builder.require_start(works[2], works[1]);
        builder.require_end(works[3], works[0]);
        builder.require_end(works[3], works[2]);
        let (mut graph, mut todo) = (builder.build().expect("no circle"), Todo::default());
        graph.start(&mut todo);
        assert_eq!(begun(&mut todo), [0]);
        graph.on_complete(0, &mut todo);
        assert_eq!(begun(&mut todo), [1, 2]);
        graph.on_complete(2 << SHIFT, &mut todo);
        assert_eq!(begun(&mut todo), [3]);
        graph.on_complete(3 << SHIFT, &mut todo);
        assert!(!graph.is_over());
        graph.on_complete(1 << SHIFT, &mut todo);
        assert!(graph.is_over());
    }

    #[test]
    fn a_resource_serves_one_operation_at_a_time_by_number() {
        let mut builder = GraphBuilder::default();
        let works = [10, 20, 30].map(|time| builder.add(Work::Compute(Nanos(time)), Some(1)));
        builder.require_end(works[1], works[2]);
        let (mut graph, mut todo) = (builder.build().expect("no circle"), Todo::default());
        graph.start(&mut todo);
        assert_eq!(begun(&mut todo), [0]);
        graph.on_complete(0, &mut todo);
        assert_eq!(begun(&mut todo), [2]);
        graph.on_complete(2 << SHIFT, &mut todo);
        assert_eq!(begun(&mut todo), [1]);

        let mut builder = GraphBuilder::default();
        for time in [10, 20] {
            builder.add(Work::Compute(Nanos(time)), Some(1));
        }
        builder.build().expect("no circle").without_resources().start(&mut todo);
        assert_eq!(begun(&mut todo), [0, 1]);
    }

    #[test]
    fn a_rank_waits_for_no_time_that_nothing_else_needs() {
        let mut builder = GraphBuilder::default();
        let works = [Work::Wait(Nanos(10)), Work::Compute(Nanos(5)), Work::Wait(Nanos(10))];
        let works = works.map(|work| builder.add(work, None));
        builder.require_end(works[1], works[0]);
        let (mut graph, mut todo) = (builder.build().expect("no circle"), Todo::default());
        graph.start(&mut todo);
        assert_eq!(begun(&mut todo), [0, 2]);
        graph.on_complete(0, &mut todo);
        assert!(!graph.is_over());
        assert_eq!(begun(&mut todo), [1]);
        graph.on_complete(1 << SHIFT, &mut todo);
        assert!(graph.is_over());
        graph.on_complete(2 << SHIFT, &mut todo);
        assert!(graph.is_over());
    }

    #[test]
    fn a_circle_is_found() {
        let mut builder = GraphBuilder::default();
        let works = [1, 2, 3].map(|_| builder.add(Work::Nothing, None));
        builder.require_end(works[1], works[2]);
        builder.require_start(works[2], works[1]);
        assert_eq!(builder.build().map(|_| ()), Err(Circle { operation: 1 }));
    }

    /// Receives by source and tag, of which the last one waits for the first if they are in a chain.
    fn receives(all: &[(Option<u32>, Option<u64>)], is_chain: bool) -> Graph {
        let mut builder = GraphBuilder::default();
        let nodes: Vec<u32> = all.iter().map(|&(from, tag)| builder.add(Work::Receive { from, tag }, None)).collect();
        if is_chain {
            builder.require_end(nodes[nodes.len() - 1], nodes[0]);
        }
        builder.build().expect("no circle")
    }

    #[test]
    fn the_order_of_messages_decides_where_receives_may_take_the_same() {
        let (given, any, other) = ((Some(1), Some(7)), (None, Some(7)), (None, Some(8)));
        for (all, is_chain, decides) in [
            (&[given, given][..], false, false),
            (&[any, any], false, false),
            (&[any, any], true, true),
            (&[any, given], false, true),
            (&[given, other, other], false, false),
            (&[(Some(1), None), given], false, true),
            (&[(Some(1), None), other], false, true),
            (&[(None, None), (None, None)], false, false),
        ] {
            assert_eq!(receives(all, is_chain).order_decides_receives(), decides, "{all:?} {is_chain}");
        }
    }
}
