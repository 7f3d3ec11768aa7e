// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of paths between hosts: a large network has few.

use super::Link;
use super::routes::PathMetrics;
use crate::units::{BitRate, Nanos};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A kind of path: rates and delays of its links in their order. Kinds that end alike share their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(u32);

impl Kind {
    /// The path from a node to itself.
    pub const HERE: Kind = Kind(0);
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

/// All kinds of paths that were found.
#[derive(Clone, Debug)]
pub struct PathKinds {
    kinds: Vec<Entry>,
    known: BTreeMap<(BitRate, Nanos, Kind), Kind>,
}

impl Default for PathKinds {
    /// Only [`Kind::HERE`].
    fn default() -> Self {
        let first = (BitRate(u64::MAX), Nanos(0));
        let here = Entry { first, rest: Kind::HERE, metrics: PathMetrics::HERE, used: false };
        PathKinds { kinds: alloc::vec![here], known: BTreeMap::new() }
    }
}

impl PathKinds {
    /// The path that begins with `link` and goes on as `rest`; `payload` is that of a full packet.
    pub fn extend(&mut self, link: &Link, rest: Kind, payload: u32) -> Kind {
        let kinds = &mut self.kinds;
        *self.known.entry((link.rate, link.delay, rest)).or_insert_with(|| {
            let first = (link.rate, link.delay);
            let metrics = kinds[rest.0 as usize].metrics.extend(first, payload);
            kinds.push(Entry { first, rest, metrics, used: false });
            Kind(kinds.len() as u32 - 1)
        })
    }

    /// A pair of hosts has this kind of path.
    pub fn mark_used(&mut self, kind: Kind) {
        self.kinds[kind.0 as usize].used = true;
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

    /// The kinds of paths that pairs of hosts have, each once.
    pub fn used(&self) -> impl Iterator<Item = Kind> + '_ {
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
        let mut kinds = PathKinds::default();
        let last = kinds.extend(&link(100, 1_000), Kind::HERE, 1_000);
        let path = kinds.extend(&link(25, 2_000), last, 1_000);
        assert_eq!(path, kinds.extend(&link(25, 2_000), last, 1_000));
        kinds.mark_used(path);
        assert_eq!(kinds.used().collect::<Vec<_>>(), [path], "no pair has the other");
        assert_eq!(kinds.links(path), [(BitRate::gbps(25), Nanos(2_000)), (BitRate::gbps(100), Nanos(1_000))]);
        let expected =
            PathMetrics { delay: Nanos(3_000), transmission: Nanos(320 + 80), bottleneck: BitRate::gbps(25), links: 2 };
        assert_eq!(kinds.metrics(path), expected);
    }
}
