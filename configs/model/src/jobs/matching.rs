// SPDX-License-Identifier: GPL-2.0-only
//! Whether every message that is sent is received, and nobody waits for himself.

use super::ideal;
use crate::error::InputError;
use crate::place::Place;
use hpcc_core::workload::{Graph, Job, Program, Work};
use std::collections::HashMap;

/// Most ranks of a circle that an error names.
const LONGEST_CHAIN: usize = 8;

/// Refuses graphs that can never end, whatever resources there are. Errors blame an operation by its place and its name, which `named` gives for a rank and the
/// number of its operation.
pub(super) fn check(graphs: &[Graph], named: impl Fn(u32, u32) -> (Place, String)) -> Result<(), InputError> {
    let wrong = |(rank, operation): (u32, u32), what: String| {
        let (place, name) = named(rank, operation);
        Err(place.error(format!("rank {rank}, {name}: {what}")))
    };
    if let Some((operation, what)) = unmatched(graphs) {
        return wrong(operation, what);
    }
    let programs = graphs.iter().map(|graph| (0, Box::new(graph.clone().without_resources()) as Box<dyn Program>));
    // All on hosts of their own: messages of one host need no network.
    let ranks = programs.zip(0..).map(|((_, program), rank)| (rank, program)).collect();
    let job = Job { ranks, ..Job::default() };
    let stuck = ideal::depth(job).unfinished;
    let waiting: HashMap<u32, (u32, Option<u32>)> =
        stuck.iter().filter_map(|rank| Some((rank.rank, (Graph::operation_of(rank.token?), rank.awaits?.0)))).collect();
    let Some(first) = waiting.keys().min().copied() else { return Ok(()) };
    let (mut seen, mut links, mut next) = (Vec::new(), Vec::new(), Some(first));
    while let Some((rank, &(operation, from))) = next.and_then(|rank| waiting.get_key_value(&rank)) {
        if seen.contains(rank) || seen.len() == LONGEST_CHAIN {
            break;
        }
        seen.push(*rank);
        let source = from.map_or_else(|| "any rank".into(), |from| format!("rank {from}"));
        links.push(format!("{} of rank {rank} waits for {source}", named(*rank, operation).1));
        next = from;
    }
    wrong((first, waiting[&first].0), format!("ranks wait for each other: {}", links.join(", ")))
}

/// The first operation without a counterpart, and what is wrong with it.
fn unmatched(graphs: &[Graph]) -> Option<((u32, u32), String)> {
    // Messages by sender, receiver and tag: how many are sent, and received.
    let mut messages: HashMap<(u32, u32, u64), (u32, u32)> = HashMap::new();
    let mut wild: HashMap<u32, u32> = HashMap::new();
    for (graph, rank) in graphs.iter().zip(0..) {
        for work in graph.works() {
            match *work {
                Work::Send { to, tag, .. } => messages.entry((rank, to, tag)).or_default().0 += 1,
                Work::Receive { from: Some(from), tag: Some(tag) } => {
                    messages.entry((from, rank, tag)).or_default().1 += 1;
                }
                Work::Receive { .. } => *wild.entry(rank).or_default() += 1,
                Work::Compute(_) | Work::Wait(_) | Work::Collective(_) | Work::Nothing | Work::Mark(_) => {}
            }
        }
    }
    let mut keys: Vec<_> = messages.into_iter().filter(|(_, (sent, received))| sent != received).collect();
    keys.sort_unstable();
    for ((sender, receiver, tag), (sent, received)) in keys {
        let (rank, count) = if sent < received { (receiver, sent) } else { (sender, received) };
        let is_it = |work: &Work| match *work {
            Work::Send { to, tag: its, .. } => sent > received && to == receiver && its == tag,
            Work::Receive { from, tag: its } => sent < received && from == Some(sender) && its == Some(tag),
            Work::Compute(_) | Work::Wait(_) | Work::Collective(_) | Work::Nothing | Work::Mark(_) => false,
        };
        if sent > received {
            // Receives of any rank or tag may take them.
            let left = wild.entry(receiver).or_default();
            match left.checked_sub(sent - received) {
                Some(rest) => {
                    *left = rest;
                    continue;
                }
                None if *left > 0 => {
                    let what = format!("more messages are sent to rank {receiver} than it receives");
                    return Some(((rank, nth(&graphs[rank as usize], 0, is_it)), what));
                }
                None => {}
            }
        }
        let what = format!(
            "rank {sender} sends {sent} messages with tag {tag} to rank {receiver}, which receives {received} of them; expected as many"
        );
        return Some(((rank, nth(&graphs[rank as usize], count, is_it)), what));
    }
    let (rank, left) = wild.into_iter().filter(|(_, left)| *left > 0).min()?;
    let is_wild = |work: &Work| matches!(work, Work::Receive { from, tag } if from.is_none() || tag.is_none());
    let what = format!("{left} receives from any rank or with any tag have no message; expected as many as are sent");
    Some(((rank, nth(&graphs[rank as usize], 0, is_wild)), what))
}

/// The number of an operation of which so many like it are before.
fn nth(graph: &Graph, count: u32, is_it: impl Fn(&Work) -> bool) -> u32 {
    let mut numbers = graph.works().zip(0..).filter(|(work, _)| is_it(work)).map(|(_, number)| number);
    numbers.nth(count as usize).unwrap_or_default()
}
