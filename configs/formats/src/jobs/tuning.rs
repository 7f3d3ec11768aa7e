// SPDX-License-Identifier: GPL-2.0-only
//! The algorithm and the protocol that NCCL's cost model chooses: those with which latency and bytes together take least.

use hpcc_core::topology::Network;
use hpcc_core::workload::Servers;
use hpcc_core::workload::collective::{self, Kind, Layout, Pattern};
use std::collections::BTreeSet;

hpcc_core::named! {
    /// How data becomes messages: whole, with a flag beside each 4 bytes, or with one beside each 120.
    #[derive(Default)]
    pub(crate) enum Protocol {
        #[default]
        Simple = "simple",
        Ll = "ll",
        Ll128 = "ll128",
    }
}

impl Protocol {
    const ALL: [Protocol; 3] = [Protocol::Simple, Protocol::Ll, Protocol::Ll128];

    /// So many bytes of messages are so many of data.
    pub fn wire(self) -> (u32, u32) {
        match self {
            Protocol::Simple => (1, 1),
            Protocol::Ll => (2, 1),
            Protocol::Ll128 => (128, 120),
        }
    }
}

/// What the model knows of the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tuning {
    /// Of each rank.
    hosts: Vec<u32>,
    servers: Option<Servers>,
    /// The rate of a NIC, in GB/s.
    nic: f64,
}

/// Times in microseconds of a message, by protocol, within a server and between servers, and of the whole; rates are GB/s of a
/// Hopper GPU. By protocol: simple, LL, LL128.
struct Costs {
    base: [f64; 3],
    inside: [f64; 3],
    between: [f64; 3],
}

const RING: Costs = Costs { base: [8.4, 6.6, 14.0], inside: [3.4, 0.6, 1.9], between: [14.0, 2.7, 4.0] };
const TREE: Costs = Costs { base: [8.4, 6.8, 14.0], inside: [4.0, 0.6, 1.25], between: [14.0, 5.0, 8.5] };
const PAT_BASE: f64 = 8.0;
const PAT_BETWEEN: f64 = 14.0;
/// A switch in a server, then trees between servers.
const NVLS_INSIDE: f64 = 25.0;
const NVLS_TREE_BETWEEN: f64 = 20.9;
/// So much of the bandwidth NVLS uses.
const NVLS_EFFICIENCY: f64 = 0.85;
/// Most of LL on one server, two, and more.
const MOST_OF_LL: [f64; 3] = [141.0, 45.0, 35.0];
/// Most of a channel, of LL128 in a ring, and of a tree on one server, two, and more.
const RING_CHANNEL: f64 = 36.7;
const TREE_CHANNEL: [f64; 3] = [38.7, 41.4, 36.0];

impl Tuning {
    pub fn new(hosts: &[u32], servers: Option<Servers>, network: &Network) -> Tuning {
        let of_first =
            network.links.iter().filter(|link| hosts.first().is_some_and(|&host| link.a == host || link.b == host));
        let nic = of_first.map(|link| link.rate.0 as f64 / 8e9).sum();
        Tuning { hosts: hosts.to_vec(), servers, nic }
    }

    /// Which ranks of a group are in one server; `None`: no two.
    pub fn layout(&self, group: &[u32]) -> Option<Layout> {
        let gpus = self.servers?.gpus;
        // A file may have more ranks than there are hosts, which is refused later.
        let hosts: Option<Vec<_>> = group.iter().map(|&rank| self.hosts.get(rank as usize)).collect();
        Layout::new(hosts?.into_iter().map(|host| (host / gpus, host % gpus)))
    }

    /// What takes least, of the algorithms that the model knows; for other operations the usual one.
    pub fn choose(&self, kind: Kind, group: &[u32], size: u64, channels: u16) -> Option<(&'static Pattern, Protocol)> {
        let mut all = Vec::new();
        for name in ["ring", "tree", "pat", "nvls", "nvls_tree"] {
            let Some(pattern) = collective::find(kind, Some(name)) else { continue };
            let times =
                Protocol::ALL.map(|protocol| (self.time(kind, name, protocol, group, size, channels), protocol));
            all.extend(times.into_iter().filter_map(|(time, protocol)| Some((time?, pattern, protocol))));
        }
        let best = all.into_iter().min_by(|one, other| one.0.total_cmp(&other.0));
        best.map(|(_, pattern, protocol)| (pattern, protocol))
            .or_else(|| Some((collective::find(kind, None)?, Protocol::Simple)))
    }

    /// The model's time in microseconds; `None` where it has none.
    fn time(&self, kind: Kind, name: &str, protocol: Protocol, group: &[u32], size: u64, channels: u16) -> Option<f64> {
        let twice = match kind {
            Kind::AllReduce => 2.0,
            Kind::AllGather | Kind::ReduceScatter => 1.0,
            Kind::AllToAll | Kind::Broadcast | Kind::Reduce | Kind::SendReceive | Kind::Barrier => return None,
        };
        let of_server = self.servers.map_or(1, |servers| servers.gpus);
        let hosts = group.iter().filter_map(|&rank| self.hosts.get(rank as usize));
        let servers: BTreeSet<u32> = hosts.map(|host| host / of_server).collect();
        let (ranks, nodes) = (group.len() as f64, servers.len() as f64);
        let per_node = ranks / nodes;
        let few = servers.len().saturating_sub(1).min(2);
        let inside = self.servers.map_or(self.nic, |servers| servers.rate.0 as f64 / 8e9);
        let bus = if servers.len() == 1 { inside } else { self.nic * per_node.min(f64::from(channels)) };
        let at = protocol as usize;
        let steps = twice * (ranks - 1.0);
        let (latency, rate) = match name {
            "ring" => {
                let between = twice * (nodes - 1.0);
                let latency = RING.base[at] + (steps - between) * RING.inside[at] + between * RING.between[at];
                let bus = match protocol {
                    Protocol::Simple => bus,
                    Protocol::Ll => (0.5 * bus).min(MOST_OF_LL[few]),
                    Protocol::Ll128 => (0.92 * bus).min(f64::from(channels) * RING_CHANNEL),
                };
                (latency, bus * ranks / steps)
            }
            "tree" => {
                let hops = (per_node - 1.0) * TREE.inside[at] + nodes.log2() * TREE.between[at];
                let bus = (0.92 * bus).min(f64::from(channels) * TREE_CHANNEL[few]);
                let bus = match protocol {
                    Protocol::Simple => bus,
                    Protocol::Ll => bus / 3.8,
                    Protocol::Ll128 => bus * if servers.len() == 1 { 7.0 / 9.0 } else { 120.0 / 128.0 },
                };
                (TREE.base[at] + 2.0 * hops, 0.5 * bus)
            }
            // For one rank a server, and whole messages.
            "pat" if per_node == 1.0 && protocol == Protocol::Simple => {
                (PAT_BASE + nodes.log2() * PAT_BETWEEN / 3.5 + 2.8 * ranks, 0.75 * bus * ranks / steps)
            }
            // Between servers NCCL has trees, unless the network's switches sum, too.
            "nvls" | "nvls_tree" if protocol == Protocol::Simple && self.layout(group)?.per_server().is_some() => {
                let bus = NVLS_EFFICIENCY * bus;
                match (name, servers.len()) {
                    ("nvls", 1) => (NVLS_INSIDE, bus * ranks / steps),
                    ("nvls_tree", 2..) => (NVLS_INSIDE + 2.0 * nodes.log2() * NVLS_TREE_BETWEEN, 0.5 * bus),
                    _ => return None,
                }
            }
            _ => return None,
        };
        // A byte in a nanosecond is a GB/s.
        Some(latency + size as f64 / rate.max(1e-9) / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ways;
    use super::*;
    use hpcc_core::topology::{Link, NodeKind};
    use hpcc_core::units::{BitRate, Nanos};
    use hpcc_core::workload::collective::Collective;
    use std::sync::Arc;

    /// NICs of 400 Gb/s around a switch.
    fn tuning(hosts: u32, gpus: Option<u32>) -> Tuning {
        let link = |a| Link { a, b: hosts, rate: BitRate::gbps(400), delay: Nanos(500), loss: 0.0 };
        let mut nodes = vec![NodeKind::Host; hosts as usize];
        nodes.push(NodeKind::Switch);
        let network = Network { nodes, links: (0..hosts).map(link).collect() };
        let servers = gpus.map(|gpus| Servers { gpus, rate: BitRate::gbps(3_600), latency: Nanos(1_000), pxn: false });
        Tuning::new(&(0..hosts).collect::<Vec<_>>(), servers, &network)
    }

    /// Small messages take few steps and flags, large ones all of the bandwidth, as with NCCL.
    #[test]
    fn the_model_chooses_latency_first_and_bandwidth_later() {
        let chosen = |tuning: &Tuning, kind, ranks: u32, size| {
            let group: Vec<u32> = (0..ranks).collect();
            tuning.choose(kind, &group, size, 8).map(|(pattern, protocol)| (pattern.name, protocol))
        };
        let servers = tuning(64, Some(8));
        assert_eq!(chosen(&servers, Kind::AllReduce, 64, 8), Some(("tree", Protocol::Ll)));
        assert_eq!(chosen(&servers, Kind::AllReduce, 64, 8 << 20), Some(("tree", Protocol::Ll128)));
        assert_eq!(chosen(&servers, Kind::AllReduce, 64, 4 << 30), Some(("ring", Protocol::Simple)));
        assert_eq!(chosen(&servers, Kind::AllReduce, 8, 64), Some(("ring", Protocol::Ll)));
        assert_eq!(chosen(&servers, Kind::AllReduce, 8, 8 << 20), Some(("nvls", Protocol::Simple)));
        let alone = tuning(64, None);
        assert_eq!(chosen(&alone, Kind::AllGather, 64, 4 << 20), Some(("pat", Protocol::Simple)));
        assert_eq!(chosen(&alone, Kind::AllGather, 64, 4 << 30), Some(("ring", Protocol::Simple)));
        assert_eq!(chosen(&alone, Kind::AllToAll, 64, 4 << 20), Some(("direct", Protocol::Simple)));
        // By hand: 2 x 63 steps, 14 of them between servers, at 50 GB/s for each of 8 rails.
        let group: Vec<u32> = (0..64).collect();
        let time = servers.time(Kind::AllReduce, "ring", Protocol::Simple, &group, 64_000_000, 8).expect("a time");
        let expected = 8.4 + 112.0 * 3.4 + 14.0 * 14.0 + 64e6 * 126.0 / 64.0 / 400.0 / 1e3;
        assert!((time - expected).abs() < 1e-6, "{time} {expected}");
        // Three doublings of servers, twice, and 85 % of the rails for half of the time.
        let time = servers.time(Kind::AllReduce, "nvls_tree", Protocol::Simple, &group, 64_000_000, 8).expect("a time");
        let expected = 25.0 + 6.0 * 20.9 + 64e6 / (0.5 * 0.85 * 400.0) / 1e3;
        assert!((time - expected).abs() < 1e-6, "{time} {expected}");
    }

    /// Files may have more ranks than there are hosts: that is told later.
    #[test]
    fn ranks_without_a_host_are_in_no_layout() {
        let tuning = tuning(8, Some(4));
        let group: Vec<u32> = (0..9).collect();
        assert!(tuning.layout(&group[..8]).is_some() && tuning.layout(&group).is_none());
        assert!(tuning.choose(Kind::AllReduce, &group, 1 << 20, 1).is_some());
        assert!(tuning.choose(Kind::AllReduce, &[8, 9], 1 << 20, 1).is_some());
    }

    /// The ranks of a ring divide a piece, and no size is refused for the pieces that nobody asked for.
    #[test]
    fn auto_cuts_data_into_messages_of_a_step() {
        let tuning = tuning(64, Some(8));
        let ways = Ways { algorithm: Some("auto".into()), channels: 8, tuning, ..Ways::default() };
        let group: Arc<[u32]> = (0..64).collect();
        let chunk = |kind, size| ways.plan(kind, group.clone(), size, 0).expect("a plan").chunk;
        assert_eq!(chunk(Kind::AllReduce, 8 << 20), 512 << 10, "a tree");
        assert_eq!(chunk(Kind::AllReduce, 4 << 30), 64 * (512 << 10), "a ring");
        assert_eq!(chunk(Kind::Broadcast, 1 << 50), (1 << 50) / 8 / u64::from(Collective::MOST_PIECES));
        assert_eq!(chunk(Kind::AllToAll, 8 << 20), u64::MAX, "no pipeline");
    }
}
