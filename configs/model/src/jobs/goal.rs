// SPDX-License-Identifier: GPL-2.0-only
//! GOAL: schedules of sends, receives and computations, as text or in binary form.

use super::{JobFile, digest, goal_binary, goal_text, matching};
use crate::error::InputError;
use crate::memory::Budget;
use crate::place::Place;
use crate::text::unreadable;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Graph, GraphBuilder, Work};
use std::path::Path;

/// Stands for any rank and any tag.
pub(super) const ANY: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    Send,
    Receive,
    Compute,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub what: OperationKind,
    /// Bytes, or nanoseconds of a computation.
    pub size: u64,
    pub peer: u32,
    pub tag: u32,
    pub cpu: u8,
    pub nic: u8,
}

/// One operation requires another one: its end, or its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub operation: u32,
    pub other: u32,
    pub at_end: bool,
}

/// What a rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rank {
    pub operations: Vec<Operation>,
    pub needs: Vec<Need>,
}

/// The host's part of the LogGOPS model; the network's is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// `o`: the processor's time for each message, at its sender and its receiver.
    pub overhead: Nanos,
    /// `g`: least time between two messages that a NIC sends.
    pub gap: Nanos,
    /// `O`: the processor's time for each byte behind a message's first, in nanoseconds.
    pub per_byte: f64,
}

impl Costs {
    /// The processor's time for a message.
    fn of(&self, size: u64) -> Nanos {
        let bytes = (self.per_byte * size.saturating_sub(1) as f64).round() as u64;
        Nanos(self.overhead.0.saturating_add(bytes).min(Nanos::LONGEST.0))
    }

    /// The graph of a rank. An error is the number of an operation that waits for itself.
    fn graph(&self, rank: &Rank) -> Result<Graph, u32> {
        let mut computes = [false; 256];
        for operation in rank.operations.iter().filter(|operation| operation.what == OperationKind::Compute) {
            computes[usize::from(operation.cpu)] = true;
        }
        let mut builder = GraphBuilder::default();
        // Where each operation begins and ends.
        let mut nodes: Vec<(u32, u32)> = Vec::with_capacity(rank.operations.len());
        for &Operation { what, size, peer, tag, cpu, nic } in &rank.operations {
            let processor = Some(u16::from(cpu));
            let spend = |time: Nanos| if time == Nanos(0) { Work::Nothing } else { Work::Compute(time) };
            let known = |number: u32| Some(number).filter(|&number| number != ANY);
            nodes.push(match what {
                OperationKind::Compute => {
                    let node = builder.add(spend(Nanos(size)), processor);
                    (node, node)
                }
                OperationKind::Receive => {
                    let receive = Work::Receive { from: known(peer), tag: known(tag).map(u64::from) };
                    let first = builder.add(receive, None);
                    let mut last = first;
                    if self.of(size) > Nanos(0) {
                        last = builder.add(spend(self.of(size)), processor);
                        builder.require_end(last, first);
                    }
                    (first, last)
                }
                OperationKind::Send => {
                    let time = self.of(size);
                    let waits = time > Nanos(0) || computes[usize::from(cpu)];
                    let begin = waits.then(|| builder.add(spend(time), processor));
                    let gap =
                        (self.gap > Nanos(0)).then(|| builder.add(Work::Wait(self.gap), Some(256 + u16::from(nic))));
                    let work = Work::Send { to: peer, tag: tag.into(), size, channel: nic.into() };
                    let send = builder.add(work, None);
                    if let Some(gap) = gap {
                        builder.require_start(send, gap);
                    }
                    if let Some(begin) = begin {
                        builder.require_end(gap.unwrap_or(send), begin);
                    }
                    (begin.or(gap).unwrap_or(send), send)
                }
            });
        }
        for &Need { operation, other, at_end } in &rank.needs {
            let first = nodes[operation as usize].0;
            if at_end {
                builder.require_end(first, nodes[other as usize].1);
            } else {
                builder.require_start(first, nodes[other as usize].0);
            }
        }
        builder.build().map_err(|circle| nodes.partition_point(|(first, _)| *first <= circle.operation) as u32 - 1)
    }
}

/// Reads a file of at most so many ranks. Where `nic` numbers are links, the host of each rank has so many.
///
/// # Errors
/// What is no GOAL, links that a host lacks, messages without a counterpart, and operations that wait for themselves.
pub fn read(
    path: &Path,
    most_ranks: u32,
    costs: &Costs,
    links: Option<&[u32]>,
    budget: &Budget,
) -> Result<JobFile, InputError> {
    let place = Place::file(path);
    let bytes = crate::input::read(path).map_err(|error| unreadable(&place, &error))?;
    let refused = |ranks: &[Rank]| {
        let operations = ranks.iter().map(|rank| rank.operations.len() as u128).sum();
        budget.operations(operations).map_err(|message| place.error(message))
    };
    let graphs = if goal_binary::is(&bytes) {
        let room = budget.file(bytes.len(), false);
        let ranks = goal_binary::read(&bytes, most_ranks, &room).map_err(|message| place.error(message))?;
        refused(&ranks)?;
        let named = |_, operation| (place.clone(), format!("operation {operation}"));
        check_nics(&ranks, links, named)?;
        graphs(ranks, costs, named)?
    } else {
        let text = goal_text::Text::of(&place, &bytes)?;
        let ranks = text.ranks(most_ranks)?;
        refused(&ranks)?;
        let named = |rank, operation| text.name(rank, operation);
        check_nics(&ranks, links, named)?;
        graphs(ranks, costs, named)?
    };
    let digest = digest([&bytes[..], format!("{costs:?}").as_bytes()]);
    Ok(JobFile { graphs, collectives: Vec::new(), digest, notes: Vec::new() })
}

/// Refuses sends by links that a rank's host does not have.
fn check_nics(
    ranks: &[Rank],
    links: Option<&[u32]>,
    named: impl Fn(u32, u32) -> (Place, String),
) -> Result<(), InputError> {
    for ((rank, &links), number) in ranks.iter().zip(links.unwrap_or_default()).zip(0..) {
        let lacks = |one: &Operation| one.what == OperationKind::Send && u32::from(one.nic) >= links;
        let Some(operation) = rank.operations.iter().position(lacks) else { continue };
        let (place, name) = named(number, operation as u32);
        return Err(place.error(format!(
            "rank {number}, {name}: nic {} of a host with {links} link{}; expected less, or traffic.links = \"hashed\", with which it is \
             a queue pair and no link",
            rank.operations[operation].nic,
            if links == 1 { "" } else { "s" }
        )));
    }
    Ok(())
}

/// The graphs of ranks. `named` gives place and name of a rank's operation.
fn graphs(
    ranks: Vec<Rank>,
    costs: &Costs,
    named: impl Fn(u32, u32) -> (Place, String),
) -> Result<Vec<Graph>, InputError> {
    let mut graphs = Vec::with_capacity(ranks.len());
    for (rank, number) in ranks.iter().zip(0..) {
        graphs.push(costs.graph(rank).map_err(|operation| {
            let (place, name) = named(number, operation);
            place.error(format!("rank {number}, {name}: it requires itself, by others; expected no circle"))
        })?);
    }
    matching::check(&graphs, |rank, node| {
        // Nodes of messages are in the order of their operations.
        let is_message = |work: &&Work| matches!(work, Work::Send { .. } | Work::Receive { .. });
        let before = graphs[rank as usize].works().take(node as usize).filter(is_message).count();
        let operations = ranks[rank as usize].operations.iter().zip(0..);
        let mut messages = operations.filter(|(operation, _)| operation.what != OperationKind::Compute);
        named(rank, messages.nth(before).map_or(0, |(_, number)| number))
    })?;
    Ok(graphs)
}

#[cfg(test)]
mod tests;
