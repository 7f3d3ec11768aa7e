// SPDX-License-Identifier: MIT OR Apache-2.0
//! The paths of every pair of hosts.

use super::Link;
use super::routes::PathMetrics;
use crate::units::{BitRate, Nanos};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A kind of path: rates and delays of its links in their order. Kinds that end alike share their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(u32);

impl Kind {
    /// The path from a host to itself.
    pub const HERE: Kind = Kind(0);
    /// No path.
    const NONE: Kind = Kind(u32::MAX);
}

/// The first link of a kind of path, what follows it, and what all of it measures.
#[derive(Clone, Copy, Debug)]
struct Entry {
    first: (BitRate, Nanos),
    rest: Kind,
    metrics: PathMetrics,
    /// Whether a pair of hosts has it.
    used: bool,
}

/// A square of paths. Most pairs have paths of a few kinds, so that each only names its kind: 4 bytes a pair.
#[derive(Clone, Debug)]
pub struct PathMatrix {
    hosts: usize,
    kind_of: Vec<Kind>,
    kinds: Vec<Entry>,
    known: BTreeMap<(BitRate, Nanos, Kind), Kind>,
}

impl PathMatrix {
    /// A matrix for so many hosts, without paths.
    pub fn new(hosts: usize) -> Self {
        let here = Entry {
            first: (BitRate(u64::MAX), Nanos(0)),
            rest: Kind::NONE,
            metrics: PathMetrics { delay: Nanos(0), transmission: Nanos(0), bottleneck: BitRate(u64::MAX), links: 0 },
            used: false,
        };
        let kind_of = alloc::vec![Kind::NONE; hosts * hosts];
        PathMatrix { hosts, kind_of, kinds: alloc::vec![here], known: BTreeMap::new() }
    }

    /// The path that begins with `link` and goes on as `rest`; `payload` is that of a full packet.
    pub fn extend(&mut self, link: &Link, rest: Kind, payload: u32) -> Kind {
        let kinds = &mut self.kinds;
        *self.known.entry((link.rate, link.delay, rest)).or_insert_with(|| {
            let metrics = kinds[rest.0 as usize].metrics.extend(link, payload);
            kinds.push(Entry { first: (link.rate, link.delay), rest, metrics, used: false });
            Kind(kinds.len() as u32 - 1)
        })
    }

    /// The kind of path between two hosts, given by their places.
    pub fn get(&self, row: u32, column: u32) -> Option<Kind> {
        Some(self.kind_of[self.place(row, column)]).filter(|&kind| kind != Kind::NONE)
    }

    /// Sets a path.
    pub fn set(&mut self, row: u32, column: u32, kind: Kind) {
        let place = self.place(row, column);
        self.kind_of[place] = kind;
        self.kinds[kind.0 as usize].used = true;
    }

    fn place(&self, row: u32, column: u32) -> usize {
        row as usize * self.hosts + column as usize
    }

    /// What a path measures.
    pub fn metrics(&self, kind: Kind) -> PathMetrics {
        self.kinds[kind.0 as usize].metrics
    }

    /// The links of a path, from its beginning: rate and delay.
    pub fn links(&self, mut kind: Kind) -> Vec<(BitRate, Nanos)> {
        let mut links = Vec::with_capacity(usize::from(self.metrics(kind).links));
        while kind != Kind::HERE {
            let entry = &self.kinds[kind.0 as usize];
            links.push(entry.first);
            kind = entry.rest;
        }
        links
    }

    /// The kinds of paths that pairs have, each once; that of a host to itself is among them.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        (0..).zip(&self.kinds).filter(|(_, entry)| entry.used).map(|(index, _)| Kind(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(gbps: u64, delay: u64) -> Link {
        Link { a: 0, b: 1, rate: BitRate::gbps(gbps), delay: Nanos(delay), loss: 0.0 }
    }

    #[test]
    fn equal_paths_share_a_kind_and_know_their_links_in_order() {
        let mut matrix = PathMatrix::new(3);
        let last = matrix.extend(&link(100, 1_000), Kind::HERE, 1_000);
        let path = matrix.extend(&link(25, 2_000), last, 1_000);
        assert_eq!(path, matrix.extend(&link(25, 2_000), last, 1_000));
        for column in 0..3 {
            matrix.set(1, column, path);
        }
        assert_eq!(matrix.kinds().collect::<Vec<_>>(), [path], "no pair has the other");
        assert_eq!((matrix.get(1, 2), matrix.get(0, 1)), (Some(path), None));
        assert_eq!(matrix.links(path), [(BitRate::gbps(25), Nanos(2_000)), (BitRate::gbps(100), Nanos(1_000))]);
        let expected =
            PathMetrics { delay: Nanos(3_000), transmission: Nanos(320 + 80), bottleneck: BitRate::gbps(25), links: 2 };
        assert_eq!(matrix.metrics(path), expected);
    }
}
