// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms of collectives, and where they are listed.

use super::{Collective, Kind, Layout, Line, Order, Parts, direct, doubling, nvls, pat, ring, share, tree};
use alloc::vec::Vec;

/// The steps of an algorithm for one piece of data.
#[derive(Debug)]
pub struct Pattern {
    /// What it does.
    pub kind: Kind,
    /// Its name among the algorithms that do this.
    pub name: &'static str,
    /// Each step needs what the one before receives; otherwise any number may be under way.
    pub is_chain: bool,
    /// In which order it has the ranks of servers.
    pub order: Order,
    /// The switches of servers take part: it needs servers with as many ranks in each.
    pub in_servers: bool,
    /// The data is divided among so many independent ways, the piece's among [`Shape::way`]: 1, or 2 trees.
    pub ways: u32,
    /// Why it cannot be done among so many ranks.
    pub refuses: fn(ranks: u32) -> Option<&'static str>,
    /// How many steps a rank takes, of so many in all and in a server, or in the smallest.
    pub steps: fn(ranks: u32, per_server: u32) -> u32,
    /// What a rank does in a step, counted from 0.
    pub step: fn(shape: &Shape<'_>, number: u32, step: &mut Step),
}

impl Pattern {
    /// How many channels use all NICs that the servers of a group have: a ring or a tree leaves a server by one of them.
    pub fn channels(&self, layout: Option<&Layout>) -> u16 {
        let layout = layout.filter(|layout| self.order != Order::Listed && layout.servers() > 1);
        layout.map_or(1, |layout| layout.nics().clamp(1, Collective::MOST_CHANNELS.into()) as u16)
    }
}

/// One rank's view of a piece.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// How many ranks there are, at least 2.
    pub ranks: u32,
    /// The place of this one in the line, as all numbers of ranks here.
    pub rank: u32,
    /// Bytes of the piece, all parts of it.
    pub size: u64,
    /// Which of the pattern's ways it takes.
    pub way: u32,
    /// The ranks, as places in the group.
    pub line: Line<'a>,
    /// So many ranks, one behind the other, are in one server, or in the smallest.
    pub per_server: u32,
    /// How the bytes are divided among ranks that each gets; `None`: evenly.
    pub parts: Option<&'a Parts>,
}

impl Shape<'_> {
    /// The rank so many places after this one, in a ring.
    pub fn after(&self, distance: u32) -> u32 {
        ((u64::from(self.rank) + u64::from(distance)) % u64::from(self.ranks)) as u32
    }

    /// The rank so many places before this one.
    pub fn before(&self, distance: u32) -> u32 {
        self.after(self.ranks - distance % self.ranks)
    }

    /// Bytes that a rank has for another one.
    pub fn between(&self, from: u32, to: u32) -> u64 {
        self.parts.map_or_else(|| self.part(to), |parts| parts.between(self.size, from, to))
    }

    /// Bytes of one rank's part: the data is divided in the order of the group.
    pub fn part(&self, rank: u32) -> u64 {
        share(self.size, self.line.rank_at(rank).into(), self.ranks.into())
    }
}

/// What a rank does in a step: all at once.
#[derive(Debug, Default)]
pub struct Step {
    /// To whom it sends how many bytes.
    pub sends: Vec<(u32, u64)>,
    /// From whom it receives a message.
    pub receives: Vec<u32>,
    /// Tells messages of different steps apart: the number of the step, unless the two ends send and receive in different ones.
    pub tag: u32,
    /// Within a server it sends once, and the switch copies that to all.
    pub is_copied: bool,
}

/// All algorithms; the first of a kind is the usual one.
pub static PATTERNS: &[Pattern] = &[
    ring::ALL_REDUCE,
    ring::ALL_GATHER,
    ring::REDUCE_SCATTER,
    ring::BROADCAST,
    ring::REDUCE,
    ring::SEND_RECEIVE,
    tree::ALL_REDUCE,
    nvls::RING,
    nvls::TREE,
    doubling::ALL_REDUCE,
    doubling::ALL_GATHER,
    doubling::REDUCE_SCATTER,
    doubling::BARRIER,
    direct::ALL_TO_ALL,
    direct::ALL_GATHER,
    direct::REDUCE_SCATTER,
    pat::ALL_GATHER,
    pat::REDUCE_SCATTER,
];

/// The algorithm of a kind with a name; without one the usual.
pub fn find(kind: Kind, name: Option<&str>) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|pattern| pattern.kind == kind && name.is_none_or(|name| name == pattern.name))
}

/// Any number of ranks will do.
pub(super) fn never(_: u32) -> Option<&'static str> {
    None
}
