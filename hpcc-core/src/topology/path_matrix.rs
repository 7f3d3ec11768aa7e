// SPDX-License-Identifier: MIT OR Apache-2.0
//! The metrics of every pair of hosts.

use super::routes::PathMetrics;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The kind of a pair without a path.
const NO_PATH: u32 = 0;

/// A square of path metrics. Most pairs measure alike, so that each only names its kind: 4 bytes a pair.
#[derive(Clone, Debug, Default)]
pub struct PathMatrix {
    hosts: usize,
    kind_of: Vec<u32>,
    /// Entry 0 stands for "no path".
    kinds: Vec<Option<PathMetrics>>,
    known: BTreeMap<PathMetrics, u32>,
}

impl PathMatrix {
    /// A matrix for so many hosts, without paths.
    pub fn new(hosts: usize) -> Self {
        let kind_of = alloc::vec![NO_PATH; hosts * hosts];
        PathMatrix { hosts, kind_of, kinds: alloc::vec![None], known: BTreeMap::new() }
    }

    /// The path between two hosts, given by their places.
    pub fn get(&self, row: u32, column: u32) -> Option<PathMetrics> {
        self.kinds[self.kind_of[self.place(row, column)] as usize]
    }

    /// Sets a path.
    pub fn set(&mut self, row: u32, column: u32, metrics: PathMetrics) {
        let place = self.place(row, column);
        let kinds = &mut self.kinds;
        self.kind_of[place] = *self.known.entry(metrics).or_insert_with(|| {
            kinds.push(Some(metrics));
            kinds.len() as u32 - 1
        });
    }

    fn place(&self, row: u32, column: u32) -> usize {
        row as usize * self.hosts + column as usize
    }

    /// What paths there are, each kind once.
    pub fn kinds(&self) -> impl Iterator<Item = PathMetrics> + '_ {
        self.kinds.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitRate, Nanos};

    fn path(delay: u64, gbps: u64) -> PathMetrics {
        PathMetrics { delay: Nanos(delay), transmission: Nanos(80), bottleneck: BitRate::gbps(gbps), links: 2 }
    }

    #[test]
    fn equal_paths_share_a_kind() {
        let mut matrix = PathMatrix::new(3);
        for column in 0..3 {
            matrix.set(1, column, path(1_000, 100));
        }
        matrix.set(2, 0, path(2_000, 100));
        assert_eq!(matrix.kinds().count(), 2);
        assert_eq!((matrix.get(1, 2), matrix.get(2, 0)), (Some(path(1_000, 100)), Some(path(2_000, 100))));
        assert_eq!(matrix.get(0, 1), None);
    }
}
