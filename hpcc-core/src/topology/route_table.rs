// SPDX-License-Identifier: MIT OR Apache-2.0
//! The next hops of a node, in a form that many nodes share.

use super::alike::Place;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The next hops of one node, for every destination.
///
/// Destinations are [grouped](super::alike), and nodes that are linked alike have one table between them.
#[derive(Clone, Debug)]
pub struct RouteTable {
    /// The node; no hop leads to it.
    own: u32,
    /// Groups of all destinations.
    places: Arc<[Place]>,
    shared: Shared,
}

/// Bytes of a table for each group of destinations.
pub(super) const PER_GROUP: u64 = size_of::<Hops>() as u64;

/// What nodes that are linked alike have in common.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// For each group of destinations.
    hops: Arc<[Hops]>,
    ports: Arc<[u16]>,
}

/// Where the next hops to a group of destinations are in a list of ports.
#[derive(Clone, Copy, Debug)]
struct Hops {
    start: u32,
    len: u16,
    /// From the hops of one member to the next member's: 0 where they have the same.
    step: u16,
}

impl Default for RouteTable {
    /// No hop leads anywhere.
    fn default() -> Self {
        RouteTable { own: 0, places: Arc::new([]), shared: Shared { hops: Arc::new([]), ports: Arc::new([]) } }
    }
}

impl RouteTable {
    /// The table of a node.
    pub(super) fn new(own: u32, places: Arc<[Place]>, shared: Shared) -> RouteTable {
        RouteTable { own, places, shared }
    }

    /// The ports, counted from 0, on shortest paths to node `dst`; empty if there is no path, or to `dst` none was
    /// searched.
    #[inline]
    pub fn next_hops(&self, dst: u32) -> &[u16] {
        let place = self.places.get(dst as usize).filter(|_| dst != self.own);
        let Some((place, hops)) = place.and_then(|place| Some((place, self.shared.hops.get(place.group as usize)?)))
        else {
            return &[];
        };
        let start = hops.start as usize + usize::from(hops.step) * place.member as usize;
        &self.shared.ports[start..start + usize::from(hops.len)]
    }
}

/// A table to which the groups of destinations are added one after the other. Equal sets of next hops are stored once, so
/// that the table of a large switch fits a processor's nearest cache.
#[derive(Clone, Debug, Default)]
pub(super) struct TableBuilder {
    hops: Vec<Hops>,
    ports: Vec<u16>,
    known: BTreeMap<Vec<u16>, u32>,
}

impl TableBuilder {
    /// A table for so many groups of destinations.
    pub fn new(groups: usize) -> TableBuilder {
        TableBuilder { hops: Vec::with_capacity(groups), ..TableBuilder::default() }
    }

    /// Adds the next group: these hops lead to all its nodes.
    pub fn push(&mut self, hops: &[u16]) {
        let start = self.known.get(hops).copied().unwrap_or_else(|| {
            let start = self.ports.len() as u32;
            self.ports.extend_from_slice(hops);
            self.known.insert(hops.into(), start);
            start
        });
        self.hops.push(Hops { start, len: hops.len() as u16, step: 0 });
    }

    /// To each of the `members` nodes of the next group leads an equal share of these ports.
    pub fn push_each(&mut self, members: usize, ports: impl Iterator<Item = u16>) {
        let start = self.ports.len();
        self.ports.extend(ports);
        let each = ((self.ports.len() - start) / members.max(1)) as u16;
        self.hops.push(Hops { start: start as u32, len: each, step: each });
    }

    /// The table.
    pub fn finish(self) -> Shared {
        Shared { hops: self.hops.into(), ports: self.ports.into() }
    }
}
