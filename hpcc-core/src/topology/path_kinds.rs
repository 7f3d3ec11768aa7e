// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of paths between hosts: a large network has few.

use super::Link;
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

/// The first link of a kind of path, the rest of the path, and its metrics.
#[derive(Clone, Copy, Debug)]
struct Entry {
    first: (BitRate, Nanos),
    rest: Kind,
    metrics: PathMetrics,
    /// Whether a pair of hosts has it.
    used: bool,
}

/// What a path from one host to another measures, one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathMetrics {
    /// Sum of propagation delays.
    pub delay: Nanos,
    /// Sum of the times that one full payload takes on each link.
    pub transmission: Nanos,
    /// Rate of the slowest link.
    pub bottleneck: BitRate,
    /// Links, at most 255 of them counted.
    pub links: u8,
}

impl PathMetrics {
    /// The metrics of the path from a node to itself.
    pub const HERE: PathMetrics =
        PathMetrics { delay: Nanos(0), transmission: Nanos(0), bottleneck: BitRate(u64::MAX), links: 0 };

    /// What a path measures that has one link more, of this rate and delay.
    pub fn extend(&self, (rate, delay): (BitRate, Nanos), payload: u32) -> PathMetrics {
        let bits = u64::from(payload) * 8;
        PathMetrics {
            delay: self.delay + delay,
            transmission: self.transmission + Nanos(bits * 1_000_000_000 / rate.0.max(1)),
            bottleneck: self.bottleneck.min(rate),
            links: self.links.saturating_add(1),
        }
    }

    /// Base round-trip time as the 2019 simulator computes it: delays both ways, and the payload's transmission one
    /// way, without headers and acknowledgement.
    pub fn rtt(&self) -> Nanos {
        Nanos(self.delay.0.saturating_mul(2)) + self.transmission
    }

    /// The time that `size` bytes would take on an idle path, as the 2019 simulator computes it: one base
    /// round-trip time, and payload with `headers` bytes for each packet of `payload` bytes at the
    /// bottleneck's rate. Telemetry is not counted. Its bytes have 32 bits, their product with 8 s 64.
    pub fn standalone_fct(&self, size: u64, payload: u32, headers: u32) -> Nanos {
        let packets = size.div_ceil(u64::from(payload.max(1)));
        let bytes = size.wrapping_add(packets.wrapping_mul(headers.into())) as u32;
        let nanos = u64::from(bytes).wrapping_mul(8_000_000_000) / self.bottleneck.0.max(1);
        Nanos(self.rtt().0.saturating_add(nanos))
    }

    /// Bandwidth-delay product in bytes for this round-trip time.
    pub fn bdp(&self, rtt: Nanos) -> u64 {
        let bits = u128::from(rtt.0) * u128::from(self.bottleneck.0) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }

    /// The same as the 2019 simulator computes it, whose product has 64 bits
    /// ([`wrapping_window`](crate::reference_faults::ReferenceFaults::wrapping_window)).
    pub fn wrapping_bdp(&self, rtt: Nanos) -> u64 {
        rtt.0.wrapping_mul(self.bottleneck.0) / 1_000_000_000 / 8
    }
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
    /// The path that begins with `link` and goes on as `rest`; `payload` is a full packet's.
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

    /// As the 2019 simulator computes them at 400 Gb/s and 23.1 ms of delay, and from 2.3 and 4.3 GB on.
    #[test]
    fn products_of_64_bits_wrap() {
        let path = PathMetrics::HERE.extend((BitRate::gbps(400), Nanos(23_100_000)), 1_000);
        assert_eq!((path.rtt(), path.bdp(path.rtt())), (Nanos(46_200_020), 2_310_001_000));
        assert_eq!(path.wrapping_bdp(path.rtt()), 4_157_990);
        let rest = |size| path.standalone_fct(size, 1_000, 0).0 - path.rtt().0;
        assert_eq!([rest(2_305_843_009), rest(2_305_843_010)], [46_116_860, 0]);
        assert_eq!(rest((1 << 32) + 100_000), 2_000);
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
