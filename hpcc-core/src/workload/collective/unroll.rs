// SPDX-License-Identifier: MIT OR Apache-2.0
//! A collective as the messages that it becomes.

use super::{Plan, Step, share};
use crate::workload::{GraphBuilder, Work};
use alloc::vec;
use alloc::vec::Vec;

impl Plan {
    /// How many messages and receives an iteration is at all ranks together, at most.
    pub fn operations(&self) -> u64 {
        let of_piece =
            u64::from(self.steps()) * 2 * if self.pattern.in_servers { u64::from(self.per_server()) } else { 2 };
        let of_rank = (0..self.channels).map(|channel| u64::from(self.pieces(channel)).saturating_mul(of_piece));
        of_rank.fold(0, u64::saturating_add).saturating_mul(self.ranks().into())
    }

    /// How many tags tell the messages of an iteration apart.
    pub fn tags(&self) -> u64 {
        let pieces = (0..self.channels).map(|channel| self.pieces(channel)).max().unwrap_or(1);
        u64::from(self.channels) * u64::from(pieces) * u64::from(self.steps())
    }

    /// Adds an iteration of the rank at a place of the group to a graph, behind the operation `before`; `after` waits for all of
    /// it. Tags are those from a first one on. What begins here when any of several steps or pieces is over begins there when
    /// the first of these is.
    pub fn unroll(&self, place: u32, first_tag: u64, (before, after): (u32, u32), graph: &mut GraphBuilder) {
        let steps = self.steps();
        let tags = self.tags() / u64::from(self.channels);
        let mut step = Step::default();
        for channel in 0..self.channels {
            let (pieces, depth) = (self.pieces(channel), (self.depth * self.pattern.ways) as usize);
            let rank = self.place_of(channel, place);
            let mut over: Vec<Vec<u32>> = Vec::new();
            for piece in 0..pieces {
                let size = share(self.of_channel(channel), piece.into(), pieces.into());
                let begin = (piece as usize).checked_sub(depth).map_or_else(|| vec![before], |past| over[past].clone());
                let mut needs = begin.clone();
                let mut taken: Vec<Vec<u32>> = Vec::new();
                for number in 0..steps {
                    self.fill_step((channel, rank), (size, piece % self.pattern.ways), number, &mut step);
                    let member = |place| self.member(channel, place);
                    let of_step = u64::from(piece) * u64::from(steps) + u64::from(step.tag);
                    let tag = first_tag + u64::from(channel) * tags + of_step;
                    if !self.pattern.is_chain {
                        let past = (number as usize).checked_sub(self.window as usize);
                        needs = past.map_or_else(|| begin.clone(), |past| taken[past].clone());
                    }
                    let receives: Vec<u32> = step
                        .receives
                        .iter()
                        .map(|&from| graph.add(Work::Receive { from: Some(member(from)), tag: Some(tag) }, None))
                        .collect();
                    let send = |graph: &mut GraphBuilder, to, size| {
                        let channel = self.first_channel.wrapping_add(channel);
                        graph.add(Work::Send { to: member(to), tag, size, channel }, None)
                    };
                    let mut all = receives.clone();
                    all.extend(step.sends.iter().map(|&(to, size)| send(graph, to, size)));
                    all.iter().for_each(|&operation| {
                        needs.iter().for_each(|&other| graph.require_end(operation, other));
                        graph.require_end(after, operation);
                    });
                    if !receives.is_empty() {
                        needs = receives;
                    }
                    taken.push(all);
                }
                over.push(taken.into_iter().flatten().collect());
            }
        }
    }
}
